"""Counts of rows by class agree with scikit-learn's."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, hamming_loss, precision_recall_fscore_support
from sklearn.pipeline import Pipeline

from rosenblatt import KernelPerceptron, Perceptron, PerceptronNetwork, save, train
from rosenblatt.data.labels import LabelSets
from rosenblatt.data.targets import ClassTarget, Score
from rosenblatt.jobs import evaluate as evaluating
from rosenblatt.jobs.data import open_like
from rosenblatt.jobs.evaluate import HeldOut, evaluate
from rosenblatt.jobs.evaluation import Evaluation, LabelSetEvaluation
from rosenblatt.learners.kinds import make_learner
from rosenblatt.storage.file import load_model


@pytest.mark.parametrize("classes", [["a", "b", "c"], [2, 10, 9], ["one"]])
@pytest.mark.parametrize("batches", [1, 4])
def test_figures_of_several_labels_are_those_of_scikit_learn(classes, batches):
    random = np.random.default_rng(1)
    known = np.array(sorted(classes))
    y, predicted = random.random((2, 100, len(known))) < 0.4
    y[:, 0], predicted[:10] = y[:, 0] & (len(known) == 1), False  # one label is never there
    found, score = LabelSetEvaluation(known), Score()
    for part in np.array_split(np.arange(100), batches):
        sets = sets_of([known[row].astype(str) for row in y[part]])
        found.add(sets, predicted[part], predicted[part].astype(float))
        score.compare(predicted[part], y[part])
    expected = precision_recall_fscore_support(y, predicted, average=None, zero_division=0)
    table = np.array([one[1:] for one in found.by_class()])
    np.testing.assert_allclose(
        table[:, :3],
        np.column_stack(expected[:3]) if len(known) > 1 else [[each[-1] for each in expected[:3]]],
    )
    assert found.score == score
    assert found.score.error == pytest.approx(1 - accuracy_score(y, predicted))
    assert found["hamming_loss"] == pytest.approx(hamming_loss(y, predicted))
    if len(known) > 1:
        micro, macro = (f1_score(y, predicted, average=how) for how in ("micro", "macro"))
        assert (found["micro_f1"], found["macro_f1"]) == pytest.approx((micro, macro))
        assert found.as_dict()["micro_f1"] == found["micro_f1"] == score.micro_f1


def sets_of(rows):
    starts = np.append(0, np.cumsum([len(row) for row in rows]))
    return LabelSets(np.array([label for row in rows for label in row], str), starts)


def test_a_label_that_is_not_known_is_missed_once():
    found = LabelSetEvaluation(np.array(["a", "b"]))
    found.add(sets_of([["a", "x", "x"], ["b"], []]), np.eye(3, 2, dtype=bool), np.eye(3, 2))
    assert (found.unknown, found.missed) == (1, 1)
    assert found.score == Score(3, 1, hits=2, labels=5)
    assert found["micro_f1"] == f1_score(
        [[1, 0, 1], [0, 1, 0]], [[1, 0, 0], [0, 1, 0]], average="micro"
    )
    assert found["hamming_loss"] == 0


def test_nothing_has_no_error():
    assert np.isnan(Score().error)
    assert Evaluation(np.array([0, 1]))["roc_auc"] is None


@pytest.mark.parametrize("layout", ["csv", "svm"])
@pytest.mark.parametrize("kind", [KernelPerceptron, PerceptronNetwork, Perceptron])
def test_every_kind_of_model_is_tested_on_a_file(tmp_path, kind, layout):
    random = np.random.default_rng(0)
    X, y = random.integers(-3, 4, (60, 3)), random.integers(0, 3, 60)
    if layout == "csv":
        table = np.column_stack([X, y]).tolist()
        lines = ["a,b,c,y", *(",".join(map(str, row)) for row in table)]
    else:
        pairs = [" ".join(f"{j + 1}:{v}" for j, v in enumerate(x) if v) for x in X]
        lines = [f"{label} {text}" for label, text in zip(y, pairs, strict=True)]
    path = tmp_path / f"rows.{layout}"
    path.write_text("\n".join(lines) + "\n")
    features = train(path, scale="none")[0]
    rows = features.transform(path)
    rows = rows if kind is not PerceptronNetwork or layout == "csv" else rows.toarray()
    classifier = kind(random_state=0, max_iter=3).fit(rows, y)
    save(Pipeline([("features", features), ("classifier", classifier)]), tmp_path / "model")
    model = load_model(tmp_path / "model")
    found = evaluate(make_learner(model, path), open_like(model, str(path), labels=True))
    assert found.score.rows == 60
    assert found.score.errors == np.count_nonzero(classifier.predict(rows) != y)


def test_calibration_keeps_an_even_sample_of_many_rows(monkeypatch):
    """A file may be sorted by label, so that the first rows are of one class."""
    monkeypatch.setattr(evaluating, "MOST_CALIBRATING", 8)
    codes = np.repeat([0, 1, -1, 1], [30, 9, 3, 21])  # -1: a label that is not a class
    batches = [(part.astype(float), part) for part in np.array_split(codes, 7)]
    monkeypatch.setattr(HeldOut, "scores", lambda self, learner: iter(batches))
    kept = []
    learner = SimpleNamespace(calibrate=lambda scores, codes: kept.append((scores, codes)))
    HeldOut([], ClassTarget(np.arange(2))).calibrate(learner)
    ((scores, found),) = kept
    assert scores.tolist() == found.tolist() == codes[codes >= 0][::8].tolist()
