"""Parquet and Arrow files, one or many, through Arrow's datasets."""

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..data.rows import n_rows
from ..disk import TemporaryFile
from ..parameters import InputError
from .arrow import DecodedColumns, TableParser
from .batches import Batch, slice_batch
from .formats import format_from_magic
from .kinds import classify_type, detect_column
from .label import FIRST_ROWS as LABEL_ROWS, with_label
from .recipe import (
    ColumnKind,
    ColumnNames,
    FeatureRecipe,
    ReaderOptions,
    collect_notices,
    label_kind,
    make_recipe,
    refuse_other_labels,
    with_columns,
)
from .sources import Location, Source, file_error
from .tables import TableSource
from .threads import Piece
from .vocabulary import Vocabulary

BATCH_ROWS = 1 << 14
FIRST_ROWS = 5_000  # that show what strings hold
FEW_ROWS = 256  # in a piece of a table: a batch of fewer takes longer than copying them
COPIED_AT_ONCE = 4 << 20  # bytes
ARROW_NAMES = {"arrow": "ipc"}  # of formats, where Arrow has another

FirstRows = Callable[[Sequence[str]], Any]
"""Returns the first rows of some columns, as an Arrow table."""


class TypedParser(TableParser):
    """Rows whose columns have Arrow types: those of columnar files, tables and JSON lines."""

    unit = "row"

    def __init__(
        self,
        source: Source,
        recipe: FeatureRecipe,
        options: ReaderOptions,
        schema: Any,
        first_rows: FirstRows,
    ) -> None:
        self.names = names = ColumnNames(schema.names, source.name)
        kinds = self.kinds(schema, options, first_rows)
        asked = make_recipe(recipe, "table", source.name)

        def cells(place: int) -> list[Any]:
            try:
                column = first_rows([names.names[place]])[0][:LABEL_ROWS]
            except (ValueError, OSError):
                return []  # reading the rows reports the damage
            return list(column.to_pylist())

        recipe, notices = with_label(asked, names, cells, options.skip_bad)
        recipe = with_columns(recipe, names, kinds)
        if options.new and recipe.label and recipe.label not in options.category:
            recipe = with_label_type(recipe, schema.field(recipe.label).type)
        super().__init__(source, recipe, options, names)
        for number in self.wanted:
            lists = number == self.label and recipe.labels_separator is not None
            if not kinds[number].kind and not lists:
                name, kind = schema.names[number], schema.types[number]
                what = f"has a column {name!r} of {kind}; cast it to numbers, strings or dates"
                raise file_error("column-type", source.name, what, column=name)
        self.notices.update(notices)
        if options.new:
            self.notices.update(collect_notices(recipe, asked, names, kinds))
        if recipe.labels_separator != asked.labels_separator:
            self.add_notice("labels")
        for name, each in zip(schema.names, kinds, strict=True):
            if not each.kind and name not in (*recipe.ignore, recipe.label):
                self.add_notice("column", name=name)

    def kinds(self, schema: Any, options: ReaderOptions, first_rows: FirstRows) -> list[ColumnKind]:
        """Find what each column holds: by its type, and strings and times by the first rows."""
        names = self.names
        stated = {names.number(name) for name in options.category}
        kinds = [
            ColumnKind("category" if j in stated else classify_type(kind))
            for j, kind in enumerate(schema.types)
        ]
        unsure = [
            names.names[j]
            for j, each in enumerate(kinds)
            if each.kind in ("category", "date") and j not in stated
        ]
        if not options.new or not unsure:
            return kinds
        try:
            first = first_rows(unsure)
        except (ValueError, OSError):
            return kinds  # reading the rows reports the damage
        for name in unsure:
            kinds[names.numbers[name]] = detect_column(name, first[name])
        return kinds

    def over(self, source: Source, recipe: FeatureRecipe) -> "TypedParser":
        """Make a parser of the same columns for other bytes, or by another recipe."""
        other = copy(self)
        TableParser.__init__(other, source, recipe, self.options, self.names)
        return other


class TableDataset(NamedTuple):
    """A table with the methods of Arrow's datasets, which would import pandas for nothing."""

    table: Any

    @property
    def schema(self) -> Any:
        """The columns and their types."""
        return self.table.schema

    def head(self, count: int, columns: list[str], use_threads: bool) -> Any:
        """Return some columns of the first rows."""
        return self.table.select(columns).slice(0, count)

    def to_batches(
        self, batch_size: int, columns: list[str] | None = None, **readahead: int
    ) -> Iterator[Any]:
        """Iterate over batches of rows; there is nothing to read ahead."""
        table = self.table if columns is None else self.table.select(columns)
        return iter(table.to_batches(batch_size))


def make_dataset(table: Any) -> TableDataset:
    """Make a dataset of a table; one of many small pieces is copied into one piece."""
    import pyarrow

    pieces = max((column.num_chunks for column in table.columns), default=0)
    if pieces > 1 and pieces * FEW_ROWS > len(table):
        with suppress(pyarrow.ArrowException):  # of types that it cannot join
            table = table.combine_chunks()
    return TableDataset(table)


class ColumnarParser(TypedParser):
    """Rows of Parquet or Arrow files, or of a table in memory."""

    def __init__(
        self,
        source: Source,
        format: str,  # noqa: A002
        recipe: FeatureRecipe,
        options: ReaderOptions,
    ) -> None:
        self.copy: TemporaryFile | None = None  # a file that Arrow can read, of one that it cannot
        self.dataset: Any
        if isinstance(source, TableSource):
            self.dataset, self.count = make_dataset(source.table), len(source.table)
        else:
            self.open_files(source, format)
        super().__init__(source, recipe, options, self.dataset.schema, self.first_table)

    def open_files(self, source: Source, format: str) -> None:  # noqa: A002
        """Open files and count their rows."""
        from pyarrow import dataset

        files = self.readable(source)
        try:
            self.dataset = dataset.dataset(files, format=ARROW_NAMES.get(format, format))
            self.count = self.dataset.count_rows()
        except (ValueError, OSError) as error:
            raise unreadable_error(source, files, format) from error

    def first_table(self, columns: Sequence[str]) -> Any:
        """Read the first rows of some columns."""
        return self.dataset.head(FIRST_ROWS, columns=list(columns), use_threads=False)

    def readable(self, source: Source) -> list[str]:
        """Return files that Arrow can read: the source's own, or a copy."""
        return source.files if is_plain(source) else [self.copy_source(source)]

    @property
    def rereadable(self) -> bool:
        """Whether all rows can be read another time: those of a copy can."""
        return self.source.rereadable or self.copy is not None

    def first_rows(self, recipe: FeatureRecipe) -> Iterator[Batch]:
        """Yield the first rows, however batches and row groups are cut."""
        few = self.over(self.source, recipe)
        few.options = self.options._replace(batch_bytes=1 << 62)
        few.vocabulary = Vocabulary(0, 0)
        left = BATCH_ROWS
        for batch in few.batches(Location(self.source.name, BATCH_ROWS, self.unit)):
            size = n_rows(batch.rows)
            yield batch if size <= left else slice_batch(batch, 0, left)
            left -= size
            if left <= 0:
                return

    def copy_source(self, source: Source) -> str:
        """Make a decompressed copy that lives as long as this parser."""
        if format_from_magic(source.head(6)) not in ("parquet", "arrow"):  # it may be endless
            raise file_error("damaged", source.name, "is neither Parquet nor Arrow")
        with source.open() as stream:
            self.copy = TemporaryFile(iter(lambda: stream.read(COPIED_AT_ONCE), b""))
        return self.copy.name

    def pieces(self, slots: int) -> Generator[Piece]:
        """Read all rows from the beginning, as tables."""
        import pyarrow

        names = self.dataset.schema.names
        scanned = self.dataset.to_batches(
            columns=[names[number] for number in self.wanted],
            batch_size=BATCH_ROWS,
            batch_readahead=2,
            fragment_readahead=1,
        )
        number = rows = 0
        for batch in check_batches(scanned, self.source.name):
            table = pyarrow.Table.from_batches([batch])
            step = max(1, len(table) * self.options.batch_bytes // max(1, table.nbytes))
            for first in range(0, len(table), step):
                part = table.slice(first, step)
                rows += len(part)
                taken = (self.source.size or 0) * rows // max(1, self.count)
                yield Piece(part, taken, number % slots)
                number += 1

    def count_lines(self, data: Any) -> int:
        """Count the rows of a table."""
        return len(data)

    def row_edges(self, data: Any) -> np.ndarray:
        """Return the number of each row, and how many there are."""
        return np.arange(len(data) + 1)

    def decode(self, data: Any) -> DecodedColumns:
        """Decode the columns of a table."""
        return self.decode_table(data)


def with_label_type(recipe: FeatureRecipe, kind: Any) -> FeatureRecipe:
    """Return a recipe for labels of an Arrow type; lists are sets of labels."""
    from pyarrow import types

    if types.is_list(kind):
        recipe = replace(recipe, labels_separator=recipe.labels_separator or ",")
        refuse_other_labels(recipe, new=True)
    found = classify_type(kind.value_type if types.is_dictionary(kind) else kind)
    return replace(recipe, label_kind=label_kind(ColumnKind(found), recipe))


def check_batches(scanned: Iterator[Any], name: str) -> Iterator[Any]:
    """Yield what Arrow reads; raise an error with the place where the file is damaged."""
    rows = 0
    while True:
        try:
            batch = next(scanned, None)
        except (ValueError, OSError) as error:
            what = f"is damaged after row {rows}, or its columns are of other types than before"
            raise file_error("damaged", name, what, line=rows + 1) from error
        if batch is None:
            return
        rows += len(batch)
        yield batch


def unreadable_error(source: Source, files: list[str], format: str) -> InputError:  # noqa: A002
    """Return the error of files that Arrow cannot read: which, and why as far as is known."""
    from pyarrow import dataset

    for file in files:
        name = file if len(files) > 1 else source.name
        if not os.path.getsize(file):
            return file_error("empty", name, "is empty")
        try:
            dataset.dataset([file], format=ARROW_NAMES.get(format, format)).count_rows()
        except (ValueError, OSError):
            what = f"cannot be read as {format}: it is damaged or of another format"
            return file_error("damaged", name, what)
    what = "has files with columns of the same name and of different types"
    return file_error("column-types", source.name, what)


def is_plain(source: Source) -> bool:
    """Whether files can be read where they are: not a stream, and not compressed as a whole."""
    if source.file is not None:
        return False
    with source.open() as stream:
        return len(source.files) > 1 or stream.source is None
