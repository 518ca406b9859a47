"""Rows on a cluster: a summary of the partitions, a learner for them, and what workers keep."""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..data.labels import check_classes, find_classes
from ..data.rows import Array
from ..data.targets import ClassTarget, LabelCounts, NumberTarget, as_numbers
from ..data.weights import refuse_one_class, rows_that_count
from ..estimators.base import make_seed
from ..kernels.algebra import largest_squared_norm
from ..learners.linear import LinearLearner, TrainingRows
from ..parameters import ParameterError
from ..reading.batches import get_labels
from ..reading.notices import left_out
from ..training.report import Note
from ..training.rules import PERCEPTRON, UpdateRule
from .client import Cluster, WorkersLostError
from .partitions import (
    Loaded,
    LoadedPartition,
    Partitions,
    list_notices,
    name_partition,
    view_read_only,
)
from .run import Prepared


class Found(NamedTuple):
    """What the driver must know of a partition.

    ``statistics`` are mean, deviation and median of labels that are numbers.
    """

    n_rows: int
    width: int
    dense: bool
    dtype: Any
    weighted: bool
    squared_radius: float
    notices: tuple[tuple[str, str], ...]
    bad: int
    labels: LabelCounts
    statistics: tuple[float, float, float] | None = None


def summarize_partition(loaded: Loaded, number: int = 0, numbers: bool = False) -> Found:
    """Summarize a partition."""
    batch, notices, bad = loaded
    rows, labels = view_read_only(batch.rows), get_labels(batch)
    every = rows_that_count(labels, None)
    found = Found(
        n_rows=len(labels),
        width=batch.width,
        dense=rows.indices is None,
        dtype=rows.values.dtype,
        weighted=batch.weights is not None,
        squared_radius=float(largest_squared_norm(rows, every)),
        notices=notices,
        bad=bad,
        labels=LabelCounts(),
    )
    if not numbers or not len(labels):
        return found._replace(labels=found.labels.add(labels, every))
    known = as_numbers(labels)
    statistics = float(known.mean()), float(known.std()), float(np.median(known))
    return found._replace(statistics=statistics)


def summarize_partitions(
    cluster: Cluster, data: Partitions, numbers: bool = False
) -> tuple[list[Found], list[Any], list[Note]]:
    """Summarize the partitions that have rows; return summaries, partitions, and all notices."""
    parts = cluster.client.compute(data.parts)
    try:
        found = cluster.ask_each(summarize_partition, parts, numbers)
    except WorkersLostError as lost:
        raise WorkersLostError(f"Workers were lost before the first epoch: {lost}.") from lost
    full = [number for number, one in enumerate(found) if one.n_rows]
    if not full:
        raise ParameterError("There are no rows to learn from.", code="no-rows")
    notices = [] if data.reader is None else list_notices(data.reader)
    notices += [pair for one in found for pair in one.notices]
    notes, bad = [Note(*pair) for pair in dict.fromkeys(notices)], sum(one.bad for one in found)
    notes += [Note(left_out(bad), "skipped-rows")] if bad else []
    return [found[number] for number in full], [parts[number] for number in full], notes


def pool_labels(found: list[Found]) -> LabelCounts:
    """The counts of the labels of all partitions."""
    types = [one.labels.dtype for one in found]
    if len({dtype.kind in "biuf" for dtype in types}) > 1:
        raise ParameterError(
            "Some partitions have numbers as labels and some have words; use one type.",
            code="mixed-labels",
        )
    counts = sum((Counter(one.labels.counts) for one in found), Counter())
    return LabelCounts(counts, dtype=np.result_type(*types))


def find_target(
    labels: LabelCounts,
    named: Iterable[Any] | None,
    parameters: Mapping[str, Any],
    from_files: bool,
) -> ClassTarget:
    """What labels mean and weigh; those of files may be written in several ways."""
    if from_files:
        return labels.target(parameters, None if named is None else tuple(named), None)
    if named is not None:
        return labels.target(parameters, None, check_classes(named))
    met = np.unique(np.array(list(labels.counts), labels.dtype))
    return labels.target(parameters, None, met if len(met) > 1 else find_classes(met))


def pool_statistics(found: list[Found]) -> NumberTarget:
    """The scale of the numbers of all partitions.

    The median, by which only a baseline is made, is the mean of theirs.
    """
    means, deviations, medians = np.transpose([one.statistics for one in found])
    rows = [one.n_rows for one in found]
    mean, median = np.average(means, weights=rows), np.average(medians, weights=rows)
    variance = np.average(deviations**2 + (means - mean) ** 2, weights=rows)
    return NumberTarget.of(float(mean), float(np.sqrt(variance)), float(median))


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
    radius = partial(max, [one.squared_radius for one in found])
    return LinearLearner.begin(parameters, classes, (width, np.dtype(dtype)), radius, rule=rule)


def prepare(
    loaded: Loaded, number: int, target: Any, learner: LinearLearner, width: int
) -> LoadedPartition:
    """A partition with class numbers for labels, in the type and width of all partitions."""
    batch = loaded.batch
    with name_partition(number):
        values = batch.rows.values.astype(learner.dtype, copy=False)
        typed = batch._replace(rows=batch.rows._replace(values=values), width=width)
        return LoadedPartition(learner, TrainingRows.encode(typed, target))


def list_learnt(part: LoadedPartition, number: int) -> Array:
    """The class numbers in a partition of rows with a weight above 0; of numbers one."""
    codes = part.given.codes[part.given.row_order]
    return codes[:1] if codes.dtype.kind == "f" else np.unique(codes)


def prepare_rows(
    cluster: Cluster, data: Partitions, rule: UpdateRule, named: Any, parameters: dict[str, Any]
) -> Prepared:
    """Begin a learner, and leave the rows encoded in the memory of the workers."""
    parameters = parameters | {"random_state": make_seed(parameters["random_state"])}
    numbers, from_files = rule.labels.target is NumberTarget, data.reader is not None
    found, parts, notes = summarize_partitions(cluster, data, numbers)
    facts: dict[str, Any] = {}
    target: ClassTarget | NumberTarget = NumberTarget()
    if not numbers:
        labels = pool_labels(found)
        target = find_target(labels, named, parameters, from_files)
        facts["class_rows"] = [labels.counts.get(one, 0) for one in target.classes.tolist()]
    elif from_files:  # their numbers are scaled as on one machine
        target = pool_statistics(found)
    learner = begin_learner(found, target.classes, parameters, rule, from_files)
    learner.features = data.features
    if isinstance(target, NumberTarget):
        learner.numbers = target
    settings = target, learner.without_weights(), learner.width
    parts = cluster.submit_each(prepare, parts, *settings)
    learnt = np.unique(np.concatenate(cluster.ask_each(list_learnt, parts)))
    weighted = bool(parameters.get("class_weight")) or any(one.weighted for one in found)
    if weighted:
        refuse_one_class(learnt, np.arange(len(learnt)))
    textbook = learner.rule is PERCEPTRON and not np.any(parameters["margin"])
    # a mean is not a sum of mistakes
    facts["plain"] = textbook and not weighted and len(found) == 1
    return Prepared(learner, parts, [one.n_rows for one in found], facts, notes)
