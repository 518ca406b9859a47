"""The model as a function of the log: it learns examples in order, and knows how many it has."""

import base64
import copy
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..data.rows import Array, rows_between
from ..data.weights import class_weights, row_weights
from ..learners.linear import MOST_WEIGHTS, LinearLearner, TrainingRows
from ..storage.file import load_model
from ..storage.model import Model
from .log import Log
from .requests import DECODER, NDJSON, BadExampleError, flat_objects
from .rows import Learnable, maker_of

WINDOWS = (1_000, 10_000)
MOST_POINTS = 512
MOST_CLASSES = 1000


class Progress:
    """How many examples were wrong before they were learnt: over all, and of the last ones.

    It depends on the examples only, not on how they came together.
    """

    def __init__(self, kept: dict[str, Any] | None = None) -> None:
        kept = kept or {}
        self.examples = int(kept.get("examples", 0))
        self.errors = int(kept.get("errors", 0))
        self.refused = int(kept.get("refused", 0))
        self.recent = np.zeros(WINDOWS[-1], bool)  # the n-th is at n modulo the length
        if "recent" in kept:
            bits = np.frombuffer(base64.b64decode(kept["recent"]), np.uint8)
            self.recent[:] = np.unpackbits(bits, count=len(self.recent))
        self.step = int(kept.get("step", 1))
        self.curve: list[list[int]] = [list(point) for point in kept.get("curve", ())]

    def add(self, wrong: Array) -> None:
        """Count more examples."""
        length, before = len(self.recent), self.examples
        places = np.arange(before, before + len(wrong))[-length:] % length
        self.recent[places] = wrong[-length:]
        errors = np.cumsum(wrong)
        at = (before // self.step + 1) * self.step
        while at <= before + len(wrong):
            self.curve.append([at, self.errors + int(errors[at - before - 1])])
            if len(self.curve) == MOST_POINTS:
                self.curve, self.step = self.curve[1::2], 2 * self.step
            at = (at // self.step + 1) * self.step
        self.examples += len(wrong)
        self.errors += int(errors[-1]) if len(wrong) else 0

    def error(self, last: int | None = None) -> float | None:
        """The share of wrong ones among all, or among the last; None if there are none."""
        count = self.examples if last is None else min(last, self.examples)
        if not count:
            return None
        if last is None:
            return self.errors / count
        places = np.arange(self.examples - count, self.examples) % len(self.recent)
        return float(np.count_nonzero(self.recent[places])) / count

    def as_json(self) -> dict[str, Any]:
        """All of it, for a model file."""
        return {
            "examples": self.examples,
            "errors": self.errors,
            "refused": self.refused,
            "recent": base64.b64encode(np.packbits(self.recent).tobytes()).decode(),
            "step": self.step,
            "curve": self.curve,
        }


class ServedModel:
    """A model that learns the examples of a log.

    Attributes
    ----------
    learner : LinearLearner
        What has been learnt.
    sequence : int
        The last example that has been learnt.
    grow : bool
        Whether labels that it does not know become classes.
    log : int
        The identity of the log that the examples are of, 0 before there is one.
    progress : Progress
        The errors on the way.
    """

    def __init__(self, model: Model, name: str) -> None:
        recipe = model.features.get("recipe")
        if not model.is_linear:
            raise ValueError(f"{name} is a {model.estimator}; only linear models are served.")
        if not isinstance(recipe, dict):
            raise ValueError(
                f"{name} does not say how features are made; serve a model that was trained from a "
                "file or a table."
            )
        if model.is_multilabel:
            raise ValueError(
                f"{name} gives a row any number of labels; only models of one label are served."
            )
        self.kept, self.name = model._replace(checkpoint=None), name
        self.learner = LinearLearner.from_model(model)
        about = model.facts.get("service") or {}
        self.log, self.sequence = int(about.get("log", 0)), int(about.get("sequence", 0))
        self.progress = Progress(about.get("progress"))
        self.maker = maker_of(recipe, self.learner.dtype, self.learner.classes)
        self.grow = False
        self.set_class_weights()

    def set_class_weights(self) -> None:
        """Weigh the rows of each class as the model was begun with."""
        weights = self.learner.parameters.get("class_weight")
        self.of_class = class_weights(weights, self.learner.classes, np.zeros(0, np.intp))

    def refuse_to_learn(self) -> None:
        """Refuse a model that cannot learn from a stream."""
        reason = self.learner.refusal("stream")
        if reason:
            raise ValueError(f"{self.name}: {reason}")

    def warm_up(self) -> None:
        """Have all kernels at hand before the first request; the model stays as it is."""
        if self.maker.of_lines:
            values: list[Any] = ["1 1:0" if self.maker.recipe.rows == "svmlight" else "1 | a"]
        else:
            values = [dict.fromkeys(self.maker.names)]
        given = self.maker.make(values, labelled=False)
        self.published().scores(given.rows, given.width)
        other = copy.deepcopy(self.learner)
        codes = np.zeros(1, np.intp)
        weights = row_weights(codes, given.weights, self.of_class)
        other.learn(TrainingRows.of(given.rows, codes, weights, given.width), np.zeros(1, bool))

    # Learning

    def learn(self, given: Learnable) -> None:
        """Learn examples in their order; a label that is new becomes a class when it comes."""
        assert given.labels is not None
        known = self.learner.codes
        new = next((row for row, label in enumerate(given.labels) if label not in known), None)
        if new is None:
            self.learn_known(given)
            return
        if new:
            self.learn_known(given.part(0, new))
        self.learner = self.learner.with_class(given.labels[new])
        self.set_class_weights()
        self.learn(given.part(new, len(given.labels)))

    def learn_known(self, given: Learnable) -> None:
        """Learn examples of known labels; one that overflows the weights is passed over."""
        codes = np.array([self.learner.codes[label] for label in given.labels or ()], np.intp)
        weights = row_weights(codes, given.weights, self.of_class)
        wrong = np.zeros(len(codes), bool)
        try:
            self.learner.learn(TrainingRows.of(given.rows, codes, weights, given.width), wrong)
        except ValueError:
            wrong[:] = False
            for row in range(len(codes)):
                self.learn_alone(given, codes, weights, row, wrong)
        self.progress.add(wrong)
        self.sequence += len(codes)

    def learn_alone(
        self, given: Learnable, codes: Array, weights: Array | None, row: int, wrong: Array
    ) -> None:
        """Learn one of several examples, or pass it over."""
        some = slice(row, row + 1)
        rows = rows_between(given.rows, row, row + 1)
        weight = None if weights is None else weights[some]
        try:
            one = TrainingRows.of(rows, codes[some], weight, given.width)
            self.learner.learn(one, wrong[some])
        except ValueError:
            wrong[row] = True
            self.progress.refused += 1

    def replay(self, log: Log, until: int | None = None) -> Iterator[int]:
        """Learn what a log has after the last example that was learnt; yield how far it got."""
        for entries in log.entries(self.sequence, until):
            try:
                self.learn(self.made([entry.text for entry in entries]))
            except (ValueError, KeyError, TypeError) as error:
                first, last = entries[0].sequence, entries[-1].sequence
                raise ValueError(
                    f"{log.path}: the examples {first} to {last} are not for this model ({error})."
                ) from error
            yield self.sequence

    def made(self, texts: list[str]) -> Learnable:
        """The rows of examples of the log."""
        body = "\n".join(texts).encode()
        plain = flat_objects(body, NDJSON[0], len(texts))
        given = None if plain is None else self.maker.quickly(plain, labelled=True)
        if given is not None and len(given.labels or ()) == len(texts):
            return given
        return self.maker.make([DECODER.decode(text) for text in texts], labelled=True)

    # Being published and kept

    def published(self) -> LinearLearner:
        """A copy to predict with, which learning does not change."""
        return self.learner.predictor()

    def model(self) -> Model:
        """A copy of all that a model file holds, with the number of the last example learnt."""
        about = {
            "log": self.log,
            "sequence": self.sequence,
            "progress": self.progress.as_json(),
        }
        learner, kept = self.learner, self.kept
        facts = {**kept.facts, "service": copy.deepcopy(about)}
        if self.sequence:
            facts.pop("calibration", None)  # it was that of other weights
        return kept._replace(
            classes=learner.classes, states=copy.deepcopy(learner.states), facts=facts
        )

    def learnable(self, values: list[Any]) -> Learnable:
        """The rows of examples, which can be learnt."""
        given = self.maker.make(values, labelled=True)
        self.check(given)
        return given

    def check(self, given: Learnable) -> None:
        """Refuse what cannot be learnt: labels and columns that the model does not know."""
        for row, label in enumerate(given.labels or (), 1):
            if label not in self.learner.codes and not self.may_grow(given):
                known = [str(one) for one in self.learner.classes[:10].tolist()]
                more = ", …" if len(self.learner.classes) > 10 else ""
                sentence = f"the label {str(label)[:40]!r} is not among {', '.join(known)}{more}"
                raise BadExampleError(sentence, row, self.maker.label)
        if given.width > self.learner.width:
            raise BadExampleError(f"The model has {self.learner.width:,} columns, not more.")

    def may_grow(self, given: Learnable) -> bool:
        """Whether the labels of examples may become classes; a few at a time, lest memory ends."""
        if not self.grow:
            return False
        count = len({*self.learner.codes, *(given.labels or ())})
        if count > MOST_CLASSES or count * self.learner.width > MOST_WEIGHTS:
            raise BadExampleError(f"The model has {len(self.learner.classes)} classes, not more.")
        return True


def model_in(data: bytes, name: str) -> Model:
    """The model of the bytes of a model file."""
    with tempfile.NamedTemporaryFile(suffix=".safetensors") as file:
        file.write(data)
        file.flush()
        try:
            return load_model(file.name)
        except ValueError as error:
            raise ValueError(str(error).replace(file.name, name)) from None


def rebuilt(log: Log, until: int | None = None) -> ServedModel:
    """The model after some example of a log, or after the last; it is yet to replay the rest."""
    wanted = log.last if until is None else until
    if not 0 <= wanted <= log.last:
        raise ValueError(f"{log.path} has the examples up to {log.last}, not {wanted}.")
    before = [number for number in log.models() if number <= wanted]
    if not before:
        raise ValueError(f"{log.path} was trimmed, and begins after example {log.models()[0] - 1}.")
    name = f"the model after example {before[-1]} in {log.path}"
    served = ServedModel(model_in(log.model(before[-1]), name), name)
    served.log, served.sequence = log.identity, before[-1]
    return served
