"""The base class of parsers, which turn the bytes of a source into batches."""

import io
from collections.abc import Generator, Iterator
from contextlib import closing
from copy import copy
from typing import Any, Self

import numpy as np

from ..data.labels import LARGEST_LABEL
from ..data.rows import view_filled_rows
from ..kernels import words
from ..kernels.algebra import Rows
from ..kernels.words import CSRBuffer
from ..parameters import InputError
from .batches import Batch, select_rows
from .notices import Notice, make_notice
from .recipe import FeatureRecipe, ReaderOptions, Resolved, read_dtype
from .scaling import Scaling
from .sources import ByteStream, Location, Source, last_newline, pieces
from .threads import Broken, Piece, parse_in_order
from .values import too_large
from .vocabulary import Vocabulary

SAMPLE = 1 << 20  # bytes from which columns and first indices are found out
PIECES_OF_PAIRS = 32  # into which a piece is cut if its features are multiplied
MOST_PRODUCTS = 1 << 22  # of one batch; a row on its own may have 16 times as many
BOM = b"\xef\xbb\xbf"  # that some programs put before UTF-8


class Parser:
    """Makes batches of a source: cuts it into pieces, which threads parse one at a time."""

    width = 0  # the columns known so far
    lines = 0  # of the piece that a worker has parsed
    unlabelled = 0  # rows of it that have no label, and were left out
    kept: list[Piece] | None = None  # decoded pieces to read instead of the source

    def __init__(
        self, source: Source, recipe: FeatureRecipe, options: ReaderOptions, profile: Any = None
    ) -> None:
        self.source, self.recipe, self.options, self.profile = source, recipe, options, profile
        self.notices: dict[Notice, None] = {}  # each once, in order
        self.hashed = recipe.bits is not None
        self.labelled = recipe.label is not False
        self.read_dtype = read_dtype(recipe, options)
        size = 1 << (recipe.bits or 0)
        self.mask = np.uint64(size - 1)
        self.vocabulary = Vocabulary(options.names if self.hashed else 0, size)
        self.scaling: Scaling | None = None  # or rows stay as they are read
        self.prepare()

    def prepare(self) -> None:
        """Make what the recipe asks for."""

    def aside(self) -> Self:
        """Copy the parser, for rows that are measured only: it keeps no notices and no names."""
        other = copy(self)
        other.notices, other.vocabulary = {}, Vocabulary(0, 0)
        return other

    def first_rows(self) -> Iterator[Batch]:
        """Yield the rows at the head of the source, which stay to be read."""
        few, head = self.aside(), self.source.head(SAMPLE)
        if few.kept is None or len(head) == SAMPLE:  # else these are all rows
            end = self.end_of_rows(np.frombuffer(bytearray(head), np.uint8))
            few.kept, few.source = None, Source(io.BytesIO(head[: end or len(head)]))
            few.source.name = self.source.name
        yield from few.batches(Location(self.source.name, len(head), "row"))

    def end_of_rows(self, data: np.ndarray) -> int:
        """Return where the last whole row ends."""
        return last_newline(data)

    @property
    def gaps(self) -> str:
        """The notice of missing numbers."""
        return "missing-zero" if self.recipe.scale == "none" else "missing-mean"

    def scaled(self, rows: Rows) -> Rows:
        """Scale rows, if the recipe says so."""
        return rows if self.scaling is None else self.scaling.rows(rows)

    def batches(self, location: Location, threads: int = 1) -> Generator[Batch]:
        """Yield all rows from the beginning; closing this ends the threads.

        The inner generator is closed explicitly: ``close()`` of the outer one does not release it
        in every Python (3.12.0 to 3.12.3 keep the local variables of a closed generator).
        """
        with closing(parse_in_order(self, location, threads, lambda batch: None)) as found:
            for batch, _ in found:
                yield batch

    @property
    def piece_bytes(self) -> int:
        """The approximate size of a piece in bytes; smaller where they become many products."""
        return max(1, self.options.batch_bytes // (PIECES_OF_PAIRS if self.recipe.pairs else 1))

    def decode_pieces(self) -> list[Piece]:
        """Decode the whole source; keep its cells in memory, from which rows can be made."""
        other = self.aside()
        return [
            piece
            if isinstance(piece.data, InputError)
            else piece._replace(data=other.worker().decode_piece(piece.data))
            for piece in other.cut(1)
        ]

    def decode_piece(self, data: Any) -> Any:
        """Return what a piece is kept as: bytes that ``parse_piece`` takes, or decoded cells."""
        return data.copy()

    def pieces(self, slots: int) -> Generator[Piece]:
        """Yield the pieces that are kept, or cut those of the source."""
        if self.kept is None:
            yield from self.cut(slots)
        else:
            yield from self.kept

    def cut(self, slots: int) -> Generator[Piece]:
        """Cut every file, from its first row on, at the ends of rows."""
        before = 0
        for place, name in enumerate(self.source.names):
            with self.source.open(place) as stream:
                skip = self.find_rows(stream, place)
                start: Any = name, stream.head(skip).count(b"\n")
                stream.skip(skip)
                for data in pieces(stream, self.piece_bytes, self.end_of_rows, slots):
                    yield Piece(data, before + stream.taken, start)
                    start = None
                before += stream.taken

    def find_rows(self, stream: ByteStream, place: int) -> int:
        """Count the bytes before the first row of a file, by its place among the files."""
        return len(BOM) * stream.head(len(BOM)).startswith(BOM)

    def worker(self) -> "Parser":
        """Copy the parser for one piece; what it finds is kept apart until it is absorbed."""
        worker = copy(self)
        worker.notices, worker.lines, worker.unlabelled = {}, 0, 0
        worker.vocabulary = self.vocabulary.fork()
        return worker

    def add_notice(self, code: str, **values: Any) -> None:
        """Add a notice, unless it is there."""
        self.notices[make_notice(code, **values)] = None

    def absorb(self, worker: "Parser") -> None:
        """Take over the notices and names of a piece, in the order of the pieces."""
        self.notices.update(worker.notices)
        self.vocabulary.absorb(worker.vocabulary)

    def parse_piece(self, piece: Piece) -> Iterator[Batch | Broken]:
        """Yield the batches and broken rows of a piece; lines count from its beginning."""
        raise NotImplementedError

    def word_error(self, what: str, name: str, cell: str) -> InputError:
        """Return the error of a word among the numbers or dates of a column."""
        remedy = "; if the column holds words, name it in category" if self.options.new else ""
        if self.recipe.numbers and name == self.recipe.label:
            remedy = ", and the label holds numbers; correct the cell, or use skip_bad to leave "
            remedy += "such rows out"
        return InputError(
            f"{cell[:40]!r} is not a {what}{remedy}", code=f"not-a-{what}", column=name
        )

    def find_long_labels(self, numbers: np.ndarray) -> np.ndarray:
        """Flag the labels that are too large: to be numbers, or to be classes of their own."""
        if self.recipe.numbers:
            return too_large(numbers, np.float32)
        return np.asarray(np.abs(numbers) >= LARGEST_LABEL)

    def long_label_error(self, column: Any) -> InputError:
        """Return the error of a label that is too large."""
        why = "to tell from the next; name its column in category, or name classes by words"
        if self.recipe.numbers:
            why = f"to learn, as it is above {np.finfo(np.float32).max:.2g}; divide all labels"
        return InputError(
            f"the label is too large a number {why}", code="label-too-large", column=column
        )

    def leave_out_unlabelled(self, batch: Batch) -> Iterator[Batch]:
        """Yield a batch without the rows whose labels are missing: None or NaN."""
        labels = batch.labels
        if not isinstance(labels, np.ndarray) or (kind := labels.dtype.kind) not in "fO":
            yield batch
            return
        known = labels != np.array(None) if kind == "O" else ~np.isnan(labels)
        if known.all():
            yield batch
            return
        self.unlabelled += int(np.count_nonzero(~known))
        if known.any():
            kept = select_rows(batch, known)
            truth = isinstance(kept.labels[0], bool)
            yield kept._replace(labels=kept.labels.astype(bool)) if truth else kept

    def multiply_pairs(self, rows: CSRBuffer) -> Iterator[tuple[slice, Rows]]:
        """Yield the rows with the products of every two features, in parts that fit in memory."""
        starts, features = np.zeros(len(rows.starts), np.uint64), np.diff(rows.starts)
        sizes = features * (features + np.uint64(1)) // np.uint64(2)
        np.cumsum(sizes, out=starts[1:])
        row, last = 0, len(sizes)
        if sizes.max(initial=0) > 16 * MOST_PRODUCTS:
            raise InputError(
                f"A row has over {16 * MOST_PRODUCTS:,} products; ignore some columns.",
                code="too-many-products",
            )
        while row < last:
            most = starts[row] + np.uint64(MOST_PRODUCTS)
            stop = max(row + 1, int(np.searchsorted(starts, most, "right")) - 1)
            out = allocate_rows(stop - row, int(starts[stop] - starts[row]), self.options.dtype)
            np.subtract(starts[row : stop + 1], starts[row], out=out.starts)
            words.cross(slice_rows(rows, row, stop), self.mask, out, self.vocabulary.met)
            self.vocabulary.collect(self.vocabulary.products)
            yield slice(row, stop), view_filled_rows(out, stop - row)
            row = stop


class Profile:
    """What the head of a source shows; it is looked at once, whatever is made of the rows."""

    parser: type[Parser]

    def resolve(self, requested: FeatureRecipe, options: ReaderOptions) -> Resolved:
        """Return the recipe for what was requested, and what to note about it."""
        raise NotImplementedError


def allocate_rows(rows: int, values: int, dtype: np.dtype) -> CSRBuffer:
    """Allocate arrays for rows and values; untouched parts take no memory."""
    starts = np.empty(rows + 1, np.uint64)
    starts[0] = 0
    return CSRBuffer(np.empty(values, dtype), np.empty(values, np.uint32), starts)


def slice_rows(rows: CSRBuffer, first: int, stop: int) -> CSRBuffer:
    """Return the rows first to stop."""
    span = slice(int(rows.starts[first]), int(rows.starts[stop]))
    starts = rows.starts[first : stop + 1] - rows.starts[first]
    return CSRBuffer(rows.values[span], rows.indices[span], starts)
