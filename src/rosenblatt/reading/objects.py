"""Rows that come as objects, such as JSON: their values are decoded as the cells of a file."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..data.rows import read_only
from ..kernels.lines import VALUE_TOO_LARGE
from ..parameters import InputError
from .arrow import DecodedColumns, TableParser
from .lines import line_error
from .values import too_large

LARGEST = float(np.finfo(np.float64).max)
Decode = Callable[[list[str | None], str], Any]  # of cells and the name of their column


def decode_objects(parser: TableParser, rows: Sequence[Mapping[str, Any]]) -> DecodedColumns:
    """Decode the columns of a parser from objects; an absent value is missing.

    An error has the row, from 1 up, as its line.
    """
    columns, numbers = list[Any](), range(1, len(rows) + 1)
    for name, kind in parser.columns:
        values = [row.get(name) for row in rows]
        if kind == "number":
            columns.append(decode_numbers(parser, values, name))
        else:
            decode = as_cells(parser.times) if kind == "date" else encode_words
            columns.append(decode_words(values, numbers, name, decode))
    return DecodedColumns(None, None, columns, len(rows))


def decode_numbers(parser: TableParser, values: Sequence[Any], name: str) -> np.ndarray:
    """Decode numbers; a missing one is NaN, and a string is read as the cell of a file.

    Each goes through double precision on its own, so that none depends on those beside it.
    """
    plain = np.array([isinstance(value, float | int) for value in values], bool)
    known = [value for value in values if isinstance(value, float | int)]
    doubles = np.array([one if abs(one) <= LARGEST else np.inf for one in known], np.float64) + 0.0
    large = too_large(doubles, parser.options.dtype)  # and -0 is 0
    if large.any():
        error = line_error(VALUE_TOO_LARGE, name)
        error.line = 1 + int(np.flatnonzero(plain)[large.argmax()])
        raise error
    numbers = np.empty(len(values), parser.read_dtype)
    numbers[plain] = doubles
    if not plain.all():
        words = [value for value in values if not isinstance(value, float | int)]
        rows = (np.flatnonzero(~plain) + 1).tolist()
        numbers[~plain] = decode_words(words, rows, name, as_cells(parser.numbers))
    return read_only(numbers)


def decode_words(values: Sequence[Any], rows: Sequence[int], name: str, decode: Decode) -> Any:
    """Decode values as the cells of a column; ``rows`` are the numbers of their rows."""
    try:
        return decode(
            [value if type(value) is str or value is None else to_word(value) for value in values],
            name,
        )
    except (InputError, UnicodeEncodeError) as error:
        if len(values) > 1:  # find the row
            for value, row in zip(values, rows, strict=True):
                decode_words([value], [row], name, decode)
        what = "there is half a character (a lone surrogate)"
        odd = error if isinstance(error, InputError) else InputError(what, code="surrogate")
        odd.line, odd.column = rows[0], name
        raise odd from None


def as_cells(decode: Callable[[Any, str], Any]) -> Decode:
    """Return a function that decodes strings as a function does with an Arrow column of them."""
    import pyarrow

    return lambda cells, name: decode(pyarrow.array(cells, pyarrow.string()), name)


def encode_words(cells: list[str | None], name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the bytes of all words and their offsets; a missing word is empty."""
    words = [b"" if cell is None else cell.encode() for cell in cells]
    offsets = np.zeros(len(words) + 1, np.int32)
    np.cumsum([len(word) for word in words], out=offsets[1:])
    return read_only(np.frombuffer(b"".join(words), np.uint8)), read_only(offsets)


def to_word(value: Any) -> str:
    """Convert a value to a string as files write it."""
    if isinstance(value, str | bool | int | float):
        return str(value)
    what = f"{str(value)[:40]} is neither a word nor a number"
    raise InputError(what, code="column-type")
