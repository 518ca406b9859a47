"""Days and times: told by their looks, and divided into what linear models can use."""

from typing import Annotated, Any, NamedTuple

import numpy as np

from .values import numbers_in, scalar_of, strings_of

ISO, CLOCK = "ISO", "clock"  # as Arrow itself reads them
FORMS = {
    "%m/%d/%Y": "month/day/year",
    "%d/%m/%Y": "day/month/year",
    "%Y/%m/%d": "year/month/day",
    "%d.%m.%Y": "day.month.year",
    "%d-%m-%Y": "day-month-year",
    "%d %b %Y": "day month year",
    "%b %d, %Y": "month day, year",
    "%a, %d %b %Y": "weekday, day month year",
}
CLOCKS = ("", " %H:%M", " %H:%M:%S")
LOOKS = r"^\s*([A-Za-z]{3},? )?([A-Za-z]{3,9} )?\d{1,4}[-/. ,:]"
ZONE = r"(:\d\d)([.,]\d+)?( ?(Z|[+-]\d\d(:?\d\d)?))?$"  # and a part of a second
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
PARTS = ("year", "month", "weekday", "hour")
FIRST_YEAR = 1000  # 1.5.2 is no day
SECONDS_A_DAY = 86_400


class DateForm(NamedTuple):
    """How dates are written, and which parts of them become categories."""

    form: str
    parts: tuple[Annotated[str, PARTS.__contains__], ...]


class Times(NamedTuple):
    """A column of times: days since 1970, NaN where there is none; and as Arrow has them."""

    days: np.ndarray
    column: Any


def form_of(cells: Any) -> str | None:
    """How the dates or times in a column of strings are written, if it holds nothing else."""
    from pyarrow import compute

    known = cells.drop_null()
    known = known.filter(compute.match_substring_regex(known, r"\S"))
    if not len(known) or not compute.match_substring_regex(known[0], LOOKS).as_py():
        return None
    for form in (ISO, CLOCK, *(day + clock for day in FORMS for clock in CLOCKS)):
        times = times_in(known, form)
        if not times.null_count and compute.min(compute.year(times)).as_py() >= FIRST_YEAR:
            return form
    return None


def times_in(column: Any, form: str) -> Any:
    """A column of strings or times as times of the clock on the wall; what is none is null."""
    import pyarrow
    from pyarrow import compute, types

    seconds = pyarrow.timestamp("s")
    if types.is_time(column.type):
        of_day = column.cast(pyarrow.time64("us"), safe=False).cast(pyarrow.int64())
        return compute.divide(of_day, scalar_of(1_000_000)).cast(seconds)
    if types.is_temporal(column.type):
        zone = getattr(column.type, "tz", None)
        local = column if zone in (None, "UTC", "Z", "+00:00") else compute.local_timestamp(column)
        return local.cast(pyarrow.timestamp(getattr(local.type, "unit", "s"))).cast(
            seconds, safe=False
        )
    cells = compute.utf8_trim_whitespace(column)
    cells = compute.if_else(
        compute.equal(cells, scalar_of("")), pyarrow.nulls(1, cells.type)[0], cells
    )
    if form not in (ISO, CLOCK):
        return compute.strptime(cells, format=form, unit="s", error_is_null=True)
    if form == CLOCK:
        cells = compute.binary_join_element_wise(scalar_of("1970-01-01"), cells, scalar_of(" "))
    for plain in cells, compute.replace_substring_regex(cells, ZONE, r"\1"):
        try:
            return plain.cast(seconds)
        except pyarrow.ArrowInvalid:
            continue
    return pyarrow.nulls(len(cells), seconds)


def days_in(times: Any) -> np.ndarray:
    """Times as days since 1970; NaN where there is none."""
    import pyarrow

    seconds = times.cast(pyarrow.int64()).cast(pyarrow.float64())
    return numbers_in(seconds) / SECONDS_A_DAY


def parts_of(times: Any, wanted: tuple[str, ...]) -> dict[str, Any]:
    """The year, month, weekday and hour of times, as columns of strings."""
    import pyarrow
    from pyarrow import compute

    def words(part: str) -> Any:
        if part == "weekday":
            return strings_of(DAYS).take(compute.day_of_week(times))
        return getattr(compute, part)(times).cast(pyarrow.string())

    return {part: words(part) for part in wanted}


def found_parts(times: Any, form: str) -> tuple[str, ...]:
    """The parts that times have: hours where there are clocks, and days unless these are all."""
    from pyarrow import compute

    if form == CLOCK:
        return PARTS[3:]
    clocks = compute.hour(times), compute.minute(times)
    some = any(compute.any(compute.not_equal(clock, scalar_of(0))).as_py() for clock in clocks)
    return PARTS if some else PARTS[:3]


def described(form: str) -> str:
    """How dates are written, in words, where one may doubt it."""
    day = next((day for day in FORMS if form.startswith(day)), None)
    return "" if day is None else f" ({FORMS[day]})"
