"""Make dense or hashed rows of Arrow tables with numbers, categories, dates and text."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from ..data.labels import LabelSets
from ..data.rows import read_only, view_filled_rows, view_rows
from ..kernels import words
from ..kernels.addresses import NEWLINE
from ..kernels.algebra import Rows
from ..kernels.lines import VALUE_TOO_LARGE
from ..kernels.words import CSRBuffer, Grams, NumberColumns, salt
from ..parameters import InputError
from .batches import Batch, with_rows
from .dates import Times, get_parts, to_days, to_times
from .kinds import classify_type
from .label import FIRST_ROWS, FirstCells, count_cells, with_label
from .lines import line_error
from .notices import Notice
from .parser import Parser, Profile, allocate_rows
from .recipe import (
    COUNTS,
    ColumnKind,
    ColumnNames,
    FeatureRecipe,
    ReaderOptions,
    Resolved,
    collect_notices,
    make_recipe,
    with_columns,
)
from .scaling import DenseScaling, make_bins, name_bins, recipe_error, sparse_scaling, unpack_array
from .sources import count_byte
from .spellings import LEADING_ZEROS, Spelling, write_plainly
from .threads import Broken, Piece
from .values import (
    MISSING_LABELS,
    is_in_any,
    refuse_nul,
    to_numbers,
    to_scalar,
    too_large,
    trim_cells,
)
from .vocabulary import Cells

MOST_LETTERS = 32  # of labels that NumPy keeps in place; threads and comparisons are faster then


class DecodedColumns(NamedTuple):
    """Columns for kernels: numbers, times, or the bytes of strings with their offsets.

    ``matrix`` has the numbers and dates row by row, where they were read that way.
    """

    labels: Any
    ids: np.ndarray | None
    columns: list[Any]
    rows: int
    matrix: np.ndarray | None = None


class DecodedPiece(NamedTuple):
    """The cells of a piece, which stay in memory to become other features.

    ``columns`` are the names and kinds of the columns, and ``lines`` are those of the piece.
    """

    found: list[DecodedColumns | Broken]
    columns: list[tuple[str, str]]
    lines: int
    notices: dict[Notice, None]


@dataclass(frozen=True)
class TableProfile(Profile):
    """What the first rows of a table show: its columns, what they hold, and their first cells."""

    columns: ColumnNames
    kinds: Sequence[ColumnKind]
    column: Callable[[int], Any]
    """Returns the first rows of a column by its place, as Arrow has them."""

    @cached_property
    def cells(self) -> Callable[[int], FirstCells]:
        """Count the first cells of a column by its place, once."""
        from pyarrow import types

        def count(place: int) -> FirstCells:
            cells = self.column(place)[:FIRST_ROWS]
            if types.is_temporal(cells.type):  # Python's own times are of years up to 9999
                cells = to_words(cells)
            return count_cells(cells.to_pylist())

        return lru_cache(count)

    def resolve(self, requested: FeatureRecipe, options: ReaderOptions) -> Resolved:
        """Return a recipe with the label and the columns, and what to note about them."""
        asked = make_recipe(requested, "table", self.columns.source)
        recipe, notices = with_label(asked, self.columns, self.cells)
        recipe = with_columns(recipe, self.columns, self.kinds)
        if options.new:
            notices |= collect_notices(recipe, asked, self.columns, self.kinds)
        return recipe, notices


class TableParser(Parser):
    """Makes rows of Arrow tables; subclasses read the tables from files."""

    def prepare(self) -> None:
        """Find the places of columns, and what becomes of each."""
        recipe, names = self.recipe, self.profile.columns
        self.columns = [(name, kind) for name, kind in recipe.columns or ()]
        own = ColumnNames([name for name, _ in self.columns], self.source.name)
        self.label = names.label(recipe, self.options.label_needed)
        self.id = None if recipe.id is None else names.numbers.get(str(recipe.id))
        self.further = [place for place in (self.label, self.id) if place is not None]
        self.wanted = [*map(names.named, own.names), *self.further]
        self.places = {name: place for place, name in enumerate(recipe.numeric())}
        scaling = None if recipe.scales is None else table_scaling(recipe, self.options.dtype)
        flags = [] if scaling is None else scaling.flags.tolist()
        flagged = [name for name, flag in zip(self.places, flags, strict=False) if flag]
        if self.hashed:
            self.prepare_hashed(own, scaling, flagged)
            return
        self.scaling, self.width = scaling, len(own) + len(flagged)
        every = enumerate([*own.names, *map(missing_name, flagged)])
        self.vocabulary.known.update((place, (str, name)) for place, name in every)

    def prepare_hashed(
        self, own: ColumnNames, scaling: DenseScaling | None, flagged: list[str]
    ) -> None:
        """Find the features of each column, and how it is scaled.

        Numbers that follow each other are made together.
        """
        recipe, self.width = self.recipe, 1 << (self.recipe.bits or 0)
        self.salts = [np.uint64(salt(name)) for name in own.names]
        self.text_weights = text_weights(recipe)
        flags = {name: self.add_name(missing_name(name)) for name in flagged}
        self.bins: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        for name, edges in (recipe.edges or {}).items():
            indices = [self.add_name(each) for each in name_bins(name, edges)]
            self.bins[name] = np.array(edges, np.float64), np.array(indices, np.uint32)
        for number, (name, kind) in enumerate(self.columns):
            if name in self.places:
                said = name if kind == "number" else f"{name} in days"
                self.vocabulary.add(int(self.salts[number] & self.mask), said)

        def key(number: int) -> int:
            name, kind = self.columns[number]
            return -1 if kind == "number" and name not in self.bins else number

        runs = [list(run) for _, run in groupby(range(len(self.columns)), key)]
        self.runs = [(run, self.number_columns(run, scaling, flags)) for run in runs]

    def add_name(self, name: str) -> int:
        """Name a hashed feature; return its index."""
        index = int(salt(name)) & int(self.mask)
        self.vocabulary.add(index, name)
        return index

    def number_columns(
        self, run: list[int], scaling: DenseScaling | None, flags: dict[str, int]
    ) -> NumberColumns | None:
        """Return how columns of numbers that follow each other become features; None for words."""
        names = [self.columns[number][0] for number in run]
        if names[0] not in self.places:
            return None
        indices = np.array([self.salts[number] & self.mask for number in run], np.uint32)
        own_flags = np.array([flags.get(name, -1) for name in names], np.int64)
        scales = np.zeros(len(run)), np.ones(len(run)), np.zeros(len(run))
        if scaling is not None:
            some = slice(self.places[names[0]], self.places[names[0]] + len(run))
            scales = scaling.centre[some], scaling.factor[some], scaling.filling[some]
        return NumberColumns(*scales, indices, own_flags)

    def parse_piece(self, piece: Piece) -> Iterator[Batch | Broken]:
        """Make rows of a piece."""
        kept = piece.data
        if isinstance(kept, DecodedPiece):
            self.lines, found = kept.lines, self.pick_columns(kept)
            self.notices.update(kept.notices)
        else:
            self.lines, found = self.count_lines(kept), self.decode_parts(kept)
        for one in found:
            if isinstance(one, Broken):
                yield one
            else:
                yield from self.make_batches(one, piece.taken, self.lines)

    def decode_piece(self, data: Any) -> DecodedPiece:
        """Decode a piece."""
        found = list(self.decode_parts(data))
        return DecodedPiece(found, self.columns, self.count_lines(data), self.notices)

    def pick_columns(self, kept: DecodedPiece) -> Iterator[DecodedColumns | Broken]:
        """Yield the decoded cells of the parser's own columns."""
        places = {name: place for place, (name, _) in enumerate(kept.columns)}
        own = [places[name] for name, _ in self.columns]
        for one in kept.found:
            if isinstance(one, Broken):
                yield one
            else:
                columns = [one.columns[place] for place in own]
                yield one._replace(columns=columns, matrix=one.matrix if self.places else None)

    def count_lines(self, data: Any) -> int:
        """Count the lines of a piece, or its rows where it has no lines."""
        return count_byte(data, NEWLINE)

    def row_edges(self, data: Any) -> np.ndarray:
        """Return where each row of a piece begins, and where the last one ends."""
        return np.append(0, np.flatnonzero(data == NEWLINE) + 1)

    def decode(self, data: Any) -> DecodedColumns:
        """Decode the columns of whole rows; raise ValueError if a row is broken."""
        raise NotImplementedError

    def explain(self, row: Any) -> InputError:
        """Say in which column a row is broken, and why."""
        try:
            self.decode(row)
        except InputError as error:
            return error
        except ValueError as error:
            return InputError(str(error), code="cells", column=1)
        raise AssertionError

    def decode_parts(self, data: Any) -> Iterator[DecodedColumns | Broken]:
        """Decode all rows of a piece: at once, or in halves as long as some rows are broken."""
        try:
            yield self.decode(data)
            return
        except ValueError:
            edges = self.row_edges(data)

        def decode(first: int, stop: int) -> Iterator[DecodedColumns | Broken]:
            rows = data[edges[first] : edges[stop]]
            try:
                yield self.decode(rows)
            except ValueError:
                if stop - first > 1:
                    middle = (first + stop) // 2
                    yield from decode(first, middle)
                    yield from decode(middle, stop)
                else:
                    error = self.explain(rows)
                    line = self.count_lines(data[: edges[first]]) + 1
                    yield Broken(line, error, error.code == "label-zeros")

        yield from decode(0, len(edges) - 1)

    def decode_columns(
        self, columns: list[Any], rows: int, matrix: np.ndarray | None = None
    ) -> DecodedColumns:
        """Decode the wanted columns; in place of a column of the matrix there is None."""
        decode = {"number": self.numbers, "date": self.times}
        decoded = [
            None
            if column is None
            else decode[kind](column, name)
            if kind in decode
            else encode_strings(column)
            for column, (name, kind) in zip(columns, self.columns, strict=False)
        ]
        further = dict(zip(self.further, columns[len(self.columns) :], strict=False))
        find = self.labels if self.recipe.labels_separator is None else self.label_sets
        labels = None if self.label is None else find(further[self.label])
        ids = None if self.id is None else np.array(to_words(further[self.id]).to_pylist(), object)
        return DecodedColumns(labels, ids, decoded, rows, matrix)

    def numbers(self, column: Any, name: str) -> np.ndarray:
        """Decode a column of numbers; a missing one is NaN."""
        spelling, plain = self.recipe.spelling(name), None
        try:
            if spelling is None:  # cells that are numbers alone take no other look
                with suppress(ValueError):
                    plain = column.cast(self.read_dtype.name, safe=False)
            if plain is None:
                plain = truth_to_digits(column, spelling).cast(self.read_dtype.name, safe=False)
            numbers = to_numbers(plain)
        except (ValueError, NotImplementedError):
            word = str(column[0]).strip()  # of one row, once the broken one is found
            raise self.word_error("number", name, word) from None
        if too_large(numbers, self.options.dtype).any():
            raise line_error(VALUE_TOO_LARGE, name)
        if np.isnan(numbers).any():
            self.add_notice(self.gaps)
        return read_only(numbers)

    def times(self, column: Any, name: str) -> Times:
        """Decode a column of dates, or of times of a day."""
        from pyarrow import compute, types

        if not types.is_temporal(column.type):
            column = trim_cells(to_words(column))
        times = to_times(column, self.recipe.date_form(name).form)
        if times.null_count > column.null_count:
            odd = column.filter(compute.is_null(times)).drop_null()
            raise self.word_error("date", name, str(odd[0]))
        if times.null_count:
            self.add_notice(self.gaps)
        return Times(read_only(to_days(times)), times)

    def labels(self, column: Any) -> np.ndarray:
        """Decode the labels, as numbers or strings; a missing one is NaN or None.

        Those that a kernel has read are numbers already.
        """
        from pyarrow import types

        name, kind = str(self.recipe.label), self.recipe.label_kind
        if isinstance(column, np.ndarray):
            return self.refuse_long(column, name)
        if types.is_dictionary(column.type) and kind == "boolean":
            column = column.dictionary_decode()
        if kind == "boolean" and types.is_boolean(column.type):
            truth = to_numbers(column.cast("uint8"))
            gaps = np.isnan(truth) if column.null_count else None
            return truth == 1 if gaps is None else np.where(gaps, np.array(None), truth == 1)
        if kind == "number":
            return self.refuse_long(self.number_labels(column, name), name)
        coded = to_words(column).dictionary_encode(null_encoding="encode")
        classes = coded.dictionary.to_pylist()
        classes = [each if each is None else each.strip() for each in classes]
        for word in sorted(MISSING_LABELS.intersection(classes) - {""}):
            self.add_notice("label-na", name=name, word=word)
        classes = [None if each in MISSING_LABELS else each for each in classes]
        refuse_nul(classes, name)
        short = all(each is not None and len(each) <= MOST_LETTERS for each in classes)
        names = np.array(classes, str if short else object)
        return np.asarray(names[to_numbers(coded.indices)])

    def refuse_long(self, numbers: np.ndarray, name: str) -> np.ndarray:
        """Return labels that are numbers; refuse those that are too large."""
        if numbers.dtype.kind == "f" and self.find_long_labels(numbers).any():
            raise self.long_label_error(name)
        return numbers

    def number_labels(self, column: Any, name: str) -> np.ndarray:
        """Decode labels that are numbers; in cells of text, leading zeros make them words."""
        from pyarrow import types

        if types.is_string(column.type):
            words = self.options.new and not self.recipe.numbers
            if words and is_in_any(column, LEADING_ZEROS):
                what = "the label has leading zeros, and labels before it are numbers; name it in "
                what += "category to keep 01 and 1 apart"
                raise InputError(what, code="label-zeros", column=name)
            column = trim_cells(column)
        spelling = self.recipe.spelling(name)
        try:
            known = column if spelling is None else truth_to_digits(column, spelling)
            exact = types.is_integer(known.type) and not known.null_count
            return to_numbers(known if exact else known.cast("float64", safe=False))
        except ValueError:
            word = str(column[0])  # of one row, once the broken one is found
            raise self.word_error("number", name, word) from None

    def label_sets(self, column: Any) -> LabelSets:
        """Decode the labels of rows that may have several, or none."""
        from pyarrow import compute, types

        if not types.is_list(column.type):
            words = to_words(column).fill_null("")
            column = compute.split_pattern(words, self.recipe.labels_separator)
        counts = to_numbers(compute.fill_null(column.value_lengths(), 0))
        flat = to_words(column.flatten()).fill_null("")
        flat = compute.utf8_trim_whitespace(flat)
        known = compute.not_equal(flat, "")
        rows = np.repeat(np.arange(len(counts)), counts)[known.to_numpy(zero_copy_only=False)]
        coded = flat.filter(known).dictionary_encode()
        refuse_nul(coded.dictionary.to_pylist(), str(self.recipe.label))
        labels = np.array(coded.dictionary.to_pylist(), object)[to_numbers(coded.indices)]
        return LabelSets(labels, np.append(0, np.cumsum(np.bincount(rows, minlength=len(counts)))))

    def make_batches(self, decoded: DecodedColumns, taken: int, lines: int) -> Iterator[Batch]:
        """Make rows of decoded columns."""
        if not decoded.rows:
            return
        for some, part in self.make_rows(decoded):
            whole = Batch(part, decoded.labels, None, self.width, taken, lines, decoded.ids)
            yield from self.leave_out_unlabelled(with_rows(whole, part, some))

    def number_matrix(self, decoded: DecodedColumns) -> np.ndarray:
        """Return the numbers and dates of decoded columns row by row; missing ones are NaN."""
        matrix = decoded.matrix
        if matrix is None:
            matrix = np.empty((decoded.rows, len(self.places)), self.read_dtype)
        for (name, _), column in zip(self.columns, decoded.columns, strict=True):
            if name in self.places and column is not None:
                numbers = column.days if isinstance(column, Times) else column
                matrix[:, self.places[name]] = numbers
        return matrix

    def make_number_rows(self, matrix: np.ndarray) -> Rows:
        """Make rows of a matrix of numbers; NaN marks missing ones."""
        if self.recipe.scale == "none" and (gaps := np.isnan(matrix)).any():
            matrix = np.where(gaps, matrix.dtype.type(0), matrix)
        return self.scaled(view_rows(matrix))

    def make_rows(self, decoded: DecodedColumns) -> Iterator[tuple[slice, Rows]]:
        """Make dense rows of numbers, or sparse ones of all features and their products."""
        matrix = self.number_matrix(decoded)
        if not self.hashed:
            yield slice(decoded.rows), self.make_number_rows(matrix)
            return
        parts = [
            part
            for run, columns in self.runs
            for part in self.features(run, columns, decoded, matrix)
        ]
        made = parts[0] if len(parts) == 1 else join_columns(parts, self.options.dtype)
        if self.recipe.pairs:
            yield from self.multiply_pairs(made)
        else:
            yield slice(decoded.rows), view_filled_rows(made, decoded.rows)

    def features(
        self,
        run: list[int],
        columns: NumberColumns | None,
        decoded: DecodedColumns,
        matrix: np.ndarray,
    ) -> list[CSRBuffer]:
        """Make the features of columns of numbers that follow each other, or of one other."""
        number = run[0]
        (name, kind), column = self.columns[number], decoded.columns[number]
        if columns is None:
            if kind == "text":
                return [self.text_features(number, column)]
            return [self.category_features(name, self.salts[number], column)]
        place = self.places[name]
        most = len(matrix) * (len(columns.indices) + int(np.count_nonzero(columns.flags >= 0)))
        found = [allocate_rows(len(matrix), most, self.options.dtype)]
        words.numbers(matrix, place, columns, found[0])
        if kind == "date":
            parts = get_parts(column.column, self.recipe.date_form(name).parts)
            for part, cells in parts.items():
                own, salted = f"{name} {part}", np.uint64(salt(f"{name} {part}"))
                found.append(self.category_features(own, salted, encode_strings(cells)))
        elif name in self.bins:
            found.append(make_bins(*self.bins[name], matrix[:, place], self.options.dtype))
        return found

    def category_features(self, name: str, seed: np.uint64, column: Any) -> CSRBuffer:
        """Make a feature for each string."""
        data, offsets = column
        rows = len(offsets) - 1
        out, met = allocate_rows(rows, rows, self.options.dtype), self.vocabulary.met
        words.categories(data, offsets, 0, 0, seed, self.mask, True, out, met)
        self.vocabulary.collect(Cells.spell_name(name, decode_name, data))
        return out

    def text_features(self, number: int, column: Any) -> CSRBuffer:
        """Make the n-grams of each string."""
        name, (data, offsets) = self.columns[number][0], column
        grams = self.grams(number)
        if self.recipe.lacks_frequencies:  # the counts as they are, to be weighed later
            often = words.BINARY if grams.counts == words.BINARY else words.RAW
            grams = grams._replace(counts=often, unit_length=False)
        rows, size = len(offsets) - 1, int(offsets[-1] - offsets[0])
        # Words have two letters, and characters two spaces around them.
        most = size + 2 * rows if grams.characters else (size + rows) // 3
        kinds = grams.longest - grams.shortest + 1
        out = allocate_rows(rows, most * kinds, self.options.dtype)
        words.text(data, offsets, 0, 0, grams, out, self.vocabulary.met)
        spell = decode_name if grams.characters else decode_words
        self.vocabulary.collect(Cells.spell_name(name, spell, data))
        return out

    def grams(self, number: int) -> Grams:
        """Return the settings of the n-grams of a column."""
        shortest, longest, characters = self.recipe.resolve_ngrams(self.columns[number][0])
        counts, own = COUNTS.index(self.recipe.counts), (self.salts[number], self.mask)
        return Grams(shortest, longest, characters, counts, True, *own, self.text_weights)

    def weigh_rows(self, rows: Rows) -> Rows:
        """Weigh rows that own their values, the raw counts of one text."""
        words.weigh_rows(rows.starts, self.grams(0), rows.values, rows.indices)
        return rows._replace(values=read_only(rows.values))


def table_scaling(recipe: FeatureRecipe, dtype: Any = np.float64) -> DenseScaling:
    """Return the scaling that a recipe holds for the number columns of a table."""
    scales = recipe.scales or {}
    if not {*recipe.numeric()} <= set(scales):
        raise recipe_error()
    return DenseScaling([scales[name] for name in recipe.numeric()], dtype)


def in_file_units(
    features: dict[str, Any], coef: np.ndarray, bias: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Convert weights and biases so that they give the same scores on unscaled numbers.

    Parameters
    ----------
    features
        What ``features()`` of a reader gave.
    coef, bias
        Of a model that was trained on what the reader made.
    """
    recipe = FeatureRecipe(**features)
    if not recipe.scales:
        return coef, bias
    coef, bias = coef.astype(np.float64), bias.astype(np.float64)
    if recipe.rows != "table":
        scaling = sparse_scaling(recipe.scales)
        assert scaling is not None
        known = min(coef.shape[1], len(scaling.factors))
        coef[:, :known] *= scaling.factors[:known]
        return coef, bias
    table = table_scaling(recipe)
    names, mask = recipe.numeric(), (1 << (recipe.bits or 0)) - 1
    places = range(len(names)) if recipe.bits is None else [salt(name) & mask for name in names]
    for place, centre, factor in zip(places, table.centre, table.factor, strict=True):
        coef[:, place] *= factor
        bias -= coef[:, place] * centre
    return coef, bias


def text_weights(recipe: FeatureRecipe) -> np.ndarray:
    """Return the tf-idf weight of each column of n-grams; an empty array if all weigh the same."""
    if not recipe.frequencies:
        return read_only(np.empty(0, np.float32))
    found = recipe.frequencies
    weights = inverse_frequencies(str(found["counts"]), float(found["rows"]))
    if recipe.bits is None or len(weights) != 1 << recipe.bits:
        raise recipe_error()
    return weights


@lru_cache(maxsize=4)
def inverse_frequencies(counts: str, rows: float) -> np.ndarray:
    """Compute inverse document frequencies, smoothed as in scikit-learn.

    Sparck Jones, K. (1972). A statistical interpretation of term specificity and its application in
    retrieval. Journal of Documentation 28.
    """
    found = unpack_array(counts)
    if not np.all(found >= 0):
        raise recipe_error()
    return read_only((np.log((1 + rows) / (1 + found)) + 1).astype(np.float32))


def missing_name(name: str) -> str:
    """Name the feature that marks missing numbers of a column."""
    return f"{name} is missing"


def join_columns(parts: list[CSRBuffer], dtype: np.dtype) -> CSRBuffer:
    """Join the features of several columns row by row."""
    starts = np.add.reduce([part.starts for part in parts])
    values, ends = int(starts[-1]), starts[:-1].copy()
    out = CSRBuffer(np.empty(values, dtype), np.empty(values, np.uint32), starts)
    for part in parts:
        words.append(part, ends, out)
    return out


def decode_name(name: bytes) -> str:
    """Decode the name of a category or of some characters."""
    return name.decode(errors="replace")


def decode_words(name: bytes) -> str:
    """Decode the words of an n-gram, with single blanks between them."""
    return " ".join(re.findall(r"\w+", name.decode(errors="replace").lower()))


# Arrow's types and columns.


def truth_to_digits(column: Any, spelling: Spelling | None = None) -> Any:
    """Prepare a column for a cast to numbers: the strings true and false become 1 and 0.

    Numbers with decimal commas, thousands or units are rewritten as plain numbers.
    """
    from pyarrow import compute

    if classify_type(column.type) != "category":
        return column
    words = trim_cells(column)
    words = words if spelling is None else write_plainly(words, spelling)
    for word, digit in ("false", "0"), ("true", "1"):
        words = compute.replace_substring_regex(words, f"(?i)^{word}$", digit)
    return words


def to_words(column: Any) -> Any:
    """Convert a column to strings; True, 3.0 and days are written as pandas writes them to CSV."""
    from pyarrow import compute, types

    if types.is_dictionary(column.type):
        return to_words(column.dictionary).take(column.indices)
    if types.is_boolean(column.type):
        return compute.if_else(column, to_scalar("True"), to_scalar("False"))
    words = column.cast("string")
    if types.is_floating(column.type):
        words = compute.replace_substring_regex(words, r"^(-?\d+)$", r"\1.0")
    if types.is_timestamp(column.type):
        words = compute.replace_substring_regex(words, r"(\.\d*?)0+$", r"\1")
        words = compute.replace_substring_regex(words, r"( 00:00:00)?\.?$", "")
    return words


def encode_strings(column: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the bytes of all strings and their offsets; a missing string is empty."""
    column = to_words(column)
    if column.null_count:
        column = column.fill_null(to_scalar(""))
    _, offsets, data = column.buffers()
    data = np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)
    offsets = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    return read_only(data), read_only(offsets)
