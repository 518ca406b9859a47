"""What the labels of a file mean: class numbers, weights of rows, and which rows are held out."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..data.labels import LabelSets, codes_of, encode, find_codes, known_classes, met_classes, tidy
from ..data.rows import Array, n_rows
from ..data.splits import Split
from ..data.weights import balanced, class_weights, row_weights
from ..learners.linear import LinearLearner, TrainingRows
from ..parameters import ParameterError
from ..reading.batches import Batch, labels_of
from ..training.calibration import calibrated
from .evaluate import Score

MOST_CALIBRATING = 100_000  # rows: more say nothing new of so few numbers


class Coder(NamedTuple):
    """Turns batches into rows to learn from: the classes, their weights, and who is held out."""

    classes: Array
    of_class: Array | None
    holdout: float
    seed: int

    @property
    def split(self) -> Split:
        """The rows that are held out."""
        return Split(self.holdout, self.seed)

    def rows(self, batch: Batch, first_row: int) -> TrainingRows:
        """The rows of a batch that begins at some row of its file."""
        codes = self.codes(batch, first_row)
        if codes.ndim == 2:
            codes = codes[:, : len(self.classes)]
        of_class = self.of_class if np.any(self.of_class != 1) else None
        weights = row_weights(codes, batch.weights, of_class)
        if self.split:
            held = self.split.held_out(first_row, len(codes))
            weights = np.where(held, 0.0, 1.0 if weights is None else weights)
        return TrainingRows.of(batch.rows, codes, weights, batch.width)

    def codes(self, batch: Batch, first_row: int) -> Array:
        """The numbers of the labels of a batch; of sets of labels, which row has which.

        Labels that only rows held out have are no classes: they get the number -1, and of sets a
        column of their own.
        """
        sets: Any = batch.labels
        several = isinstance(sets, LabelSets)
        labels = tidy(sets.values if several else labels_of(batch, first_row))
        rows = sets.rows if several else np.arange(len(labels))
        codes = find_codes(labels, self.classes)
        held = self.split.held_out(first_row, n_rows(batch.rows))
        late = np.flatnonzero((codes < 0) & ~held[rows])
        if len(late):
            codes_of(labels[late], self.classes, first_row + 1, rows=rows[late])  # which refuses
        if not several:
            return codes
        count = len(self.classes)
        several_codes = np.where(codes < 0, count, codes)
        return np.asarray(sets.indicator(several_codes, count + bool(np.any(codes < 0))))

    def judged(
        self, learner: LinearLearner, batches: Iterable[Batch]
    ) -> Iterator[tuple[Array, Array]]:
        """The scores of the rows held out and the numbers of their labels, batch by batch."""
        row, count = 0, 0
        for batch in batches:
            codes = self.codes(batch, row)
            held = self.split.held_out(row, len(codes))
            yield learner.scores(batch.rows, batch.width)[held], codes[held]
            row, count = row + len(codes), count + int(np.count_nonzero(held))
        if not count:
            raise ParameterError(
                "{holdout} held no row out; take a larger share.",
                code="holdout-empty",
                holdout=self.holdout,
            )

    def accuracies(
        self, learner: LinearLearner, batches: Iterable[Batch], problems: list[int]
    ) -> dict[int, float]:
        """The share of the rows held out that some problems of a model get right, by number."""
        right, count = np.zeros(len(learner.states)), 0
        for scores, codes in self.judged(learner, batches):
            right += learner.right(scores, codes).sum(axis=0)
            count += len(codes)
        return {problem: float(right[problem] / count) for problem in problems}

    def score(
        self, learner: LinearLearner, batches: Iterable[Batch], calibrate: bool = False
    ) -> Score:
        """How many of the rows held out a model gets wrong; on these it may be calibrated, too."""
        result, kept = Score(), list[tuple[Array, Array]]()
        for scores, codes in self.judged(learner, batches):
            if calibrate and result.rows < MOST_CALIBRATING:
                kept.append((scores, codes))
            result.compare(learner.choose(scores), codes)
        if calibrate:
            scores, codes = map(np.concatenate, zip(*kept, strict=True))
            known = codes >= 0
            learner.calibration = calibrated(scores[known], codes[known], len(self.classes))
        return result


def coder_for(
    batches: Iterable[Batch],
    parameters: Mapping[str, Any],
    named: tuple[Any, ...] | None,
    holdout: float,
    classes: Array | None,
) -> Coder:
    """What labels mean, by the labels of batches, unless classes are named or known before."""
    counts: dict[Any, int] = {}
    split = Split(holdout, parameters["random_state"])
    row, least = 0, 2
    for batch in batches:
        labels, learnt = batch.labels, ~split.held_out(row, n_rows(batch.rows))
        if isinstance(labels, LabelSets):
            refuse_for_label_sets(parameters)
            labels, least = labels.values[learnt[labels.rows]], 1
        else:
            labels = labels_of(batch, row)[learnt]
        kinds, codes = encode(labels)
        for label, count in zip(kinds.tolist(), np.bincount(codes).tolist(), strict=True):
            counts[label] = counts.get(label, 0) + count
        row += n_rows(batch.rows)
    met = np.array(list(counts), labels.dtype)
    if classes is None and named is None:
        classes = met_classes(met, least)
    elif classes is None:
        classes = known_classes(named or (), met.dtype, least)
    weight, of_class = parameters["class_weight"], None
    if weight == "balanced":
        known = np.isin(tidy(met), classes)  # others are named with their row when they come
        codes = codes_of(tidy(met)[known], classes)
        of_each = np.array(list(counts.values()))[known]
        of_class = balanced(classes, np.bincount(codes, of_each, len(classes)))
    elif weight is not None:
        of_class = class_weights(weight, classes, np.zeros(0, np.intp))
    return Coder(classes, of_class, *split)


def refuse_for_label_sets(parameters: Mapping[str, Any]) -> None:
    """Refuse what has no meaning where a row may have several labels."""
    for name in "class_weight", "calibrate":
        if parameters[name]:
            raise ParameterError(
                f"{{{name}?}} is for rows of one label each, and these may have several; leave it "
                "out.",
                code="labels-option",
            )
