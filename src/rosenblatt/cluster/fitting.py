"""Training on a cluster: an estimator and its data become a run, and the run a model."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from os import PathLike
from typing import Any, NamedTuple, TypeVar

from distributed import Client

from ..data.labels import UnknownLabelError
from ..estimators.base import OnlineEstimator, make_seed, unchanged_by_errors
from ..estimators.linear import LinearClassifier
from ..estimators.regressors import LinearRegressor
from ..parameters import (
    CLUSTER,
    RULE_NAMES,
    RULE_TABLE,
    Parameter,
    ParameterError,
    check_parameters,
)
from ..training.rules import PERCEPTRON, RULES, UpdateRule
from .checkpoint import ClusterCheckpoint
from .client import Cluster, WorkersLostError
from .partitions import make_partitions
from .rounds import Round, print_round
from .rows import RowSource
from .run import ClusterRun

E = TypeVar("E", bound=OnlineEstimator[Any])


def fit(
    estimator: E,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    classes: Iterable[Any] | None = None,
    mode: str = "mixing",
    mix: str | None = None,
    client: Client | None = None,
    checkpoint: str | PathLike[str] | None = None,
    resume: bool = False,
    patience: float = 30.0,
    report: Callable[[Round], None] | None = None,
    **reading: Any,
) -> E:
    """Fit a classifier or regressor on a Dask cluster by iterative parameter mixing.

    After McDonald, Hall & Mann (2010). The model depends on the data, their partitions and
    ``random_state`` only, not on the number of workers or on workers that die. One partition gives
    exactly the result of ``estimator.fit``.

    Parameters
    ----------
    estimator : Perceptron or one of the family, or a regressor
        What to fit, with ``solution`` "last" or "average" and ``order`` "each", "once" or "fixed".
    X : dask array, dask data frame, dask bag of paths, path, pattern, folder or list of these
        The rows. Arrays may have dense or CSR blocks; a file is a partition.
    y : dask array or series, array or str, default=None
        Their labels, or the name of a column of a data frame; None for files.
    sample_weight : dask array, default=None
        Weights of the rows.
    classes : iterable, default=None
        All labels; without them they are collected first.
    mode : {"mixing", "sequential"}, default="mixing"
        "sequential" passes the model from partition to partition: exactly what one machine does
        with ``order="fixed"``, and no faster.
    mix : {"uniform", "mistakes", "confidence"}, default=None
        How the weights of partitions are averaged: all alike, by the mistakes of each partition,
        or each weight by its precision. The default is "confidence" for rules with variances
        (``AROW``, ``SCW``, the diagonal ``SecondOrderPerceptron``) and "uniform" for others.
    client : distributed.Client, default=None
        The cluster; without one, the client made last.
    checkpoint : path-like, default=None
        Write the mixed model here after each epoch.
    resume : bool, default=False
        Whether to resume from the checkpoint, if there is one.
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
    rule = find_rule(estimator)
    mix = default_mix(rule) if mix is None else mix
    given = Given(X, y, sample_weight, classes, reading)
    source = make_row_source(parameters | {"mode": mode, "mix": mix}, rule, given)
    training = Training(source, parameters, mode, mix, ClusterCheckpoint(checkpoint, resume))
    cluster = Cluster(client, patience)
    if report is None and parameters["verbose"]:
        report = partial(print_round, numbers=rule.target == "numbers")
    with unchanged_by_errors(estimator):
        run = training.run(cluster, report)
        learner = training.finish(run)
        learner.parameters = parameters
        plain = run.prepared.plain and run.relays  # mixed weights are no sum of mistakes
        facts = {**run.prepared.facts, "plain": plain}
        estimator.take_over(learner, run.epochs, run.stop_reason, facts)
        estimator.mixing_ = run.summarize()
    for note in source.list_notes(cluster):
        warnings.warn(note, stacklevel=2)
    return estimator


def find_rule(estimator: Any) -> UpdateRule:
    """The update rule of an estimator; that of the perceptron if it has no choice."""
    names = (RULE_NAMES.get(kind.__name__) for kind in type(estimator).__mro__)
    return RULES[next(filter(None, names), PERCEPTRON.name)]


class Given(NamedTuple):
    """The data that ``fit`` was given, and options of reading if they are files."""

    X: Any
    y: Any
    weights: Any
    classes: Any
    reading: dict[str, Any]


def make_row_source(values: dict[str, Any], rule: UpdateRule, given: Given) -> RowSource:
    """Check the parameters of a linear model, and find its partitions."""
    X, y, weights, classes, reading = given
    check_supported(values, RULE_TABLE[rule.name].parameters, rule)
    return RowSource(make_partitions(X, y, weights, reading), rule, classes)


def check_supported(
    values: dict[str, Any], table: Mapping[str, Parameter], rule: UpdateRule
) -> None:
    """Refuse parameters that are out of range or that a cluster does not support."""
    check_parameters(values, {**table, **CLUSTER}, "cluster")
    if values["mode"] == "mixing":
        refuse_unmixable(rule, values)


def default_mix(rule: UpdateRule) -> str:
    """How the partitions of a rule are mixed by default."""
    return "confidence" if rule.has_variances else "uniform"


def refuse_unmixable(rule: UpdateRule, values: Mapping[str, Any]) -> None:
    """Refuse a rule that keeps more than weights, and a way of mixing that it does not have."""
    if not rule.can_mix:
        raise ParameterError(
            f"Partitions cannot be mixed by {rule.name}, which keeps more than weights; use "
            'mode="sequential" or one machine.',
            code="cluster-rule",
        )
    mix = values["mix"]
    if rule.has_variances != (mix == "confidence"):
        raise ParameterError(
            f'mix="{mix}" does not go with {rule.name}; use mix="{default_mix(rule)}".',
            code="mix-of-rule",
        )


class Training(NamedTuple):
    """Everything that a training on a cluster needs."""

    source: RowSource
    parameters: dict[str, Any]
    mode: str
    mix: str
    checkpoint: ClusterCheckpoint

    def run(self, cluster: Cluster, report: Callable[[Round], None] | None) -> ClusterRun:
        """Train in one pass over files if that is enough, else on rows that the workers keep."""
        if self.source.can_stream(self.parameters):
            try:
                return self.run_once(cluster, report, streams=True)
            except UnknownLabelError:
                if self.source.classes is not None:
                    raise
        return self.run_once(cluster, report, streams=False)

    def run_once(
        self, cluster: Cluster, report: Callable[[Round], None] | None, streams: bool
    ) -> ClusterRun:
        """Train until all problems have stopped."""
        begun, seed = self.checkpoint.load(), self.parameters["random_state"]
        if begun is not None and seed is None:
            seed = begun.parameters["random_state"]
        parameters = self.parameters | {"random_state": make_seed(seed)}
        prepared = self.source.prepare(cluster, parameters, streams)
        run = ClusterRun(cluster, prepared, self.mode, self.mix)
        if not run.relays:
            refuse_unmixable(prepared.learner.rule, parameters | {"mix": self.mix})
        if begun is not None:
            self.checkpoint.restore(run, begun)

        def after(done: Round) -> None:
            if report is not None:
                report(done)
            self.checkpoint.save(run, self.finish)

        run.after_round = after
        try:
            run.train()
        except WorkersLostError as lost:
            advice = self.checkpoint.describe(run)
            raise WorkersLostError(f"The workers are lost: {lost}. {advice}") from lost.__cause__
        return run

    def finish(self, run: ClusterRun) -> Any:
        """The learner with what was learnt so far."""
        states = run.outcomes if run.stop_reason else [one.state for one in run.problems]
        return self.source.finish(run.cluster, run.prepared, states)
