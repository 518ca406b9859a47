"""Make rows from examples by the model's recipe; a row never depends on the others of a request."""

import io
from collections.abc import Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple, cast

import numpy as np

from ..data.labels import LARGEST_LABEL, LabelSets
from ..data.rows import Array, join_rows, read_only, rows_between
from ..kernels.lines import MISSING
from ..learners.linear import LinearLearner
from ..parameters import InputError
from ..reading.arrow import DecodedColumns, TableParser
from ..reading.batches import Batch, join_batches
from ..reading.columnar import ColumnarParser
from ..reading.label import LABEL_NAMES
from ..reading.lines import LineParser, SvmlightParser, VowpalWabbitParser
from ..reading.recipe import FeatureRecipe, ReaderOptions
from ..reading.sources import Location, Source
from ..reading.spellings import Spelling
from ..reading.tables import TableSource
from ..reading.values import too_large
from ..reading.vocabulary import FeatureNames
from .requests import BadExampleError

NO_NUMBER = float("nan")
TRUTHS = {"true": True, "false": False}
MOST_ARRAY_COLUMNS = 10_000
NAMES = 1 << 16  # of hashed features, when they are asked for


class Learnable(NamedTuple):
    """Rows, or a list of sentences, optionally with labels and weights.

    ``judged`` has an entry for each row if some labels are predictions: whether that is right and
    the probability with which it was drawn, or None for a label.
    """

    rows: Any
    width: int
    labels: list[Any] | None = None
    weights: Array | None = None
    judged: list[tuple[bool, float] | None] | None = None

    def part(self, first: int, stop: int) -> "Learnable":
        """The examples from ``first`` to before ``stop``."""
        some = slice(first, stop)
        labels = None if self.labels is None else self.labels[some]
        weights = None if self.weights is None else self.weights[some]
        listed = isinstance(self.rows, list)
        rows = self.rows[some] if listed else rows_between(self.rows, first, stop)
        judged = None if self.judged is None else self.judged[some]
        return Learnable(rows, self.width, labels, weights, judged)


def make_row_maker(learner: LinearLearner) -> "TableMaker | LineMaker":
    """Make rows for a model by the recipe that it keeps, or of arrays if it was fitted to these."""
    kept, label_kind = learner.features.get("recipe"), learner.classes.dtype.kind
    if not isinstance(kept, dict):
        return ArrayMaker(make_array_recipe(learner), learner.dtype, label_kind)
    recipe = FeatureRecipe(**kept)
    make = TableMaker if recipe.rows == "table" else LineMaker
    return make(recipe, learner.dtype, label_kind)


def make_array_recipe(learner: LinearLearner) -> FeatureRecipe:
    """How rows are made for a model that was fitted to arrays: of numbers as they are."""
    names = learner.features.get("names") or [f"x{k}" for k in range(learner.width)]
    if len(names) > MOST_ARRAY_COLUMNS:
        raise ValueError(
            f"The model has {len(names):,} columns, and of models that were fitted to arrays those "
            f"with at most {MOST_ARRAY_COLUMNS:,} are served; train from a file or a table."
        )
    return FeatureRecipe(
        rows="table",
        label=next(name for name in (*LABEL_NAMES, "") if name not in names),
        columns=[(str(name), "number") for name in names],
        labels_separator="," if learner.multilabel else None,
        trim=True,
    )


def parser_options(dtype: np.dtype[Any], names: int, size: int = 1) -> ReaderOptions:
    """Options of a parser for an existing model, with batches of ``size`` bytes."""
    return ReaderOptions(size, dtype, names, False, False, (), 0, 1)


class TableMaker:
    """Makes rows of objects: numbers and words by column, found by name."""

    of_lines = False
    of_lists: str | None = None
    sample: float | None = None  # a value that every column may have

    def __init__(self, recipe: FeatureRecipe, dtype: np.dtype[Any], label_kind: str) -> None:
        self.recipe, self.dtype, self.label_kind = recipe, dtype, label_kind
        self.label = recipe.label if isinstance(recipe.label, str) else "label"
        self.columns = [(name, kind) for name, kind in recipe.columns or ()]
        self.names = {name for name, _ in self.columns}
        first, *rest = [name for name, _ in self.columns]
        self.all_in = itemgetter(first, *rest) if rest else lambda one: (one[first],)
        self.parser = self.new_parser(0)
        self.largest = float(np.finfo(self.dtype).max)

    def new_parser(self, names: int) -> ColumnarParser:
        """A parser of tables with the columns of the model."""
        import pyarrow

        kinds = {"number": pyarrow.float64()}
        schema = [(name, kinds.get(kind, pyarrow.string())) for name, kind in self.columns]
        empty = pyarrow.schema(schema).empty_table()
        return ColumnarParser(
            TableSource(empty), "arrow", self.recipe, parser_options(self.dtype, names)
        )

    def make(self, objects: Sequence[dict[str, Any]], labelled: bool) -> Learnable:
        """Make rows from objects, with labels if ``labelled``."""
        for row, one in enumerate(objects, 1):
            if self.names.isdisjoint(one):
                some = ", ".join(sorted(self.names)[:10])
                raise BadExampleError(f"there is none of the model's columns ({some})", row)
        labels = None
        if labelled:
            labels = self.read_labels(objects)
        batch = self.batch(objects, self.parser)
        return Learnable(batch.rows, batch.width, labels)

    def batch(self, objects: Sequence[dict[str, Any]], parser: TableParser) -> Batch:
        """Make rows from objects with a parser."""
        if not parser.hashed:
            rows = parser.make_number_rows(self.to_matrix(objects))
            return Batch(rows, None, None, parser.width, 0, 0)
        columns: list[Any] = []
        for name, kind in self.columns:
            values = [one.get(name) for one in objects]
            if kind == "number":
                columns.append(self.to_numbers(values, name))
            elif kind == "date":
                columns.append(to_times(values, name, parser))
            else:
                columns.append(encode_words(values, name))
        decoded = DecodedColumns(None, None, None, columns, len(objects))
        parts = list(parser.make_batches(decoded, 0, 0))
        return parts[0] if len(parts) == 1 else join_batches(parts)

    def to_matrix(self, objects: Sequence[dict[str, Any]]) -> Array:
        """Objects of numbers as a matrix: at once if all are plain numbers, else by column."""
        try:
            found: Array = np.array([self.all_in(one) for one in objects])
        except (KeyError, ValueError):
            found = np.empty(0, object)
        if found.dtype.kind in "iufb" and found.ndim == 2:  # no value is a list
            numbers: Array = found + 0.0  # as doubles, and -0 is 0
            if np.abs(numbers).max() <= self.largest:  # NaN is not
                return numbers.astype(self.parser.read_dtype, copy=False)
        columns = [
            self.to_numbers([one.get(name) for one in objects], name) for name, _ in self.columns
        ]
        return np.ascontiguousarray(np.column_stack(columns))

    def to_numbers(self, values: list[Any], name: str) -> Array:
        """A column of numbers; a missing one is NaN.

        All go through double precision, so that none depends on those that come with it.
        """
        try:
            found = np.array(values)
        except ValueError:  # lists of several lengths
            found = np.array(values, object)
        if found.dtype.kind not in "iufb" or found.ndim != 1:
            spelling = self.recipe.spelling(name)
            cells = (read_cell(value, spelling) for value in values)
            found = np.array(
                [find_number(cell, row, name) for row, cell in enumerate(cells, 1)], np.float64
            )
        with np.errstate(over="ignore"):
            numbers = (found.astype(np.float64) + 0.0).astype(self.parser.read_dtype)  # -0 is 0
        large = too_large(numbers, self.dtype)
        if large.any():
            row = int(large.argmax())
            sentence = f"{str(values[row])[:40]} is too large a number for {self.dtype}"
            raise BadExampleError(sentence, row + 1, name)
        return read_only(numbers)

    def read_labels(self, objects: Sequence[dict[str, Any]]) -> list[Any]:
        """The labels of objects; each different word is read once."""
        given = [one.get(self.label) for one in objects]
        if self.recipe.labels_separator is not None or {*map(type, given)} != {str}:
            return [self.read_label(one, row) for row, one in enumerate(objects, 1)]
        labels = {word: self.to_label(word, given.index(word) + 1) for word in dict.fromkeys(given)}
        return [labels[word] for word in given]

    def read_label(self, one: dict[str, Any], row: int) -> Any:
        """The label of an object, or a list of labels where there may be any number."""
        value, separator = one.get(self.label), self.recipe.labels_separator
        if separator is None:
            return self.to_label(value, row)
        if isinstance(value, str):
            value = [part for part in value.split(separator) if part.strip()]
        if not isinstance(value, list):
            raise BadExampleError("expected a list of labels", row, self.label)
        return list(dict.fromkeys(self.to_label(part, row) for part in value))

    def to_label(self, value: Any, row: int) -> Any:
        """A label as the model writes its classes."""
        if self.label_kind == "b" and isinstance(value, str):
            value = TRUTHS.get(value.strip().lower(), value)
        if self.label_kind in "biuf":
            if isinstance(value, bool) and self.label_kind != "b":
                raise BadExampleError("expected a number, got true or false", row, self.label)
            spelling = self.recipe.spelling(self.label)
            if isinstance(value, str) and spelling is not None and spelling.fits(value):
                value = spelling.number(value)
            number = find_number(value, row, self.label)
            most = float(np.finfo(np.float32).max) if self.recipe.numbers else LARGEST_LABEL
            if not abs(number) < most:
                what = "missing" if np.isnan(number) else "too large a number"
                raise BadExampleError(f"the label is {what}", row, self.label)
            return to_whole(number)
        word = to_word(value, row, self.label)
        word = word.strip() if self.recipe.trim else word
        if not word:
            raise BadExampleError("the label is missing", row, self.label)
        return word

    def make_named(self, objects: Sequence[dict[str, Any]]) -> tuple[Batch, Mapping[int, str]]:
        """Make rows from objects, with the names of their features."""
        parser = self.new_parser(NAMES)
        worker = cast(TableParser, parser.worker(0, {}))
        batch = self.batch(objects, worker)
        parser.absorb(worker)
        return batch, FeatureNames(dict(parser.vocabulary.known))


def read_cell(value: Any, spelling: Spelling | None) -> Any:
    """Read a string as the training read the cells of a file: $1,234.50, or true; keep others."""
    if not isinstance(value, str):
        return value
    if spelling is not None and spelling.fits(value):
        return spelling.number(value)
    return TRUTHS.get(value.strip().lower(), value)


def find_number(value: Any, row: int, column: str) -> float:
    """Convert a value to a number, or to NaN if it is missing; strings are parsed."""
    if value is None:
        return NO_NUMBER
    if isinstance(value, str):
        word = value.strip()
        if word in MISSING:
            return NO_NUMBER
        try:
            value = float(word) if "_" not in word else None
        except ValueError:
            value = None
        if value is None or not np.isfinite(value):
            raise BadExampleError(f"{word[:40]!r} is not a number", row, column)
    if not isinstance(value, int | float):
        raise BadExampleError(f"{str(value)[:40]} is not a number", row, column)
    try:
        return float(value)
    except OverflowError:
        raise BadExampleError(f"{str(value)[:40]}… is too large a number", row, column) from None


def encode_words(values: list[Any], name: str) -> tuple[Array, Array]:
    """Encode a column of words for kernels: their bytes, and the offset of each."""
    try:
        words = [
            value.encode() if type(value) is str else to_word(value, row, name).encode()
            for row, value in enumerate(values, 1)
        ]
    except UnicodeEncodeError:
        row = next(row for row, value in enumerate(values, 1) if is_broken(value))
        raise BadExampleError("there is half a character (a lone surrogate)", row, name) from None
    offsets = np.zeros(len(words) + 1, np.int32)
    np.cumsum([len(word) for word in words], out=offsets[1:])
    return read_only(np.frombuffer(b"".join(words), np.uint8)), read_only(offsets)


def to_times(values: list[Any], name: str, parser: TableParser) -> Any:
    """A column of dates or times."""
    import pyarrow

    words = [to_word(value, row, name) or None for row, value in enumerate(values, 1)]
    try:
        return parser.times(pyarrow.array(words, pyarrow.string()), name)
    except InputError as error:
        if len(words) == 1:
            raise BadExampleError(str(error), 1, name) from None
        for row, word in enumerate(words, 1):
            try:
                parser.times(pyarrow.array([word], pyarrow.string()), name)
            except InputError as broken:
                raise BadExampleError(str(broken), row, name) from None
        raise


def is_broken(value: Any) -> bool:
    """Whether a string cannot be written as UTF-8."""
    return isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value)


def to_word(value: Any, row: int, column: str) -> str:
    """Convert a value to a string as tables write it; a missing value is empty."""
    if value is None:
        return ""
    if isinstance(value, str | bool | int | float):
        return str(value)
    raise BadExampleError(f"{str(value)[:40]} is neither a word nor a number", row, column)


class ArrayMaker(TableMaker):
    """Makes rows of lists of numbers, or of objects by the names of the columns."""

    of_lists = "x"
    sample = 0.0

    def make(self, objects: Sequence[dict[str, Any]], labelled: bool) -> Learnable:
        """Make rows from objects, with labels if ``labelled``."""
        return super().make(self.name_all(objects), labelled)

    def make_named(self, objects: Sequence[dict[str, Any]]) -> tuple[Batch, Mapping[int, str]]:
        """Make rows from objects, with the names of their features."""
        batch = self.batch(self.name_all(objects), self.parser)
        return batch, dict(enumerate(name for name, _ in self.columns))

    def name_all(self, objects: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Objects with all columns by name; a list is in the order of the columns."""
        return [self.name_columns(one, row) for row, one in enumerate(objects, 1)]

    def name_columns(self, one: dict[str, Any], row: int) -> dict[str, Any]:
        """An object with all columns by name."""
        values = one.get("x")
        if isinstance(values, list) and "x" not in self.names:
            if len(values) != len(self.columns):
                sentence = f"there are {len(values)} numbers, and the model has {len(self.columns)}"
                raise BadExampleError(f"{sentence} columns", row, "x")
            one = one | {name: value for (name, _), value in zip(self.columns, values, strict=True)}
        for name, _ in self.columns:
            if one.get(name) is None:
                raise BadExampleError("the number is missing", row, name)
        return one


class LineMaker:
    """Makes rows of lines of svmlight or Vowpal Wabbit text."""

    of_lines, of_lists = True, None
    label = "label"
    columns: Sequence[tuple[str, str]] = ()
    names: frozenset[str] = frozenset()

    def __init__(self, recipe: FeatureRecipe, dtype: np.dtype[Any], label_kind: str) -> None:
        self.recipe, self.dtype = recipe, dtype
        self.kind = SvmlightParser if recipe.rows == "svmlight" else VowpalWabbitParser

    def make(self, lines: Sequence[str], labelled: bool) -> Learnable:
        """Make rows from lines, with labels if ``labelled``."""
        batch = self.batch(lines, labelled, self.new_parser(lines, labelled, 0))
        if not labelled:
            return Learnable(batch.rows, batch.width)
        found = batch.labels
        if isinstance(found, LabelSets):
            sets = [list(map(to_whole, dict.fromkeys(some))) for some in found]
            return Learnable(batch.rows, batch.width, sets, batch.weights)
        assert found is not None
        missing = np.flatnonzero(np.isnan(found))
        if len(missing):
            raise BadExampleError("the line has no label", int(missing[0]) + 1)
        labels = [to_whole(one) for one in found.tolist()]
        return Learnable(batch.rows, batch.width, labels, batch.weights)

    def new_parser(self, lines: Sequence[str], labelled: bool, names: int) -> LineParser:
        """A parser of some lines."""
        for row, line in enumerate(lines, 1):
            if "\n" in line or not line.strip() or line.lstrip().startswith("#"):
                raise BadExampleError("this is not one line of an example", row)
        data = "".join(f"{line}\n" for line in lines).encode()
        source = Source(io.BytesIO(data))
        source.name = "the request"
        values = {**vars(self.recipe), "label": None if labelled else False}
        return self.kind(
            source, FeatureRecipe(**values), parser_options(self.dtype, names, len(data))
        )

    def batch(self, lines: Sequence[str], labelled: bool, parser: LineParser) -> Batch:
        """Make rows from lines with a parser."""
        try:
            parts = list(parser.batches(Location("the request", 0, "row")))
        except ValueError as error:
            raise BadExampleError(str(error)) from None
        if sum(len(part.rows.starts) - 1 for part in parts) != len(lines):
            raise BadExampleError("The lines are not one example each.")
        return parts[0] if len(parts) == 1 else join_batches(parts)

    def make_named(self, lines: Sequence[str]) -> tuple[Batch, FeatureNames]:
        """Make rows from lines, with the names of their features."""
        parser = self.new_parser(lines, False, NAMES)
        return self.batch(lines, False, parser), FeatureNames(dict(parser.vocabulary.known))


def to_whole(number: float) -> int | float:
    """A number as an integer, if it is whole."""
    return int(number) if number.is_integer() else number


def join_examples(parts: Sequence[Learnable]) -> Learnable:
    """Join examples in their order."""
    if len(parts) == 1:
        return parts[0]
    weights = None
    if any(part.weights is not None for part in parts):
        weights = np.concatenate([get_weights(part) for part in parts])
    labels = [label for part in parts for label in part.labels or ()]
    width, rows = max(part.width for part in parts), [part.rows for part in parts]
    whole: Any = [*chain(*rows)] if isinstance(rows[0], list) else join_rows(rows)
    judged = None
    if any(part.judged is not None for part in parts):
        judged = [one for part in parts for one in part.judged or [None] * len(part.labels or ())]
    return Learnable(whole, width, labels, weights, judged)


def get_weights(part: Learnable) -> Array:
    """The weights of rows, 1 unless stated."""
    return np.ones(len(part.labels or ())) if part.weights is None else part.weights
