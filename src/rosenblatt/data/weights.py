"""Weights of rows and classes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..parameters import InputError, ParameterError
from .labels import has_class
from .rows import Array


def row_weights(
    codes: Array, sample_weight: ArrayLike | None, of_class: Array | None
) -> Array | None:
    """Sample weights times class weights, or None when all are 1."""
    if sample_weight is None:
        return None if of_class is None else of_class[codes]
    weights = np.asarray(sample_weight, np.float64)
    if weights.ndim == 0:
        weights = np.full(len(codes), float(weights))
    if weights.shape != codes.shape[:1]:
        raise InputError(
            f"sample_weight has shape {weights.shape}; X has {len(codes)} rows, and each needs one "
            "weight.",
            code="weights-of-rows",
        )
    bad = np.flatnonzero(~(weights >= 0) | np.isinf(weights))
    if len(bad):
        raise InputError(
            f"sample_weight is {weights[bad[0]]} in row {bad[0]}; weights must be finite and not "
            "negative.",
            code="weight-out-of-range",
            line=int(bad[0]),
        )
    return weights if of_class is None else weights * of_class[codes]


def class_weights(
    class_weight: Any, classes: Array, codes: Array, counts: Array | None = None
) -> Array | None:
    """The weight of each class, as given by label, or balanced; codes may count several times."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str) and class_weight == "balanced":
        return balance(classes, np.bincount(codes, counts, len(classes)))
    if not isinstance(class_weight, Mapping):
        raise ParameterError(
            f'class_weight must be a dict, "balanced" or None; got {class_weight!r}.',
            code="out-of-range",
        )
    known = classes.tolist()
    forgotten = [label for label in known if label not in class_weight]
    if forgotten and set(class_weight) - set(known):  # most likely a typing error
        raise ParameterError(
            f"The classes {forgotten} are not in class_weight.", code="class-without-weight"
        )
    weights = [class_weight.get(label, 1.0) for label in known]
    if not all(
        isinstance(weight, int | float | np.number) and 0 <= weight < np.inf for weight in weights
    ):
        raise ParameterError(
            "class_weight must give finite weights that are not negative.", code="out-of-range"
        )
    return np.array(weights, np.float64)


def balance(classes: Array, counts: Array) -> Array:
    """Weights of classes such that each has the same total weight."""
    if not counts.all():
        missing = classes.tolist()[np.argmin(counts)]
        raise InputError(
            f"No row has the label {missing!r}, so the classes cannot be balanced.",
            code="class-without-rows",
        )
    return np.asarray(counts.sum() / (len(classes) * counts))


def balance_running(counts: Array, codes: Array) -> Array:
    """Weigh each row of a stream by the rarity of its class among all rows up to this one.

    ``counts`` has the rows of each class before the first one. However a stream is cut into
    batches, the weights are the same.

    >>> balance_running(np.array([0, 0]), np.array([0, 0, 0, 1])).tolist()
    [1.0, 1.0, 1.0, 2.0]
    """
    order = np.argsort(codes, kind="stable")
    first = np.searchsorted(codes[order], codes[order])
    met = np.empty(len(codes), np.int64)
    met[order] = np.arange(1, len(codes) + 1) - first
    is_new = (met == 1) & (counts[codes] == 0)
    n_classes = np.count_nonzero(counts) + np.cumsum(is_new)
    total = counts.sum() + np.arange(1, len(codes) + 1)
    return np.asarray(total / (n_classes * (counts[codes] + met)))


def rows_that_count(codes: Array, weights: Array | None) -> Array:
    """The numbers of the rows with a weight above 0."""
    if weights is None:
        return np.arange(len(codes), dtype=np.uint32)
    return np.flatnonzero(weights > 0).astype(np.uint32)


def refuse_one_class(codes: Array, counting: Array) -> None:
    """Refuse rows of a single class."""
    if not len(counting):
        raise InputError(
            "All sample weights are zero, so there is no row to learn from.", code="no-rows"
        )
    classes = codes.ndim == 1 and codes.dtype.kind not in "fV"
    if classes and np.all(codes[counting] == codes[counting[0]]):
        raise InputError(
            "Only one class has rows of a weight above 0; at least two must.", code="one-class"
        )


def compute_steps(
    codes: Array, positive: int | None, eta0: float, weights: Any, dtype: Any
) -> Array:
    """The step of each row: η times its weight, and times the label for two classes.

    Steps that are 0 or infinite in the dtype are refused.
    """
    sizes: Any = np.dtype(dtype).type(1)
    if weights is not None or eta0 != 1:
        with np.errstate(over="ignore", under="ignore"):
            sizes = np.asarray(eta0 if weights is None else eta0 * weights).astype(dtype)
        used = sizes if weights is None else sizes[weights > 0]
        if not used.all() or not np.isfinite(used).all():
            what = "The weight of a row" if eta0 == 1 else "eta0 times the weight of a row"
            raise InputError(
                f"{what} is too small or too large for {sizes.dtype}; scale the weights.",
                code="step-out-of-range",
            )
    if positive is None:
        return np.broadcast_to(sizes, codes.shape).copy()
    return np.asarray(np.where(has_class(codes, positive), sizes, -sizes))
