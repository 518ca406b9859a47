"""The shell ranks rows within groups: train, predict, score, inspect, folds, streams."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import ndcg_score

import rosenblatt
from rosenblatt.learners import load_model
from rosenblatt.parameters import InputError, ParameterError

from .conftest import run

SEED = 4


def make_rows(groups=60, d=4, mixed=False, seed=SEED):
    """Rows with relevance 0 to 2 within groups of 3 to 9 rows, and a level for each group."""
    rng = np.random.default_rng(seed)
    w, rows = rng.normal(size=d), []
    for group in range(groups):
        X = rng.normal(size=(rng.integers(3, 10), d))
        signal = X @ w + 0.5 * rng.normal(size=len(X))
        X[:, 0] += 5 * rng.normal()
        ranks = np.argsort(np.argsort(signal)) * 3 // len(X)
        rows += [(int(rank), group, *np.round(x, 4)) for rank, x in zip(ranks, X, strict=True)]
    return [rows[k] for k in rng.permutation(len(rows))] if mixed else rows


def write_csv(path, rows, query="q{}"):
    names = [f"x{j}" for j in range(len(rows[0]) - 2)]
    lines = [f"{r},{query.format(g)},{','.join(map(str, x))}" for r, g, *x in rows]
    path.write_text("\n".join([",".join(["relevance", "query", *names]), *lines, ""]))
    return path


def write_svmlight(path, rows):
    lines = [
        f"{r} qid:{g} " + " ".join(f"{j}:{v}" for j, v in enumerate(x, 1)) for r, g, *x in rows
    ]
    path.write_text("\n".join([*lines, ""]))
    return path


@pytest.fixture
def clicks(tmp_path):
    return write_csv(tmp_path / "clicks.csv", make_rows())


OPTIONS = ["--label", "relevance", "--group", "query"]


def shell(capsys, *words):
    """The exit status, and what was printed."""
    status, out, err = run(capsys, *words)
    return status or 0, out + err


def test_train_predict_score_inspect(clicks, tmp_path, capsys):
    model = tmp_path / "ranker"
    status, text = shell(capsys, "train", clicks, *OPTIONS, "-o", model, "--json", "-q")
    assert status == 0
    done = json.loads(text.splitlines()[-1])
    assert done["training"]["groups"] == 60
    assert done["training"]["ndcg"] > 0.9 > done["training"]["random_ndcg"]
    saved = load_model(model)
    assert (saved.estimator, saved.features["recipe"]["group"]) == (
        "PassiveAggressiveRanker",
        "query",
    )
    assert [name for name, _ in saved.features["recipe"]["columns"]] == ["x0", "x1", "x2", "x3"]
    status, text = shell(capsys, "predict", model, clicks)
    scores, rows = np.array(text.split(), float), make_rows()
    relevance, groups = np.array([[r, g] for r, g, *_ in rows]).T
    expected = np.mean(
        [ndcg_score([relevance[groups == g]], [scores[groups == g]], k=10) for g in range(60)]
    )
    status, text = shell(capsys, "score", model, clicks, "--json")
    found = json.loads(text)
    assert found["ndcg_at_10"] == pytest.approx(expected)
    assert found["groups"] == 60
    assert found["pairs"] > 0
    status, text = shell(capsys, "score", model, clicks)
    assert f"NDCG@10 {expected:.4f}" in text
    status, text = shell(capsys, "inspect", model)
    assert status == 0
    assert "relevance within groups of query" in text
    assert "bias:" not in text
    status, text = shell(capsys, "predict", model, clicks, "--append", "--output-format", "csv")
    assert text.splitlines()[0].endswith(",score")
    assert shell(capsys, "inspect", model, "--card", tmp_path / "card.md")[0] == 0


def test_groups_are_not_divided(clicks, tmp_path, capsys):
    mixed = write_csv(tmp_path / "mixed.csv", make_rows(mixed=True))
    for file in (clicks, mixed):
        model = rosenblatt.train(file, label="relevance", group="query", holdout=0.3)
        held = model.file_facts_["facts"]["held_out"]
        assert 10 <= held["groups"] <= 26
        assert held["rows"] == len(held_out_rows(make_rows()))
    status, text = shell(capsys, "train", clicks, *OPTIONS, "--folds", "3", "--json")
    found = next(line for line in map(json.loads, text.splitlines()) if "folds" in line)
    assert (status, found["rows"], found["groups"]) == (0, len(make_rows()), 60)


def held_out_rows(rows, share=0.3):
    """The rows whose groups are held out."""
    from rosenblatt.data.ranking import make_keys
    from rosenblatt.data.splits import Split

    keys = make_keys([f"q{group}" for _, group, *_ in rows])
    held = Split(share, 0).held_out(0, len(rows), keys)
    return [row for row, out in zip(rows, held, strict=True) if out]


def test_svmlight_queries_are_groups(tmp_path, capsys):
    path, model = write_svmlight(tmp_path / "a.svm", make_rows()), tmp_path / "ranker"
    status, text = shell(capsys, "train", path, "-o", model)
    assert status == 0
    assert "within their query (qid)" in text
    table = write_csv(tmp_path / "a.csv", make_rows(), query="{}")
    options = {"label": "relevance", "group": "query", "scale": "none", "holdout": 0.3}
    other = rosenblatt.train(table, **options)
    same = rosenblatt.train(path, group="qid", scale="none", holdout=0.3)
    np.testing.assert_allclose(same[-1].coef_, other[-1].coef_, rtol=1e-5)
    plain = tmp_path / "plain.svm"
    plain.write_text("".join(f"1:{x[0]} 2:{x[1]} 3:{x[2]} 4:{x[3]}\n" for _, _, *x in make_rows()))
    assert shell(capsys, "predict", model, plain)[0] == 0
    status, text = shell(capsys, "train", path, "--no-numbers")
    assert status == 0
    assert "3 classes" in text


def test_a_stream_is_the_same_however_it_is_cut(clicks, tmp_path):
    options = {"label": "relevance", "group": "query", "epochs": 1, "order": "fixed"}
    shared = options | {"scale": "none", "C": 0.1}
    small, large = (rosenblatt.train(clicks, batch_bytes=n, **shared) for n in (200, 1 << 20))
    np.testing.assert_allclose(small[-1].coef_, large[-1].coef_, rtol=1e-6)
    mixed = write_csv(tmp_path / "mixed.csv", make_rows(mixed=True))
    with pytest.raises(InputError) as refused:
        rosenblatt.train(mixed, batch_bytes=200, **shared)
    assert refused.value.code == "groups-not-adjacent"


def test_early_stopping_cache_and_resume(clicks, tmp_path, capsys):
    model = tmp_path / "ranker"
    status, text = shell(
        capsys, "train", clicks, *OPTIONS, "--early-stopping", "--cache", "-o", model
    )
    assert status == 0
    assert "held-out NDCG" in text
    cached = load_model(model)
    again = shell(capsys, "train", clicks, *OPTIONS, "--early-stopping", "--cache", "-o", model)
    assert again[0] == 0
    after = load_model(model)
    assert (after.states[0].weights == cached.states[0].weights).all()
    status, _ = shell(capsys, "train", clicks, *OPTIONS[:2], "--initial", model, "-o", model)
    assert status == 2  # the label is read as the model's own
    assert shell(capsys, "train", clicks, "--initial", model, "-o", model)[0] == 0


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"online": True}, "ranking-option"),
        ({"tune": True}, "ranking-option"),
        ({"progress_every": 10}, "ranking-option"),
        ({"ordinal": range(3)}, "conflict"),
        ({"classes": range(3)}, "conflict"),
        ({"numbers": True}, "conflict"),
        ({"labels_separator": ";"}, "conflict"),
        ({"ignore": ["query"]}, "group-ignored"),
        ({"rule": "arow"}, "rule-of-target"),
        ({"group": "nothing"}, "no-column"),
        ({"group": "relevance"}, "label-is-feature"),
    ],
)
def test_what_does_not_rank_is_refused(clicks, options, code):
    with pytest.raises((ParameterError, InputError)) as refused:
        rosenblatt.train(clicks, **{"label": "relevance", "group": "query"} | options)
    assert refused.value.code == code


def test_rows_that_cannot_be_ranked_are_refused(clicks, tmp_path):
    rows = make_rows(5)
    cases = {
        "no-pairs": [(1, *row[1:]) for row in rows],
        "relevance-negative": [(row[0] - 1, *row[1:]) for row in rows],
        "label-not-a-number": [(f"grade {row[0]}", *row[1:]) for row in rows],
    }
    for code, bad in cases.items():
        path = write_csv(tmp_path / "bad.csv", bad)
        with pytest.raises(InputError) as refused:
            rosenblatt.train(path, label="relevance", group="query")
        assert refused.value.code == code
    path = write_csv(tmp_path / "bad.csv", [(r, g or "", *x) for r, g, *x in rows], query="{}")
    with pytest.raises(InputError) as refused:
        rosenblatt.train(path, label="relevance", group="query")
    assert refused.value.code == "no-group"
    with pytest.raises(ParameterError) as refused:
        rosenblatt.train(clicks, label="relevance", rule="pa-ranking")
    assert refused.value.code == "rule-of-target"


def test_groups_that_measure_nothing_are_named(clicks, tmp_path, capsys):
    model, alone = tmp_path / "ranker", tmp_path / "alone.csv"
    write_csv(alone, [(1, *row[1:]) for row in make_rows(5)])
    assert shell(capsys, "train", clicks, *OPTIONS, "--epochs", 2, "-o", model)[0] == 0
    assert "no group has rows of different relevance" in shell(capsys, "score", model, alone)[1]
    told = json.loads(shell(capsys, "score", model, alone, "--json")[1])
    assert (told["groups"], told["ndcg"]) == (0, None)
    assert "\n" not in repr(rosenblatt.evaluate(rosenblatt.load(model), clicks))
    status, text = shell(capsys, "train", clicks, *OPTIONS, "--validation", alone)
    assert (status, f"No group of {alone}" in text) == (2, True)
    few = write_csv(tmp_path / "few.csv", make_rows(6))
    status, text = shell(capsys, "train", few, *OPTIONS, "--folds", 20, "--epochs", 1)
    assert (status, "use fewer folds" in text) == (2, True)
    huge = [(row[0] * 10**30, *row[1:]) for row in make_rows(9)]
    path = write_csv(tmp_path / "huge.csv", huge)
    assert shell(capsys, "train", path, *OPTIONS, "--epochs", 1, "-o", model)[0] == 0
    assert shell(capsys, "score", model, path)[0] == 0


def test_python_evaluates_and_loads(clicks, tmp_path):
    model = rosenblatt.train(clicks, label="relevance", group="query", rule="perceptron")
    assert type(model[-1]).__name__ == "PerceptronRanker"
    found = rosenblatt.evaluate(model, clicks)
    assert found.figures()["ndcg"] > 0.9
    found = rosenblatt.cross_validate(clicks, folds=3, label="relevance", group="query")
    assert found.figures()["ndcg_at_10"].mean > 0.85
    rosenblatt.save(model, tmp_path / "ranker")
    again = rosenblatt.load(tmp_path / "ranker")
    assert (again.predict(str(clicks)) == model.predict(str(clicks))).all()
    rosenblatt.save_report(tmp_path / "page.html", model, clicks)
    assert "NDCG@10" in (tmp_path / "page.html").read_text()
    with pytest.raises(InputError) as refused:
        rosenblatt.compare(model, model, clicks)
    assert refused.value.code == "model-kinds"


def test_a_pipeline_of_a_ranker_takes_groups(clicks):
    model = rosenblatt.train(clicks, label="relevance", group="query", max_iter=2)
    frame = pd.read_csv(clicks)
    X, y, groups = frame.drop(columns="relevance"), frame["relevance"], frame["query"]
    ndcg = model.score(X, y, groups=groups)
    assert ndcg == pytest.approx(rosenblatt.evaluate(model, clicks).figures()["ndcg"])
    assert ndcg == model.score(X, y, qid=groups) != model.score(X, y)
    with pytest.raises(TypeError, match="unexpected keyword argument 'grp'"):
        model.score(X, y, grp=groups)
    other = rosenblatt.train(clicks, label="relevance", group="query", max_iter=2)
    model.partial_fit(X, y, groups=groups)
    other.partial_fit(clicks)
    assert np.array_equal(model[-1].coef_, other[-1].coef_)
    for options in ({"group": True}, {"group": ["query"]}):
        with pytest.raises(ParameterError):
            rosenblatt.train(clicks, label="relevance", **options)
