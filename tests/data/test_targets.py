"""What labels mean: codes, weights, decisions and scores of classes and of label sets."""

import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

from rosenblatt.data.labels import LabelSets, UnknownLabelError
from rosenblatt.data.targets import (
    ClassTarget,
    LabelCounts,
    LabelSetTarget,
    NumberScore,
    NumberTarget,
    RankTarget,
    Score,
    score_ranks,
)
from rosenblatt.parameters import InputError, ParameterError, parameters_for_files

SETS = LabelSets(np.array(["b", "a", "b"], object), np.array([0, 0, 2, 3]))
PARAMETERS = parameters_for_files()


def test_labels_become_numbers_of_classes():
    target = ClassTarget(np.array(["a", "b"]))
    assert target.encode(np.array(["b", "a", "b"], object)).tolist() == [1, 0, 1]
    with pytest.raises(UnknownLabelError, match=r"^Row 12 has the label 'c'"):
        target.encode(np.array(["a", "c"], object), 10)
    held = np.array([False, True])
    assert target.encode(np.array(["a", "c"], object), 10, held).tolist() == [0, -1]
    with pytest.raises(UnknownLabelError, match=r"^Row 11 has the label 'c'"):
        target.encode(np.array(["c", "c"], object), 10, held)


def test_label_sets_become_an_indicator():
    target = LabelSetTarget(np.array(["a", "b"]))
    flags = [[False, False], [True, True], [False, True]]
    assert target.encode(SETS).tolist() == flags
    held = np.array([False, True, False])
    only_b = LabelSetTarget(np.array(["b"]))
    assert only_b.encode(SETS, 0, held).tolist() == [[False, False], [True, True], [True, False]]
    with pytest.raises(UnknownLabelError, match=r"^Row 2 has the label 'a'"):
        only_b.encode(SETS)


def test_rows_weigh_what_they_and_their_classes_weigh():
    target = ClassTarget(np.array([0, 1]), np.array([1.0, 3.0]))
    assert target.weigh(np.array([0, 1]), [2.0, 2.0]).tolist() == [2.0, 6.0]
    assert ClassTarget(np.array([0, 1])).weigh(np.array([0, 1]), None) is None
    assert ClassTarget(np.array([0, 1]), np.ones(2)).weigh(np.array([0, 1]), None) is None
    assert target.as_parameters() == {"class_weight": {0: 1.0, 1: 3.0}}


def test_ranks_are_in_their_order():
    target = RankTarget(np.array(["low", "medium", "high"]), np.array([1.0, 2.0, 1.0]))
    assert target.encode(np.array(["high", "low", "medium"], object)).tolist() == [2, 0, 1]
    assert target.as_parameters() == {
        "ranks": ["low", "medium", "high"],
        "class_weight": {"low": 1.0, "medium": 2.0, "high": 1.0},
    }
    with pytest.raises(UnknownLabelError, match=r"^Row 12 has the label 'a, b', .* with ordinal"):
        target.encode(np.array(["low", "a, b"]), 10, np.array([False, True]))
    scores = score_ranks(np.array([-5.0, 0.0, 1.0, 5.0]), np.array([0.0, -1.0]))
    assert target.decide(scores).tolist() == [0, 1, 2, 2]  # on a threshold the higher rank
    assert RankTarget(np.arange(2)).decide(np.array([-1.0, 0.0, 1.0])).tolist() == [0, 1, 1]
    score = target.new_score()
    score.compare(np.array([0, 2, 1]), np.array([2, 2, 0]))
    assert score.as_dict() == {"rows": 3, "errors": 2, "distance": 3}
    assert score.rank_error == 1.0


def test_scores_decide():
    two, sets = ClassTarget(np.arange(2)), LabelSetTarget(np.arange(2))
    assert two.decide(np.array([-1.0, 0.0, 1.0])).tolist() == [0, 0, 1]
    assert two.decide(np.array([-1.0, 0.0, 1.0]), "positive").tolist() == [0, 1, 1]
    assert two.decide(np.array([[1.0, 3.0, 2.0]])).tolist() == [1]
    assert sets.decide(np.array([[1.0, -1.0]])).tolist() == [[True, False]]


def test_errors_are_counted_and_so_are_labels_that_are_no_classes():
    score = ClassTarget(np.arange(2)).new_score()
    score.compare(np.array([0, 1, 1]), np.array([0, 1, -1]))
    assert score == Score(3, 1)
    score = Score()
    score.compare(np.array([[True], [False]]), np.array([[True, False], [False, True]]))
    assert score == Score(2, 1, hits=1, labels=3)
    assert score.as_dict() == {"rows": 2, "errors": 1, "hits": 1, "labels": 3}


def test_the_target_comes_from_the_labels_of_the_rows_that_are_learnt_from():
    learnt = np.array([True, True, False, True])
    counts = LabelCounts().add(np.array([1.0, 2.0, 9.0, 2.0]), learnt)
    counts.add(np.array([2.0, 1.0]), np.ones(2, bool))
    target = counts.target(PARAMETERS | {"class_weight": "balanced"}, None, None)
    assert target.classes.tolist() == [1, 2]
    np.testing.assert_allclose(target.class_weight, [5 / 4, 5 / 6])
    named = counts.target(PARAMETERS, ("1", "2", "3"), None)
    assert named.classes.tolist() == [1, 2, 3]
    assert counts.target(PARAMETERS, None, np.array([1, 2, 5])).classes.tolist() == [1, 2, 5]
    sets = LabelCounts().add(SETS, np.ones(3, bool))
    assert isinstance(sets.target(PARAMETERS, None, None), LabelSetTarget)
    for name, value in {"class_weight": "balanced", "calibrate": True}.items():
        with pytest.raises(ParameterError, match=f"^{name} is for rows of one label each"):
            sets.target(PARAMETERS | {name: value}, None, None)


# Numbers


def test_numbers_are_scaled_by_the_rows_to_learn_from():
    labels, learnt = np.array([1.0, 3.0, 99.0, 5.0]), np.array([True, True, False, True])
    target = NumberTarget.measure(labels, learnt)
    assert (target.center, target.median) == (3.0, 3.0)
    codes = target.encode(labels)
    assert codes[learnt].mean() == pytest.approx(0)
    assert codes[learnt].std() == pytest.approx(1)
    np.testing.assert_allclose(target.decide(codes), labels)
    np.testing.assert_allclose(target.row_errors(codes + 1, codes), target.scale)
    assert NumberTarget.measure(np.ones(3), np.ones(3, bool)).scale == 1
    assert target.weigh(codes, [1.0, 2.0, 0.0, 1.0]).tolist() == [1.0, 2.0, 0.0, 1.0]


def test_labels_that_are_no_numbers_are_named():
    for labels in (np.array(["1", "x"], object), np.array([1.0, np.inf])):
        with pytest.raises(InputError) as refused:
            NumberTarget().encode(labels, 10)
        assert refused.value.code == "label-not-a-number"
    assert refused.value.line == 12
    with pytest.raises(InputError):
        NumberTarget.measure(np.ones(2), np.zeros(2, bool))


def test_errors_of_numbers_are_those_of_scikit_learn_however_rows_come():
    rng = np.random.default_rng(0)
    y, found = 1e6 + rng.normal(size=90), 1e6 + rng.normal(size=90)
    target = NumberTarget(1e6, 2.0, 1e6 + 0.5)
    score, parts, folds = target.new_score(), target.new_score(), []
    score.compare(found, target.encode(y))
    for some in np.split(np.arange(90), [7, 50]):
        parts.compare(found[some], target.encode(y[some]))
        one = NumberScore(target)
        one.compare(found[some], target.encode(y[some]))
        folds.append(one)
    folds = NumberScore.sum(folds)
    wanted = {
        "rows": 90,
        "mae": mean_absolute_error(y, found),
        "rmse": root_mean_squared_error(y, found),
        "r2": r2_score(y, found),
        "median_mae": np.abs(y - 1e6 - 0.5).mean(),
        "mean_rmse": np.sqrt(np.square(y - 1e6).mean()),
    }
    assert score.as_dict() == pytest.approx(wanted)
    assert parts.as_dict() == pytest.approx(wanted)
    assert folds.as_dict() == pytest.approx(wanted, rel=0.1)  # R² within folds
    assert folds.figures()["mae"] == pytest.approx(wanted["mae"])
