"""States are declared: they are packed, unpacked and checked by what their fields say."""

import numpy as np
import pytest

from rosenblatt import Perceptron
from rosenblatt.training.linear_state import SOLUTIONS
from rosenblatt.training.rules import PERCEPTRON
from rosenblatt.training.state import check_state, declared_fields, pack_state, unpack_state

from ..conftest import LAYOUTS, blobs


def state_of(solution, layout="dense"):
    X, y = blobs(30, 4)
    model = Perceptron(solution=solution, random_state=0, max_iter=3)
    return model.fit(LAYOUTS[layout](np.round(4 * X)), y)._learner.states[0]


SIZES = {"weights": (4,), "bias": (1,), "width": (4,)}


def checked(state):
    check_state(state, dict(SIZES), np.float64)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("solution", SOLUTIONS)
def test_what_was_packed_is_unpacked(solution, layout):
    state = state_of(solution, layout)
    checked(state)
    arrays, numbers = pack_state(state)
    back = unpack_state(type(state), PERCEPTRON, dict(arrays), numbers, 4)
    checked(back)
    again, counters = pack_state(back)
    assert counters == numbers
    assert again.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(again[name], array)
    assert back.rule is PERCEPTRON
    np.testing.assert_array_equal(back.coefficients()[0], state.coefficients()[0])


@pytest.mark.parametrize("solution", SOLUTIONS)
def test_every_array_and_counter_of_a_solution_is_declared(solution):
    state = state_of(solution)
    assert set(vars(state)) - declared_fields(type(state), state.rule).keys() <= {"rule"}


@pytest.mark.parametrize("solution", SOLUTIONS)
@pytest.mark.parametrize("kind", ["shape", "dtype", "NaN"])
def test_every_array_is_checked(solution, kind):
    for name, value in vars(state_of(solution)).items():
        if isinstance(value, np.ndarray):
            wrong = {
                "shape": np.zeros(len(value) + 1, value.dtype),
                "dtype": value.astype(np.float32),
                "NaN": np.full_like(value, np.nan),
            }
            state = state_of(solution)
            setattr(state, name, wrong[kind])
            with pytest.raises(ValueError, match=f"{name} does not fit or is not finite"):
                checked(state)


@pytest.mark.parametrize("solution", SOLUTIONS)
@pytest.mark.parametrize("value", [-1, 1.5, "3", None, 2**63])
def test_every_counter_is_checked(solution, value):
    for name in ("seen", "mistakes"):
        state = state_of(solution)
        setattr(state, name, value)
        with pytest.raises((ValueError, TypeError)):
            checked(state)
