"""Detect the header, columns and kinds of a CSV or TSV file by its first rows."""

import csv
import re
from collections import Counter
from dataclasses import replace
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..data.labels import LARGEST_LABEL
from ..data.rows import read_only
from ..kernels import lines
from ..kernels.addresses import MARKS, NEWLINE
from ..kernels.lines import MISSING, VALUE_TOO_LARGE, Cursor
from ..parameters import InputError
from .arrow import to_arrow_type, to_words
from .formats import NUMBER, split_rows
from .kinds import detect_cells
from .label import FIRST_ROWS, LABEL_NAMES, find_usual_labels
from .lines import after_line
from .notices import list_words, make_notice
from .parser import BOM, SAMPLE
from .recipe import (
    DIGITS,
    ColumnKind,
    ColumnNames,
    FeatureRecipe,
    ReaderOptions,
)
from .sources import LONGEST_ROW, ByteStream, Source, count_byte, file_error
from .spellings import LEADING_ZEROS
from .values import to_scalar

AROUND = ' "\t\v\f\r'  # what may stand around a number
IN_NUMBERS = "".join(["+-.0123456789eE\n", AROUND, *MISSING]).encode()
LONG = 30  # characters: a name has fewer, a sentence more
FEW = 3  # numbers do not tell a range


class TableLayout(NamedTuple):
    """The columns of a CSV or TSV file, whose rows begin after ``skip`` bytes."""

    delimiter: str
    columns: ColumnNames
    kinds: list[ColumnKind]
    skip: int
    header: bool
    gaps: bool = False  # whether labels are missing in the first rows

    def cells(self, rows: bytes, place: int) -> list[str | None]:
        """Return the first cells of a column; None where one is missing."""
        divided = split_rows(rows.decode(errors="replace"), self.delimiter, FIRST_ROWS)
        width = len(self.columns)
        found = [row[place].strip() for row in divided if len(row) == width]
        return [None if cell in MISSING else cell for cell in found]

    def find_rows(self, stream: ByteStream) -> int:
        """Count the bytes before the first row of another file, whose header must be the same."""
        begin, head, ends = read_sample(stream, self.delimiter)
        if not self.header:
            return begin
        if not head.strip():
            raise file_error("empty", stream.name, "is empty; leave it out, or write its header")
        text = head[begin : ends[0]].decode(errors="replace")
        names = [cell.strip() for cell in split_cells(text, self.delimiter)]
        if names != self.columns.names:
            listed = f"{list_words(names)} instead of {list_words(self.columns.names)}"
            what = f"has other columns than {self.columns.source}: {listed}"
            raise file_error("other-columns", stream.name, what)
        return int(ends[0])


def detect_layout(
    source: Source, delimiter: str, recipe: FeatureRecipe, options: ReaderOptions
) -> tuple[TableLayout, bytes]:
    """Detect the names and kinds of columns; return them with the first rows."""
    begin, head, ends = read_sample(source, delimiter)
    top, below = head[begin : ends[0]], head[ends[0] : ends[-1]]
    refuse_odd_beginning(source.name, top, head[begin:], head[ends[-1] :], ends[0] - begin)
    first = FirstRows(top, below, delimiter, options.dtype)
    header = first.is_header(recipe) if recipe.header is None else recipe.header
    rows = below if header else top + below
    if not rows.strip():
        hint = " below its header (use {header=False} if that line is a row)" if header else ""
        raise file_error("no-rows", source.name, f"has no rows{hint}")
    columns = ColumnNames(first.names(header, recipe, source.name), source.names[0])
    found = first.kinds(header, columns.names, options.skip_bad)
    stated = {columns.number(name) for name in options.category}
    kinds = [ColumnKind("category") if j in stated else each for j, each in enumerate(found)]
    return TableLayout(delimiter, columns, kinds, ends[0] if header else begin, header), rows


def read_sample(source: Source | ByteStream, delimiter: str) -> tuple[int, bytes, list[int]]:
    """Return where rows begin, the first bytes, and the ends of the rows in them."""
    size = SAMPLE
    while True:
        head = source.head(size)
        over = len(head) < size or size > LONGEST_ROW
        begin = len(head) - len(head.removeprefix(BOM).lstrip(b"\r\n"))
        if over and not head.endswith(b"\n"):
            head += b"\n"
        ends = row_ends(head[begin:] or b"\n", delimiter) + begin
        if over or len(ends) > 1:
            return begin, head, ends.tolist() or [len(head)]
        size *= 2


def refuse_odd_beginning(name: str, top: bytes, head: bytes, rest: bytes, length: int) -> None:
    """Refuse a file whose first row is not a row, and say why."""
    column, values = None, dict[str, str]()
    if length > LONGEST_ROW:
        code, column = "row-too-long", 1
        why = f"the row is longer than {LONGEST_ROW >> 20} MB"
    elif top.startswith((b"\xff\xfe", b"\xfe\xff")):
        code, values = "encoding", {"encoding": "utf-16"}
        why = "the file begins like UTF-16; use {encoding}"
    elif b"\0" in top:
        code, column = "nul-byte", top.index(0) + 1
        why = "there is a NUL byte (a table must be UTF-8)"
    elif b"\r" in head and b"\n" not in head.rstrip(b"\n"):
        code, why = "carriage-returns", "lines end in carriage returns only; write newlines instead"
    elif not top.strip():
        code, why = "no-rows", "there are no rows"
    elif len(top) + len(rest) == len(head) and b'"' in rest:
        code, why = "quotation", "a quotation mark below the first row is never closed"
    else:
        return
    where = name if column is None else f"{name}, line 1, column {column}"
    line = None if column is None else 1
    raise InputError(f"{where}: {why}.", code=code, file=name, line=line, column=column, **values)


def row_ends(data: Any, delimiter: str) -> np.ndarray:
    """Return where each whole row ends."""
    data = read_only(np.frombuffer(data, np.uint8))
    if not count_byte(data, MARKS):  # without a kernel, which takes time to compile
        return np.flatnonzero(data == NEWLINE) + 1
    ends = np.empty(len(data), np.int64)
    n = lines.row_ends(data, ord(delimiter), ends)
    return ends[:n]


def split_cells(row: str, delimiter: str) -> list[str]:
    """Split one row into cells."""
    usual = csv.field_size_limit(2**31 - 1)
    try:
        return next(csv.reader([row], delimiter=delimiter), [])
    except csv.Error as error:
        raise InputError(f"A row cannot be divided into cells: {error}.", code="cells") from error
    finally:
        csv.field_size_limit(usual)


class FirstRows:
    """The first row of a table and those below it, and what their cells hold."""

    def __init__(self, top: bytes, below: bytes, delimiter: str, dtype: np.dtype) -> None:
        self.top, self.below, self.delimiter, self.dtype = top, below, delimiter, dtype
        self.cells = split_cells(top.decode(errors="replace"), delimiter)

    @cached_property
    def columns_below(self) -> list[Any]:
        """The columns without the first row, with inferred types."""
        return list(infer_cells(self.below, self.delimiter, len(self.cells)).columns)

    def is_numeric(self, rows: bytes) -> bool:
        """Whether all cells of some rows are numbers or missing."""
        return is_numeric(rows, self.delimiter, len(self.cells), self.dtype)

    def is_header(self, recipe: FeatureRecipe) -> bool:
        """Guess whether the first row holds names."""
        stated = {recipe.label, recipe.id, recipe.group, *recipe.text, *recipe.ignore}
        stated |= {name for name, _ in recipe.columns or ()}
        names = [cell.strip() for cell in self.cells]
        if any(isinstance(name, str) and not DIGITS.fullmatch(name) for name in stated & {*names}):
            return True
        if not self.below:
            numbers = any(map(is_number, names))
            return recipe.columns is None and not numbers
        if self.is_numeric(self.below):
            return not self.is_numeric(self.top)
        if self.is_numeric(self.top):
            return names == [str(number) for number in range(len(names))]
        return self.looks_like_names(names, label_place(recipe.label, names))

    def looks_like_names(self, names: list[str], label: int) -> bool:
        """Whether the first row differs from the rows below it, which hold words."""
        signs = Counter(
            weigh_name(cell, is_number(cell), column, j == label)
            for j, (cell, column) in enumerate(zip(names, self.columns_below, strict=True))
        )
        if signs[Sign.SURE]:
            return True
        if signs[Sign.NAME] or signs[Sign.ROW]:
            return signs[Sign.NAME] > signs[Sign.ROW]
        return not signs[Sign.LABEL]

    def names(self, header: bool, recipe: FeatureRecipe, source: str) -> list[str]:
        """Return the names of the columns: their numbers if there is no header.

        Where a model knows the columns by number and the label is not there, its number is not.
        """
        if header:
            return [cell.strip() for cell in self.cells]
        if recipe.columns is not None and recipe.header is False:
            known = recipe.numbered_columns(source)
            if len(known) == len(self.cells):
                return known
        return list(map(str, range(len(self.cells))))

    def kinds(self, header: bool, names: list[str], tolerated: int) -> list[ColumnKind]:
        """Detect the kind of each column; ``tolerated`` rows may be broken."""
        rows = self.below if header else self.top + self.below
        if self.is_numeric(rows):
            found = [ColumnKind("number")] * len(self.cells)
        else:
            columns = (
                self.columns_below
                if header
                else infer_cells(rows, self.delimiter, len(self.cells)).columns
            )
            found = [detect_cells(*pair, tolerated) for pair in zip(names, columns, strict=True)]
        codes = self.codes(rows)
        return [
            ColumnKind("category", make_notice("codes-zeros", name=names[j], cell=codes[j]))
            if each.kind == "number" and j in codes
            else each
            for j, each in enumerate(found)
        ]

    def codes(self, rows: bytes) -> dict[int, str]:
        """Find the columns with leading zeros, such as postal codes, and a cell of each."""
        from pyarrow import compute

        before = b' "\n\r\t\v\f' + self.delimiter.encode()
        simple = bytes.maketrans(b"123456789" + before, b"1" * 9 + b"," * len(before))
        found = b"," + rows.translate(simple)  # a literal is found faster than a pattern
        if b",00" not in found and b",01" not in found:
            return {}
        width = len(self.cells)
        words = dict.fromkeys(map(str, range(width)), to_arrow_type(None))
        table = infer_cells(rows, self.delimiter, width, column_types=words)
        zeros = [
            column.filter(compute.match_substring_regex(column, LEADING_ZEROS))
            for column in table.columns
        ]
        return {j: cells[0].as_py().strip()[:40] for j, cells in enumerate(zeros) if len(cells)}


class Sign(Enum):
    """What the first cell of a column is: surely or likely a name, or the cell of a row."""

    SURE = 1
    NAME = 2
    ROW = 3
    LABEL = 4  # a row's, if the label is not called like one of its classes
    NONE = 5


def weigh_name(cell: str, number: bool, column: Any, is_label: bool) -> Sign:
    """Judge whether the first cell of a column is a name."""
    from pyarrow import compute

    found = detect_cells("", column)
    kind = found.kind
    number = number or (found.spelling is not None and found.spelling.fits(cell))
    if not cell:
        return Sign.NONE
    if kind == "date":
        return Sign.NONE if re.search(r"\d", cell) else Sign.SURE
    if kind == "number":
        return Sign.SURE if not number else Sign.ROW if is_within(cell, column) else Sign.NONE
    words = to_words(column).drop_null()
    if compute.any(compute.equal(compute.utf8_trim_whitespace(words), to_scalar(cell))).as_py():
        return Sign.LABEL if is_label else Sign.ROW
    if cell.lower() in LABEL_NAMES:
        return Sign.SURE
    long = (compute.mean(compute.utf8_length(words)).as_py() or 0) > LONG
    if long:
        return Sign.ROW if len(cell) > LONG else Sign.NAME
    return Sign.NAME if len(words.unique()) < len(words) else Sign.NONE


def is_within(cell: str, column: Any) -> bool:
    """Whether a number fits the range of a column, or the column has no clear range."""
    from pyarrow import compute, types

    numeric = types.is_integer(column.type) or types.is_floating(column.type)
    if not numeric or len(column) - column.null_count < FEW or not DIGITS.fullmatch(cell):
        return True
    ends = compute.min_max(column)
    return bool(ends["min"].as_py() <= int(cell) <= ends["max"].as_py())


def label_place(label: Any, names: list[str]) -> int:
    """Return the place of the label if a row held names."""
    if label is None or label is False:
        return next(iter(find_usual_labels(names)), len(names) - 1)
    number = int(label) if isinstance(label, int) or DIGITS.fullmatch(label) else -1
    return number % len(names)


def is_numeric(rows: bytes, delimiter: str, width: int, dtype: np.dtype) -> bool:
    """Whether all cells of some rows are numbers of a data type, or missing."""
    if rows.translate(None, IN_NUMBERS + delimiter.encode()):
        return False  # without a kernel, which takes seconds to compile
    data = np.frombuffer(bytearray(rows.rstrip(b"\n") + b"\n"), np.uint8)
    most = len(data) // width + 1  # rows; a cell and what ends it take a byte or more
    labels, values, places = np.empty(most), np.empty(most * width), np.arange(width)

    def parse(cursor: Cursor) -> Any:
        place, limit = ord(delimiter), float(np.finfo(dtype).max)
        return lines.table(data, len(data), cursor, place, places, labels, values, width, limit)

    cursor = parse(Cursor())
    while cursor.error == VALUE_TOO_LARGE:  # that is a number, too
        cursor = parse(after_line(data, cursor))
    return bool(cursor.error == 0)


def is_number(cell: str) -> bool:
    """Whether a cell is a number or missing."""
    cell = cell.strip(AROUND)
    return cell in MISSING or re.fullmatch(NUMBER, cell) is not None


def with_exact_labels(recipe: FeatureRecipe, layout: TableLayout, rows: bytes) -> FeatureRecipe:
    """Take labels as words if an integer among them is too large for a float."""
    as_zeros = bytes.maketrans(b"123456789", b"0" * 9)
    if recipe.label_kind != "number" or b"0" * 16 not in rows.translate(as_zeros):
        return recipe
    column = str(layout.columns.number(str(recipe.label)))
    table = infer_cells(
        rows,
        layout.delimiter,
        len(layout.columns),
        include_columns=[column],
        column_types={column: to_arrow_type(None)},
    )
    whole = re.compile(r" *[+-]?\d+ *")
    labels = (cell for cell in table[0].unique().to_pylist() if cell and whole.fullmatch(cell))
    long = any(abs(int(label)) >= LARGEST_LABEL for label in labels)
    return replace(recipe, label_kind="category") if long else recipe


# Cells through Arrow.

BLANK_MISSING = MISSING + [" " + word for word in MISSING]  # Arrow compares blanks too


def parse_cells(
    data: Any, delimiter: str, width: int, lenient: bool = False, **conversion: Any
) -> Any:
    """Parse whole rows as an Arrow table whose columns are named by number.

    One block holds them all, however long a row is, and no thread of Arrow's outlives the call:
    one that lets go of Python's memory while Python ends would abort the process.
    """
    import pyarrow
    from pyarrow import csv as arrow

    if bytes(data[: len(BOM)]) == BOM:
        data = b"\n" + bytes(data)  # the file's own was passed over; Arrow would drop this one
    return arrow.read_csv(
        pyarrow.BufferReader(pyarrow.py_buffer(data)),
        arrow.ReadOptions(
            column_names=[str(number) for number in range(width)],
            block_size=len(data) + 1,
            use_threads=False,
        ),
        arrow.ParseOptions(
            delimiter=delimiter,
            newlines_in_values=bool(np.any(np.frombuffer(data, np.uint8) == MARKS)),
            invalid_row_handler=(lambda row: "skip") if lenient else None,
        ),
        arrow.ConvertOptions(null_values=BLANK_MISSING, **conversion),
    )


def infer_cells(data: bytes, delimiter: str, width: int, **conversion: Any) -> Any:
    """Parse whole rows with inferred types, leaving out rows of another width."""
    data = data.decode(errors="replace").encode()  # rows that are left out must be UTF-8 too
    conversion |= {"true_values": [], "false_values": []}
    table = parse_cells(data, delimiter, width, lenient=True, **conversion)
    zoned = [column.name for column in table.schema if getattr(column.type, "tz", None)]
    if not zoned:
        return table
    words = {"column_types": dict.fromkeys(zoned, to_arrow_type(None))}  # with the time on the wall
    return parse_cells(data, delimiter, width, lenient=True, **conversion, **words)
