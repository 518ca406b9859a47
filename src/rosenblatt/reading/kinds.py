"""What the columns of a table hold, as far as their first rows tell."""

from functools import lru_cache
from typing import Any, NamedTuple

from .formats import NUMBER
from .notices import Notice, mixed_column, stray_words

ENOUGH = 20  # numbers, among which one word is a slip
STRAY = 0.01  # of the cells may be slips


class ColumnKind(NamedTuple):
    """What a column is taken for, and what is to be said of it."""

    kind: str
    notice: Notice | None = None


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
    if any(is_kind(kind) for is_kind in number):
        return "number"
    return "category" if any(is_kind(kind) for is_kind in string) else ""


def kind_of_cells(name: str, column: Any, tolerated: int = 0) -> ColumnKind:
    """What a column of a text table holds, whose cells Arrow has given a type.

    A word or so in many numbers is a slip; words that come more often are words. Where so many
    broken rows are tolerated, so many words are slips, too, if there are more numbers.
    """
    from pyarrow import compute

    found = kind_of(column.type) or "category"
    if found != "category" or kind_of(column.type) != "category":
        return ColumnKind(found)
    cells = column.drop_null()
    words = cells.filter(compute.invert(compute.match_substring_regex(cells, rf"^\s*{NUMBER}\s*$")))
    n_words, n_numbers = len(words), len(cells) - len(words)
    slips = max(1, STRAY * len(cells)) if n_numbers >= ENOUGH else 0
    if n_numbers > n_words and n_words <= max(slips, tolerated):
        return ColumnKind("number", stray_words(name, words.unique().to_pylist(), len(cells)))
    if n_numbers > n_words:
        return ColumnKind("category", mixed_column(name, words.unique().to_pylist()))
    return ColumnKind("category")
