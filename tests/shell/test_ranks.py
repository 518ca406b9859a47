"""Labels in a stated order from the shell: learnt, reported, tuned, streamed, resumed, served."""

import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

import rosenblatt
from rosenblatt.parameters import ParameterError
from rosenblatt.storage.file import load_model

from .conftest import run

N, GRADES = 300, ["low", "medium", "high"]
OPTIONS = ["--label", "grade", "--ordinal", "low,medium,high"]


def reviews(seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(-5, 6, (N, 3)), columns=["a", "b", "c"])
    score = frame["a"] - 2 * frame["b"] + 2 * rng.normal(size=N)
    rank = np.searchsorted([-6, 3], score)
    return frame.assign(stars=rank + 1, grade=np.array(GRADES)[rank])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed, name in ((0, "reviews.csv"), (1, "test.csv")):
        reviews(seed).drop(columns="stars").to_csv(name, index=False)
    reviews().drop(columns="grade").to_csv("stars.csv", index=False)
    return tmp_path


def rank_error(said):
    return float(re.search(r"rank error ([\d.]+)", said)[1])


def test_a_model_of_ranks_is_trained_scored_and_inspected(capsys, folder):
    given = "reviews.csv", *OPTIONS, "--test", "test.csv", "-o", "model"
    status, out, _ = run(capsys, "train", *given)
    assert status == 0
    assert "3 ranks: low (" in out
    assert "Rule PRank, solution average, thresholds cross-fitted." in out
    frame = reviews(1)
    predicted = rosenblatt.load("model").predict(frame)
    codes = [GRADES.index(grade) for grade in predicted]
    wanted = np.abs(np.array(codes) - (frame["stars"] - 1)).mean()
    assert rank_error(out) == pytest.approx(wanted, abs=1e-4)
    assert wanted < 0.3
    told = json.loads(run(capsys, "score", "model", "test.csv", "--json")[1])
    assert told["rank_error"] == pytest.approx(wanted)
    kappa = cohen_kappa_score(frame["stars"] - 1, codes, weights="quadratic")
    assert told["quadratic_kappa"] == pytest.approx(kappa)
    median = frame["stars"].median()
    assert told["median_rank_error"] == pytest.approx((frame["stars"] - median).abs().mean())
    assert "ank error of the median rank " in run(capsys, "score", "model", "test.csv")[1]
    said = run(capsys, "predict", "model", "test.csv")[1]
    assert said.split() == predicted.tolist()
    said = run(capsys, "inspect", "model")[1]
    assert "PRank for 3 ranks: low" in said
    assert len(re.search(r"thresholds: ([-+\d. ]+)", said)[1].split()) == 2


def test_numbers_in_a_row_are_ranks(capsys, folder):
    options = ["stars.csv", "--label", "stars", "--ordinal"]
    run(capsys, "train", *options, "1,2,3", "--holdout", 0.2, "-o", "model")
    model = load_model("model")
    assert model.classes.tolist() == [1, 2, 3]
    assert model.parameters["ranks"] == [1, 2, 3]
    assert model.facts["held_out"].keys() == {"rows", "errors", "distance"}
    run(capsys, "train", *options, "3,2,1", "--holdout", 0.2, "-o", "turned")
    assert load_model("turned").classes.tolist() == [3, 2, 1]
    assert "Held-out rank error" in run(capsys, "inspect", "turned")[1]


def test_ranks_with_commas_and_many_ranks_and_one_rank(capsys, folder):
    frame = reviews().drop(columns="stars")
    frame["grade"] = frame["grade"].replace("low", "low, or so")
    frame.to_csv("commas.csv", index=False)
    options = ["--label", "grade", "--ordinal", '"low, or so", medium,high']
    assert "3 ranks: low, or so (" in run(capsys, "train", "commas.csv", *options)[1]
    many = reviews().assign(stars=np.arange(N) % 50).drop(columns="grade")
    many.to_csv("many.csv", index=False)
    options = ["--label", "stars", "--ordinal", ",".join(map(str, range(50))), "--epochs", 1]
    assert "Note" not in run(capsys, "train", "many.csv", *options)[1]
    many.assign(stars=7).to_csv("one.csv", index=False)
    status, _, said = run(capsys, "train", "one.csv", *options)
    assert (status, "only the label 7;" in said) == (2, True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--ordinal", "low,high"], "classes ['low', 'high']; name all labels with --ordinal"),
        (["--ordinal", "low"], "two or more different labels"),
        (["--ordinal", "low,low,high"], "two or more different labels"),
        (["--rule", "prank"], "classes or --ordinal"),
        (["--rule", "arow", *OPTIONS[2:]], "learns classes, but the labels are ranks"),
        (["--classes", "a,b", *OPTIONS[2:]], "--ordinal and --classes exclude each other"),
        (["--target", "numbers", *OPTIONS[2:]], "--ordinal is not for --target numbers"),
        (["--set", "fit_intercept=false", *OPTIONS[2:]], "leave fit_intercept and intercept_step"),
        (["--separator", ";", *OPTIONS[2:]], "ordinal is for rows of one label each"),
        (["--set", "C=1", *OPTIONS[2:]], "its own parameters are margin, ranks."),
        (["--set", "solution=pocket", *OPTIONS[2:]], "last"),
    ],
)
def test_what_does_not_go_with_ranks_is_refused_in_a_line(capsys, folder, options, said):
    status, _, err = run(capsys, "train", "reviews.csv", "--label", "grade", *options)
    assert status == 2
    assert len(err.splitlines()) == 1
    assert said in err


def test_folds_tuning_and_comparing(capsys, folder):
    out = run(capsys, "train", "reviews.csv", *OPTIONS, "--folds", 3, "--epochs", 2)[1]
    assert "Cross-validation with 3 folds: rank error" in out
    assert "quadratic kappa" in out
    tune = "--tune", "--set", "bins=2", "-o", "tuned"
    out = run(capsys, "train", "reviews.csv", *OPTIONS, *tune)[1]
    assert ": rank error ± standard error, error; " in out
    tried = load_model("tuned").facts["tuning"]["best"]
    assert len({json.dumps(each, sort_keys=True) for each in tried}) == len(tried)
    run(capsys, "train", "reviews.csv", "--label", "grade", "-o", "classes")
    assert "error" in run(capsys, "score", "tuned", "classes", "test.csv")[1]
    assert "rank error" in run(capsys, "score", "tuned", "tuned", "test.csv")[1]


def test_labels_that_are_no_ranks_are_errors_without_a_rank_error(capsys, folder):
    frame = reviews(1).drop(columns="stars")
    frame.loc[frame.index % 5 == 0, "grade"] = "superb"
    frame.to_csv("strange.csv", index=False)
    options = ["reviews.csv", *OPTIONS[:3], "low,medium,high", "--epochs", 2]
    out, err = run(capsys, "train", *options, "--test", "strange.csv", "-o", "model")[1:]
    known = frame[frame["grade"] != "superb"]
    predicted = [GRADES.index(grade) for grade in rosenblatt.load("model").predict(known)]
    wanted = np.abs(np.array(predicted) - [GRADES.index(grade) for grade in known["grade"]]).mean()
    assert rank_error(out) == pytest.approx(wanted, abs=1e-4)
    assert "labels that the model does not know, such as 'superb', count as errors" in err
    assert "and not in the rank error" in err
    assert rank_error(run(capsys, "score", "model", "strange.csv")[1]) == rank_error(out)
    options[4] = "low,medium,high,unique"
    run(capsys, "train", *options, "-o", "more")
    out, err = run(capsys, "score", "model", "more", "strange.csv", "--json")[1:]
    told = json.loads(out)
    assert (told["rows"], told["unknown"]) == (300, 60)
    figures = {one["figure"]: one["A"] for one in told["figures"]}
    assert figures["rank error"] == pytest.approx(wanted)
    assert figures["error"] >= 0.2
    assert "60 rows of strange.csv with labels that the model does not know" in err
    found = rosenblatt.evaluate(rosenblatt.load("model"), "strange.csv")
    assert len(repr(found).splitlines()) == 1


def test_an_initial_model_keeps_its_ranks(capsys, folder):
    run(capsys, "train", "reviews.csv", *OPTIONS, "-o", "model")
    assert run(capsys, "train", "test.csv", "--initial", "model", "-o", "more")[0] == 0
    assert load_model("more").classes.tolist() == GRADES
    turned = "--initial", "model", "--ordinal", "high,medium,low"
    status, _, err = run(capsys, "train", "test.csv", *turned)
    assert (status, len(err.splitlines())) == (2, 1)


def test_options_that_a_model_needs_are_named(capsys, folder):
    stop = "--set", "early_stopping=true", "--metric", "rank-error", "--epochs", 3
    assert run(capsys, "train", "reviews.csv", *OPTIONS, *stop, "-o", "model")[0] == 0
    told = run(capsys, "train", "reviews.csv", "--label", "grade", "-o", "model", "--resume")[2]
    assert "rule = prank, not pa" in told
    assert "has no column 'grade'" in run(capsys, "score", "model", "stars.csv")[2]
    assert "has no column 'grade'" in run(capsys, "train", "stars.csv", "--initial", "model")[2]
    long = reviews().drop(columns="stars").assign(grade="x" * 5000)
    long.to_csv("long.csv", index=False)
    assert len(run(capsys, "train", "long.csv", *OPTIONS)[2]) < 300


def test_python_trains_as_the_shell_does(folder):
    frame = reviews()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stars = frame.drop(columns="grade")
        model = rosenblatt.train(stars, label="stars", ordinal=range(1, 4), calibrate=True)
        for named in (True, "1..3", {1, 2, 3}):
            with pytest.raises(ParameterError):
                rosenblatt.train(stars, label="stars", ordinal=named)
        same = rosenblatt.train(stars, label="stars", ordinal=np.arange(1, 4), calibrate=True)
    assert np.array_equal(same.predict(stars), model.predict(stars))
    assert model.classes_.tolist() == [1, 2, 3]
    found = rosenblatt.evaluate(model, stars)
    error = np.abs(model.predict(stars) - frame["stars"]).mean()
    assert found.figures()["rank_error"] == pytest.approx(error)
    assert found["log_loss"] < 0.7
    before = model.predict_proba(stars[:3])
    model.partial_fit(stars)
    assert not np.array_equal(model.decision_function(stars[:3]), before)


def test_an_export_predicts_the_same(capsys, folder):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    for order in ("low,medium,high", "low medium,high"):
        options = ["--label", "grade", "--ordinal", order]
        frame = reviews()
        if " " in order:
            frame["grade"] = frame["grade"].replace({"low": "low medium", "medium": "low medium"})
        frame.drop(columns="stars").to_csv("data.csv", index=False)
        run(capsys, "train", "data.csv", *options, "--set", "scale=none", "-o", "model")
        assert run(capsys, "export", "model", "model.onnx")[0] == 0
        session = runtime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
        X = frame[["a", "b", "c"]].to_numpy(np.float32)
        label, scores = session.run(["label", "scores"], {"X": X})
        model = rosenblatt.load("model")
        assert label.tolist() == model.predict(frame).tolist()
        np.testing.assert_allclose(scores, model.decision_function(frame), rtol=1e-4, atol=1e-4)
