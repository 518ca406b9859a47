"""Training: what was asked for and what is found become a job, and a job becomes a model."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from functools import partial
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from distributed import Client

from ..classifiers.base import seed_of
from ..classifiers.perceptron import Perceptron
from ..labels import UnknownLabelError
from ..parameters import CLUSTER, LINEAR, Parameter, ParameterError, check
from ..storage.file import save_model
from ..storage.model import Model
from ..training.rules import UpdateRule
from .checkpoint import begun_model, model_of, refuse_several_best, restore
from .cluster import Cluster, WorkersLostError
from .job import Job, without_weights
from .partitions import FilePartition, Partitions, partitions_of
from .rounds import Round, printing
from .survey import classes_of, coder_for, learner_for, prepare, refuse_weightless, surveyed


def fit(
    estimator: Perceptron,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    classes: Iterable[Any] | None = None,
    mode: str = "mixing",
    mix: str = "uniform",
    client: Client | None = None,
    checkpoint: str | PathLike[str] | None = None,
    resume: bool = False,
    patience: float = 30.0,
    report: Callable[[Round], None] | None = None,
    **reading: Any,
) -> Perceptron:
    """Fit a Perceptron to data on a Dask cluster by iterative parameter mixing.

    McDonald, Hall & Mann (2010), "Distributed training strategies for the structured perceptron",
    NAACL. The model depends on the data, their partitions and ``random_state`` only, not on how
    many workers there are or which of them die. One partition gives exactly what
    ``estimator.fit`` does.

    Parameters
    ----------
    estimator : Perceptron
        What to fit, with ``solution`` "last" or "average" and ``order`` "each", "once" or "fixed".
    X : dask array, dask data frame, dask bag of paths, path, pattern, folder or list of these
        The rows. Arrays may have dense or CSR blocks; a file is a partition.
    y : dask array or series, array or str, default=None
        Their labels, or the name of a column of a data frame; None for files.
    sample_weight : dask array, default=None
        Weights of the rows.
    classes : iterable, default=None
        All labels; without them they are looked up first.
    mode : {"mixing", "sequential"}, default="mixing"
        "sequential" passes the model from partition to partition: exactly what one machine does
        with ``order="fixed"``, and no faster.
    mix : {"uniform", "mistakes"}, default="uniform"
        Whether each partition's weights count alike, or as much as it made mistakes.
    client : distributed.Client, default=None
        The cluster; without one, the client made last.
    checkpoint : path-like, default=None
        Write the mixed model here after each epoch.
    resume : bool, default=False
        Whether to go on from the checkpoint, if there is one.
    patience : float, default=30.0
        How many seconds to wait for a worker when there are none.
    report : callable, default=None
        Called with a Round after each epoch; without it, ``verbose`` prints a line.
    **reading
        Of files: the options of ``read``, such as ``label`` and ``text``.

    Returns
    -------
    Perceptron
        The estimator, with ``mixing_`` besides its usual attributes.
    """
    if not isinstance(estimator, Perceptron):
        raise TypeError(f"{type(estimator).__name__} cannot be trained on a cluster.")
    parameters, rule = estimator.get_params(deep=False), estimator._rule
    check_supported(parameters | {"mode": mode, "mix": mix}, LINEAR, rule)
    cluster = Cluster(client, patience)
    data = partitions_of(X, y, sample_weight, parameters["intercept_step"] == "radius", reading)
    kept = Kept(type(estimator).__name__, checkpoint, resume)
    training = Training(parameters, rule, data, mode, mix, classes, kept)
    lines = report is None and estimator.verbose
    told = printing(estimator.max_iter) if lines else nullcontext(report or (lambda _: None))
    with estimator._unchanged_by_errors(), told as tell:
        take_over(estimator, training.run(cluster, tell))
    return estimator


def check_supported(
    values: dict[str, Any], table: Mapping[str, Parameter], rule: UpdateRule
) -> None:
    """Refuse what is out of range or cannot be mixed."""
    check(values, {**table, **CLUSTER}, "cluster")
    if values["mode"] == "mixing" and rule.further:
        raise ParameterError(
            f'{{mode}} adds up weights, and {rule.name} keeps more; use {{mode="sequential"}}.',
            **values,
        )


def take_over(estimator: Perceptron, job: Job) -> None:
    """Give an estimator what was learnt."""
    learner = job.learner
    learner.states, learner.parameters = job.outcomes(), estimator.get_params(deep=False)
    estimator._keep(learner, job.histories)
    estimator.n_features_in_ = learner.width
    estimator.__dict__.pop("feature_names_in_", None)
    if "names" in learner.features:
        estimator.feature_names_in_ = np.array(learner.features["names"], object)
    estimator._plain = job.plain and job.relays  # mixed weights are no sum of mistakes
    estimator.mixing_ = job.mixing


class Kept(NamedTuple):
    """Whose model it is, where it is kept after each epoch, and whether to go on from there."""

    estimator: str
    path: str | PathLike[str] | None = None
    resume: bool = False

    def save(self, job: Job) -> None:
        """Write the model so far, if there is a place for it."""
        if self.path is not None:
            save_model(self.path, model_of(job, self.estimator))

    def hope(self, job: Job) -> str:
        """What to say when all workers are lost."""
        done = len(job.rounds)
        if self.path is None:
            return "With a checkpoint file one can go on from the last epoch."
        if done:
            return f"The model after epoch {done} is in {self.path}; resume from there."
        return "No epoch was complete."


class Training(NamedTuple):
    """All that a training is given; ``run`` makes it a job and does it."""

    parameters: dict[str, Any]
    rule: UpdateRule
    data: Partitions
    mode: str
    mix: str
    classes: Iterable[Any] | None
    kept: Kept

    def run(self, cluster: Cluster, tell: Callable[[Round], None]) -> Job:
        """Learn from files in one pass if that will do, else from rows that the workers keep."""
        if self.data.can_stream(self.parameters):
            try:
                return self.run_on(self.data.parts, cluster, tell)
            except UnknownLabelError:
                if self.classes is not None:
                    raise
        return self.run_on(self.data.loaded(cluster), cluster, tell)

    def run_on(self, parts: list[Any], cluster: Cluster, tell: Callable[[Round], None]) -> Job:
        """Learn from partitions until there is nothing left to do."""
        begun = begun_model(self.kept.path, self.kept.resume)
        job = self.job(parts, cluster, begun)
        if self.kept.path is not None:
            refuse_several_best(job)
        if begun is not None:
            restore(job, begun, self.kept.path)

        def after(job: Job) -> None:
            tell(job.rounds[-1])
            self.kept.save(job)

        try:
            job.train(after)
        except WorkersLostError as lost:
            hope = self.kept.hope(job)
            raise WorkersLostError(f"The workers are lost: {lost}. {hope}") from lost.__cause__
        return job

    def job(self, parts: list[Any], cluster: Cluster, begun: Model | None) -> Job:
        """The job for what is found in the partitions."""
        streams = isinstance(parts[0], FilePartition)
        found, parts = surveyed(cluster, parts)
        classes = classes_of(found, self.classes, self.data.from_files)
        parameters = self.parameters | {"random_state": self.seed(begun)}
        coder = coder_for(found, classes, parameters)
        learner = learner_for(found, classes, parameters, self.rule, self.data.from_files)
        learner.features = self.data.features
        if streams:
            parts = [part._replace(coder=coder) for part in parts]
        else:
            refuse_weightless(found, coder)
            settings = coder, without_weights(learner), learner.width
            parts = cluster.on_each("prepare", prepare, parts, *settings)
            cluster.again_when_lost(partial(cluster.wait, parts))  # to know where they are
        return Job(cluster, parts, found, learner, self.mode, self.mix)

    def seed(self, begun: Model | None) -> int:
        """What decides the permutations: that of the run to go on with, unless one is given."""
        given = self.parameters["random_state"]
        return seed_of(begun.parameters["random_state"] if begun and given is None else given)
