"""The drift alarm: few false alarms, quick true ones, and the window of its definition."""

import math

import numpy as np
import pytest

from rosenblatt.training.drift import MOST_BUCKETS, DriftWindow


def feed(window, flags, block=50):
    """Add flags in blocks; return the rows after which the alarm was raised."""
    alarms = []
    for begin in range(0, len(flags), block):
        some = flags[begin : begin + block]
        if window.add(len(some), [some.sum()]) is not None:
            alarms.append(begin + len(some))
    return alarms


@pytest.mark.parametrize("rate", [0.0, 0.02, 0.2, 0.5, 1.0])
def test_a_constant_error_rate_raises_hardly_any_alarm(rate):
    raised = 0
    for seed in range(20):
        window = DriftWindow()
        raised += len(feed(window, np.random.default_rng(seed).random(20_000) < rate))
        assert window.rows >= 10_000 or raised
    assert raised <= 1


@pytest.mark.parametrize(("before", "after", "within"), [(0.05, 0.3, 200), (0.2, 0.3, 1500)])
def test_a_rise_is_reported_soon_with_both_rates_and_ends_the_window(before, after, within):
    for seed in range(10):
        flags = np.random.default_rng(seed).random(15_000)
        flags = flags < np.where(np.arange(15_000) < 10_000, before, after)
        window = DriftWindow()
        assert feed(window, flags[:10_000]) == []
        found = None
        for begin in range(10_000, 15_000, 50):
            some = flags[begin : begin + 50]
            rise = window.add(50, [some.sum()])
            found = found or (rise and (begin + 50, rise))
        row, (old, new) = found
        assert row <= 10_000 + within
        assert abs(old - before) < 0.02 < new - old
        assert window.rows <= 5_500  # the rows before the rise are gone
        assert abs(window.wrong[0] / window.rows - after) < 0.03


def test_a_fall_ends_the_window_without_an_alarm():
    flags = np.random.default_rng(0).random(4000) < np.where(np.arange(4000) < 2000, 0.4, 0.1)
    window = DriftWindow()
    assert feed(window, flags) == []
    assert window.rows <= 2200


def test_the_window_keeps_few_buckets_and_counts_every_predictor():
    rng, window = np.random.default_rng(0), DriftWindow()
    total = np.zeros(3)
    for _ in range(3000):
        wrong = np.array([5, *rng.integers(0, 10, 2)])
        total += wrong
        assert window.add(20, wrong) is None
    assert window.rows == 60_000
    np.testing.assert_array_equal(window.wrong, total)
    levels = [bucket.level for bucket in window.buckets]
    assert levels == sorted(levels, reverse=True)
    assert max(levels.count(level) for level in levels) <= MOST_BUCKETS
    assert len(window.buckets) <= (MOST_BUCKETS + 1) * math.log2(3000)


def test_parts_are_compared_by_the_bound_of_the_paper():
    """Cut by cut, with the harmonic mean m of the two sizes and the variance of all rows."""
    rng, window = np.random.default_rng(1), DriftWindow(delta=1e-300)
    for _ in range(40):
        window.add(10, [rng.integers(0, 4)])
    before, after, limit = window.compare_parts()
    buckets = [(bucket.rows, bucket.wrong[0]) for bucket in window.buckets]
    n, p = sum(b[0] for b in buckets), sum(b[1] for b in buckets) / sum(b[0] for b in buckets)
    for cut in range(1, len(buckets)):
        n0, n1 = sum(b[0] for b in buckets[:cut]), sum(b[0] for b in buckets[cut:])
        m, log = 1 / (1 / n0 + 1 / n1), math.log(2 * math.log(n + 2) / 1e-300)
        assert np.isclose(before[cut - 1], sum(b[1] for b in buckets[:cut]) / n0)
        assert np.isclose(after[cut - 1], sum(b[1] for b in buckets[cut:]) / n1)
        assert np.isclose(limit[cut - 1], math.sqrt(2 / m * p * (1 - p) * log) + 2 / (3 * m) * log)
