"""Tags as numbers: those that sentences have, and those that are learnt for them inside."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Array
from .schemes import Scheme, SchemeCount, find_forbidden, get_parts, inner_codes, inner_tags
from .sentences import Sentences
from .strings import Strings, Typed

MOST_TAGS = 10_000

Tagged = tuple[Sentences, Any]
"""Sentences, and the tag of each token."""


class TagSet(NamedTuple):
    """Which tags there are.

    Attributes
    ----------
    classes : ndarray
        The tags outside, sorted.
    names : list of str
        The tags that are learnt.
    scheme : Scheme or None
        How chunks are written, where they are learnt otherwise.
    forbidden : tuple of ndarray, or None
        Which tag may not follow which, and which not be the last.
    places : ndarray or None
        The numbers of all tags of IOBES among those that are learnt.
    """

    classes: Array
    names: list[str]
    scheme: Scheme | None = None
    forbidden: tuple[Array, Array] | None = None
    places: Array | None = None

    def inside(self, codes: Array, starts: Array) -> Array:
        """The numbers of the tags that are learnt for tags outside."""
        if self.scheme is None or self.places is None:
            return codes.astype(np.uint16)
        return np.asarray(self.places[self.inner_codes(codes, starts)])

    def outside(self, codes: Array, starts: Array) -> Array:
        """The numbers of the tags outside for those that are learnt."""
        return codes if self.scheme is None else self.scheme.outside(codes, starts)

    def inner_codes(self, codes: Array, starts: Array) -> Array:
        """The numbers of the tags of chunks among all of IOBES."""
        assert self.scheme is not None
        parts, _ = get_parts(self.scheme.tags) or ([], "")
        return inner_codes(codes, starts, parts)

    def with_all_of(self, codes: Array, starts: Array) -> "TagSet":
        """The same with all tags inside that some sentences need."""
        if self.scheme is None:
            return self
        used = used_inside(self.scheme)
        found = np.unique(self.inner_codes(codes, starts))
        if used[found].all():
            return self
        used[found] = True
        return chunk_tags(self.classes, self.scheme, used)

    def with_class(self, label: Any) -> "TagSet":
        """The same with one tag more outside."""
        classes = np.array(sorted([*self.classes.tolist(), label]))
        if self.scheme is None:
            return TagSet(classes, [str(name) for name in classes.tolist()])
        parts = get_parts(classes.tolist())
        if parts is None:
            raise ValueError(f"The tags write chunks in {self.scheme.name}; {label!r} does not.")
        (_, kind), *_ = get_parts([label, *self.scheme.tags])[0]  # type: ignore[index]
        known = set(self.scheme.inner) | {(letter, kind) for letter in "BEIS"}
        used = np.array([tag in known for tag in inner_tags(parts[0])])
        return chunk_tags(classes, self.scheme, used)

    def to_numbers(self, other: "TagSet") -> Array:
        """The numbers of the tags that are learnt here among those of a larger set."""
        return np.array([other.names.index(name) for name in self.names], np.int64)


def used_inside(scheme: Scheme) -> Array:
    """Which of all tags of IOBES a scheme has inside."""
    parts, _ = get_parts(scheme.tags) or ([], "")
    return np.array([tag in scheme.inner for tag in inner_tags(parts)], bool)


def chunk_tags(classes: Array, like: Scheme, used: Array) -> TagSet:
    """Tags that write chunks as a scheme does, with some of the tags of IOBES inside."""
    parts, _ = get_parts(classes.tolist()) or ([], "")
    scheme = like._replace(tags=classes.tolist(), inner=inner_tags(parts)).only(used)
    places = np.cumsum(used).astype(np.uint16) - np.uint16(1)
    return TagSet(classes, scheme.names, scheme, scheme.forbidden(), places)


def is_greedy(parameters: Mapping[str, Any]) -> bool:
    """Whether tags are chosen one by one, so that none can know that a chunk will end."""
    return bool(parameters["search"] == "greedy" or parameters["markov"] == 0)


def knows_chunks(parameters: Mapping[str, Any], classes: Array) -> bool:
    """Whether tags write chunks, and are to be known for such."""
    wanted = parameters["constraints"] != "none" and parameters["markov"]
    return bool(wanted) and get_parts(classes.tolist()) is not None


def find_tag_set(
    parameters: Mapping[str, Any],
    classes: Array,
    parts: Callable[[], Iterable[tuple[Array, Array]]],
    all_inside: bool = False,
) -> TagSet:
    """The tags to learn.

    Parameters
    ----------
    parameters
        Those of ``SequencePerceptron``.
    classes
        The tags outside.
    parts
        Gives the tags of sentences and where sentences begin, part by part.
    all_inside
        Whether tags inside that do not occur may yet come.
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
    """The tags to learn, by what was counted if they write chunks."""
    names = classes.tolist()
    plain = TagSet(classes, [str(name) for name in names])
    scheme = None if counts is None else counts.scheme(names)
    if counts is None or scheme is None or (greedy and scheme.name == "IOB1"):
        return plain
    if greedy:
        parts, _ = get_parts(names) or ([], "")
        moves, _ = find_forbidden(parts, with_ends=scheme.name != "IOB2")
        return plain._replace(forbidden=(moves, np.zeros(len(names), bool)))
    return chunk_tags(classes, scheme, counts.used | all_inside)


def distinct_tags(tags: list[Any] | Strings) -> Array:
    """The distinct tags, sorted."""
    if not (tags.size if isinstance(tags, Strings) else len(tags)):
        return np.zeros(0, "U1")
    try:
        typed = Typed.of(tags if isinstance(tags, Strings) else Strings.of(tags))
    except TypeError:
        given = np.asarray(tags)
        known = np.unique(given) if given.dtype.kind in "iub" else given[:1]
    else:
        known = np.array(sorted(set(typed.strings.texts())))
    if known.dtype.kind not in "USiub":
        raise ValueError(f"Tags must be strings or whole numbers; got {odd_one(tags)!r:.60}.")
    return known


def check_classes(known: Array) -> Array:
    """Refuse what is no set of tags."""
    if not len(known):
        raise ValueError("There is no token to learn from.")
    if len(known) < 2:
        raise ValueError(f"y has only one tag, {known.tolist()[0]!r}; at least two are needed.")
    if len(known) > MOST_TAGS:
        raise ValueError(
            f"y has {len(known):,} different tags, more than {MOST_TAGS:,}; are they tags at all?"
        )
    return known


def odd_one(tags: Any) -> Any:
    """The first tag that is not of the kind of the others."""
    return next((tag for tag in tags if not isinstance(tag, type(tags[0]))), tags[0])


def encode_tags(tags: list[Any] | Strings, classes: Array) -> Array:
    """The number of each token's tag among all."""
    if isinstance(tags, Strings) or classes.dtype.kind == "U":
        typed = Typed.of(tags if isinstance(tags, Strings) else Strings.of(tags))
        names, types = typed.strings.texts(), typed.types
    else:
        found, types = np.unique(np.asarray(tags), return_inverse=True)
        names = found.tolist()
    numbers = {name: number for number, name in enumerate(classes.tolist())}
    for name in names:
        if name not in numbers:
            raise ValueError(f"The tag {name!r} is none of those that were named first.")
    return np.array([numbers[name] for name in names], np.int64)[types]


def scan_tags(parameters: Mapping[str, Any], parts: Callable[[], Iterable[Tagged]]) -> TagSet:
    """The tags to learn from all parts of some data."""
    found = {tag for _, tags in parts() for tag in distinct_tags(tags).tolist()}
    classes = check_classes(np.array(sorted(found)))

    def coded() -> Iterator[tuple[Array, Array]]:
        for sentences, tags in parts():
            yield encode_tags(tags, classes), sentences.starts

    return find_tag_set(parameters, classes, coded)
