"""Proofs on a cluster that a hyperplane separates two classes; only hard rows travel."""

from typing import Any

import numpy as np
from distributed import Client

from ..data.rows import to_matrix
from ..parameters import ParameterError
from ..reading.batches import Batch
from ..theory.certificates import Inseparable, Separable, Undecided
from ..theory.separability import Judged, judge, separability_of_partitions
from .client import Cluster
from .partitions import is_collection, make_partitions
from .rows import collect_classes, summarize_partitions

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
    X : dask array, dask data frame, dask bag of paths, path, pattern, folder or list of these
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
    found, parts = summarize_partitions(cluster, data.load(cluster))
    classes = collect_classes(found, None, from_files=False)
    if len(classes) > 2:
        raise ParameterError(
            f"y has {len(classes)} classes, and a proof is about two; pass y == label for one of "
            "them.",
            code="many-classes",
        )
    width, firsts = max(one.width for one in found), np.cumsum([0, *(one.n_rows for one in found)])

    def ask(plane: Separable | None) -> list[Judged]:
        about = plane, classes[1], width, firsts.tolist(), HARD_ROWS
        return cluster.ask_each("judge", judge_batch, parts, *about)

    return separability_of_partitions(ask, fit_intercept=fit_intercept)


def judge_batch(
    batch: Batch,
    number: int,
    plane: Separable | None,
    positive: Any,
    width: int,
    firsts: list[int],
    most: int,
) -> Judged:
    """What ``judge`` says of the rows of a partition."""
    assert batch.labels is not None
    X = to_matrix(batch.rows, len(batch.labels), width).astype(np.float64)
    signs = np.where(batch.labels == positive, 1.0, -1.0)
    return judge(X, signs, plane, firsts[number], most)
