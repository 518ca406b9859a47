"""Names of hashed features, collected while rows are parsed."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from ..kernels.words import Names

Spelling = tuple[Any, ...]  # a function and its arguments: few names will ever be asked for
Spell = Callable[[np.ndarray, np.ndarray], Iterable[Spelling]]  # by where names begin and end


class Met(NamedTuple):
    """Features that a kernel met for the first time, with the places of their names."""

    indices: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    spelling: "Spell"


class Vocabulary:
    """The names of the features met first, up to some number.

    Pieces of a file are parsed at the same time. Each collects the names that may be new, and the
    new ones are kept in the order of the pieces.
    """

    def __init__(self, most: int, size: int) -> None:
        self.known: dict[int, Spelling] = {}
        self.most, self.size = most, size  # of how many features there can be
        self.left = most  # how many more may be kept
        self.seen = np.zeros(size if most else 0, np.uint8)
        self.met = allocate_room(0, self.seen[:0])  # by a kernel
        self.new: list[Met] = []

    def fork(self) -> "Vocabulary":
        """Make a vocabulary for one piece, with the features that it meets first."""
        other = copy(self)
        if self.left:
            other.met = allocate_room(self.most, np.zeros(self.size, np.uint8))
        other.new = []
        return other

    def collect(self, spelling: Spell) -> None:
        """Keep what a kernel met, and the function that writes the names."""
        seen, indices, begins, ends, count = self.met
        n = int(count[0])
        if n:
            self.new.append(Met(indices[:n], begins[:n], ends[:n], spelling))
        self.met = Names(seen, indices[n:], begins[n:], ends[n:], count)
        count[0] = 0

    def absorb(self, other: "Vocabulary") -> None:
        """Keep the names that are new in a piece."""
        for indices, begins, ends, spelling in other.new:
            new = np.flatnonzero(self.seen[indices] == 0)[: self.left]
            columns = indices[new]
            self.seen[columns] = 1
            spellings = spelling(begins[new], ends[new])
            self.known.update(zip(columns.tolist(), spellings, strict=True))
            self.left -= len(new)
        other.new, other.met = [], self.met  # a spelling may keep it

    def add(self, index: int, name: str) -> None:
        """Keep a name that no kernel meets."""
        if self.left:
            self.seen[index] = 1
            self.known[index] = (str, name)
            self.left -= 1

    def products(self, ones: np.ndarray, others: np.ndarray) -> Iterable[Spelling]:
        """Return functions that write the names of products of two features."""
        return zip(repeat(self.product), ones.tolist(), others.tolist(), strict=False)

    def product(self, one: int, other: int) -> str:
        """Write the name of a product of two features."""
        factors = (spell_name(self.known.get(factor, (str, factor))) for factor in (one, other))
        return " × ".join(factors)


class Cells(NamedTuple):
    """Bytes of the cells of one column; cell k lies between edges k and k + 1.

    ``spaces`` say whether there is a space before and after each.
    """

    column: str
    spell: Callable[[bytes], str]
    letters: bytes
    edges: np.ndarray
    spaces: tuple[np.ndarray, np.ndarray]

    @classmethod
    def spell_name(
        cls, column: str, spell: Callable[[bytes], str], data: np.ndarray
    ) -> Callable[[np.ndarray, np.ndarray], Iterable[Spelling]]:
        """Return a function that copies names out of the data, all at once."""

        def spelling(begins: np.ndarray, ends: np.ndarray) -> Iterable[Spelling]:
            spaces = begins < 0, ends < 0
            begins, ends = np.maximum(begins, ~begins), np.maximum(ends, ~ends)
            edges = np.concatenate([np.zeros(1, np.int64), np.cumsum(ends - begins)])
            places = np.repeat(begins - edges[:-1], np.diff(edges)) + np.arange(edges[-1])
            cells = cls(column, spell, data[places].tobytes(), edges, spaces)
            return zip(repeat(cells.name), range(len(begins)), strict=False)

        return spelling

    def name(self, k: int) -> str:
        """Return the name of the feature in a cell."""
        cell = self.spell(self.letters[self.edges[k] : self.edges[k + 1]])
        before, after = (" " * bool(each[k]) for each in self.spaces)
        return f"{self.column}={before}{cell}{after}"


def allocate_room(most: int, seen: np.ndarray) -> Names:
    """Allocate arrays for the names that a kernel meets, with a mark for each known one."""
    places = np.empty((2, most), np.int64)
    return Names(seen, np.empty(most, np.uint32), places[0], places[1], np.zeros(1, np.int64))


def spell_name(spelling: Spelling) -> str:
    """Write a name."""
    spell, *arguments = spelling
    return str(spell(*arguments))


class FeatureNames(Mapping[int, str]):
    """Names of features by column, written when they are asked for."""

    def __init__(self, known: dict[int, Spelling]) -> None:
        self.known = known

    def __getitem__(self, column: int) -> str:
        return spell_name(self.known[column])

    def __iter__(self) -> Iterator[int]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


def named(sizes: np.ndarray, names: Mapping[int, str], most: int = 1000) -> list[Any]:
    """Return the numbers and names of the columns with the largest sizes."""
    if not names:
        return []
    known = np.sort(np.fromiter(names, np.intp, len(names)))
    known = known[known < len(sizes)]
    chosen = known[np.argsort(-sizes[known], kind="stable")[:most]]
    return [[int(column), names[int(column)]] for column in chosen]
