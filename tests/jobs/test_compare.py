"""Two models on the same rows: exact tests, and blocks in bounded memory."""

import numpy as np
import pytest
from scipy.stats import binom, ttest_rel

from rosenblatt.jobs import compare as module
from rosenblatt.jobs.compare import Comparison, compare, pair_rows
from rosenblatt.jobs.data import open_like
from rosenblatt.jobs.evaluation import RowLosses
from rosenblatt.jobs.files import train
from rosenblatt.learners.kinds import make_learner
from rosenblatt.parameters import InputError
from rosenblatt.reading.reader import read
from rosenblatt.training.plan import Request


def losses(wrong, **others):
    none = np.zeros(len(wrong), bool)
    return RowLosses(none.astype(object), {"error": np.asarray(wrong), **others}, none)


@pytest.mark.parametrize(("one", "other"), [(0, 0), (3, 12), (12, 3), (1, 0), (40, 60)])
def test_the_test_of_mcnemar_is_exact(one, other):
    wrong = np.repeat([[0, 1], [1, 0], [1, 1], [0, 0]], [one, other, 5, 9], axis=0).astype(bool)
    found = Comparison()
    found.add(losses(wrong[:, 0]), losses(wrong[:, 1]))
    assert found.better == (one, other)
    few, total = min(one, other), one + other
    expected = min(1.0, 2 * binom.cdf(few, total, 0.5)) if total else 1.0
    assert found.p_value == pytest.approx(expected)


def test_numbers_are_tested_by_the_errors_that_are_compared():
    """The second model is nearer on 4 of 300 rows, and its mean error is smaller by chance."""
    near = np.repeat([0.5, 300.0], [296, 4])
    for sizes, better in ((near, "B has the lower MAE, but that"), (near[:296], "A is better")):
        none = np.zeros(len(sizes))
        one, other = (RowLosses(none, {"MAE": loss}, none > 0) for loss in (sizes, none + 0.6))
        found = Comparison()
        found.add(one, other)
        assert found.verdict(("A", "B")).startswith(better)
    found = Comparison()
    random = np.random.default_rng(0)
    first, second = random.random((2, 50)) + np.array([[0.0], [0.1]])
    found.add(*(RowLosses(first, {"MAE": loss}, first < 0) for loss in (first, second)))
    assert found.p_value == pytest.approx(ttest_rel(first, second).pvalue)
    low, high = ttest_rel(second, first).confidence_interval()
    assert found.differences()["MAE"][3:5] == pytest.approx((low, high))


@pytest.mark.parametrize(("rows", "p_value"), [(1, 1.0), (2, 0.5), (5, 0.0625)])
def test_few_rows_prove_little(rows, p_value):
    found = Comparison()
    losses = (np.zeros(rows), np.ones(rows))
    found.add(*(RowLosses(loss, {"MAE": loss}, loss > 1) for loss in losses))
    assert found.as_dict()["p_value"] == p_value


def test_the_interval_covers_the_difference_as_often_as_it_says():
    random, covered = np.random.default_rng(0), 0
    for _ in range(50):
        found = Comparison()
        first, second = random.random(300) < 0.3, random.random(300) < 0.25
        found.add(losses(first), losses(second))
        one = found.differences()["error"]
        covered += one.low <= -0.05 <= one.high
    assert covered >= 43


def test_blocks_are_bounded_and_keep_all_sums(monkeypatch):
    monkeypatch.setattr(module, "MOST_BLOCKS", 10)
    random = np.random.default_rng(0)
    wrong, chances = random.random((2, 333)) < 0.4, random.random((2, 333))
    found = Comparison()
    for some in np.array_split(np.arange(333), 29):
        found.add(
            *(losses(w[some], **{"log loss": c[some]}) for w, c in zip(wrong, chances, strict=True))
        )
    assert len(found.blocks) <= 10
    assert {int(block[0]) for block in found.blocks[:-1]} == {found.size}
    assert found.rows == sum(int(block[0]) for block in found.blocks) == 333
    one = found.differences()
    assert (one["error"].first, one["error"].second) == pytest.approx(wrong.mean(axis=1))
    assert one["log loss"].difference == pytest.approx(chances[1].mean() - chances[0].mean())


def test_streams_that_are_cut_otherwise_are_paired():
    values = np.arange(20)

    def cut(*edges):
        return iter([losses(part) for part in np.split(values, edges)])

    parts = [
        (one.losses["error"], other.losses["error"])
        for one, other in pair_rows(cut(3, 9), cut(4, 15))
    ]
    assert all(np.array_equal(*pair) for pair in parts)
    assert np.concatenate([one for one, _ in parts]).tolist() == values.tolist()
    with pytest.raises(InputError) as error:
        list(pair_rows(cut(3), iter([losses(values[:9])])))
    assert error.value.code == "other-rows"


@pytest.fixture
def table():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 3))
    kinds = np.where(X @ [1, 2, 0] + random.normal(size=400) > 0, "yes", "no")
    return [
        dict(zip("abc", row, strict=True)) | {"kind": kind}
        for row, kind in zip(X.tolist(), kinds.tolist(), strict=True)
    ]


def test_a_better_model_is_found(tmp_path, table):
    import pyarrow
    from pyarrow import csv

    csv.write_csv(pyarrow.Table.from_pylist(table), tmp_path / "in.csv")
    request = Request(parameters={"calibrate": True})
    good, bad = (train(read(table, label="kind", ignore=ignore), request) for ignore in ("c", "b"))
    files = [open_like(model, str(tmp_path / "in.csv"), labels=True) for model in (good, bad)]
    found = compare(tuple(make_learner(model, "model") for model in (good, bad)), tuple(files))
    assert found.rows == 400
    assert found.names == ["error", "log loss"]
    assert found.better[0] > found.better[1]
    assert found.p_value < 0.01
    assert found.verdict(("A", "B")).startswith(
        "A is better, and that is hardly chance (p < 0.0001"
    )
    one = found.differences()["log loss"]
    assert 0 < one.low < one.difference < one.high
    same = compare(
        (make_learner(good, "a"),) * 2,
        (files[0], open_like(good, str(tmp_path / "in.csv"), labels=True)),
    )
    assert same.verdict() == "Neither is better: both have the same error."
    assert same.as_dict()["p_value"] == 1.0
