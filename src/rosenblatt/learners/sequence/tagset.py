"""Number the tags of sentences, and the inner tags that are learnt for them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Array
from .schemes import (
    Scheme,
    SchemeCount,
    find_forbidden,
    inner_codes,
    list_inner_tags,
    split_chunk_tags,
)
from .sentences import Sentences
from .strings import Categorical, Strings

MOST_TAGS = 10_000

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

    def with_class(self, label: Any) -> "TagSet":
        """Return the set with one more tag of sentences."""
        classes = np.array(sorted([*self.classes.tolist(), label]))
        if self.scheme is None:
            return TagSet(classes, [str(name) for name in classes.tolist()])
        parts = split_chunk_tags(classes.tolist())
        if parts is None:
            raise ValueError(f"The tags write chunks in {self.scheme.name}; {label!r} does not.")
        (_, kind), *_ = split_chunk_tags([label, *self.scheme.tags])[0]  # type: ignore[index]
        known = set(self.scheme.inner) | {(letter, kind) for letter in "BEIS"}
        used = np.array([tag in known for tag in list_inner_tags(parts[0])])
        return make_chunk_tags(classes, self.scheme, used)

    def to_numbers(self, other: "TagSet") -> Array:
        """Return the numbers of the inner tags among those of a larger set."""
        return np.array([other.names.index(name) for name in self.names], np.int64)


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


def is_greedy(parameters: Mapping[str, Any]) -> bool:
    """Whether tags are chosen one by one, without a search for the best path."""
    return bool(parameters["search"] == "greedy" or parameters["markov"] == 0)


def knows_chunks(parameters: Mapping[str, Any], classes: Array) -> bool:
    """Whether tags write chunks that must follow their scheme."""
    wanted = parameters["constraints"] != "none" and parameters["markov"]
    return bool(wanted) and split_chunk_tags(classes.tolist()) is not None


def find_tag_set(
    parameters: Mapping[str, Any],
    classes: Array,
    parts: Callable[[], Iterable[tuple[Array, Array]]],
    all_inside: bool = False,
) -> TagSet:
    """Find the tags to learn.

    Parameters
    ----------
    parameters
        Those of ``SequencePerceptron``.
    classes
        The tags of sentences.
    parts
        Returns the tags of tokens and where sentences begin, part by part.
    all_inside
        Whether to have all tags of IOBES, as others may come later.
    """
    counts = None
    if knows_chunks(parameters, classes):
        for codes, starts in parts():
            own = SchemeCount.of(classes.tolist(), codes, starts)
            counts = own if counts is None else counts.plus(own)
    return make_tag_set(classes, is_greedy(parameters), counts, all_inside)


def make_tag_set(
    classes: Array, greedy: bool, counts: SchemeCount | None, all_inside: bool = False
) -> TagSet:
    """Make the set of tags to learn, from the counts of schemes if they write chunks."""
    names = classes.tolist()
    plain = TagSet(classes, [str(name) for name in names])
    scheme = None if counts is None else counts.scheme(names)
    if counts is None or scheme is None or (greedy and scheme.name == "IOB1"):
        return plain
    if greedy:
        parts, _ = split_chunk_tags(names) or ([], "")
        moves, _ = find_forbidden(parts, with_ends=scheme.name != "IOB2")
        return plain._replace(forbidden=(moves, np.zeros(len(names), bool)))
    return make_chunk_tags(classes, scheme, counts.used | all_inside)


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
        known = np.array(sorted(set(typed.strings.texts())))
    if known.dtype.kind not in "USiub":
        raise ValueError(f"Tags must be strings or whole numbers; got {find_odd_tag(tags)!r:.60}.")
    return known


def check_classes(known: Array) -> Array:
    """Refuse too few or too many tags."""
    if not len(known):
        raise ValueError("There is no token to learn from.")
    if len(known) < 2:
        raise ValueError(f"y has only one tag, {known.tolist()[0]!r}; at least two are needed.")
    if len(known) > MOST_TAGS:
        raise ValueError(
            f"y has {len(known):,} different tags, more than {MOST_TAGS:,}; give tags as y."
        )
    return known


def find_odd_tag(tags: Any) -> Any:
    """Return the first tag of another type than the first."""
    return next((tag for tag in tags if not isinstance(tag, type(tags[0]))), tags[0])


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


def scan_tags(parameters: Mapping[str, Any], parts: Callable[[], Iterable[Tagged]]) -> TagSet:
    """Find the tags to learn in all parts of some data."""
    found = {tag for _, tags in parts() for tag in find_distinct_tags(tags).tolist()}
    classes = check_classes(np.array(sorted(found)))

    def coded() -> Iterator[tuple[Array, Array]]:
        for sentences, tags in parts():
            yield encode_tags(tags, classes), sentences.starts

    return find_tag_set(parameters, classes, coded)
