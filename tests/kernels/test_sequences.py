"""The best path is the best of all, for every search and order."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rosenblatt.kernels.sequences import PathSettings, PathWeights, Tokens
from rosenblatt.learners.sequence.state import PathState, Shape
from rosenblatt.learners.sequence.task import best_through, decode

from .. import reference


def problem(n, tags, markov, seed):
    """One sentence with a feature of its own for each token, and small whole weights."""
    random, shape = np.random.default_rng(seed), Shape(tags, markov)
    weights = PathState.zeros(shape, False, None).weights
    emissions = np.zeros((n, shape.width), np.float32)
    emissions[:, :tags] = random.integers(-3, 4, (n, tags))
    moves = weights.transitions.reshape(tags + 1, -1)
    moves[:, :tags] = random.integers(-3, 4, (tags + 1, tags))
    pairs = random.integers(-3, 4, weights.pairs.shape).astype(np.float32)
    weights = PathWeights(emissions.ravel(), moves.ravel(), pairs, weights.last)
    tokens = Tokens(np.arange(n, dtype=np.uint32), np.arange(n + 1), None)
    return tokens, weights, PathSettings(tags, shape.width, markov, False, 0.0)


def score(path, weights, settings):
    width, tags = settings.width, settings.tags
    before, earlier, total = tags, tags, 0.0
    for place, tag in enumerate(path):
        total += float(weights.emissions[place * width + tag])
        if settings.markov > 0:
            total += float(weights.transitions[before * width + tag])
        if settings.markov > 1:
            total += float(weights.pairs[(earlier * (tags + 1) + before) * width + tag])
            earlier = before
        before = tag
    return total + float(weights.last[before])


@pytest.mark.parametrize("markov", [1, 2])
@given(n=st.integers(1, 5), tags=st.integers(2, 4), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_no_path_is_better(markov, n, tags, seed):
    tokens, weights, how = problem(n, tags, markov, seed)
    found = decode(tokens, np.array([0, n]), weights, how)
    totals = {path: score(path, weights, how) for path in product(range(tags), repeat=n)}
    assert totals[tuple(found.tolist())] == max(totals.values())


@pytest.mark.parametrize("markov", [1, 2])
def test_many_tags_take_several_vectors(markov):
    tokens, weights, how = problem(4, 19, markov, 1)
    found = decode(tokens, np.array([0, 4]), weights, how)
    moves = {
        ("move", before, tag): weights.transitions[before * how.width + tag]
        for before in range(20)
        for tag in range(19)
    }
    if markov == 2:
        triples = product(range(20), range(20), range(19))
        moves |= {
            ("move", *triple): weights.pairs[(triple[0] * 20 + triple[1]) * how.width + triple[2]]
            for triple in triples
        }
    scores = weights.emissions.reshape(4, -1)[:, :19].tolist()
    assert found.tolist() == reference.best_path(scores, 19, markov, moves)


@pytest.mark.parametrize("markov", [1, 2])
@given(n=st.integers(1, 4), tags=st.integers(2, 3), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_the_best_path_through_each_tag(markov, n, tags, seed):
    tokens, weights, how = problem(n, tags, markov, seed)
    through = best_through(tokens, 0, n, weights, how)
    totals = {path: score(path, weights, how) for path in product(range(tags), repeat=n)}
    for i, tag in product(range(n), range(tags)):
        assert through[i, tag] == max(totals[path] for path in totals if path[i] == tag)


def test_values_multiply_weights():
    tokens, weights, how = problem(3, 2, 1, 0)
    doubled = tokens._replace(values=np.full(3, 2, np.float32))
    heavy = weights._replace(emissions=2 * weights.emissions)
    starts = np.array([0, 3])
    found = decode(doubled, starts, weights, how)
    assert found.tolist() == decode(tokens, starts, heavy, how).tolist()
