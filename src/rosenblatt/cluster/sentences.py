"""Sentences on a cluster: what is found in the partitions, and a tagger for them.

Each partition has its dictionary, so features travel by keys that are hashes of what they
are made of. The driver puts one dictionary together when the tagger is saved.
"""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from dask.delayed import delayed

from ..data.rows import Array
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
from ..learners.sequence.tagset import (
    Tagged,
    check_classes,
    encode_tags,
    find_distinct_tags,
    is_greedy,
    knows_chunks,
    make_tag_set,
)
from ..learners.sequence.task import SequenceTask
from ..learners.sequence.templates import resolve_templates
from ..parameters import ParameterError
from ..reading.sources import Source
from ..training.report import Note
from ..training.tasks import Part
from .client import Cluster
from .partitions import name_partition
from .run import Prepared

WHOLE = 1 << 40  # bytes: a file is a partition
ABSENT = 2**32 - 1


class SentencePartition(NamedTuple):
    """Sentences in the memory of a worker, with a tagger that knows their features."""

    learner: SequenceLearner
    task: SequenceTask

    def parts(self) -> list[Part]:
        """All sentences as one part of a run."""
        return [Part.of(self.task)]


@dataclass(frozen=True)
class SentenceSource:
    """Sentences with tags: two Dask bags, or files.

    Attributes
    ----------
    X, y
        The bags, or paths and None.
    label, format
        The column of the tags and the format, of files.
    """

    X: Any
    y: Any = None
    label: str | None = None
    format: str | None = None
    classes = None

    def __post_init__(self) -> None:
        bags = [hasattr(each, "to_delayed") for each in (self.X, self.y)]
        if any(bags) != all(bags) or (self.y is not None and not any(bags)):
            raise ParameterError(
                "Sentences on a cluster are two dask bags, of sentences and of their tags, or "
                "files without {y?}.",
                code="cluster-sentences",
            )
        if any(bags) and (self.label is not None or self.format is not None):
            raise TypeError("label and format are options for files, and X is a dask bag.")
        if any(bags) and self.X.npartitions != self.y.npartitions:
            raise ParameterError(
                f"X has {self.X.npartitions} partitions and y {self.y.npartitions}; cut both at "
                "the same sentences.",
                code="other-partitions",
            )

    def can_stream(self, parameters: Mapping[str, Any]) -> bool:
        """Sentences are kept by the workers."""
        return False

    def prepare(self, cluster: Cluster, parameters: dict[str, Any], streams: bool) -> Prepared:
        """Begin a tagger with the tags and words of all partitions; have their features found."""
        parts, columns, layout = self.read(cluster, parameters["features"] is not None)
        found = cluster.ask_each("survey", list_tags, parts)
        parts = [part for part, (_, tokens, _) in zip(parts, found, strict=True) if tokens]
        if not parts:
            raise ParameterError("There are no tokens to learn from.", code="no-rows")
        classes = check_classes(np.array(sorted({tag for tags, *_ in found for tag in tags})))
        counts = None
        if knows_chunks(parameters, classes):
            counts, *others = cluster.ask_each("schemes", count_schemes, parts, classes)
            for other in others:
                counts = counts.plus(other)
        tags = make_tag_set(classes, is_greedy(parameters), counts)
        templates = resolve_templates(parameters["features"], columns)
        learner = SequenceLearner.begin(parameters, FoundSentences(tags, columns, templates))
        learner.features["layout"] = layout and list(layout)
        for lexicon in cluster.ask_each("words", count_words, parts, learner):
            learner.lexicon.add(lexicon, len(tags.names))
        parts = cluster.submit_each("prepare", encode, parts, cluster.share(learner))
        cluster.retry_when_lost(lambda: cluster.wait(parts))
        sizes = [count for _, tokens, count in found if tokens]
        facts = {"sentences": sum(sizes), "tokens": sum(tokens for _, tokens, _ in found)}
        return Prepared(learner, parts, sizes, facts=facts)

    def read(
        self, cluster: Cluster, own_templates: bool
    ) -> tuple[list[Any], tuple[str, ...], Layout | None]:
        """Have the sentences read; return the partitions, the columns and the layout of files."""
        if self.y is None:
            files, layout = find_files(self.X, self.label, self.format)
            columns = name_columns(layout)
            return cluster.submit_each("read", read_file, files, layout, columns), columns, layout
        pairs = zip(self.X.to_delayed(), self.y.to_delayed(), strict=True)
        lists = cluster.client.compute([delayed(list_both)(*pair) for pair in pairs])
        known = cluster.ask_each("look", list_columns, lists, own_templates)
        columns = next(filter(None, known), ("word",))
        return cluster.submit_each("read", read_lists, lists, columns), columns, None

    def finish(self, cluster: Cluster, prepared: Prepared, states: list[Any]) -> SequenceLearner:
        """The tagger with the state of a run, and one dictionary of all partitions."""
        (state,), learner = deepcopy(states), prepared.learner
        described = cluster.ask_each("describe", describe, prepared.partitions, state.keys)
        dictionary = merge_dictionaries(learner.dictionary, state.keys, described)
        made: SequenceLearner = replace(learner, dictionary=dictionary)
        made.finish([state])
        return made

    def list_notes(self, cluster: Cluster) -> list[Note]:
        """Nothing is noted about sentences."""
        return []


def find_files(paths: Any, label: str | None, given: str | None) -> tuple[list[str], Layout]:
    """The files of some paths, and how they are laid out."""
    each = [paths] if isinstance(paths, str) or not isinstance(paths, Iterable) else list(paths)
    files = [str(file) for path in each for file in Source(path).files]
    kind = detect_format(files[0], given)
    if kind is None:
        raise ParameterError(
            f"The name of {files[0]} does not say which format of sentences it has; pass "
            "{format?}.",
            code="format-of-sentences",
        )
    first = next(read_pieces(Source(files[0]), kind, WHOLE), None)
    if first is None:
        raise ParameterError(f"{files[0]} is empty.", code="empty-file")
    return files, find_layout(first, kind, label)


# What workers do


def read_file(path: str, _: int, layout: Layout, columns: tuple[str, ...]) -> Tagged:
    """The sentences of a file."""
    (piece,) = read_pieces(Source(path), layout.format, WHOLE)
    file = read_tagged(piece, layout, columns, with_tags=True)
    starts = np.unique(file.sentences.starts)
    assert file.tags is not None
    return file.sentences._replace(starts=starts), file.tags.compact()


def list_both(sentences: Iterable[Any], tags: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """A partition of two bags as lists."""
    return list(sentences), list(tags)


def list_columns(part: Any, _: int, own_templates: bool) -> tuple[str, ...] | None:
    """The columns that the tokens of a partition have; None if there are no tokens."""
    return find_columns(part[0], own_templates) if any(map(len, part[0])) else None


def read_lists(part: Any, number: int, columns: tuple[str, ...]) -> Tagged:
    """The sentences of a partition of two bags."""
    with name_partition(number):
        sentences, tags = check_sentences(part[0], "X"), check_sentences(part[1], "y")
        check_lengths(sentences, tags)
        return read_sentences(sentences, columns), [tag for some in tags for tag in some]


def list_tags(part: Tagged, _: int) -> tuple[list[Any], int, int]:
    """The tags of a partition, and how many tokens and sentences it has."""
    sentences, tags = part
    return find_distinct_tags(tags).tolist(), sentences.n_tokens, len(sentences.starts) - 1


def count_schemes(part: Tagged, _: int, classes: Array) -> SchemeCount:
    """How chunks are written in a partition."""
    sentences, tags = part
    return SchemeCount.of(classes.tolist(), encode_tags(tags, classes), sentences.starts)


def count_words(part: Tagged, _: int, learner: SequenceLearner) -> Lexicon:
    """Which tags words have in a partition."""
    own = replace(learner, lexicon=Lexicon())
    own.count(part[0], own.inner_codes(*part))
    return own.lexicon


def encode(part: Tagged, _: int, learner: SequenceLearner) -> SentencePartition:
    """Find the features of a partition."""
    own = deepcopy(learner)  # what arrives is read-only
    task = own.task(part[0], own.inner_codes(*part))
    own.mixable_states()
    own.dictionary.forget_keys()
    own.lexicon = Lexicon()
    return SentencePartition(own, task)


class Described(NamedTuple):
    """Features by their keys: templates, numbers of values, and the texts of these."""

    keys: Array
    numbers: Array
    values: Array
    names: list[tuple[int, str]]


def describe(part: SentencePartition, _: int, keys: Array) -> Described:
    """The features of a partition that have some keys."""
    own = part.learner.state.keys
    features = np.flatnonzero(np.isin(own, keys))
    return Described(own[features], *part.learner.dictionary.described(features))


def merge_dictionaries(like: Dictionary, keys: Array, parts: list[Described]) -> Dictionary:
    """One dictionary of the features with some keys, numbered as these are."""
    names, order = dict[tuple[int, str], int](), np.argsort(keys)
    numbers = np.zeros(len(keys), np.uint16)
    values = np.full((len(keys), like.arity), ABSENT, np.uint32)
    for part in parts:
        known = [names.setdefault(name, len(names)) for name in part.names]
        renumbered = np.array(known, np.uint32)
        own = part.values.copy()
        present = own != ABSENT
        own[present] = renumbered[own[present]]
        places = order[np.searchsorted(keys, part.keys, sorter=order)]
        numbers[places], values[places] = part.numbers, own
    found = Dictionary(like.columns, like.templates)
    found.restore(list(names), numbers, values)
    return found
