"""The convergence theorem for the batch perceptron, which moves once per pass by all its mistakes.

Let pass t make mₜ mistakes, M = Σ mₜ in all. With the sum gₜ of yx over them, w·u grows by at least
γmₜ for the unit separator u, and ‖w‖² by at most ‖gₜ‖² ≤ R²mₜ², because w·gₜ ≤ 0. So γM ≤ ‖w‖ ≤
R√(Σ mₜ²). As mₜ ≤ n, Σ mₜ² ≤ nM, hence M ≤ n(R/γ)². The T passes that move the weights have
1 ≤ mₜ ≤ n, so mₜ² ≤ (n + 1)mₜ − n and nT ≤ (n + 1)M − (γM/R)², which is largest at
M = (n + 1)(R/γ)²/2: T ≤ (R/γ)²(n + 1)²/(4n).
"""

from collections.abc import Sequence

import numpy as np


def batch_bounds(bound: float, n_rows: int) -> tuple[float, float]:
    """Bound the mistakes and the updates of a batch perceptron from zero on ``n_rows`` rows.

    Parameters
    ----------
    bound : float
        (R/γ)² of the rows, with the bias as a coordinate if there is one.
    n_rows : int
        The number of rows.

    Returns
    -------
    mistakes, updates : float
        n(R/γ)² and (n + 1)²/(4n) · (R/γ)².

    Examples
    --------
    >>> batch_bounds(36.0, 4)
    (144.0, 56.25)
    """
    return n_rows * bound, (n_rows + 1) ** 2 / (4 * n_rows) * bound


def batch_length(radius: float, mistakes: Sequence[int]) -> float:
    """Compute R√(Σ m²), the bound on ‖w‖/η after passes with m mistakes each.

    >>> batch_length(2.0, [3, 4])
    10.0
    """
    return radius * float(np.linalg.norm(mistakes))
