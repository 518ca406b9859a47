"""Turn sentences, lists of tokens, into columns of numbered strings."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from ..data.rows import Array
from .strings import Categorical, Strings

WORD_COLUMNS = ("word", "form", "token", "text")
MOST_COLUMNS = 100


class Sentences(NamedTuple):
    """Sentences of tokens: sentence s has those of ``starts[s]`` to ``starts[s + 1]``.

    ``columns`` has the columns of tokens by name. If ``values`` is not None, there is one column
    of features with these values, those of token i from ``feature_starts[i]`` to
    ``feature_starts[i + 1]``.
    """

    starts: Array
    columns: dict[str, Categorical]
    feature_starts: Array | None = None
    values: Array | None = None

    @property
    def n_tokens(self) -> int:
        """The number of tokens."""
        return int(self.starts[-1])


FEATURES = "feature"
"""The column of features that tokens came with."""


def find_starts(sentences: Sequence[Any]) -> Array:
    """Return where each sentence begins among all tokens."""
    lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
    return np.concatenate([[0], np.cumsum(lengths)])


def check_sentences(X: Any, name: str) -> list[Any]:
    """Return sentences as a list of lists; refuse what is not one."""
    if isinstance(X, str | bytes | Mapping) or not isinstance(X, Iterable):
        raise ValueError(f"{name} must be a list of sentences, each a list; got {X!r:.60}.")
    sentences = list(X)
    if all(type(sentence) is list for sentence in sentences):
        return sentences
    for number, sentence in enumerate(sentences):
        if isinstance(sentence, str | bytes | Mapping) or not hasattr(sentence, "__len__"):
            raise ValueError(
                f"{name}[{number}] is {sentence!r:.60}; a sentence must be a list with one item "
                "for each token."
            )
    return sentences


def check_lengths(sentences: list[Any], tags: list[Any]) -> None:
    """Refuse tags unless there is one for each token."""
    if len(sentences) != len(tags):
        raise ValueError(f"X has {len(sentences)} sentences and y has {len(tags)}.")
    lengths, others = find_starts(sentences), find_starts(tags)
    wrong = np.flatnonzero(np.diff(lengths) != np.diff(others))
    if len(wrong):
        s = int(wrong[0])
        raise ValueError(
            f"X[{s}] has {len(sentences[s])} tokens and y[{s}] {len(tags[s])} tags; each token "
            "needs one."
        )


def name_columns(count: int) -> tuple[str, ...]:
    """Return the names of columns that are known by their places."""
    others = [f"column{number}" for number in range(2, count)]
    return ("word", "pos", *others)[:count]


def find_columns(sentences: Sequence[Any], own_templates: bool) -> tuple[str, ...]:
    """Return the names of the columns of tokens; ("feature",) if tokens are features."""
    first = next(chain.from_iterable(sentences), "")
    if isinstance(first, str):
        return ("word",)
    if isinstance(first, tuple):
        return name_columns(len(first))
    if isinstance(first, Mapping):
        if own_templates or are_columns(sentences, first):
            words = [name for name in first if str(name).lower() in WORD_COLUMNS]
            return tuple(dict.fromkeys([*words[:1], *first]))  # the word first
        return (FEATURES,)
    if isinstance(first, list | set | frozenset):
        return (FEATURES,)
    raise ValueError(
        f"A token must be a string, a tuple or dict of columns, or a dict or list of features; "
        f"X begins with {first!r:.60}."
    )


def are_columns(sentences: Sequence[Any], first: Mapping[str, Any]) -> bool:
    """Whether dicts are columns: all have the same, of strings, and one of them is the word."""
    if not any(str(name).lower() in WORD_COLUMNS for name in first):
        return False
    sample = chain.from_iterable(sentences[:100])
    return all(
        token.keys() == first.keys() and all(isinstance(value, str) for value in token.values())
        for token in sample
    )


def read_sentences(X: Any, columns: Sequence[str]) -> Sentences:
    """Read sentences of tokens with the columns that a model knows."""
    sentences = check_sentences(X, "X")
    starts, tokens = find_starts(sentences), list(chain.from_iterable(sentences))
    if tuple(columns) == (FEATURES,):
        return read_features(starts, tokens)
    if len(columns) == 1 and (not tokens or isinstance(tokens[0], str)):
        return Sentences(starts, {columns[0]: number_strings(tokens, starts, columns[0])})
    by_name = bool(tokens) and isinstance(tokens[0], Mapping)
    keys: Sequence[Any] = columns if by_name else range(len(columns))
    check_columns(tokens, columns, starts, by_name)
    texts = ([token[key] for token in tokens] for key in keys)
    return Sentences(
        starts,
        {name: number_strings(own, starts, name) for name, own in zip(columns, texts, strict=True)},
    )


def check_columns(
    tokens: Sequence[Any], columns: Sequence[str], starts: Array, by_name: bool
) -> None:
    """Refuse tokens without the columns of the model, and with more of them by place."""
    wanted = set(columns)
    for place, token in enumerate(tokens):
        if by_name:
            fitting = isinstance(token, Mapping) and wanted <= token.keys()
        else:
            fitting = isinstance(token, tuple | list) and len(token) == len(columns)
        if not fitting:
            known = f"the columns {', '.join(columns)}" if len(columns) > 1 else "words alone"
            kind = "a string" if len(columns) == 1 else f"{len(columns)} strings"
            raise ValueError(
                f"{locate(place, starts)} is {token!r:.60}; this model knows {known}, so a token "
                f"must be {kind}."
            )


def number_strings(texts: list[Any], starts: Array, name: str) -> Categorical:
    """Number strings; refuse other objects by their place."""
    try:
        return Categorical.of(Strings.of(texts))
    except (TypeError, ValueError) as error:
        if isinstance(error, UnicodeError):
            raise
        wrong = [i for i, text in enumerate(texts) if not isinstance(text, str)]
        if not wrong:
            raise
        raise ValueError(
            f"{locate(wrong[0], starts)} has {texts[wrong[0]]!r:.60} as its {name}; a string is "
            "needed."
        ) from None


def locate(token: int, starts: Array) -> str:
    """Return the place of a token, for errors."""
    sentence = int(np.searchsorted(starts, token, "right")) - 1
    return f"X[{sentence}][{token - int(starts[sentence])}]"


# Features that tokens come with, as sklearn-crfsuite takes them.


def read_features(starts: Array, tokens: list[Any]) -> Sentences:
    """Read tokens that are dicts or lists of features."""
    names: list[str] = []
    values: list[float] = []
    sizes = np.zeros(len(tokens) + 1, np.int64)
    for number, token in enumerate(tokens):
        try:
            add_features(token, "", names, values)
        except TypeError as error:
            raise ValueError(f"{locate(number, starts)}: {error}.") from None
        sizes[number + 1] = len(names)
    numbers = np.array(values, np.float32)
    if not np.isfinite(numbers).all():
        place = int(np.searchsorted(sizes, np.argmin(np.isfinite(numbers)), "right")) - 1
        raise ValueError(f"{locate(place, starts)} has a feature whose value is not finite.")
    return Sentences(starts, {FEATURES: number_strings(names, starts, FEATURES)}, sizes, numbers)


def add_features(token: Any, prefix: str, names: list[str], values: list[float]) -> None:
    """Append the names and values of a token's features, except those of value 0."""
    if isinstance(token, dict | Mapping):
        for name, value in token.items():
            if isinstance(value, str):
                names.append(f"{prefix}{name}={value}")
                values.append(1.0)
            elif isinstance(value, bool | float | Real | np.bool_):
                if value:
                    names.append(f"{prefix}{name}")
                    values.append(float(value))
            else:
                add_features(value, f"{prefix}{name}:", names, values)
    elif isinstance(token, list | set | frozenset | tuple):
        names += [f"{prefix}{name}" for name in token]
        values += [1.0] * len(token)
    else:
        raise TypeError(f"expected a dict or list of features, got {token!r:.60}")
