"""Declarations of the fields of a state, by which it is saved, loaded and checked.

A shape is a tuple of names of sizes. "weights" and "bias" are known for a linear model; another
size is that of the first array that has it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from ..data.rows import Array, check_structure, first_not_finite
from ..kernels.linear import Updates

Sizes = dict[str, tuple[int, ...]]
CSR = ("data", "indices", "indptr")
EMPTY_SUMS = ("further.missing", "further.missing_bias")
"""What version 0.2 also wrote of rules whose kernels sum for an average, where there was none."""
UPDATE_TYPES = (np.intp, np.intp, np.float64, np.float64, np.intp, np.intp)


class Layer(NamedTuple):
    """One number for each weight of a state: the weights, their variances, or sums of them.

    Attributes
    ----------
    rows
        A view with a row for each key of ``State.find_keys``.
    shared
        Views of the numbers that have no key, such as biases and transitions.
    """

    rows: Array
    shared: list[Array]

    def take(self, rows: Array) -> Array:
        """The shared numbers, and those of some rows."""
        return np.concatenate([*(each.ravel() for each in self.shared), self.rows[rows].ravel()])

    def put(self, rows: Array, values: Array) -> None:
        """Set the shared numbers, and those of some rows."""
        first = 0
        for each in self.shared:
            each[...] = values[first : first + each.size].reshape(each.shape)
            first += each.size
        self.rows[rows] = values[first:].reshape(-1, *self.rows.shape[1:])


def require(condition: Any, otherwise: str) -> None:
    """Raise unless a condition holds."""
    if not condition:
        raise ValueError(otherwise)


@dataclass(frozen=True)
class Declared:
    """The declaration of a number, which is never negative unless ``signed``.

    ``older`` is its value in files that do not have it.
    """

    signed: bool = False
    older: float | None = None

    def pack(self, name: str, value: Any) -> tuple[dict[str, Array], dict[str, Any]]:
        """Turn a field into arrays and numbers, by name."""
        return {}, {name: value}

    def unpack(self, name: str, arrays: dict[str, Array], numbers: Any, width: int | None) -> Any:
        """Turn arrays and numbers back into the field; remove its arrays."""
        return numbers[name] if self.older is None else numbers.get(name, self.older)

    def check(self, name: str, value: Any, default: Any, sizes: Sizes, dtype: Any) -> None:
        """Refuse a value that no training can produce."""
        kind = type(default)
        most = {int: np.iinfo(np.int64).max, float: np.inf, bool: True}[kind]
        fitting = np.isfinite(value) if self.signed else 0 <= value <= most
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
class DeclaredUpdates(Declared):
    """The declaration of updates, or of a list of consecutive ones."""

    listed: bool = False

    def pack(self, name: str, value: Any) -> tuple[dict[str, Array], dict[str, Any]]:
        updates = join_updates(value) if self.listed else value
        return {f"{name}.{part}": array for part, array in updates._asdict().items()}, {}

    def unpack(self, name: str, arrays: dict[str, Array], numbers: Any, width: int | None) -> Any:
        updates = Updates(*(arrays.pop(f"{name}.{part}") for part in Updates._fields))
        return [updates] if self.listed else updates

    def check(self, name: str, value: Any, default: Any, sizes: Sizes, dtype: Any) -> None:
        for updates in value if self.listed else [value]:
            fitting = [array.dtype for array in updates] == [np.dtype(one) for one in UPDATE_TYPES]
            fitting &= all(array.ndim == 1 for array in updates)
            require(fitting and len(set(map(len, updates))) == 1, "its updates are malformed")
            finite = np.isfinite(updates.steps) & np.isfinite(updates.intercept_steps)
            require(finite.all(), "its updates are not finite")


@dataclass(frozen=True)
class DeclaredRows(Declared):
    """The declaration of rows of X, dense or CSR, or a list of them; or of column numbers."""

    listed: bool = False

    def pack(self, name: str, value: Any) -> tuple[dict[str, Array], dict[str, Any]]:
        if not self.listed:
            return collect_arrays(name, value), {}
        arrays: dict[str, Array] = {}
        for number, rows in enumerate(value):
            arrays |= collect_arrays(f"{name}.{number}", rows)
        return arrays, {name: len(value)}

    def unpack(self, name: str, arrays: dict[str, Array], numbers: Any, width: int | None) -> Any:
        if not self.listed:
            return load_rows(name, arrays, width)
        return [load_rows(f"{name}.{number}", arrays, width) for number in range(numbers[name])]

    def check(self, name: str, value: Any, default: Any, sizes: Sizes, dtype: Any) -> None:
        (width,) = sizes["width"]
        for rows in value if self.listed else [value]:
            if rows.ndim == 1 and not self.listed:  # columns of a precomputed matrix
                fitting = rows.dtype == np.int64
                fitting = fitting and np.all((rows >= 0) & (rows < width))
                require(fitting, "its columns do not exist")
                continue
            fitting = rows.shape[1:] == (width,) and rows.dtype in (dtype or np.float32, np.float64)
            require(fitting and first_not_finite(rows) is None, "its rows do not fit its weights")
            if hasattr(rows, "indptr"):
                check_structure(rows)


def array(*shape: str, dtype: Any = None, init: bool = True) -> Any:
    """Declare an array."""
    return declare(DeclaredArray(shape=shape, dtype=dtype), init=init)


def optional_array(*shape: str, dtype: Any = None) -> Any:
    """Declare an array that a state may lack; a file with one has format 4."""
    return declare(DeclaredArray(shape=shape, dtype=dtype, optional=True), default=None)


def counter(default: float, older: float | None = None) -> Any:
    """Declare a number that is never negative."""
    return declare(Declared(older=older), default=default)


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


def join_updates(parts: list[Updates]) -> Updates:
    """Join several lists of updates."""
    nothing = Updates(*(np.empty(0, kind) for kind in UPDATE_TYPES))
    return Updates(*map(np.concatenate, zip(nothing, *parts, strict=True)))


def check_updates(updates: Updates, n_rows: int, outputs: int, seen: int) -> None:
    """Refuse updates with rows, times or classes out of range."""
    ends = {"rows": n_rows, "times": seen + 1, "labels": outputs, "rivals": outputs}
    for name, end in ends.items():
        numbers = getattr(updates, name)
        require(np.all((numbers >= 0) & (numbers < end)), f"the {name} of its updates do not exist")


# Whole states


def format_number(state: Any) -> int:
    """The oldest file format that has room for a state."""
    filled = (
        getattr(state, name) is not None
        for name, one, _ in declared_fields(type(state))
        if getattr(one, "optional", False)
    )
    lacks_sums = hasattr(state, "rule") and state.rule.sums and not hasattr(state, "missing")
    return 4 if lacks_sums or any(filled) else 3


def pack_state(state: Any) -> tuple[dict[str, Array], dict[str, Any]]:
    """The arrays and numbers of a state, by name."""
    arrays: dict[str, Array] = {}
    numbers: dict[str, Any] = {}
    for name, kind, _ in declared_fields(type(state)):
        more_arrays, more_numbers = kind.pack(name, getattr(state, name))
        arrays |= more_arrays
        numbers |= more_numbers
    further = getattr(state, "further", {}).items()
    return arrays | {f"further.{name}": array for name, array in further}, numbers


def unpack_state(
    kind: type, rule: Any, arrays: dict[str, Array], numbers: dict[str, Any], width: Any
) -> Any:
    """Make a state from its arrays, which are removed, and numbers."""
    state: Any = object.__new__(kind)  # its __init__ would begin at zero
    for name, one, _ in declared_fields(kind):
        setattr(state, name, one.unpack(name, arrays, numbers, width))
    if rule is not None:
        state.rule = rule
        state.further = {one.name: arrays.pop(f"further.{one.name}") for one in rule.arrays}
        for name in EMPTY_SUMS:
            arrays.pop(name, None)
    state.after_loading()
    return state


def check_state(state: Any, sizes: Sizes, dtype: Any) -> None:
    """Refuse a state that is not as declared or does not fit together: kernels do not check."""
    for name, kind, default in declared_fields(type(state)):
        kind.check(name, getattr(state, name), default, sizes, dtype)
    for one in state.rule.arrays if hasattr(state, "rule") else ():
        kept = state.further[one.name]
        fitting = kept.shape == one.shape(state.weights, state.bias)
        fitting &= kept.dtype == np.dtype(one.dtype or dtype) and bool(np.isfinite(kept).all())
        unsigned = kept.dtype.kind == "i" or one.is_variance
        fitting = fitting and (not unsigned or bool(np.all(kept >= 0)))
        require(fitting, f"{one.name} does not fit or is not finite")
    state.check()
