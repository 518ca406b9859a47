"""Chunks as tags: IOB1, IOB2, IOBES and BILOU, and which tags may follow which.

Ramshaw & Marcus (1995) and Tjong Kim Sang & Veenstra (1999). All are learnt as IOBES, whose tags
also mark the end of a chunk.
"""

import logging
import re
from typing import NamedTuple

import numpy as np

from ...data.rows import Array
from ...kernels.sequences import IMPOSSIBLE

CHUNK_TAG = re.compile(r"([BIESLU])([-_])(.+)", re.DOTALL)
LETTERS = {"L": "E", "U": "S"}
MOST_ODD = 0.01  # share of the tags of chunks that may violate the scheme
FREE, CONTINUED = "OESLU", "BI"  # letters after which a chunk may begin, or must continue


class Scheme(NamedTuple):
    """How chunks are written as tags.

    Attributes
    ----------
    name : str
        "IOB1", "IOB2", "IOBES" or "BILOU".
    tags : list of str
        The tags of sentences, in the order of their numbers.
    inner : list of tuple
        The letter and the kind of chunk of each inner tag.
    separator : str
        The character between letter and kind.
    """

    name: str
    tags: list[str]
    inner: list[tuple[str, str]]
    separator: str

    @property
    def names(self) -> list[str]:
        """The inner tags."""
        return [letter + self.separator + kind if kind else letter for letter, kind in self.inner]

    def outside(self, codes: Array, starts: Array, strictly: bool = False) -> Array:
        """Return the tags of sentences for inner tags; strictly, -1 where there is none."""
        if self.name != "IOB1":
            return self.map_tags("", strictly)[codes]
        names = sorted({kind for _, kind in self.inner})
        kinds = np.array([names.index(kind) if kind else -1 for _, kind in self.inner])[codes]
        before = np.zeros(len(codes), bool)  # a chunk of the same kind, so that B is needed
        before[1:] = (kinds[1:] == kinds[:-1]) & (kinds[1:] >= 0)
        before[starts[:-1][starts[:-1] < len(codes)]] = False
        return np.where(
            before, self.map_tags("B", strictly)[codes], self.map_tags("I", strictly)[codes]
        )

    def map_tags(self, begin: str, strictly: bool) -> Array:
        """Return the tag of sentences for each inner tag; in IOB1 chunks begin with ``begin``."""
        numbers = {tag: number for number, tag in enumerate(self.tags)}
        letters = {
            "IOB1": {"B": begin, "S": begin, "E": "I"},
            "IOB2": {"S": "B", "E": "I"},
            "BILOU": {"S": "U", "E": "L"},
        }.get(self.name, {})
        found = []
        for letter, kind in self.inner:
            name = letters.get(letter, letter) + self.separator + kind if kind else "O"
            spare = -1 if strictly else numbers.get("I" + self.separator + kind, 0)
            found.append(numbers.get(name, spare))
        return np.array(found)

    def select(self, used: Array) -> "Scheme":
        """Return the scheme with some of its inner tags."""
        return self._replace(inner=[self.inner[number] for number in np.flatnonzero(used)])

    def forbidden(self) -> tuple[Array, Array]:
        """Return which inner tag may not follow which, and which may not be the last."""
        return find_forbidden(self.inner, with_ends=True)


def find_forbidden(parts: list[tuple[str, str]], with_ends: bool) -> tuple[Array, Array]:
    """Return which tag may not follow which, and which may not be the last.

    The last row is for the start of a sentence. Without tags for the ends of chunks, as in IOB2, a
    chunk may end anywhere.
    """
    count = len(parts)
    moves, last = np.zeros((count + 1, count), bool), np.zeros(count, bool)
    for p, (before, kind) in enumerate([*parts, ("O", "")]):
        for t, (letter, own_kind) in enumerate(parts):
            goes_on = letter in "IEL"
            if before in FREE:
                moves[p, t] = goes_on
            else:
                moves[p, t] = kind != own_kind if goes_on else with_ends
    if with_ends:
        last[:] = [letter in CONTINUED for letter, _ in parts]
    return moves, last


def split_chunk_tags(tags: list[str]) -> tuple[list[tuple[str, str]], str] | None:
    """Split tags into letters and kinds of chunks; None if they do not write chunks."""
    found, separators = [], set()
    for tag in tags:
        match = CHUNK_TAG.fullmatch(tag) if isinstance(tag, str) else None
        if match is None and tag != "O":
            return None
        found.append((match[1], match[3]) if match else ("O", ""))
        separators |= {match[2]} if match else set()
    return (found, separators.pop()) if len(separators) == 1 else None


class Chunks(NamedTuple):
    """The kind of chunk of each token (0 for none), and whether a chunk begins or ends there."""

    kinds: Array
    begins: Array
    ends: Array


def find_chunks(letters: Array, kinds: Array, starts: Array) -> Chunks:
    """Find chunks as conlleval does, from letters (of IOBES) and kinds.

    A chunk begins at B and S, and at I and E after something else; it ends at E and S, and before
    a token that does not continue it.
    """
    n = len(letters)
    first, last = np.zeros(n, bool), np.zeros(n, bool)
    filled = starts[:-1] < starts[1:]
    first[starts[:-1][filled]], last[starts[1:][filled] - 1] = True, True
    inside = letters != "O"
    same = np.zeros(n, bool)
    same[1:] = inside[1:] & inside[:-1] & (kinds[1:] == kinds[:-1]) & ~first[1:]
    ended = np.zeros(n, bool)
    ended[1:] = np.isin(letters[:-1], ["E", "S"])
    begins = inside & (np.isin(letters, ["B", "S"]) | ~same | ended)
    ends = inside.copy()
    ends[:-1] &= begins[1:] | ~same[1:]
    ends |= inside & last
    return Chunks(np.where(inside, kinds, 0), begins, ends)


def list_kinds(parts: list[tuple[str, str]]) -> list[str]:
    """Return the kinds of chunks, sorted."""
    return sorted({kind for _, kind in parts if kind})


def list_inner_tags(parts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return all tags of IOBES for the kinds of chunks."""
    return [*((letter, kind) for letter in "BEIS" for kind in list_kinds(parts)), ("O", "")]


def inner_codes(codes: Array, starts: Array, parts: list[tuple[str, str]]) -> Array:
    """Return the number of the tag of IOBES of each token, among all of them."""
    kinds = list_kinds(parts)
    letters = np.array([LETTERS.get(letter, letter) for letter, _ in parts])[codes]
    numbers = np.array([kinds.index(kind) + 1 if kind else 0 for _, kind in parts])[codes]
    chunks = find_chunks(letters, numbers, starts)
    places = np.where(chunks.begins, np.where(chunks.ends, 3, 0), np.where(chunks.ends, 1, 2))
    found = places * len(kinds) + chunks.kinds - 1
    return np.where(chunks.kinds == 0, 4 * len(kinds), found)


class SchemeCount(NamedTuple):
    """The number of tags of chunks, and how many of them violate each scheme.

    ``used`` flags the tags of IOBES that occur.
    """

    tags: int
    odd: dict[str, int]
    used: Array

    @classmethod
    def of(cls, tags: list[str], codes: Array, starts: Array) -> "SchemeCount":
        """Count in some sentences."""
        parts, separator = split_chunk_tags(tags) or ([], "")
        inner, odd = inner_codes(codes, starts, parts), {}
        for name in list_schemes({letter for letter, _ in parts}):
            scheme = Scheme(name, tags, list_inner_tags(parts), separator)
            odd[name] = int((scheme.outside(inner, starts, strictly=True) != codes).sum())
        counts = np.bincount(inner, minlength=len(list_inner_tags(parts)))
        return cls(int(counts[:-1].sum()), odd, counts > 0)

    def plus(self, other: "SchemeCount") -> "SchemeCount":
        """Return the counts with those of more sentences."""
        odd = {name: count + other.odd[name] for name, count in self.odd.items()}
        return SchemeCount(self.tags + other.tags, odd, self.used | other.used)

    def scheme(self, tags: list[str]) -> Scheme | None:
        """Choose the scheme that fits best, with all tags of IOBES; None if none fits."""
        name = min(self.odd, key=self.odd.__getitem__)
        if self.odd[name] > MOST_ODD * max(self.tags, 1):
            return None
        if self.odd[name]:
            logging.getLogger("rosenblatt").warning(
                "%d tags violate the scheme %s; they were read as conlleval reads them.",
                self.odd[name],
                name,
            )
        parts, separator = split_chunk_tags(tags) or ([], "")
        return Scheme(name, tags, list_inner_tags(parts), separator)


def list_schemes(letters: set[str]) -> list[str]:
    """List the schemes that tags with some letters may follow, the likeliest first."""
    if letters & set("LU"):
        return ["BILOU"]
    if letters & set("ES"):
        return ["IOBES"]
    return ["IOB2", "IOB1"] if "B" in letters else ["IOB1"]


def make_exclusions(forbidden: Array, width: int) -> Array:
    """Return weights that exclude forbidden moves, and tags that only pad a vector."""
    rows, count = forbidden.shape
    weights = np.full((rows, width), IMPOSSIBLE, np.float32)
    weights[:, :count] = np.where(forbidden, IMPOSSIBLE, np.float32(0))
    return weights
