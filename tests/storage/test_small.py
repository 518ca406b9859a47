"""Small model files: the largest weights in 8 bits predict nearly as all do."""

import re

import numpy as np
import pytest

import rosenblatt
from rosenblatt.parameters import InputError, ParameterError
from rosenblatt.storage.file import load_model, save_model
from rosenblatt.storage.small import pack_weights, parse_size, unpack_weights

from ..shell.conftest import run

WORDS = [f"word{number}" for number in range(3000)]


def make_texts(classes, rows=600, seed=0, typical=6):
    """Texts whose classes prefer other words."""
    random = np.random.default_rng(seed)
    found = []
    for label in random.integers(0, classes, rows).tolist():
        own = random.integers(100 * label, 100 * label + 100, typical)
        words = [WORDS[number] for number in (*own, *random.integers(0, 3000, 15))]
        found.append({"note": " ".join(words), "label": f"class {label}"})
    return found


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize(
    "options", [{}, {"rule": "pa", "solution": "average"}, {"rule": "arow", "multi_class": "ovr"}]
)
def test_a_small_file_predicts_nearly_as_the_whole_model(tmp_path, classes, options):
    rows, new = make_texts(classes), make_texts(classes, seed=1)
    model = rosenblatt.train(rows, label="label", text=["note"], tune=False, **options)
    whole, small = tmp_path / "whole", tmp_path / "small"
    rosenblatt.save(model, whole)
    rosenblatt.save(model, small, size="120kB")
    assert small.stat().st_size <= 120_000 < whole.stat().st_size
    labels = np.array([each["label"] for each in new])
    right = [np.mean(each.predict(new) == labels) for each in (model, rosenblatt.load(small))]
    assert right[1] >= right[0] - 0.03
    loaded = rosenblatt.load(small)
    assert type(loaded[-1]).__name__ == "Perceptron"
    again = tmp_path / "again"
    rosenblatt.save(loaded, again)
    np.testing.assert_array_equal(rosenblatt.load(again)[-1].coef_, loaded[-1].coef_)


@pytest.mark.parametrize("kind", ["FTRL", "AdaGrad", "AROW", "Perceptron"])
@pytest.mark.parametrize("labels", [2, 3, "sets"])
def test_small_files_of_all_rules_are_loaded_with_probabilities_and_sets(tmp_path, kind, labels):
    random = np.random.default_rng(0)
    X = random.integers(-3, 4, (90, 5)).astype(float)
    y = np.array(list("abc"))[random.integers(0, 3 if labels == 3 else 2, 90)]
    if labels == "sets":
        y = random.integers(0, 2, (90, 3))
    for calibrate in (False,) if labels == "sets" else (True, "conformal"):
        model = getattr(rosenblatt, kind)(calibrate=calibrate, random_state=0).fit(X, y)
        rosenblatt.save(model, tmp_path / "small", size="20kB")
        loaded = rosenblatt.load(tmp_path / "small")
        assert np.mean(loaded.predict(X) == model.predict(X)) > 0.9
        if calibrate is True:
            wanted = model.predict_proba(X)
            np.testing.assert_allclose(loaded.predict_proba(X), wanted, atol=0.1)
        elif calibrate:
            assert np.mean(loaded.predict_set(X) == model.predict_set(X)) > 0.9


def test_ties_are_decided_as_before(tmp_path):
    model = rosenblatt.Perceptron(ties="positive", fit_intercept=False).fit([[1], [-1]], [0, 1])
    rosenblatt.save(model, tmp_path / "small", size="20kB")
    assert rosenblatt.load(tmp_path / "small").predict([[0]]) == model.predict([[0]]) == 1


@pytest.mark.parametrize("shape", [(50,), (50, 4)])
def test_weights_are_kept_to_a_half_of_a_level(shape):
    weights = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    weights[10:30] = 0
    arrays, kept = pack_weights(weights)
    unpack_weights(arrays, kept)
    found = np.zeros(weights.size, np.float32)
    found[arrays["places"]] = arrays["weights"]
    step = np.abs(weights).max(axis=0) / 127
    assert (np.abs(found.reshape(shape) - weights) <= 0.501 * step).all()


def test_damaged_places_are_refused():
    arrays, shape = pack_weights(np.arange(100, dtype=np.float32))
    for name, other in (
        ("places", arrays["places"][:5]),
        ("factors", np.ones(3, np.float32)),
        ("weights", arrays["weights"][1:]),
    ):
        with pytest.raises((ValueError, OSError)) as _:
            unpack_weights({**arrays, name: other}, shape)
    with pytest.raises(ValueError, match="out of range"):
        unpack_weights(dict(arrays), [50])


@pytest.mark.parametrize("size", ["2 GB", "much", 0, "-1"])
def test_sizes_are_bytes(size):
    with pytest.raises(ParameterError, match="number of bytes"):
        parse_size(size)
    assert [parse_size(each) for each in (5, "7", "2MB", "1.5 kB")] == [5, 7, 2_000_000, 1500]


def test_what_cannot_be_small_is_refused(tmp_path):
    model = rosenblatt.train(make_texts(2), label="label", text=["note"], tune=False)
    with pytest.raises(InputError, match="cannot be made smaller than"):
        rosenblatt.save(model, tmp_path / "model", size=500)
    numbers = rosenblatt.PassiveAggressiveRegressor().fit([[1.0], [2.0]], [1.0, 2.0])
    with pytest.raises(InputError, match="linear models of classes"):
        numbers.save(tmp_path / "model", size="1MB")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("classes", [2, 5])
def test_the_shell_prints_what_a_small_file_costs(capsys, tmp_path, classes):
    for name, seed in (("train.jsonl", 0), ("test.jsonl", 1)):
        rows = make_texts(classes, seed=seed, typical=1)
        lines = (f'{{"note": "{row["note"]}", "label": "{row["label"]}"}}\n' for row in rows)
        (tmp_path / name).write_text("".join(lines))
    data, model, test = (tmp_path / name for name in ("train.jsonl", "model", "test.jsonl"))
    given = ("train", data, "--no-tune", "--holdout", "0.3", "--seed", "3", "-o", model, "-q")
    whole = run(capsys, *given, "--test", test)[1]
    out = run(capsys, *given, "--size", "20MB", "--test", test)[1]
    numbers = re.search(r"^Kept (.*) of (.*) weights, ", out, re.MULTILINE).groups()
    least, most = (int(number.replace(",", "")) for number in numbers)
    assert 5_000 < least <= most
    wrong, small = (re.match(r"Test error .*: (\d+) of", one)[1] for one in (whole, out))
    assert int(wrong) == pytest.approx(int(small), rel=0.02)
    assert int(wrong) > 20
    assert re.search(r"^With all weights: error .*: (\d+) of", out, re.MULTILINE)[1] == wrong
    status, out, _ = run(capsys, *given, "--size", "120kB", "--test", test)
    assert status == 0
    assert (tmp_path / "model").stat().st_size <= 120_000
    model = load_model(tmp_path / "model")
    save_model(tmp_path / "model", model)
    assert run(capsys, "train", "iris", "--size", "2MB")[0] == 2
    assert "--size must be at least" in run(capsys, *given, "--size", "1kB")[2]
