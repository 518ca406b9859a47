"""Explain the tag of a token by the weights of its features and transitions."""

from collections.abc import Sequence
from heapq import nlargest
from typing import Any, NamedTuple

import numpy as np

from .kernels.paths import IMPOSSIBLE, PathSettings, PathWeights, Tokens, score_path_tokens
from .sentences import Sentences
from .state import best_through, decode


class TokenExplanation(NamedTuple):
    """Why a token gets its tag and not another.

    Attributes
    ----------
    token : object
        The token.
    tag, runner_up : str
        Its tag, and the tag whose best path comes next; with chunks, as IOBES writes them.
    lead : float
        How far the best path through the tag is ahead of the best path through the other.
    features : list of (str, float)
        The features with the largest shares for the tag (above 0) or for the runner-up.
    transition : float
        The transition weight of the tag less that of the runner-up.
    """

    token: Any
    tag: str
    runner_up: str
    lead: float
    features: list[tuple[str, float]]
    transition: float


def explain_tags(
    learner: Any, sentence: Sequence[Any], read: Sentences, top: int
) -> list[TokenExplanation]:
    """Explain each tag of the path that a learner finds for a sentence, which was read."""
    if not len(sentence):
        return []
    tokens, weights = learner.tokens(read), learner.coefficients()
    settings, tags, name = learner.settings, learner.tags.names, learner.feature_name()
    codes = decode(tokens, read.starts, weights, settings).tolist()
    through = best_through(tokens, 0, len(sentence), weights, settings).astype(np.float64)
    emissions = weights.emissions.reshape(-1, settings.width)
    moves = weights.transitions.reshape(-1, settings.width).astype(np.float64)
    moves[moves < IMPOSSIBLE / 2] = -np.inf
    found = []
    for place, (token, tag) in enumerate(zip(sentence, codes, strict=True)):
        rest = through[place].copy()
        rest[tag] = -np.inf
        other = int(np.argmax(rest))
        some = slice(int(tokens.starts[place]), int(tokens.starts[place + 1]))
        rows = tokens.features[some]
        values = np.ones(len(rows)) if tokens.values is None else tokens.values[some]
        rows, values = rows[rows > 0], values[rows > 0]  # others have no weights
        shares = (emissions[rows, tag] - emissions[rows, other]) * values
        loudest = np.argsort(-np.abs(shares), kind="stable")[:top]
        named = [(name(int(rows[k])), round(float(shares[k]), 4)) for k in loudest]
        lead = round(float(through[place, tag] - rest[other]), 4)
        before = moves[codes[place - 1] if place > 0 else settings.tags]
        moved = round(float(before[tag] - before[other]), 4)
        found.append(TokenExplanation(token, tags[tag], tags[other], lead, named, moved))
    return found


def best_paths(
    tokens: Tokens, n: int, count: int, weights: PathWeights, settings: PathSettings
) -> list[tuple[float, tuple[int, ...]]]:
    """Return the best paths of the first n tokens with their scores, the best first.

    Viterbi's algorithm with a list of paths for each tag instead of one.
    """
    tags, width = settings.tags, settings.width
    scores = np.zeros(n * width, np.float32)
    score_path_tokens(tokens, 0, n, weights, settings, scores)
    moves = weights.transitions.reshape(-1, width).tolist()
    found: dict[int, list[tuple[float, tuple[int, ...]]]] = {tags: [(0.0, ())]}  # by the last tag
    for emissions in scores.reshape(n, width).tolist():
        found = {
            tag: nlargest(
                count,
                (
                    (score + emissions[tag] + moves[before][tag], (*path, tag))
                    for before, paths in found.items()
                    for score, path in paths
                ),
            )
            for tag in range(tags)
        }
    last = weights.last.tolist()
    every = [(score + last[tag], path) for tag, own in found.items() if n for score, path in own]
    return [path for path in nlargest(count, every or [(0.0, ())]) if path[0] > IMPOSSIBLE / 2]


def best_predecessors(
    weights: PathWeights, settings: PathSettings, tag: int, top: int
) -> list[tuple[int, float]]:
    """Return the predecessors of a tag with the largest transition weights.

    The last number stands for the start of a sentence.
    """
    column = weights.transitions.reshape(-1, settings.width)[:, tag]
    before = np.argsort(-column, kind="stable")[:top]
    return [(int(p), float(column[p])) for p in before if column[p] > IMPOSSIBLE / 2]
