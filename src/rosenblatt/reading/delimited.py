"""CSV and TSV files: kernels read numbers and plain words, Arrow cells of any other form."""

import csv
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.results import count
from ..data.rows import read_only
from ..kernels import cells, lines
from ..kernels.addresses import MARKS, NEWLINE
from ..kernels.lines import NUL
from ..parameters import InputError
from .arrow import DecodedColumns, TableParser, TableProfile
from .formats import Dialect, divide_rows, find_delimiter, is_quoted
from .kinds import are_numbers, detect_cells
from .label import LABEL_NAMES, find_usual_labels
from .lines import line_error
from .notices import list_words, make_notice
from .parser import BOM, SAMPLE
from .recipe import DIGITS, ColumnKind, ColumnNames, FeatureRecipe, ReaderOptions, Resolved
from .sources import LONGEST_ROW, ByteStream, Source, count_byte, file_error, last_newline
from .spellings import LEADING_ZEROS, is_number
from .values import NOT_UTF8, is_in_any, to_scalar, trim_cells

LONG = 30  # characters: a name has fewer, a sentence more
LEAST_BYTES = 1 << 16  # for which a kernel is loaded, or compiled; Arrow is there already


class DelimitedParser(TableParser):
    """A CSV or TSV file whose profile is known."""

    def prepare(self) -> None:
        """Find the places of columns, and how the cells of each are read."""
        super().prepare()
        recipe, profile = self.recipe, self.profile
        self.cell_places = np.full(len(profile.columns), cells.SKIPPED)
        self.n_words = 0
        columns = [*self.columns, *[("", "")] * len(self.further)]
        for (name, kind), place in zip(columns, self.wanted, strict=True):
            if kind == profile.kinds[place].kind == "number" and name not in recipe.spellings:
                self.cell_places[place] = self.places[name]
            elif self.cell_places[place] == cells.SKIPPED:  # a column may be wanted twice
                self.cell_places[place] = len(self.places) + self.n_words
                self.n_words += 1
        plain = recipe.label_kind == "number" and recipe.labels_separator is None
        self.plain_label = plain and str(recipe.label) not in recipe.spellings
        self.plain_label &= self.label is not None and self.wanted.count(self.label) == 1
        if self.plain_label:
            self.cell_places[self.label] = cells.LABEL_PLACE

    def find_rows(self, stream: ByteStream, place: int) -> int:
        """Count the bytes before the first row of a file; all files have the same header."""
        profile: TextProfile = self.profile
        if place == 0:
            return profile.skip
        begin, head, ends = read_sample(stream, profile.dialect)
        if not profile.header:
            return begin
        if not head.strip():
            raise file_error("empty", stream.name, "is empty; leave it out, or write its header")
        text, own = head[begin : ends[0]].decode(errors="replace"), profile.columns
        names = [cell.strip() for cell in split_cells(text, profile.dialect)]
        if names != own.names:
            what = f"has other columns than {own.source}: {list_words(names)} instead of "
            raise file_error("other-columns", stream.name, what + list_words(own.names))
        return ends[0]

    @property
    def piece_bytes(self) -> int:
        """The approximate size of a piece; smaller where bytes become many features."""
        grams = [self.recipe.resolve_ngrams(name) for name in self.recipe.text]
        most = max([longest - shortest + 1 for shortest, longest, each in grams if each] or [1])
        return super().piece_bytes // most + 1

    def end_of_rows(self, data: np.ndarray) -> int:
        """Return where the last whole row ends."""
        if not (self.profile.dialect.quoted and count_byte(data, MARKS)):
            return last_newline(data)
        ends, _ = row_ends(data, self.profile.dialect)
        return int(ends[-1]) if len(ends) else 0

    def row_edges(self, data: np.ndarray) -> np.ndarray:
        """Return where rows begin and end; a mark that is never closed may hide the last end."""
        ends, _ = row_ends(data, self.profile.dialect, last=True)
        return np.unique([0, *ends, len(data)])

    def decode(self, data: np.ndarray) -> DecodedColumns:
        """Decode the cells of whole rows: by the kernel if they are many and written plainly."""
        is_plain = self.profile.dialect.quoted or not count_byte(data, MARKS)
        found = self.decode_plain(data) if is_plain and len(data) >= LEAST_BYTES else None
        return self.decode_any(data) if found is None else found

    def decode_plain(self, data: np.ndarray) -> DecodedColumns | None:
        """Decode cells that are written plainly; None if some are not, or are broken."""
        places, width = self.cell_places, len(self.places)
        cell_bytes = len(data) // len(places)
        most = min(self.lines, cell_bytes + 1)
        most = max(most, cell_bytes // 2)  # memory of this size is kept for the next piece
        labels, matrix = np.empty(most), np.empty((most, width), self.read_dtype)
        spans = np.empty((most, self.n_words, 2), np.int32)
        delimiter, limit = ord(self.profile.dialect.delimiter), np.finfo(self.options.dtype).max
        filled = labels, matrix, spans
        rows, missing = cells.plain_cells(data, delimiter, places, float(limit), *filled)
        if rows == cells.NOT_PLAIN:
            return None
        columns = [
            None if places[place] < width else copy_words(data, spans[:rows], places[place] - width)
            for place in self.wanted
        ]
        if missing:
            self.add_notice(self.gaps)
        if self.plain_label:  # its column is behind those of features, and before that of ids
            columns[len(self.columns)] = labels[:rows]
        return self.decode_columns(columns, rows, matrix[:rows])

    def decode_any(self, data: np.ndarray) -> DecodedColumns:
        """Decode cells by Arrow, which knows every way to write them."""
        if not data.all():
            raise line_error(NUL, int(data.argmin()) + 1)
        if row_ends(data, self.profile.dialect, last=True)[1]:
            place = bytes(data).rfind(b'"') + 1  # if the row is alone
            why = "a quotation mark is never closed; close it, or use skip_bad to leave the row out"
            raise InputError(why, code="quotation", column=place)
        width = len(self.profile.columns)
        table = parse_cells(data, self.profile.dialect, width, self.wanted)
        return self.decode_columns([each.combine_chunks() for each in table.columns], len(table))

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
            cells, names = split_cells(text, self.profile.dialect), self.profile.columns.names
        except ValueError:
            return InputError("the row cannot be divided into cells", code="cells", column=1)
        if len(cells) != len(names):
            sentence = f"the row has {count(len(cells), 'cell')} instead of {len(names)}"
            return InputError(sentence, code="cell-count", column=len(row))
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


@dataclass(frozen=True)
class TextProfile(TableProfile):
    """The profile of a CSV or TSV file, whose rows begin after ``skip`` bytes.

    ``named`` says whether the first row has names, and ``header`` whether columns have these.
    """

    parser = DelimitedParser
    usual: str
    dialect: Dialect
    skip: int
    header: bool
    named: bool

    def resolve(self, requested: FeatureRecipe, options: ReaderOptions) -> Resolved:
        """Return the recipe for what was requested, and what to note about it."""
        names = self.columns
        if len(names) == 1 and requested.label is not False and options.new:
            what = f"has only one column, {names.names[0][:40]!r}; separate cells by {self.usual!r}"
            what += "; labels alone train only a bias (form 004)"
            raise file_error("one-column", names.source, what)
        recipe, notices = super().resolve(requested, options)
        if not options.new:
            if self.named and not self.header:
                notices[make_notice("header")] = None
            return recipe, notices
        delimiter = self.dialect.delimiter
        kind = "category" if recipe.label_kind == "boolean" else recipe.label_kind
        recipe = replace(recipe, header=self.header, delimiter=delimiter, label_kind=kind)
        if delimiter != self.usual:
            notices = {make_notice("delimiter", delimiter=delimiter): None, **notices}
        return recipe, notices


def profile_text(
    source: Source, usual: str, recipe: FeatureRecipe, options: ReaderOptions
) -> TextProfile:
    """Look at the head of a CSV or TSV file; ``usual`` is the delimiter that its name implies.

    What a recipe knows is not detected: the header, and the kinds of the columns.
    """
    sample = source.head(SAMPLE)
    delimiter = find_delimiter(sample, recipe.delimiter or usual) or recipe.delimiter or usual
    dialect = Dialect(delimiter, is_quoted(sample, delimiter))
    begin, head, ends = read_sample(source, dialect)
    top, rows = head[begin : ends[0]], head[begin : ends[-1]]
    refuse_odd_beginning(source.name, top, head[begin:], head[ends[-1] :], ends[0] - begin)
    cells = [cell.strip() for cell in split_cells(top.decode(errors="replace"), dialect)]
    columns = parse_strings(rows, dialect, len(cells))
    below = [column[1:] for column in columns]
    header, known, kinds = recipe.header, recipe.columns is not None, list[ColumnKind]()
    if header is None:
        kinds = list(map(detect_cells, cells, below))
        header = is_header(cells, below, recipe, kinds)
    named = header or (known and recipe.header is False and names_columns(cells, below))
    if not (head[ends[0] : ends[-1]] if named else rows).strip():
        hint = " below its header (use header=False if that line is a row)" if header else ""
        raise file_error("no-rows", source.name, f"has no rows{hint}")
    columns = below if named else columns
    if not header:  # of a model that knows columns by number, without that of the label
        numbered = recipe.numbered_columns() if known else []
        cells = numbered if len(numbered) == len(cells) else list(map(str, range(len(cells))))
    names = ColumnNames(cells, source.names[0])
    if known:  # the model says what a column holds, and the file how it writes that
        plain = (are_numbers(one) and not is_in_any(one, LEADING_ZEROS) for one in columns)
        kinds = [ColumnKind("number" if each else "category") for each in plain]
    elif not (header and kinds):
        kinds = list(map(detect_cells, cells, columns))
    for name in options.category:
        kinds[names.number(name)] = ColumnKind("category")
    skip = ends[0] if named else begin
    looks = columns.__getitem__
    return TextProfile(names, kinds, looks, usual, dialect, skip, header, named)


# The first megabyte.


def read_sample(source: Source | ByteStream, dialect: Dialect) -> tuple[int, bytes, list[int]]:
    """Return where rows begin, the first bytes, and the ends of the rows in them."""
    size = SAMPLE
    while True:
        head = source.head(size)
        over = len(head) < size or size > LONGEST_ROW
        begin = len(head) - len(head.removeprefix(BOM).lstrip(b"\r\n"))
        if over and not head.endswith(b"\n"):
            head += b"\n"
        ends = row_ends(head[begin:] or b"\n", dialect)[0] + begin
        if over or len(ends) > 1:
            return begin, head, ends.tolist() or [len(head)]
        size *= 2


def refuse_odd_beginning(name: str, top: bytes, head: bytes, rest: bytes, length: int) -> None:
    """Refuse a file whose first row is not a row, and say why."""
    is_mac = b"\r" in head and b"\n" not in head.rstrip(b"\n")
    is_open = len(top) + len(rest) == len(head) and b'"' in rest
    is_wide = top.startswith((b"\xff\xfe", b"\xfe\xff"))
    faults = (
        (length > LONGEST_ROW, "row-too-long", f"the row is longer than {LONGEST_ROW >> 20} MB"),
        (is_wide, "encoding", 'the file begins like UTF-16; train with encoding="utf-16"'),
        (b"\0" in top, "nul-byte", "there is a NUL byte (a table must be UTF-8)"),
        (is_mac, "carriage-returns", "lines end in carriage returns; write newlines instead"),
        (not top.strip(), "no-rows", "there are no rows"),
        (is_open, "quotation", "a quotation mark below the first row is never closed"),
    )
    for is_fault, code, why in faults:
        if is_fault:
            column = {"row-too-long": 1, "nul-byte": top.find(0) + 1}.get(code)
            where = name if column is None else f"{name}, line 1, column {column}"
            line = None if column is None else 1
            raise InputError(f"{where}: {why}.", code=code, file=name, line=line, column=column)


def row_ends(data: Any, dialect: Dialect, last: bool = False) -> tuple[np.ndarray, int]:
    """Return where each whole row ends, and how many quotation marks are never closed.

    Nothing follows the ``last`` data.
    """
    data = read_only(np.frombuffer(data, np.uint8))
    if not (dialect.quoted and count_byte(data, MARKS)):  # a kernel takes time to compile
        return np.flatnonzero(data == NEWLINE) + 1, 0
    ends = np.empty(len(data), np.int64)
    n, unclosed = lines.row_ends(data, ord(dialect.delimiter), last, ends)
    return ends[:n], unclosed


def split_cells(row: str, dialect: Dialect) -> list[str]:
    """Split one row into cells."""
    try:
        return next(divide_rows([row], dialect), [])
    except csv.Error as error:
        raise InputError(f"A row cannot be divided into cells: {error}.", code="cells") from error


# The header.


def names_columns(cells: list[str], below: Sequence[Any]) -> bool:
    """Whether a cell of the first row is surely a name: a word above numbers or dates."""
    return len(below[0]) > 0 and any(
        weigh_name(cell, detect_cells("", column), column, False) == math.inf
        for cell, column in zip(cells, below, strict=True)
    )


def is_header(
    cells: list[str], below: Sequence[Any], recipe: FeatureRecipe, kinds: Sequence[ColumnKind]
) -> bool:
    """Guess whether the cells of the first row are names, by the rows below and their kinds."""
    stated = {recipe.label, recipe.id, *recipe.text, *recipe.ignore}
    stated |= {name for name, _ in recipe.columns or ()}
    if any(isinstance(name, str) and not DIGITS.fullmatch(name) for name in stated & {*cells}):
        return True
    if not len(below[0]):
        return recipe.columns is None and not any(map(is_number, cells))
    numbers = all(map(is_number, cells))
    if all(each == ColumnKind("number") for each in kinds):
        return not numbers
    if numbers:
        return cells == [str(number) for number in range(len(cells))]
    label = recipe.label
    if label is None or label is False:
        place = next(iter(find_usual_labels(cells)), len(cells) - 1)
    else:
        place = int(label) % len(cells) if DIGITS.fullmatch(str(label)) else len(cells) - 1
    columns = enumerate(zip(cells, kinds, below, strict=True))
    votes = [weigh_name(*column, j == place) for j, column in columns]
    return sum(votes) > 0 or not any(votes)


def weigh_name(cell: str, found: ColumnKind, column: Any, is_label: bool) -> float:
    """Judge whether the first cell of a column is a name, by the kind of what is below it.

    Infinity stands for a name that is sure, 1 for a likely one, -1 for the cell of a row, and 0 for
    no sign. A label is often called like one of its classes, so that it counts half.
    """
    from pyarrow import compute

    if not cell:
        return 0
    if found.kind == "date":
        return 0 if re.search(r"\d", cell) else math.inf
    if found.kind == "number":
        number = is_number(cell) or (found.spelling is not None and found.spelling.fits(cell))
        return -1 if number else math.inf
    words = trim_cells(column).drop_null()
    if compute.any(compute.equal(words, to_scalar(cell))).as_py():
        return -0.5 if is_label else -1
    if cell.lower() in LABEL_NAMES:
        return math.inf
    if (compute.mean(compute.utf8_length(words)).as_py() or 0) > LONG:
        return -1 if len(cell) > LONG else 1
    return 1 if len(words.unique()) < len(words) else 0


# Cells through Arrow.


def parse_cells(
    data: Any, dialect: Dialect, width: int, wanted: list[int] | None = None, lenient: bool = False
) -> Any:
    """Parse whole rows as an Arrow table of strings whose columns are named by number.

    One block holds them all, however long a row is, and no thread of Arrow's outlives the call:
    one that lets go of Python's memory while Python ends would abort the process.
    """
    import pyarrow
    from pyarrow import csv as arrow

    if bytes(data[: len(BOM)]) == BOM:
        data = b"\n" + bytes(data)  # the file's own was passed over; Arrow would drop this one
    names = [str(number) for number in range(width)]
    include = names if wanted is None else [names[number] for number in wanted]
    return arrow.read_csv(
        pyarrow.BufferReader(pyarrow.py_buffer(data)),
        arrow.ReadOptions(column_names=names, block_size=len(data) + 1, use_threads=False),
        arrow.ParseOptions(
            delimiter=dialect.delimiter,
            quote_char='"' if dialect.quoted else False,
            newlines_in_values=bool(np.any(np.frombuffer(data, np.uint8) == MARKS)),
            invalid_row_handler=(lambda row: "skip") if lenient else None,
        ),
        arrow.ConvertOptions(
            include_columns=include,
            column_types=dict.fromkeys(include, pyarrow.string()),
            null_values=[],  # Arrow would keep lists of them for each column
            true_values=[],
            false_values=[],
        ),
    )


def parse_strings(rows: bytes, dialect: Dialect, width: int) -> list[Any]:
    """Parse whole rows as columns of strings; leave out rows of another width."""
    from pyarrow import compute, nulls

    data = rows.decode(errors="replace").encode()  # rows that are left out must be UTF-8 too
    columns = parse_cells(data, dialect, width, lenient=True).columns
    missing = nulls(1)[0]  # of None, Arrow would make a scalar by pandas
    return [compute.if_else(trim_cells(one).is_valid(), one, missing) for one in columns]
