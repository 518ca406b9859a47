"""Parquet and Arrow files, one or many, through Arrow's datasets."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..data.rows import n_rows
from .arrow import DecodedColumns, TableParser, TableProfile
from .batches import Batch, slice_batch
from .kinds import classify_type, detect_column
from .lists import count_places, expand_lists, find_lengths, find_list
from .notices import make_notice
from .parser import Parser
from .recipe import (
    ColumnKind,
    ColumnNames,
    FeatureRecipe,
    ReaderOptions,
    Resolved,
    label_kind,
    refuse_several_numbers,
)
from .sources import Location, Source, file_error
from .tables import TableSource
from .threads import Piece

BATCH_ROWS = 1 << 14
FIRST_ROWS = 5_000  # that show what strings hold
FEW_ROWS = 256  # in a piece of a table: a batch of fewer takes longer than copying them
COLUMNAR = ("parquet", "arrow")  # formats, whose rows have numbers and no lines
DAMAGE = ValueError, OSError, NotImplementedError, MemoryError
"""What Arrow raises for damaged files, whose sizes and types may be anything."""


@dataclass(frozen=True)
class TypedProfile(TableProfile):
    """Columns of Arrow types; ``lengths`` are those of the lists that hold some of them.

    ``file`` is a table or dataset that is open, or the Arrow schema of JSON lines, and ``index``
    are the columns of a data frame's index.
    """

    parser: type[Parser]
    schema: Any
    lengths: Mapping[str, int]
    file: Any
    index: Sequence[str] = ()

    def resolve(self, requested: FeatureRecipe, options: ReaderOptions) -> Resolved:
        """Return the recipe for what was requested, and what to note about it."""
        from pyarrow import types

        names, schema = self.columns, self.schema
        recipe, notices = super().resolve(requested, options)
        for name in (recipe.label, *recipe.ignore) if options.new else ():
            if name is not None and find_list(str(name)) in self.lengths:
                what = f"has {name} in lists; a label or an ignored column must be separate"
                raise file_error("label-in-list", names.source, what, column=name)
        if options.new and recipe.label and recipe.label not in options.category:
            kind = schema.field(recipe.label).type
            if types.is_list(kind):  # lists are sets of labels
                recipe = replace(recipe, labels_separator=recipe.labels_separator or ",")
                refuse_several_numbers(recipe)
            found = classify_type(kind.value_type if types.is_dictionary(kind) else kind)
            recipe = replace(recipe, label_kind=label_kind(ColumnKind(found), recipe))
        label = names.label(recipe, options.label_needed)
        wanted = [name for name, _ in recipe.columns or ()]
        wanted += [] if recipe.id is None else [str(recipe.id)]
        places = [names.named(name) for name in wanted if name in names]
        for place in places if label is None else [*places, label]:
            lists = place == label and recipe.labels_separator is not None
            if not self.kinds[place].kind and not lists:
                name, kind = schema.names[place], schema.types[place]
                what = f"has a column {name!r} of {kind}; cast it to numbers, strings or dates"
                raise file_error("column-type", names.source, what, column=name)
        if recipe.labels_separator != requested.labels_separator:
            notices[make_notice("labels")] = None
        for name, each in zip(schema.names, self.kinds, strict=True):
            if not each.kind and name not in (*recipe.ignore, recipe.label):
                notices[make_notice("column", name=name)] = None
        if self.index and options.new:
            notices[make_notice("index", names=", ".join(self.index))] = None
        return recipe, notices


def profile_typed(
    source: Source,
    recipe: FeatureRecipe,
    options: ReaderOptions,
    schema: Any,
    read_first_rows: Callable[[], Any],
    **parts: Any,
) -> TypedProfile:
    """Look at columns of Arrow types; ``parts`` are those of the profile that a file has.

    The first rows tell strings from dates and texts. Where a model knows the columns, only their
    types count.
    """
    from pyarrow import Table

    empty = Table.from_batches([], schema)  # schema.empty_table() would import pandas
    first, known = empty, count_places(name for name, _ in recipe.columns or ())
    lengths: Mapping[str, int] = {
        name: length for name, length in known.items() if name in schema.names
    }
    if options.new:
        with suppress(*DAMAGE):  # reading the rows reports the damage
            first = read_first_rows()
        lengths = find_lengths(first, stated_columns(recipe, options))
    first = expand_lists(first, lengths)
    schema = expand_lists(empty, lengths).schema
    names = ColumnNames(schema.names, source.name)
    kinds = [
        detect_column(*pair) if options.new else ColumnKind(classify_type(pair[1].type))
        for pair in zip(names.names, first.columns, strict=True)
    ]
    for name in options.category:
        kinds[names.number(name)] = ColumnKind("category")
    found: Any = {"columns": names, "kinds": kinds, "column": first.column}
    return TypedProfile(**found, schema=schema, lengths=lengths, **parts)


def stated_columns(recipe: FeatureRecipe, options: ReaderOptions) -> set[Any]:
    """Return the names of columns that a person asks for."""
    return {recipe.label, recipe.id, *recipe.text, *recipe.ignore, *options.category}


class TypedParser(TableParser):
    """Rows of columns of Arrow types; some of them may be lists of numbers."""

    def list_columns(self, places: Iterable[int]) -> list[str]:
        """Return the names of columns of the file that hold the columns at some places."""
        names, lengths = self.profile.columns.names, self.profile.lengths
        held = ((find_list(names[place]), names[place]) for place in places)
        return list(dict.fromkeys(one if one in lengths else name for one, name in held))

    def decode(self, data: Any) -> DecodedColumns:
        """Decode a table of the wanted columns; some of them may hold lists."""
        wanted = [self.profile.columns.names[place] for place in self.wanted]
        table = expand_lists(data, self.profile.lengths).select(wanted)
        return self.decode_columns([each.combine_chunks() for each in table.columns], len(table))


def open_table(table: Any) -> "Opened":
    """Open a table; one of many small pieces is copied into one piece."""
    import pyarrow

    pieces = max((column.num_chunks for column in table.columns), default=0)
    if pieces > 1 and pieces * FEW_ROWS > len(table):
        with suppress(pyarrow.ArrowException):  # of types that it cannot join
            table = table.combine_chunks()
    return Opened(table, len(table))


class Opened(NamedTuple):
    """Rows of columns that are open: a table, or Arrow's dataset of files; and how many there are.

    A table is not made a dataset: that would import pandas for nothing.
    """

    data: Any
    rows: int
    whole: bool = False  # whether all columns are read: Arrow crashes on some of a damaged file

    def head(self, columns: list[str]) -> Any:
        """Return some columns of the first rows."""
        wanted = {"columns": None if self.whole else columns, "use_threads": False}
        is_dataset = hasattr(self.data, "head")
        first = self.data.head(FIRST_ROWS, **wanted) if is_dataset else self.data[:FIRST_ROWS]
        first.validate(full=True)
        return first.select(columns)

    def scan(self, columns: list[str]) -> Iterator[Any]:
        """Iterate over batches of some columns; file by file, so that damage has a place."""
        if not hasattr(self.data, "get_fragments"):
            yield from self.data.select(columns).to_batches(BATCH_ROWS)
            return
        how = {"columns": None if self.whole else columns, "batch_size": BATCH_ROWS}
        for fragment in self.data.get_fragments():
            yield from fragment.to_batches(schema=self.data.schema, batch_readahead=2, **how)


def open_files(source: Source, format: str) -> Opened:  # noqa: A002
    """Open files, and count their rows."""
    from pyarrow import dataset

    if source.file is not None:
        what = f"cannot be read as {format}, which needs the name of a file; write it to one"
        raise file_error("no-file", source.name, what)
    try:
        found = dataset.dataset(source.files, format="ipc" if format == "arrow" else format)
        [(field.name, getattr(field.type, "tz", None)) for field in found.schema]  # are they UTF-8?
        return Opened(found, found.count_rows(), format == "arrow")
    except DAMAGE as error:
        what = f"cannot be read as {format}: it is damaged, compressed as a whole, or of another"
        several = [file for file in source.files[1:] if file in str(error)]
        raise file_error("damaged", [*several, source.name][0], f"{what} format") from error


class ColumnarParser(TypedParser):
    """Rows of Parquet or Arrow files, or of a table in memory."""

    def prepare(self) -> None:
        """Find the places of columns, in what is open or in another table with these columns."""
        super().prepare()
        self.opened: Opened = self.profile.file
        if isinstance(self.source, TableSource):
            self.opened = open_table(self.source.table)

    def first_rows(self) -> Iterator[Batch]:
        """Yield the first rows, however batches and row groups are cut."""
        few = self.aside()
        few.options = self.options._replace(batch_bytes=1 << 62)
        left = BATCH_ROWS
        for batch in few.batches(Location(self.source.name, BATCH_ROWS, "row")):
            size = n_rows(batch.rows)
            yield batch if size <= left else slice_batch(batch, 0, left)
            left -= size
            if left <= 0:
                return

    def cut(self, slots: int) -> Generator[Piece]:
        """Read all rows from the beginning, as tables."""
        import pyarrow

        scanned = self.opened.scan(self.list_columns(self.wanted))
        rows = 0
        for batch in check_batches(scanned, self.source.name):
            table = pyarrow.Table.from_batches([batch])
            step = max(1, len(table) * self.piece_bytes // max(1, table.nbytes))
            for first in range(0, len(table), step):
                part = table.slice(first, step)
                rows += len(part)
                taken = (self.source.size or 0) * rows // max(1, self.opened.rows)
                yield Piece(part, taken)

    def count_lines(self, data: Any) -> int:
        """Count the rows of a table."""
        return len(data)

    def row_edges(self, data: Any) -> np.ndarray:
        """Return the number of each row, and how many there are."""
        return np.arange(len(data) + 1)


def profile_columnar(
    source: Source,
    format: str,  # noqa: A002
    recipe: FeatureRecipe,
    options: ReaderOptions,
) -> TypedProfile:
    """Look at Parquet or Arrow files, or a table in memory."""
    if isinstance(source, TableSource):
        opened = open_table(source.table)
    else:
        opened = open_files(source, format)
    known = {name for name, _ in recipe.columns or ()}
    stated = stated_columns(recipe, options)
    schema, index = divide_index(opened.data.schema, known | stated)
    parts: Any = {"parser": ColumnarParser, "file": opened, "index": index}
    return profile_typed(
        source, recipe, options, schema, lambda: opened.head(schema.names), **parts
    )


def divide_index(schema: Any, stated: set[Any]) -> tuple[Any, list[str]]:
    """Return the columns without the index of a pandas data frame, and the names of the index.

    It numbers the rows of a frame that was sorted or divided, which gives their labels away.
    """
    try:
        index = (schema.pandas_metadata or {}).get("index_columns")
    except (ValueError, AttributeError):  # of metadata that pandas did not write
        index = None
    index = index if isinstance(index, list) else []
    names = [name for name in schema.names if name in index and name not in stated]
    for name in names:
        schema = schema.remove(schema.get_field_index(name))
    return schema, names


def check_batches(scanned: Iterator[Any], name: str) -> Iterator[Any]:
    """Yield what Arrow reads; raise an error with the place where the file is damaged."""
    rows = 0
    while True:
        try:
            batch = next(scanned, None)
            if batch is not None:
                batch.validate(full=True)  # Arrow would crash on sizes out of range
        except DAMAGE as error:
            what = f"is damaged after row {rows}, or its columns are of other types than before"
            raise file_error("damaged", name, what, line=rows + 1) from error
        if batch is None:
            return
        rows += len(batch)
        yield batch
