"""The nearest point is nearest, at any size and in bounded time."""

import numpy as np
import pytest

from rosenblatt.theory.hull import Hull, nearest_to_origin, widest_gap
from rosenblatt.theory.problem import Problem

from .conftest import separated


@pytest.mark.parametrize("size", [1e-80, 1.0, 1e80])
def test_the_nearest_point_of_a_triangle(size):
    X = np.array([[3.0, -4.0], [3.0, 5.0], [9.0, 0.0]]) * size
    hull = Hull(Problem(X, np.ones(3), fit_intercept=False), distances=True)
    nearest = nearest_to_origin(hull, 1e-9)
    support, shares = nearest.shares()
    assert support.tolist() == [0, 1]
    np.testing.assert_allclose(shares, [5 / 9, 4 / 9])
    weights, bias = hull.plane(nearest.normal)
    assert bias == 0
    np.testing.assert_allclose(weights / np.linalg.norm(weights), [1, 0], atol=1e-12)


def test_two_classes_are_as_far_apart_as_their_hulls():
    X, y = np.array([[0.0, 0.0], [0.0, 2.0], [4.0, 1.0], [7.0, 9.0]]), np.array([-1.0, -1, 1, 1])
    problem = Problem(X, y)
    nearest = nearest_to_origin(Hull(problem, distances=True), 1e-9)
    assert widest_gap(problem, *nearest.shares()) == pytest.approx(2)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_normal_separates_where_that_is_possible(fit_intercept):
    X, y = separated(200, 5, bias=0.5 if fit_intercept else 0.0)
    problem = Problem(X, y.astype(float), fit_intercept)
    hull = Hull(problem, distances=False)
    nearest = nearest_to_origin(hull)
    assert min(nearest.lowest) > 0
    np.testing.assert_array_less(0, problem.margins(*hull.plane(nearest.normal)))
    hull.stretch(nearest.normal)
    assert min(nearest_to_origin(hull).lowest) > 0


@pytest.mark.parametrize("X", [[[1e200], [-1e-200]], [[np.nan], [1.0]], [[0.0], [0.0]]])
@pytest.mark.parametrize("distances", [True, False])
def test_it_ends_whatever_the_numbers_are(X, distances):
    problem = Problem(np.array(X), np.array([1.0, -1.0]))
    with np.errstate(all="ignore"):
        nearest_to_origin(Hull(problem, distances=distances))
