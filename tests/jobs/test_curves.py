"""Curves, areas and thresholds are scikit-learn's; bins in bounded memory come close."""

import numpy as np
import pytest
from sklearn import metrics

from rosenblatt.jobs import curves
from rosenblatt.jobs.curves import (
    CalibrationCounts,
    ScoreCounts,
    precision_recall_curve,
    roc_curve,
    tabulate_thresholds,
)


def some_rows(rows=3000, classes=2, seed=0, step=0.05):
    """Scores with ties, and class numbers that they say something about."""
    random = np.random.default_rng(seed)
    codes = random.integers(0, classes, rows)
    if classes == 2:
        scores = random.normal(codes - 0.5, 1.0)
    else:
        scores = random.normal(codes[:, None] == np.arange(classes), 1.0)
    return np.round(scores / step) * step, codes


def counted(scores, codes, most=curves.MOST_SCORES, parts=7):
    found = ScoreCounts(most)
    for some in np.array_split(np.arange(len(codes)), parts):
        found.add(scores[some], codes[some])
    return found


@pytest.mark.parametrize("classes", [2, 4])
def test_areas_are_those_of_scikit_learn(classes):
    scores, codes = some_rows(classes=classes)
    found = counted(scores, codes)
    flags = codes if classes == 2 else np.eye(classes)[codes]
    assert found.exact
    assert found.roc_auc == pytest.approx(metrics.roc_auc_score(flags, scores))
    assert found.average_precision == pytest.approx(metrics.average_precision_score(flags, scores))


@pytest.mark.parametrize("classes", [2, 4])
def test_areas_of_many_rows_come_from_bins(classes):
    scores, codes = some_rows(40_000, classes, step=1e-9)
    exact, binned = counted(scores, codes), counted(scores, codes, most=20_000, parts=50)
    assert (exact.exact, binned.exact) == (True, False)
    assert binned.roc_auc == pytest.approx(exact.roc_auc, abs=2e-4)
    assert binned.average_precision == pytest.approx(exact.average_precision, abs=2e-3)
    assert sum(int(one.weights.sum()) for one in binned.columns()) == scores.size


def test_bins_of_few_distinct_scores_are_exact():
    scores, codes = some_rows(5000)
    assert counted(scores, codes, most=1000).roc_auc == pytest.approx(
        counted(scores, codes).roc_auc
    )


def test_label_sets_have_areas():
    random = np.random.default_rng(0)
    flags = random.random((500, 3)) < 0.3
    scores = random.normal(flags, 1.0)
    expected = metrics.roc_auc_score(flags, scores)
    assert counted(scores, flags).roc_auc == pytest.approx(expected)
    assert counted(scores, flags, most=300).roc_auc == pytest.approx(expected, abs=5e-3)


def test_curves_are_those_of_scikit_learn():
    scores, codes = some_rows()
    (column,) = counted(scores, codes).columns()
    x, y, _ = metrics.roc_curve(codes, scores, drop_intermediate=False)
    found = roc_curve(column.ranks())
    np.testing.assert_allclose((found.x, found.y), (x, y))
    precision, recall, _ = metrics.precision_recall_curve(codes, scores)
    found = precision_recall_curve(column.ranks())
    np.testing.assert_allclose((found.x, found.y), (recall[-2::-1], precision[-2::-1]))


def test_thresholds_count_what_is_above():
    scores, codes = some_rows()
    (column,) = counted(scores, codes).columns()
    for one in tabulate_thresholds(column, None, [-10.0, 0.0, 0.35, 10.0]):
        chosen = scores > one.threshold
        assert one.predicted == pytest.approx(chosen.mean())
        assert one.error == pytest.approx(np.mean(chosen != codes))
        assert one.recall == pytest.approx(metrics.recall_score(codes, chosen))
        if chosen.any():
            assert one.precision == pytest.approx(metrics.precision_score(codes, chosen))
        assert one.f1 == pytest.approx(metrics.f1_score(codes, chosen))
    points = [one.threshold for one in tabulate_thresholds(column)]
    assert points == sorted(points)
    assert 0.0 in points


def test_thresholds_are_probabilities_where_there_are_some():
    scores, codes = some_rows()

    def chances(values):
        return 1 / (1 + np.exp(-2 * values))

    (column,) = counted(scores, codes).columns()
    for one in tabulate_thresholds(column, chances):
        assert one.error == pytest.approx(np.mean((chances(scores) > one.threshold) != codes))


def test_no_rows_have_no_area():
    assert np.isnan(ScoreCounts().roc_auc)
    found = counted(np.array([1.0, 2.0]), np.array([1, 1]), parts=1)
    assert np.isnan(found.roc_auc)


def test_calibration_counts_shares():
    from sklearn.calibration import calibration_curve

    random = np.random.default_rng(0)
    chances = random.random(2000)
    happened = random.random(2000) < chances**2
    found = CalibrationCounts()
    for some in np.array_split(np.arange(2000), 3):
        found.add(chances[some], happened[some])
    observed, predicted = calibration_curve(happened, chances, n_bins=10)
    np.testing.assert_allclose([one.observed for one in found.curve()], observed)
    np.testing.assert_allclose([one.predicted for one in found.curve()], predicted)
    assert sum(one.rows for one in found.curve()) == 2000
    assert 0.1 < found.error < 0.25
    assert np.isnan(CalibrationCounts().error)
