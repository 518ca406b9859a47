"""Test a model on a file, or on the rows of its training file that were held out."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..data.results import Result
from ..data.rows import Array, n_rows
from ..data.splits import EVERY_ROW, Split
from ..data.targets import ClassTarget, NumberScore, NumberTarget, Score
from ..learners.conformal import make_sets
from ..learners.linear import LinearLearner
from ..parameters import ParameterError
from ..reading.batches import Batch, known_labels
from ..reading.reader import Reader
from ..training.scoring import Held, find_rarer
from .curves import KeptScores
from .data import ExampleFile
from .decisions import find_positive, find_probabilities, make_decision
from .evaluation import (
    Evaluation,
    FileResult,
    LabelSetEvaluation,
    NumberEvaluation,
    RankEvaluation,
)

MOST_CALIBRATING = 2**16  # rows; of more an even sample, which would hardly change


class HeldOut(NamedTuple):
    """The rows of a file that were not learnt from, to test a learner on."""

    batches: Iterable[Batch]
    target: ClassTarget | NumberTarget
    split: Split = EVERY_ROW

    def scores(self, learner: LinearLearner) -> Iterator[tuple[Array, Array]]:
        """Yield the scores of the rows and the codes of their labels, batch by batch."""
        row = count = 0
        for batch in self.batches:
            held = self.split.held_out(row, n_rows(batch.rows))
            codes = self.target.encode(known_labels(batch, row), row, held)[held]
            yield learner.scores(batch.rows, batch.width)[held], codes
            row, count = row + len(held), count + len(codes)
        if not count:
            raise ParameterError(
                f"holdout={self.split.share!r} held no row out; take a larger share.",
                code="holdout-empty",
            )

    def validate(self, learner: LinearLearner, problems: list[int]) -> dict[int, float]:
        """Return the scores of some problems by the metric: the share of the rows that are right.

        A label that is not a class counts as an error, and not at all in other metrics.
        """
        if not isinstance(self.target, ClassTarget):
            found = self.score(learner).as_dict()["r2"]
            return dict.fromkeys(problems, np.nan if found is None else float(found))
        if learner.parameters["metric"] != "error":
            return self.measure(learner, problems)
        right, count = np.zeros(len(learner.states)), 0
        for scores, codes in self.scores(learner):
            right += learner.right(scores, codes).sum(axis=0)
            count += len(codes)
        return {problem: float(right[problem] / count) for problem in problems}

    def measure(self, learner: LinearLearner, problems: list[int]) -> dict[int, float]:
        """Return the scores of some problems by a metric that needs the scores of all rows."""
        scores, codes = self.known_scores(learner)
        own = scores if learner.problems in ([None], [1]) else None
        return {
            k: learner.validation_score(k, (scores[:, k] if own is None else own), codes)
            for k in problems
        }

    def known_scores(self, learner: LinearLearner) -> tuple[Array, Array]:
        """Return the scores of all rows whose label is a class, and the codes of these."""
        scores, codes = map(np.concatenate, zip(*self.scores(learner), strict=True))
        known = codes >= 0 if codes.ndim == 1 else np.ones(len(codes), bool)
        return scores[known], codes[known]

    def figure(self, learner: LinearLearner, metric: str) -> dict[str, Any] | None:
        """Return a metric of the rows with its name; None if ``score`` has it or it is undefined.

        Average precision is of one class, and names it.
        """
        own = ("error", "rank-error", *(["f1"] if self.target.label_sets else []))
        if metric in own or not isinstance(self.target, ClassTarget):
            return None
        scores, codes = self.known_scores(learner)
        codes = codes if codes.ndim == 1 else codes[:, : len(self.target.classes)]
        value = Held(codes, scores, learner.choose(scores)).measure(metric)
        if not np.isfinite(value):
            return None
        rarer = name_rarer(metric, codes, self.target.classes)
        return {"metric": metric, "value": float(value), **rarer}

    def score(self, learner: LinearLearner) -> Score | NumberScore:
        """Count the rows that a learner gets wrong, or add up its errors."""
        result = self.target.new_score()
        for scores, codes in self.scores(learner):
            result.compare(learner.choose(scores), codes)
        return result

    def calibrate(self, learner: LinearLearner) -> None:
        """Fit probabilities, sets and intervals of a learner to the scores of the rows."""
        kept = KeptScores(MOST_CALIBRATING)
        for scores, codes in self.scores(learner):
            if isinstance(self.target, ClassTarget):
                scores, codes = scores[codes >= 0], codes[codes >= 0]
            kept.add(scores, codes)
        learner.calibrate(*kept.join())


def name_rarer(metric: str, codes: Array, classes: Array) -> dict[str, str]:
    """Return the rarer of two classes, which average precision is about, as an entry of facts."""
    two = metric == "average-precision" and codes.ndim == 1 and len(classes) == 2
    return {"positive_class": str(classes[find_rarer(codes)])} if two else {}


def evaluate(
    learner: Any,
    data: Reader | ExampleFile | Iterable[Batch],
    tell: Callable[[int], None] | None = None,
    threshold: float | None = None,
    coverage: float | None = None,
    positive_class: Any = None,
    keep: Callable[[Array, Array], None] | None = None,
) -> Result:
    """Compare the predictions of a model with the labels of a file, in bounded memory.

    The result is an ``Evaluation``; where rows have label sets a ``LabelSetEvaluation``, of ranks a
    ``RankEvaluation``, of numbers a ``NumberEvaluation``, of other examples a ``Result``.

    Parameters
    ----------
    learner
        The model.
    data
        The file, opened as the model's training file was, or batches of its rows.
    tell
        Receives the bytes read so far.
    threshold
        The decision threshold, as for ``make_decision``.
    coverage
        Also measure the coverage of prediction sets or intervals of this coverage.
    positive_class
        The one of two classes that the threshold, average precision and curves are about; the
        second one by default.
    keep
        Receives the labels of each batch, and its errors by row.
    """
    if isinstance(data, ExampleFile):
        data.refuse(threshold=threshold, coverage=coverage, positive_class=positive_class)
        return data.evaluate(learner, tell, keep)
    positive = find_positive(learner, positive_class)
    result, decide = new_evaluation(learner, positive), make_decision(learner, threshold, positive)
    row = 0
    if coverage is not None:
        result.sets = make_sets(learner, coverage)
    for batch, scores in scored(learner, data):
        labels = result.read_labels(batch, row)
        errors = result.add(labels, decide(scores), scores, batch.ids)
        row += n_rows(batch.rows)
        if keep is not None:
            keep(labels, errors)
        if tell is not None:
            tell(batch.bytes_read)
    return result


def new_evaluation(learner: Any, positive: int = 1) -> FileResult:
    """Return counts without rows for the target of a model; ``positive``: of two classes."""
    if learner.target_kind == "numbers":
        return NumberEvaluation(learner.target)
    if learner.multilabel:
        return LabelSetEvaluation(learner.classes)
    kind = RankEvaluation if learner.target_kind == "ranks" else Evaluation
    return kind(learner.classes, find_probabilities(learner), positive)


def scored(learner: Any, data: Reader | Iterable[Batch]) -> Iterator[tuple[Batch, Array]]:
    """Yield each batch with the scores of its rows; those of a reader in the threads that read."""
    learner.prepare()

    def score(batch: Batch) -> Array:
        return np.asarray(learner.scores(batch.rows, batch.width))

    if isinstance(data, Reader):
        return data.each(score)
    return ((batch, score(batch)) for batch in data)
