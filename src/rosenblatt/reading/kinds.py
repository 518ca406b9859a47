"""What the columns of a table hold, as far as their first rows tell."""

from functools import lru_cache
from typing import Any

from .dates import (
    CLOCK,
    ISO,
    LOOKS,
    DateForm,
    described,
    detect_date_form,
    found_parts,
    missing_days,
    to_times,
)
from .formats import NUMBER
from .notices import (
    date_column,
    mixed_column,
    mixed_dates,
    names_of_rows,
    spelled_in_several_ways,
    spelled_numbers,
    stray_words,
    text_column,
)
from .recipe import ColumnKind
from .spellings import ANY, PLAIN, UNITS, are_numbers, find_spelling

ENOUGH = 20  # numbers, among which one word is a slip; strings, to tell what they are
STRAY = 0.01  # of the cells may be slips
WORDS, DIFFERENT = 5.0, 0.5  # a text has so many words on average, and so many texts are different
DAY = r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|[A-Za-z, ]*\d{1,2}[A-Za-z, ]+\d{4}"
WHOLE_DATE = rf"^\s*({DAY})([ T][\d:.,Z+-]+)?\s*$"
TRUTH = r"^\s*([Tt]rue|[Ff]alse|TRUE|FALSE)\s*$"
ONLY_ONCE = 0.9  # of the cells of names or numbers of items are different


@lru_cache
def classify_character(kind: Any) -> str:
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

    if classify_character(column.type) != "category":
        return kind_of_column(name, column)
    cells = column.drop_null()
    if is_truth(cells):
        return ColumnKind("boolean")
    spelled = kind_of_spelled(name, cells)
    if spelled is not None:
        return spelled
    words = cells.filter(compute.invert(compute.match_substring_regex(cells, rf"^\s*{NUMBER}\s*$")))
    n_words, n_numbers = len(words), len(cells) - len(words)
    slips = max(1, STRAY * len(cells)) if n_numbers >= ENOUGH else 0
    if n_numbers > n_words and n_words <= max(slips, tolerated):
        return ColumnKind("number", stray_words(name, words.unique().to_pylist(), len(cells)))
    if n_numbers > n_words:
        return ColumnKind("category", mixed_column(name, words.unique().to_pylist()))
    return kind_of_strings(name, cells)


def is_truth(cells: Any) -> bool:
    """Whether strings are truth values, as pandas or polars write them."""
    from pyarrow import compute

    return len(cells) > 0 and bool(compute.all(compute.match_substring_regex(cells, TRUTH)).as_py())


def kind_of_column(name: str, column: Any) -> ColumnKind:
    """What a column holds whose type is to be trusted; strings may be dates, or texts."""
    import pyarrow

    found = classify_character(column.type)
    if found == "date":
        return detect_dates(name, column, CLOCK if pyarrow.types.is_time(column.type) else ISO)
    if found != "category" or pyarrow.types.is_dictionary(column.type):
        return ColumnKind(found)
    return kind_of_strings(name, column.cast(pyarrow.string()))


def kind_of_strings(name: str, cells: Any) -> ColumnKind:
    """What a column of strings holds: numbers, dates, a text in each, or categories."""
    from pyarrow import compute

    spelled = kind_of_spelled(name, cells)
    if spelled is not None:
        return spelled
    form = detect_date_form(cells)
    if form is not None:
        return detect_dates(name, cells, form)
    slips = find_invalid_dates(cells)
    if slips:
        return ColumnKind("category", mixed_dates(name, slips))
    cells = cells.filter(compute.match_substring_regex(cells, r"\S"))
    count, different = len(cells), len(cells.unique())
    if count >= ENOUGH and different >= DIFFERENT * count:
        words = compute.mean(compute.count_substring_regex(cells, r"\S+")).as_py()
        if words >= WORDS:
            return ColumnKind("text", text_column(name))
        if different >= ONLY_ONCE * count:
            return ColumnKind("category", names_of_rows(name))
    return ColumnKind("category")


def kind_of_spelled(name: str, cells: Any) -> ColumnKind | None:
    """What a column holds whose cells are all numbers, of which some are not written plainly."""
    found = cells.drop_null()
    if not len(found) or not ANY.fullmatch(found[0].as_py().strip() or "0"):
        return None
    known = [cell for cell in map(str.strip, found.unique().to_pylist()) if cell]
    if not known or not are_numbers(known) or all(map(PLAIN.fullmatch, known)):
        return None
    spelling = find_spelling(known)
    if spelling is not None:
        example = next(cell for cell in known if not PLAIN.fullmatch(cell))
        told = spelled_numbers(name, example, spelling.number(example))
        return ColumnKind("number", told, spelling=spelling)
    if detect_date_form(cells) is not None or find_invalid_dates(cells):
        return None
    odd = [cell for cell in known if set(cell) & set(UNITS + ",'")]
    return ColumnKind("category", spelled_in_several_ways(name, known)) if odd else None


def find_invalid_dates(cells: Any) -> list[str]:
    """What is no date in a column that holds little else than dates."""
    from pyarrow import compute

    cells = cells.drop_null()
    looks = compute.match_substring_regex(cells, LOOKS)
    slips: list[str] = cells.filter(compute.invert(looks)).unique().to_pylist()
    few = 0 < len(slips) <= max(1, STRAY * len(cells)) and len(cells) >= ENOUGH
    if few and detect_date_form(cells.filter(looks)) is not None:
        return slips
    whole = compute.match_substring_regex(cells, WHOLE_DATE)
    all_dates = len(cells) > 0 and compute.all(whole).as_py()
    return missing_days(cells) if all_dates else []


def detect_dates(name: str, column: Any, form: str) -> ColumnKind:
    """A column of dates that are written in some form."""
    parts = found_parts(to_times(column, form), form)
    return ColumnKind("date", date_column(name, described(form), parts), DateForm(form, parts))
