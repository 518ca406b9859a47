"""Detect what the columns of a table hold, by their first rows."""

from functools import lru_cache
from typing import Any

from .dates import (
    CLOCK,
    FORMS,
    ISO,
    LOOKS,
    DateForm,
    detect_date_form,
    find_form,
    find_parts,
    to_times,
)
from .notices import list_words, make_notice
from .recipe import ColumnKind
from .spellings import ANY, LEADING_ZEROS, NUMBER, PLAIN, UNITS, find_spelling, find_units
from .values import drop_missing, is_in_all, is_in_any

ENOUGH = 20  # numbers, among which one word is a slip; strings, to tell what they are
STRAY = 0.01  # of the cells may be slips
WORDS, DIFFERENT = 3.0, 0.5  # least mean words of texts, and least share of different ones
MOST_UNITS = 3  # in one column; more words are words
SEVERAL = 1.8  # least mean words of what may be names or short texts
ONLY_ONCE = 0.9  # of the cells of names or numbers of items are different
TRUTH = r"^([Tt]rue|[Ff]alse|TRUE|FALSE)$"


@lru_cache
def classify_type(kind: Any) -> str:
    """Return the kind of a column by its Arrow type; empty if it cannot be used."""
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


def are_numbers(column: Any) -> bool:
    """Whether all strings of a column are numbers, written plainly, or missing."""
    try:
        column.cast("float64")
    except ValueError:  # with blanks or marks around them, or words
        return is_in_all(drop_missing(column), rf'^[ "]*{NUMBER}[ "]*$')
    return True


def detect_cells(name: str, column: Any) -> ColumnKind:
    """Detect the kind of a column of a text table, by its cells as strings.

    A few words among many numbers are slips, and more make a category.
    """
    from pyarrow import compute

    codes, zeros = None, column.filter(compute.match_substring_regex(column, LEADING_ZEROS))
    if len(zeros):
        cell = zeros[0].as_py().strip()[:40]  # such as of a postal code
        codes = ColumnKind("category", make_notice("codes-zeros", name=name, cell=cell))
    if are_numbers(column):
        return codes or ColumnKind("number")
    cells = drop_missing(column)
    if is_in_all(cells, TRUTH):
        return ColumnKind("boolean")
    spelled = detect_spelled(name, cells)
    if spelled is not None:
        return spelled
    words = drop_matches(cells, rf"^{NUMBER}$")
    n_words, n_numbers = len(words), len(cells) - len(words)
    if n_numbers <= n_words:
        return detect_words(name, cells)
    slips = max(1, STRAY * len(cells)) if n_numbers >= ENOUGH else 0
    if n_words <= slips:
        odd = list_words(drop_matches(words, TRUTH).unique().to_pylist())  # true counts as 1
        slip = make_notice("words-slips", name=name, words=odd, cells=len(cells)) if odd else None
        return codes or ColumnKind("number", slip)
    listed = list_words(words.unique().to_pylist())
    return ColumnKind("category", make_notice("words-category", name=name, words=listed))


def drop_matches(cells: Any, pattern: str) -> Any:
    """Return the strings of a column that a regular expression does not fit."""
    from pyarrow import compute

    return cells.filter(compute.invert(compute.match_substring_regex(cells, pattern)))


def detect_column(name: str, column: Any) -> ColumnKind:
    """Detect the kind of a typed column; strings may be dates or texts."""
    import pyarrow

    found = classify_type(column.type)
    if found == "date":
        return detect_dates(name, column, CLOCK if pyarrow.types.is_time(column.type) else ISO)
    if found != "category" or pyarrow.types.is_dictionary(column.type):
        return ColumnKind(found)
    cells = drop_missing(column)
    blanks = len(cells) > 0 and is_in_any(column, r"^\s*$")
    if blanks and are_numbers(column) and not is_in_any(cells, LEADING_ZEROS):
        return ColumnKind("number")  # from a file, where blanks kept pandas from numbers
    return detect_spelled(name, cells) or detect_words(name, cells)


def detect_words(name: str, cells: Any) -> ColumnKind:
    """Detect the kind of strings that are no numbers: dates, texts or categories."""
    from pyarrow import compute

    form = detect_date_form(cells)
    if form is not None:
        return detect_dates(name, cells, form)
    slips = find_invalid_dates(cells)
    if slips:
        said = make_notice("words-dates", name=name, words=list_words(slips))
        return ColumnKind("category", said)
    count, different = len(cells), len(cells.unique())
    if count >= ENOUGH and different >= DIFFERENT * count:
        words = compute.mean(compute.count_substring_regex(cells, r"\S+")).as_py()
        if words >= WORDS:
            return ColumnKind("text", make_notice("text", name=name))
        if words >= SEVERAL or different >= ONLY_ONCE * count:
            return ColumnKind("category", make_notice("words-short", name=name))
    return ColumnKind("category")


def detect_spelled(name: str, cells: Any) -> ColumnKind | None:
    """Detect numbers with decimal commas, thousands or units; None if there are none."""
    if not len(cells) or not ANY.fullmatch(cells[0].as_py()):
        return None
    known = cells.unique().to_pylist()
    if not all(map(ANY.fullmatch, known)) or all(map(PLAIN.fullmatch, known)):
        return None
    spelling = find_spelling(known)
    if spelling is not None:
        example = next(cell for cell in known if not PLAIN.fullmatch(cell))
        number = spelling.number(example)
        said = make_notice("numbers", name=name, cell=example[:40], number=number)
        return ColumnKind("number", said, spelling=spelling)
    if detect_date_form(cells) is not None or find_invalid_dates(cells):
        return None
    several = 1 < len(find_units(known)) <= MOST_UNITS
    if not several and not any(set(cell) & set(UNITS + ",'") for cell in known):
        return None
    return ColumnKind("category", make_notice("numbers-mixed", name=name, words=list_words(known)))


def find_invalid_dates(cells: Any) -> list[str]:
    """Find the cells that are not dates in a column of dates; none in other columns."""
    from pyarrow import compute

    looks = compute.match_substring_regex(cells, LOOKS)
    if 2 * compute.sum(looks, min_count=0).as_py() <= len(cells):
        return []
    form, times = find_form(cells, len(cells) / 2)
    return [] if form is None else cells.filter(compute.is_null(times)).unique().to_pylist()


def detect_dates(name: str, column: Any, form: str) -> ColumnKind:
    """Return the kind of a column of dates of a form."""
    parts = find_parts(to_times(column, form), form)
    words = next((f" ({said})" for day, said in FORMS.items() if form.startswith(day)), "")
    said = make_notice("dates", name=name, form=words, parts=", ".join(parts))
    return ColumnKind("date", said, DateForm(form, parts))
