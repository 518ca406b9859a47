"""Make rows from examples by the model's recipe; a row never depends on the others of a request."""

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, cast

import msgspec
import numpy as np
from msgspec.structs import astuple

from ..data.labels import LARGEST_LABEL
from ..data.rows import Array
from ..learners.linear import LinearLearner
from ..parameters import InputError
from ..reading.arrow import TableParser
from ..reading.batches import Batch, join_batches
from ..reading.columnar import profile_columnar
from ..reading.label import LABEL_NAMES
from ..reading.lists import count_places, expand_object
from ..reading.objects import LARGEST, as_cells, decode_objects, decode_words, to_word
from ..reading.recipe import FeatureRecipe, ReaderOptions
from ..reading.tables import TableSource
from .requests import BadExampleError

TRUTHS = {"true": True, "false": False}
MOST_ARRAY_COLUMNS = 10_000


def make_row_maker(learner: LinearLearner) -> "RowMaker":
    """Make rows for a model by the recipe that it keeps, or of arrays if it was fitted to these."""
    kept, given = learner.features.get("recipe"), (learner.dtype, learner.classes.dtype.kind)
    if isinstance(kept, dict):
        recipe = FeatureRecipe(**kept)
        if recipe.rows != "table":
            raise ValueError(
                f"The model was trained from lines of {recipe.rows}; only models of tables and "
                "arrays are served. Write the lines as JSON or Parquet, and train again."
            )
        return RowMaker(recipe, *given)
    names = learner.features.get("names") or [f"x{k}" for k in range(learner.width)]
    if len(names) > MOST_ARRAY_COLUMNS:
        raise ValueError(
            f"The model has {len(names):,} columns, and of models that were fitted to arrays those "
            f"with at most {MOST_ARRAY_COLUMNS:,} are served; train from a file or a table."
        )
    recipe = FeatureRecipe(
        rows="table",
        label=next(name for name in (*LABEL_NAMES, "") if name not in names),
        columns=[(str(name), "number") for name in names],
        labels_separator="," if learner.multilabel else None,
    )
    return RowMaker(recipe, *given, of_lists="x")


class RowMaker:
    """Makes rows of objects: numbers and words by column, found by name.

    With ``of_lists`` an object may have all numbers as a list of that name instead, and none may be
    missing.
    """

    def __init__(
        self,
        recipe: FeatureRecipe,
        dtype: np.dtype[Any],
        label_kind: str,
        of_lists: str | None = None,
    ) -> None:
        self.recipe, self.dtype, self.label_kind = recipe, dtype, label_kind
        self.of_lists = of_lists
        self.label = recipe.label if isinstance(recipe.label, str) else "label"
        self.columns = [(name, kind) for name, kind in recipe.columns or ()]
        self.names = {name for name, _ in self.columns}
        self.lengths = count_places(self.names)
        self.parser = self.new_parser()
        self.largest = float(np.finfo(self.dtype).max)
        self.pack = struct.Struct(f"{len(self.columns)}d").pack
        names = {f"n{k}": name for k, (name, _) in enumerate(self.columns)}
        fields: Any = [(key, float) for key in names]
        given: Any = {"rename": names | {"label": self.label}, "gc": False}
        self.plain: Any = msgspec.defstruct("PlainRow", fields, **given)
        labelled: Any = msgspec.defstruct("LabelledRow", [*fields, ("label", Any)], **given)
        kinds = self.plain, labelled
        self.decoders = [msgspec.json.Decoder(list[k] | k) for k in kinds]  # type: ignore[valid-type]

    def new_parser(self) -> TableParser:
        """A parser of tables with the columns of the model."""
        import pyarrow

        kinds = {"number": pyarrow.float64()}
        schema = [(name, kinds.get(kind, pyarrow.string())) for name, kind in self.columns]
        source = TableSource(pyarrow.schema(schema).empty_table())
        options = ReaderOptions(1, self.dtype, 0, False, False, (), 0, 1)
        profile = profile_columnar(source, "arrow", self.recipe, options)
        return cast(TableParser, profile.parser(source, self.recipe, options, profile))

    def make(self, objects: Sequence[dict[str, Any]], labelled: bool) -> Batch:
        """Make rows from objects, with labels if ``labelled``."""
        batch = self.batch(objects)
        if not labelled:
            return batch
        return with_labels(batch, self.read_labels([one.get(self.label) for one in objects]))

    def decode(self, body: bytes | bytearray, labelled: bool) -> Batch | None:
        """Make rows from JSON that has all columns as plain numbers; of other JSON return None."""
        if self.parser.hashed:
            return None
        try:
            found: Any = self.decoders[labelled].decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        rows = [astuple(one) for one in (found if isinstance(found, list) else [found])]
        numbers = self.fill([row[:-1] for row in rows] if labelled else rows)
        if numbers is None:
            return None
        made = Batch(self.parser.make_number_rows(numbers), None, None, self.parser.width, 0, 0)
        return with_labels(made, self.read_labels([row[-1] for row in rows])) if labelled else made

    def fill(self, rows: Sequence[tuple[float, ...]]) -> Array | None:
        """Plain numbers as a matrix; None if there is none, or one is too large."""
        packed = b"".join([self.pack(*row) for row in rows])  # twice as quick as an array of tuples
        flat = np.frombuffer(packed) + 0.0  # -0 is 0
        if not rows or np.abs(flat).max() > self.largest:
            return None
        numbers: Array = flat.reshape(len(rows), -1).astype(self.parser.read_dtype, copy=False)
        return numbers

    def name_columns(self, one: dict[str, Any], row: int) -> dict[str, Any]:
        """An object with its columns by name; those of a list are in their order."""
        values = one.get(str(self.of_lists))
        if not isinstance(values, list) or self.of_lists in self.names:
            return one
        if len(values) != len(self.columns):
            sentence = f"there are {len(values)} numbers, and the model has {len(self.columns)}"
            raise BadExampleError(f"{sentence} columns", row, self.of_lists)
        return {name: value for (name, _), value in zip(self.columns, values, strict=True)}

    def batch(self, objects: Sequence[dict[str, Any]]) -> Batch:
        """Make rows from objects."""
        parser = self.parser
        if self.of_lists is not None:
            objects = [self.name_columns(one, row) for row, one in enumerate(objects, 1)]
        if self.lengths:  # of columns of lists
            with refused_in_row():
                each = enumerate(objects, 1)
                objects = [expand_object(one, self.lengths, row) for row, one in each]
        for row, one in enumerate(objects, 1):
            if self.names.isdisjoint(one):
                some = ", ".join(sorted(self.names)[:10])
                raise BadExampleError(f"there is none of the model's columns ({some})", row)
        if not parser.hashed:
            rows = parser.make_number_rows(self.to_matrix(objects))
            return Batch(rows, None, None, parser.width, 0, 0)
        with refused_in_row():
            decoded = decode_objects(parser, objects)
        parts = list(parser.make_batches(decoded, 0, 0))
        return parts[0] if len(parts) == 1 else join_batches(parts)

    def to_matrix(self, objects: Sequence[dict[str, Any]]) -> Array:
        """Objects of numbers as a matrix: at once if all are plain numbers, else by column."""
        with suppress(msgspec.ValidationError):
            plain = msgspec.convert(objects, list[self.plain])  # type: ignore[name-defined]
            if (numbers := self.fill([astuple(one) for one in plain])) is not None:
                return numbers
        with refused_in_row():
            columns = decode_objects(self.parser, objects).columns
        matrix = np.ascontiguousarray(np.column_stack(columns))
        if self.of_lists is not None and np.isnan(matrix).any():
            row, column = np.argwhere(np.isnan(matrix))[0].tolist()
            raise BadExampleError("the number is missing", row + 1, self.columns[column][0])
        return matrix

    def read_labels(self, given: list[Any]) -> list[Any]:
        """The labels of rows; each different word is read once."""
        if self.recipe.labels_separator is not None or {*map(type, given)} != {str}:
            return [self.read_label(value, row) for row, value in enumerate(given, 1)]
        labels = {word: self.to_label(word, given.index(word) + 1) for word in dict.fromkeys(given)}
        return [labels[word] for word in given]

    def read_label(self, value: Any, row: int) -> Any:
        """The label of a row, or a list of labels where there may be any number."""
        separator = self.recipe.labels_separator
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
            number = self.to_number(value, row)
            most = float(np.finfo(np.float32).max) if self.recipe.numbers else LARGEST_LABEL
            if not abs(number) < most:
                what = "missing" if np.isnan(number) else "too large a number"
                raise BadExampleError(f"the label is {what}", row, self.label)
            return int(number) if number.is_integer() else number
        with refused_in_row(row, self.label):
            word = "" if value is None else to_word(value)
        word = word.strip()
        if not word:
            raise BadExampleError("the label is missing", row, self.label)
        return word

    def to_number(self, value: Any, row: int) -> float:
        """A label as a number; a string is read as the cell of a file."""
        if isinstance(value, int | float) and abs(value) <= LARGEST:
            return float(value)
        with refused_in_row(row, self.label):
            decode = as_cells(self.parser.number_labels)
            return float(decode_words([value], [row], self.label, decode)[0])


@contextmanager
def refused_in_row(row: int | None = None, column: str | None = None) -> Iterator[None]:
    """Refuse an example, with its row and column, where its cells cannot be decoded."""
    try:
        yield
    except InputError as error:
        where = row or error.line, column or str(error.column)
        raise BadExampleError(str(error), *where) from None


def with_labels(batch: Batch, labels: Sequence[Any]) -> Batch:
    """A batch with labels of Python: words, numbers, or lists of them."""
    return batch._replace(labels=np.fromiter(labels, object, len(labels)))
