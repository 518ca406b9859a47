"""The plan of a tagger's training, and sentences as its source."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.splits import Split
from ..parameters import ParameterError, check_parameters, defaults
from ..training.plan import Plan, Request
from ..training.training import Part, Training
from .learner import SequenceLearner
from .parameters import PARAMETERS
from .schemes import check_classes, encode_tags, find_distinct_tags, find_tag_set
from .sentences import Sentences


def make_sequence_plan(request: Request, before: Mapping[str, Any] | None = None) -> Plan:
    """Resolve what was not stated, and refuse options that are for rows.

    Parameters
    ----------
    request
        What the user stated.
    before
        The parameters of a model to start from, which are then the defaults.
    """
    others = dict.fromkeys(request.parameters.keys() - PARAMETERS.keys(), 1)
    for_rows = {"tune": request.tune, "rule": request.rule}
    for name, value in {**request.options, **for_rows, **others}.items():
        if value:
            raise ParameterError(
                f"{name} is not for files of sentences; leave it out.", code="rows-only"
            )
    given = {**defaults(PARAMETERS), **(before or {}), "random_state": 0, **request.parameters}
    if given["random_state"] is None:
        given["random_state"] = int(np.random.SeedSequence().generate_state(1)[0])
    check_parameters(given, PARAMETERS)
    return Plan("perceptron", {**given, "early_stopping": False}, Split(0.0, given["random_state"]))


@dataclass
class SentenceSource:
    """Tagged sentences to learn from, as ``training.fit`` takes them.

    Attributes
    ----------
    sentences, tags
        The sentences, and the tag of each token.
    columns
        The names of what tokens have.
    layout, origin
        Of a file: where words and tags stand, and its name, size and time.
    """

    sentences: Sentences
    tags: Any
    columns: tuple[str, ...]
    layout: list[Any] | None = None
    origin: Any = None
    in_memory = True
    part: Part | None = None

    def begin(
        self, parameters: Mapping[str, Any], initial: SequenceLearner | None = None
    ) -> SequenceLearner:
        """Make a learner whose lexicon knows the sentences, from zero or from another learner."""
        if initial is None:
            classes = check_classes(find_distinct_tags(self.tags))
            codes = encode_tags(self.tags, classes)
            tags = find_tag_set(parameters, classes, codes, self.sentences.starts)
            learner = SequenceLearner.begin(parameters, tags, self.columns)
        else:
            learner = initial
            learner.set_parameters(parameters)
        learner.count(self.sentences, learner.inner_codes(self.sentences, self.tags))
        return learner

    def parts(self, learner: SequenceLearner, run: Training) -> Iterator[Part]:
        """Yield all sentences; their features are kept for further epochs."""
        if self.part is None:
            codes = learner.inner_codes(self.sentences, self.tags)
            self.part = Part.of(learner.task(self.sentences, codes))
            learner.dictionary.forget_keys()
        yield self.part

    def facts(self, learner: SequenceLearner, run: Training) -> dict[str, Any]:
        """Return what a model keeps of the sentences; the learner gets their layout."""
        learner.features["layout"] = self.layout
        size = {"sentences": len(self.sentences.starts) - 1, "tokens": self.sentences.n_tokens}
        return {**size, "origin": self.origin}
