"""Training on a cluster: an estimator and its data become a run, and the run a model."""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any, TypeVar

from distributed import Client

from ..estimators.base import OnlineEstimator, unchanged_by_errors
from ..estimators.linear import LinearClassifier
from ..estimators.regressors import LinearRegressor
from ..jobs.job import FileJob
from ..parameters import FILES, RANK_RULES, RULE_NAMES, RULE_TABLE, ParameterError, check_parameters
from ..reading.recipe import FeatureRecipe
from ..slices import find_by_format
from ..storage.file import save_model
from ..storage.model import Model
from ..training.plan import IN_MEMORY_ROWS, make_plan
from ..training.rules import PERCEPTRON, RULES, UpdateRule
from .client import Cluster, WorkersLostError, connect
from .partitions import make_partitions, partition_files
from .rows import prepare_rows
from .run import ClusterRun, Mixing, Round, print_round

E = TypeVar("E", bound=OnlineEstimator[Any])


def fit(
    estimator: E,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    classes: Iterable[Any] | None = None,
    client: Client | None = None,
    checkpoint: str | PathLike[str] | None = None,
    patience: float = 30.0,
    report: Callable[[Round], None] | None = None,
    **reading: Any,
) -> E:
    """Fit a classifier or regressor on a Dask cluster by iterative parameter mixing.

    After McDonald, Hall & Mann (2010): each epoch trains every partition from the same weights and
    takes the mean; that of rules with variances (``AROW``, ``SCW``, the diagonal
    ``SecondOrderPerceptron``) weighs each weight by its precision. The model depends on the data,
    their partitions and ``random_state`` only, not on the number of workers or on workers that die.
    One partition gives exactly the result of ``estimator.fit``.

    Parameters
    ----------
    estimator : Perceptron or one of the family, or a regressor
        What to fit, with ``solution`` "last" or "average" and ``order`` "each", "once" or "fixed".
    X : dask array, dask data frame, path, pattern, folder or list of these
        The rows. Arrays may have dense or CSR blocks; a file is a partition.
    y : dask array or series, array or str, default=None
        Their labels, or the name of a column of a data frame; None for files.
    sample_weight : dask array, default=None
        Weights of the rows.
    classes : iterable, default=None
        All labels; without them they are collected first.
    client : distributed.Client, default=None
        The cluster; without one, the client made last.
    checkpoint : path-like, default=None
        Write the mixed model here after each epoch.
    patience : float, default=30.0
        How many seconds to wait for a worker when there are none.
    report : callable, default=None
        Called with a Round after each epoch; without it, ``verbose`` prints a line.
    **reading
        For files: the options of ``read``, such as ``label`` and ``text``.

    Returns
    -------
    LinearClassifier or LinearRegressor
        The estimator, with the attribute ``mixing_`` besides its usual ones.

    See Also
    --------
    predict : Labels on the cluster.
    Mixing : The attributes of ``mixing_``.
    rosenblatt.train : The same on one machine, in a stream.

    References
    ----------
    McDonald, Hall & Mann (2010), "Distributed training strategies for the structured perceptron",
    Proceedings of NAACL, 456-464.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from distributed import Client
    >>> from rosenblatt import Perceptron
    >>> rows, labels = np.array([[2.0], [3.0], [-1.0], [-2.0]]), np.array([1, 1, 0, 0])
    >>> with Client(processes=False, n_workers=1, dashboard_address=None):
    ...     model = fit(Perceptron(order="fixed"), da.from_array(rows, 2), da.from_array(labels, 2))
    >>> model.stop_reason_, model.mixing_.rows
    ('separated', (2, 2))
    """
    if not isinstance(estimator, LinearClassifier | LinearRegressor):
        raise TypeError(f"{type(estimator).__name__} cannot be trained on a cluster.")
    parameters = estimator.get_params(deep=False)
    names = (RULE_NAMES.get(kind.__name__) for kind in type(estimator).__mro__)
    rule = RULES[next(filter(None, names), PERCEPTRON.name)]
    check_supported(parameters, RULE_TABLE[rule.name].parameters, rule)
    data, cluster = make_partitions(X, y, sample_weight, reading), Cluster(client, patience)
    if report is None and parameters["verbose"]:
        report = partial(print_round, rule.target)
    with unchanged_by_errors(estimator):
        prepared = prepare_rows(cluster, data, rule, classes, parameters)
        run = ClusterRun(cluster, prepared)
        train_rows(run, report, checkpoint)
        learner = run.finish()
        learner.parameters = parameters
        estimator.take_over(learner, run.epochs, run.stop_reason, prepared.facts)
        estimator.name_columns()
        estimator.mixing_ = Mixing(run.rows, tuple(run.rounds))
    for note in prepared.notes:
        warnings.warn(note, stacklevel=2)
    return estimator


def check_supported(values: Any, table: Any, rule: UpdateRule) -> None:
    """Refuse parameters that are out of range or that a cluster does not support."""
    check_parameters(values, table, "cluster")
    if not rule.can_mix:
        raise ParameterError(
            f"Partitions cannot be mixed by {rule.name}, which keeps more than weights; use one "
            "machine.",
            code="cluster-rule",
        )


def train_rows(
    run: ClusterRun, report: Callable[[Round], None] | None, checkpoint: str | PathLike[str] | None
) -> None:
    """Train until all problems have stopped; after each epoch report it and write the model."""
    try:
        for done in run.updates():
            if report is not None:
                report(done)
            if checkpoint is not None:
                save_model(checkpoint, run.build_model())
    except WorkersLostError as lost:
        kept = f" The model after epoch {len(run.rounds)} is in {checkpoint}."
        said = kept if checkpoint is not None and run.rounds else ""
        raise WorkersLostError(f"The workers are lost: {lost}.{said}") from lost.__cause__


# The shell


def train(
    data: str,
    reading: dict[str, Any],
    asked: FileJob,
    address: str,
    checkpoint: str | PathLike[str] | None = None,
) -> Model:
    """Train a model from files on a cluster, as ``jobs.files.train`` does on one machine.

    Parameters
    ----------
    data, reading
        The files, and the options of ``read``.
    asked
        The request, and what reports epochs and notes; a cluster takes neither windows nor rows to
        test with.
    address
        As for ``connect``.
    checkpoint
        As for ``fit``.
    """
    found, request = find_by_format(data, reading.get("format")), asked.request
    if found is not None:
        raise ParameterError(
            f"cluster trains models of rows, and {data} holds {found[0].examples}; leave it out.",
            code="cluster-rows",
        )
    if request.ordinal is not None or request.rule in RANK_RULES:
        raise ParameterError(
            "cluster trains models of classes and numbers, but the labels are "
            "ranks; leave it out: a single machine learns a file of any size as a stream.",
            code="cluster-ranks",
        )
    files = partition_files(data, reading)
    recipe = FeatureRecipe(**files.features["recipe"])
    alone = replace(request, window=0, holdout=None, progress_every=0)
    known = replace(IN_MEMORY_ROWS, texts=len(recipe.text), numbers=bool(recipe.numbers))
    plan = make_plan(alone, known)
    if plan.unresolved:
        assert files.reader is not None
        plan = plan.complete(files.reader.mean_square())
    rule, parameters = RULES[plan.rule], dict(plan.parameters)
    values = {**parameters, **request.options}
    check_supported(values, {**RULE_TABLE[plan.rule].parameters, **FILES}, rule)
    with connect(address) as client:
        cluster = Cluster(client)
        asked.reporter.target = rule.target
        prepared = prepare_rows(cluster, files, rule, request.classes, parameters)
        run = ClusterRun(cluster, prepared)
        train_rows(run, lambda done: asked.reporter.epoch(done.epoch), checkpoint)
        for note in prepared.notes:
            asked.reporter.note(note)
        return run.build_model()
