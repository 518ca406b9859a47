"""What the labels of a file mean: class numbers, weights of rows, and which rows are held out."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..data.labels import LabelSets, codes_of, encode, known_classes, met_classes, tidy
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

    def rows(self, batch: Batch, first_row: int) -> TrainingRows:
        """The rows of a batch that begins at some row of its file."""
        codes = self.codes(batch, first_row)
        of_class = self.of_class if np.any(self.of_class != 1) else None
        weights = row_weights(codes, batch.weights, of_class)
        if self.holdout:
            held = Split(self.holdout, self.seed).held_out(first_row, len(codes))
            weights = np.where(held, 0.0, 1.0 if weights is None else weights)
        return TrainingRows.of(batch.rows, codes, weights, batch.width)

    def codes(self, batch: Batch, first_row: int) -> Array:
        """The numbers of the labels of a batch; of sets of labels, which row has which."""
        sets = batch.labels
        if not isinstance(sets, LabelSets):
            return codes_of(tidy(labels_of(batch, first_row)), self.classes, first_row + 1)
        codes = codes_of(tidy(sets.values), self.classes, first_row + 1, rows=sets.rows)
        return sets.indicator(codes, len(self.classes))

    def score(
        self, learner: LinearLearner, batches: Iterable[Batch], calibrate: bool = False
    ) -> Score:
        """How many of the rows held out a model gets wrong; on these it may be calibrated, too."""
        result, row, kept = Score(), 0, list[tuple[Array, Array]]()
        for batch in batches:
            codes = self.codes(batch, row)
            held = Split(self.holdout, self.seed).held_out(row, len(codes))
            scores = learner.scores(batch.rows, batch.width)[held]
            codes_held = codes[held]
            if calibrate and result.rows < MOST_CALIBRATING:
                kept.append((scores, codes_held))
            result.compare(learner.choose(scores), codes_held)
            row += len(codes)
        if not result.rows:
            raise ParameterError(
                "{holdout} held no row out; take a larger share.", holdout=self.holdout
            )
        if calibrate:
            scores, codes = map(np.concatenate, zip(*kept, strict=True))
            learner.calibration = calibrated(scores, codes, len(self.classes))
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
    row, least = 0, 2
    for batch in batches:
        labels = batch.labels
        if isinstance(labels, LabelSets):
            refuse_for_label_sets(parameters)
            labels, least = labels.values, 1
        else:
            labels = labels_of(batch, row)
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
    seed = parameters["random_state"]
    return Coder(classes, of_class, holdout, seed)


def refuse_for_label_sets(parameters: Mapping[str, Any]) -> None:
    """Refuse what has no meaning where a row may have several labels."""
    for name in "class_weight", "calibrate":
        if parameters[name]:
            raise ParameterError(
                f"{{{name}?}} is for rows of one label each, and these may have several; leave it "
                "out."
            )
