"""Whole numbers solve what fractions solve, and say when it would take too long."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from rosenblatt.theory.exact import (
    Effort,
    OutOfReachError,
    find_numerators,
    solve_alternative,
    solve_null_combination,
)
from rosenblatt.theory.problem import Problem

from ..conftest import csr

signs = st.sampled_from([-1.0, 1.0])
powers = st.integers(-300, 300).map(lambda power: 2.0**power)


def vectors(problem):
    """The rows y[x, 1] as fractions."""
    X = problem.X if isinstance(problem.X, np.ndarray) else problem.X.toarray()
    ones = [Fraction(1)] * problem.fit_intercept
    return [
        [int(s) * value for value in [*map(Fraction, x.tolist()), *ones]]
        for s, x in zip(problem.signs, X, strict=True)
    ]


def balanced(problem, weights):
    columns = zip(*vectors(problem), strict=True)
    sums = [sum(w * v for w, v in zip(weights, column, strict=True)) for column in columns]
    return min(weights) >= 0 and sum(weights) == 1 and not any(sums)


@st.composite
def problems(draw):
    n, d = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    X = draw(arrays(float, (n, d), elements=st.integers(-3, 3)))
    X *= draw(arrays(float, (n, 1), elements=powers)) * draw(arrays(float, d, elements=powers))
    return Problem(X, draw(arrays(float, n, elements=signs)), draw(st.booleans()))


@given(problems())
def test_there_is_a_combination_or_a_plane(problem):
    rows = list(range(len(problem.signs)))
    weights, plane = solve_alternative(problem, rows, Effort())
    if weights is not None:
        assert balanced(problem, weights)
    else:
        for row in vectors(problem):
            assert sum(plane.get(j, 0) * value for j, value in enumerate(row)) > 0
    only = solve_null_combination(problem, rows, Effort())
    assert only is None or balanced(problem, only)


@given(problems())
def test_sparse_rows_are_the_same(problem):
    rows = list(range(len(problem.signs)))
    sparse = problem._replace(X=csr(problem.X))
    assert (
        solve_alternative(sparse, rows, Effort())[0]
        == solve_alternative(problem, rows, Effort())[0]
    )


@pytest.mark.parametrize("d", [1, 5, 30])
def test_the_weights_of_a_simplex_are_found(d):
    rng = np.random.default_rng(d)
    corners = rng.normal(size=(d + 1, d))
    inside = np.linspace(1, 2, d + 1) @ corners / np.linspace(1, 2, d + 1).sum()
    problem = Problem(np.vstack([corners, inside]), np.append(np.ones(d + 1), -1.0))
    weights = solve_null_combination(problem, list(range(d + 2)), Effort())
    assert balanced(problem, weights)
    assert weights[-1] == Fraction(1, 2)


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=5), st.integers(1, 50))
def test_fractions_come_back_from_their_residues(values, denominator):
    modulus = 2**31 - 1
    residues = [value * pow(denominator, -1, modulus) % modulus for value in values]
    found = find_numerators(residues, modulus, modulus)
    for a, b in zip(found, values, strict=True):
        assert a * values[0] == b * found[0]


@pytest.mark.parametrize("solve", [solve_null_combination, solve_alternative])
def test_long_numbers_end_the_effort(solve):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 10)) * 10.0 ** rng.uniform(-300, 300, (12, 10))
    with pytest.raises(OutOfReachError):
        solve(Problem(X, np.resize([1.0, -1.0], 12)), list(range(12)), Effort(1e5))
