"""What is found in the partitions, and what follows from it for all of them."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from ..data.labels import UnknownLabelError, check_classes, encode, find_classes
from ..data.rows import Array, refuse_not_finite, to_matrix
from ..data.splits import Split
from ..data.targets import ClassTarget
from ..data.weights import balance, class_weights, refuse_one_class, rows_that_count
from ..kernels.algebra import largest_squared_norm
from ..learners.linear import LinearLearner, TrainingRows
from ..reading.batches import Batch, get_labels
from ..training.rules import UpdateRule, choose_rule_form
from .client import Cluster, WorkersLostError
from .partitions import FilePartition, LoadedPartition, in_partition, seen_read_only

NO_SPLIT = Split()


class Found(NamedTuple):
    """What the driver must know of a partition.

    ``counts`` are the rows of each class, and ``counting`` those of a weight above 0.
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


def survey(part: Batch | FilePartition, split: Split = NO_SPLIT) -> Found:
    """Look at a batch, or at the first one of some files; rows held out are not counted."""
    batch = part.load(most=1) if isinstance(part, FilePartition) else part
    rows, (classes, codes) = seen_read_only(batch.rows), encode(get_labels(batch))
    learnt, counting = rows_that_count(codes, None), rows_that_count(codes, batch.weights)
    if split:
        with suppress(ValueError):  # of too few rows, which are refused when they are prepared
            counting, held = split.stratified(codes, counting)
            learnt = np.setdiff1d(learnt, held)
    return Found(
        len(codes),
        batch.width,
        rows.indices is None,
        rows.values.dtype,
        classes,
        np.bincount(codes[learnt], minlength=len(classes)),
        np.bincount(codes[counting], minlength=len(classes)),
        batch.weights is not None,
        float(largest_squared_norm(rows, learnt)),
    )


def surveyed(
    cluster: Cluster, parts: list[Any], split: Split = NO_SPLIT
) -> tuple[list[Found], list[Any]]:
    """What is found in the partitions that have rows, and these partitions.

    Of files that are streamed, only the first are looked at, until there are two labels.
    """
    streams = isinstance(parts[0], FilePartition)
    found: list[Found] = []
    for group in [[part] for part in parts] if streams else [parts]:

        def look(group: list[Any] = group) -> list[Found]:
            asked = [cluster.submit("survey", survey, part, split) for part in group]
            return cluster.results(asked)

        try:
            found += cluster.again_when_lost(look)
        except WorkersLostError as lost:
            raise WorkersLostError(
                f"The workers are lost before the first epoch: {lost}."
            ) from lost
        if len({label for one in found for label in one.classes.tolist()}) > 1:
            break
    full = [number for number, one in enumerate(found) if one.n_rows]
    if not full:
        raise ValueError("There are no rows to learn from.")
    return [found[number] for number in full], parts if streams else [parts[i] for i in full]


def make_split(parameters: Mapping[str, Any]) -> Split:
    """The rows of each partition that early stopping holds out."""
    share = parameters["validation_fraction"] if parameters["early_stopping"] else 0.0
    return Split(share, parameters["random_state"])


def collect_classes(found: list[Found], named: Iterable[Any] | None, from_files: bool) -> Array:
    """The labels of all partitions, sorted, or those that were named."""
    if len({one.classes.dtype.kind in "biuf" for one in found}) > 1:
        raise ValueError("Some partitions have numbers as labels and some have words.")
    met = np.unique(np.concatenate([one.classes for one in found]))
    if named is not None:
        classes = check_classes(named, met.dtype if from_files else None)
        unknown = np.setdiff1d(met, classes)
        if len(unknown):
            raise ValueError(f"The label {unknown.tolist()[0]!r} is not among the classes named.")
        return classes
    if from_files:
        return find_classes(met)
    if len(met) < 2:
        raise UnknownLabelError(
            f"y has only one class, {met.tolist()[0]!r}; rows of at least two are needed.",
            code="one-class",
        )
    return met


def find_target(found: list[Found], classes: Array, parameters: Mapping[str, Any]) -> ClassTarget:
    """What labels mean and weigh."""
    weight = parameters["class_weight"]
    if isinstance(weight, str) and weight == "balanced":
        of_class: Array | None = balance(classes, by_class(found, classes, "counts"))
    else:
        of_class = class_weights(weight, classes, np.arange(len(classes)))
    return ClassTarget(classes, of_class)


def refuse_weightless(found: list[Found], target: ClassTarget) -> None:
    """Refuse rows of which all weigh nothing, or all but those of one class."""
    if target.class_weight is not None or any(one.weighted for one in found):
        counting = by_class(found, target.classes, "counting")
        weighed = counting if target.class_weight is None else counting * target.class_weight
        refuse_one_class(np.arange(len(counting)), np.flatnonzero(weighed))


def by_class(found: list[Found], classes: Array, name: str) -> Array:
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
    """A model that has seen nothing, for the rows of all partitions."""
    width = max(one.width for one in found)
    for number, one in enumerate(found):
        if one.width != width and (one.dense or not may_widen):
            raise ValueError(
                f"Partition {number} has {one.width} columns and another {width}; give all the "
                "same columns."
            )
    dtype = np.float32 if all(one.dtype == np.float32 for one in found) else np.float64
    step = parameters["intercept_step"]
    if step == "radius":
        step = max(one.squared_radius for one in found)
    step = float(step) if parameters["fit_intercept"] else 0.0
    rule = choose_rule_form(rule, parameters, width, len(classes))
    return LinearLearner.begin(parameters, classes, (width, np.dtype(dtype)), step, rule=rule)


def prepare(
    batch: Batch, number: int, target: ClassTarget, learner: LinearLearner, width: int
) -> LoadedPartition:
    """A batch with class numbers for labels, in the type and width that all partitions have."""
    with in_partition(number):
        values = batch.rows.values.astype(learner.dtype, copy=False)
        typed = batch._replace(rows=batch.rows._replace(values=values), width=width)
        given = TrainingRows.encode(typed, target)
        small = np.min_scalar_type(len(learner.classes))
        given = given._replace(codes=given.codes.astype(small, copy=False))
        settings = learner.parameters
        split = make_split(settings)
        if not split:
            return LoadedPartition(given)
        refuse_not_finite(to_matrix(given.rows, len(given.codes), width))
        row_order, held = split.stratified(given.codes, given.row_order)
        return LoadedPartition(given._replace(row_order=row_order), held)
