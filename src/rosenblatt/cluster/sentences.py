"""Taggers on a cluster: partitions of sentences, learnt by iterative parameter mixing.

Each partition has a dictionary of its own, so features travel by keys that are hashes of what they
are made of; the driver puts one dictionary together at the end.
"""

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from dask.delayed import delayed

from ..data.rows import Array
from ..estimators.base import make_seed
from ..estimators.sequence import SequencePerceptron
from ..jobs.sentences import name_columns
from ..learners.sequence.encoding import Dictionary
from ..learners.sequence.file_formats import detect_format
from ..learners.sequence.formats import Layout, find_layout, read_pieces, read_tagged
from ..learners.sequence.learner import FoundSentences, SequenceLearner
from ..learners.sequence.lexicon import Lexicon
from ..learners.sequence.schemes import SchemeCount
from ..learners.sequence.sentences import (
    check_lengths,
    check_sentences,
    find_columns,
    read_sentences,
)
from ..learners.sequence.state import Table
from ..learners.sequence.tagset import (
    Tagged,
    check_classes,
    distinct_tags,
    encode_tags,
    is_greedy,
    knows_chunks,
    make_tag_set,
)
from ..learners.sequence.task import SequenceTask
from ..learners.sequence.templates import resolve_templates
from ..reading.sources import Source
from ..training.history import Epoch, History
from ..training.run import Run
from .client import Cluster
from .job import Counted, Job
from .partitions import in_partition
from .rounds import Round

WHOLE = 1 << 40  # bytes: a file is a partition


# Partitions


def partitions_of_files(
    paths: Any, label: str | None, given_format: str | None
) -> tuple[list[Any], tuple[str, ...], Layout]:
    """A partition for each file, what their tokens have, and how they are laid out."""
    given = [paths] if isinstance(paths, str) or not isinstance(paths, Iterable) else list(paths)
    files = [str(file) for path in given for file in Source(path).files]
    kind = detect_format(files[0], given_format)
    if kind is None:
        raise ValueError(f"{files[0]} holds no sentences by its name; give format.")
    first = next(read_pieces(Source(files[0]), kind, WHOLE), None)
    if first is None:
        raise ValueError(f"{files[0]} is empty.")
    layout = find_layout(first, kind, label)
    return files, name_columns(layout), layout


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


def zip_bags(X: Any, y: Any, cluster: Cluster) -> list[Any]:
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


def list_columns(part: Any, _: int, own_templates: bool) -> tuple[str, ...] | None:
    """What the tokens of a partition have; None if there are none."""
    return find_columns(part[0], own_templates) if any(map(len, part[0])) else None


def find_classes(part: Tagged, _: int) -> tuple[list[Any], int]:
    """The tags of a partition, and how many tokens it has."""
    sentences, tags = part
    return distinct_tags(tags).tolist(), sentences.n_tokens


def find_chunks(part: Tagged, _: int, classes: Array) -> SchemeCount:
    """How chunks are written in a partition."""
    sentences, tags = part
    return SchemeCount.of(classes.tolist(), encode_tags(tags, classes), sentences.starts)


def count_words(part: Tagged, _: int, learner: SequenceLearner) -> Lexicon:
    """Which tags words have in a partition."""
    own = replace(learner, lexicon=Lexicon())
    own.count(part[0], own.inner_codes(*part))
    return own.lexicon


class Prepared(NamedTuple):
    """A partition that is ready to be learnt, with the keys of its features."""

    learner: SequenceLearner
    task: SequenceTask
    keys: Array


def prepare(part: Tagged, number: int, learner: SequenceLearner) -> Prepared:
    """Find the features of a partition."""
    own = deepcopy(learner)  # what arrives is read-only
    task = own.task(part[0], own.inner_codes(*part))
    own.dictionary.forget_keys()
    own.lexicon = Lexicon()
    return Prepared(own, task, own.dictionary.lasting_keys())


class Moves(NamedTuple):
    """How far a partition moved weights, for an average the sum of that over its sentences."""

    tables: list[Table]
    epoch: Epoch

    @property
    def nbytes(self) -> int:
        """Their size."""
        return sum(table.nbytes for table in self.tables)


def learn(part: Prepared, number: int, start: Table, epoch: int) -> Moves:
    """Go through a partition once, from the mixed weights, and tell how far they moved."""
    state, given = deepcopy(part.learner.state), part.learner.parameters
    state.take(part.keys, start)
    how = {"order": given["order"], "seed": given["random_state"], "first_part": number}
    run = Run.single(part.task, state, History(1), **how)
    run.epoch = epoch - 1  # which its permutations depend on
    with in_partition(number):
        run.train()
    (keys, weights), *sums = state.tables(part.keys)
    moved = [weights - start.find_rows(keys), *(-lacking for _, lacking in sums)]
    if sums:
        moved[1] += state.seen * moved[0]
    touched = np.flatnonzero(np.any([rows.any(axis=1) for rows in moved], axis=0))
    tables = [Table(keys[touched], rows[touched].astype(np.float32)) for rows in moved]
    return Moves(tables, run.epochs[0])


class Described(NamedTuple):
    """Features by their keys: templates, numbers of values, and what these are."""

    keys: Array
    numbers: Array
    values: Array
    names: list[tuple[int, str]]


def describe(part: Prepared, _: int, keys: Array) -> Described:
    """What the features of a partition are that have weights."""
    features = np.flatnonzero(np.isin(part.keys, keys))
    return Described(part.keys[features], *part.learner.dictionary.described(features))


# What the driver does


class SentenceJob(Job):
    """A tagger that learns from partitions of sentences, each with a dictionary of its own."""

    learner: Any
    plain = False

    def __init__(self, cluster: Cluster, parts: list[Any], learner: SequenceLearner) -> None:
        super().__init__(cluster, parts, [], learner, "mixing", "uniform")  # type: ignore[arg-type]
        self.relays = False
        self.tables = learner.state.tables(np.zeros(0, np.uint64))

    def mix_once(self) -> tuple[Counted, int]:
        """One epoch on all partitions at once."""
        weights = self.cluster.share(self.tables[0])
        given = weights, len(self.rounds) + 1
        moves = self.cluster.results(self.cluster.on_each("learn", learn, self.parts, *given))
        moved = sum(one.nbytes for one in moves) + self.tables[0].nbytes * self.cluster.workers()
        self.add(moves)
        return {0: tuple(one.epoch for one in moves)}, moved

    def add(self, moves: list[Moves]) -> None:
        """Move the weights to the mean of what partitions learnt.

        It is what ``mix_into`` of mixing.py does with all partitions alike, but that here every
        epoch counts the same in the average.
        """
        (weights, *sums), state = self.tables, self.learner.state
        state.seen += sum(one.epoch.rows for one in moves)
        state.mistakes += sum(one.epoch.mistakes for one in moves)
        steps = Table.total([one.tables[0] for one in moves]).times(1 / len(moves))
        keys, rows = Table.total([weights, steps])
        self.tables = [Table(keys, rows.astype(np.float32))]
        if sums:
            less = [one.tables[1].times(-1.0) for one in moves]
            self.tables.append(Table.total([*sums, steps.times(state.seen), *less]))

    def close_learner(self) -> None:
        """Give the learner one dictionary of all partitions, and the mixed weights."""
        learner, keys = self.learner, self.tables[0].keys
        described = ask_each(self.cluster, "describe", describe, self.parts, keys)
        known = np.unique(np.concatenate([part.keys for part in described]))
        learner.dictionary = together(learner.dictionary, known, described)
        learner.state.take(known, *self.tables)
        learner.finish(learner.states)


def ask_each(
    cluster: Cluster, what: str, function: Callable[..., Any], parts: list[Any], *given: Any
) -> list[Any]:
    """The results of a function on each partition."""
    ask = partial(cluster.on_each, what, function, parts, *given)
    return list(cluster.again_when_lost(lambda: cluster.results(ask())))


def job_for(
    parameters: dict[str, Any], cluster: Cluster, parts: list[Any], columns: tuple[str, ...]
) -> SentenceJob:
    """Find the tags and the words of all partitions, and have their features found."""
    found = ask_each(cluster, "survey", find_classes, parts)
    parts = [part for part, (_, size) in zip(parts, found, strict=True) if size]
    if not parts:
        raise ValueError("There is no token to learn from.")
    classes = check_classes(np.array(sorted({tag for tags, _ in found for tag in tags})))
    counts = None
    if knows_chunks(parameters, classes):
        counts, *others = ask_each(cluster, "schemes", find_chunks, parts, classes)
        for other in others:
            counts = counts.plus(other)
    tags = make_tag_set(classes, is_greedy(parameters), counts)
    templates = resolve_templates(parameters["features"], columns)
    learner = SequenceLearner.begin(parameters, FoundSentences(tags, columns, templates))
    for lexicon in ask_each(cluster, "words", count_words, parts, learner):
        learner.lexicon.add(lexicon, len(tags.names))
    parts = cluster.on_each("prepare", prepare, parts, cluster.share(learner))
    cluster.again_when_lost(partial(cluster.wait, parts))
    return SentenceJob(cluster, parts, learner)


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
        lists = zip_bags(X, y, cluster)
        looked = cluster.on_each("look", list_columns, lists, tagger.features is not None)
        columns = next(filter(None, cluster.results(looked)), ("word",))
        parts = cluster.on_each("read", read_lists, lists, columns)
    elif hasattr(X, "to_delayed") or y is not None:
        raise ValueError(
            "Sentences on a cluster are dask bags of them and of their tags, or files."
        )
    else:
        files, columns, layout = partitions_of_files(X, label, format)
        parts = cluster.on_each("read", read_file, files, layout, columns)
    parameters = tagger._values() | {"random_state": make_seed(tagger.random_state)}
    with tagger._unchanged_by_errors():
        job = job_for(parameters, cluster, parts, columns)
        job.train(lambda job: tell(job.rounds[-1]))
        job.close_learner()
        job.learner.parameters = tagger._values()
        job.learner.features["layout"] = layout and list(layout)
        history = job.histories[0]
        tagger.take_over(job.learner, history.epochs, history.stop_reason, {})
        tagger.mixing_ = job.mixing
    return tagger
