"""Scale numbers: measure the columns of all rows, and scale each row."""

import base64
import zlib
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..data.rows import n_rows, read_only
from ..kernels import columns
from ..kernels.algebra import Rows
from ..kernels.columns import COUNT, LARGEST, SHIFT, SQUARES, SUM, ZEROS
from ..kernels.words import CSRBuffer
from ..parameters import InputError

FREQUENT, ENOUGH = 0.01, 10  # gaps in a column that get a feature of their own: share and number
LEAST = 1e-300  # a smaller size is none
MOST_BINNED = 1 << 16  # rows that decide the edges; of more rows, every second, fourth …
AT_ONCE = 1 << 16  # numbers that are scaled in place
MOST_SCALED = 1 << 28  # sparse columns; a model has fewer
WIDE = 100.0  # times the size of a column is another size
COMMON = 0.05  # of the rows have a number in a column whose size counts on its own


class Scale(NamedTuple):
    """Scaling of a column: (x - centre)·factor; a gap is filled, and flagged or not."""

    centre: float = 0.0
    factor: float = 1.0
    filling: float = 0.0
    flagged: bool = False


class DenseScaling:
    """Scales dense rows in double precision; ``dtype`` is that of the results."""

    def __init__(self, scales: Sequence[Any], dtype: Any = np.float64) -> None:
        self.n_columns, self.dtype = len(scales), np.dtype(dtype)
        parts = np.array(scales, np.float64).reshape(-1, 4).T.copy()
        if not np.isfinite(parts).all():
            raise recipe_error()
        self.centre, self.factor, self.filling, flagged = parts
        self.flags = np.where(flagged, self.n_columns - 1 + np.cumsum(flagged != 0), 0)
        self.width = self.n_columns + int(np.count_nonzero(flagged))
        self.length = read_only(np.array([self.width], np.uint64))

    def rows(self, rows: Rows) -> Rows:
        """Scale rows."""
        out = np.empty(n_rows(rows) * self.width, self.dtype)
        self.scale(read_only(rows.values), out)
        return Rows(read_only(out), None, self.length)

    def scale(self, values: np.ndarray, out: np.ndarray) -> None:
        """Scale the values of rows."""
        scales = self.centre, self.factor, self.filling, self.flags
        columns.standardise(values, self.n_columns, *scales, out)

    def in_place(self, rows: Rows) -> Rows:
        """Scale rows that own their values, in the same memory if the results have room in it."""
        values, count = rows.values, n_rows(rows)
        if self.width * self.dtype.itemsize > self.n_columns * values.itemsize:
            return self.rows(rows)
        out, step = values.view(self.dtype), max(1, AT_ONCE // self.n_columns)
        for row in range(0, count, step):
            some = values[row * self.n_columns : (row + step) * self.n_columns].copy()
            size = len(some) // self.n_columns * self.width
            self.scale(read_only(some), out[row * self.width :][:size])
        size = count * self.width
        del out
        values.resize(-(-size * self.dtype.itemsize // values.itemsize), refcheck=False)
        return Rows(read_only(values.view(self.dtype)[:size]), None, self.length)


class SparseScaling:
    """Scales sparse rows; absent values stay 0."""

    def __init__(self, factors: np.ndarray) -> None:
        self.factors = factors

    def rows(self, rows: Rows) -> Rows:
        """Scale rows."""
        return self.in_place(rows._replace(values=rows.values.copy()))

    def in_place(self, rows: Rows) -> Rows:
        """Scale rows that own their values."""
        columns.multiply(read_only(rows.values), rows.indices, self.factors, rows.values)
        return rows._replace(values=read_only(rows.values))


Scaling = DenseScaling | SparseScaling


# Measuring.


class DenseSurvey:
    """Statistics of the columns of dense rows."""

    def __init__(self, width: int, keep: int = 0) -> None:
        self.width, self.keep = width, keep  # rows for quantiles; of more, every second, fourth …
        self.seen = np.zeros((6, width))
        self.count, self.step = 0, 1
        self.kept = [np.empty((0, width), np.float32)]

    def add(self, rows: Rows) -> None:
        """Measure more rows."""
        columns.measure(rows.values, self.width, self.seen)
        table = rows.values.reshape(-1, self.width)
        if self.keep:
            self.kept.append(table[-self.count % self.step :: self.step].copy())
            while sum(map(len, self.kept)) > self.keep:
                self.step *= 2
                self.kept = [np.concatenate(self.kept)[::2]]
        self.count += len(rows.values) // self.width

    def scales(self, how: str, sparse: bool) -> list[Scale]:
        """Return the scaling of each column.

        Where columns are to stay ``sparse``, one that is mostly 0 is divided and not centred.
        """
        count, centre, spread = self.spreads()
        gaps = self.count - count
        flagged = (gaps >= ENOUGH) & (gaps >= FREQUENT * self.count) & (count > 0)
        filled = centre
        if how == "maxabs":
            centre, spread = np.zeros(self.width), self.seen[LARGEST]
        elif how == "auto" and sparse:
            centre = np.where(2 * self.seen[ZEROS] >= count, 0.0, centre)
        factor = 1 / np.where(spread > LEAST, spread, 1)
        filling = (filled - centre) * factor
        parts = centre.tolist(), factor.tolist(), filling.tolist(), flagged.tolist()
        return [Scale(*each) for each in zip(*parts, strict=True)]

    def spreads(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the count, mean and standard deviation of each column."""
        count = self.seen[COUNT]
        some = np.maximum(count, 1)
        above = self.seen[SUM] / some
        with np.errstate(over="ignore", invalid="ignore"):
            spread = np.sqrt(np.maximum(self.seen[SQUARES] / some - above * above, 0))
        spread = np.where(np.isfinite(spread), spread, self.seen[LARGEST])
        return count, self.seen[SHIFT] + above, spread

    def edges(self, place: int, bins: int) -> list[float]:
        """Return the edges of the bins of a column."""
        column = np.concatenate([part[:, place] for part in self.kept]).astype(np.float64)
        return find_edges(column[~np.isnan(column)], bins)


class SparseSurvey:
    """The largest absolute value and the number of values in each column of sparse rows."""

    def __init__(self) -> None:
        self.sizes, self.counts, self.rows = np.zeros(0), np.zeros(0), 0

    def add(self, rows: Rows) -> None:
        """Measure more rows; refuse columns that are too many to learn from."""
        assert rows.indices is not None
        width = int(rows.indices.max()) + 1 if len(rows.indices) else 0
        if width > MOST_SCALED:
            raise InputError(
                f"A row has the column {width:,}, but at most {MOST_SCALED:,} columns can be "
                "learnt; number them without gaps.",
                code="too-many-columns",
            )
        if width > len(self.sizes):
            more = (0, width - len(self.sizes))
            self.sizes, self.counts = np.pad(self.sizes, more), np.pad(self.counts, more)
        columns.largest(rows.values, rows.indices, self.sizes)
        columns.count(rows.indices, self.counts)
        self.rows += n_rows(rows)

    def differ(self) -> bool:
        """Whether the scales of columns differ so much that small ones could not be learnt.

        That is, one is far larger than most, or than one that is common. Rare columns do not count
        on their own: among many words some are small by chance.
        """
        some = self.sizes > 0
        if not some.any():
            return False
        common = self.sizes[some & (self.counts >= COMMON * self.rows)]
        small = np.append(common, np.median(self.sizes[some])).min()
        return bool(self.sizes.max() > WIDE * small)

    def factors(self) -> np.ndarray:
        """Return the factor of each column that makes its largest value 1."""
        return 1 / np.where(self.sizes > 0, self.sizes, 1)


# Quantile bins: each number also becomes the category of the interval that it lies in.


def find_edges(numbers: np.ndarray, bins: int) -> list[float]:
    """Return the edges between bins of about equally many numbers; none for two values or fewer.

    Few different values get a bin each. A number on an edge belongs to the lower bin.

    >>> find_edges(np.arange(9.0), 3)
    [2.5, 5.5]
    """
    values = np.unique(numbers)
    if len(values) <= 2:
        return []
    if len(values) <= bins:
        return [float(edge) for edge in values[:-1] / 2 + values[1:] / 2]
    wanted = np.quantile(numbers, np.linspace(0, 1, bins + 1)[1:-1])
    above = np.unique(np.clip(np.searchsorted(values, wanted, "right"), 1, len(values) - 1))
    return [float(edge) for edge in values[above - 1] / 2 + values[above] / 2]


def name_bins(name: str, edges: Sequence[float]) -> list[str]:
    """Write the names of the bins of a column.

    >>> name_bins("age", [25.0, 40.0])
    ['age ≤ 25', '25 < age ≤ 40', 'age > 40']
    """
    between = [f"{low:.6g} < {name} ≤ {high:.6g}" for low, high in pairwise(edges)]
    return [f"{name} ≤ {edges[0]:.6g}", *between, f"{name} > {edges[-1]:.6g}"]


def make_bins(
    edges: np.ndarray, indices: np.ndarray, column: np.ndarray, dtype: np.dtype
) -> CSRBuffer:
    """Make the feature of each number's bin; none for a missing number."""
    known = ~np.isnan(column)
    numbers = np.searchsorted(edges, column[known].astype(np.float64))
    starts = np.zeros(len(column) + 1, np.uint64)
    np.cumsum(known, out=starts[1:])
    return CSRBuffer(np.ones(len(numbers), dtype), indices[numbers], starts)


# Keeping.


def recipe_error() -> InputError:
    """Return the error of a recipe that no reader wrote."""
    return InputError("features is not what features() of a reader gives.", code="recipe")


def pack_array(array: np.ndarray, level: int = 1) -> str:
    """Encode an array of float32 as text, for a recipe; a level of 9 takes long and is small."""
    return base64.b64encode(zlib.compress(array.astype("<f4").tobytes(), level)).decode()


def unpack_array(letters: str, most: int = MOST_SCALED) -> np.ndarray:
    """Decode an array from text; refuse one of more than ``most`` numbers."""
    try:
        unzip = zlib.decompressobj()
        data = unzip.decompress(base64.b64decode(letters, validate=True), 4 * most + 1)
        if not unzip.eof or unzip.unused_data or len(data) > 4 * most:
            raise recipe_error()
        found = np.frombuffer(data, "<f4")
    except (ValueError, zlib.error) as error:
        raise recipe_error() from error
    return found.astype(np.float32)


def sparse_scaling(scales: Mapping[str, Any] | None) -> SparseScaling | None:
    """Read the scaling of sparse rows from a recipe; None if they are not scaled."""
    return SparseScaling(unpack_array(scales["factors"])) if scales else None
