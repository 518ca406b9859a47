"""Records: the rows of a table as its file writes them, to copy them beside predictions."""

import csv
import io
import json
import sys
from collections.abc import Iterator
from contextlib import closing
from itertools import compress
from typing import Any

from ..kernels.lines import MISSING
from ..parameters import InputError
from .columnar import ColumnarParser, TypedParser
from .delimited import DelimitedParser
from .reader import Reader
from .sources import file_error

Record = dict[str, Any]


def list_record_columns(reader: Reader) -> list[str]:
    """Return the names of all columns of a table, used by the model or not."""
    parser = reader.parser
    if isinstance(parser, DelimitedParser):
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
    if isinstance(reader.parser, ColumnarParser):
        for batch in reader.parser.opened.scan(names):
            yield from batch.to_pylist()
        return
    for place in range(len(source.names)):
        with source.open(place) as stream:
            stream.skip(reader.parser.find_rows(stream, place))
            with closing(
                io.TextIOWrapper(io.BufferedReader(stream), "utf-8", "replace", "")
            ) as text:
                if isinstance(reader.parser, DelimitedParser):
                    profile = reader.parser.profile
                    plain = [one.kind == "number" and not one.spelling for one in profile.kinds]
                    numbers = set(compress(names, plain)) if typed else set[str]()
                    for record in read_cells(text, profile.delimiter, names):
                        yield record | {
                            name: to_value(record[name]) for name in numbers & record.keys()
                        }
                else:
                    yield from (json.loads(line) for line in text if line.strip())


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


def read_cells(text: Any, delimiter: str, names: list[str]) -> Iterator[Record]:
    """Yield the rows of an open CSV or TSV file."""
    before = csv.field_size_limit(sys.maxsize)  # texts are longer than the usual limit
    try:
        for row in csv.reader(text, delimiter=delimiter):
            if row:
                yield dict(zip(names, row, strict=False))
    finally:
        csv.field_size_limit(before)
