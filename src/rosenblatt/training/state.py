"""Declarations of the fields of a state, by which it is saved, loaded and checked.

A shape is a tuple of names of sizes. "weights" and "bias" are known for a linear model; another
size is that of the first array that has it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from ..data.rows import Array, check_structure, first_not_finite
from .rules import begin_arrays

Sizes = dict[str, tuple[int, ...]]
CSR = ("data", "indices", "indptr")


class Layer(NamedTuple):
    """One number for each weight of a state: the weights, their variances, or sums of them.

    Attributes
    ----------
    rows
        A view of the numbers of all columns, flat.
    shared
        Views of the others, such as biases.
    """

    rows: Array
    shared: list[Array]

    def take(self, rows: Array) -> Array:
        """The shared numbers, and those of some rows."""
        return np.concatenate([*(each.ravel() for each in self.shared), self.rows[rows]])

    def put(self, rows: Array, values: Array) -> None:
        """Set the shared numbers, and those of some rows."""
        first = 0
        for each in self.shared:
            each[...] = values[first : first + each.size].reshape(each.shape)
            first += each.size
        self.rows[rows] = values[first:]


def require(condition: Any, otherwise: str) -> None:
    """Raise unless a condition holds."""
    if not condition:
        raise ValueError(otherwise)


@dataclass(frozen=True)
class Declared:
    """The declaration of a number, which is never negative."""

    def pack(self, name: str, value: Any) -> tuple[dict[str, Array], dict[str, Any]]:
        """Turn a field into arrays and numbers, by name."""
        return {}, {name: value}

    def unpack(self, name: str, arrays: dict[str, Array], numbers: Any, width: int | None) -> Any:
        """Turn arrays and numbers back into the field; remove its arrays."""
        return numbers[name]

    def check(self, name: str, value: Any, default: Any, sizes: Sizes, dtype: Any) -> None:
        """Refuse a value that no training can produce."""
        kind = type(default)
        most = {int: np.iinfo(np.int64).max, float: np.inf, bool: True}[kind]
        fitting = 0 <= value <= most
        require(type(value) is kind and fitting, f"{name} is out of range")


@dataclass(frozen=True)
class DeclaredArray(Declared):
    """The declaration of an array, by default of the type of the weights; maybe None."""

    shape: tuple[str, ...] = ()
    dtype: Any = None
    optional: bool = False

    def pack(self, name: str, value: Any) -> tuple[dict[str, Array], dict[str, Any]]:
        return ({} if value is None else {name: value}), {}

    def unpack(self, name: str, arrays: dict[str, Array], numbers: Any, width: int | None) -> Any:
        return arrays.pop(name, None) if self.optional else arrays.pop(name)

    def check(self, name: str, value: Any, default: Any, sizes: Sizes, dtype: Any) -> None:
        if value is None and self.optional:
            return
        for axis, size in enumerate(self.shape):
            if size not in sizes and axis < value.ndim:
                sizes[size] = (value.shape[axis],)
        shape = sum((sizes.get(size, ()) for size in self.shape), ())
        wanted = np.dtype(self.dtype or dtype)
        fitting = value.shape == shape and value.dtype == wanted
        fitting = fitting and (np.all(value >= 0) if wanted.kind == "i" else True)
        require(fitting and np.isfinite(value).all(), f"{name} does not fit or is not finite")


@dataclass(frozen=True)
class DeclaredRows(Declared):
    """The declaration of rows of X, dense or CSR; or of column numbers."""

    def pack(self, name: str, value: Any) -> tuple[dict[str, Array], dict[str, Any]]:
        return collect_arrays(name, value), {}

    def unpack(self, name: str, arrays: dict[str, Array], numbers: Any, width: int | None) -> Any:
        return load_rows(name, arrays, width)

    def check(self, name: str, value: Any, default: Any, sizes: Sizes, dtype: Any) -> None:
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
    return declare(Declared(), default=default)


def declare(kind: Declared, **options: Any) -> Any:
    """Declare a field of any kind; options are those of ``field``."""
    return field(**options, metadata={"declared": kind})


def declared_fields(kind: type) -> Iterator[tuple[str, Any, Any]]:
    """The name, declaration and default of each declared field."""
    for one in fields(kind):
        if "declared" in one.metadata:
            yield one.name, one.metadata["declared"], one.default


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


def pack_state(state: Any) -> tuple[dict[str, Array], dict[str, Any]]:
    """The arrays and numbers of a state, by name."""
    arrays: dict[str, Array] = {}
    numbers: dict[str, Any] = {}
    for name, kind, _ in declared_fields(type(state)):
        more_arrays, more_numbers = kind.pack(name, getattr(state, name))
        arrays |= more_arrays
        numbers |= more_numbers
    kept = getattr(state, "kept", {}).items()
    return arrays | {f"kept.{name}": array for name, array in kept}, numbers


def unpack_state(
    kind: type, rule: Any, arrays: dict[str, Array], numbers: dict[str, Any], width: Any
) -> Any:
    """Make a state from its arrays, which are removed, and numbers."""
    state: Any = object.__new__(kind)  # its __init__ would begin at zero
    for name, one, _ in declared_fields(kind):
        setattr(state, name, one.unpack(name, arrays, numbers, width))
    if rule is not None:
        state.rule = rule
        begun = begin_arrays(rule, state.weights, state.bias)
        state.kept = {each: arrays.pop(f"kept.{each}") for each in begun}
    return state


def check_state(state: Any, sizes: Sizes, dtype: Any) -> None:
    """Refuse a state that is not as declared or does not fit together: kernels do not check."""
    for name, kind, default in declared_fields(type(state)):
        kind.check(name, getattr(state, name), default, sizes, dtype)
    if hasattr(state, "rule"):
        for name, begun in begin_arrays(state.rule, state.weights, state.bias).items():
            kept = state.kept[name]
            fitting = kept.shape == begun.shape and kept.dtype == begun.dtype
            fitting = fitting and bool(np.isfinite(kept).all())
            if name in ("S", "Sb"):
                fitting = fitting and bool(np.all(kept >= 0))
            require(fitting, f"{name} does not fit or is not finite")
        if state.rule.is_scaled:
            check_scale(state)
    state.check()


def check_scale(state: Any) -> None:
    """Refuse a scale by which a rule would divide by 0, or weights would not be finite."""
    kept, begun = state.kept["scale"], begin_arrays(state.rule, state.weights, state.bias)
    require(np.all(kept[begun["scale"] > 0] > 0), "scale is out of range")
    with np.errstate(all="ignore"):
        finite = all(np.isfinite(part).all() for part in state.coefficients())
    require(finite, "scale is out of range")
