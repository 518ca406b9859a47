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
        """Return which inner tag may not follow which, and which may not be the last.

        The last row is for the start of a sentence.
        """
        count = len(self.inner)
        moves = np.zeros((count + 1, count), bool)
        for p, (before, kind) in enumerate([*self.inner, ("O", "")]):
            for t, (letter, own_kind) in enumerate(self.inner):
                goes_on = letter in "IE"
                moves[p, t] = goes_on if before in FREE else not goes_on or kind != own_kind
        return moves, np.array([letter in CONTINUED for letter, _ in self.inner])


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
    """Return all tags of IOBES for the kinds of chunks."""
    return [*((letter, kind) for letter in "BEIS" for kind in list_kinds(parts)), ("O", "")]


def inner_codes(codes: Array, starts: Array, parts: list[tuple[str, str]]) -> Array:
    """Return the number of the tag of IOBES of each token, among all of them."""
    count, chunks = len(list_kinds(parts)), find_chunks(codes, starts, parts)
    places = np.where(chunks.begins, np.where(chunks.ends, 3, 0), np.where(chunks.ends, 1, 2))
    return np.where(chunks.kinds == 0, 4 * count, places * count + chunks.kinds - 1)


def find_scheme(tags: list[str], codes: Array, starts: Array) -> tuple[Scheme, Array] | None:
    """Find the scheme that the tags of sentences fit best, and flag the tags of IOBES that occur.

    None if tags do not write chunks, or fit no scheme.
    """
    split = split_chunk_tags(tags)
    if split is None:
        return None
    parts, separator = split
    inner, every = inner_codes(codes, starts, parts), list_inner_tags(parts)
    names = list_schemes({letter for letter, _ in parts})
    schemes = [Scheme(name, tags, every, separator) for name in names]
    odd = [int((scheme.outside(inner, starts, strictly=True) != codes).sum()) for scheme in schemes]
    best, counts = int(np.argmin(odd)), np.bincount(inner, minlength=len(every))
    if odd[best] > MOST_ODD * max(counts[:-1].sum(), 1):
        return None
    if odd[best]:
        logging.getLogger("rosenblatt").warning(
            "%d tags violate the scheme %s; they were read as conlleval reads them.",
            odd[best],
            names[best],
        )
    return schemes[best], counts > 0


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
        The inner tags.
    scheme : Scheme or None
        How tags write chunks, if the inner tags are those of IOBES.
    forbidden : tuple of ndarray, or None
        Which inner tag may not follow which, and which may not be the last.
    places : ndarray or None
        The number of each tag of IOBES among the inner tags.
    """

    classes: Array
    names: list[str]
    scheme: Scheme | None = None
    forbidden: tuple[Array, Array] | None = None
    places: Array | None = None

    def inside(self, codes: Array, starts: Array) -> Array:
        """Return the inner tags for the tags of sentences, as numbers."""
        if self.scheme is None or self.places is None:
            return codes.astype(np.uint16)
        return np.asarray(self.places[self.inner_codes(codes, starts)])

    def outside(self, codes: Array, starts: Array) -> Array:
        """Return the tags of sentences for inner tags, as numbers."""
        return codes if self.scheme is None else self.scheme.outside(codes, starts)

    def inner_codes(self, codes: Array, starts: Array) -> Array:
        """Return the tags of IOBES for the tags of sentences, as numbers among all of them."""
        assert self.scheme is not None
        parts, _ = split_chunk_tags(self.scheme.tags) or ([], "")
        return inner_codes(codes, starts, parts)

    def with_all_of(self, codes: Array, starts: Array) -> "TagSet":
        """Return the set with all inner tags that some sentences need."""
        if self.scheme is None:
            return self
        used = flag_inner_tags(self.scheme)
        found = np.unique(self.inner_codes(codes, starts))
        if used[found].all():
            return self
        used[found] = True
        return make_chunk_tags(self.classes, self.scheme, used)


def flag_inner_tags(scheme: Scheme) -> Array:
    """Flag the tags of IOBES that are inner tags of a scheme."""
    parts, _ = split_chunk_tags(scheme.tags) or ([], "")
    return np.array([tag in scheme.inner for tag in list_inner_tags(parts)], bool)


def make_chunk_tags(classes: Array, like: Scheme, used: Array) -> TagSet:
    """Make the set of tags that write chunks as a scheme does, with some tags of IOBES."""
    parts, _ = split_chunk_tags(classes.tolist()) or ([], "")
    scheme = like._replace(tags=classes.tolist(), inner=list_inner_tags(parts)).select(used)
    places = np.cumsum(used).astype(np.uint16) - np.uint16(1)
    return TagSet(classes, scheme.names, scheme, scheme.forbidden(), places)


def find_tag_set(
    parameters: Mapping[str, Any],
    classes: Array,
    codes: Array,
    starts: Array,
    all_inside: bool = False,
) -> TagSet:
    """Find the tags to learn.

    Parameters
    ----------
    parameters
        Those of ``SequencePerceptron``.
    classes
        The tags of sentences.
    codes, starts
        The number of each token's tag, and where sentences begin.
    all_inside
        Whether to have all tags of IOBES, as others may come later.
    """
    names = classes.tolist()
    found = None if parameters["constraints"] == "none" else find_scheme(names, codes, starts)
    if found is not None:
        scheme, used = found
        return make_chunk_tags(classes, scheme, used | all_inside)
    return TagSet(classes, [str(name) for name in names])


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
