"""Proving: whether a hyperplane separates two classes, while only hard rows travel."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from distributed import Client
from scipy.sparse import csr_array, vstack

from ..reading.batches import Batch
from ..rows import Array, matrix_of
from ..theory.certificates import Inseparable, Separable, Undecided
from ..theory.separability import separability as separability_here
from .cluster import Cluster
from .partitions import is_collection, partitions_of
from .survey import classes_of, surveyed

HARD_ROWS = 200  # of each partition that join the proof in a round


def separability(
    X: Any,
    y: Any = None,
    *,
    fit_intercept: bool = True,
    client: Client | None = None,
    **reading: Any,
) -> Separable | Inseparable | Undecided:
    """Decide whether a hyperplane separates two classes on a cluster, with an exact proof.

    A few rows are judged here, as ``rosenblatt.separability`` judges all. Rows that clash among
    themselves settle it. Else the hyperplane found is checked exactly on every partition, and the
    rows nearest to it join the few; so only hard rows travel.

    Parameters
    ----------
    X, y, client, **reading
        As for ``fit``.
    fit_intercept : bool, default=True
        False asks about hyperplanes through the origin.

    Returns
    -------
    Separable, Inseparable or Undecided
        As ``rosenblatt.separability``; rows are numbered through all partitions.
    """
    cluster = Cluster(client)
    reading = reading if is_collection(X) else {"dtype": np.float64, **reading}
    found, parts = surveyed(cluster, partitions_of(X, y, None, True, reading).loaded(cluster))
    classes = classes_of(found, None, from_files=False)
    if len(classes) > 2:
        raise ValueError(
            f"y has {len(classes)} classes, and this is about two; give y == label for one of them."
        )
    width, firsts = max(one.width for one in found), np.cumsum([0, *(one.n_rows for one in found)])
    verdict, numbers, rows, signs = None, np.zeros(0, int), csr_array((0, width)), np.zeros(0)
    while True:
        about = verdict, classes[1], width, HARD_ROWS
        judged = cluster.again_when_lost(
            lambda: cluster.results(cluster.on_each("judge", judge, parts, *about))  # noqa: B023
        )
        if verdict is not None and all(one.right for one in judged):
            return replace(verdict, margin=min(one.margin for one in judged))
        hard = [(first, one) for first, one in zip(firsts, judged, strict=False) if not one.right]
        all_numbers = np.concatenate([numbers, *(first + one.numbers for first, one in hard)])
        before, (numbers, which) = len(numbers), np.unique(all_numbers, return_index=True)
        rows = vstack([rows, *(one.rows for _, one in hard)], "csr")[which]
        signs = np.concatenate([signs, *(one.signs for _, one in hard)])[which]
        if len(numbers) == before:
            return Undecided(-np.inf, np.inf)  # floats do not show which row is wrong
        verdict = separability_here(rows, signs, fit_intercept=fit_intercept)
        if isinstance(verdict, Inseparable):
            return replace(verdict, support=tuple(numbers[list(verdict.support)].tolist()))
        if isinstance(verdict, Undecided):
            return verdict


class Judged(NamedTuple):
    """Whether all rows of a partition are strictly right, their margin, and the hardest rows."""

    right: bool
    margin: float
    numbers: Array
    rows: Any
    signs: Array


def judge(
    batch: Batch, number: int, verdict: Separable | None, positive: Any, width: int, most: int
) -> Judged:
    """Check a hyperplane exactly; without one, take some rows of each class."""
    assert batch.labels is not None
    X = matrix_of(batch.rows, len(batch.labels), width).astype(np.float64)
    signs = np.where(batch.labels == positive, 1.0, -1.0)
    if verdict is None:
        right, margin = False, -np.inf
        hard = np.concatenate([np.flatnonzero(signs == sign)[: most // 2] for sign in (-1, 1)])
    else:
        w, b = np.array(verdict.weights, np.float64), float(verdict.bias)
        margins, length = signs * (X @ w + b), np.linalg.norm(w)
        hard, right = np.argsort(margins, kind="stable")[:most], verdict.verify(X, signs)
        margin = float(margins[hard[0]] / length) if length else np.inf
    return Judged(right, margin, hard, csr_array(X[hard]), signs[hard])
