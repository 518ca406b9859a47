"""Choosing: what wins is better on rows that nobody saw, and what was stated stays."""

import io
import itertools
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes

import rosenblatt
from rosenblatt import AROW, SCW, PassiveAggressive
from rosenblatt.jobs import choose
from rosenblatt.jobs.choose import Result, standard_error
from rosenblatt.parameters import InputError, ParameterError
from rosenblatt.training.plan import DataProfile, Request, resolve_rule, rules_with
from rosenblatt.training.report import Listener

from ..reading.samples import refused
from ..shell.conftest import reviews, run

FIGURES = ("value", "spread", "other")


@pytest.fixture(autouse=True)
def few_folds(monkeypatch):
    """Few folds are enough to see how it goes."""
    monkeypatch.setattr(choose, "THOROUGH", choose.THOROUGH._replace(folds=2))


@pytest.fixture
def path(tmp_path):
    """Rows of few frequent features that say nothing and many rare ones that say all."""
    random = np.random.default_rng(0)
    lines = []
    for label in random.integers(0, 2, 800).tolist():
        told = {11 + 2 * k + label: 1.0 for k in random.integers(0, 150, 3).tolist()}
        told |= {k + 1: 10 * value for k, value in enumerate(random.normal(size=10).tolist())}
        lines.append(f"{label} {' '.join(f'{k}:{told[k]:.3f}' for k in sorted(told))}\n")
    (tmp_path / "rows.svm").write_text("".join(lines))
    return tmp_path / "rows.svm"


def make_ring(n, seed=0):
    """Rows of two numbers; the label says whether they are near 0, which no line can tell."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 2)).round(3)
    near = ((X**2).sum(axis=1) < 1.4) ^ (random.random(n) < 0.05)
    return [
        {"a": a, "b": b, "label": "yes" if c else "no"}
        for (a, b), c in zip(X.tolist(), near, strict=True)
    ]


def rare_rows(n=1500, seed=0):
    """Rows of which 4 % are "yes", and hard to tell from the others."""
    random = np.random.default_rng(seed)
    y = random.random(n) < 0.04
    x = random.normal(size=n) + 1.2 * y
    return [
        {"x": a, "noise": b, "label": "yes" if c else "no"}
        for a, b, c in zip(x, random.normal(size=n), y, strict=True)
    ]


def told_by(model):
    return model.file_facts_["facts"]["tuning"]


def settings(each):
    return {name: value for name, value in each.items() if name not in FIGURES}


# What a plain training chooses


def test_a_plain_training_chooses_bins_and_repeats_itself(tmp_path):
    rows, new = make_ring(1500), make_ring(2000, 1)
    model, again = rosenblatt.train(rows), rosenblatt.train(rows)
    facts = told_by(model)
    found = [facts[name] for name in ("metric", "folds", "rows", "tried")]
    assert found == ["log-loss", 6, 1500, 4]
    assert "bins" in facts["best"][0]
    assert np.mean(model.predict(new) != [row["label"] for row in new]) < 0.12
    assert facts == told_by(again)
    np.testing.assert_array_equal(model[-1].coef_, again[-1].coef_)
    stated = rosenblatt.train(rows, tune=False, **settings(facts["best"][0]))
    np.testing.assert_array_equal(model[-1].coef_, stated[-1].coef_)
    rosenblatt.save(model, tmp_path / "model")
    assert told_by(rosenblatt.load(tmp_path / "model")) == facts


@pytest.mark.parametrize(
    ("stated", "rows"),
    [
        *(({"tune": False}, 300), ({"rule": "pa"}, 300), ({"C": 0.1}, 300)),
        *(({"solution": "last"}, 300), ({"max_iter": 1}, 300), ({}, 150)),
    ],
    ids=str,
)
def test_stated_rules_and_few_rows_take_the_fixed_default(stated, rows):
    assert "tuning" not in rosenblatt.train(make_ring(rows), **stated).file_facts_["facts"]


def test_what_is_not_better_by_a_standard_error_is_not_chosen():
    random = np.random.default_rng(0)
    a, noise = random.normal(size=(2, 600))
    rows = [{"a": x, "label": int(x + y > 0)} for x, y in zip(a.tolist(), noise, strict=True)]
    assert settings(told_by(rosenblatt.train(rows))["best"][0]) == {}


def test_names_are_learnt_by_their_characters():
    random = np.random.default_rng(0)
    stems = ["".join(random.choice(list("bdgklmnrst"), 6)) for _ in range(600)]
    rows = [{"name": stem + "ao"[k % 2], "sex": "fm"[k % 2]} for k, stem in enumerate(stems)]
    model = rosenblatt.train(rows, label="sex", listener=Listener())
    assert model.predict([{"name": "Zxqwa"}, {"name": "Zxqwo"}]).tolist() == ["f", "m"]


def test_short_texts_are_learnt_by_their_characters_where_these_are_few(monkeypatch):
    random = np.random.default_rng(0)
    words = ["".join(each) for each in random.choice(list("bdgklmnrst"), (1600, 6))]
    rows = [
        {"note": " ".join([*words[3 * k : 3 * k + 3], words[k] + "ao"[k % 2]]), "label": k % 2}
        for k in range(500)
    ]
    for trained, compared in ((1e6, True), (1e4, False)):
        monkeypatch.setattr(choose, "QUICK", choose.QUICK._replace(trained=trained))
        facts = told_by(rosenblatt.train(rows, text=["note"], listener=Listener()))
        assert any("text" in each for each in facts["best"]) == compared
    assert facts["tried"] == 4


def test_ranks_are_nearer_than_classes_without_tuning():
    frame = load_diabetes(as_frame=True).frame
    frame["label"] = pd.qcut(frame.pop("target"), 5, labels=list("abcde")).astype(str)
    learnt, tested = frame[:300], frame[300:]
    codes = [
        np.array([ord(each) for each in rosenblatt.train(learnt, **how).predict(tested)])
        for how in ({}, {"ordinal": list("abcde")})
    ]
    wanted = np.array([ord(each) for each in tested["label"]])
    classes, ranks = (np.abs(each - wanted).mean() for each in codes)
    assert ranks < classes
    how = {"ordinal": list("abcde"), "listener": Listener()}
    models = [rosenblatt.train(learnt, **how, **more) for more in ({}, {"calibrate": True})]
    first, second = (each[-1].intercept_ for each in models)
    assert first == pytest.approx(second)  # probabilities are fit after the thresholds are moved
    assert (np.diff(first) <= 0).all()


def test_mixed_tables_try_the_rule_of_tables():
    rng = np.random.default_rng(0)
    words = np.array(["red", "green", "blue", "dog", "cat", "bird", "in", "on"])
    rows = [
        {"note": " ".join(rng.choice(words, 5)), "x": x, "label": int(x > rng.normal())}
        for x in rng.normal(size=400).tolist()
    ]
    facts = told_by(rosenblatt.train(rows, text=["note"]))
    assert {"pa"} <= {each.get("rule") for each in facts["best"]}


@pytest.mark.parametrize(
    ("length", "stated", "compared"),
    [
        (120, {}, {"rule", "loss", "solution", "C"}),
        (120, {"numbers": True}, {"rule", "solution", "C", "epsilon", "loss"}),
        (8, {}, {"bins", "pairs"}),
    ],
)
def test_embeddings_are_compared_by_steps_and_not_by_bins(length, stated, compared):
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(400, length)), rng.normal(size=length)
    y = (X @ weights + 3 * rng.normal(size=400) > 0).astype(int)
    rows = pd.DataFrame({"e": list(X), "label": y})
    facts = told_by(rosenblatt.train(rows, label="label", **stated))
    assert {name for each in facts["best"] for name in each} - {*FIGURES} == compared
    steps = {each["C"] for each in facts["best"] if "C" in each}
    assert facts["tried"] == 1 + len(steps) if length > 100 else not steps


def test_a_large_file_is_compared_on_a_part_of_its_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(choose, "QUICK", choose.QUICK._replace(rows=400))
    lines = [f'{row["a"]},"{row["b"]}",{row["label"]}\n' for row in make_ring(1500)]
    (tmp_path / "ring.csv").write_text("".join(["a,b,label\n", *lines]))
    for data in (tmp_path / "ring.csv", make_ring(1500)):
        facts = told_by(rosenblatt.train(data))
        assert facts["rows"] == 400
        assert "bins" in facts["best"][0]
    (tmp_path / "ring.csv").write_text("".join(["a,b,label\n", *lines[:-1], "word,1,no\n"]))
    with pytest.raises(InputError, match="line 1501, column 'a'"):
        rosenblatt.train(tmp_path / "ring.csv")


@pytest.mark.parametrize("options", [{}, {"holdout": 0.1}])
def test_products_that_a_large_file_would_pay_for_are_not_compared(monkeypatch, options):
    monkeypatch.setattr(choose, "QUICK", choose.QUICK._replace(rows=400))
    for trained, compared in ((1e5, True), (1e4, False)):
        monkeypatch.setattr(choose, "QUICK", choose.QUICK._replace(trained=trained))
        facts = told_by(rosenblatt.train(make_ring(1500), **options))
        assert any("pairs" in each for each in facts["best"]) == compared


def test_a_class_that_no_compared_row_has_does_not_stop_a_training(tmp_path):
    lines = ["a,label"] + ["1,no"] * 30_000
    lines[7_001] = "-1,yes"
    (tmp_path / "rare.csv").write_text("\n".join(lines))
    with pytest.warns(UserWarning, match="29,999 of 30,000 rows have the label no"):
        model = rosenblatt.train(tmp_path / "rare.csv")
    assert model.classes_.tolist() == ["no", "yes"]
    with refused("tune-few-rows"):
        rosenblatt.train(tmp_path / "rare.csv", tune=True)


def test_rows_that_are_held_out_are_not_compared():
    facts = told_by(rosenblatt.train(make_ring(800), holdout=0.5))
    assert 300 < facts["rows"] < 500


def test_numbers_have_two_figures():
    random = np.random.default_rng(0)
    rows = [{"a": a, "label": abs(a)} for a in random.normal(size=600).tolist()]
    facts = told_by(rosenblatt.train(rows, numbers=True))
    assert facts["metric"] == "absolute-error"
    assert "bins" in facts["best"][0]
    assert facts["best"][0]["value"] < facts["best"][0]["other"] < facts["usual"]["value"]


# What --tune chooses


def test_rules_are_tried_that_have_what_was_stated():
    assert rules_with({}) == ["perceptron", "pa", "alma", "arow", "scw"]
    assert rules_with({"C": 1.0}) == ["pa", "alma", "scw"]
    assert rules_with({"a": 1.0}) == ["second-order"]
    assert resolve_rule(Request(None, {"C": 2.0}, tune=True), DataProfile())[0] == "pa"


def test_the_default_is_beaten_and_the_choice_can_be_stated(path):
    tuned = rosenblatt.train(path, scale="none", tune=True)
    facts = told_by(tuned)
    assert facts["best"][0]["value"] < facts["usual"]["value"] - facts["usual"]["spread"]
    assert facts["best"][0]["rule"] in ("arow", "scw")
    assert facts["tried"] > 20
    stated = rosenblatt.train(path, scale="none", tune=False, **settings(facts["best"][0]))
    np.testing.assert_array_equal(tuned[-1].coef_, stated[-1].coef_)


@pytest.mark.parametrize(
    ("stated", "estimator"),
    [
        ({"rule": "arow", "r": 3.0, "solution": "last"}, AROW),
        ({"rule": "pa", "max_iter": 2}, PassiveAggressive),
        ({"confidence": 0.9}, SCW),
        ({"intercept_step": 0.5, "rule": "scw"}, SCW),
        ({"fit_intercept": False, "rule": "scw"}, SCW),
    ],
)
def test_what_was_stated_stays(path, stated, estimator):
    tuned = rosenblatt.train(path, tune=True, **stated)
    assert isinstance(tuned[-1], estimator)
    kept = {name: value for name, value in stated.items() if name != "rule"}
    assert {name: tuned[-1].get_params()[name] for name in kept} == kept
    assert not kept.keys() & {name for each in told_by(tuned)["best"] for name in each}


@pytest.mark.parametrize("metric", ["error", "auc", "average-precision", "f1", "balanced"])
def test_every_metric_can_be_tuned_by(metric):
    tuned = rosenblatt.train(rare_rows(600), tune=True, rule="pa", metric=metric)
    facts = told_by(tuned)
    assert facts["metric"] == metric == tuned[-1].metric
    p, n = facts["best"][0]["value"], facts["rows"]
    assert 0 <= p <= 1
    if metric == "error":  # equal shares of a rare class in the folds do not hide chance
        assert facts["best"][0]["spread"] >= 0.99 * np.sqrt(p * (1 - p) / n)


def test_metrics_without_meaning_for_label_sets_are_refused(tmp_path):
    lines = "".join(f"{k % 3},{3 + k % 2} 1:{k} 2:1\n" for k in range(40))
    (tmp_path / "sets.svm").write_text(lines)
    with refused("labels-option"):
        rosenblatt.train(tmp_path / "sets.svm", tune=True, rule="pa", metric="balanced")


def test_folds_of_neighbours_are_not_fooled_by_copies():
    """Each row comes five times in a row; a random fold would know nearly all its rows."""
    random = np.random.default_rng(0)
    rows = [
        {"x": float(x), "word": f"w{k}", "label": int(label)}
        for k, (x, label) in enumerate(
            zip(random.normal(size=200), random.random(200) < 0.5, strict=True)
        )
        for _ in range(5)
    ]
    facts = told_by(rosenblatt.train(rows, category=["word"], tune=True, metric="error"))
    assert facts["best"][0]["value"] > 0.35


def test_an_open_file_is_read_from_where_it_stood():
    file = io.BytesIO(b"not for us\n" + reviews().encode())
    file.readline()
    options = {"format": "csv", "text": ["review"], "rule": "arow", "solution": "last"}
    tuned = rosenblatt.train(file, tune=True, **options)
    assert tuned.file_facts_["facts"]["rows"] == 60


@pytest.mark.parametrize("rule", ["nherd", "ftrl"])
def test_the_shell_prints_what_it_compared_as_options(capsys, path, tmp_path, rule):
    options = ("train", path, "--tune", "--rule", rule, "-o", tmp_path / "model")
    status, out, err = run(capsys, *options)
    assert (status, err) == (0, "")
    lines = [line for line in out.splitlines() if not line.endswith(" trials")]  # if it is slow
    assert lines[0].startswith("Compared ")
    assert "in up to 4 folds of 800 rows: log loss ± standard error, error; baseline " in lines[0]
    assert lines[1].endswith("  (chosen)")
    assert "Compared " in run(capsys, "inspect", tmp_path / "model")[1]
    _, out, _ = run(capsys, *options[:-2], "--json")
    assert json.loads(out.splitlines()[0])["event"] == "tuned"
    taken = (
        lines[1].partition("  --")[2].removesuffix("  (chosen)").replace("no-tune (default)", "")
    )
    other = tmp_path / "other"
    given = ("--" + taken).split() if taken.strip() else ("--rule", rule)
    assert run(capsys, "train", path, *given, "-q", "-o", other)[0] == 0
    coefs = [rosenblatt.load(each)[-1].coef_ for each in (tmp_path / "model", other)]
    np.testing.assert_array_equal(*coefs)


def test_what_cannot_be_tuned_is_refused_in_one_sentence(capsys, path, tmp_path):
    def refusal(*options):
        status, _, err = run(capsys, "train", path, *options)
        assert status == 2
        return err

    assert "tune compares whole rows" in refusal("--tune", "--set", "window=5")
    assert "--cluster and --tune exclude" in refusal("--tune", "--cluster", "local:1")
    run(capsys, "train", path, "-q", "-o", tmp_path / "model")
    assert "leave tune out" in refusal("--tune", "--initial", tmp_path / "model")
    with pytest.raises(ParameterError, match="AROW has no C, which is for rule pa"):
        rosenblatt.train(path, rule="arow", C=1.0, tune=True)


def test_progress_is_reported_once_and_rises(path):
    class Heard(Listener):
        def __init__(self):
            self.steps = []

        def tried(self, done, total):
            self.steps.append((done, total))

    heard = Heard()
    rosenblatt.train(path, tune=True, rule="scw", fit_intercept=False, listener=heard)
    assert all(step <= total for step, total in heard.steps)
    assert all(b > a for (a, _), (b, _) in itertools.pairwise(heard.steps))


@pytest.mark.parametrize("labels", ["xy", "xyx", "abcdef", "xxxxxy", [1.5, 2.25, 3.0]], ids=str)
def test_too_few_rows_are_refused_in_one_sentence(tmp_path, labels):
    path = tmp_path / "few.csv"
    path.write_text("a,b,label\n" + "".join(f"{k},{k % 3},{y}\n" for k, y in enumerate(labels)))
    options = {"numbers": True} if isinstance(labels, list) else {}
    with refused("tune-few-rows"):
        rosenblatt.train(path, tune=True, **options)


@pytest.mark.parametrize("labels", ["xxyy", "xyxyxyxyxyxy", "xxxxyyz", range(4)], ids=str)
def test_few_rows_are_enough(tmp_path, labels):
    path = tmp_path / "few.csv"
    path.write_text("a,b,label\n" + "".join(f"{k},{k % 3},{y}\n" for k, y in enumerate(labels)))
    options = {"numbers": True} if isinstance(labels, range) else {}
    assert told_by(rosenblatt.train(path, tune=True, **options))["rows"] == len(labels)


# Standard errors


def test_the_standard_error_is_larger_than_that_of_independent_folds():
    values = np.array([0.1, 0.2, 0.3, 0.2, 0.1])
    plain = values.std(ddof=1) / np.sqrt(5)
    assert standard_error(values) == pytest.approx(plain * np.sqrt(1 + 5 / 4))
    assert standard_error(np.append(values, np.nan)) == standard_error(values)
    assert standard_error(np.array([0.5])) == 0.0
    rows = np.tile(values, 20)
    assert standard_error(rows) == pytest.approx(rows.std(ddof=1) / 10)


def test_differences_are_paired():
    """Rows that are hard for both settings do not hide that one is always better."""
    hard = np.array([0.1, 0.5, 0.2, 0.4, 0.3])
    better, worse, other = (
        Result(parts.mean(), parts, 0.0) for parts in (hard, hard + 0.01, hard[::-1])
    )
    assert not worse.is_near(better)
    assert better.is_near(worse)
    assert other.is_near(better)
