"""Chunks as tags: IOB1, IOB2, IOBES and BILOU; which tags may follow which; chunks found again.

Ramshaw & Marcus (1995) and Tjong Kim Sang & Veenstra (1999). Inside, all are IOBES, which tells the
end of a chunk from its middle.
"""

import logging
import re
from typing import NamedTuple

import numpy as np

from ..kernels.sequences import IMPOSSIBLE
from ..rows import Array

CHUNK_TAG = re.compile(r"([BIESLU])([-_])(.+)", re.DOTALL)
LETTERS = {"L": "E", "U": "S"}
MOST_ODD = 0.01  # of the tags of chunks that may be wrongly written
FREE, GOES_ON = "OESLU", "BI"  # after which a chunk may begin; after which it must go on


class Scheme(NamedTuple):
    """How chunks are written as tags.

    Attributes
    ----------
    name : str
        "IOB1", "IOB2", "IOBES" or "BILOU".
    tags : list of str
        The tags outside, in the order of their numbers.
    inner : list of tuple
        The letter and the kind of chunk of each tag inside.
    separator : str
        Between letter and kind.
    """

    name: str
    tags: list[str]
    inner: list[tuple[str, str]]
    separator: str

    @property
    def names(self) -> list[str]:
        """The tags inside."""
        return [letter + self.separator + kind if kind else letter for letter, kind in self.inner]

    def outside(self, codes: Array, starts: Array, strictly: bool = False) -> Array:
        """The tags outside for tags inside; strictly, -1 where there is none."""
        if self.name != "IOB1":
            return self.table("", strictly)[codes]
        names = sorted({kind for _, kind in self.inner})
        kinds = np.array([names.index(kind) if kind else -1 for _, kind in self.inner])[codes]
        before = np.zeros(len(codes), bool)  # a chunk of the same kind, so that B tells them apart
        before[1:] = (kinds[1:] == kinds[:-1]) & (kinds[1:] >= 0)
        before[starts[:-1][starts[:-1] < len(codes)]] = False
        return np.where(before, self.table("B", strictly)[codes], self.table("I", strictly)[codes])

    def table(self, begin: str, strictly: bool) -> Array:
        """The tag outside for each tag inside; in IOB1 for one where a chunk begins so."""
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

    def forbidden(self) -> tuple[Array, Array]:
        """Which tag inside may not follow which, and which not be the last."""
        return forbidden_in(self.inner, with_ends=True)


def forbidden_in(parts: list[tuple[str, str]], with_ends: bool) -> tuple[Array, Array]:
    """Which tag may not follow which (the last row is for the start), and which not be the last.

    Without tags for the ends of chunks, as in IOB2, a chunk may end anywhere.
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
        last[:] = [letter in GOES_ON for letter, _ in parts]
    return moves, last


def parts_of(tags: list[str]) -> tuple[list[tuple[str, str]], str] | None:
    """The letter and kind of each tag, and what is between; None if they are no chunks."""
    found, separators = [], set()
    for tag in tags:
        match = CHUNK_TAG.fullmatch(tag) if isinstance(tag, str) else None
        if match is None and tag != "O":
            return None
        found.append((match[1], match[3]) if match else ("O", ""))
        separators |= {match[2]} if match else set()
    return (found, separators.pop()) if len(separators) == 1 else None


class Chunks(NamedTuple):
    """For each token its kind of chunk (0 for none), whether one begins, and whether it ends."""

    kinds: Array
    begins: Array
    ends: Array


def chunks_in(letters: Array, kinds: Array, starts: Array) -> Chunks:
    """Chunks as conlleval finds them in letters (S and E also in BILOU) and kinds.

    A chunk begins at B and S, and at I and E after something else; it ends at E and S, and before
    whatever does not go on with it.
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


def letters_and_kinds(
    codes: Array, parts: list[tuple[str, str]]
) -> tuple[Array, Array, dict[str, int]]:
    """The letter of each token, the number of its kind of chunk, and the numbers of kinds."""
    names = sorted({kind for _, kind in parts if kind})
    numbers = {"": 0} | {name: number for number, name in enumerate(names, 1)}
    letters = np.array([LETTERS.get(letter, letter) for letter, _ in parts])
    kinds = np.array([numbers[kind] for _, kind in parts])
    return letters[codes], kinds[codes], numbers


def scheme_of(tags: list[str], codes: Array, starts: Array) -> tuple[Scheme, Array] | None:
    """The scheme in which tags are chunks, and the tags inside; None if they are none."""
    found = parts_of(tags)
    if found is None:
        return None
    parts, separator = found
    letters, kinds, numbers = letters_and_kinds(codes, parts)
    chunks = chunks_in(letters, kinds, starts)
    inner_letters = np.where(chunks.begins, np.where(chunks.ends, "S", "B"), "I")
    inner_letters = np.where(chunks.ends & ~chunks.begins, "E", inner_letters)
    inner_letters = np.where(chunks.kinds == 0, "O", inner_letters)
    names = {number: name for name, number in numbers.items()}
    cells = np.char.add(np.char.add(inner_letters, "-"), kinds.astype(str))
    distinct, inner_codes = np.unique(cells, return_inverse=True)
    inner = [(cell[0], names[int(cell[2:])]) for cell in distinct.tolist()]
    written = {letter for letter, _ in parts}
    schemes = [Scheme(name, tags, inner, separator) for name in schemes_with(written)]
    odd = [int((scheme.outside(inner_codes, starts, True) != codes).sum()) for scheme in schemes]
    fewest = int(np.argmin(odd))
    if odd[fewest] > MOST_ODD * max(int(np.count_nonzero(kinds)), 1):
        return None
    if odd[fewest]:
        logging.getLogger("rosenblatt").warning(
            "%d tags are not as %s writes chunks; they were read as conlleval reads them.",
            odd[fewest],
            schemes[fewest].name,
        )
    return schemes[fewest], inner_codes


def schemes_with(letters: set[str]) -> list[str]:
    """The schemes that tags with some letters may be in, the likelier first."""
    if letters & set("LU"):
        return ["BILOU"]
    if letters & set("ES"):
        return ["IOBES"]
    return ["IOB2", "IOB1"] if "B" in letters else ["IOB1"]


def impossible(forbidden: Array, width: int) -> Array:
    """Weights that keep a path from forbidden moves, and from tags that only fill a vector."""
    rows, count = forbidden.shape
    weights = np.full((rows, width), IMPOSSIBLE, np.float32)
    weights[:, :count] = np.where(forbidden, IMPOSSIBLE, np.float32(0))
    return weights
