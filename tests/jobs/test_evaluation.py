"""Figures are those of scikit-learn."""

import numpy as np
import pytest

from rosenblatt.jobs.evaluation import Evaluation


@pytest.mark.parametrize("classes", [2, 4])
def test_figures_are_those_of_scikit_learn(classes):
    from sklearn import metrics

    random = np.random.default_rng(0)
    codes, names = random.integers(0, classes, 900), np.array(list("abcd")[:classes])
    scores = (
        random.normal(codes - 0.5, 1) if classes == 2 else random.normal(np.eye(classes)[codes])
    )

    def chances(values):
        both = np.column_stack([np.zeros(len(values)), values]) if values.ndim == 1 else values
        grown = np.exp(both)
        return grown / grown.sum(axis=1, keepdims=True)

    found = Evaluation(names, chances)
    predicted = chances(scores).argmax(axis=1)
    for some in np.array_split(np.arange(900), 4):
        found.add(names[codes[some]], predicted[some], scores[some])
    figures, p = found.figures(), chances(scores)
    expected = {
        "error": 1 - metrics.accuracy_score(codes, predicted),
        "log_loss": metrics.log_loss(codes, p),
        "macro_f1": metrics.f1_score(codes, predicted, average="macro"),
        "balanced_accuracy": metrics.balanced_accuracy_score(codes, predicted),
        "matthews_correlation": metrics.matthews_corrcoef(codes, predicted),
    }
    if classes == 2:
        expected["brier_score"] = metrics.brier_score_loss(codes, p[:, 1])
        expected["roc_auc"] = metrics.roc_auc_score(codes, scores)
        assert len(found.thresholds()) == 11
    else:
        expected["roc_auc"] = metrics.roc_auc_score(np.eye(classes)[codes], scores)
        assert found.thresholds() == []
    assert {name: figures[name] for name in expected} == pytest.approx(expected)
    assert sum(one.rows for one in found.calibration_curve()) == 900
    np.testing.assert_array_equal(found.confusion[:-1], metrics.confusion_matrix(codes, predicted))
    expected = metrics.precision_recall_fscore_support(codes, predicted, zero_division=0)
    table = np.array([one[1:] for one in found.by_class()])
    np.testing.assert_allclose(table, np.column_stack(expected))


def test_a_class_that_neither_occurs_nor_is_predicted_is_in_no_mean():
    found = Evaluation(np.array(["a", "b", "c"]))
    found.add(np.array(["a", "b", "b"]), np.array([0, 1, 0]), np.eye(3))
    assert found.figures()["macro_f1"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("calibrated", [False, True])
def test_figures_are_about_the_positive_class(calibrated):
    from sklearn import metrics

    random = np.random.default_rng(1)
    codes = (random.random(500) < 0.8).astype(int)
    scores, names = random.normal(codes, 1), np.array(["fraud", "ok"])

    def chances(values):
        high = 1 / (1 + np.exp(-values))
        return np.column_stack([1 - high, high])

    found = Evaluation(names, chances if calibrated else None, positive=0)
    found.add(names[codes], (scores > 0).astype(int), scores)
    fraud = codes == 0
    assert found["average_precision"] == pytest.approx(
        metrics.average_precision_score(fraud, -scores)
    )
    assert found["roc_auc"] == pytest.approx(metrics.roc_auc_score(codes, scores))
    given = chances(scores)[:, 0] if calibrated else -scores
    for one in found.thresholds():
        chosen = given > one.threshold
        assert one.recall == pytest.approx(metrics.recall_score(fraud, chosen))
        assert one.error == pytest.approx(np.mean(chosen != fraud))
    for one in found.calibration_curve():
        within = (given >= one.low) & (given < one.high)
        assert one.observed == pytest.approx(fraud[within].mean())
    assert found.as_dict()["positive_class"] == "fraud"


def test_the_worst_errors_are_kept():
    found = Evaluation(np.array(["no", "yes"]))
    scores = np.linspace(-50, 49, 100)
    labels = np.where(np.arange(100) % 2, "yes", "no")
    for some in np.array_split(np.arange(100), 3):
        found.add(labels[some], (scores[some] > 0).astype(int), scores[some], some.astype(str))
    assert len(found.worst) == 20
    assert (found.worst[0].row, found.worst[0].id) == (2, "1")
    assert found.worst[0].confidence == 49.0
    sizes = [one.confidence for one in found.worst]
    assert sizes == sorted(sizes, reverse=True)
    assert all(one.label != one.predicted for one in found.worst)


def test_labels_that_the_model_does_not_know_are_errors_without_a_score():
    found = Evaluation(np.array(["no", "yes"]))
    found.add(np.array(["no", "new", "yes"]), np.array([0, 1, 1]), np.array([-1.0, 2.0, 3.0]))
    assert (found.score.errors, found.unknown, found["roc_auc"]) == (1, 1, 1.0)
    assert found.confusion.tolist() == [[1, 0], [0, 1], [0, 1]]
    assert found.by_class()[1].precision == 0.5
    assert found.as_dict()["worst"][0]["label"] == "new"
