"""Metrics have the values of scikit-learn's, with and without weights, ties and rare classes."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn import metrics as peers

from rosenblatt.data import metrics


@st.composite
def predictions(draw, n_classes=None):
    """Draw codes, predictions, scores with ties, probabilities and weights of some rows."""
    classes = n_classes or draw(st.integers(3, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2 * classes, 60))
    codes = rng.permutation(np.append(np.arange(classes), rng.integers(0, classes, n - classes)))
    grain = draw(st.sampled_from([1.0, 10.0, 1e6]))  # ties, few ties, none
    scores = np.round(rng.normal(size=(n, classes)) * grain) / grain
    chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    weights = rng.uniform(0.1, 3, n) if draw(st.booleans()) else None
    return codes, scores.argmax(axis=1), scores, chances, weights


def same(found, wanted):
    assert found == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(given=st.one_of(predictions(2), predictions()))
def test_metrics_of_predicted_classes_are_scikit_learns(given):
    codes, predicted, scores, _, weights = given
    confusion = metrics.count_confusion(codes, predicted, scores.shape[1], weights)
    how = {"sample_weight": weights}
    labels = np.arange(scores.shape[1])
    same(confusion, peers.confusion_matrix(codes, predicted, labels=labels, **how))
    same(
        metrics.error_rate(codes, predicted, weights), peers.zero_one_loss(codes, predicted, **how)
    )
    same(metrics.macro_f1(confusion), peers.f1_score(codes, predicted, average="macro", **how))
    same(
        metrics.balanced_accuracy(confusion), peers.balanced_accuracy_score(codes, predicted, **how)
    )
    same(metrics.matthews_correlation(confusion), peers.matthews_corrcoef(codes, predicted, **how))
    same(metrics.rank_error(confusion), peers.mean_absolute_error(codes, predicted, **how))
    kappa = peers.cohen_kappa_score(codes, predicted, weights="quadratic", **how)
    same(metrics.quadratic_kappa(confusion), kappa)
    constant = [peers.mean_absolute_error(codes, np.full(len(codes), k), **how) for k in labels]
    same(metrics.median_rank_error(confusion), min(constant))


@settings(max_examples=60, deadline=None)
@given(given=predictions(2))
def test_ranking_of_two_classes_is_scikit_learns(given):
    codes, _, scores, _, weights = given
    ranked, how = scores[:, 1], {"sample_weight": weights}
    same(metrics.roc_auc(codes, ranked, weights), peers.roc_auc_score(codes, ranked, **how))
    wanted = peers.average_precision_score(codes, ranked, **how)
    same(metrics.average_precision(codes, ranked, weights), wanted)


@settings(max_examples=60, deadline=None)
@given(given=predictions())
def test_ranking_of_many_classes_is_scikit_learns(given):
    codes, _, _, chances, weights = given
    how = {"sample_weight": weights}
    wanted = peers.roc_auc_score(codes, chances, multi_class="ovr", **how)
    same(metrics.roc_auc(codes, chances, weights), wanted)
    wanted = peers.average_precision_score(codes, chances, **how)
    same(metrics.average_precision(codes, chances, weights), wanted)


@settings(max_examples=60, deadline=None)
@given(given=st.one_of(predictions(2), predictions()))
def test_metrics_of_probabilities_are_scikit_learns(given):
    codes, _, _, chances, weights = given
    how = {"sample_weight": weights}
    same(metrics.log_loss(codes, chances, weights), peers.log_loss(codes, chances, **how))
    wanted = peers.brier_score_loss(codes, chances, **how)
    same(metrics.brier_score(codes, chances, weights), wanted)


def test_label_sets_are_right_if_all_their_labels_are():
    codes = np.array([[1, 0, 1], [0, 1, 0]], bool)
    predicted = np.array([[1, 0, 1], [0, 1, 1]], bool)
    assert metrics.error_rate(codes, predicted) == 0.5
    same(metrics.micro_f1(codes, predicted), peers.f1_score(codes, predicted, average="micro"))
    scores = np.array([[0.9, 0.2, 0.8], [0.1, 0.7, 0.9]])
    same(metrics.roc_auc(codes, scores), peers.roc_auc_score(codes, scores))


def test_a_probability_of_0_has_a_finite_log_loss():
    certain = np.array([[1.0, 0.0]])
    same(metrics.log_loss(np.array([1]), certain), peers.log_loss([1], certain, labels=[0, 1]))


def test_what_is_not_defined_is_nan():
    one_class = np.zeros(3, int)
    assert np.isnan(metrics.roc_auc(one_class, np.arange(3.0)))
    assert np.isnan(metrics.average_precision(one_class, np.arange(3.0)))
    assert np.isnan(metrics.roc_auc(one_class, np.eye(3)[:, :2]))
    assert np.isnan(metrics.error_rate(np.zeros(0), np.zeros(0)))
    assert metrics.matthews_correlation(np.array([[3, 0], [1, 0]])) == 0.0


def test_a_class_without_rows_is_left_out_of_the_mean():
    codes, scores = np.array([0, 1, 0, 1]), np.eye(3)[[0, 1, 1, 1]]
    assert metrics.roc_auc(codes, scores) == pytest.approx(0.75)
