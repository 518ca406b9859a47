"""Areas and thresholds are scikit-learn's; an even sample in bounded memory comes close."""

import numpy as np
import pytest
from sklearn import metrics

from rosenblatt.data.metrics import average_precision, count_ranks, roc_auc
from rosenblatt.jobs.curves import KeptScores, find_bins, tabulate_thresholds, tabulate_top


def some_rows(rows=3000, classes=2, seed=0, step=0.05):
    """Scores with ties, and class numbers that they say something about."""
    random = np.random.default_rng(seed)
    codes = random.integers(0, classes, rows)
    if classes == 2:
        scores = random.normal(codes - 0.5, 1.0)
    else:
        scores = random.normal(codes[:, None] == np.arange(classes), 1.0)
    return np.round(scores / step) * step, codes


def areas(scores, codes, most=10**6, parts=50):
    kept = KeptScores(most)
    for some in np.array_split(np.arange(len(codes)), parts):
        kept.add(scores[some], codes[some])
    assert kept.exact == (most >= len(codes))
    assert kept.seen == len(codes)
    assert len(kept.join()[1]) == -(-len(codes) // kept.step) <= most
    return [area(*kept.join()[::-1]) for area in (roc_auc, average_precision)]


@pytest.mark.parametrize("classes", [2, 4])
def test_areas_are_those_of_scikit_learn(classes):
    scores, codes = some_rows(classes=classes)
    flags = codes if classes == 2 else np.eye(classes)[codes]
    expected = [
        one(flags, scores) for one in (metrics.roc_auc_score, metrics.average_precision_score)
    ]
    assert areas(scores, codes) == pytest.approx(expected)
    scores, codes = some_rows(40_000, classes)
    assert areas(scores, codes, most=20_000) == pytest.approx(areas(scores, codes), abs=5e-3)


def test_label_sets_have_areas():
    random = np.random.default_rng(0)
    flags = random.random((5000, 3)) < 0.3
    scores = random.normal(flags, 1.0)
    expected = metrics.roc_auc_score(flags, scores)
    assert areas(scores, flags)[0] == pytest.approx(expected)
    assert areas(scores, flags, most=3000)[0] == pytest.approx(expected, abs=1e-2)


def test_rows_of_one_class_and_no_rows_have_no_area():
    scores, codes = KeptScores(9).join()
    assert np.isnan(roc_auc(codes, scores))
    assert np.isnan(areas(np.array([1.0, 2.0]), np.array([1, 1]), parts=1)[0])


def test_thresholds_count_what_is_above():
    scores, codes = some_rows()
    ranks = count_ranks(codes == 1, scores)
    for one in tabulate_thresholds(ranks, None, [-10.0, 0.0, 0.35, 10.0]):
        chosen = scores > one.threshold
        assert one.predicted == pytest.approx(chosen.mean())
        assert one.error == pytest.approx(np.mean(chosen != codes))
        assert one.recall == pytest.approx(metrics.recall_score(codes, chosen))
        if chosen.any():
            assert one.precision == pytest.approx(metrics.precision_score(codes, chosen))
        assert one.f1 == pytest.approx(metrics.f1_score(codes, chosen))
    points = [one.threshold for one in tabulate_thresholds(ranks)]
    assert points == sorted(points)
    assert 0.0 in points


def test_calibration_counts_shares():
    from sklearn.calibration import calibration_curve

    random = np.random.default_rng(0)
    chances = random.random(2000)
    happened = random.random(2000) < chances**2
    found = find_bins(chances, happened)
    observed, predicted = calibration_curve(happened, chances, n_bins=10)
    np.testing.assert_allclose([one.observed for one in found], observed)
    np.testing.assert_allclose([one.predicted for one in found], predicted)
    assert sum(one.rows for one in found) == 2000


@pytest.mark.parametrize("several", [False, True])
def test_precision_and_recall_of_the_first_classes(several):
    random = np.random.default_rng(0)
    scores, codes = random.normal(size=(60, 6)).round(1), random.integers(0, 6, 60)
    flags = random.random((60, 6)) < 0.3 if several else np.eye(6, dtype=bool)[codes]
    found = tabulate_top(scores, flags if several else codes)
    assert [one.k for one in found] == [1, 3, 5]
    for k, precision, recall in found:
        best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        hits = sum(flags[row, best[row]].sum() for row in range(60))
        assert (precision, recall) == pytest.approx((hits / (60 * k), hits / flags.sum()))
    assert tabulate_top(scores[:, 0], codes) == []
