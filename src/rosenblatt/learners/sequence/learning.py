"""A tagger while it learns: its tags, and a dictionary, a lexicon and weights that grow."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...data.rows import Array
from ...kernels.sequences import PathSettings, PathSums, PathWeights
from .encoding import Dictionary
from .lexicon import Lexicon
from .sentences import FEATURES, Sentences
from .state import PathState
from .tagset import TagSet, check_classes, classes_of, codes_of, tag_set
from .task import SequenceTask
from .templates import LEXICON

SPARE = 1 << 17  # features without weights that a dictionary may hold besides as many as have some

Tagged = tuple[Sentences, Any]
"""Sentences, and the tag of each token."""


@dataclass
class Learning:
    """What a tagger is made of while it learns."""

    tags: TagSet
    dictionary: Dictionary
    lexicon: Lexicon
    state: PathState
    settings: PathSettings

    @property
    def has_words(self) -> bool:
        """Whether tokens have words, and do not come with features."""
        return self.dictionary.columns != (FEATURES,)

    def count(self, sentences: Sentences, codes: Array, counted: Array | None = None) -> None:
        """Let the lexicon know which tags words have, in all sentences or those that count."""
        if self.has_words:  # a lexicon also tells which words are known
            tokens = None if counted is None else np.repeat(counted, np.diff(sentences.starts))
            column = sentences.columns[self.dictionary.columns[0]]
            self.lexicon.count(column, codes, len(self.tags.names), tokens)

    def task(
        self, sentences: Sentences, codes: Array, counted: Array | None = None
    ) -> SequenceTask:
        """What there is to learn from sentences, or from those of them that count."""
        starts = sentences.starts
        if counted is None:
            counted = np.ones(len(starts) - 1, bool)
        if self.dictionary.with_lexicon:
            column = sentences.columns[self.dictionary.columns[0]]
            known = self.lexicon.sets_without(column, starts, codes, self.tags.names, counted)
            sentences = sentences._replace(columns={**sentences.columns, LEXICON: known})
        tokens = self.dictionary.encode(sentences, learning=True)
        learnt = np.flatnonzero(counted).astype(np.uint32)
        known_features = self.dictionary.n_features
        return SequenceTask(tokens, starts, codes, learnt, self.settings, known_features)

    def tasks(self, pieces: Callable[[], Iterable[Tagged]]) -> Iterator[SequenceTask]:
        """What there is to learn from pieces of a stream, which are forgotten one by one."""
        for sentences, tags in pieces():
            codes = self.tags.inside(codes_of(tags, self.tags.classes), sentences.starts)
            yield self.task(sentences, codes)
            self.forget_unmoved()

    def forget_unmoved(self) -> None:
        """Keep the features that have weights, numbered as these are; the others say nothing."""
        self.dictionary.keep(self.state.features())
        self.state.renumber()

    def forget_many(self) -> None:
        """The same when there are many others."""
        if self.dictionary.n_features > 2 * self.state.used + SPARE:
            self.forget_unmoved()

    def finished(self, state: PathState, for_good: bool) -> PathWeights:
        """The weights to predict with by a state, which the dictionary has from then on.

        For good, features whose weights are zero again are forgotten, too.
        """
        features, weights = state.features(), state.coefficients(for_good)
        emissions = weights.emissions.reshape(-1, state.shape.width)[1:]
        if for_good:
            state.sums = PathSums(*[np.zeros(0)] * 3)
            moved = emissions.any(axis=1)
            features, emissions = features[moved], emissions[moved]
        self.dictionary.keep(features)
        state.renumber()
        if self.has_words:
            self.lexicon.settle(self.tags.names)
        return weights._replace(emissions=emissions.ravel())


def survey(
    pieces: Callable[[], Iterable[Tagged]], chunks: bool, greedy: bool
) -> tuple[TagSet, int, int]:
    """The tags of a stream, and how many sentences and tokens it has."""
    found: set[Any] = set()
    n_sentences = n_tokens = 0
    for sentences, tags in pieces():
        found.update(classes_of(tags).tolist())
        n_sentences += len(sentences.starts) - 1
        n_tokens += sentences.n_tokens
    classes = check_classes(np.array(sorted(found)))

    def parts() -> Iterator[tuple[Array, Array]]:
        for sentences, tags in pieces():
            yield codes_of(tags, classes), sentences.starts

    return tag_set(classes, chunks, greedy, parts), n_sentences, n_tokens
