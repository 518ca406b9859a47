"""Detect dates and times, and divide them into features for linear models."""

import re
from typing import Annotated, Any, NamedTuple

import numpy as np

from .values import to_numbers, to_scalar, to_strings, trim_cells

ISO, CLOCK = "ISO", "clock"  # as Arrow itself reads them
FORMS = {
    "%m/%d/%Y": "month/day/year",
    "%d/%m/%Y": "day/month/year",
    "%Y/%m/%d": "year/month/day",
    "%m/%d/%y": "month/day/year",
    "%d/%m/%y": "day/month/year",
    "%d.%m.%Y": "day.month.year",
    "%d-%m-%Y": "day-month-year",
    "%d-%b-%Y": "day-month-year",
    "%d-%b-%y": "day-month-year",
    "%d %b %Y": "day month year",
    "%b %d, %Y": "month day, year",
    "%a, %d %b %Y": "weekday, day month year",
}
WORD = "[A-Za-z]+"
PATTERNS = {"%d": r"(?P<day>\d{1,2})", "%m": r"\d{1,2}", "%Y": r"\d{1,4}", "%b": WORD, "%a": WORD}
PATTERNS |= dict.fromkeys(("%y", "%H", "%I", "%M", "%S"), r"\d{1,2}") | {"%p": WORD}
HOURS = ("%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p")
CLOCKS = ("", *(f" {hours}" for hours in HOURS))
ALL_FORMS = (ISO, CLOCK, *HOURS, *(day + clock for day in FORMS for clock in CLOCKS))
LOOKS = r"^\s*([A-Za-z]{3},? )?([A-Za-z]{3,9} )?\d{1,4}[-/. ,:]"
FRACTION = r"(:\d\d)[.,](\d{1,6})\d*"  # of a second; what is below a microsecond is left out
ZONE = r"(:\d\d(\.\d+)?) ?(Z|[+-]\d\d(:?\d\d)?)$"
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
PARTS = ("year", "month", "weekday", "hour")
FIRST_YEAR = 1000  # 1.5.2 is no day
MICROSECONDS_A_DAY = 86_400_000_000


class DateForm(NamedTuple):
    """How dates are written, and which parts of them become categories."""

    form: str
    parts: tuple[Annotated[str, PARTS.__contains__], ...]


class Times(NamedTuple):
    """A column of times: days since 1970, NaN where there is none; and as Arrow has them."""

    days: np.ndarray
    column: Any


def detect_date_form(cells: Any) -> str | None:
    """Detect the form of dates in a column of strings; None if it holds anything else."""
    from pyarrow import compute

    if not len(cells) or not compute.match_substring_regex(cells[0], LOOKS).as_py():
        return None
    return find_form(cells, 1)[0]


def find_form(cells: Any, odd: float) -> tuple[str | None, Any]:
    """Find the first form that fewer cells than ``odd`` do not have, and the cells as times."""
    from pyarrow import compute

    for form in ALL_FORMS:
        times = to_times(cells, form)
        first = compute.min(compute.year(times)).as_py() or 0
        if times.null_count < odd and first >= FIRST_YEAR:
            return form, times
    return None, None


def to_times(column: Any, form: str) -> Any:
    """Convert strings or times to local times; what is not a time becomes null."""
    import pyarrow
    from pyarrow import compute, types

    exact = pyarrow.timestamp("us")
    if types.is_time(column.type):
        return column.cast(pyarrow.time64("us"), safe=False).cast(pyarrow.int64()).cast(exact)
    if types.is_temporal(column.type):
        zone = getattr(column.type, "tz", None)
        local = column if zone in (None, "UTC", "Z", "+00:00") else compute.local_timestamp(column)
        return local.cast(pyarrow.timestamp(getattr(local.type, "unit", "s"))).cast(
            exact, safe=False
        )
    cells = trim_cells(column)
    if form in (CLOCK, *HOURS):
        cells = compute.binary_join_element_wise(to_scalar("1970-01-01"), cells, to_scalar(" "))
    if form in HOURS:
        return parse_days(cells, f"%Y-%m-%d {form}")
    if form not in (ISO, CLOCK):
        return parse_days(cells, form)
    if form == ISO:
        days = compute.utf8_slice_codeunits(cells, 0, 10)
        cells = compute.if_else(
            compute.is_null(parse_days(days, "%Y-%m-%d")), pyarrow.nulls(1, cells.type)[0], cells
        )
    cells = compute.replace_substring_regex(cells, FRACTION, r"\1.\2")
    for plain in cells, compute.replace_substring_regex(cells, ZONE, r"\1"):
        try:
            return plain.cast(exact)
        except pyarrow.ArrowInvalid:
            continue
    return pyarrow.nulls(len(cells), exact)


def parse_days(cells: Any, form: str) -> Any:
    """Parse strings of a form as times; null where the form does not fit or the day does not exist.

    Arrow's strptime takes the 30th of February for a day of March.
    """
    import pyarrow
    from pyarrow import compute

    times = compute.strptime(cells, format=form, unit="us", error_is_null=True)
    pattern = re.sub(r"%[a-zA-Z]", lambda found: PATTERNS[found[0]], re.escape(form))
    stated = compute.extract_regex(cells, "^" + pattern)
    days = compute.struct_field(stated, [0]).cast(pyarrow.int64())
    exists = compute.fill_null(compute.equal(days, compute.day(times)), False)
    return compute.if_else(exists, times, pyarrow.nulls(1, times.type)[0])


def to_days(times: Any) -> np.ndarray:
    """Convert times to days since 1970; a missing one is NaN."""
    import pyarrow

    microseconds = times.cast(pyarrow.int64()).cast(pyarrow.float64())
    return to_numbers(microseconds) / MICROSECONDS_A_DAY


def get_parts(times: Any, wanted: tuple[str, ...]) -> dict[str, Any]:
    """Return the wanted parts of times (year, month, weekday, hour) as columns of strings."""
    import pyarrow
    from pyarrow import compute

    def words(part: str) -> Any:
        if part == "weekday":
            return to_strings(DAYS).take(compute.day_of_week(times))
        return getattr(compute, part)(times).cast(pyarrow.string())

    return {part: words(part) for part in wanted}


def find_parts(times: Any, form: str) -> tuple[str, ...]:
    """Find the parts that times have: days, hours, or both."""
    from pyarrow import compute

    if form in (CLOCK, *HOURS):
        return PARTS[3:]
    clocks = compute.hour(times), compute.minute(times)
    some = any(compute.any(compute.not_equal(clock, to_scalar(0))).as_py() for clock in clocks)
    return PARTS if some else PARTS[:3]
