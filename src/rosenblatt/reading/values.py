"""Convert values to and from Arrow without its own functions, which import pandas."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..kernels.lines import MISSING
from ..parameters import InputError

NOT_UTF8 = "the bytes are not UTF-8; convert them, or train with encoding, such as latin-1"
MISSING_LABELS = {*MISSING} - {"-", "None"}
"""What is no label among labels that are words; minus and "None" may well be classes."""


def to_scalar(value: str | float) -> Any:
    """Convert a string or number to an Arrow scalar."""
    import pyarrow

    if isinstance(value, str):
        return to_strings([value])[0]
    number = np.array([value])
    kind = pyarrow.from_numpy_dtype(number.dtype)
    return pyarrow.Array.from_buffers(kind, 1, [None, pyarrow.py_buffer(number)])[0]


def to_strings(values: Sequence[str]) -> Any:
    """Convert strings to an Arrow array."""
    import pyarrow

    encoded = [value.encode() for value in values]
    starts = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    buffers = pyarrow.py_buffer(starts), pyarrow.py_buffer(b"".join(encoded))
    return pyarrow.StringArray.from_buffers(len(encoded), *buffers)


def too_large(numbers: np.ndarray, dtype: Any) -> np.ndarray:
    """Mark the numbers that are infinite or too large for a data type; NaN is not marked."""
    large: np.ndarray = np.abs(numbers) > np.finfo(dtype).max
    return large


def to_numbers(column: Any) -> np.ndarray:
    """Convert an Arrow array to numbers; missing ones are NaN."""
    import pyarrow

    if column.null_count:
        whole = pyarrow.types.is_integer(column.type)
        column = column.cast(pyarrow.float64(), safe=False) if whole else column
        column = column.fill_null(to_scalar(np.nan).cast(column.type))
    return np.from_dlpack(column)


def clean(value: Any) -> Any:
    """Return a string without blanks around it, None if it means "missing"; others as they are.

    >>> clean(" red "), clean("NA"), clean(3)
    ('red', None, 3)
    """
    if not isinstance(value, str):
        return None if value != value else value  # NaN
    word = value.strip()
    return None if word in MISSING else word


def trim_cells(column: Any) -> Any:
    """Return a column of strings without blanks around them; what means "missing" is null."""
    import pyarrow
    from pyarrow import compute

    words = compute.utf8_trim_whitespace(column.cast(pyarrow.string()))
    gaps = compute.is_in(words, to_strings(MISSING))
    return compute.if_else(gaps, pyarrow.nulls(1, words.type)[0], words)


def is_in_any(column: Any, pattern: str) -> bool:
    """Whether a regular expression fits some string of a column."""
    from pyarrow import compute

    return bool(compute.any(compute.match_substring_regex(column, pattern)).as_py())


def is_in_all(column: Any, pattern: str) -> bool:
    """Whether a regular expression fits all strings of a column, if there are any."""
    from pyarrow import compute

    found = compute.match_substring_regex(column, pattern)
    return bool(compute.all(found, min_count=0).as_py())


def drop_missing(column: Any) -> Any:
    """Return the strings of a column that are not missing, without blanks around them."""
    return trim_cells(column).drop_null()


def refuse_nul(labels: Iterable[str | None], name: str) -> None:
    """Refuse labels that end in a NUL character, which NumPy drops."""
    for label in labels:
        if label is not None and label.endswith("\0"):
            raise InputError(
                f"the label {label[-40:]!r} ends in a NUL character; remove it",
                code="nul-byte",
                column=name,
            )
