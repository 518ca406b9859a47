"""The tags of sentences, and chunks as tags: IOB1, IOB2, IOBES and BILOU.

Ramshaw & Marcus (1995) and Tjong Kim Sang & Veenstra (1999). All are learnt as IOBES, whose tags
also mark the end of a chunk.
"""

import logging
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..data.rows import Array
from ..reading.values import refuse_nul
from .kernels.paths import IMPOSSIBLE
from .sentences import Sentences
from .strings import Categorical, Strings

CHUNK_TAG = re.compile(r"([BIESLU])([-_])(.+)", re.DOTALL)
LETTERS = {"L": "E", "U": "S"}
MOST_ODD = 0.01  # share of the tags of chunks that may violate the scheme
FREE, CONTINUED = "OESLU", "BI"  # letters after which a chunk may begin, or must continue


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


def find_chunks(codes: Array, starts: Array, parts: list[tuple[str, str]]) -> Chunks:
    """Find chunks as conlleval does, from the numbers of tags with these letters and kinds.

    A chunk begins at B and S, and at I and E after something else; it ends at E and S, and before
    a token that does not continue it. Kinds are numbered from 1.
    """
    names, n = list_kinds(parts), len(codes)
    letters = np.array([LETTERS.get(letter, letter) for letter, _ in parts])[codes]
    kinds = np.array([names.index(kind) + 1 if kind else 0 for _, kind in parts])[codes]
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
    """Return the tags of IOBES for the kinds of chunks, and O if it is a tag."""
    outside = [("O", "")] if ("O", "") in parts else []
    return [*((letter, kind) for letter in "BEIS" for kind in list_kinds(parts)), *outside]


def inner_codes(codes: Array, starts: Array, parts: list[tuple[str, str]]) -> Array:
    """Return the number of the tag of IOBES of each token, among all of them."""
    count, chunks = len(list_kinds(parts)), find_chunks(codes, starts, parts)
    places = np.where(chunks.begins, np.where(chunks.ends, 3, 0), np.where(chunks.ends, 1, 2))
    return np.where(chunks.kinds == 0, 4 * count, places * count + chunks.kinds - 1)


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


Tagged = tuple[Sentences, Any]
"""Sentences, and the tag of each token."""


class TagSet(NamedTuple):
    """The tags of sentences, and the inner tags that are learnt.

    Attributes
    ----------
    classes : ndarray
        The tags of sentences, sorted.
    names : list of str
        The inner tags: those of IOBES, if tags write chunks.
    scheme : str or None
        How tags write chunks: "IOB1", "IOB2", "IOBES" or "BILOU".
    parts : list of tuple
        The letter and the kind of chunk of each tag, if tags write chunks.
    """

    classes: Array
    names: list[str]
    scheme: str | None = None
    parts: Any = ()

    @classmethod
    def of(cls, classes: Array, scheme: str | None) -> "TagSet":
        """Make the set of tags that write chunks as a scheme does, or are taken as they are."""
        names = [str(name) for name in classes.tolist()]
        split = split_chunk_tags(names)
        if scheme is None or split is None:
            return cls(classes, names)
        parts, separator = split
        inner = [
            letter + separator + kind if kind else letter for letter, kind in list_inner_tags(parts)
        ]
        return cls(classes, inner, scheme, parts)

    def inside(self, codes: Array, starts: Array) -> Array:
        """Return the inner tags for the tags of sentences, as numbers."""
        codes = codes if self.scheme is None else inner_codes(codes, starts, self.parts)
        return codes.astype(np.uint16)

    def outside(self, codes: Array, starts: Array, strictly: bool = False) -> Array:
        """Return the tags of sentences for inner tags, as numbers; strictly, -1 for none."""
        if self.scheme is None:
            return codes
        plain = self.map_tags("I", strictly)[codes]
        if self.scheme != "IOB1":
            return plain
        kinds = np.array([kind for _, kind in list_inner_tags(self.parts)])[codes]
        before = np.zeros(len(codes), bool)  # a chunk of the same kind, so that B is needed
        before[1:] = (kinds[1:] == kinds[:-1]) & (kinds[1:] != "")
        before[starts[:-1][starts[:-1] < len(codes)]] = False
        return np.where(before, self.map_tags("B", strictly)[codes], plain)

    def map_tags(self, begin: str, strictly: bool) -> Array:
        """Return the tag of sentences for each inner tag; in IOB1 chunks begin with ``begin``.

        A tag that does not occur becomes another one of the same kind, or strictly -1.
        """
        numbers = {tag: number for number, tag in enumerate(self.parts)}
        kinds = {kind: number for number, (_, kind) in enumerate(self.parts)}
        letters = {
            "IOB1": {"B": begin, "S": begin, "E": "I"},
            "IOB2": {"S": "B", "E": "I"},
            "BILOU": {"S": "U", "E": "L"},
        }.get(str(self.scheme), {})
        return np.array(
            [
                numbers.get((letters.get(letter, letter), kind), -1 if strictly else kinds[kind])
                for letter, kind in list_inner_tags(self.parts)
            ]
        )

    def forbidden(self) -> tuple[Array, Array]:
        """Return which inner tag may not follow which, and which may not be the last.

        The last row is for the start of a sentence.
        """
        inner, count = list_inner_tags(self.parts), len(self.names)
        moves, last = np.zeros((count + 1, count), bool), np.zeros(count, bool)
        for p, (before, kind) in enumerate([*inner, ("O", "")] if inner else []):
            for t, (letter, own_kind) in enumerate(inner):
                goes_on = letter in "IE"
                moves[p, t] = goes_on if before in FREE else not goes_on or kind != own_kind
                last[t] = letter in CONTINUED
        return moves, last


def find_tag_set(
    parameters: Mapping[str, Any], classes: Array, codes: Array, starts: Array
) -> TagSet:
    """Find the tags to learn: of the scheme that tags of sentences fit best, if they write chunks.

    Parameters
    ----------
    parameters
        Those of ``SequencePerceptron``.
    classes
        The tags of sentences.
    codes, starts
        The number of each token's tag, and where sentences begin.
    """
    split = split_chunk_tags(classes.tolist())
    if parameters["constraints"] == "none" or split is None:
        return TagSet.of(classes, None)
    parts, _ = split
    inner = inner_codes(codes, starts, parts)
    schemes = [TagSet.of(classes, name) for name in list_schemes({letter for letter, _ in parts})]
    odd = [int((scheme.outside(inner, starts, strictly=True) != codes).sum()) for scheme in schemes]
    best = schemes[int(np.argmin(odd))]
    of_chunks = int(np.count_nonzero(inner < 4 * len(list_kinds(parts))))
    if min(odd) > MOST_ODD * max(of_chunks, 1):
        return TagSet.of(classes, None)
    if min(odd):
        logging.getLogger("rosenblatt").warning(
            "%d tags violate the scheme %s; they were read as conlleval reads them.",
            min(odd),
            best.scheme,
        )
    return best


def find_distinct_tags(tags: list[Any] | Strings) -> Array:
    """Return the distinct tags, sorted."""
    if not (tags.size if isinstance(tags, Strings) else len(tags)):
        return np.zeros(0, "U1")
    try:
        typed = Categorical.of(tags if isinstance(tags, Strings) else Strings.of(tags))
    except TypeError:
        given = np.asarray(tags)
        known = np.unique(given) if given.dtype.kind in "iub" else given[:1]
    else:
        names = sorted(set(typed.strings.texts()))
        refuse_nul(names, "y")
        known = np.array(names)
    if known.dtype.kind not in "USiub":
        odd = next((tag for tag in tags if not isinstance(tag, type(tags[0]))), tags[0])
        raise ValueError(f"Tags must be strings or whole numbers; got {odd!r:.60}.")
    return known


def check_classes(known: Array) -> Array:
    """Refuse too few or too many tags."""
    if not len(known):
        raise ValueError("There is no token to learn from.")
    if len(known) < 2:
        raise ValueError(f"y has only one tag, {known.tolist()[0]!r}; at least two are needed.")
    return known


def encode_tags(tags: list[Any] | Strings, classes: Array) -> Array:
    """Return the number of each token's tag."""
    if isinstance(tags, Strings) or classes.dtype.kind == "U":
        typed = Categorical.of(tags if isinstance(tags, Strings) else Strings.of(tags))
        names, types = typed.strings.texts(), typed.types
    else:
        found, types = np.unique(np.asarray(tags), return_inverse=True)
        names = found.tolist()
    numbers = {name: number for number, name in enumerate(classes.tolist())}
    for name in names:
        if name not in numbers:
            raise ValueError(f"The tag {name!r} is not among those that the model began with.")
    return np.array([numbers[name] for name in names], np.int64)[types]
