"""Training: what was asked for and what is found become a job, and a job becomes a model."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from functools import partial
from os import PathLike
from typing import Any, NamedTuple

from distributed import Client

from ..data.labels import UnknownLabelError
from ..estimators.base import make_seed
from ..estimators.linear import LinearClassifier
from ..estimators.sequence import SequencePerceptron
from ..parameters import CLUSTER, Parameter, ParameterError, check_parameters
from ..storage.file import save_model
from ..storage.model import Model
from ..training.history import merge_epochs, stop_reason
from ..training.rules import UpdateRule
from .checkpoint import begun_model, build_model, restore
from .client import Cluster, WorkersLostError
from .job import Job, without_weights
from .partitions import FilePartition, Partitions, make_partitions
from .rounds import Round, printing
from .sentences import fit_sentences
from .statistics import (
    begin_learner,
    collect_classes,
    find_target,
    make_split,
    prepare,
    refuse_weightless,
    surveyed,
)


def fit(
    estimator: LinearClassifier | SequencePerceptron,
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
) -> LinearClassifier | SequencePerceptron:
    """Fit a linear classifier to data on a Dask cluster by iterative parameter mixing.

    After McDonald, Hall & Mann (2010). The model depends on the data, their partitions and
    ``random_state`` only, not on how many workers there are or which of them die. One partition
    gives exactly what ``estimator.fit`` does.

    Parameters
    ----------
    estimator : Perceptron or one of the family, or SequencePerceptron
        What to fit, with ``solution`` "last" or "average" and ``order`` "each", "once" or "fixed".
        A tagger takes dask bags of sentences and of their tags as X and y, or files of sentences,
        and besides only ``client``, ``patience`` and ``report``.
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
    mix : {"uniform", "mistakes", "confidence"}, default=None
        Whether each partition's weights count alike, as much as it made mistakes, or each as much
        as it is sure of it; the last where there are variances (``AROW``, ``SCW``, the diagonal
        ``SecondOrderPerceptron``), and there by default.
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
        Of files: the options of ``read``, such as ``label`` and ``text``; of files of sentences
        ``label`` and ``format``.

    Returns
    -------
    LinearClassifier or SequencePerceptron
        The estimator, with ``mixing_`` besides its usual attributes.

    See Also
    --------
    predict : Labels on the cluster.
    Mixing : What ``mixing_`` tells.
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
    lines = report is None and estimator.verbose
    told = printing(estimator.max_iter) if lines else nullcontext(report or (lambda _: None))
    if isinstance(estimator, SequencePerceptron):
        others = sample_weight, classes, mix, checkpoint, mode, resume
        if others != (None, None, None, None, "mixing", False):
            raise TypeError("A SequencePerceptron takes X, y, client, patience and report only.")
        with told as tell:
            return fit_sentences(estimator, X, y, Cluster(client, patience), tell, **reading)
    if not isinstance(estimator, LinearClassifier):
        raise TypeError(f"{type(estimator).__name__} cannot be trained on a cluster.")
    parameters, rule = estimator.get_params(deep=False), estimator._rule
    mix = usual_mix(rule) if mix is None else mix
    check_supported(parameters | {"mode": mode, "mix": mix}, estimator._parameters, rule)
    cluster = Cluster(client, patience)
    data = make_partitions(X, y, sample_weight, parameters["intercept_step"] == "radius", reading)
    kept = Kept(checkpoint, resume)
    training = Training(parameters, rule, data, mode, mix, classes, kept)
    with estimator._unchanged_by_errors(), told as tell:
        take_over(estimator, training.run(cluster, tell))
    for note in data.notes(cluster):
        warnings.warn(note, stacklevel=2)
    return estimator


def check_supported(
    values: dict[str, Any], table: Mapping[str, Parameter], rule: UpdateRule
) -> None:
    """Refuse what is out of range or cannot be mixed."""
    check_parameters(values, {**table, **CLUSTER}, "cluster")
    if values["mode"] == "mixing":
        refuse_unmixable(rule, values)


def usual_mix(rule: UpdateRule) -> str:
    """How the partitions of a rule are mixed unless somebody says."""
    return "confidence" if rule.has_variances else "uniform"


def refuse_unmixable(rule: UpdateRule, values: Mapping[str, Any]) -> None:
    """Refuse to mix what is more than weights, or otherwise than it can be."""
    if rule.arrays and not rule.has_variances:
        raise ParameterError(
            f"Partitions cannot be mixed by {rule.name}, which keeps more than weights; use "
            '{mode="sequential"} or one machine.',
            code="cluster-rule",
        )
    if rule.has_variances != (values["mix"] == "confidence"):
        raise ParameterError(
            f'{{mix}} does not go with {rule.name}; use {{mix="{usual_mix(rule)}"}}.',
            code="mix-of-rule",
            **values,
        )


def take_over(estimator: LinearClassifier, job: Job) -> None:
    """Give an estimator what was learnt."""
    learner = job.learner
    learner.states, learner.parameters = job.outcomes(), estimator.get_params(deep=False)
    histories = [history.epochs for history in job.histories]
    estimator.__dict__.pop("feature_names_in_", None)
    facts = {"plain": job.plain and job.relays}  # mixed weights are no sum of mistakes
    estimator.take_over(learner, merge_epochs(histories), stop_reason(job.histories), facts)
    estimator.mixing_ = job.mixing


class Kept(NamedTuple):
    """Where the model is kept after each epoch, and whether to go on from there."""

    path: str | PathLike[str] | None = None
    resume: bool = False

    def save(self, job: Job) -> None:
        """Write the model so far, if there is a place for it."""
        if self.path is not None:
            save_model(self.path, build_model(job))

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
        parameters = self.parameters | {"random_state": self.seed(begun)}
        found, parts = surveyed(cluster, parts, make_split(parameters))
        classes = collect_classes(found, self.classes, self.data.from_files)
        target = find_target(found, classes, parameters)
        learner = begin_learner(found, classes, parameters, self.rule, self.data.from_files)
        if self.mode == "mixing" and len(parts) > 1:
            refuse_unmixable(learner.rule, parameters | {"mix": self.mix})
        learner.features = self.data.features
        if streams:
            parts = [part._replace(target=target) for part in parts]
        else:
            refuse_weightless(found, target)
            settings = target, without_weights(learner), learner.width
            parts = cluster.on_each("prepare", prepare, parts, *settings)
            cluster.again_when_lost(partial(cluster.wait, parts))  # to know where they are
        return Job(cluster, parts, found, learner, self.mode, self.mix)

    def seed(self, begun: Model | None) -> int:
        """What decides the permutations: that of the run to go on with, unless one is given."""
        given = self.parameters["random_state"]
        return make_seed(begun.parameters["random_state"] if begun and given is None else given)
