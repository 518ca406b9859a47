"""CSV and TSV files: kernels read numbers and plain words, Arrow cells of any other form."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..data.rows import view_rows
from ..kernels import cells, lines
from ..kernels.addresses import MARKS, NEWLINE
from ..kernels.algebra import Rows
from ..kernels.lines import (
    CELLS,
    LABEL,
    LABEL_ZEROS,
    NUL,
    NUMBER_LABEL,
    VALUE,
    WHOLE_LABEL,
    Cursor,
)
from ..kernels.words import CSRBuffer
from ..parameters import InputError
from .arrow import DecodedColumns, TableParser, missing_name, table_scaling, to_arrow_type
from .lines import CODES, LineBuffers, LineParser, line_error
from .notices import make_notice
from .parser import Detected, Parser
from .profile import TextProfile, holds_long, parse_cells, profile_text, row_ends, split_cells
from .recipe import FeatureRecipe, ReaderOptions, leading_zeros_error, make_recipe
from .sources import BLANKS, ByteStream, Source, count_byte, file_error, last_newline
from .spellings import is_number
from .values import NOT_UTF8

LEAST_BYTES = 1 << 16  # for which a kernel is loaded, or compiled; Arrow is there already


def detect_delimited(
    source: Source, usual: str, recipe: FeatureRecipe, options: ReaderOptions
) -> Detected:
    """Find out how to read a CSV or TSV file; ``usual`` is the delimiter that its name implies."""
    profile = profile_text(source, usual, recipe, options)
    if len(profile.columns) == 1 and recipe.label is not False and options.new:
        what = f"has only one column, {profile.columns.names[0][:40]!r}, and no label beside it"
        remedy = f"add a column, or divide cells by {usual!r}"
        raise file_error("one-column", source.name, f"{what}; {remedy}")
    recipe, notices = profile.complete(make_recipe(recipe, "table", source.name), options)
    gaps = False
    if options.new:
        found, kind = profile.divided_by, recipe.label_kind
        if recipe.label:
            place = profile.columns.number(recipe.label)
            gaps = None in profile.cells(place)
            if kind == "boolean" or (kind == "number" and holds_long(profile.column(place))):
                kind = "category"
        recipe = replace(recipe, header=profile.header, delimiter=found, label_kind=kind)
        if found != usual:
            said = "blanks" if found == BLANKS else repr(found)
            notices = {make_notice("delimiter", delimiter=said): None, **notices}
        if source.misread is not None:
            notices[make_notice("encoding", encoding=source.misread)] = None
    make = partial(make_table_parser, profile=profile, gaps=gaps)
    return Detected(recipe, notices, make, source.rereadable)


def make_table_parser(
    source: Source,
    recipe: FeatureRecipe,
    options: ReaderOptions,
    profile: TextProfile,
    gaps: bool,
) -> "NumberParser | CellParser":
    """Make the parser of a table: by the kernel if all its cells are plain numbers.

    ``gaps`` says whether labels are missing in the first rows.
    """
    kinds = {*(each.kind for each in profile.kinds), recipe.label_kind}
    plain = not recipe.spellings and not any(each.spelling for each in profile.kinds)
    dense = plain and recipe.bits is None and recipe.id is None
    numbers = dense and kinds <= {"number", None} and not gaps
    return (NumberParser if numbers else CellParser)(source, recipe, options, profile)


class DelimitedParser(Parser):
    """A CSV or TSV file whose profile is known."""

    profile: TextProfile

    def find_rows(self, stream: ByteStream, place: int) -> int:
        """Count the bytes before the first row of a file; all files have the same header."""
        return self.profile.skip if place == 0 else self.profile.find_rows(stream)


class NumberParser(DelimitedParser, LineParser):
    """A table of numbers only, dense."""

    def __init__(
        self, source: Source, recipe: FeatureRecipe, options: ReaderOptions, profile: TextProfile
    ) -> None:
        super().__init__(source, recipe, options)
        self.profile = profile
        features = [name for name, _ in recipe.columns or ()]
        self.n_numbers = self.width = len(features)
        if recipe.scales is not None:
            self.scaling = scaling = table_scaling(recipe, options.dtype)
            self.width = scaling.width
            features += [missing_name(features[j]) for j in np.flatnonzero(scaling.flags)]
        self.ignored = self.gaps
        self.vocabulary.known.update((k, (str, name)) for k, name in enumerate(features))
        self.places = np.full(len(profile.columns), self.n_numbers)
        places = [profile.columns.named(name) for name in features[: self.n_numbers]]
        self.places[places] = range(self.n_numbers)
        self.label = profile.columns.label(recipe, options.label_needed)
        self.labelled = self.label is not None
        if self.label is not None:
            self.places[self.label] = (
                WHOLE_LABEL if options.new and not recipe.numbers else NUMBER_LABEL
            )

    def is_unlabelled(self, cursor: Cursor) -> bool:
        """Whether the line at the cursor was refused as its label is missing."""
        return cursor.error == LABEL

    def allocate_buffers(self, size: int) -> LineBuffers:
        """Allocate arrays for rows; a piece with short cells may need several rounds."""
        n = size // (2 * len(self.places)) + 1
        values = np.empty(n * self.n_numbers, self.read_dtype)
        return LineBuffers(np.empty(n), None, CSRBuffer(values, values[:0], values[:0]), None)

    def parse(self, data: np.ndarray, cursor: Cursor, out: LineBuffers) -> Cursor:
        """Call the kernel."""
        delimiter, limit = ord(self.profile.delimiter), float(np.finfo(self.options.dtype).max)
        shape = out.labels, out.rows.values, self.n_numbers, limit
        return Cursor(*lines.table(data, len(data), cursor, delimiter, self.places, *shape))

    def make_rows(
        self, data: np.ndarray, cursor: Cursor, out: LineBuffers
    ) -> Iterator[tuple[slice, Rows]]:
        """Return what the kernel has filled, as rows."""
        if cursor.rows:
            values = out.rows.values[: cursor.values]
            if cursor.ignored and self.recipe.scale == "none":
                values[np.isnan(values)] = 0
            rows = view_rows(values.reshape(cursor.rows, self.n_numbers))
            yield slice(cursor.rows), self.scaled(rows)

    def explain(self, data: np.ndarray, cursor: Cursor) -> InputError:
        """Say in which column the line at the cursor is broken, and why."""
        if cursor.error == LABEL_ZEROS:
            return leading_zeros_error(str(self.recipe.label))
        delimiter = self.profile.delimiter.encode()
        before = bytes(data[cursor.at : cursor.where])
        name = self.profile.columns.names[before.count(delimiter)]
        if cursor.error != VALUE:
            return line_error(cursor.error, name)
        begin = cursor.at + before.rfind(delimiter) + 1
        cell = re.split(rb"[\n%b]" % delimiter, bytes(data[begin : begin + 99]))[0]
        return self.word_error("number", name, cell.decode(errors="replace").strip())

    def label_column(self) -> Any:
        """The name of the label's column."""
        return self.recipe.label


class CellParser(DelimitedParser, TableParser):
    """A table with words in it."""

    def __init__(
        self, source: Source, recipe: FeatureRecipe, options: ReaderOptions, profile: TextProfile
    ) -> None:
        super().__init__(source, recipe, options, profile.columns)
        self.profile = profile
        number_type, word = to_arrow_type(self.read_dtype), to_arrow_type(None)
        found = [profile.kinds[place].kind for place in self.wanted]
        self.types = [
            number_type if kind == spelled == "number" and name not in recipe.spellings else word
            for (name, kind), spelled in zip(self.columns, found, strict=False)
        ]
        self.types += [word] * (len(self.wanted) - len(self.types))
        self.cell_places = np.full(len(profile.columns), cells.SKIPPED)
        self.n_words = 0
        for number, place in enumerate(self.wanted):
            if self.types[number] == number_type:
                self.cell_places[place] = self.places[self.columns[number][0]]
            elif self.cell_places[place] == cells.SKIPPED:  # a column may be wanted twice
                self.cell_places[place] = len(self.places) + self.n_words
                self.n_words += 1

    @property
    def piece_bytes(self) -> int:
        """The approximate size of a piece; smaller where bytes become many features."""
        grams = [self.recipe.resolve_ngrams(name) for name in self.recipe.text]
        most = max([longest - shortest + 1 for shortest, longest, each in grams if each] or [1])
        return self.options.batch_bytes // most + 1

    def end_of_rows(self, data: np.ndarray) -> int:
        """Return where the last whole row ends."""
        if not count_byte(data, MARKS):
            return last_newline(data)
        ends, _ = row_ends(data, self.profile.delimiter)
        return int(ends[-1]) if len(ends) else 0

    def row_edges(self, data: np.ndarray) -> np.ndarray:
        """Return where rows begin and end; a mark that is never closed may hide the last end."""
        ends, _ = row_ends(data, self.profile.delimiter, last=True)
        return np.unique([0, *ends, len(data)])

    def decode(self, data: np.ndarray) -> DecodedColumns:
        """Decode the cells of whole rows: by the kernel if they are many and written plainly."""
        found = self.decode_plain(data) if len(data) >= LEAST_BYTES else None
        return self.decode_any(data) if found is None else found

    def decode_plain(self, data: np.ndarray) -> DecodedColumns | None:
        """Decode cells that are written plainly; None if some are not, or are broken."""
        most, width = count_byte(data, NEWLINE), len(self.places)
        matrix = np.empty((most, width), self.read_dtype)
        spans = np.empty((most, self.n_words, 2), np.int32)
        delimiter, limit = ord(self.profile.delimiter), float(np.finfo(self.options.dtype).max)
        places = self.cell_places
        rows, missing = cells.plain_cells(data, delimiter, places, limit, matrix, spans)
        if rows == cells.NOT_PLAIN:
            return None
        columns = [
            None if places[place] < width else copy_words(data, spans[:rows], places[place] - width)
            for place in self.wanted
        ]
        if missing:
            self.add_notice(self.gaps)
        return self.decode_columns(columns, rows, matrix[:rows])

    def decode_any(self, data: np.ndarray) -> DecodedColumns:
        """Decode cells by Arrow, which knows every way to write them."""
        if not data.all():
            raise line_error(NUL, int(data.argmin()) + 1)
        if row_ends(data, self.profile.delimiter, last=True)[1]:
            place = bytes(data).rfind(b'"') + 1  # if the row is alone
            raise InputError("a quotation mark is never closed", code="quotation", column=place)
        include = [str(number) for number in self.wanted]
        table = parse_cells(
            data,
            self.profile.delimiter,
            len(self.profile.columns),
            include_columns=include,
            column_types=dict(zip(include, self.types, strict=True)),
        )
        return self.decode_table(table)

    def explain(self, row: np.ndarray) -> InputError:
        """Say in which column a row is broken, and why."""
        found = super().explain(row)
        if found.code != "cells":
            return found
        try:
            text = bytes(row).decode()
        except UnicodeDecodeError as error:
            return InputError(NOT_UTF8, code="encoding", column=error.start + 1)
        try:
            cells, names = split_cells(text, self.profile.delimiter), self.profile.columns.names
        except ValueError:
            return InputError("the row cannot be divided into cells", code="cells", column=1)
        if len(cells) != len(names):
            sentence = f"the row has {len(cells)} cells instead of {len(names)}"
            return InputError(sentence, code=CODES[CELLS], column=len(row))
        for number, kind in zip(self.wanted, self.types, strict=True):
            cell = cells[number].strip()
            if kind != to_arrow_type(None) and not is_number(cell):
                return self.word_error("number", names[number], cell)
        return found


def copy_words(data: np.ndarray, spans: np.ndarray, column: int) -> Any:
    """Copy the words of a column into an Arrow array; raise ValueError if they are not UTF-8."""
    import pyarrow

    size = int(spans[:, column, 1].sum() - spans[:, column, 0].sum())
    letters, offsets = np.empty(size, np.uint8), np.empty(len(spans) + 1, np.int32)
    is_ascii = cells.copy_words(data, spans, column, letters, offsets)
    buffers = pyarrow.py_buffer(offsets), pyarrow.py_buffer(letters)
    found = pyarrow.StringArray.from_buffers(len(spans), *buffers)
    if not is_ascii:
        found.validate(full=True)
    return found
