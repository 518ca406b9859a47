"""PRank: the kernel is its naive twin, thresholds stay in order, and the paper's bound holds."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from rosenblatt.data.rows import view_rows
from rosenblatt.kernels.linear import UPDATE, Clock, Examples
from rosenblatt.kernels.ordinal import OrdinalSettings, ordinal

from .. import reference
from ..conftest import LAYOUTS


def learn(X, y, n_ranks, weights=None, margin=0.0, epochs=1):
    """The kernel's weights, thresholds, their averages, the number of updates and the loss."""
    dtype, n = X.dtype, X.shape[0]
    steps = np.ones(n, dtype) if weights is None else weights.astype(dtype)
    examples = Examples(view_rows(X), steps, y.astype(np.uint32))
    w, b = np.zeros(X.shape[1], dtype), np.zeros(n_ranks - 1, dtype)
    u, ub, total, loss = np.zeros(w.shape), np.zeros(b.shape), 0, 0.0
    order, log = np.arange(n, dtype=np.uint32), np.zeros(3, UPDATE)
    for epoch in range(epochs):
        position, clock = 0, Clock(float(epoch * n), 0.0, 0.0)
        while position < n:
            settings = OrdinalSettings(margin, -margin, 1.0)
            position, made, lost = ordinal(
                examples, order, position, w, b, u, ub, clock, settings, log
            )
            total, loss = total + made, loss + lost
    seen = epochs * n
    return w, -b, w - u / seen, -(b - ub / seen), total, loss


def make_ranks(n=80, d=4, n_ranks=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, d)).astype(float)
    scores = X @ rng.integers(-2, 3, d) + 2 * rng.normal(size=n)
    return X, np.searchsorted(np.quantile(scores, np.arange(1, n_ranks) / n_ranks), scores)


@pytest.mark.parametrize("margin", [0.0, 2.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_kernel_is_its_naive_twin(dtype, layout, weighted, margin):
    for n_ranks in (2, 3, 5):
        X, y = make_ranks(n_ranks=n_ranks)
        weights = np.arange(len(y)) % 3 / 2 + 0.5 if weighted else None
        found = learn(LAYOUTS[layout](X.astype(dtype)), y, n_ranks, weights, margin, epochs=2)
        twin = reference.PRank(n_ranks, margin).fit(X, y, weights, epochs=2)
        w, thresholds, mean_w, mean_thresholds, updates, loss = found
        assert np.array_equal(w, twin.weights)
        assert np.array_equal(thresholds, twin.thresholds)
        assert updates == twin.updates
        if margin == 0:
            assert loss == twin.loss
        tried = zip(*twin.tried, strict=True)
        for mean, wanted in zip((mean_w, mean_thresholds), tried, strict=True):
            np.testing.assert_allclose(mean, np.mean(wanted, axis=0), atol=1e-9)


@settings(max_examples=60)
@given(st.data(), st.integers(2, 5), st.sampled_from([0.0, 1.5]))
def test_thresholds_stay_in_order(data, n_ranks, margin):
    n, d = data.draw(st.integers(1, 30)), data.draw(st.integers(1, 3))
    X = data.draw(arrays(float, (n, d), elements=st.integers(-3, 3)))
    y = data.draw(arrays(int, n, elements=st.integers(0, n_ranks - 1)))
    weights = data.draw(arrays(float, n, elements=st.sampled_from([0.25, 1.0, 3.0])))
    thresholds = learn(X, y, n_ranks, weights, margin)[1]
    assert np.all(np.diff(thresholds) >= 0)


@settings(max_examples=60)
@given(st.data(), st.integers(2, 5))
def test_the_loss_is_at_most_the_bound_of_the_paper(data, n_ranks):
    """Theorem 2: the sum of |rank - predicted| is at most (k - 1)(R² + 1)/γ²."""
    n, d = data.draw(st.integers(1, 24)), data.draw(st.integers(1, 3))
    X = data.draw(arrays(float, (n, d), elements=st.integers(-9, 9)))
    u = data.draw(arrays(float, d, elements=st.integers(-3, 3)))
    places = st.integers(-15, 15).map(lambda value: value + 0.5)  # never on a row
    thresholds = np.sort(data.draw(arrays(float, n_ranks - 1, elements=places)))
    scores = X @ u
    y = np.searchsorted(thresholds, scores)
    gaps = np.abs(scores[:, None] - thresholds)
    gamma = gaps.min() / np.sqrt(u @ u + thresholds @ thresholds)
    bound = (n_ranks - 1) * (np.sum(X**2, axis=1).max() + 1) / gamma**2
    assert learn(X, y, n_ranks, epochs=3)[-1] <= bound * (1 + 1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_row_that_is_not_finite_ends_it(bad):
    X, y = np.array([[1.0], [bad], [2.0]]), np.zeros(3, np.uint32)
    examples = Examples(view_rows(X), np.ones(3), y)
    state = np.ones(1), np.full(2, -0.5), np.zeros(1), np.zeros(2), Clock(0.0, 0.0, 0.0)
    order, log = np.arange(3, dtype=np.uint32), np.zeros(9, UPDATE)
    position, updates, _ = ordinal(examples, order, 0, *state, OrdinalSettings(0.0, 0.0, 1.0), log)
    assert position == 1
    assert updates == 1
