"""Proving: whether a hyperplane separates two classes, while only hard rows travel."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from distributed import Client
from scipy import sparse

from ..reading.batches import Batch
from ..rows import Array, matrix_of
from ..theory.certificates import Inseparable, Separable, Undecided
from ..theory.separability import separability as separability_here
from .cluster import Cluster, current_client
from .partitions import partitions_of
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
    cluster = Cluster(client or current_client())
    reading = reading if hasattr(X, "dask") else {"dtype": np.float64, **reading}
    found, parts = surveyed(cluster, partitions_of(X, y, None, True, reading).loaded(cluster))
    classes = classes_of(found, None, from_files=False)
    if len(classes) > 2:
        raise ValueError(
            f"y has {len(classes)} classes, and this is about two; give y == label for one of them."
        )
    firsts = np.cumsum([0, *(one.n_rows for one in found)])
    width, verdict = max(one.width for one in found), None
    few: list[Judged] = []
    while True:

        def judged(verdict: Any = verdict) -> list[Judged]:
            asked = zip(parts, firsts, strict=False)
            questions = [(part, int(first), verdict, classes[1], width) for part, first in asked]
            return cluster.results([cluster.submit("judge", judge, *one) for one in questions])

        answers = cluster.again_when_lost(judged)
        if verdict is not None and all(one.right for one in answers):
            return replace(verdict, margin=min(one.margin for one in answers))
        before, few = few, [*few, *(one for one in answers if not one.right)]
        numbers, X, signs = together(few)
        if before and len(numbers) == len(together(before)[0]):
            return Undecided(-np.inf, np.inf)  # no float shows the row that is wrong
        verdict = separability_here(X, signs, fit_intercept=fit_intercept)
        if isinstance(verdict, Inseparable):
            return replace(verdict, support=tuple(numbers[list(verdict.support)].tolist()))
        if isinstance(verdict, Undecided):
            return verdict


class Judged(NamedTuple):
    """Whether all rows of a partition are strictly right, their margin, and the hardest rows."""

    right: bool
    margin: float
    numbers: Array
    X: Any
    signs: Array


def judge(
    batch: Batch, first_row: int, verdict: Separable | None, positive: Any, width: int
) -> Judged:
    """Check a hyperplane exactly; without one, take some rows of each class."""
    assert batch.labels is not None
    X = matrix_of(batch.rows, len(batch.labels), width).astype(np.float64)
    signs = np.where(batch.labels == positive, 1.0, -1.0)
    if verdict is None:
        halves = [np.flatnonzero(signs == sign)[: HARD_ROWS // 2] for sign in (-1, 1)]
        hard, right, margin = np.concatenate(halves), False, -np.inf
    else:
        w, b = np.array(verdict.weights, np.float64), float(verdict.bias)
        margins = signs * (X @ w + b)
        hard, right = np.argsort(margins, kind="stable")[:HARD_ROWS], verdict.verify(X, signs)
        length = np.linalg.norm(w)
        margin = float(margins[hard[0]] / length) if length else np.inf
    return Judged(right, margin, first_row + hard, X[hard], signs[hard])


def together(few: list[Judged]) -> tuple[Array, Any, Array]:
    """The numbers, rows and signs of all rows that travelled, each once."""
    numbers, which = np.unique(np.concatenate([one.numbers for one in few]), return_index=True)
    rows = [one.X for one in few]
    if any(map(sparse.issparse, rows)):
        X = sparse.vstack([sparse.csr_array(part) for part in rows], "csr")
    else:
        X = np.vstack(rows)
    return numbers, X[which], np.concatenate([one.signs for one in few])[which]
