"""Declarations of the fields of a state, by which it is saved, loaded and checked.

A shape is a tuple of names of sizes. "weights" and "bias" are known for a linear model; another
size is that of the first array that has it.
"""

from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

import numpy as np

from ..data.rows import Array, check_structure, first_not_finite

Sizes = dict[str, tuple[int, ...]]
CSR = ("data", "indices", "indptr")


def require(condition: Any, otherwise: str) -> None:
    """Raise unless a condition holds."""
    if not condition:
        raise ValueError(otherwise)


@dataclass(frozen=True)
class Declared:
    """The declaration of a number, which is never negative."""

    type: Any = int

    def pack(self, name: str, value: Any) -> tuple[dict[str, Array], dict[str, Any]]:
        """Turn a field into arrays and numbers, by name."""
        return {}, {name: value}

    def unpack(self, name: str, arrays: dict[str, Array], numbers: Any, width: int | None) -> Any:
        """Turn arrays and numbers back into the field; remove its arrays."""
        return numbers[name]

    def check(self, name: str, value: Any, sizes: Sizes, dtype: Any) -> None:
        """Refuse a value that no training can produce."""
        most = {int: np.iinfo(np.int64).max, float: np.inf, bool: True}[self.type]
        fitting = 0 <= value <= most
        require(type(value) is self.type and fitting, f"{name} is out of range")


@dataclass(frozen=True)
class DeclaredArray(Declared):
    """The declaration of an array.

    Attributes
    ----------
    shape
        The names of its sizes; without any, the array is as long as ``start``.
    dtype
        Its type, by default that of the weights.
    optional
        Whether a state may lack it.
    start
        What its numbers begin with.
    signed
        Whether numbers may be negative; they then change sign where two classes change places.
    prefix
        What its name begins with in a file.
    """

    shape: tuple[str, ...] = ()
    dtype: Any = None
    optional: bool = False
    start: Any = 0.0
    signed: bool = True
    prefix: str = ""

    @property
    def by_column(self) -> bool:
        """Whether it has numbers for each column of X."""
        return self.shape == ("weights",)

    def pack(self, name: str, value: Any) -> tuple[dict[str, Array], dict[str, Any]]:
        return ({} if value is None else {f"{self.prefix}{name}": value}), {}

    def unpack(self, name: str, arrays: dict[str, Array], numbers: Any, width: int | None) -> Any:
        full = f"{self.prefix}{name}"
        return arrays.pop(full, None) if self.optional else arrays.pop(full)

    def check(self, name: str, value: Any, sizes: Sizes, dtype: Any) -> None:
        if value is None and self.optional:
            return
        for axis, size in enumerate(self.shape):
            if size not in sizes and axis < value.ndim:
                sizes[size] = (value.shape[axis],)
        shape = sum((sizes.get(size, ()) for size in self.shape), np.shape(self.start))
        wanted = np.dtype(self.dtype or dtype)
        fitting = value.shape == shape and value.dtype == wanted
        if wanted.kind == "i" or not self.signed:
            fitting = fitting and np.all(value >= 0)
        require(fitting and np.isfinite(value).all(), f"{name} does not fit or is not finite")


@dataclass(frozen=True)
class DeclaredRows(Declared):
    """The declaration of rows of X, dense or CSR; or of column numbers."""

    def pack(self, name: str, value: Any) -> tuple[dict[str, Array], dict[str, Any]]:
        return collect_arrays(name, value), {}

    def unpack(self, name: str, arrays: dict[str, Array], numbers: Any, width: int | None) -> Any:
        return load_rows(name, arrays, width)

    def check(self, name: str, value: Any, sizes: Sizes, dtype: Any) -> None:
        (width,) = sizes["width"]
        if value.ndim == 1:  # columns of a precomputed matrix
            fitting = value.dtype == np.int64
            fitting = fitting and np.all((value >= 0) & (value < width))
            require(fitting, "its columns do not exist")
            return
        fitting = value.shape[1:] == (width,) and value.dtype in (dtype or np.float32, np.float64)
        require(fitting and first_not_finite(value) is None, "its rows do not fit its weights")
        if hasattr(value, "indptr"):
            check_structure(value)


def array(*shape: str, dtype: Any = None, init: bool = True) -> Any:
    """Declare an array."""
    return declare(DeclaredArray(shape=shape, dtype=dtype), init=init)


def optional_array(*shape: str, dtype: Any = None) -> Any:
    """Declare an array that a state may lack."""
    return declare(DeclaredArray(shape=shape, dtype=dtype, optional=True), default=None)


def counter(default: float) -> Any:
    """Declare a number that is never negative."""
    return declare(Declared(type(default)), default=default)


def declare(kind: Declared, **options: Any) -> Any:
    """Declare a field of any kind; options are those of ``field``."""
    return field(**options, metadata={"declared": kind})


@cache
def declared_fields(kind: Any, rule: Any = None) -> dict[str, Any]:
    """The declarations of a class of states, and of the arrays that a rule keeps, by name."""
    own = {one.name: one.metadata.get("declared") for one in fields(kind)}
    kept = {} if rule is None else rule.arrays
    return {name: one for name, one in own.items() if one is not None} | kept


@cache
def declared_arrays(kind: Any, rule: Any) -> dict[str, DeclaredArray]:
    """Those of them that are arrays."""
    found = declared_fields(kind, rule).items()
    return {name: one for name, one in found if isinstance(one, DeclaredArray)}


def collect_arrays(name: str, rows: Any) -> dict[str, Array]:
    """Rows as one array, or as three if they are sparse, by name."""
    if hasattr(rows, "indptr"):
        return {f"{name}.{part}": getattr(rows, part) for part in CSR}
    return {name: rows}


def load_rows(name: str, arrays: dict[str, Array], width: int | None) -> Any:
    """Rows from their arrays, dense or sparse."""
    if name in arrays:
        return arrays.pop(name)
    from scipy.sparse import csr_array  # most models do without

    data, indices, indptr = (arrays.pop(f"{name}.{part}") for part in CSR)
    require(indices.dtype.kind == indptr.dtype.kind == "i", "its sparse rows are malformed")
    return csr_array((data, indices, indptr), shape=(len(indptr) - 1, width))


# Whole states


def find_declared(state: Any) -> dict[str, Any]:
    """The declarations of all that a state keeps, by name."""
    kind: Any = type(state)
    return declared_fields(kind, getattr(state, "rule", None))


def pack_state(state: Any) -> tuple[dict[str, Array], dict[str, Any]]:
    """The arrays and numbers of a state, by name."""
    arrays: dict[str, Array] = {}
    numbers: dict[str, Any] = {}
    for name, one in find_declared(state).items():
        more_arrays, more_numbers = one.pack(name, getattr(state, name))
        arrays |= more_arrays
        numbers |= more_numbers
    return arrays, numbers


def unpack_state(
    kind: type, rule: Any, arrays: dict[str, Array], numbers: dict[str, Any], width: Any
) -> Any:
    """Make a state from its arrays, which are removed, and numbers."""
    state: Any = object.__new__(kind)  # its __init__ would begin at zero
    if rule is not None:
        state.rule = rule
    for name, one in declared_fields(kind, rule).items():
        setattr(state, name, one.unpack(name, arrays, numbers, width))
    return state


def check_state(state: Any, sizes: Sizes, dtype: Any) -> None:
    """Refuse a state that is not as declared or does not fit together: kernels do not check."""
    for name, one in find_declared(state).items():
        one.check(name, getattr(state, name), sizes, dtype)
    state.check()
