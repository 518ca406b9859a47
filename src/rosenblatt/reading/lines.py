"""Parse svmlight and Vowpal Wabbit text: one row per line."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..data.labels import LabelSets
from ..data.rows import view_filled_rows
from ..kernels import lines
from ..kernels.addresses import MINUS, line_end
from ..kernels.algebra import Rows
from ..kernels.words import CSRBuffer
from ..parameters import InputError
from .batches import Batch, with_rows
from .label import FRACTION, count_cells, with_numbers
from .notices import make_notice
from .parser import BOM, SAMPLE, Parser, Profile, allocate_rows, slice_rows
from .recipe import OTHER_BITS, FeatureRecipe, ReaderOptions, Resolved, make_recipe
from .scaling import sparse_scaling
from .sources import Source
from .threads import Broken, Piece

NO_STARTS = np.zeros(0, np.int64)


class LineBuffers(NamedTuple):
    """Arrays that a kernel fills; ``label_starts`` is empty where each row has one label."""

    labels: np.ndarray
    weights: np.ndarray | None
    rows: CSRBuffer
    label_starts: np.ndarray


class LineParser(Parser):
    """Calls a kernel for whole lines, and leaves out those that it cannot read."""

    ignored: str  # the notice of fields that were read and have no use
    value_bytes: int  # that a value takes at least
    weighted: bool  # whether lines have weights

    def prepare(self) -> None:
        """Make what the recipe asks for."""
        self.scaling = sparse_scaling(self.recipe.scales)

    def parse_piece(self, piece: Piece) -> Iterator[Batch | Broken]:
        """Make rows of whole lines."""
        data, cursor = piece.data, lines.Cursor()
        while cursor.at < len(data):
            out = self.allocate_buffers(len(data) - cursor.at)
            before, broken = cursor, list[Broken]()
            cursor = self.parse_good(data, cursor, out, broken)
            yield from broken
            starts = out.label_starts[: cursor.rows + 1]
            numbers = out.labels[: starts[-1] if len(starts) else cursor.rows]
            labels = LabelSets(numbers, starts) if len(starts) else numbers
            long = self.find_long_labels(numbers)
            if self.labelled and long.any():
                shorter = out._replace(labels=out.labels[: long.argmax()])
                cursor = self.parse_good(data, before, shorter, broken)  # up to its row
                yield Broken(cursor.lines + 1, self.long_label_error(1), True)
                return
            if cursor.ignored:
                self.add_notice(self.ignored)
            known = (labels if self.labelled else None), out.weights
            for some, rows in self.make_rows(cursor, out):
                whole = Batch(rows, *known, self.width, piece.taken, cursor.lines)
                batch = with_rows(whole, rows, some)
                needed = self.options.label_needed
                yield from self.leave_out_unlabelled(batch) if needed else (batch,)
        self.lines = cursor.lines

    def parse_good(
        self, data: np.ndarray, cursor: lines.Cursor, out: LineBuffers, broken: list[Broken]
    ) -> lines.Cursor:
        """Parse from the cursor until the arrays are full, and collect broken lines."""
        cursor = self.parse(data, cursor._replace(rows=0, values=0), out)
        while cursor.error > lines.FULL:
            error = self.explain(data, cursor)  # an index of 0 shows that all are read wrongly
            broken.append(Broken(cursor.lines + 1, error, error.code == "first"))
            begin = data.ctypes.data  # the next line does after the end of this one
            at = line_end(begin + cursor.at) - begin + 1
            cursor = cursor._replace(at=at, lines=cursor.lines + 1, error=0)
            cursor = self.parse(data, cursor, out)
        return cursor

    def explain(self, data: np.ndarray, cursor: lines.Cursor) -> InputError:
        """Say where the line at the cursor is broken, and why."""
        found = line_error(cursor.error, cursor.where - cursor.at + 1)
        if cursor.error != lines.LABELS or not self.options.new:
            return found
        return found.reword(f"{found}; use labels_separator=',' if rows may have several")

    def allocate_buffers(self, size: int) -> LineBuffers:
        """Allocate arrays for the rows of ``size`` bytes, or for the first of them."""
        n, values = size // 8 + 1, size // self.value_bytes + 1
        rows = allocate_rows(n, values, self.options.dtype)
        weights = np.empty(n) if self.weighted else None
        if self.recipe.labels_separator is None:
            return LineBuffers(np.empty(n), weights, rows, NO_STARTS)
        starts = np.zeros(n + 1, np.int64)
        return LineBuffers(np.empty(size // 2 + 1), weights, rows, starts)

    def parse(self, data: np.ndarray, cursor: lines.Cursor, out: LineBuffers) -> lines.Cursor:
        """Call the kernel."""
        raise NotImplementedError

    def make_rows(self, cursor: lines.Cursor, out: LineBuffers) -> Iterator[tuple[slice, Rows]]:
        """Return what the kernel has filled, as rows, with products if these are asked for."""
        if cursor.rows and self.recipe.pairs:
            yield from self.make_products(slice_rows(out.rows, 0, cursor.rows))
        elif cursor.rows:
            yield slice(cursor.rows), self.scaled(view_filled_rows(out.rows, cursor.rows))

    def make_products(self, rows: CSRBuffer) -> Iterator[tuple[slice, Rows]]:
        """Return rows with their products."""
        raise NotImplementedError


def line_error(error: int, column: str | int) -> InputError:
    """Return the error for which a kernel stopped."""
    code, sentence = lines.REASONS[error]
    return InputError(sentence, code=code, column=column)


class SvmlightParser(LineParser):
    """``label index:value …``, where absent values are 0."""

    ignored, value_bytes, weighted = "queries", 4, False

    def parse(self, data: np.ndarray, cursor: lines.Cursor, out: LineBuffers) -> lines.Cursor:
        """Call the kernel."""
        lenient = not self.options.new  # a model passes over columns that it has not met
        rules = self.recipe.first, 1 << 32, lenient, self.labelled
        labels = out.labels, out.label_starts
        cursor = lines.svmlight(data, len(data), cursor, *labels, out.rows, *rules)
        used = out.rows.indices[: cursor.values]
        self.width = int(used.max()) + 1 if cursor.values else 0
        if self.hashed:
            self.width = int(self.mask) + 1
        return cursor

    def make_products(self, rows: CSRBuffer) -> Iterator[tuple[slice, Rows]]:
        """Return scaled rows with their products."""
        scaled = self.scaled(view_filled_rows(rows, len(rows.starts) - 1)).values
        indices = rows.indices & np.uint32(self.mask)
        yield from self.multiply_pairs(rows._replace(values=scaled.copy(), indices=indices))

    def explain(self, data: np.ndarray, cursor: lines.Cursor) -> InputError:
        """Say where the line at the cursor is broken, and why."""
        found = super().explain(data, cursor)
        if cursor.error == lines.INDEX_TOO_LARGE:
            return found.reword(f"an index is above {2**32 - 1:,}")
        is_0 = cursor.error == lines.INDEX_TOO_SMALL and data[cursor.where] != MINUS
        if not (is_0 and self.recipe.first == 1 and self.options.new):
            return found
        what = f"{found} (1; use first=0 if it is 0)"
        return InputError(what, code="first", column=found.column)


class VowpalWabbitParser(LineParser):
    """``label importance 'tag |namespace name:value …``, hashed."""

    ignored, value_bytes, weighted = "bases", 2, True

    def prepare(self) -> None:
        """Make what the recipe asks for."""
        super().prepare()
        self.width = int(self.mask) + 1

    def parse(self, data: np.ndarray, cursor: lines.Cursor, out: LineBuffers) -> lines.Cursor:
        """Call the kernel."""
        met = self.vocabulary.met
        filled = out.labels, out.label_starts, out.weights, out.rows
        cursor = lines.vowpal_wabbit(data, len(data), cursor, *filled, self.mask, met)
        text = data.tobytes() if met.count[0] else b""

        def spelling(begins: np.ndarray, ends: np.ndarray) -> Iterator[tuple[Any, ...]]:
            for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
                bar = text.rfind(b"|", 0, begin) + 1
                space = NAMESPACE_END.search(text, bar, begin)
                yield vw_name, text[bar : space.start() if space else begin], text[begin:end]

        self.vocabulary.collect(spelling)
        return cursor

    def make_products(self, rows: CSRBuffer) -> Iterator[tuple[slice, Rows]]:
        """Return rows with their products, scaled."""
        for some, part in self.multiply_pairs(rows):
            yield some, self.scaled(part)


INDEX_0 = re.compile(rb"(?:^|\s)0:")
NAMESPACE_END = re.compile(rb"[\s:]")


def vw_name(namespace: bytes, name: bytes) -> str:
    """Write the name of a feature with its namespace."""
    return (namespace + b"^" + name if namespace else name).decode(errors="replace")


SEVERAL_LABELS = re.compile(rb"^[ \t]*[-+.\deE]+,[-+.\d]+", re.MULTILINE)
FIRST_LABEL = re.compile(rb"^[ \t]*([-+.\deE]+)(?=[ \t|])", re.MULTILINE)


def with_line_labels(recipe: FeatureRecipe, head: bytes, options: ReaderOptions) -> Resolved:
    """Return a recipe that says whether lines have several labels, or numbers, and a note."""
    if not options.new:
        return recipe, {}
    if recipe.labels_separator is not None:
        return replace(recipe, numbers=False), {}
    if not recipe.numbers and b"," in head and SEVERAL_LABELS.search(head):
        return replace(recipe, labels_separator=",", numbers=False), {make_notice("labels"): None}
    if recipe.label is False:
        return recipe, {}
    cells = count_cells(label.decode() for label in FIRST_LABEL.findall(head))
    if recipe.numbers is None and not any(map(FRACTION.fullmatch, cells.counts)):
        return replace(recipe, numbers=False), {}  # there may be thousands of classes
    recipe, codes = with_numbers(recipe, cells)
    about = {"name": "label", "values": len(cells.counts)}
    return recipe, {make_notice(code, **about): None for code in codes}


class LineProfile(Profile):
    """What the first lines of svmlight or Vowpal Wabbit text show.

    ``look`` says whether they are looked at: a pipe of Vowpal Wabbit's is not waited for.
    """

    def __init__(self, source: Source, parser: type[LineParser], look: bool) -> None:
        self.name, self.parser = source.name, parser
        self.head = source.head(SAMPLE if look else len(BOM))

    def resolve(self, requested: FeatureRecipe, options: ReaderOptions) -> Resolved:
        """Return the recipe for what was requested, and what to note about it."""
        changes: dict[str, Any] = {"bits": requested.bits or OTHER_BITS}
        if self.parser is SvmlightParser:
            changes["bits"] = changes["bits"] if requested.pairs else None
            if requested.first is None:
                lines = (line.partition(b"#")[0] for line in self.head.split(b"\n"))
                changes["first"] = 0 if any(map(INDEX_0.search, lines)) else 1
        rows = "svmlight" if self.parser is SvmlightParser else "vw"
        return with_line_labels(
            make_recipe(requested, rows, self.name, **changes), self.head, options
        )
