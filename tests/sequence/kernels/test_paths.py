"""The best path is the best of all."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rosenblatt.sequence.kernels.paths import PathSettings, PathWeights, Tokens
from rosenblatt.sequence.state import PathState, decode, pad

from ... import reference


def problem(n, tags, seed, loud=1):
    """One sentence with a feature of its own for each token, and small whole weights.

    The louder features are, the fewer tags can the best path come from.
    """
    random, width = np.random.default_rng(seed), pad(tags)
    weights = PathState.zeros(False, np.zeros((tags + 1, tags), bool), np.zeros(tags, bool)).weights
    emissions = np.zeros((n, width), np.float32)
    emissions[:, :tags] = loud * random.integers(-3, 4, (n, tags))
    moves = weights.transitions.reshape(tags + 1, -1)
    moves[:, :tags] = random.integers(-3, 4, (tags + 1, tags))
    weights = PathWeights(emissions.ravel(), moves.ravel(), weights.last)
    tokens = Tokens(np.arange(n, dtype=np.uint32), np.arange(n + 1), None)
    return tokens, weights, PathSettings(tags, width, 0.0)


def score(path, weights, settings):
    width, before, total = settings.width, settings.tags, 0.0
    for place, tag in enumerate(path):
        total += float(weights.emissions[place * width + tag])
        total += float(weights.transitions[before * width + tag])
        before = tag
    return total + float(weights.last[before])


@given(
    n=st.integers(1, 5),
    tags=st.integers(2, 5),
    seed=st.integers(0, 2**32 - 1),
    loud=st.sampled_from([1, 2, 9]),
)
@settings(max_examples=60, deadline=None)
def test_no_path_is_better(n, tags, seed, loud):
    tokens, weights, how = problem(n, tags, seed, loud)
    found = decode(tokens, np.array([0, n]), weights, how)
    totals = {path: score(path, weights, how) for path in product(range(tags), repeat=n)}
    assert totals[tuple(found.tolist())] == max(totals.values())


@pytest.mark.parametrize("loud", [1, 3])
def test_many_tags_take_several_vectors(loud):
    tokens, weights, how = problem(4, 19, 1, loud)
    found = decode(tokens, np.array([0, 4]), weights, how)
    moves = {
        ("move", before, tag): weights.transitions[before * how.width + tag]
        for before in range(20)
        for tag in range(19)
    }
    scores = weights.emissions.reshape(4, -1)[:, :19].tolist()
    assert found.tolist() == reference.best_path(scores, 19, moves)


def test_values_multiply_weights():
    tokens, weights, how = problem(3, 2, 0)
    doubled = tokens._replace(values=np.full(3, 2, np.float32))
    heavy = weights._replace(emissions=2 * weights.emissions)
    starts = np.array([0, 3])
    found = decode(doubled, starts, weights, how)
    assert found.tolist() == decode(tokens, starts, heavy, how).tolist()
