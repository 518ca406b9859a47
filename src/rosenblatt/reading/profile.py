"""What the first megabyte of a CSV or TSV file shows: delimiter, header, columns and kinds."""

import csv
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.labels import LARGEST_LABEL
from ..data.rows import read_only
from ..kernels import lines
from ..kernels.addresses import MARKS, NEWLINE
from ..parameters import InputError
from .arrow import to_words
from .formats import divide_rows
from .label import FIRST_ROWS, LABEL_NAMES, find_usual_labels, with_label
from .notices import make_notice
from .parser import BOM, SAMPLE, Profile
from .recipe import (
    DIGITS,
    ColumnKind,
    ColumnNames,
    FeatureRecipe,
    ReaderOptions,
    Resolved,
    collect_notices,
    make_recipe,
    split_crosses,
    with_columns,
)
from .sources import LONGEST_ROW, ByteStream, Source, count_byte
from .spellings import LEADING_ZEROS, is_number
from .values import to_scalar, trim_cells

LONG = 30  # characters: a name has fewer, a sentence more
FEW = 3  # numbers do not tell a range


@dataclass(frozen=True)
class TableProfile(Profile):
    """What the first rows of a table show: its columns, what they hold, and their first cells."""

    columns: ColumnNames
    kinds: Sequence[ColumnKind]
    column: Callable[[int], Any]
    """Returns the first rows of a column by its place, as Arrow has them."""

    def first_cells(self, place: int) -> list[Any]:
        """Return the first cells of a column; None where one is missing."""
        from pyarrow import types

        cells = self.column(place)[:FIRST_ROWS]
        if types.is_temporal(cells.type):  # Python's own times are of years up to 9999
            cells = to_words(cells)
        return list(cells.to_pylist())

    def resolve(self, requested: FeatureRecipe, options: ReaderOptions) -> Resolved:
        """Return a recipe with the label and the columns, and what to note about them."""
        asked = make_recipe(requested, "table", self.columns.source)
        recipe, notices = with_label(asked, self.columns, self.first_cells, options.skip_bad)
        recipe = with_columns(recipe, self.columns, self.kinds)
        features = ColumnNames([name for name, _ in recipe.columns or ()], self.columns.source)
        for pair in split_crosses(recipe):
            features.find_names(pair)
        if options.new:
            notices |= collect_notices(recipe, asked, self.columns, self.kinds)
        return recipe, notices


def read_sample(source: Source | ByteStream, delimiter: str) -> tuple[int, bytes, list[int]]:
    """Return where rows begin, the first bytes, and the ends of the rows in them."""
    size = SAMPLE
    while True:
        head = source.head(size)
        over = len(head) < size or size > LONGEST_ROW
        begin = len(head) - len(head.removeprefix(BOM).lstrip(b"\r\n"))
        if over and not head.endswith(b"\n"):
            head += b"\n"
        ends = row_ends(head[begin:] or b"\n", delimiter)[0] + begin
        if over or len(ends) > 1:
            return begin, head, ends.tolist() or [len(head)]
        size *= 2


def refuse_odd_beginning(name: str, top: bytes, head: bytes, rest: bytes, length: int) -> None:
    """Refuse a file whose first row is not a row, and say why."""
    column = None
    if length > LONGEST_ROW:
        code, column = "row-too-long", 1
        why = f"the row is longer than {LONGEST_ROW >> 20} MB"
    elif top.startswith((b"\xff\xfe", b"\xfe\xff")):
        code, why = "encoding", 'the file begins like UTF-16; use encoding="utf-16"'
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
    raise InputError(f"{where}: {why}.", code=code, file=name, line=line, column=column)


def row_ends(data: Any, delimiter: str, last: bool = False) -> tuple[np.ndarray, int]:
    """Return where each whole row ends, and how many quotation marks are never closed.

    Nothing follows the ``last`` data.
    """
    data = read_only(np.frombuffer(data, np.uint8))
    if not count_byte(data, MARKS):  # without a kernel, which takes time to compile
        return np.flatnonzero(data == NEWLINE) + 1, 0
    ends = np.empty(len(data), np.int64)
    n, unclosed = lines.row_ends(data, ord(delimiter), last, ends)
    return ends[:n], unclosed


def split_cells(row: str, delimiter: str) -> list[str]:
    """Split one row into cells."""
    try:
        return next(divide_rows([row], delimiter), [])
    except csv.Error as error:
        raise InputError(f"A row cannot be divided into cells: {error}.", code="cells") from error


def keep_zeros(found: ColumnKind, name: str, column: Any) -> ColumnKind:
    """Take numbers with leading zeros, such as postal codes, as a category."""
    from pyarrow import compute

    if found.kind != "number":
        return found
    zeros = column.filter(compute.match_substring_regex(column, LEADING_ZEROS))
    if not len(zeros):
        return found
    cell = zeros[0].as_py().strip()[:40]
    return ColumnKind("category", make_notice("codes-zeros", name=name, cell=cell))


# The header.


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
        return math.inf if not number else -1 if is_within(cell, column) else 0
    words = trim_cells(column).drop_null()
    if compute.any(compute.equal(words, to_scalar(cell))).as_py():
        return -0.5 if is_label else -1
    if cell.lower() in LABEL_NAMES:
        return math.inf
    if (compute.mean(compute.utf8_length(words)).as_py() or 0) > LONG:
        return -1 if len(cell) > LONG else 1
    return 1 if len(words.unique()) < len(words) else 0


def is_within(cell: str, column: Any) -> bool:
    """Whether a number fits the range of a column, or the column has no clear range."""
    from pyarrow import compute

    if len(column) - column.null_count < FEW or not DIGITS.fullmatch(cell):
        return True
    try:
        ends = compute.min_max(column.cast("float64")).as_py()
    except ValueError:  # numbers that are not written plainly
        return True
    return bool(ends["min"] <= int(cell) <= ends["max"])


def holds_long(column: Any) -> bool:
    """Whether an integer among labels is too large for a float to tell it from the next."""
    from pyarrow import compute

    found = column.filter(compute.match_substring_regex(column, r"^ *[+-]?\d{16,} *$"))
    return any(abs(int(cell)) >= LARGEST_LABEL for cell in found.unique().to_pylist())


# Cells through Arrow.


def parse_cells(
    data: Any, delimiter: str, width: int, wanted: list[int] | None = None, lenient: bool = False
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
            delimiter=delimiter,
            newlines_in_values=bool(np.any(np.frombuffer(data, np.uint8) == MARKS)),
            invalid_row_handler=(lambda row: "skip") if lenient else None,
        ),
        arrow.ConvertOptions(
            include_columns=include,
            column_types=dict.fromkeys(include, pyarrow.string()),
            null_values=[],  # Arrow would keep a list of them for each column
        ),
    )


def parse_strings(rows: bytes, delimiter: str, width: int) -> list[Any]:
    """Parse whole rows as columns of strings; leave out rows of another width."""
    from pyarrow import compute, nulls

    data = rows.decode(errors="replace").encode()  # rows that are left out must be UTF-8 too
    columns = parse_cells(data, delimiter, width, lenient=True).columns
    missing = nulls(1)[0]  # of None, Arrow would make a scalar by pandas
    return [compute.if_else(trim_cells(one).is_valid(), one, missing) for one in columns]
