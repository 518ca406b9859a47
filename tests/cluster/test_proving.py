"""Proving on all partitions while few rows travel."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from rosenblatt import Inseparable, Separable, Undecided, margin
from rosenblatt.cluster import proving, separability
from rosenblatt.cluster.partitions import make_batch
from rosenblatt.cluster.proving import Judged, judge, separability_of_partitions

from ..theory.conftest import flipped, separated
from .conftest import cut

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize("layout", [np.asarray, csr_matrix])
def test_separability_of_all_partitions_is_proved(client, layout, monkeypatch):
    monkeypatch.setattr(proving, "HARD_ROWS", 10)
    random = np.random.default_rng(0)
    X = np.round(random.normal(size=(600, 3)) * 8)
    y = np.where(X @ [1, 2, -1] > 0.5, "a", "b")
    verdict = separability(*cut(layout(X), y, [100, 200, 300]), client=client)
    assert isinstance(verdict, Separable)
    assert verdict.verify(X, y)
    assert verdict.margin == pytest.approx(margin(X, y, np.array(verdict.weights), verdict.bias))
    y[[5, 599]] = y[[599, 5]]
    clash = separability(*cut(layout(X), y, [100, 200, 300]), client=client)
    assert isinstance(clash, Inseparable)
    assert clash.verify(X, y)
    with pytest.raises(ValueError, match="3 classes"):
        separability(*cut(X, np.arange(600) % 3, [300, 300]), client=client)


def decided(X, y, cuts, most, layout=np.asarray, **parameters):
    """The verdict on rows in parts, and how many rows were sent."""
    parts = [(a, b) for a, b in zip([0, *cuts], [*cuts, len(y)], strict=True) if a < b]
    batches = [make_batch(layout(X[a:b]), y[a:b], None, a) for a, b in parts]
    about, sent = (max(y), X.shape[1], [a for a, _ in parts], most), []

    def ask(plane):
        judged = [judge(batch, number, plane, *about) for number, batch in enumerate(batches)]
        sent.append(sum(len(part.numbers) for part in judged if part.margin < 0))
        return judged

    return separability_of_partitions(ask, **parameters), sent


@pytest.mark.parametrize("layout", [np.asarray, csr_matrix])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_verdict_is_about_all_rows(layout, fit_intercept):
    for seed in range(3):
        X, y = separated(400, 4, seed=seed)
        verdict, _ = decided(X, y, [1, 100, 100, 250], 10, layout, fit_intercept=fit_intercept)
        assert isinstance(verdict, Separable)
        assert verdict.verify(X, y)
        reached = margin(X, y, np.array(verdict.weights), verdict.bias)
        assert verdict.margin == pytest.approx(reached)
        y = flipped(y)
        verdict, _ = decided(X, y, [1, 100, 100, 250], 10, layout, fit_intercept=fit_intercept)
        assert isinstance(verdict, Inseparable)
        assert verdict.fit_intercept == fit_intercept
        assert verdict.verify(X, y)


def test_parts_of_one_class_are_no_trouble():
    X = np.arange(20.0)[:, None]
    verdict, sent = decided(X, np.where(X[:, 0] < 10, -1, 1), [10], 4)
    assert isinstance(verdict, Separable)
    assert verdict.verify(X, X[:, 0] >= 10)
    assert sum(sent) < 20


def test_few_of_many_rows_travel():
    X, y = separated(20_000, 5, gap=0.01)
    verdict, sent = decided(X, y, [5_000, 10_000], 20)
    assert verdict.verify(X, y)
    assert sum(sent) < 1_000


def test_a_margin_that_floats_cannot_tell_is_told():
    X = np.array([[-5e-324], [5e-324]])
    verdict, _ = decided(X, np.array([-1, 1]), [1], 4)
    assert isinstance(verdict, Separable)
    assert verdict.margin == 5e-324


def test_judges_that_send_nothing_new_leave_it_undecided():
    nothing = Judged(-np.inf, np.empty(0, int), np.empty((0, 1)), np.empty(0))
    assert isinstance(separability_of_partitions(lambda plane: [nothing]), Undecided)
