"""The plan of a tagger's training, and sentences as its source: in memory, or in parts."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any

import numpy as np

from ...data.rows import Array
from ...data.splits import Split
from ...kernels.sequences import Tokens
from ...parameters import SEQUENCE, Parameter, ParameterError, check_parameters, defaults
from ...training.plan import Plan, Request
from ...training.run import Run
from ...training.tasks import Part
from ..base import check_use
from .learner import FoundSentences, SequenceLearner
from .tagset import Tagged, scan_tags
from .task import SequenceTask, decode
from .templates import resolve_templates

NO_SPLIT = Split()


@dataclass(frozen=True)
class SequencePlan(Plan):
    """The training of a tagger with nothing left open."""

    @property
    def estimator(self) -> str:
        """The name of the estimator that a model becomes in Python."""
        return SequenceLearner.estimator

    @property
    def table(self) -> Mapping[str, Parameter]:
        """The parameters that there are, by name."""
        return SEQUENCE

    def check(self, *where: str) -> None:
        """Refuse parameters that are out of range or do not go together."""
        check_parameters(self.parameters, SEQUENCE, *where)


def make_sequence_plan(
    request: Request, before: Mapping[str, Any] | None = None, seed: int | None = None
) -> SequencePlan:
    """Resolve what was not stated, and refuse options that are for rows.

    Parameters
    ----------
    request
        What the user stated.
    before
        The parameters of a model to start from, which are then the defaults.
    seed
        The seed to take where it is stated to be None; without one, it is drawn.
    """
    others = request.parameters.keys() - SEQUENCE.keys()
    for name, value in [
        *request.options.items(),
        ("tune", request.tune),
        ("validation", request.validation),
        *((n, 1) for n in others),
    ]:
        if value:
            raise ParameterError(
                f"{{{name}?}} is not for sentences; leave it out.", code="sentences-option"
            )
    given = {**defaults(SEQUENCE), **(before or {}), "random_state": 0, **request.parameters}
    if request.rule is not None:
        given["rule"] = request.rule
    if isinstance(given["features"], PurePath):
        given["features"] = str(given["features"])
    if given["random_state"] is None:
        drawn = int(np.random.SeedSequence().generate_state(1)[0])
        given["random_state"] = drawn if seed is None else seed
    check_parameters(given, SEQUENCE)
    share = given["validation_fraction"] if given["early_stopping"] else 0.0
    return SequencePlan(given["rule"], given, Split(share, given["random_state"]))


@dataclass
class SentenceSource:
    """Tagged sentences to learn from, as ``training.fit`` takes them.

    Attributes
    ----------
    read
        Returns the sentences with their tags, part by part; the same each time.
    columns
        The names of what tokens have.
    split
        The sentences to hold out, where all are in memory.
    in_memory
        Whether there is one part, which is kept with its features.
    layout, origin
        Of a file: where words and tags stand, and its name, size and time.
    sentences, tokens
        How many there are, once ``begin`` has counted them.
    """

    read: Callable[[], Iterable[Tagged]]
    columns: tuple[str, ...]
    split: Split = NO_SPLIT
    in_memory: bool = True
    layout: list[Any] | None = None
    origin: Any = None
    sentences: int = 0
    tokens: int = 0
    task: SequenceTask | None = None

    def begin(
        self, parameters: Mapping[str, Any], initial: SequenceLearner | None = None
    ) -> SequenceLearner:
        """Make a learner whose lexicon knows the sentences, from zero or from another learner."""
        if initial is None:
            templates = resolve_templates(parameters["features"], self.columns)
            tags = scan_tags(parameters, self.read)
            found = FoundSentences(tags, self.columns, templates)
            learner = SequenceLearner.begin(parameters, found)
        else:
            check_use(initial, "learn")
            learner = initial
            learner.set_parameters(parameters)
        for sentences, tags_of_tokens in self.read():
            count = len(sentences.starts) - 1
            codes = learner.inner_codes(sentences, tags_of_tokens)
            learner.count(sentences, codes, self.flag_learnt(count))
            self.sentences, self.tokens = self.sentences + count, self.tokens + sentences.n_tokens
        return learner

    def flag_learnt(self, count: int) -> Array | None:
        """Flag the sentences to learn from; None if none is held out."""
        if not self.split:
            return None
        learnt, _ = self.split.stratify(np.zeros(count, np.intp), np.arange(count))
        return np.isin(np.arange(count), learnt)

    def parts(self, learner: SequenceLearner, run: Run) -> Iterator[Part]:
        """Yield what there is to learn: one part in memory; of a stream, each is then forgotten."""
        if self.task is not None:
            yield self.part
            return
        for sentences, tags in self.read():
            codes = learner.inner_codes(sentences, tags)
            counted = self.flag_learnt(len(sentences.starts) - 1)
            task = learner.task(sentences, codes, counted)
            if self.in_memory:
                self.task = task
                learner.dictionary.forget_keys()
                yield self.part
            else:
                yield Part.of(task)
                learner.forget_unmoved()

    @cached_property
    def part(self) -> Part:
        """All sentences in memory."""
        assert self.task is not None
        return Part.of(self.task)

    def report_part(self, run: Run) -> None:
        """Report nothing between epochs."""

    @cached_property
    def held_out(self) -> tuple[Tokens, Array, Array]:
        """The tokens of the sentences held out, where each sentence starts, and their tags."""
        assert self.task is not None
        task, count = self.task, len(self.task.starts) - 1
        held = np.setdiff1d(np.arange(count), task.row_order)
        codes = [task.codes[slice(*task.starts[s : s + 2])] for s in held]
        return *select_sentences(task.tokens, task.starts, held), np.concatenate(codes)

    def validate(self, learner: SequenceLearner, problems: list[int]) -> dict[int, float]:
        """Return the share of the tokens held out whose tag is right, for the one problem."""
        (tokens, starts, wanted), state = self.held_out, learner.state
        known = tokens._replace(features=state.view_rows(tokens.features))
        found = decode(known, starts, state.coefficients(), learner.settings)
        return dict.fromkeys(problems, float(np.mean(found == wanted)))

    def facts(self, learner: SequenceLearner, run: Run) -> dict[str, Any]:
        """Return what a model keeps of the sentences; the learner gets their layout."""
        learner.features["layout"] = self.layout
        return {"sentences": self.sentences, "tokens": self.tokens, "origin": self.origin}


def select_sentences(tokens: Tokens, starts: Array, which: Array) -> tuple[Tokens, Array]:
    """Return the tokens of some sentences, and where each of these starts."""
    numbers = np.concatenate([np.arange(*starts[s : s + 2]) for s in which])
    sizes = np.diff(tokens.starts)[numbers]
    places = [np.arange(*tokens.starts[i : i + 2]) for i in numbers]
    some = np.concatenate([np.zeros(0, np.int64), *places])
    values = None if tokens.values is None else tokens.values[some]
    found = Tokens(tokens.features[some], np.concatenate([[0], np.cumsum(sizes)]), values)
    lengths = np.diff(starts)[which]
    return found, np.concatenate([[0], np.cumsum(lengths)])
