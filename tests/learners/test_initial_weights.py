"""Coefficients to start from: their shapes, types and refusals."""

import numpy as np
import pytest

from rosenblatt.learners.initial_weights import make_initial_weights
from rosenblatt.training.linear_state import refuse_too_many

from ..reading.samples import refused


@pytest.mark.parametrize("together", [True, False])
def test_each_problem_gets_its_row_of_the_coefficients(together):
    W, b = np.arange(6).reshape(2, 3), [1, 2]
    found = make_initial_weights((W, b), 2, (3, np.float32), together)
    weights = [w for w, _ in found]
    assert all(w.dtype == np.float32 for w in weights)
    np.testing.assert_array_equal(weights[0].T if together else np.stack(weights), W)
    np.testing.assert_array_equal(np.concatenate([bias for _, bias in found]), b)


@pytest.mark.parametrize(
    ("start", "match"),
    [
        ((np.zeros((2, 4)), None), r"coef_init has shape \(2, 4\); this data needs \(2, 3\)"),
        ((np.zeros(6), None), r"coef_init has shape \(6,\); this data needs \(2, 3\)"),
        ((None, np.zeros((2, 1))), r"intercept_init has shape \(2, 1\); this data needs \(2,\)"),
        ((None, 1.0), r"intercept_init has shape \(\); this data needs \(2,\)"),
        ((None, [np.nan, 0]), "intercept_init contains NaN"),
        ((np.full((2, 3), 1j), None), "coef_init is complex"),
    ],
)
@pytest.mark.parametrize("together", [True, False])
def test_others_are_refused(start, match, together):
    with pytest.raises(ValueError, match=match):
        make_initial_weights(start, 2, (3, np.float64), together)


@pytest.mark.parametrize("n_classes", [0, 2])  # numbers to predict have no classes
def test_more_weights_than_there_is_memory_for_are_refused(n_classes):
    with refused("too-many-weights"):
        refuse_too_many(2**32 - 1, n_classes)
