"""A served tagger: examples are sentences, lists of tokens, with a list of tags to learn from."""

import copy
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..data.rows import Array
from ..learners.sequence.learner import SequenceLearner
from ..learners.sequence.sentences import FEATURES, Sentences, read_sentences
from ..storage.model import Model
from ..storage.registry import restore
from .model import ServedModel
from .requests import BadExampleError, NoSetsError
from .rows import Learnable

TOKENS, TAGS = "tokens", "tags"
MOST_TOKENS = 10_000  # of a sentence


class Reading(NamedTuple):
    """The attributes that a recipe has, for sentences."""

    rows: str = "sentences"
    scale: str = "none"


class SentenceMaker:
    """Checks sentences: objects with ``tokens``, and with ``tags`` to learn from."""

    of_lines, of_lists = False, TOKENS
    label, recipe = TAGS, Reading()
    columns: tuple[tuple[str, str], ...] = ()

    def __init__(self, columns: tuple[str, ...]) -> None:
        self.names = columns

    def make(self, objects: Sequence[dict[str, Any]], labelled: bool) -> Learnable:
        """Check sentences of objects, with tags if ``labelled``."""
        found, tags = [], []
        for row, one in enumerate(objects, 1):
            tokens = one.get(TOKENS)
            if not isinstance(tokens, list):
                raise BadExampleError("expected a list of tokens", row, TOKENS)
            if len(tokens) > MOST_TOKENS:
                raise BadExampleError(f"there are over {MOST_TOKENS:,} tokens", row, TOKENS)
            found.append(tokens)
            if labelled:
                tags.append(self.check_tags(one.get(TAGS), len(tokens), row))
        self.read(found)
        return Learnable(found, 0, tags if labelled else None)

    def check_tags(self, tags: Any, count: int, row: int) -> list[Any]:
        """Check the tags of a sentence of ``count`` tokens."""
        if not isinstance(tags, list) or not all(isinstance(tag, str | int) for tag in tags):
            raise BadExampleError("expected a list of tags", row, TAGS)
        if len(tags) != count or not count:
            raise BadExampleError(f"there are {len(tags)} tags and {count} tokens", row, TAGS)
        return tags

    def read(self, found: list[list[Any]]) -> Sentences:
        """Convert sentences for the tagger; an error names the row."""
        try:
            return read_sentences(found, self.names)
        except ValueError as whole:
            for row, one in enumerate(found, 1):
                try:
                    read_sentences([one], self.names)
                except ValueError as error:
                    sentence = str(error).replace("X[0]", "token ").rstrip(".")
                    raise BadExampleError(sentence, row, TOKENS) from None
            raise BadExampleError(str(whole)) from None

    def schemas(self, classes: Array) -> tuple[dict[str, Any], dict[str, Any]]:
        """The schema of a sentence, and of one with its tags."""
        tokens: dict[str, Any] = {"type": "array", "items": {"description": self.token}}
        tags = {"type": "array", "items": {"enum": classes.tolist()}}
        sentence = {"type": "object", "properties": {TOKENS: tokens}, "required": [TOKENS]}
        return {"oneOf": [tokens, sentence]}, {
            "type": "object",
            "properties": {TOKENS: tokens, TAGS: tags},
            "required": [TOKENS, TAGS],
        }

    @property
    def token(self) -> str:
        """What a token is."""
        if self.names == (FEATURES,):
            return "An object or a list of features."
        return "A string." if len(self.names) == 1 else f"A list of {', '.join(self.names)}."


class ServedTagger(ServedModel):
    """A tagger that learns the sentences of a log, one by one."""

    estimator: ClassVar[str] = SequenceLearner.estimator
    learner: SequenceLearner
    maker: SentenceMaker

    def open(self, model: Model) -> None:
        """Make the learner, and the maker of sentences from requests."""
        self.learner = restore(SequenceLearner.from_model, model, self.name)
        self.maker = SentenceMaker(self.learner.columns)

    @property
    def width(self) -> int:
        """The number of features that have had weights."""
        return self.learner.state.used - 1

    def check_learning(self) -> None:
        """Refuse a tagger that keeps only what predicts."""
        reason = self.learner.refusal("learn")
        if reason:
            raise ValueError(f"{self.name}: {reason}")

    def warm_up(self) -> None:
        """Compile all kernels before the first request; the model does not change."""
        empty: Any = {} if self.maker.names == (FEATURES,) else [""] * len(self.maker.names)
        sentence = [["" if len(self.maker.names) == 1 and empty else empty]]
        self.make_predictor().answer([{TOKENS: sentence[0]}])
        if self.learner.can_learn:
            tag = self.learner.classes.tolist()[0]
            copy.deepcopy(self.learner).learn((self.maker.read(sentence), [tag]))

    def answer(
        self, learner: Any, values: list[Any], features: int, coverage: float | None = None
    ) -> dict[str, Any]:
        """Predict the tags of sentences, and explain each by at most ``features`` features."""
        if coverage is not None:
            raise NoSetsError("A tagger gives no prediction sets; leave coverage out.")
        given = self.maker.make(values, labelled=False)
        sentences, names = self.maker.read(given.rows), learner.classes.tolist()
        tags = [names[code] for code in learner.predict(sentences).tolist()]
        spans = pairwise(sentences.starts.tolist())
        answer = {TAGS: [tags[first:last] for first, last in spans]}
        if features:
            read = [(one, self.maker.read([one])) for one in given.rows]
            reasons = [learner.explain(one, own, features) for one, own in read]
            answer["explanations"] = [[token._asdict() for token in one] for one in reasons]
        return answer

    # Learning

    def begin_answers(self) -> None:
        """None: the answers to sentences are not counted, as each would be searched for twice."""

    def learn(self, given: Learnable) -> None:
        """Learn sentences one by one, so that the result depends on their order only."""
        for tokens, tags in zip(given.rows, given.labels or (), strict=True):
            wrong = np.zeros(1, bool)
            try:
                for tag in dict.fromkeys(tags):
                    if tag not in self.known:
                        self.learner = self.learner.with_class(tag)
                self.learner.learn((self.maker.read([tokens]), tags), wrong)
            except ValueError:
                wrong[0] = True
                self.progress.refused += 1
            self.progress.add(wrong)
            self.sequence += 1

    @property
    def known(self) -> set[Any]:
        """The known tags."""
        return set(self.learner.classes.tolist())

    def make_learnable(self, values: list[Any]) -> Learnable:
        """Check the sentences of a request; refuse those that cannot be learnt."""
        given = self.maker.make(values, labelled=True)
        for row, tags in enumerate(given.labels or (), 1):
            for tag in tags:
                if tag not in self.known:
                    self.check_new(tag, row)
        return given

    def check_new(self, tag: Any, row: int) -> None:
        """Refuse a tag that the tagger does not know and may not or cannot learn."""
        some = ", ".join(map(str, self.learner.classes.tolist()[:10]))
        if not self.grow:
            raise BadExampleError(f"the tag {str(tag)[:40]!r} is not among {some}", row, TAGS)
        try:
            self.learner.tags.with_class(tag)
        except (TypeError, ValueError) as error:
            raise BadExampleError(str(error), row, TAGS) from None
        reason = self.learner.refusal("add_class")
        if reason or len(self.learner.classes) >= self.limits.classes:
            limit = f"The model may have at most {self.limits.classes:,} tags."
            raise BadExampleError(reason or limit, row, TAGS)

    def check_labels(self, given: Learnable) -> dict[Any, int]:
        """The tags of the log that are new, with their rows."""
        rows = enumerate(given.labels or (), 1)
        return {tag: row for row, tags in rows for tag in tags if tag not in self.known}

    def model(self) -> Model:
        """A copy of all that a model file holds, with the number of the last example learnt."""
        facts = {**self.kept.facts, "service": self.about()}
        return self.learner.to_model(facts, self.kept.history)
