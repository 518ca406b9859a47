"""The lexicon: which tags the lower-cased word has had, as a column of its own."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..kernels import tokens as kernel
from ..kernels.tokens import ABSENT, HashTable, Looks
from ..rows import Array
from .looks import characters, look
from .strings import Strings, Typed, distinct, empty_table, table_of
from .templates import Attribute

LEAST_SHARE = 0.05  # of the tokens of a word that a tag must have
LOWER = Attribute("word", kernel.LOWER)
SALT = np.array([0], np.uint64)


@dataclass
class Lexicon:
    """Sets of tags by word; the empty set is that of words not met.

    Attributes
    ----------
    sets : list of str
        The distinct sets, tags with blanks between.
    words : list of str
        The lower-cased words.
    set_of_word : ndarray
        The number of each word's set.
    """

    sets: list[str] = field(default_factory=lambda: [""])
    set_of_word: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    table: HashTable = field(default_factory=lambda: empty_table(0))
    first_words: Strings | None = None
    words_known: list[str] = field(default_factory=list)

    @classmethod
    def restored(cls, words: list[str], set_of_word: Array, sets: list[str]) -> "Lexicon":
        """A lexicon that was kept."""
        keys = np.empty(len(words), np.uint64)
        kernel.hash_strings(*Strings.of(words), np.zeros(len(words), np.uint64), keys)
        table = table_of(keys, np.arange(len(words), dtype=np.uint32))
        return cls(sets, set_of_word, table, words_known=words)

    @property
    def words(self) -> list[str]:
        """The lower-cased words."""
        if self.first_words is not None:
            self.words_known = [look(word, LOWER) or "" for word in self.first_words.texts()]
            self.first_words = None
        return self.words_known

    def learn(
        self, column: Typed, starts: Array, codes: Array, tags: list[str], counted: Array
    ) -> Typed:
        """Learn the sets of words; the set of each token, leaving its own sentence out.

        Parameters
        ----------
        column
            The words.
        starts
            Where each sentence begins.
        codes, tags
            The number of each token's tag, and what tags are called.
        counted
            Which sentences to learn from.
        """
        keys = lower_hashes(column.strings)
        numbers, firsts = distinct(keys)
        self.first_words = column.strings.take(firsts)
        self.table = table_of(keys[firsts], np.arange(len(firsts), dtype=np.uint32))
        words = numbers[column.types].astype(np.int64)
        counts = TagCounts.of(words, codes, len(firsts), len(tags), counted, starts)
        of_words = counts.sets_of_words()
        types, where = distinct(np.concatenate([of_words, counts.sets_of_tokens(starts, counted)]))
        n_words = len(of_words)
        members = [
            counts.of_word(place)
            if place < n_words
            else counts.of_token(place - n_words, starts, counted)
            for place in where.tolist()
        ]
        self.sets = [" ".join(tags[tag] for tag in tagged) for tagged in members]
        self.set_of_word = types[:n_words].astype(np.int64)
        return Typed(types[n_words:], Strings.of(self.sets))

    def look_up(self, column: Typed) -> Typed:
        """The set of each token's word, by all that was learnt."""
        if "" not in self.sets:
            self.sets.append("")
        numbers = np.empty(column.strings.size, np.uint32)
        kernel.find(self.table, lower_hashes(column.strings), numbers)
        known = numbers != ABSENT
        sets = np.full(len(numbers), self.sets.index(""), np.uint32)
        sets[known] = self.set_of_word[numbers[known]]
        return Typed(sets[column.types], Strings.of(self.sets))

    def knows(self, column: Typed) -> Array:
        """Whether each token's word was met in training."""
        numbers = np.empty(column.strings.size, np.uint32)
        kernel.find(self.table, lower_hashes(column.strings), numbers)
        return np.asarray((numbers != ABSENT)[column.types])


def lower_hashes(strings: Strings) -> Array:
    """The hash of each string in lower case."""
    looks = Looks(np.array([kernel.LOWER], np.uint8), np.zeros(1, np.int64), SALT)
    found = np.empty((1, strings.size), np.uint64)
    kernel.hash_looks(*strings, looks, characters(), found)
    return np.asarray(found[0])


class TagCounts(NamedTuple):
    """How often each word has each tag, in the sentences that count.

    The tags of word w, and their counts, are ``starts[w]`` to ``starts[w + 1]``; ``pairs`` tells
    which of them each token has.
    """

    words: Array
    pairs: Array
    starts: Array
    tags: Array
    counts: Array

    @classmethod
    def of(
        cls, words: Array, codes: Array, n_words: int, n_tags: int, counted: Array, starts: Array
    ) -> "TagCounts":
        """Count the tags of tokens."""
        cells, pairs = np.unique(words * n_tags + codes, return_inverse=True)
        of_token = np.repeat(counted, np.diff(starts))
        counts = np.bincount(pairs[of_token], minlength=len(cells))
        firsts = np.searchsorted(cells, np.arange(n_words + 1) * n_tags)
        return cls(words, pairs, firsts, cells % n_tags, counts)

    def sets_of_words(self) -> Array:
        """A hash of the set of each word."""
        words = np.arange(len(self.starts) - 1)
        alone, own = np.arange(len(words) + 1), np.zeros(len(words), bool)
        found = np.empty(len(words), np.uint64)
        table = self.starts, self.tags, self.counts
        kernel.tag_sets(alone, words, self.starts[:-1], *table, LEAST_SHARE, own, found)
        return found

    def sets_of_tokens(self, starts: Array, counted: Array) -> Array:
        """A hash of the set of each token's word, leaving its own sentence out."""
        found = np.empty(len(self.words), np.uint64)
        table = self.starts, self.tags, self.counts
        kernel.tag_sets(starts, self.words, self.pairs, *table, LEAST_SHARE, counted, found)
        return found

    def of_word(self, word: int, own: Array | None = None) -> list[int]:
        """The set of a word, less the pairs of its own sentence."""
        some = slice(self.starts[word], self.starts[word + 1])
        counts = self.counts[some]
        if own is not None:
            counts = counts - np.bincount(own, minlength=len(self.counts))[some]
        kept = (counts > 0) & (counts >= LEAST_SHARE * counts.sum())
        return list(self.tags[some][kept].tolist())

    def of_token(self, token: int, starts: Array, counted: Array) -> list[int]:
        """The set of a token's word, leaving its own sentence out."""
        sentence = int(np.searchsorted(starts, token, "right")) - 1
        own = self.pairs[starts[sentence] : starts[sentence + 1]] if counted[sentence] else None
        return self.of_word(int(self.words[token]), own)
