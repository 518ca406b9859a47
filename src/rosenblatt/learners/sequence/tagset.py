"""Tags as numbers: those that sentences have, and those that are learnt for them inside."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Array
from .schemes import Scheme, SchemeCount, forbidden_in, inner_codes, parts_of
from .strings import Strings, Typed

MOST_TAGS = 10_000


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
        parts, _ = parts_of(self.scheme.tags) or ([], "")
        return np.asarray(self.places[inner_codes(codes, starts, parts)])


def tag_set(
    classes: Array,
    chunks: bool,
    greedy: bool,
    parts: Callable[[], Iterable[tuple[Array, Array]]],
    all_inside: bool = False,
) -> TagSet:
    """The tags to learn.

    Parameters
    ----------
    classes
        The tags outside.
    chunks
        Whether those that write chunks are to be known for such.
    greedy
        Whether tags are chosen one by one, so that none can know that a chunk will end.
    parts
        Gives the tags of sentences and where sentences begin, part by part.
    all_inside
        Whether tags inside that do not occur may yet come.
    """
    counts = None
    if chunks and parts_of(classes.tolist()) is not None:
        for codes, starts in parts():
            own = SchemeCount.of(classes.tolist(), codes, starts)
            counts = own if counts is None else counts.plus(own)
    return tag_set_of(classes, greedy, counts, all_inside)


def tag_set_of(
    classes: Array, greedy: bool, counts: SchemeCount | None, all_inside: bool = False
) -> TagSet:
    """The tags to learn, by what was counted if they write chunks."""
    names = classes.tolist()
    plain = TagSet(classes, [str(name) for name in names])
    scheme = None if counts is None else counts.scheme(names)
    if counts is None or scheme is None or (greedy and scheme.name == "IOB1"):
        return plain
    if greedy:
        parts, _ = parts_of(names) or ([], "")
        moves, _ = forbidden_in(parts, with_ends=scheme.name != "IOB2")
        return plain._replace(forbidden=(moves, np.zeros(len(names), bool)))
    used = counts.used | all_inside
    places = np.cumsum(used).astype(np.uint16) - np.uint16(1)
    scheme = scheme.only(used)
    return TagSet(classes, scheme.names, scheme, scheme.forbidden(), places)


def classes_of(tags: list[Any] | Strings) -> Array:
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


def codes_of(tags: list[Any] | Strings, classes: Array) -> Array:
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
