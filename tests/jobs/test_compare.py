"""Two models on the same rows: exact tests."""

import numpy as np
import pytest
from scipy.stats import binom, ttest_rel

from rosenblatt.data.results import Result
from rosenblatt.jobs.compare import Comparison, compare
from rosenblatt.jobs.data import open_like
from rosenblatt.jobs.files import train
from rosenblatt.learners.kinds import make_learner
from rosenblatt.parameters import InputError
from rosenblatt.reading.reader import read
from rosenblatt.training.plan import Request


class Nothing(Result):
    def headline(self):
        return ""

    def figures(self):
        return {}

    counts = figures


def of(first, second):
    return Comparison((Nothing(), Nothing()), (np.asarray(first), np.asarray(second)))


@pytest.mark.parametrize(("one", "other"), [(0, 0), (3, 12), (12, 3), (1, 0), (40, 60)])
def test_the_test_of_mcnemar_is_exact(one, other):
    wrong = np.repeat([[0, 1], [1, 0], [1, 1], [0, 0]], [one, other, 5, 9], axis=0).astype(bool)
    found = of(*wrong.T)
    assert found.better == (one, other)
    few, total = min(one, other), one + other
    expected = min(1.0, 2 * binom.cdf(few, total, 0.5)) if total else 1.0
    assert found["p_value"] == pytest.approx(expected)


def test_numbers_are_tested_by_the_errors_that_are_compared():
    """The second model is nearer on 4 of 300 rows, and its mean error is smaller by chance."""
    near = np.repeat([0.5, 300.0], [296, 4])
    for sizes, better in ((near, "B has the lower MAE, but that"), (near[:296], "A is better")):
        assert of(sizes, sizes * 0 + 0.6).verdict(("A", "B")).startswith(better)
    first, second = np.random.default_rng(0).random((2, 50)) + np.array([[0.0], [0.1]])
    found = of(first, second).difference
    assert found.p_value == pytest.approx(ttest_rel(first, second).pvalue)
    assert found[1:3] == pytest.approx(ttest_rel(second, first).confidence_interval())


@pytest.mark.parametrize(("rows", "p_value"), [(1, 1.0), (2, 0.5), (5, 0.0625)])
def test_few_rows_prove_little(rows, p_value):
    assert of(np.zeros(rows), np.ones(rows)).as_dict()["p_value"] == p_value


def test_models_of_other_rows_or_labels_are_refused():
    rows = [{"a": k, "kind": "yes" if k % 3 else "no", "other": "yes"} for k in range(30)]
    rows[0]["other"], rows[1]["other"] = "no", ""
    learners, files = [], []
    for label, data in (("kind", rows), ("other", rows), ("other", [*rows[2:], rows[0]] * 2)):
        model = train(read(data, label=label), Request(tune=False))
        learners.append(make_learner(model, "m"))
        files.append(read(data, features=model.features["recipe"]))
    for second, code in ((1, "other-rows"), (2, "other-rows")):
        with pytest.raises(InputError) as error:
            compare((learners[0], learners[second]), (files[0], files[second]))
        assert error.value.code == code
    with pytest.raises(InputError) as error:
        compare((learners[1], learners[1]), (files[1], rows_like(files[1], rows)))
    assert error.value.code == "other-rows"


def rows_like(reader, rows):
    turned = [{**row, "other": "no" if k > 3 else row["other"]} for k, row in enumerate(rows)]
    return read(turned, features=reader.features())


def test_a_better_model_is_found(tmp_path, table):
    import pyarrow
    from pyarrow import csv

    csv.write_csv(pyarrow.Table.from_pylist(table), tmp_path / "in.csv")
    request = Request(parameters={"calibrate": True})
    good, bad = (train(read(table, label="kind", ignore=ignore), request) for ignore in ("c", "b"))
    files = [open_like(model, str(tmp_path / "in.csv"), labels=True) for model in (good, bad)]
    found = compare(tuple(make_learner(model, "model") for model in (good, bad)), tuple(files))
    assert found.rows == 203
    assert [row[0] for row in found.tables()[0].rows][:2] == ["error", "log loss"]
    assert found.better[0] > found.better[1]
    assert found["p_value"] < 0.01
    assert found.verdict(("A", "B")).startswith(
        "A is better, and that is hardly chance (p < 0.0001"
    )
    assert 0 < found.difference.low < found["difference"] < found.difference.high
    same = compare(
        (make_learner(good, "a"),) * 2,
        (files[0], open_like(good, str(tmp_path / "in.csv"), labels=True)),
    )
    assert same.verdict() == "Neither is better: both have the same error."
    assert same.as_dict()["p_value"] == 1.0
