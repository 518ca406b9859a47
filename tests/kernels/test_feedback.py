"""The Banditron over all draws: its mean update, and the bound on its mistakes."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rosenblatt import Banditron

from .. import reference

SEEDS = st.integers(0, 2**32 - 1)


def unit_rows(rng, n, d):
    X = rng.normal(size=(n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@given(seed=SEEDS, classes=st.integers(3, 6), exploration=st.floats(0.01, 0.5))
def test_over_all_draws_the_update_is_that_of_the_perceptron(seed, classes, exploration):
    """Lemmas 4 and 5 of the paper, exactly: the mean, and the mean of the squared length."""
    rng = np.random.default_rng(seed)
    W, z, label = rng.normal(size=(classes, 3)), rng.normal(size=3), int(rng.integers(classes))
    p, best = reference.chances(W @ z, exploration), int(np.argmax(W @ z))
    updates = [
        reference.banditron_update(W, z, drawn, drawn == label, p[drawn])
        for drawn in range(classes)
    ]
    wanted = np.zeros_like(W)
    wanted[label] += z
    wanted[best] -= z
    np.testing.assert_allclose(np.tensordot(p, updates, 1), wanted, atol=1e-9)
    most = 2 * classes / exploration if best != label else 2 * exploration
    assert p @ [np.sum(U**2) for U in updates] <= most * (z @ z) * (1 + 1e-9)


@settings(max_examples=10, deadline=None)
@given(seed=SEEDS, exploration=st.sampled_from([0.1, 0.3, 0.5]))
def test_expected_mistakes_keep_the_bound_over_all_sequences_of_draws(seed, exploration):
    rng = np.random.default_rng(seed)
    classes, T = 3, 5
    Z, labels = unit_rows(rng, T, 3), rng.integers(0, classes, T)
    wrong = named_wrong = length = total = 0.0
    for path in product(range(classes), repeat=T):
        W, chance, errors, misses = np.zeros((classes, 3)), 1.0, 0, 0
        for z, label, drawn in zip(Z, labels, path, strict=True):
            p = reference.chances(W @ z, exploration)
            chance *= p[drawn]
            errors += drawn != label
            misses += np.argmax(W @ z) != label
            W = W + reference.banditron_update(W, z, drawn, drawn == label, p[drawn])
        total += chance
        wrong, named_wrong = wrong + chance * errors, named_wrong + chance * misses
        length += chance * np.sum(W**2)
    assert total == pytest.approx(1)
    k, y = classes, exploration
    assert length <= 2 * (k / y * named_wrong + y * T) + 1e-9
    for U in rng.normal(size=(20, classes, 3)) * 3:
        assert wrong <= bound(U, Z, labels, y) + 1e-9
        D, L = 2 * np.sum(U**2), hinge(U, Z, labels)
        assert named_wrong - L <= np.sqrt(D * (k / y * named_wrong + y * T)) + 1e-9


def hinge(U, Z, labels):
    scores = Z @ U.T
    own = scores[np.arange(len(Z)), labels]
    scores[np.arange(len(Z)), labels] = -np.inf
    return np.maximum(0, 1 - own + scores.max(axis=1)).sum()


def bound(U, Z, labels, y):
    """Theorem 1 of Kakade et al. (2008) for rows of length up to 1."""
    k, T, D, L = len(U), len(Z), 2 * np.sum(U**2), hinge(U, Z, labels)
    return L + y * T + 3 * max(k * D / y, np.sqrt(D * y * T)) + np.sqrt(k * D * L / y)


def test_mistakes_on_a_long_stream_keep_the_bound():
    rng = np.random.default_rng(0)
    Z, U = unit_rows(rng, 20_000, 3), 3 * np.eye(3)
    scores = np.sort(Z @ U.T, axis=1)
    Z = Z[scores[:, -1] - scores[:, -2] >= 1]
    labels, y = (Z @ U.T).argmax(axis=1), 0.3
    assert hinge(U, Z, labels) == 0
    runs = [Banditron(y, fit_intercept=False, random_state=seed) for seed in range(5)]
    wrong = np.mean([run.fit(Z, labels).history_[0].errors for run in runs])
    assert y * len(Z) / 2 < wrong <= bound(U, Z, labels, y) < 0.6 * len(Z)
