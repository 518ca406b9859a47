"""The lexicon: the tags that each lower-cased word has had, as a column of tokens."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..data.rows import Array
from .kernels import tokens as kernel
from .kernels.tokens import ABSENT, HashTable, Looks
from .strings import Categorical, Strings, enlarge_table, fill_table, make_table, number_distinct
from .templates import Attribute, hash_looks, spell_attribute

LEAST_SHARE = 0.05  # of the tokens of a word that a tag must have
LOWER = Attribute("word", kernel.LOWER)
SALT = np.array([0], np.uint64)


@dataclass
class Lexicon:
    """The set of tags of each word; unknown words have the empty set.

    Attributes
    ----------
    words : list of Strings
        The lower-cased words, in parts.
    sets : list of str
        The distinct sets: tags, separated by blanks.
    set_of_word : ndarray
        The number of each word's set.
    cells, counts : ndarray
        Pairs of a word and a tag that occur, as word × number of tags + tag, sorted; and how often
        each occurs.
    is_current : bool
        Whether the sets are up to date with the counts.
    """

    sets: list[str] = field(default_factory=lambda: [""])
    set_of_word: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    table: HashTable = field(default_factory=lambda: make_table(0))
    n_words: int = 0
    words: list[Strings] = field(default_factory=list)
    cells: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    counts: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    is_current: bool = True

    @classmethod
    def from_words(cls, words: Strings, set_of_word: Array, sets: list[str]) -> "Lexicon":
        """Make the lexicon of a model file."""
        table = fill_table(words.hashes(np.zeros(words.size, np.uint64)), np.arange(words.size))
        return cls(sets, set_of_word, table, words.size, [words])

    # Learning

    def count(self, column: Categorical, codes: Array, n_tags: int) -> None:
        """Count the tags of words: the number of each token's, of a number of tags."""
        new = self.add_words(column.strings)[column.types] * n_tags + codes
        cells, counts = np.unique(new, return_counts=True)
        if len(self.cells):
            cells, places = np.unique(np.concatenate([self.cells, cells]), return_inverse=True)
            both = np.concatenate([self.counts, counts])
            counts = np.bincount(places, both, len(cells)).astype(np.int64)
        self.cells, self.counts, self.is_current = cells, counts, False

    def add_words(self, strings: Strings) -> Array:
        """Return the numbers of words; new words are added."""
        keys = hash_lower_case(strings)
        self.table = enlarge_table(self.table, self.n_words, len(keys))
        numbers, firsts = np.empty(len(keys), np.uint32), np.empty(len(keys), np.int64)
        n_words = kernel.number_keys(self.table, keys, self.n_words, numbers, firsts)
        new = spell_attribute(strings.take(firsts[: n_words - self.n_words]), LOWER)
        self.words, self.n_words = [*self.words, new], n_words
        return numbers.astype(np.int64)

    def copy(self) -> "Lexicon":
        """Return a copy that does not change when this lexicon learns."""
        return replace(self, table=HashTable(*(array.copy() for array in self.table)))

    def group_by_word(self, n_tags: int) -> "TagCounts":
        """Return the counts grouped by word."""
        firsts = np.searchsorted(self.cells, np.arange(self.n_words + 1) * n_tags)
        return TagCounts(firsts, self.cells % n_tags, self.counts)

    def update_sets(self, tags: list[str]) -> None:
        """Bring the sets of words up to date with the counts."""
        if self.is_current:
            return
        known = self.group_by_word(len(tags))
        words = np.arange(self.n_words)
        hashes = known.hash_sets(words, words, np.array([0, len(words)]), False)
        types, firsts = number_distinct(hashes)
        members = [known.find_tags(word) for word in firsts.tolist()]
        self.sets = [" ".join(tags[tag] for tag in tagged) for tagged in members]
        self.set_of_word, self.is_current = types.astype(np.int64), True

    def look_up_without_own(
        self, column: Categorical, starts: Array, codes: Array, tags: list[str]
    ) -> Categorical:
        """Return the set of each token's word without the counts of the same sentence.

        Parameters
        ----------
        column
            The words.
        starts
            Where each sentence begins.
        codes, tags
            The number of each token's tag, and the names of the tags.
        """
        known, words = self.group_by_word(len(tags)), self.number_values(column).astype(np.int64)
        pairs = np.searchsorted(self.cells, words * len(tags) + codes)
        types, firsts = number_distinct(known.hash_sets(words, pairs, starts, True))
        sets = []
        for token in firsts.tolist():
            sentence = int(np.searchsorted(starts, token, "right")) - 1
            own = pairs[starts[sentence] : starts[sentence + 1]]
            sets.append(" ".join(tags[tag] for tag in known.find_tags(int(words[token]), own)))
        return Categorical(types, Strings.of(sets))

    # Looking up

    def number_values(self, column: Categorical) -> Array:
        """Return the number of each token's word, or ABSENT."""
        numbers = np.empty(column.strings.size, np.uint32)
        kernel.find(self.table, hash_lower_case(column.strings), numbers)
        return np.asarray(numbers[column.types])

    def look_up(self, column: Categorical) -> Categorical:
        """Return the set of each token's word."""
        known = self.sets if "" in self.sets else [*self.sets, ""]
        numbers = self.number_values(column)
        sets, met = np.full(len(numbers), known.index(""), np.uint32), numbers != ABSENT
        sets[met] = self.set_of_word[numbers[met]]
        return Categorical(sets, Strings.of(known))

    def knows(self, column: Categorical) -> Array:
        """Flag the tokens whose word occurred in training."""
        return np.asarray(self.number_values(column) != ABSENT)


def hash_lower_case(strings: Strings) -> Array:
    """Return the hash of each string in lower case."""
    looks = Looks(np.array([kernel.LOWER], np.uint8), np.zeros(1, np.int64), SALT)
    return np.asarray(hash_looks(strings, looks)[0])


class TagCounts(NamedTuple):
    """How often each word has each tag: word w has those of ``starts[w]`` to ``starts[w + 1]``."""

    starts: Array
    tags: Array
    counts: Array

    def hash_sets(self, words: Array, pairs: Array, starts: Array, without_own: bool) -> Array:
        """Return a hash of the set of each token's word, without the pairs of its sentence."""
        found = np.empty(len(words), np.uint64)
        own = np.zeros(len(self.counts), np.int64)
        kernel.hash_tag_sets(starts, words, pairs, *self, LEAST_SHARE, without_own, own, found)
        return found

    def find_tags(self, word: int, own: Array | None = None) -> list[int]:
        """Return the tags of a word, without some pairs of a sentence."""
        some = slice(self.starts[word], self.starts[word + 1])
        counts = self.counts[some]
        if own is not None:
            counts = counts - np.bincount(own, minlength=len(self.counts))[some]
        kept = (counts > 0) & (counts >= LEAST_SHARE * counts.sum())
        return list(self.tags[some][kept].tolist())
