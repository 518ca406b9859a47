"""Verdicts against independent decisions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import linprog
from sklearn.preprocessing import normalize

from rosenblatt import Inseparable, Separable, Undecided, separability
from rosenblatt.theory.exact import Effort
from rosenblatt.theory.problem import check_problem
from rosenblatt.theory.separability import decide

from ..conftest import LAYOUTS, csr, examples
from .conftest import CASES, ORIGIN, exactly, flipped, half_line, kind, separated, signs_of


def exact_margin(verdict, X, y):
    """The margin of a hyperplane, rounded only at the end."""
    least = min(exactly(*as_signs(X, y), exact_weights(verdict), verdict.bias))
    sizes = np.abs(exact_weights(verdict)) if any(verdict.weights) else np.array([Fraction(0)])
    if not sizes.max():
        return np.inf
    return float(least / sizes.max()) / np.sqrt(float(sum((sizes / sizes.max()) ** 2)))


def exact_weights(verdict):
    return np.array(list(map(Fraction, verdict.weights)), object)


def as_signs(X, y):
    return np.asarray(X, float), signs_of(y) * (1 if np.any(y) else -1)


def holds(verdict, X, y):
    """Check a verdict without any of the library."""
    X, signs = as_signs(X, y)
    if isinstance(verdict, Separable):
        return min(exactly(X, signs, exact_weights(verdict), verdict.bias)) > 0
    pairs = list(zip(verdict.support, verdict.weights, strict=True))
    sums = [
        sum(weight * int(signs[i]) * Fraction(X[i, j].item()) for i, weight in pairs)
        for j in range(X.shape[1])
    ]
    if verdict.fit_intercept:
        sums.append(sum(weight * int(signs[i]) for i, weight in pairs))
    positive = all(weight > 0 for weight in verdict.weights)
    return positive and sum(verdict.weights) == 1 and not any(sums)


@pytest.mark.parametrize("layout", ["dense", "int32"])
@pytest.mark.parametrize(
    ("case", "fit_intercept"), [*((c, True) for c in CASES), *((c, False) for c in ORIGIN)]
)
def test_cases_that_must_work(case, fit_intercept, layout):
    X, y, expected = (CASES if fit_intercept else ORIGIN)[case]
    rows = LAYOUTS[layout](np.asarray(X, float)) if layout == "int32" else X
    verdict = separability(rows, y, fit_intercept=fit_intercept)
    assert type(verdict) is expected
    assert verdict.fit_intercept == fit_intercept
    assert verdict.verify(rows, y)
    assert verdict.verify(X, y)
    assert holds(verdict, X, y)
    if expected is Inseparable:
        assert len(verdict.support) <= np.shape(X)[1] + 2
        assert all(isinstance(weight, Fraction) for weight in verdict.weights)
    else:
        assert len(verdict.weights) == np.shape(X)[1]
        assert verdict.margin == pytest.approx(exact_margin(verdict, X, y), rel=1e-6, abs=1e-150)


def test_inexact_decimals_on_a_line_that_are_not_quite_on_it():
    X = np.column_stack([0.1 * np.arange(50), 0.3 * np.arange(50), 0.7 * np.arange(50)])
    for y in (np.arange(50) % 2, np.arange(50) % 3 == 0, half_line(50)):
        verdict = separability(X, y)
        assert not isinstance(verdict, Undecided)
        assert verdict.verify(X, y)
        assert holds(verdict, X, y)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("d", [2, 5, 20])
@pytest.mark.parametrize("gap", [1e-6, 1e-9])
def test_thin_margins(gap, d, fit_intercept):
    rng = np.random.default_rng(d)
    w, y = rng.normal(size=d), np.where(np.arange(300) % 2, 1, -1)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(300, d))
    X += np.outer(y * gap * (1 + rng.random(300)) - X @ w, w)
    verdict = separability(X, y, fit_intercept=fit_intercept)
    assert isinstance(verdict, Separable)
    assert verdict.verify(X, y)
    assert 0 < verdict.margin <= 3 * gap
    verdict = separability(X, flipped(y), fit_intercept=fit_intercept)
    assert isinstance(verdict, Inseparable)
    assert verdict.verify(X, flipped(y))


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("d", [1, 3, 20])
@pytest.mark.parametrize("size", [1e-150, 1e150])
def test_rows_of_extreme_sizes(size, d, fit_intercept):
    X, y = separated(40 * d, d, gap=0.01)
    random_half = np.random.default_rng(0).random(len(X)) < 0.5
    assert kind(X * size, y, fit_intercept=fit_intercept) is Separable
    assert kind(X * size, flipped(y), fit_intercept=fit_intercept) is Inseparable
    some = np.where(random_half[:, None], X * size, X)
    both = np.where(random_half[:, None], X * size, X / size)
    for rows in (some, both):  # through the origin the size of a row does not matter
        if d == 20 and fit_intercept:
            continue  # exact arithmetic gives up, and says so
        assert kind(rows, y, fit_intercept=fit_intercept) is Separable
        assert kind(rows, flipped(y), fit_intercept=False) is Inseparable
        assert kind(rows, flipped(y), fit_intercept=fit_intercept) is not Undecided


@pytest.mark.parametrize("size", [1e-150, 1e150])
def test_columns_of_extreme_sizes(size):
    X, y = separated(60, 4, gap=0.01, bias=0.5)
    X[:, ::2] *= size
    assert kind(X, y) is Separable
    assert kind(X, flipped(y)) is Inseparable


def test_integers_of_every_kind():
    X, y = np.random.default_rng(0).integers(0, 100, (200, 3)), np.arange(200) % 2
    for dtype in (np.int8, np.uint8, np.int64, np.float32, object):
        assert kind(X.astype(dtype), y) is Inseparable
        assert kind(X.astype(dtype), X[:, 0] + X[:, 1] > 99) is Separable


@pytest.mark.parametrize(
    ("layout", "separable"), [("dense", True), ("dense", False), ("int32", True)]
)
def test_two_hundred_thousand_rows(separable, layout):
    rng = np.random.default_rng(0)
    X = normalize(rng.normal(size=(200_000, 20)))
    score = X @ normalize(rng.normal(size=(1, 20)))[0]
    X, y = X[np.abs(score) > 1e-3], score[np.abs(score) > 1e-3] > 0
    if not separable:
        y[np.argmax(np.abs(score[np.abs(score) > 1e-3]))] ^= True
    assert kind(LAYOUTS[layout](X), y) is (Separable if separable else Inseparable)


# The verdict against independent decisions


def by_linear_program(X, y, fit_intercept):
    """The largest t with y(w·x + b) ≥ t in the unit cube."""
    Z = signs_of(y)[:, None] * np.column_stack([X, np.ones(len(X))] if fit_intercept else [X])
    unknowns = Z.shape[1]
    return -linprog(
        [0] * unknowns + [-1],
        A_ub=np.column_stack([-Z, np.ones(len(Z))]),
        b_ub=np.zeros(len(Z)),
        bounds=[(-1, 1)] * unknowns + [(None, 1)],
    ).fun


@settings(max_examples=200)
@given(examples(), st.booleans())
def test_the_verdict_is_that_of_a_linear_program(data, fit_intercept):
    X, y = data
    expected = by_linear_program(X, y, fit_intercept) > 1e-7
    assert kind(X, y, fit_intercept=fit_intercept) is (Separable if expected else Inseparable)
    assert kind(csr(X), y, fit_intercept=fit_intercept) is (Separable if expected else Inseparable)


@pytest.mark.parametrize("d", [2, 6, 15])
def test_the_verdict_on_random_labels(d):
    rng = np.random.default_rng(d)
    for n in (d, 2 * d, 3 * d):
        for _ in range(5):
            X, y = rng.normal(size=(n, d)), rng.integers(0, 2, n)
            y[:2] = 0, 1
            expected = by_linear_program(X, y, True) > 1e-9
            assert kind(X, y) is (Separable if expected else Inseparable)


@settings(max_examples=60)
@given(examples(), st.randoms(use_true_random=False), st.booleans(), st.sampled_from([1.0, 0.1]))
def test_what_does_not_matter_does_not_change_the_verdict(data, random, fit_intercept, unit):
    X, y = data[0] * unit, data[1]
    n, d = X.shape
    verdict = kind(X, y, fit_intercept=fit_intercept)
    rows, columns = random.sample(range(n), n), random.sample(range(d), d)
    powers = 2.0 ** np.array([random.randint(-60, 60) for _ in range(d)])
    power = 2.0 ** random.randint(-200, 200)
    for X_, y_ in (
        (X[rows], y[rows]),
        (X[:, columns], y),
        (X * powers, y),
        (X * power, y),
        (X, 1 - y),
        (-X, y),
    ):
        assert kind(X_, y_, fit_intercept=fit_intercept) is verdict
    if not fit_intercept:
        sizes = 2.0 ** np.array([random.randint(-60, 60) for _ in range(n)])
        assert kind(X * sizes[:, None], y, fit_intercept=False) is verdict


def test_what_separability_refuses():
    for X, y, sentence in (
        ([[np.nan]], [1], "NaN"),
        ([[np.inf]], [1], "infinity"),
        ([[1.0]], [1, 0], "inconsistent"),
        (np.zeros((0, 2)), [], "0 sample"),
    ):
        with pytest.raises(ValueError, match=sentence):
            separability(X, y)


SPREAD = 10.0 ** np.linspace(-200, 200, 6)[:, None] * [[1.0, -1.0]]
HUGE = np.array([[1.7e308, 1.0], [1.0, 0.0], [0.0, 0.0]])
TINY = np.array([[-5e-324], [2e-323]])


@pytest.mark.parametrize(
    ("X", "y", "expected"),
    [
        (SPREAD, [0, 1, 0, 1, 0, 1], Inseparable),
        (SPREAD, [0, 0, 0, 1, 1, 1], Separable),
        (SPREAD, [1, 0, 0, 1, 0, 1], Inseparable),
        (HUGE, [1, 1, 0], Separable),
        (HUGE, [0, 1, 0], Separable),
        (HUGE, [1, 0, 0], Separable),
        (TINY, [0, 1], Separable),
        (TINY, [1, 0], Separable),
        (np.append(TINY, [[0.0]], axis=0), [1, 1, 0], Inseparable),
    ],
)
def test_sizes_hundreds_of_orders_of_magnitude_apart(X, y, expected):
    for rows in (X, csr(X)):
        verdict = separability(rows, y)
        assert type(verdict) is expected
        assert holds(verdict, X, np.array(y))


def test_exact_arithmetic_that_would_not_end_is_given_up():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3)) * 10.0 ** rng.uniform(-300, 300, (20, 3))
    problem = check_problem(X, np.arange(20) % 2)
    assert isinstance(decide(problem), Inseparable)
    verdict = decide(problem, Effort(10_000))
    assert isinstance(verdict, Undecided)
    assert verdict.upper >= 0


def test_a_certificate_in_which_a_share_is_tiny():
    for gap in (1e-12, 1e-13, 1e-14):
        X, y = separated(300, 20, gap=gap)
        assert holds(separability(X, flipped(y)), X, flipped(y))
