"""What the columns of a table hold, as far as their first rows tell."""

from functools import lru_cache
from typing import Any

from .dates import CLOCK, ISO, DateForm, described, form_of, found_parts, times_in
from .formats import NUMBER
from .notices import date_column, mixed_column, stray_words
from .recipe import ColumnKind

ENOUGH = 20  # numbers, among which one word is a slip
STRAY = 0.01  # of the cells may be slips


@lru_cache
def kind_of(kind: Any) -> str:
    """What a column of some Arrow type becomes, or nothing."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return "category"
    number = types.is_integer, types.is_floating, types.is_decimal, types.is_null
    string = types.is_string, types.is_large_string, types.is_string_view
    if types.is_boolean(kind):
        return "boolean"
    if types.is_date(kind) or types.is_timestamp(kind) or types.is_time(kind):
        return "date"
    if any(is_kind(kind) for is_kind in number):
        return "number"
    return "category" if any(is_kind(kind) for is_kind in string) else ""


def kind_of_cells(name: str, column: Any, tolerated: int = 0) -> ColumnKind:
    """What a column of a text table holds, whose cells Arrow has given a type.

    A word or so in many numbers is a slip; words that come more often are words. Where so many
    broken rows are tolerated, so many words are slips, too, if there are more numbers.
    """
    from pyarrow import compute

    if kind_of(column.type) != "category":
        return kind_of_column(name, column)
    cells = column.drop_null()
    words = cells.filter(compute.invert(compute.match_substring_regex(cells, rf"^\s*{NUMBER}\s*$")))
    n_words, n_numbers = len(words), len(cells) - len(words)
    slips = max(1, STRAY * len(cells)) if n_numbers >= ENOUGH else 0
    if n_numbers > n_words and n_words <= max(slips, tolerated):
        return ColumnKind("number", stray_words(name, words.unique().to_pylist(), len(cells)))
    if n_numbers > n_words:
        return ColumnKind("category", mixed_column(name, words.unique().to_pylist()))
    return kind_of_strings(name, cells)


def kind_of_column(name: str, column: Any) -> ColumnKind:
    """What a column holds whose type is to be trusted; strings may be dates."""
    import pyarrow

    found = kind_of(column.type)
    if found == "date":
        return dates_in(name, column, CLOCK if pyarrow.types.is_time(column.type) else ISO)
    if found != "category" or pyarrow.types.is_dictionary(column.type):
        return ColumnKind(found)
    return kind_of_strings(name, column.cast(pyarrow.string()))


def kind_of_strings(name: str, cells: Any) -> ColumnKind:
    """What a column of strings holds: dates or categories."""
    form = form_of(cells)
    return ColumnKind("category") if form is None else dates_in(name, cells, form)


def dates_in(name: str, column: Any, form: str) -> ColumnKind:
    """A column of dates that are written in some form."""
    parts = found_parts(times_in(column, form), form)
    return ColumnKind("date", date_column(name, described(form), parts), DateForm(form, parts))
