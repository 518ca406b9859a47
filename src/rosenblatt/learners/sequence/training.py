"""Runs of a tagger over epochs: from sentences in memory, or from parts that are read again."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...data.rows import Array
from ...kernels.sequences import Tokens
from ...parameters import ParameterError
from ...storage.model import Model
from ...training.history import History
from ...training.run import Problem, Run
from ...training.tasks import Part
from ..base import check_use
from .learner import FoundSentences, SequenceLearner
from .state import PathState
from .tagset import Tagged, scan_tags
from .task import SequenceTask, decode
from .templates import Template


@dataclass
class SentenceData:
    """Sentences to learn from.

    Attributes
    ----------
    parts
        Gives them with their tags, part by part; the same each time.
    columns
        What tokens have.
    templates
        What their features are.
    in_memory
        Whether there is one part, which is kept with its features.
    """

    parts: Callable[[], Iterable[Tagged]]
    columns: tuple[str, ...]
    templates: list[Template]
    in_memory: bool = True


@dataclass
class Fit:
    """A training of a tagger that is ready to run.

    Attributes
    ----------
    learner
        What is trained; it has the result after ``close``.
    run
        Its epochs.
    sentences, tokens
        How many there are.
    """

    learner: SequenceLearner
    run: Run
    sentences: int
    tokens: int

    def close(self) -> None:
        """Give the learner what the run came to."""
        self.learner.close(self.run.outcomes[0])


def start(
    parameters: Mapping[str, Any],
    data: SentenceData,
    seed: int,
    initial: SequenceLearner | None = None,
) -> Fit:
    """Begin to train a tagger, with zero weights or those of another.

    Parameters
    ----------
    parameters
        Those of ``SequencePerceptron``.
    data
        The sentences.
    seed
        Decides the permutations, and which sentences are held out.
    initial
        What to begin with, with its tags and features.
    """
    if initial is None:
        tags = scan_tags(parameters, data.parts)
        found = FoundSentences(tags, data.columns, data.templates)
        learner = SequenceLearner.begin(parameters, found)
    else:
        check_use(initial, "learn")
        learner = initial
        learner.set_parameters(parameters)
    size = np.zeros(2, np.int64)
    for sentences, tags_of_tokens in data.parts():
        count = len(sentences.starts) - 1
        learnt, _ = split(count, parameters, seed)
        counted = None if len(learnt) == count else np.isin(np.arange(count), learnt)
        learner.count(sentences, learner.inner_codes(sentences, tags_of_tokens), counted)
        size += count, sentences.n_tokens
    return make_fit(learner, data, seed, *size.tolist())


def resume(begun: Model, data: SentenceData, seed: int) -> Fit:
    """Continue a training where its unfinished model was left."""
    learner, left = SequenceLearner.from_model(begun), begun.checkpoint
    check_use(learner, "resume")
    assert left is not None
    sizes = [begun.facts.get(name, 0) for name in ("sentences", "tokens")]
    fit = make_fit(learner, data, seed, *sizes)
    fit.run.resume(left.with_best(learner.unpack_state))
    return fit


def make_fit(
    learner: SequenceLearner, data: SentenceData, seed: int, sentences: int, tokens: int
) -> Fit:
    """A training of a learner whose lexicon knows the sentences."""
    given, validate = learner.parameters, None
    parts: Callable[[], Iterable[SequenceTask]] = lambda: learner.tasks(data.parts)  # noqa: E731
    if data.in_memory:
        ((read, tags),) = data.parts()
        count = len(read.starts) - 1
        learnt, held = split(count, given, seed)
        counted = np.isin(np.arange(count), learnt)
        task = learner.task(read, learner.inner_codes(read, tags), counted)
        learner.dictionary.forget_keys()
        parts, validate = lambda: [task], validator(task, held) if len(held) else None
    problem = Problem(learner.state, History(given["max_iter"], given["n_iter_no_change"]))
    run = Run(lambda: map(Part.of, parts()), [problem], given["order"], seed)
    if validate is not None:
        run.validate = lambda _: {0: validate(problem.state)}
    return Fit(learner, run, sentences, tokens)


def split(count: int, parameters: Mapping[str, Any], seed: int) -> tuple[Array, Array]:
    """The sentences to learn from, and those held out."""
    everything = np.arange(count, dtype=np.uint32)
    if not parameters["early_stopping"]:
        return everything, everything[:0]
    held = round(count * parameters["validation_fraction"])
    if not 0 < held < count:
        raise ParameterError(
            f"{{early_stopping}} cannot hold {held} of {count} sentences out; change "
            "{validation_fraction?}.",
            code="holdout-empty",
            early_stopping=True,
        )
    mixed = np.random.RandomState(seed).permutation(everything)
    return np.sort(mixed[held:]), np.sort(mixed[:held])


def validator(task: SequenceTask, held: Array) -> Callable[[PathState], float]:
    """A function that tells the accuracy of a state on the sentences held out."""
    tokens, starts = select_sentences(task.tokens, task.starts, held)
    wanted = np.concatenate([task.codes[slice(*task.starts[s : s + 2])] for s in held])

    def accuracy(state: PathState) -> float:
        known = tokens._replace(features=state.view_rows(tokens.features))
        found = decode(known, starts, state.coefficients(), task.settings)
        return float(np.mean(found == wanted))

    return accuracy


def select_sentences(tokens: Tokens, starts: Array, which: Array) -> tuple[Tokens, Array]:
    """Some sentences alone."""
    numbers = np.concatenate([np.arange(*starts[s : s + 2]) for s in which])
    sizes = np.diff(tokens.starts)[numbers]
    places = [np.arange(*tokens.starts[i : i + 2]) for i in numbers]
    some = np.concatenate([np.zeros(0, np.int64), *places])
    values = None if tokens.values is None else tokens.values[some]
    found = Tokens(tokens.features[some], np.concatenate([[0], np.cumsum(sizes)]), values)
    lengths = np.diff(starts)[which]
    return found, np.concatenate([[0], np.cumsum(lengths)])
