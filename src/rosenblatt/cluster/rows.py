"""Rows on a cluster: a summary of the partitions, a learner for them, and what workers keep."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..data.labels import UnknownLabelError, check_classes, encode, find_classes
from ..data.rows import Array
from ..data.targets import ClassTarget, NumberTarget, as_numbers
from ..data.weights import balance, class_weights, refuse_one_class, rows_that_count
from ..estimators.base import make_seed
from ..kernels.algebra import largest_squared_norm
from ..learners.linear import LinearLearner, TrainingRows
from ..parameters import ParameterError
from ..reading.batches import Batch, get_labels
from ..training.rules import PERCEPTRON, UpdateRule
from .client import Cluster, WorkersLostError
from .partitions import LoadedPartition, Partitions, name_partition, view_read_only
from .run import Prepared


class Found(NamedTuple):
    """What the driver must know of a partition.

    ``counts`` are the rows of each class, and ``counting`` those of a weight above 0; numbers count
    as one class. ``statistics`` are mean, deviation and median of numbers.
    """

    n_rows: int
    width: int
    dense: bool
    dtype: Any
    classes: Array
    counts: Array
    counting: Array
    weighted: bool
    squared_radius: float
    statistics: tuple[float, float, float] | None = None


def summarize_partition(batch: Batch, number: int = 0, numbers: bool = False) -> Found:
    """Summarize a partition."""
    rows, labels = view_read_only(batch.rows), get_labels(batch)
    classes, codes = (NumberTarget.classes, as_numbers(labels)) if numbers else encode(labels)
    learnt, counting = rows_that_count(codes, None), rows_that_count(codes, batch.weights)
    groups, statistics = (np.zeros(len(codes), np.intp) if numbers else codes), None
    if numbers and len(learnt):
        known = codes[learnt]
        statistics = float(known.mean()), float(known.std()), float(np.median(known))
    return Found(
        len(codes),
        batch.width,
        rows.indices is None,
        rows.values.dtype,
        classes,
        np.bincount(groups[learnt], minlength=max(len(classes), 1)),
        np.bincount(groups[counting], minlength=max(len(classes), 1)),
        batch.weights is not None,
        float(largest_squared_norm(rows, learnt)),
        statistics,
    )


def summarize_partitions(
    cluster: Cluster, parts: list[Any], numbers: bool = False
) -> tuple[list[Found], list[Any]]:
    """Summarize the partitions that have rows; return the summaries and these partitions."""
    try:
        found = cluster.ask_each("survey", summarize_partition, parts, numbers)
    except WorkersLostError as lost:
        raise WorkersLostError(f"Workers were lost before the first epoch: {lost}.") from lost
    full = [number for number, one in enumerate(found) if one.n_rows]
    if not full:
        raise ParameterError("There are no rows to learn from.", code="no-rows")
    return [found[number] for number in full], [parts[number] for number in full]


def collect_classes(found: list[Found], named: Iterable[Any] | None, from_files: bool) -> Array:
    """The labels of all partitions, sorted, or those that were named."""
    if len({one.classes.dtype.kind in "biuf" for one in found}) > 1:
        raise ParameterError(
            "Some partitions have numbers as labels and some have words; use one type.",
            code="mixed-labels",
        )
    met = np.unique(np.concatenate([one.classes for one in found]))
    if named is not None:
        classes = check_classes(named, met.dtype if from_files else None)
        unknown = np.setdiff1d(met, classes)
        if len(unknown):
            raise ParameterError(
                f"The label {unknown.tolist()[0]!r} is not among classes; add it there.",
                code="unknown-label",
            )
        return classes
    if from_files:
        return find_classes(met)
    if len(met) < 2:
        raise UnknownLabelError(
            f"y has only one class, {met.tolist()[0]!r}; rows of at least two are needed.",
            code="one-class",
        )
    return met


def pool_statistics(found: list[Found]) -> NumberTarget:
    """The scale of the numbers of all partitions.

    The median, by which only a baseline is made, is the mean of theirs.
    """
    measured = [one for one in found if one.statistics]
    if not measured:
        return NumberTarget()
    means, deviations, medians = np.transpose([one.statistics for one in measured])
    rows = np.array([one.counts[0] for one in measured])
    mean, median = np.average(means, weights=rows), np.average(medians, weights=rows)
    variance = np.average(deviations**2 + (means - mean) ** 2, weights=rows)
    return NumberTarget.of(float(mean), float(np.sqrt(variance)), float(median))


def find_target(found: list[Found], classes: Array, parameters: Mapping[str, Any]) -> ClassTarget:
    """What labels mean and weigh."""
    weight = parameters["class_weight"]
    if isinstance(weight, str) and weight == "balanced":
        of_class: Array | None = balance(classes, count_by_class(found, classes, "counts"))
    else:
        of_class = class_weights(weight, classes, np.arange(len(classes)))
    return ClassTarget(classes, of_class)


def refuse_weightless(found: list[Found], target: ClassTarget) -> None:
    """Refuse rows if all have weight 0, or all but those of one class."""
    if target.class_weight is not None or any(one.weighted for one in found):
        counting = count_by_class(found, target.classes, "counting")
        weighed = counting if target.class_weight is None else counting * target.class_weight
        refuse_one_class(np.arange(len(counting)), np.flatnonzero(weighed))


def count_by_class(found: list[Found], classes: Array, name: str) -> Array:
    """The rows of each class in all partitions."""
    counts = np.zeros(len(classes), int)
    for one in found:
        counts[np.searchsorted(classes, one.classes)] += getattr(one, name)
    return counts


def begin_learner(
    found: list[Found],
    classes: Array,
    parameters: Mapping[str, Any],
    rule: UpdateRule,
    may_widen: bool,
) -> LinearLearner:
    """An untrained model for the rows of all partitions."""
    width = max(one.width for one in found)
    for number, one in enumerate(found):
        if one.width != width and (one.dense or not may_widen):
            raise ParameterError(
                f"Partition {number} has {one.width} columns and another {width}; give all the "
                "same columns.",
                code="other-columns",
            )
    dtype = np.float32 if all(one.dtype == np.float32 for one in found) else np.float64
    step = parameters["intercept_step"]
    if step == "radius":
        step = max(one.squared_radius for one in found)
    step = float(step) if parameters["fit_intercept"] else 0.0
    return LinearLearner.begin(parameters, classes, (width, np.dtype(dtype)), step, rule=rule)


def prepare(
    batch: Batch,
    number: int,
    target: ClassTarget | NumberTarget,
    learner: LinearLearner,
    width: int,
) -> LoadedPartition:
    """A batch with class numbers for labels, in the type and width of all partitions."""
    with name_partition(number):
        values = batch.rows.values.astype(learner.dtype, copy=False)
        typed = batch._replace(rows=batch.rows._replace(values=values), width=width)
        given = TrainingRows.encode(typed, target)
        if isinstance(target, ClassTarget):
            small = np.min_scalar_type(len(learner.classes))
            given = given._replace(codes=given.codes.astype(small, copy=False))
        return LoadedPartition(learner, given)


def prepare_rows(
    cluster: Cluster,
    data: Partitions,
    rule: UpdateRule,
    named: Iterable[Any] | None,
    parameters: dict[str, Any],
) -> Prepared:
    """Begin a learner, and leave the rows encoded in the memory of the workers."""
    parameters = parameters | {"random_state": make_seed(parameters["random_state"])}
    numbers = rule.target == "numbers"
    found, parts = summarize_partitions(cluster, data.load(cluster), numbers)
    target: ClassTarget | NumberTarget = NumberTarget()
    if not numbers:
        target = find_target(found, collect_classes(found, named, data.from_files), parameters)
        refuse_weightless(found, target)
    elif data.from_files:  # their numbers are scaled as on one machine
        target = pool_statistics(found)
    learner = begin_learner(found, target.classes, parameters, rule, data.from_files)
    learner.features = data.features
    if isinstance(target, NumberTarget):
        learner.numbers = target
    settings = target, learner.without_weights(), learner.width
    parts = cluster.submit_each("prepare", prepare, parts, *settings)
    cluster.retry_when_lost(lambda: cluster.wait(parts))  # to know where they are
    textbook = learner.rule is PERCEPTRON and not np.any(parameters["margin"])
    weighted = parameters.get("class_weight") is not None or any(one.weighted for one in found)
    counts = count_by_class(found, target.classes, "counts").tolist()
    return Prepared(
        learner,
        parts,
        [one.n_rows for one in found],
        plain=textbook and not weighted,
        squared_radius=max(one.squared_radius for one in found),
        facts={} if numbers else {"class_rows": counts},
    )
