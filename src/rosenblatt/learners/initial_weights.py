"""The coefficients that a linear model starts from."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..data.rows import Array


def make_initial_weights(
    start: tuple[ArrayLike | None, ArrayLike | None],
    outputs: int,
    shape: tuple[int, Any],
    together: bool,
) -> list[tuple[Array, Array]]:
    """Return the weights and bias that each problem begins with."""
    width, dtype = shape
    W = check_initial(start[0], (outputs, width), dtype, "coef_init")
    b = check_initial(start[1], (outputs,), dtype, "intercept_init")
    if together:
        return [(W.T.copy("C"), b)]
    return [(W[k].copy(), b[k : k + 1].copy()) for k in range(outputs)]


def check_initial(values: ArrayLike | None, shape: tuple[int, ...], dtype: Any, name: str) -> Array:
    """Return coefficients to start from: those given, or zeros."""
    if values is None:
        return np.zeros(shape, dtype)
    if np.iscomplexobj(values):
        raise ValueError(f"{name} is complex; give real numbers.")
    with np.errstate(over="ignore"):
        array = np.array(values, dtype)
    one_output = shape[0] == 1 and array.shape == shape[1:]
    if array.shape != shape and not one_output:
        raise ValueError(f"{name} has shape {array.shape}; this data needs {shape}.")
    if not np.isfinite(array).all():
        raise ValueError(
            f"{name} contains NaN or infinity, or numbers too large for {array.dtype}."
        )
    return array.reshape(shape)
