"""Numbers as labels from the shell: recognised, scaled, learnt, reported, served and resumed."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

import rosenblatt
from rosenblatt.storage.file import load_model

from .conftest import run

N = 400


def houses(seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"rooms": rng.integers(1, 9, N), "age": rng.normal(30, 9, N).round(2)})
    frame["town"] = rng.choice(["Ulm", "Jena"], N)
    price = (
        50_000 + 20_000 * frame["rooms"] - 500 * frame["age"] + 30_000 * (frame["town"] == "Ulm")
    )
    return frame.assign(price=(price + 5_000 * rng.normal(size=N)).round(2))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    houses().to_csv("house.csv", index=False)
    houses(1).to_csv("test.csv", index=False)
    frame = houses()
    lines = [f"{y} 1:{rooms} 2:{age}" for rooms, age, _, y in frame.itertuples(index=False)]
    (tmp_path / "house.svm").write_text("\n".join(lines) + "\n")
    return tmp_path


def figures(said):
    """MAE, RMSE and R² of a line."""
    return [float(found) for found in re.findall(r"(?:MAE|RMSE|R²) ([-\d.e+]+)", said)][:3]


def test_a_stated_label_of_numbers_is_learnt_as_numbers(capsys, folder):
    given = "house.csv", "--label", "price", "--test", "test.csv", "-o", "model"
    status, out, err = run(capsys, "train", *given)
    assert status == 0
    assert "Label: price (numbers)" in out
    assert "learnt as numbers" in err
    assert "Rule PassiveAggressiveRegressor, solution average." in out
    found = figures(next(line for line in out.splitlines() if line.startswith("Test")))
    frame = houses(1)
    predicted = rosenblatt.load("model").predict(frame)
    wanted = [
        metric(frame["price"], predicted)
        for metric in (mean_absolute_error, root_mean_squared_error, r2_score)
    ]
    np.testing.assert_allclose(found, wanted, rtol=1e-3)
    assert found[0] < 5_000  # the noise has a mean size of 4,000
    status, said, _ = run(capsys, "score", "model", "test.csv")
    assert figures(said) == found
    told = json.loads(run(capsys, "score", "model", "test.csv", "--json")[1])
    assert told["rows"] == N
    median = houses()["price"].median()
    assert told["median_mae"] == pytest.approx((frame["price"] - median).abs().mean())
    status, said, _ = run(capsys, "predict", "model", "test.csv")
    np.testing.assert_allclose([float(line) for line in said.split()], predicted, rtol=1e-5)
    said = run(capsys, "inspect", "model")[1]
    assert "PassiveAggressiveRegressor for numbers: mean" in said
    rooms = float(re.search(r"rooms: ([-+\d.]+)", said)[1])
    assert rooms == pytest.approx(20_000, rel=0.05)  # in the units of the file


def test_options_decide_otherwise(capsys, folder):
    frame = houses().assign(rooms=lambda each: each["rooms"] % 5)[["age", "town", "rooms"]]
    frame.to_csv("rooms.csv", index=False)
    assert "Rule PassiveAggressive," in run(capsys, "train", "rooms.csv", "--label", "rooms")[1]
    out = run(capsys, "train", "rooms.csv", "--label", "rooms", "--target", "numbers")[1]
    assert "Rule PassiveAggressiveRegressor" in out
    out = run(capsys, "train", "rooms.csv", "--label", "rooms", "--classes", "0,1,2,3,4")[1]
    assert "5 classes" in out
    ages = frame.assign(age=frame["age"].round() % 50)[["rooms", "town", "age"]]
    ages.to_csv("ages.csv", index=False)
    given = "ages.csv", "--label", "age", "--target", "classes", "--epochs", 1
    assert "classes: " in run(capsys, "train", *given)[1]
    for options in (
        ["--target", "numbers", "--classes", "1,2"],
        ["--rule", "adaline", "--target", "classes"],
    ):
        status, _, err = run(capsys, "train", "ages.csv", "--label", "age", *options)
        assert status == 2
        assert len(err.splitlines()) == 1


def test_lines_of_svmlight_with_decimals_are_numbers(capsys, folder):
    out = run(capsys, "train", "house.svm", "--holdout", 0.2)[1]
    assert "Held-out MAE" in out
    assert "Rule PassiveAggressiveRegressor" in out


def test_folds_tuning_and_comparing(capsys, folder):
    out = run(capsys, "train", "house.csv", "--label", "price", "--folds", 3)[1]
    assert "Cross-validation with 3 folds: MAE" in out
    out = run(capsys, "train", "house.csv", "--label", "price", "--tune", "-o", "tuned")[1]
    assert ": mean absolute error ± standard error, RMSE" in out
    run(capsys, "train", "house.csv", "--label", "price", "--rule", "adaline", "-o", "adaline")
    status, out, _ = run(capsys, "score", "tuned", "adaline", "test.csv")
    assert status == 0
    assert "MAE" in out
    assert "best" in load_model("tuned").facts["tuning"]


def test_an_initial_model_keeps_its_scale(capsys, folder):
    run(capsys, "train", "house.csv", "--label", "price", "-o", "model")
    assert run(capsys, "train", "test.csv", "--initial", "model", "-o", "more")[0] == 0
    before, after = load_model("model"), load_model("more")
    assert after.facts["numbers"] == before.facts["numbers"]
    assert not np.array_equal(before.states[0].weights, after.states[0].weights)


def test_python_trains_as_the_shell_does(folder):
    frame = houses()
    with pytest.warns(UserWarning, match="learnt as numbers"):
        model = rosenblatt.train(frame, label="price")
    assert r2_score(frame["price"], model.predict(frame)) > 0.95
    found = rosenblatt.evaluate(model, frame)
    assert found.figures()["mae"] == pytest.approx(
        mean_absolute_error(frame["price"], model.predict(frame)), rel=1e-4
    )
    before = model.predict(frame[:3])
    model.partial_fit(frame)
    assert not np.array_equal(model.predict(frame[:3]), before)


@pytest.mark.filterwarnings("always::rosenblatt.learners.conformal.TooFewRowsWarning")
def test_intervals_cover_and_are_written(capsys, folder):
    assert run(capsys, "train", "house.csv", "--label", "price", "--conformal", "-o", "m")[0] == 0
    run(capsys, "predict", "m", "test.csv", "--coverage", "0.9", "--append", "-o", "p.csv")
    found = pd.read_csv("p.csv")
    assert (found["low"] < found["predicted"]).all()
    assert (found["predicted"] < found["high"]).all()
    inside = ((found["low"] <= found["price"]) & (found["price"] <= found["high"])).mean()
    assert inside > 0.75  # of 40 rows held out
    said = run(capsys, "score", "m", "test.csv", "--coverage", "0.9")[1]
    width = (found["high"] - found["low"]).mean()
    assert f"coverage {inside:.4f}, mean width {width:.4f}." in " ".join(said.split()).lower()
    text = run(capsys, "predict", "m", "test.csv", "--coverage", "0.9")[1].splitlines()
    assert text[0].split() == [str(found["low"][0]), str(found["high"][0])]
    assert "Gives prediction intervals" in run(capsys, "inspect", "m")[1]
    high = "m", "test.csv", "--coverage", "0.99"
    _, out, err = run(capsys, "predict", *high, "--output-format", "jsonl")
    assert "Note: A coverage of 0.99 needs 99 rows" in err
    assert json.loads(out.splitlines()[0])["high"] is None
    found = json.loads(run(capsys, "score", *high, "--json")[1])
    assert (found["coverage"], found["mean_width"]) == (1.0, None)
