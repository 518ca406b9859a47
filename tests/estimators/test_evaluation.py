"""Evaluation in Python: of pipelines, classifiers, files and arrays, the same figures."""

from functools import partial

import numpy as np
import pytest
from sklearn import metrics
from sklearn.datasets import load_breast_cancer

import rosenblatt
from rosenblatt import Perceptron, compare, cross_validate, evaluate, importances, train
from rosenblatt.parameters import InputError


@pytest.fixture(scope="module")
def rows():
    X, y = load_breast_cancer(return_X_y=True)
    names = [f"x{j}" for j in range(6)]
    return [
        dict(zip(names, x[:6].tolist(), strict=True)) | {"kind": "good" if k else "bad"}
        for x, k in zip(X, y, strict=True)
    ]


def test_a_pipeline_is_evaluated_like_its_file(tmp_path, rows):
    model = train(rows[:400], label="kind", calibrate=True)
    found = evaluate(model, rows[400:])
    y = np.array([row["kind"] for row in rows[400:]])
    chances = model.predict_proba(rows[400:])
    assert found["error"] == pytest.approx(np.mean(model.predict(rows[400:]) != y))
    assert found["log_loss"] == pytest.approx(metrics.log_loss(y, chances), rel=1e-5)
    expected = metrics.roc_auc_score(y == "good", model.decision_function(rows[400:]))
    assert found["roc_auc"] == pytest.approx(expected)
    rosenblatt.save(model, tmp_path / "m")
    assert evaluate(tmp_path / "m", rows[400:]).as_dict() == found.as_dict()
    without = [{name: row[name] for name in row if name != "kind"} for row in rows[400:]]
    assert evaluate(model, without, y).figures() == pytest.approx(found.figures())
    moved = evaluate(model, rows[400:], threshold=0.9)
    assert moved.confusion[0, 1] == np.count_nonzero((chances[:, 1] > 0.9) & (y == "bad"))


@pytest.mark.parametrize("kind", ["dense", "integers", "sparse"])
def test_a_classifier_is_evaluated_on_arrays(kind):
    from scipy.sparse import csr_array

    X, y = load_breast_cancer(return_X_y=True)
    X = (X * 10).astype(int) if kind == "integers" else csr_array(X) if kind == "sparse" else X
    model = Perceptron(random_state=0).fit(X, y)
    found = evaluate(model, X, y)
    assert found["error"] == pytest.approx(1 - model.score(X, y))
    with pytest.raises(InputError) as error:
        evaluate(model, X)
    assert error.value.code == "no-labels"


def test_label_sets_are_evaluated_from_flags():
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 4))
    flags = X[:, :3] > 0
    model = Perceptron(random_state=0).fit(X, flags.astype(int))
    found = evaluate(model, X, flags)
    assert found.score.error == pytest.approx(1 - model.score(X, flags.astype(int)))


def test_two_models_are_compared(rows):
    good = train(rows[:400], label="kind", calibrate=True)
    bad = train(rows[:400], label="kind", ignore=["x0", "x2", "x3"], calibrate=True)
    found = compare(good, bad, rows[400:])
    wrong = [
        1 - np.mean(model.predict(rows[400:]) == [row["kind"] for row in rows[400:]])
        for model in (good, bad)
    ]
    assert [one["error"] for one in found.results] == pytest.approx(wrong)
    assert found["difference"] == pytest.approx(wrong[1] - wrong[0])
    X, y = load_breast_cancer(return_X_y=True)
    same = Perceptron(random_state=0).fit(X, y)
    assert compare(same, same, X, y)["p_value"] == 1.0


def test_a_training_is_cross_validated(rows):
    found = cross_validate(rows, folds=3, label="kind", calibrate=True, max_iter=3)
    assert found.score.rows == len(rows)
    assert found.figures()["error"].mean < 0.15
    assert found.figures()["log_loss"].mean < 0.5
    with pytest.raises(TypeError, match="max_itre"):
        cross_validate(rows, label="kind", max_itre=3)


def test_importances_are_weights_times_deviations(tmp_path, rows):
    model = train(rows, label="kind")
    found = importances(model)
    coef = model[-1].coef_[0]
    spread = np.asarray(model[0].transform(rows)).std(axis=0)
    expected = sorted(np.abs(coef) * spread, reverse=True)
    assert [one.importance for one in found] == pytest.approx(expected, rel=1e-4)
    assert {one.name for one in found} == {f"x{j}" for j in range(6)}
    rosenblatt.save(model, tmp_path / "m")
    assert importances(tmp_path / "m", top=2) == found[:2]
    measured = importances(model, rows[:50])
    spread = np.asarray(model[0].transform(rows[:50])).std(axis=0)
    assert measured[0].deviation == pytest.approx(spread[measured[0].column], rel=1e-4)


def test_importances_of_a_classifier_need_rows():
    X, y = load_breast_cancer(return_X_y=True)
    model = Perceptron(random_state=0).fit(X, y)
    assert importances(model)[0].importance is None
    found = importances(model, X)
    assert found[0].importance == pytest.approx(np.max(np.abs(model.coef_[0]) * X.std(axis=0)))
    with pytest.raises(ValueError, match="linear"):
        importances(rosenblatt.KernelPerceptron().fit(X[:20], y[:20] > 0))


def test_results_are_shown_in_a_line(rows):
    model = train(rows[:100], label="kind")
    found, both = evaluate(model, rows), compare(model, model, rows)
    assert repr(found).startswith(f"Evaluation(rows={len(rows)}, errors={found.score.errors}, err")
    assert "None" not in repr(found)
    assert repr(both).startswith(f"Comparison(rows={len(rows)}, only_first_right=0, ")
    assert repr(both).endswith("p_value=1)")
    folds = cross_validate(rows[:60], label="kind", folds=2)
    assert repr(folds).startswith("CrossValidation(folds=2, rows=60, errors=")
    numbers = [{"a": k % 7, "y": k / 4} for k in range(30)]
    found = evaluate(train(numbers, label="y", numbers=True), numbers)
    assert repr(found).startswith("NumberEvaluation(rows=30, mae=")


def test_labels_must_be_as_many_as_rows_and_gaps_are_counted(rows):
    model = train(rows[:100], label="kind")
    for use in (evaluate, partial(compare, model)):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            use(model, rows, ["a"] * 5)
    gaps = [dict(row, kind=row["kind"] if k else None) for k, row in enumerate(rows)]
    for use in (evaluate, partial(compare, model)):
        with pytest.warns(UserWarning, match="^1 row without a label left out.$"):
            assert getattr(found := use(model, gaps), "score", found).rows == len(rows) - 1
