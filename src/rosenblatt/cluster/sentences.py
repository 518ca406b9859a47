"""Taggers on a cluster: partitions of sentences, learnt by iterative parameter mixing.

Each partition has a dictionary of its own, so features travel by keys that are hashes of what they
are made of; the driver puts one dictionary together at the end.
"""

import time
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from dask.delayed import delayed

from ..data.rows import Array
from ..estimators.base import seed_of
from ..estimators.sequence import SequencePerceptron
from ..jobs.sentences import columns_named
from ..learners.sequence.encoding import Dictionary
from ..learners.sequence.file_formats import format_of
from ..learners.sequence.formats import Layout, layout_of, read_pieces, read_tagged
from ..learners.sequence.learner import FoundSentences, SequenceLearner
from ..learners.sequence.lexicon import Lexicon
from ..learners.sequence.schemes import SchemeCount
from ..learners.sequence.sentences import (
    check_lengths,
    check_sentences,
    columns_of,
    read_sentences,
)
from ..learners.sequence.state import PathState
from ..learners.sequence.tagset import (
    Tagged,
    check_classes,
    classes_of,
    codes_of,
    is_greedy,
    knows_chunks,
    tag_set_of,
)
from ..learners.sequence.task import SequenceTask
from ..learners.sequence.templates import templates_for
from ..reading.sources import Source
from ..training.history import Count, Epoch, History
from ..training.run import Run
from .client import Cluster
from .partitions import in_partition
from .rounds import Mixing, Round, weighted_mistakes

WHOLE = 1 << 40  # bytes: a file is a partition


# Partitions


def partitions_of_files(
    paths: Any, label: str | None, given_format: str | None
) -> tuple[list[Any], tuple[str, ...], Layout]:
    """A partition for each file, what their tokens have, and how they are laid out."""
    given = [paths] if isinstance(paths, str) or not isinstance(paths, Iterable) else list(paths)
    files = [str(file) for path in given for file in Source(path).files]
    kind = format_of(files[0], given_format)
    if kind is None:
        raise ValueError(f"{files[0]} holds no sentences by its name; give format.")
    first = next(read_pieces(Source(files[0]), kind, WHOLE), None)
    if first is None:
        raise ValueError(f"{files[0]} is empty.")
    layout = layout_of(first, kind, label)
    return files, columns_named(layout), layout


def read_file(path: str, _: int, layout: Layout, columns: tuple[str, ...]) -> Tagged:
    """The sentences of a file."""
    (piece,) = read_pieces(Source(path), layout.format, WHOLE)
    file = read_tagged(piece, layout, columns, with_tags=True)
    starts = np.unique(file.sentences.starts)
    assert file.tags is not None
    return file.sentences._replace(starts=starts), file.tags.compact()


def read_lists(part: Any, number: int, columns: tuple[str, ...]) -> Tagged:
    """The sentences of a partition of two bags."""
    with in_partition(number):
        sentences, tags = check_sentences(part[0], "X"), check_sentences(part[1], "y")
        check_lengths(sentences, tags)
        return read_sentences(sentences, columns), [tag for some in tags for tag in some]


def pairs_of(X: Any, y: Any, cluster: Cluster) -> list[Any]:
    """The partitions of two bags, on their way to the workers."""
    if X.npartitions != y.npartitions:
        raise ValueError(
            f"X has {X.npartitions} partitions and y {y.npartitions}; cut both at the same "
            "sentences."
        )
    both = zip(X.to_delayed(), y.to_delayed(), strict=True)
    return list(cluster.client.compute([delayed(both_lists)(*pair) for pair in both]))


def both_lists(sentences: Iterable[Any], tags: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """A partition of two bags."""
    return list(sentences), list(tags)


# What workers do


def columns_in(part: Any, _: int, own_templates: bool) -> tuple[str, ...] | None:
    """What the tokens of a partition have; None if there are none."""
    return columns_of(part[0], own_templates) if any(map(len, part[0])) else None


def classes_in(part: Tagged, _: int) -> tuple[list[Any], int]:
    """The tags of a partition, and how many tokens it has."""
    sentences, tags = part
    return classes_of(tags).tolist(), sentences.n_tokens


def chunks_in(part: Tagged, _: int, classes: Array) -> SchemeCount:
    """How chunks are written in a partition."""
    sentences, tags = part
    return SchemeCount.of(classes.tolist(), codes_of(tags, classes), sentences.starts)


def count_words(part: Tagged, _: int, learning: SequenceLearner) -> Lexicon:
    """Which tags words have in a partition."""
    sentences, tags = part
    own = replace(learning, lexicon=Lexicon())
    codes = codes_of(tags, learning.tags.classes)
    own.count(sentences, own.tags.inside(codes, sentences.starts))
    return own.lexicon


@dataclass
class Prepared:
    """A partition that is ready to be learnt, with the keys of its features."""

    learning: SequenceLearner
    task: SequenceTask
    keys: Array


def prepare(part: Tagged, number: int, learning: SequenceLearner) -> Prepared:
    """Find the features of a partition."""
    sentences, tags = part
    own = deepcopy(learning)  # what arrives is read-only
    codes = own.tags.inside(codes_of(tags, own.tags.classes), sentences.starts)
    task = own.task(sentences, codes)
    own.dictionary.forget_keys()
    own.lexicon = Lexicon()
    return Prepared(own, task, own.dictionary.lasting_keys())


class Rows(NamedTuple):
    """Weights as they travel: rows by sorted keys, of transitions, and of pairs."""

    keys: Array
    emissions: Array
    transitions: Array
    pairs: Array

    @property
    def nbytes(self) -> int:
        """Their size."""
        return sum(array.nbytes for array in self)


class Moves(NamedTuple):
    """How far a partition moved weights, and the sum of that over its sentences (of an average)."""

    weights: Rows
    summed: Rows | None
    epochs: tuple[Epoch, ...]

    @property
    def nbytes(self) -> int:
        """Their size."""
        return self.weights.nbytes + (0 if self.summed is None else self.summed.nbytes)


def learn(part: Prepared, number: int, start: Rows, order: str, seed: int, epoch: int) -> Moves:
    """Go through a partition once, from the mixed weights; how far they moved."""
    state, known = begun(part, start)
    before = state.weights
    how: dict[str, Any] = {"order": order, "seed": seed, "first_part": number}
    run = Run.single(part.task, state, History(1), **how)
    run.epoch = epoch - 1  # which its permutations depend on
    kept = before.transitions.copy(), before.pairs.copy()
    with in_partition(number):
        run.train()
    tags, width, used = state.shape.tags, state.shape.width, state.used
    emissions = state.weights.emissions.reshape(-1, width)[1:used, :tags].copy()
    emissions[: len(known)] -= start.emissions[known]
    keys = part.keys[state.features()]
    moved = Rows(
        keys, emissions, state.weights.transitions - kept[0], state.weights.pairs - kept[1]
    )
    record = run.epochs
    if not state.averaged:
        touched = np.asarray(emissions.any(axis=1))
        return Moves(sorted_rows(moved, touched), None, tuple(record))
    lacking = state.sums.emissions.reshape(-1, tags)[1:used]
    summed = Rows(
        keys,
        (state.seen * emissions - lacking).astype(np.float32),
        state.seen * moved.transitions - state.sums.transitions,
        state.seen * moved.pairs - state.sums.pairs,
    )
    touched = np.asarray(emissions.any(axis=1) | summed.emissions.any(axis=1))
    return Moves(sorted_rows(moved, touched), sorted_rows(summed, touched), tuple(record))


def begun(part: Prepared, start: Rows) -> tuple[PathState, Array]:
    """The mixed weights of a partition's own features to learn from, and which of all these are."""
    state: PathState = deepcopy(part.learning.state)
    state.widen(len(part.keys))
    places = np.minimum(np.searchsorted(start.keys, part.keys), max(len(start.keys) - 1, 0))
    own = np.flatnonzero(start.keys[places] == part.keys) if len(start.keys) else places[:0]
    known = places[own]
    state.make_room(len(own))
    tags, width, weights = state.shape.tags, state.shape.width, state.weights
    assert weights.rows is not None
    assert weights.used is not None
    weights.emissions.reshape(-1, width)[1 : len(own) + 1, :tags] = start.emissions[known]
    weights.rows[own] = np.arange(1, len(own) + 1)
    weights.used[0] = len(own) + 1
    weights.transitions[:], weights.pairs[:] = start.transitions, start.pairs
    return state, known


def sorted_rows(rows: Rows, touched: Array) -> Rows:
    """Some rows, sorted by their keys."""
    some = np.flatnonzero(touched)
    some = some[np.argsort(rows.keys[some])]
    return rows._replace(keys=rows.keys[some], emissions=rows.emissions[some])


def total(parts: list[Rows]) -> Rows:
    """The sum of rows by their keys, added in the order of the partitions."""
    keys = np.unique(np.concatenate([part.keys for part in parts]))
    emissions = np.zeros((len(keys), parts[0].emissions.shape[1]))
    for part in parts:
        emissions[np.searchsorted(keys, part.keys)] += part.emissions
    transitions = np.sum([part.transitions for part in parts], axis=0, dtype=np.float64)
    pairs = np.sum([part.pairs for part in parts], axis=0, dtype=np.float64)
    return Rows(keys, emissions, np.asarray(transitions), np.asarray(pairs))


class Described(NamedTuple):
    """Features by their keys: templates, numbers of values, and what these are."""

    keys: Array
    numbers: Array
    values: Array
    names: list[tuple[int, str]]


def describe(part: Prepared, _: int, keys: Array) -> Described:
    """What the features of a partition are that have weights."""
    features = np.flatnonzero(np.isin(part.keys, keys))
    dictionary = deepcopy(part.learning.dictionary)
    dictionary.keep(features)
    kept = dictionary.features
    return Described(part.keys[features], kept.numbers, kept.values, dictionary.names_of_values())


# What the driver does


@dataclass
class MixedState:
    """The mixed weights, and what their average lacks."""

    weights: Rows
    missing: Rows | None
    seen: int = 0
    mistakes: int = 0

    def stop_reason(self, clean: bool) -> str:
        """Why there is no point in going on, if there is none; clean without any mistake."""
        return "separated" if clean else ""

    def mix(self, parts: list[Moves]) -> None:
        """Move to the mean of what partitions learnt.

        It is what ``mix_into`` of mixing.py does with all partitions alike, but that here every
        epoch counts the same in the average.
        """
        moved = total([part.weights for part in parts])
        epochs = [epoch for part in parts for epoch in part.epochs]
        self.seen += sum(epoch.rows for epoch in epochs)
        self.mistakes += sum(epoch.mistakes for epoch in epochs)
        steps = Rows(moved.keys, *(array / len(parts) for array in moved[1:]))
        self.weights = total([self.weights, steps])
        self.weights = Rows(
            self.weights.keys, *(array.astype(np.float32) for array in self.weights[1:])
        )
        if self.missing is not None:
            summed = total([part.summed for part in parts if part.summed is not None])
            grown = Rows(steps.keys, *(self.seen * array for array in steps[1:]))
            less = Rows(summed.keys, *(-array for array in summed[1:]))
            self.missing = total([self.missing, grown, less])


@dataclass
class SentenceJob:
    """A tagger that is trained on partitions of sentences."""

    tagger: SequencePerceptron
    cluster: Cluster
    parts: list[Any]

    def train(self, columns: tuple[str, ...], tell: Callable[[Round], None]) -> Mixing:
        """Learn until there is nothing left to do; then the tagger has all that was learnt."""
        tagger = self.tagger
        learning = self.begin(columns)
        start = learning.state.weights
        none = np.zeros(0, np.uint64), np.zeros((0, len(learning.tags.names)), np.float32)
        weights = Rows(*none, start.transitions, start.pairs)
        zeros = Rows(*none, np.zeros(start.transitions.size), np.zeros(start.pairs.size))
        state = MixedState(weights, zeros if learning.state.averaged else None)
        history, seed = History(tagger.max_iter), seed_of(tagger.random_state)
        rounds = list[Round]()
        while not history.stop_reason:
            started = time.perf_counter()
            moves = self.cluster.again_when_lost(
                lambda: self.epoch(state.weights, tagger.order, seed, len(rounds) + 1)
            )
            state.mix(moves)
            rounds.append(self.close(history, state, moves, time.perf_counter() - started))
            tell(rounds[-1])
        self.take_over(learning, state)
        tagger._take_over(learning, history.epochs, history.stop_reason)
        rows = tuple(part.epochs[0].rows for part in moves)
        weighted = sum(one.weighted_mistakes for one in rounds)
        return Mixing("mixing", "uniform", rows, tuple(rounds), weighted)

    def on_each(self, what: str, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """What a function finds in each partition."""

        def ask() -> list[Any]:
            return self.cluster.results(
                self.cluster.on_each(what, function, self.parts, *arguments)
            )

        return list(self.cluster.again_when_lost(ask))

    def begin(self, columns: tuple[str, ...]) -> SequenceLearner:
        """Find the tags and the words of all partitions, and have their features found."""
        tagger, parameters = self.tagger, self.tagger._values()
        found = self.on_each("survey", classes_in)
        self.parts = [part for part, (_, size) in zip(self.parts, found, strict=True) if size]
        if not self.parts:
            raise ValueError("There is no token to learn from.")
        classes = check_classes(np.array(sorted({tag for tags, _ in found for tag in tags})))
        counts = None
        if knows_chunks(parameters, classes):
            counts, *others = self.on_each("schemes", chunks_in, classes)
            for other in others:
                counts = counts.plus(other)
        tags = tag_set_of(classes, is_greedy(parameters), counts)
        found_in_all = FoundSentences(tags, columns, templates_for(tagger.features, columns))
        learning = SequenceLearner.begin(parameters, found_in_all)
        for lexicon in self.on_each("words", count_words, learning):
            learning.lexicon.add(lexicon, len(tags.names))
        shared = self.cluster.share(learning)
        self.parts = self.cluster.on_each("prepare", prepare, self.parts, shared)
        self.cluster.again_when_lost(lambda: self.cluster.wait(self.parts))
        return learning

    def epoch(self, weights: Rows, order: str, seed: int, number: int) -> list[Moves]:
        """One epoch on all partitions at once."""
        shared = self.cluster.share(weights)
        given = shared, order, seed, number
        return self.cluster.results(self.cluster.on_each("learn", learn, self.parts, *given))

    def close(
        self, history: History, state: MixedState, moves: list[Moves], seconds: float
    ) -> Round:
        """Write an epoch down and decide whether to go on."""
        count = Count()
        for part in moves:
            count.add(part.epochs[0])
        epoch = history.close(count, state, count.mistakes == 0, None)
        mistakes = tuple(part.epochs[0].mistakes for part in moves)
        moved = sum(part.nbytes for part in moves) + state.weights.nbytes * self.cluster.workers()
        return Round(epoch, mistakes, weighted_mistakes(mistakes, "uniform"), moved, seconds)

    def take_over(self, learner: SequenceLearner, state: MixedState) -> None:
        """Give the learner one dictionary, and the mixed weights with their sums."""
        keys, emissions, transitions, pairs = state.weights
        learner.dictionary = together(
            learner.dictionary, keys, self.on_each("describe", describe, keys)
        )
        own, used = learner.state, len(keys) + 1
        own.make_room(used)
        own.seen, own.mistakes = state.seen, state.mistakes
        own.weights = own.weights._replace(
            transitions=transitions,
            pairs=pairs,
            rows=np.arange(1, used, dtype=np.uint32),
            used=np.array([used], np.int64),
        )
        weights, *sums = own.by_row()
        weights[1:, : emissions.shape[1]] = emissions
        if state.missing is not None:
            places = np.searchsorted(state.missing.keys, keys)
            sums[0][1:] = state.missing.emissions[places]
            own.sums = own.sums._replace(
                transitions=state.missing.transitions, pairs=state.missing.pairs
            )
        learner.close(own)


def together(like: Dictionary, keys: Array, parts: list[Described]) -> Dictionary:
    """One dictionary of the features with some keys, of what partitions know of theirs."""
    names = dict[tuple[int, str], int]()
    numbers = np.zeros(len(keys), np.uint16)
    values = np.full((len(keys), like.arity), 2**32 - 1, np.uint32)
    for part in parts:
        known = [names.setdefault(name, len(names)) for name in part.names]
        renumbered = np.array(known, np.uint32)
        own = part.values.copy()
        present = own != 2**32 - 1
        own[present] = renumbered[own[present]]
        places = np.searchsorted(keys, part.keys)
        numbers[places], values[places] = part.numbers, own
    found = Dictionary(like.columns, like.templates)
    found.restore(list(names), numbers, values)
    return found


def fit_sentences(
    tagger: SequencePerceptron,
    X: Any,
    y: Any,
    cluster: Cluster,
    tell: Callable[[Round], None],
    label: str | None = None,
    format: str | None = None,  # noqa: A002
) -> SequencePerceptron:
    """Fit a tagger to bags of sentences and of their tags, or to files of sentences."""
    tagger._check_parameters("pieces")
    layout = None
    if hasattr(X, "to_delayed") and y is not None:
        if label is not None or format is not None:
            raise TypeError("label and format are options for files, and X is a dask bag.")
        lists = pairs_of(X, y, cluster)
        looked = cluster.on_each("look", columns_in, lists, tagger.features is not None)
        columns = next(filter(None, cluster.results(looked)), ("word",))
        parts = cluster.on_each("read", read_lists, lists, columns)
    elif hasattr(X, "to_delayed") or y is not None:
        raise ValueError(
            "Sentences on a cluster are dask bags of them and of their tags, or files."
        )
    else:
        files, columns, layout = partitions_of_files(X, label, format)
        parts = cluster.on_each("read", read_file, files, layout, columns)
    job = SentenceJob(tagger, cluster, parts)
    with tagger._unchanged_by_errors():
        tagger.mixing_ = job.train(columns, tell)
        tagger._learner.features["layout"] = layout and list(layout)
    return tagger
