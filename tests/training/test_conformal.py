"""Thresholds for a coverage: their ranks, their coverage, and levels that follow a stream."""

import json

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import binom

from rosenblatt.training import conformal
from rosenblatt.training.conformal import MOST_SCORES, RATE, TARGETS, Conformal, count_needed

from .. import reference

NUMBERS = st.lists(st.integers(-20, 20).map(float), max_size=40)


@given(NUMBERS, st.integers(1, 99))
def test_thresholds_are_those_of_the_naive_twin(scores, percent):
    found = Conformal(scores).threshold(percent / 100)
    assert found == reference.conformal_threshold(scores, percent / 100)


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_the_fewest_rows_give_a_finite_threshold(coverage):
    needed = count_needed(coverage)
    assert np.isfinite(Conformal(range(needed)).threshold(coverage))
    assert np.isinf(Conformal(range(needed - 1)).threshold(coverage))


@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.95])
def test_exchangeable_rows_are_covered(coverage):
    random, trials = np.random.default_rng(0), 4000
    scores = random.normal(size=(trials, 40))  # 39 to calibrate on, and a new one
    inside = [row[-1] <= Conformal(row[:-1]).threshold(coverage) for row in scores]
    least, most = binom.ppf([0.001, 0.999], trials, [coverage, coverage + 1 / 40])
    assert least <= sum(inside) <= most


@pytest.mark.parametrize("most", [7, MOST_SCORES])
def test_levels_are_those_of_the_naive_twin(monkeypatch, most):
    monkeypatch.setattr(conformal, "MOST_SCORES", most)
    scores = np.random.default_rng(1).integers(0, 30, 25).astype(float)
    found = Conformal()
    found.add(scores)
    naive = reference.adapted_levels(scores.tolist(), TARGETS.tolist(), RATE, most)
    np.testing.assert_allclose(found.levels, naive, atol=1e-12)
    assert list(found.recent) == scores.tolist()[-most:]
    assert found.ordered == sorted(found.recent)


@pytest.mark.parametrize("drift", ["none", "jumps", "grows", "adversarial"])
def test_the_coverage_of_a_stream_is_within_the_bound_of_the_paper(drift):
    random, rows = np.random.default_rng(2), 1000
    sizes = {"none": np.ones(rows), "jumps": 1 + 20 * (np.arange(rows) // 230 % 2)}
    sizes |= {"grows": np.exp(np.arange(rows) / 100)}
    found, outside, some = Conformal(), np.zeros(3), np.array([0.5, 0.9, 0.95])
    for t in range(rows):
        score = sizes[drift][t] * random.random() if drift in sizes else float(t)
        outside += [score > found.threshold(coverage) for coverage in some]
        found.add([score])
    bound = (np.maximum(some, 1 - some) + RATE) / (RATE * rows)
    assert (np.abs(outside / rows - (1 - some)) <= bound + 1e-9).all()


def test_a_stream_in_pieces_or_saved_between_is_the_same():
    scores = np.random.default_rng(3).normal(size=300)
    whole, pieces = Conformal(), Conformal()
    whole.add(scores)
    for part in np.array_split(scores, 11):
        pieces.add(part)
        pieces = Conformal.of(json.loads(json.dumps(pieces.as_dict())))
    assert pieces.as_dict() == whole.as_dict()
    assert pieces.threshold(0.9) == whole.threshold(0.9)


def test_many_held_out_rows_are_sampled_evenly():
    found = Conformal.from_held_out(np.arange(3 * MOST_SCORES + 5.0))
    assert len(found.ordered) == MOST_SCORES
    assert found.ordered[0] == 0
    assert found.ordered[-1] > 3 * MOST_SCORES
    assert len(Conformal.from_held_out(np.empty(0)).ordered) == 0


def test_scores_that_are_not_numbers_count_as_largest():
    found = Conformal()
    found.add(np.array([np.nan, np.inf, -np.inf, 1.0]))
    assert np.isfinite(found.ordered).all()
    json.dumps(found.as_dict(), allow_nan=False)


def test_other_coverages_lie_between():
    found = Conformal(np.arange(1000.0))
    assert found.threshold(0.905) == 905  # the rank is ⌈1001 · 0.905⌉, from 1
    assert found.threshold(0.9995) == np.inf
    assert found.threshold(0.0005) == 0
