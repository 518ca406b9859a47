"""Cross-validation: every row is held out once, and its fold is not learnt from."""

import io

import numpy as np
import pytest

from rosenblatt.data.splits import Fold
from rosenblatt.jobs.evaluate import evaluate
from rosenblatt.jobs.files import train
from rosenblatt.jobs.folds import cross_validate
from rosenblatt.jobs.job import FileJob
from rosenblatt.learners.kinds import make_learner
from rosenblatt.parameters import ParameterError
from rosenblatt.reading.reader import read
from rosenblatt.training.plan import Request


@pytest.mark.parametrize(("count", "rows"), [(2, 17), (5, 203), (7, 30)])
def test_folds_divide_all_rows_evenly_however_they_are_read(count, rows):
    flags = np.array([Fold(k, count, held_out=True, seed=3).keeps(0, rows) for k in range(count)])
    assert (flags.sum(axis=0) == 1).all()
    sizes = flags.sum(axis=1)
    assert sizes.max() - sizes.min() <= 1
    for first in (1, 8, 12):
        part = Fold(1, count, held_out=True, seed=3).keeps(first, 5)
        assert part.tolist() == flags[1, first : first + 5].tolist()
    assert (Fold(1, count, seed=3).keeps(0, rows) == ~flags[1]).all()
    other = Fold(1, count, held_out=True, seed=4).keeps(0, rows)
    assert (other != flags[1]).any()


@pytest.mark.parametrize("form", ["table", "csv", "small batches"])
def test_the_figures_are_those_of_models_without_the_fold(tmp_path, table, form):
    import pyarrow
    from pyarrow import csv

    source, options = table, {"label": "kind"}
    if form != "table":
        source = tmp_path / "in.csv"
        csv.write_csv(pyarrow.Table.from_pylist(table), source)
        options |= {"batch_bytes": 1000, "threads": 2} if form == "small batches" else {}
    job = FileJob(Request(parameters={"random_state": 0, "calibrate": True}))
    found = cross_validate(source, options, job, 5)
    assert found.score.rows == 203
    for number, one in enumerate(found.folds):
        held = Fold(number, 5, held_out=True).keeps(0, 203)
        learnt = [row for row, out in zip(table, held, strict=True) if not out]
        model = train(read(learnt, label="kind"), job.request)
        rest = [row for row, out in zip(table, held, strict=True) if out]
        expected = evaluate(make_learner(model, "m"), read(rest, features=model.features["recipe"]))
        assert one.confusion.tolist() == expected.confusion.tolist()
        assert one["log_loss"] == pytest.approx(expected["log_loss"], rel=1e-3)
    spread = found.figures()["error"]
    errors = [one["error"] for one in found.folds]
    assert spread == pytest.approx(
        (np.mean(errors), np.std(errors, ddof=1), min(errors), max(errors))
    )


def test_settings_are_tuned_without_the_fold(table):
    job = FileJob(Request(parameters={"random_state": 0}, tune=True))
    found = cross_validate(table[:60], {"label": "kind"}, job, 2)
    assert found.score.rows == 60
    assert found.as_dict()["folds"] == 2


def test_what_cannot_be_cross_validated(table):
    with pytest.raises(ParameterError) as error:
        cross_validate(table, {"label": "kind"}, FileJob(Request()), 1)
    assert error.value.code == "out-of-range"
    pipe = io.BytesIO(b"a,label\n1,no\n2,yes\n")
    pipe.seekable = lambda: False
    with pytest.raises(ParameterError) as error:
        cross_validate(pipe, {"format": "csv"}, FileJob(Request()), 2)
    assert error.value.code == "read-once"


def test_label_sets_are_cross_validated():
    rows = [{"x": k % 5 - 2, "y": k % 3 - 1, "tags": "a;b" if k % 5 > 2 else ""} for k in range(60)]
    options = {"label": "tags", "labels_separator": ";"}
    found = cross_validate(rows, options, FileJob(Request()), 3)
    assert found.score.rows == 60
    assert "micro_f1" in found.figures()


def test_a_fold_with_all_rows_of_a_class_is_named():
    rows = [{"x": k % 7, "y": k % 3, "kind": "rare" if k == 31 else "common"} for k in range(60)]
    with pytest.raises(ParameterError, match=r"^Without the rows of fold \d of 3, ") as error:
        cross_validate(rows, {"label": "kind"}, FileJob(Request()), 3)
    assert error.value.code == "one-class"
    request = Request(classes=["common", "rare"])
    assert cross_validate(rows, {"label": "kind"}, FileJob(request), 3).score.rows == 60
