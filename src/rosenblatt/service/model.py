"""The served model: it learns the examples of a log in order and counts them."""

import base64
import copy
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from ..data.rows import Array, rows_between
from ..data.weights import class_weights, row_weights
from ..kernels.algebra import Rows
from ..learners.conformal import make_sets
from ..learners.linear import LinearLearner, TrainingRows
from ..reading.batches import Batch
from ..storage.model import Model
from .requests import BadExampleError, NoSetsError, parse_json
from .rows import Learnable, make_row_maker

WINDOWS = (1_000, 10_000)
MOST_RECENT = WINDOWS[-1]
MOST_POINTS = 512
MOST_NEW_CLASSES = 100  # of one request
LARGEST = 1 << 30  # bytes of a model that grows by new classes
MOST_DEVIATIONS = 1e6


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
        dtype = np.float32 if numbers else np.bool_
        self.recent: Array = np.zeros(WINDOWS[-1], dtype)  # the n-th is at n modulo the length
        if "recent" in kept:
            stored = np.frombuffer(base64.b64decode(kept["recent"]), np.uint8)
            shown = stored.view("<f4") if numbers else np.unpackbits(stored)
            self.recent[:] = shown[: len(self.recent)]
        self.classes = {name: list(counts) for name, counts in kept.get("classes", {}).items()}
        self.step = int(kept.get("step", 1))
        self.curve: list[list[float]] = [list(point) for point in kept.get("curve", ())]

    def add(self, wrong: Array, labels: Sequence[Any] = ()) -> None:
        """Count more examples, also by label if there is one for each."""
        errors_of = Counter(compress(labels, wrong))
        for label, examples in Counter(labels).items():
            counts = self.classes.setdefault(str(label), [0, 0])  # examples, errors
            counts[0] += examples
            counts[1] += errors_of[label]
        length, before = len(self.recent), self.examples
        places = np.arange(before, before + len(wrong))[-length:] % length
        self.recent[places] = wrong[-length:]
        sums = np.cumsum(np.append(self.errors, wrong))  # in the order of the examples
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
        count = self.examples if last is None else min(last, self.examples)
        if not count:
            return None
        if last is None:
            return self.errors / count
        places = np.arange(self.examples - count, self.examples) % len(self.recent)
        return float(self.recent[places].sum(dtype=np.float64)) / count

    def pack_recent(self) -> bytes:
        """The last errors as bytes: bits, or numbers in single precision."""
        flags = self.recent.dtype == bool
        return (np.packbits(self.recent) if flags else self.recent.astype("<f4")).tobytes()

    def as_json(self) -> dict[str, Any]:
        """All counts, for a model file."""
        return {
            "examples": self.examples,
            "errors": self.errors,
            "refused": self.refused,
            "recent": base64.b64encode(self.pack_recent()).decode(),
            "classes": self.classes,
            "step": self.step,
            "curve": self.curve,
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
        self.set_class_weights()

    def set_class_weights(self) -> None:
        """Set the class weights from the parameters of the model."""
        weights = self.learner.parameters.get("class_weight")
        self.of_class = class_weights(weights, self.learner.classes, np.zeros(0, np.intp))

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

    def warm_up(self) -> None:
        """Compile all kernels before the first request; the model does not change."""
        if self.maker.of_lines:
            values: list[Any] = ["1 1:0" if self.maker.recipe.rows == "svmlight" else "1 | a"]
        else:
            values = [dict.fromkeys(self.maker.names, self.maker.sample)]
        given = self.maker.make(values, labelled=False)
        self.learner.predictor().scores(given.rows, given.width)
        other = copy.deepcopy(self.learner)
        label = 0.0 if self.has_numbers else self.learner.classes.tolist()[0]
        codes = self.encode([[label] if self.learner.multilabel else label])
        weights = row_weights(codes, given.weights, self.of_class)
        other.learn(TrainingRows.of(given.rows, codes, weights, given.width), self.no_errors(1))

    @property
    def has_numbers(self) -> bool:
        """Whether the model predicts numbers."""
        return bool(self.learner.target_kind == "numbers")

    def no_errors(self, count: int) -> Array:
        """An error of 0 for each of some examples."""
        return np.zeros(count, np.float64 if self.has_numbers else np.bool_)

    # Learning

    def learn(self, given: Learnable) -> None:
        """Learn examples in their order; a new label becomes a class at its first example."""
        labels, done = given.labels or [], 0
        no_classes = self.learner.multilabel or self.has_numbers
        if no_classes or self.learner.codes.keys() >= {*labels}:
            self.learn_known(given)
            return
        for row, label in enumerate(labels):
            if label not in self.learner.codes:
                if row > done:
                    self.learn_known(given.part(done, row))
                self.learner, done = self.learner.with_class(label), row
                self.set_class_weights()
        self.learn_known(given.part(done, len(labels)))

    def learn_known(self, given: Learnable) -> None:
        """Learn examples of known labels; skip one that overflows the weights."""
        codes = self.encode(given.labels or [])
        weights = row_weights(codes, given.weights, self.of_class)
        wrong = self.no_errors(len(codes))
        self.learner.calibration = None  # it is that of other weights
        try:
            rows = TrainingRows.of(given.rows, codes, weights, given.width)
            self.learner.learn(rows, wrong)
        except ValueError:
            wrong[:] = False
            for row in range(len(codes)):
                self.learn_alone(given, codes, weights, row, wrong)
        alone = not (self.learner.multilabel or self.has_numbers)
        shown = wrong * self.learner.numbers.scale if self.has_numbers else wrong
        self.progress.add(shown, given.labels or () if alone else ())
        self.sequence += len(codes)

    def encode(self, labels: list[Any]) -> Array:
        """The number of each label, or for label sets a flag for each class."""
        if self.has_numbers:
            return np.asarray(self.learner.numbers.encode(np.array(labels, np.float64)))
        numbers = self.learner.codes
        if not self.learner.multilabel:
            return np.array([numbers[label] for label in labels], np.intp)
        flags = np.zeros((len(labels), len(numbers)), bool)
        for row, some in enumerate(labels):
            flags[row, [numbers[label] for label in some]] = True
        return flags

    def learn_alone(
        self, given: Learnable, codes: Array, weights: Array | None, row: int, wrong: Array
    ) -> None:
        """Learn one of several examples, or skip it."""
        some = slice(row, row + 1)
        rows = rows_between(given.rows, row, row + 1)
        weight = None if weights is None else weights[some]
        try:
            one = TrainingRows.of(rows, codes[some], weight, given.width)
            self.learner.learn(one, wrong[some])
        except ValueError:
            wrong[row] = not self.has_numbers
            self.progress.refused += 1

    def skip(self, sequence: int, learner: Any) -> None:
        """Count an example that cannot be learnt; the learner is the one before it."""
        self.learner = learner  # without a class that the example brought
        self.set_class_weights()
        self.sequence = sequence
        self.progress.refused += 1

    def make(self, texts: list[str]) -> Learnable:
        """Make rows from examples of the log, with the same functions as for requests.

        Limits that may have changed since the examples were taken are not checked again.
        """
        values = [parse_json(text, row) for row, text in enumerate(texts, 1)]
        given: Learnable = self.maker.make(values, labelled=True)
        self.check_labels(given)
        return given

    # Predicting

    def answer(
        self, learner: Any, values: list[Any], features: int, coverage: float | None = None
    ) -> dict[str, Any]:
        """Predict rows, and explain each by at most ``features`` features.

        With a coverage, the answer has prediction sets or intervals, too.
        """
        if not features:
            made = self.maker.make(values, labelled=False)
            return predict(learner, made.rows, made.width, coverage)
        batch, names = self.maker.make_named(values)
        answer = predict(learner, batch.rows, batch.width, coverage)
        return answer | {"explanations": explain(learner, batch, names, features)}

    # Copies to predict with and to save

    def make_predictor(self) -> "Predictor":
        """A copy to predict with, which learning does not change."""
        return Predictor(self, self.learner.predictor(), self.sequence)

    def model(self) -> Model:
        """A copy of all that a model file holds, with the number of the last example learnt."""
        learner, kept = self.learner, self.kept
        facts = {**kept.facts, "service": self.about()}
        if learner.calibration is None:
            facts.pop("calibration", None)
        if learner.conformal is not None:
            facts["conformal"] = learner.conformal.as_dict()
        return kept._replace(
            classes=learner.classes, states=copy.deepcopy(learner.states), facts=facts
        )

    def about(self) -> dict[str, Any]:
        """The facts of a model file about the service."""
        progress = copy.deepcopy(self.progress.as_json())
        return {"log": self.log, "sequence": self.sequence, "progress": progress}

    def make_learnable(self, values: list[Any]) -> Learnable:
        """Make rows from the examples of a request; refuse those that cannot be learnt."""
        given: Learnable = self.maker.make(values, labelled=True)
        new = self.check_labels(given)
        if new and self.most_classes is None:
            self.refuse_label(*next(iter(new.items())))
        self.check_growth(new)
        if given.width > self.learner.width:
            raise BadExampleError(
                f"The model has {self.learner.width:,} columns; an example has {given.width:,}."
            )
        self.check_sizes(given)
        return given

    def refuse_label(self, label: Any, row: int) -> None:
        """Refuse a label that the model does not know."""
        known = [str(one) for one in self.learner.classes[:10].tolist()]
        more = ", …" if len(self.learner.classes) > 10 else ""
        sentence = f"the label {str(label)[:40]!r} is not among {', '.join(known)}{more}"
        raise BadExampleError(sentence, row, self.maker.label)

    def check_labels(self, given: Learnable) -> dict[Any, int]:
        """Return the labels that are new and their rows; refuse one that no model file can hold."""
        new: dict[Any, int] = {}  # in their order; a request may have thousands
        if self.has_numbers:
            return new
        several = self.learner.multilabel
        if not several and self.learner.codes.keys() >= {*(given.labels or ())}:
            return new
        for row, found in enumerate(given.labels or (), 1):
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
        size = sum(array.nbytes for array in collect_arrays(self.learner))
        needed = size * count / max(len(self.learner.states[0].bias), 1)
        if needed > LARGEST:
            raise BadExampleError(
                f"{count:,} classes would take {needed / 2**20:,.0f} MB, and the model may take "
                f"{LARGEST / 2**20:,.0f} MB."
            )

    def check_sizes(self, given: Learnable) -> None:
        """Refuse numbers far beyond those that the model was scaled for.

        One row of 10^15 deviations would decide every later prediction of a perceptron.
        """
        if not len(given.rows.values):
            return
        largest = float(np.nanmax(np.abs(given.rows.values)))
        if largest > MOST_DEVIATIONS:
            scaled = self.maker.recipe.scale != "none"
            unit = "standard deviations from its mean" if scaled else "and not scaled"
            raise BadExampleError(
                f"A number is {largest:.2g} {unit}; at most {MOST_DEVIATIONS:.0e} is learnt."
            )


class Predictor(NamedTuple):
    """A copy of a model's weights to predict with, and the last example that they have learnt."""

    served: ServedModel
    learner: Any
    sequence: int

    def answer(
        self, values: list[Any], features: int = 0, coverage: float | None = None
    ) -> dict[str, Any]:
        """Predict rows, and explain each by at most ``features`` features."""
        return self.served.answer(self.learner, values, features, coverage)


def predict(
    learner: LinearLearner, rows: Rows, width: int, coverage: float | None = None
) -> dict[str, Any]:
    """The label, the scores and, of a calibrated model, the probabilities of each row.

    A score is a number for two classes, else one for each class. With a coverage there are also
    prediction sets, or intervals of numbers, whose infinite ends JSON has as null.
    """
    activations = learner.scores(rows, width)
    chosen, sets = learner.choose(activations), dict[str, Any]()
    if coverage is not None and learner.conformal is None:
        what = "intervals" if learner.target_kind == "numbers" else "sets"
        raise NoSetsError(f"The model gives no prediction {what}; conformal training is needed.")
    if coverage is not None:
        found = make_sets(learner, coverage, warns=False)(activations)
        if learner.target_kind == "numbers":
            sets["intervals"] = round_numbers(found)
        else:
            sets["sets"] = [learner.classes[flags].tolist() for flags in found]
    if learner.target_kind == "numbers":
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


def explain(
    learner: LinearLearner, batch: Batch, names: Mapping[int, str], most: int
) -> list[list[dict[str, Any]]]:
    """The features with the largest contributions to the score of the class of each row.

    For two classes that is the score, which is above 0 for the second; for label sets, that of the
    label with the largest score; for numbers, the prediction; for ranks, the sum that is compared
    with the thresholds, which has no bias. Values and weights are those of the scaled columns, so
    that a number at its mean adds nothing.
    """
    coef, bias = learner.coefficients()
    if learner.target_kind == "numbers":
        coef, bias = coef * learner.numbers.scale, learner.choose(bias)
    scores = learner.scores(batch.rows, batch.width)
    chosen = scores.argmax(axis=1) if scores.ndim == 2 else learner.choose(scores)
    found = []
    for row, code in enumerate(chosen.tolist()):
        output = 0 if len(coef) == 1 else code
        one = rows_between(batch.rows, row, row + 1)
        columns = np.arange(len(one.values)) if one.indices is None else one.indices
        known = columns < coef.shape[1]
        columns, values = columns[known], one.values[known]
        shares = values * coef[output, columns]
        largest = np.argsort(-np.abs(shares), kind="stable")[:most]
        said = [
            {
                "feature": names[int(columns[k])] if int(columns[k]) in names else f"#{columns[k]}",
                "value": float(f"{values[k]:.9g}"),
                "contribution": float(f"{shares[k]:.9g}"),
            }
            for k in largest.tolist()
            if shares[k]
        ]
        if learner.target_kind != "ranks":
            said.append({"feature": "bias", "contribution": float(f"{bias[output]:.9g}")})
        found.append(said)
    return found


def collect_arrays(learner: LinearLearner) -> Iterator[Array]:
    """The arrays of all states."""
    for state in learner.states:
        yield from (value for value in vars(state).values() if isinstance(value, np.ndarray))
        yield from state.further.values()
