"""Networks on the page against `PerceptronNetwork`."""

from types import FunctionType, ModuleType

import numpy as np
from numba import njit

from rosenblatt import PerceptronNetwork
from rosenblatt.kernels.thermal import thermal

from ..conftest import ROUNDS
from .test_engine import draw_points, pytestmark, run_cases  # noqa: F401

PLACES = [[x / 2, y / 2] for x in range(-6, 7) for y in range(-6, 7)]


def draw_settings(rng, lift):
    return {
        "growth": str(rng.choice(["upstart", "tiling", "tower", "pyramid"])),
        "unit": str(rng.choice(["pocket", "thermal"])),
        "lift": lift,
        "max_units": int(rng.integers(1, 12)),
        "max_iter": int(rng.integers(2, 20)),
        "random_state": int(rng.integers(0, 2**32)),
    }


def grow(cases, tmp_path, stand_ins=False):
    """Pairs of what the page and the package grew."""
    results = run_cases(cases, tmp_path, stand_ins=stand_ins)
    for case, found in zip(cases, results, strict=True):
        X, y = np.array(case["points"]["X"]), np.array(case["points"]["y"])
        yield case, found, PerceptronNetwork(**case["settings"]).fit(X, y)


def draw_cases(rng, count, lift):
    cases = []
    for _ in range(count):
        X, y = draw_points(rng)
        points = {"X": X.tolist(), "y": np.where(y == 1, 1, -1).tolist()}
        cases.append(
            {
                "kind": "network",
                "points": points,
                "settings": draw_settings(rng, lift),
                "places": PLACES,
            }
        )
    return cases


def test_networks_of_whole_numbers_grow_as_in_python(tmp_path, monkeypatch):
    """To the last bit; thermal units with a stand-in for exp, and a number of epochs that is a
    power of two, so that every step has few digits."""
    monkeypatch.setattr("rosenblatt.learners.network.training.thermal", with_stand_in())
    cases = draw_cases(np.random.default_rng(1), 80 * ROUNDS, "none")
    for case in cases:
        if case["settings"]["unit"] == "thermal":
            case["settings"]["max_iter"] = 2 ** (case["settings"]["max_iter"] % 5)
    for _, found, model in grow(cases, tmp_path, stand_ins=True):
        weights = [[*unit["weights"], unit["bias"]] for unit in found["units"]]
        assert weights == [[*each.weights.tolist(), each.bias] for each in model.units_]
        assert found["stopReason"] == model.stop_reason_
        assert found["answers"] == np.where(model.decision_function(PLACES) > 0, 1, -1).tolist()


def with_stand_in():
    """The kernel of thermal units, compiled with the exp of run_cases.mjs."""

    @njit
    def exp(x):
        return np.floor(256 / (1 + x * x) + 0.5) / 256

    math = ModuleType("math")
    math.exp = exp
    plain = thermal.py_func
    names = {**plain.__globals__, "math": math, "__name__": __name__}
    return njit(FunctionType(plain.__code__, names, "thermal"))


def test_networks_on_the_sphere_grow_as_in_python(tmp_path):
    """Whose rows are not whole numbers: sums are rounded in another order, or with a fused
    product. Pocket units differ by that alone. In thermal ones every step depends on exp of such a
    sum, so that differences grow from epoch to epoch; in two epochs they cannot grow."""
    cases = draw_cases(np.random.default_rng(2), 200, "sphere")
    for case in cases:
        if case["settings"]["unit"] == "thermal":
            case["settings"]["max_iter"] = 2
    for _, found, model in grow(cases, tmp_path):
        assert found["stopReason"] == model.stop_reason_
        for unit, expected in zip(found["units"], model.units_, strict=True):
            weights = [*unit["weights"], unit["bias"]]
            wanted = [*expected.weights.tolist(), expected.bias]
            np.testing.assert_allclose(weights, wanted, rtol=1e-9, atol=1e-9)
