"""The names of hashed features: what a hash cannot tell, for as many as are worth keeping."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..kernels.words import Names

Spelling = tuple[Any, ...]  # a function and its arguments: few names will ever be asked for


class Vocabulary:
    """The names of the features met first, up to some number."""

    def __init__(self, most: int, size: int) -> None:
        self.known: dict[int, Spelling] = {}
        places = np.empty((2, most), np.int64)
        seen, indices = np.zeros(size if most else 0, np.uint8), np.empty(most, np.uint32)
        # Room for what a kernel meets.
        self.met = Names(seen, indices, places[0], places[1], np.zeros(1, np.int64))

    def collect(self, spelling: Callable[[int, int], Spelling]) -> None:
        """Keep what a kernel met, as a function of where it begins and ends."""
        seen, indices, begins, ends, count = self.met
        n = int(count[0])
        if n:
            places = zip(begins[:n].tolist(), ends[:n].tolist(), strict=True)
            spellings = [spelling(begin, end) for begin, end in places]
            self.known.update(zip(indices[:n].tolist(), spellings, strict=True))
        self.met = Names(seen, indices[n:], begins[n:], ends[n:], count)
        count[0] = 0

    def add(self, index: int, name: str) -> None:
        """Keep a name that no kernel meets."""
        if len(self.met.indices):
            self.met.seen[index] = self.met.count[0] = 1
            self.met.indices[0] = index
            self.collect(lambda begin, end: (str, name))

    def product(self, one: int, other: int) -> str:
        """The name of a product of two features."""
        factors = (spelled(self.known.get(factor, (str, factor))) for factor in (one, other))
        return " × ".join(factors)


def spelled(spelling: Spelling) -> str:
    """A name in letters."""
    spell, *arguments = spelling
    return str(spell(*arguments))


class FeatureNames(Mapping[int, str]):
    """Names of features by column, spelled when they are asked for."""

    def __init__(self, known: dict[int, Spelling]) -> None:
        self.known = known

    def __getitem__(self, column: int) -> str:
        return spelled(self.known[column])

    def __iter__(self) -> Iterator[int]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)
