"""The lexicon: which tags the lower-cased word has had, as a column of its own."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ...data.rows import Array
from ...kernels import tokens as kernel
from ...kernels.tokens import ABSENT, HashTable, Looks
from .strings import Strings, Typed, distinct, empty_table, grown, shrunk, to_table
from .templates import Attribute
from .word_shapes import characters, look

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
    set_of_word : ndarray
        The number of each word's set.
    cells, counts : ndarray
        The number of a word times that of the tags plus the number of a tag, for all that occur,
        sorted; and how often each does.
    settled : bool
        Whether the sets are those of the counts.
    """

    sets: list[str] = field(default_factory=lambda: [""])
    set_of_word: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    table: HashTable = field(default_factory=lambda: empty_table(0))
    n_words: int = 0
    new_words: list[Strings] = field(default_factory=list)
    words_known: list[str] = field(default_factory=list)
    cells: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    counts: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    settled: bool = True

    @classmethod
    def restored(cls, words: list[str], set_of_word: Array, sets: list[str]) -> "Lexicon":
        """A lexicon that was kept."""
        keys = np.empty(len(words), np.uint64)
        kernel.hash_strings(*Strings.of(words), np.zeros(len(words), np.uint64), keys)
        table = to_table(keys, np.arange(len(words), dtype=np.uint32))
        return cls(sets, set_of_word, table, len(words), words_known=words)

    @property
    def words(self) -> list[str]:
        """The lower-cased words."""
        new = [word for strings in self.new_words for word in strings.texts()]
        if new:
            self.words_known = [*self.words_known, *(look(word, LOWER) or "" for word in new)]
        self.new_words = []
        return self.words_known

    # Learning

    def count(self, column: Typed, codes: Array, n_tags: int, counted: Array | None = None) -> None:
        """Count the tags of words.

        Parameters
        ----------
        column
            The words.
        codes, n_tags
            The number of each token's tag, of so many.
        counted
            Which tokens to count; all without it. The words of others are known, too.
        """
        cells = self.add_words(column.strings)[column.types] * n_tags + codes
        cells, counts = np.unique(cells if counted is None else cells[counted], return_counts=True)
        self.add_cells(cells, counts)

    def add(self, other: "Lexicon", n_tags: int) -> None:
        """Add what another one counted."""
        numbers = self.add_words(Strings.together(other.new_words))
        self.add_cells(numbers[other.cells // n_tags] * n_tags + other.cells % n_tags, other.counts)

    def add_words(self, strings: Strings) -> Array:
        """The numbers of words, those of new ones among them."""
        keys = lower_hashes(strings)
        self.table = grown(self.table, self.n_words, len(keys))
        numbers, firsts = np.empty(len(keys), np.uint32), np.empty(len(keys), np.int64)
        n_words = kernel.number_keys(self.table, keys, self.n_words, numbers, firsts)
        new = strings.take(firsts[: n_words - self.n_words])
        self.new_words, self.n_words = [*self.new_words, new.compact()], n_words
        return numbers.astype(np.int64)

    def add_cells(self, cells: Array, counts: Array) -> None:
        """Add counts of words and tags."""
        if len(self.cells):
            cells, places = np.unique(np.concatenate([self.cells, cells]), return_inverse=True)
            both = np.zeros(len(cells), np.int64)
            np.add.at(both, places, np.concatenate([self.counts, counts]))
            counts = both
        self.cells, self.counts, self.settled = cells, counts, False

    def renumber_tags(self, places: Array, n_tags: int) -> "Lexicon":
        """The same for so many tags, among which those so far have other numbers."""
        words, tags = np.divmod(self.cells, len(places))
        cells = words * n_tags + places[tags]
        order = np.argsort(cells)
        return replace(self, cells=cells[order], counts=self.counts[order], settled=False)

    def snapshot(self) -> Callable[[], None]:
        """Return a function that forgets all that is counted from now on."""
        before = dict(vars(self))

        def undo() -> None:
            vars(self).update(before)
            self.table = shrunk(self.table, self.n_words)

        return undo

    def copy(self) -> "Lexicon":
        """A lexicon that does not change when this one learns."""
        return replace(self, table=HashTable(*(array.copy() for array in self.table)))

    def by_word(self, n_tags: int) -> "TagCounts":
        """What was counted, for each word."""
        firsts = np.searchsorted(self.cells, np.arange(self.n_words + 1) * n_tags)
        return TagCounts(firsts, self.cells % n_tags, self.counts)

    def settle(self, tags: list[str]) -> None:
        """Find the set of each word, by all that was counted."""
        if self.settled:
            return
        known = self.by_word(len(tags))
        types, firsts = distinct(known.sets_of_words())
        members = [known.of_word(word) for word in firsts.tolist()]
        self.sets = [" ".join(tags[tag] for tag in tagged) for tagged in members]
        self.set_of_word, self.settled = types.astype(np.int64), True

    def sets_without(
        self, column: Typed, starts: Array, codes: Array, tags: list[str], counted: Array
    ) -> Typed:
        """The set of each token's word, leaving its own sentence out.

        Parameters
        ----------
        column
            The words.
        starts
            Where each sentence begins.
        codes, tags
            The number of each token's tag, and what tags are called.
        counted
            Which sentences were counted.
        """
        known, words = self.by_word(len(tags)), self.number_values(column).astype(np.int64)
        pairs = np.searchsorted(self.cells, words * len(tags) + codes)
        pairs = np.minimum(pairs, len(self.cells) - 1)  # where a sentence is not counted
        types, firsts = distinct(known.sets_of_tokens(words, pairs, starts, counted))
        sets = []
        for token in firsts.tolist():
            sentence = int(np.searchsorted(starts, token, "right")) - 1
            own = pairs[starts[sentence] : starts[sentence + 1]] if counted[sentence] else None
            sets.append(" ".join(tags[tag] for tag in known.of_word(int(words[token]), own)))
        return Typed(types, Strings.of(sets))

    # What is known

    def number_values(self, column: Typed) -> Array:
        """The number of each token's word, or ABSENT."""
        numbers = np.empty(column.strings.size, np.uint32)
        kernel.find(self.table, lower_hashes(column.strings), numbers)
        return np.asarray(numbers[column.types])

    def look_up(self, column: Typed) -> Typed:
        """The set of each token's word, by all that was learnt."""
        known = self.sets if "" in self.sets else [*self.sets, ""]
        numbers = np.empty(column.strings.size, np.uint32)
        kernel.find(self.table, lower_hashes(column.strings), numbers)
        met = numbers != ABSENT
        sets = np.full(len(numbers), known.index(""), np.uint32)
        sets[met] = self.set_of_word[numbers[met]]
        return Typed(sets[column.types], Strings.of(known))

    def knows(self, column: Typed) -> Array:
        """Whether each token's word was met in training."""
        return np.asarray(self.number_values(column) != ABSENT)


def lower_hashes(strings: Strings) -> Array:
    """The hash of each string in lower case."""
    looks = Looks(np.array([kernel.LOWER], np.uint8), np.zeros(1, np.int64), SALT)
    found = np.empty((1, strings.size), np.uint64)
    kernel.hash_looks(*strings, looks, characters(), found)
    return np.asarray(found[0])


class TagCounts(NamedTuple):
    """How often each word has each tag: word w has those of ``starts[w]`` to ``starts[w + 1]``."""

    starts: Array
    tags: Array
    counts: Array

    def sets_of_words(self) -> Array:
        """A hash of the set of each word."""
        words = np.arange(len(self.starts) - 1)
        alone, own = np.arange(len(words) + 1), np.zeros(len(words), bool)
        found = np.empty(len(words), np.uint64)
        pairs = np.minimum(self.starts[:-1], len(self.counts) - 1)
        kernel.hash_tag_sets(alone, words, pairs, *self, LEAST_SHARE, own, found)
        return found

    def sets_of_tokens(self, words: Array, pairs: Array, starts: Array, counted: Array) -> Array:
        """A hash of the set of each token's word, leaving its own sentence out."""
        found = np.empty(len(words), np.uint64)
        kernel.hash_tag_sets(starts, words, pairs, *self, LEAST_SHARE, counted, found)
        return found

    def of_word(self, word: int, own: Array | None = None) -> list[int]:
        """The set of a word, less the pairs of its own sentence."""
        some = slice(self.starts[word], self.starts[word + 1])
        counts = self.counts[some]
        if own is not None:
            counts = counts - np.bincount(own, minlength=len(self.counts))[some]
        kept = (counts > 0) & (counts >= LEAST_SHARE * counts.sum())
        return list(self.tags[some][kept].tolist())
