"""Counts of rows by class agree with scikit-learn's."""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support, roc_auc_score

from rosenblatt.evaluation import Evaluation, Score


@pytest.mark.parametrize("classes", [["no", "yes"], ["a", "b", "c"], [-1, 1], [2, 10, 9]])
@pytest.mark.parametrize("batches", [1, 4])
def test_all_figures_are_those_of_scikit_learn(classes, batches):
    random = np.random.default_rng(0)
    known = np.array(sorted(classes))
    y = known[random.integers(len(known), size=200)]
    scores = random.normal(size=200 if len(known) == 2 else (200, len(known))).round(1)
    codes = (scores > 0).astype(int) if len(known) == 2 else scores.argmax(axis=1)
    found = Evaluation(known)
    for part in np.array_split(np.arange(200), batches):
        found.add(y[part].astype(str), codes[part], scores[part])
    predicted = known[codes]
    np.testing.assert_array_equal(found.confusion[:-1], confusion_matrix(y, predicted))
    expected = precision_recall_fscore_support(y, predicted, labels=known, zero_division=0)
    table = np.array([one[1:] for one in found.by_class()])
    np.testing.assert_allclose(table, np.column_stack(expected))
    assert found.score == Score(200, int((y != predicted).sum()))
    if len(known) == 2:
        assert found.roc_auc == pytest.approx(roc_auc_score(y == known[1], scores))
    else:
        assert found.roc_auc is None


def test_labels_that_are_not_known_are_errors():
    found = Evaluation(np.array(["a", "b"]))
    found.add(np.array(["a", "c", "b"]), np.array([0, 1, 1]), np.array([-1.0, 2.0, 3.0]))
    assert found.confusion.tolist() == [[1, 0], [0, 1], [0, 1]]
    assert found.score == Score(3, 1)
    assert found.roc_auc == 1.0
    assert found.by_class()[1].precision == 0.5


def test_nothing_has_no_error():
    assert np.isnan(Score().error)
    assert Evaluation(np.array([0, 1])).roc_auc is None
