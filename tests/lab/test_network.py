"""Networks on the page against `PerceptronNetwork`."""

import numpy as np

from rosenblatt import PerceptronNetwork

from ..conftest import ROUNDS
from .test_engine import draw_points, pytestmark, run_cases  # noqa: F401

PLACES = [[x / 2, y / 2] for x in range(-6, 7) for y in range(-6, 7)]


def draw_settings(rng, lift):
    return {
        "lift": lift,
        "max_units": int(rng.integers(1, 12)),
        "max_iter": int(rng.integers(2, 20)),
        "random_state": int(rng.integers(0, 2**32)),
    }


def grow(cases, tmp_path):
    """Pairs of what the page and the package grew."""
    results = run_cases(cases, tmp_path)
    for case, found in zip(cases, results, strict=True):
        X, y = np.array(case["points"]["X"]), np.array(case["points"]["y"])
        yield case, found, PerceptronNetwork(**case["settings"]).fit(X, y)


def draw_cases(rng, count, lift):
    cases = []
    for _ in range(count):
        X, y = draw_points(rng)
        points = {"X": X.tolist(), "y": np.where(y == 1, 1, -1).tolist()}
        case = {"kind": "network", "points": points, "places": PLACES}
        cases.append(case | {"settings": draw_settings(rng, lift)})
    return cases


def test_networks_of_whole_numbers_grow_as_in_python(tmp_path):
    """To the last bit."""
    cases = draw_cases(np.random.default_rng(1), 80 * ROUNDS, "none")
    for _, found, model in grow(cases, tmp_path):
        weights = [[*unit["weights"], unit["bias"]] for unit in found["units"]]
        assert weights == [[*each.weights.tolist(), each.bias] for each in model.units_]
        assert found["stopReason"] == model.stop_reason_
        assert found["answers"] == np.where(model.decision_function(PLACES) > 0, 1, -1).tolist()


def test_networks_on_the_sphere_grow_as_in_python(tmp_path):
    """Whose rows are not whole numbers: sums are rounded in another order."""
    cases = draw_cases(np.random.default_rng(2), 200, "sphere")
    for _, found, model in grow(cases, tmp_path):
        assert found["stopReason"] == model.stop_reason_
        for unit, expected in zip(found["units"], model.units_, strict=True):
            weights = [*unit["weights"], unit["bias"]]
            wanted = [*expected.weights.tolist(), expected.bias]
            np.testing.assert_allclose(weights, wanted, rtol=1e-9, atol=1e-9)
