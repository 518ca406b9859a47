"""The page's runs against the package's: the same updates, weights and orders."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import rosenblatt
from rosenblatt import KernelPerceptron, Perceptron, steps

from ..conftest import ROUNDS

WEB = Path(rosenblatt.__file__).parent / "lab" / "web"
MANY = 400 * ROUNDS  # settings of lines; a third as many of classes and of kernels
PLACES = [[-2.0, 1.0], [0.5, 0.5], [3.0, -1.0], [0.0, 0.0]]

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="needs node")


def run_cases(cases, folder, wasm=WEB / "engine.wasm", stand_ins=False):
    """What the page's modules make of cases; with stand-ins for exp and tanh, if asked for."""
    path = folder / "cases.json"
    path.write_text(json.dumps(cases))
    script = Path(__file__).with_name("run_cases.mjs")
    command = ["node", str(script), str(WEB), str(wasm), str(path)]
    command += ["stand-ins"] * stand_ins
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def draw_settings(rng):
    """Random settings of a line that go together."""
    solution = str(rng.choice(["last", "average", "pocket"]))
    orders = ["each", "once", "fixed", "active", "first", "worst", "batch"]
    allowed = {"pocket": orders[:3], "average": [*orders[:4], "batch"]}
    form = str(rng.choice(["bias", "origin", "lifted"]))
    settings = {
        "form": form,
        "order": str(rng.choice(allowed.get(solution, orders))),
        "solution": solution,
        "ties": str(rng.choice(["mistake", "positive", "negative", "correct"])),
        "eta0": float(rng.choice([1, 1, 2, 0.5, 0.25])),
        "margin": float(rng.choice([0, 0, 0, 1, 2.5])),
        "intercept_step": str(rng.choice(["1", "1", "radius"])),
        "third": str(rng.choice(["product", "square"])),
        "max_iter": int(rng.integers(1, 30)),
        "random_state": int(rng.integers(0, 2**32)),
        "start": "",
    }
    if form != "lifted" and rng.random() < 0.2:
        settings["start"] = ",".join(str(int(each)) for each in rng.integers(-4, 5, 3))
    return settings


def draw_points(rng, classes=2):
    """Whole numbers, so that every sum is exact; some points lie on each other."""
    n = int(rng.integers(classes, 30))
    X = rng.integers(-6, 7, (n, 2)).astype(float)
    y = rng.permutation(np.arange(n) % classes)
    if rng.random() < 0.6:  # separable by a line, or nearly
        y = np.digitize(X @ rng.integers(-3, 4, 2), np.sort(rng.integers(-4, 5, classes - 1)))
        y[:classes] = np.arange(classes)
    return X, y


def to_parameters(settings):
    """The parameters of `Perceptron` that the page's settings mean."""
    names = ("order", "solution", "ties", "eta0", "margin", "max_iter", "random_state")
    step = settings["intercept_step"]
    bias = {"fit_intercept": settings["form"] != "origin"}
    bias["intercept_step"] = step if step == "radius" else float(step)
    return {name: settings[name] for name in names} | bias


def to_features(settings, X):
    """The columns that a line sees."""
    if settings["form"] != "lifted":
        return X
    third = X[:, 0] * X[:, 1] if settings["third"] == "product" else (X**2).sum(axis=1)
    return np.column_stack([X, third])


def to_start(settings):
    """Where learning starts."""
    if not settings["start"]:
        return {}
    w1, w2, b = map(float, settings["start"].split(","))
    bias = {} if settings["form"] == "origin" else {"intercept_init": [b]}
    return {"coef_init": [[w1, w2]], **bias}


def check_history(found, model):
    epochs = [
        tuple(each[k] for k in ("epoch", "rows", "mistakes", "errors", "loss"))
        for each in found["epochs"]
    ]
    assert epochs == [tuple(epoch)[:5] for epoch in model.history_]
    assert found["stopReason"] == model.stop_reason_
    passes = sum(epoch.mistakes > 0 for epoch in model.history_)
    assert found["last"] == (passes if found.get("batches") else model.n_mistakes_)


def check_updates(found, made, order, names=("row", "position", "activation")):
    """Every update was made at the same time, by the same rows."""
    assert found["epoch"][1:] == [step.epoch for step in made]
    if order != "batch":
        for name in names:
            assert found[name][1:] == [getattr(step, name) for step in made], name
        return
    names = [name for name in names if name != "position"]
    for batch, step in zip(found["batches"][1:], made, strict=True):
        for name in names:
            assert [each[name] for each in batch] == getattr(step, name).tolist(), name


def draw_case(rng, kind, settings, classes=2):
    """A case of the page's modules, with random points."""
    X, y = draw_points(rng, classes)
    y = np.where(y == 1, 1, -1) if classes == 2 else y
    case = {"kind": kind, "points": {"X": X.tolist(), "y": y.tolist()}, "settings": settings}
    return case | {"places": to_features(settings, np.array(PLACES)).tolist(), "classes": classes}


def run_drawn(cases, folder, **options):
    """The settings and points of cases, and what the page made of them."""
    for case, found in zip(cases, run_cases(cases, folder, **options), strict=True):
        X, y = (np.array(case["points"][name]) for name in ("X", "y"))
        yield case["settings"], X, y, found


def test_lines_learn_as_in_python_to_the_last_bit(tmp_path):
    rng = np.random.default_rng(29)
    cases = [draw_case(rng, "linear", draw_settings(rng)) for _ in range(MANY)]
    for settings, X, y, found in run_drawn(cases, tmp_path):
        rows, parameters = to_features(settings, X), to_parameters(settings)
        start = to_start(settings)
        made = list(steps(rows, y, **start, **parameters))
        check_updates(found, made, settings["order"])
        weights = [step.new_weights[0].tolist() for step in made]
        assert found["lines"]["weights"][1:] == weights
        assert found["lines"]["bias"][1:] == [step.new_bias.tolist() for step in made]
        model = Perceptron(**parameters).fit(rows, y, **start)
        check_history(found, model)
        assert found["found"]["weights"][-1] == model.coef_[0].tolist()
        assert found["found"]["bias"][-1] == model.intercept_.tolist()


def draw_class_settings(rng):
    """Random settings for three classes."""
    settings = draw_settings(rng) | {"form": str(rng.choice(["bias", "origin"])), "start": ""}
    if settings["solution"] == "pocket":
        settings["solution"] = "average"
    if settings["ties"] in ("positive", "negative"):
        settings["ties"] = "correct"
    return settings


def test_three_classes_learn_as_in_python_to_the_last_bit(tmp_path):
    rng = np.random.default_rng(30)
    cases = [draw_case(rng, "classes", draw_class_settings(rng), 3) for _ in range(MANY // 3)]
    for settings, X, y, found in run_drawn(cases, tmp_path):
        parameters = to_parameters(settings)
        model = Perceptron(**parameters).fit(X, y)
        weights = np.array(found["found"]["weights"][-1]).reshape(2, 3).T
        assert weights.tolist() == model.coef_.tolist()
        assert found["found"]["bias"][-1] == model.intercept_.tolist()
        if settings["order"] != "batch":
            assert found["last"] == model.n_mistakes_
        check_history(found, model)
        made = list(steps(X, y, **parameters))
        names = "row", "position", "activation", "rival"
        check_updates(found, made, settings["order"], names)


# exp and tanh differ in the last digit between the browser and NumPy, and a sum that is rounded
# otherwise may turn a decision. With stand-ins of few digits on both sides every sum is exact.


class StandIns:
    """NumPy with an exp and a tanh of eight binary digits, those of run_cases.mjs."""

    def __getattr__(self, name):
        return getattr(np, name)

    @staticmethod
    def exp(x, out=None):
        return np.floor(256 / (1 + x * x) + 0.5, out=out) / 256

    @staticmethod
    def tanh(x, out=None):
        return np.floor(256 * x / (1 + np.abs(x)) + 0.5) / 256


def test_exp_and_tanh_of_the_page_differ_by_a_last_digit_at_most(tmp_path):
    values = np.random.default_rng(0).uniform(-20, 3, 5000)
    (found,) = run_cases([{"kind": "functions", "values": values.tolist()}], tmp_path)
    for name, expected in (("exp", np.exp(values)), ("tanh", np.tanh(values))):
        off = np.abs(np.array(found[name]) - expected) / np.spacing(np.abs(expected))
        assert off.max() <= 2
        assert np.mean(off > 0) < 0.5


def draw_kernel_settings(rng):
    return draw_settings(rng) | {
        "form": "kernel",
        "kernel": str(rng.choice(["linear", "poly", "rbf", "sigmoid"])),
        "gamma": float(rng.choice([1, 0.5, 0.25])),
        "degree": int(rng.integers(1, 5)),
        "order": str(rng.choice(["each", "once", "fixed"])),
        "solution": str(rng.choice(["last", "average", "vote"])),
        "max_iter": int(rng.integers(1, 12)),
    }


def test_kernels_learn_as_in_python_to_the_last_bit(tmp_path, monkeypatch):
    monkeypatch.setattr("rosenblatt.dual.gram.np", StandIns())
    rng = np.random.default_rng(31)
    cases = [draw_case(rng, "kernel", draw_kernel_settings(rng)) for _ in range(MANY // 3)]
    for settings, X, y, found in run_drawn(cases, tmp_path, stand_ins=True):
        parameters = to_parameters(settings | {"form": "bias"})
        del parameters["eta0"]
        names = ("kernel", "gamma", "degree")
        model = KernelPerceptron(**parameters, **{name: settings[name] for name in names})
        model.fit(X, y)
        check_history(found, model)
        coef = np.array(found["coef"])[model.support_]
        if settings["solution"] == "vote":
            np.testing.assert_allclose(found["votes"], model.decision_function(PLACES), rtol=1e-12)
        elif settings["solution"] == "average":  # a quotient, which is rounded
            np.testing.assert_allclose(coef, model.dual_coef_[0], rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(found["bias"], model.intercept_[0], rtol=1e-12, atol=1e-12)
        else:
            np.testing.assert_array_equal(coef, model.dual_coef_[0])
            assert found["bias"] == model.intercept_[0]
