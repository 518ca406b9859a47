"""Proofs on a cluster that a hyperplane separates two classes; only hard rows travel."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from distributed import Client

from ..data.results import count
from ..data.rows import Array, stack_rows, to_matrix
from ..parameters import ParameterError
from ..theory.certificates import Inseparable, Separable, Undecided
from ..theory.problem import check_problem
from ..theory.separability import separability as decide
from .client import Cluster
from .partitions import Loaded, is_collection, make_partitions
from .rows import pool_labels, summarize_partitions

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

    The driver decides about a few rows, as ``rosenblatt.separability`` does about all. If they are
    inseparable, so are all rows. Otherwise every partition checks the hyperplane exactly and sends
    the rows nearest to it, and the driver tries again.

    Parameters
    ----------
    X : dask array, dask data frame, path, pattern, folder or list of these
        The rows.
    y : dask array or series, array or str, default=None
        Their labels, or the name of a column of a data frame; None for files.
    fit_intercept : bool, default=True
        False asks about hyperplanes through the origin.
    client : distributed.Client, default=None
        The cluster; without one, the client made last.
    **reading
        Of files: the options of ``read``, such as ``label`` and ``text``.

    Returns
    -------
    Separable, Inseparable or Undecided
        As ``rosenblatt.separability``; rows are numbered through all partitions.

    See Also
    --------
    rosenblatt.separability : The same on one machine.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from distributed import Client
    >>> rows, labels = np.array([[2.0], [3.0], [-1.0], [-2.0]]), np.array([1, 1, 0, 0])
    >>> with Client(processes=False, n_workers=1, dashboard_address=None):
    ...     verdict = separability(da.from_array(rows, 2), da.from_array(labels, 2))
    >>> type(verdict).__name__, verdict.verify(rows, labels)
    ('Separable', True)
    """
    cluster = Cluster(client)
    reading = reading if is_collection(X) else {"dtype": np.float64, **reading}
    data = make_partitions(X, y, None, reading)
    found, parts, _ = summarize_partitions(cluster, data)
    classes = sorted(pool_labels(found).counts)
    if len(classes) != 2:
        raise ParameterError(
            f"y has {count(len(classes), 'class')}, but a proof is about two; for others pass "
            "y == label.",
            code="many-classes",
        )
    width, firsts = max(one.width for one in found), np.cumsum([0, *(one.n_rows for one in found)])

    def ask(plane: Separable | None) -> list[Judged]:
        about = plane, classes[1], width, firsts.tolist(), HARD_ROWS
        return cluster.ask_each(judge, parts, *about)

    return separability_of_partitions(ask, fit_intercept=fit_intercept)


class Judged(NamedTuple):
    """A partition's answer: its margin, -∞ if a row is wrong, and its hardest rows."""

    margin: float
    numbers: Array
    X: Any
    signs: Array


def judge(
    loaded: Loaded, number: int, plane: Separable | None, positive: Any, width: int,
    firsts: list[int], most: int,
) -> Judged:  # fmt: skip
    """Check a hyperplane exactly on a partition; without one, choose some rows of each class.

    ``firsts`` has the number of each partition's first row in the whole data, ``most`` is the
    largest number of rows to send.
    """
    labels: Any = loaded.batch.labels
    X = to_matrix(loaded.batch.rows, len(labels), width).astype(np.float64)
    problem = check_problem(X, np.where(labels == positive, 1.0, -1.0))
    if plane is None:
        margin, signs = -np.inf, problem.signs
        hard = np.concatenate([np.flatnonzero(signs == sign)[: most // 2] for sign in (-1, 1)])
    else:
        w, b = np.array(plane.weights, np.float64), float(plane.bias)
        hard = np.argsort(problem.margins(w, b), kind="stable")[:most]
        margin = plane.measure(problem)
    return Judged(margin, firsts[number] + hard, problem.X[hard], problem.signs[hard])


def separability_of_partitions(
    ask: Callable[[Separable | None], Iterable[Judged]], *, fit_intercept: bool = True
) -> Separable | Inseparable | Undecided:
    """Decide separability over partitions; ``ask`` makes every partition ``judge`` a hyperplane.

    If the hard rows alone are inseparable, that is the answer. Otherwise the hyperplane found for
    them is checked on every partition, and the hardest rows there join them.
    """
    plane, known = None, np.empty(0, np.intp)
    rows, signs = [], []
    while True:
        judged = list(ask(plane))
        margin = min(part.margin for part in judged)
        if plane is not None and margin >= 0:
            return replace(plane, margin=margin)
        before = len(known)
        for part in judged:
            fresh = ~np.isin(part.numbers, known) & (part.margin < 0)
            known = np.concatenate([known, part.numbers[fresh]])
            rows.append(part.X[fresh])
            signs.append(part.signs[fresh])
        if len(known) == before:
            return Undecided(np.inf)
        X = stack_rows(rows)
        verdict = decide(X, np.concatenate(signs), fit_intercept=fit_intercept)
        if isinstance(verdict, Inseparable):
            return replace(verdict, support=tuple(known[list(verdict.support)].tolist()))
        if isinstance(verdict, Undecided):
            return verdict
        plane = verdict
