"""Records: the rows of a table as its file writes them, to copy them beside predictions."""

import csv
import io
import json
import sys
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from ..parameters import InputError
from .columnar import BATCH_ROWS, ColumnarParser
from .delimited import DelimitedParser
from .jsonlines import JsonLinesParser
from .reader import Reader
from .sources import file_error

Record = dict[str, Any]


def list_record_columns(reader: Reader) -> list[str]:
    """Return the names of all columns of a table, used by the model or not."""
    parser = reader.parser
    if isinstance(parser, DelimitedParser):
        return list(parser.layout.columns.names)
    if isinstance(parser, ColumnarParser | JsonLinesParser):
        return list(parser.names.names)
    raise InputError(
        f"{reader.source.name} holds {reader.format} rows, which have no cells to copy; use a "
        "table, such as CSV or JSON lines.",
        code="no-cells",
        file=reader.source.name,
    )


def read_records(reader: Reader) -> Iterator[Record]:
    """Yield all rows of a table with all their columns, in order.

    Cells of CSV and TSV files stay text. The source is opened again, so it must not be a pipe.
    """
    names, source = list_record_columns(reader), reader.source
    if not reader.rereadable:
        what = "can be read only once, and its rows are needed again; write it to a file first"
        raise file_error("read-once", source.name, what)
    if isinstance(reader.parser, ColumnarParser):
        for batch in reader.parser.dataset.to_batches(batch_size=BATCH_ROWS):
            yield from batch.to_pylist()
        return
    for place in range(len(source.names)):
        with source.open(place) as stream:
            stream.skip(reader.parser.find_rows(stream, place))
            with closing(
                io.TextIOWrapper(io.BufferedReader(stream), "utf-8", "replace", "")
            ) as text:
                if isinstance(reader.parser, DelimitedParser):
                    yield from read_cells(text, reader.parser.layout.delimiter, names)
                else:
                    yield from (json.loads(line) for line in text if line.strip())


def read_cells(text: Any, delimiter: str, names: list[str]) -> Iterator[Record]:
    """Yield the rows of an open CSV or TSV file."""
    before = csv.field_size_limit(sys.maxsize)  # texts are longer than the usual limit
    try:
        for row in csv.reader(text, delimiter=delimiter):
            if row:
                yield dict(zip(names, row, strict=False))
    finally:
        csv.field_size_limit(before)
