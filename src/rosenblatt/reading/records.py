"""Records: the rows of a table as its file writes them, to copy them beside predictions."""

import io
import json
from collections.abc import Iterator
from itertools import compress
from typing import Any

from ..kernels.lines import MISSING
from ..parameters import InputError
from .columnar import ColumnarParser, TypedParser
from .delimited import DelimitedParser
from .fasttext import FastTextParser, divide_lines
from .formats import divide_rows
from .reader import Reader
from .sources import file_error

Record = dict[str, Any]


def list_record_columns(reader: Reader) -> list[str]:
    """Return the names of all columns of a table, used by the model or not."""
    parser = reader.parser
    if isinstance(parser, DelimitedParser | FastTextParser):
        return list(parser.profile.columns.names)
    if isinstance(parser, TypedParser):
        return parser.list_columns(range(len(parser.profile.columns)))
    raise InputError(
        f"{reader.source.name} holds {reader.format} rows, which have no cells to copy; use a "
        "table, such as CSV or JSON lines.",
        code="no-cells",
        file=reader.source.name,
    )


def read_records(reader: Reader, typed: bool = False) -> Iterator[Record]:
    """Yield all rows of a table with all their columns, in order.

    Cells of CSV and TSV files stay text, unless ``typed`` asks for numbers in columns of numbers.
    The source is opened again, so it must not be a pipe.
    """
    names, source = list_record_columns(reader), reader.source
    if not reader.rereadable:
        what = "can be read only once, and its rows are needed again; write it to a file first"
        raise file_error("read-once", source.name, what)
    parser, numbers = reader.parser, set[str]()
    if isinstance(parser, ColumnarParser):
        for batch in parser.opened.scan(names):
            yield from batch.to_pylist()
        return
    if typed and isinstance(parser, DelimitedParser):
        plain = [one.kind == "number" and not one.spelling for one in parser.profile.kinds]
        numbers = set(compress(names, plain))
    for piece in parser.cut(1):
        if isinstance(parser, FastTextParser):
            columns = (column.to_pylist() for column in divide_lines(piece.data))
            for labels, text in zip(*columns, strict=True):
                yield {"label": " ".join(labels), "text": text}
            continue
        text = bytes(piece.data).decode(errors="replace")
        if isinstance(parser, DelimitedParser):
            rows = divide_rows(io.StringIO(text, newline=""), parser.profile.dialect)
            for cells in (zip(names, row, strict=False) for row in rows if row):
                yield {name: to_value(x) if name in numbers else x for name, x in cells}
        else:
            yield from (json.loads(line) for line in text.split("\n") if line.strip())


def to_value(cell: str) -> int | float | str | None:
    """Return the number in a cell, None if it is missing, or the cell if it is not a number.

    >>> to_value("12"), to_value(" 1.50"), to_value("NA"), to_value("n/a?")
    (12, 1.5, None, 'n/a?')
    """
    text = cell.strip()
    if text in MISSING:
        return None
    try:
        return int(text) if text.lstrip("+-").isdecimal() else float(text)
    except ValueError:
        return cell
