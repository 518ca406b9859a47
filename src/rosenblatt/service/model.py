"""The served model: it learns the examples of a log in order and counts them."""

import base64
import copy
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import chain, compress
from typing import Any, NamedTuple

import numpy as np

from ..data.rows import Array
from ..data.weights import class_weights, row_weights
from ..learners.conformal import make_sets
from ..learners.linear import LinearLearner, TrainingRows
from ..reading.batches import Batch, slice_batch
from ..storage.model import Model
from ..training.state import pack_state
from .requests import BadExampleError, RequestError, parse_json
from .rows import make_row_maker

WINDOWS = (1_000, 10_000)
MOST_RECENT = WINDOWS[-1]
MOST_POINTS = 512
MOST_NEW_CLASSES = 100  # of one request
LARGEST = 1 << 30  # bytes of a model that grows by new classes
MOST_DEVIATIONS = 1e6
NO_CODES = np.zeros(0, np.intp)


class Progress:
    """Progressive errors: examples that were predicted wrongly before they were learnt.

    Of numbers they are absolute errors, where an error that causes no update counts as 0. It
    depends on the examples only, not on how they came together.
    """

    def __init__(self, kept: dict[str, Any] | None = None, numbers: bool = False) -> None:
        kept = kept or {}
        self.examples = int(kept.get("examples", 0))
        self.errors: float = kept.get("errors", 0)
        self.refused = int(kept.get("refused", 0))
        self.classes = {name: list(counts) for name, counts in kept.get("classes", {}).items()}
        self.step = int(kept.get("step", 1))
        self.curve: list[list[float]] = [list(point) for point in kept.get("curve", ())]
        stored = np.frombuffer(base64.b64decode(kept.get("recent", "")), np.uint8)
        if numbers:
            self.recent: Array = stored.view("<f4")
        else:
            self.recent = np.unpackbits(stored, count=min(self.examples, MOST_RECENT)).view(bool)

    def add(self, wrong: Array, labels: Sequence[Any] = ()) -> None:
        """Count more examples, also by label if there is one for each."""
        errors_of = Counter(compress(labels, wrong))
        for label, examples in Counter(labels).items():
            counts = self.classes.setdefault(str(label), [0, 0])  # examples, errors
            counts[0] += examples
            counts[1] += errors_of[label]
        more = wrong.astype(self.recent.dtype, copy=False)
        self.recent = np.append(self.recent, more)[-MOST_RECENT:]
        sums = np.cumsum(np.append(self.errors, wrong))  # in the order of the examples
        before = self.examples
        at = (before // self.step + 1) * self.step
        while at <= before + len(wrong):
            self.curve.append([at, sums[at - before].item()])
            if len(self.curve) == MOST_POINTS:
                self.curve, self.step = self.curve[1::2], 2 * self.step
            at = (at // self.step + 1) * self.step
        self.examples += len(wrong)
        self.errors = sums[-1].item()

    def error(self, last: int | None = None) -> float | None:
        """The share of wrong predictions among all or the last examples; None without examples."""
        if not self.examples:
            return None
        if last is None:
            return self.errors / self.examples
        return float(self.recent[-last:].mean(dtype=np.float64))

    def as_json(self) -> dict[str, Any]:
        """All counts, for a model file; the last errors as bits, or in single precision."""
        recent = self.recent if self.recent.dtype != bool else np.packbits(self.recent)
        return {
            "examples": self.examples,
            "errors": self.errors,
            "refused": self.refused,
            "classes": {name: list(counts) for name, counts in self.classes.items()},
            "recent": base64.b64encode(recent.tobytes()).decode(),
            "step": self.step,
            "curve": list(self.curve),
        }


class ServedModel:
    """A linear model that learns the examples of a log.

    Attributes
    ----------
    learner
        What has been learnt.
    maker
        Makes rows of requests.
    sequence : int
        The last example that has been learnt.
    most_classes : int or None
        Labels that it does not know become classes up to this number, unless it is None.
    log : int
        The identity of the log that the examples are of, 0 before there is one.
    progress : Progress
        The errors on the way.
    """

    learner: Any
    maker: Any

    def __init__(self, model: Model, name: str) -> None:
        self.kept, self.name = model._replace(checkpoint=None), name
        self.most_classes: int | None = None
        about = model.facts.get("service") or {}
        self.log, self.sequence = int(about.get("log", 0)), int(about.get("sequence", 0))
        self.progress = Progress(about.get("progress"), model.target == "numbers")
        if not model.is_linear:
            raise ValueError(f"{name} is a {model.estimator}; only linear models are served.")
        self.learner = LinearLearner.from_model(model)
        self.maker = make_row_maker(self.learner)

    def check_learning(self) -> None:
        """Refuse a model that cannot learn from a stream."""
        reason = self.learner.refusal("stream")
        if reason:
            raise ValueError(f"{self.name}: {reason}")

    def check_growing(self) -> None:
        """Refuse a model that cannot learn new labels."""
        reason = self.learner.refusal("add_class")
        if self.learner.multilabel:
            reason = "it gives a row any number of labels"
        if reason:
            raise ValueError(f"{self.name} cannot learn new labels: {reason}.")

    @property
    def has_numbers(self) -> bool:
        """Whether the model predicts numbers."""
        return bool(self.learner.target_kind == "numbers")

    @property
    def has_classes(self) -> bool:
        """Whether the model predicts one label of some for each row."""
        return not (self.learner.multilabel or self.has_numbers)

    # Learning

    def learn(self, given: Batch) -> None:
        """Learn examples in their order; a new label becomes a class at its first example."""
        done = 0
        for row, label in enumerate(given.labels if self.has_classes else ()):
            if label not in self.learner.codes:
                if row > done:
                    self.learn_known(slice_batch(given, done, row))
                self.learner, done = self.learner.with_class(label), row
        self.learn_known(slice_batch(given, done, len(given.labels)) if done else given)

    def learn_known(self, given: Batch) -> None:
        """Learn examples of known labels; skip one that overflows the weights."""
        rows, wrong = self.encode(given)
        self.learner.calibration = None  # it is that of other weights
        try:
            self.learner.learn(rows, wrong)
        except ValueError:
            if len(wrong) > 1:
                for row in range(len(wrong)):
                    self.learn_known(slice_batch(given, row, row + 1))
                return
            wrong[:] = not self.has_numbers
            self.progress.refused += 1
        shown = wrong * self.learner.numbers.scale if self.has_numbers else wrong
        self.progress.add(shown, given.labels if self.has_classes else ())
        self.sequence += len(wrong)

    def encode(self, given: Batch) -> tuple[TrainingRows, Array]:
        """Rows with the numbers of their labels, or flags of classes; and no error of any yet."""
        labels, known, wanted = given.labels, self.learner.codes, self.learner.parameters
        wrong: Array = np.zeros(len(labels), np.float64 if self.has_numbers else np.bool_)
        if self.has_numbers:
            codes = np.asarray(self.learner.numbers.encode(labels.astype(np.float64)))
        elif self.learner.multilabel:
            codes = np.zeros((len(labels), len(self.learner.classes)), bool)
            for row, some in enumerate(labels):
                codes[row, [known[label] for label in some]] = True
        else:
            codes = np.array([known[label] for label in labels], np.intp)
        of_class = class_weights(wanted.get("class_weight"), self.learner.classes, NO_CODES)
        weights = row_weights(codes, given.weights, of_class)
        return TrainingRows.of(given.rows, codes, weights, given.width), wrong

    def skip(self, sequence: int, learner: Any) -> None:
        """Count an example that cannot be learnt; the learner is the one before it."""
        self.learner = learner  # without a class that the example brought
        self.sequence = sequence
        self.progress.refused += 1

    def make(self, texts: list[str]) -> Batch:
        """Make rows from examples of the log, with the same functions as for requests.

        Limits that may have changed since the examples were taken are not checked again.
        """
        values = [parse_json(text, row) for row, text in enumerate(texts, 1)]
        given: Batch = self.maker.make(values, labelled=True)
        self.check_labels(given)
        return given

    # Copies to predict with and to save

    def make_predictor(self) -> "Predictor":
        """A copy to predict with, which learning does not change."""
        return Predictor(self, self.learner.predictor(), self.sequence)

    def model(self) -> Model:
        """A copy of all that a model file holds, with the number of the last example learnt."""
        learner, kept = self.learner, self.kept
        about = {"log": self.log, "sequence": self.sequence, "progress": self.progress.as_json()}
        facts = {**kept.facts, "service": about}
        if learner.calibration is None:
            facts.pop("calibration", None)
        if len(learner.classes) > len(kept.classes):
            facts.pop("class_rows", None)  # of the file that the model was trained from
        if learner.conformal is not None:
            facts["conformal"] = learner.conformal.as_dict()
        return kept._replace(
            classes=learner.classes, states=copy.deepcopy(learner.states), facts=facts
        )

    def check_learnable(self, given: Batch) -> Batch:
        """Return the rows of requests; refuse those that cannot be learnt."""
        new = self.check_labels(given)
        if new and self.most_classes is None:
            self.refuse_label(*next(iter(new.items())))
        self.check_growth(new)
        self.check_sizes(given)
        return given

    def refuse_label(self, label: Any, row: int) -> None:
        """Refuse a label that the model does not know."""
        known = ", ".join(str(one) for one in self.learner.classes[:10].tolist())
        sentence = f"the label {str(label)[:40]!r} is not among {known}"
        raise BadExampleError(sentence, row, self.maker.label)

    def check_labels(self, given: Batch) -> dict[Any, int]:
        """Return the labels that are new and their rows; refuse one that no model file can hold."""
        new: dict[Any, int] = {}  # in their order; a request may have thousands
        if self.has_numbers:
            return new
        several = self.learner.multilabel
        if not several and self.learner.codes.keys() >= {*given.labels}:
            return new
        for row, found in enumerate(given.labels, 1):
            for label in found if several else (found,):
                if label in self.learner.codes or label in new:
                    continue
                if isinstance(label, str) and not label.isprintable():
                    sentence = f"the label {label[:40]!r} has characters that cannot be printed"
                    raise BadExampleError(sentence, row, self.maker.label)
                if several:
                    self.refuse_label(label, row)
                new[label] = row
        return new

    def check_growth(self, new: Collection[Any]) -> None:
        """Refuse more classes than the limits allow."""
        if not new:
            return
        count, most = len(self.learner.classes) + len(new), self.most_classes or 0
        if len(new) > MOST_NEW_CLASSES:
            raise BadExampleError(
                f"The request has {len(new):,} new labels; send at most {MOST_NEW_CLASSES} at once."
            )
        if count > most:
            raise BadExampleError(f"The model may have at most {most:,} classes.")
        arrays = [pack_state(state)[0].values() for state in self.learner.states]
        size = sum(array.nbytes for array in chain.from_iterable(arrays))
        needed = size * count / max(len(self.learner.states[0].bias), 1)
        if needed > LARGEST:
            raise BadExampleError(
                f"{count:,} classes would take {needed / 2**20:,.0f} MB, which is too much."
            )

    def check_sizes(self, given: Batch) -> None:
        """Refuse numbers far beyond those that the model was scaled for.

        One row of 10^15 deviations would decide every later prediction of a perceptron.
        """
        if not len(given.rows.values):
            return
        largest = float(np.nanmax(np.abs(given.rows.values)))
        if largest > MOST_DEVIATIONS:
            raise BadExampleError(
                f"A number is {largest:.2g}, in standard deviations if the model scales it; "
                f"at most {MOST_DEVIATIONS:.0e} is learnt."
            )


class Predictor(NamedTuple):
    """A copy of a model's weights to predict with, and the last example that they have learnt."""

    served: ServedModel
    learner: Any
    sequence: int

    def answer(self, made: Batch, coverage: float | None = None) -> dict[str, Any]:
        """The label, the scores and, of a calibrated model, the probabilities of each row.

        A score is a number for two classes, else one for each class. With a coverage there are
        also prediction sets, or intervals of numbers, whose infinite ends JSON has as null.
        """
        learner, numbers = self.learner, self.served.has_numbers
        activations = learner.scores(made.rows, made.width)
        chosen, sets = learner.choose(activations), dict[str, Any]()
        if coverage is not None and learner.conformal is None:
            what = "intervals" if numbers else "sets"
            sentence = f"The model gives no prediction {what}; conformal training is needed."
            raise RequestError(400, "no-conformal", sentence)
        if coverage is not None:
            found = make_sets(learner, coverage, warns=False)(activations)
            if numbers:
                sets["intervals"] = round_numbers(found)
            else:
                sets["sets"] = [learner.classes[flags].tolist() for flags in found]
        if numbers:
            return {"labels": round_numbers(chosen), **sets}
        if learner.multilabel:
            labels = [learner.classes[flags].tolist() for flags in chosen]
        else:
            labels = learner.classes[chosen].tolist()
        answer = {"labels": labels, "scores": round_numbers(activations)}
        if learner.calibration is not None:
            found = learner.calibration.probabilities(activations, chosen)
            answer["probabilities"] = round_numbers(found)
        return answer | sets


def round_numbers(numbers: Array) -> list[Any]:
    """Numbers with nine digits, which is what single precision has."""
    flat = [float(f"{number:.9g}") for number in numbers.ravel().tolist()]
    if numbers.ndim < 2:
        return flat
    width = numbers.shape[1]
    return [flat[begin : begin + width] for begin in range(0, len(flat), width)]
