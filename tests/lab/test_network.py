"""Networks on the page against `PerceptronNetwork`."""

import numpy as np

from rosenblatt import PerceptronNetwork

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


def grow(cases, tmp_path):
    """Pairs of what the page and the package grew."""
    for case, found in zip(cases, run_cases(cases, tmp_path), strict=True):
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


def test_networks_of_whole_numbers_grow_as_in_python(tmp_path):
    cases = draw_cases(np.random.default_rng(1), 300, "none")
    different = 0
    for case, found, model in grow(cases, tmp_path):
        weights = [[*unit["weights"], unit["bias"]] for unit in found["units"]]
        expected = [[*each.weights.tolist(), each.bias] for each in model.units_]
        if case["settings"]["unit"] == "thermal":  # exp may differ in the last digit
            agree = list(map(len, weights)) == list(map(len, expected))
            different += not (
                agree and np.allclose(np.hstack(weights), np.hstack(expected), rtol=1e-6)
            )
            continue
        assert weights == expected
        assert found["stopReason"] == model.stop_reason_
        assert found["answers"] == np.where(model.decision_function(PLACES) > 0, 1, -1).tolist()
    assert different <= 30  # of about 150: what is rounded otherwise grows with every epoch


def test_networks_on_the_sphere_separate_as_in_python(tmp_path):
    cases = draw_cases(np.random.default_rng(2), 100, "sphere")
    agree = [
        len(found["units"]) == model.n_units_ and found["stopReason"] == model.stop_reason_
        for _, found, model in grow(cases, tmp_path)
    ]
    assert np.mean(agree) > 0.9
