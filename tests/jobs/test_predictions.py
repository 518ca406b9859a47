"""Predictions as tables: every row once, in order, and what was read beside it."""

import csv
import io
import json

import numpy as np
import pytest

from rosenblatt.jobs.data import open_like
from rosenblatt.jobs.files import train
from rosenblatt.jobs.predictions import Contents, predict_rows
from rosenblatt.learners.kinds import make_learner
from rosenblatt.parameters import InputError
from rosenblatt.reading.reader import read
from rosenblatt.training.plan import Request


@pytest.fixture
def model():
    rows = [{"size": k, "kind": "large" if k > 5 else "small"} for k in range(12)]
    return train(read(rows, label="kind"), Request())


def predict(model, path, form="csv", **contents):
    learner, reader = make_learner(model, "model"), open_like(model, str(path), labels=False)
    return b"".join(predict_rows(learner, reader, Contents(form, **contents))).decode()


AWKWARD = [
    "size,note,kind",
    '0,"two\nlines, and ""quotes""",?',
    "",
    "11,plain,",
    "7, blanks ,large",
]


def test_the_input_is_copied_as_it_is(tmp_path, model):
    (tmp_path / "in.csv").write_text("\n".join(AWKWARD))
    found = list(csv.DictReader(io.StringIO(predict(model, tmp_path / "in.csv", append=True))))
    assert [row["predicted"] for row in found] == ["small", "large", "large"]
    assert [row["note"] for row in found] == ['two\nlines, and "quotes"', "plain", " blanks "]
    assert [row["kind"] for row in found] == ["?", "", "large"]


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_formats_hold_the_same_predictions(tmp_path, model, kind):
    import pyarrow
    from pyarrow import parquet

    path = tmp_path / f"in.{kind}"
    sizes = list(range(0, 12, 3))
    if kind == "parquet":
        parquet.write_table(pyarrow.table({"size": sizes}), path)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps({"size": size}) + "\n" for size in sizes))
    else:
        path.write_text(
            "\n".join(
                ["size\tx" if kind == "tsv" else "size,x"]
                + [f"{size}\t1" if kind == "tsv" else f"{size},1" for size in sizes]
            )
        )
    lines = predict(model, path, "jsonl", append=True, scores=True).splitlines()
    rows = [json.loads(line) for line in lines]
    assert [float(row["size"]) for row in rows] == sizes
    learner = make_learner(model, "model")
    assert {"predicted", "score_small"} <= rows[0].keys()
    assert [row["predicted"] == "small" for row in rows] == [row["score_small"] > 0 for row in rows]
    assert learner.classes.tolist() == ["large", "small"]


def test_several_files_are_one_table(tmp_path, model):
    for name, sizes in ("a", [0, 11]), ("b", [10]):
        (tmp_path / f"{name}.csv").write_text("\n".join(["size", *map(str, sizes)]))
    found = predict(model, tmp_path / "*.csv", append=True)
    assert found == "size,predicted\n0,small\n11,large\n10,large\n"


def test_a_threshold_moves_the_decision(tmp_path, model):
    (tmp_path / "in.csv").write_text("size\n" + "\n".join(map(str, range(12))))
    rows = [
        json.loads(line)
        for line in predict(model, tmp_path / "in.csv", "jsonl", scores=True).splitlines()
    ]
    scores = np.array([row["score_small"] for row in rows])
    middle = float(np.sort(scores)[3])
    moved = predict(model, tmp_path / "in.csv", "jsonl", threshold=middle).splitlines()
    assert [json.loads(line)["predicted"] == "small" for line in moved] == (
        scores > middle
    ).tolist()


def test_a_name_that_the_input_has_is_refused(tmp_path, model):
    (tmp_path / "in.csv").write_text("size,predicted\n1,small\n")
    with pytest.raises(InputError) as error:
        predict(model, tmp_path / "in.csv", append=True)
    assert error.value.code == "column-twice"


def test_rows_without_cells_are_not_copied(tmp_path):
    (tmp_path / "in.svm").write_text("1 1:2\n0 1:-2\n")
    sparse = train(read(tmp_path / "in.svm"), Request())
    with pytest.raises(InputError) as error:
        predict(sparse, tmp_path / "in.svm", append=True)
    assert error.value.code == "no-cells"


def test_ids_come_first(tmp_path):
    rows = [{"who": f"n{k}", "size": k, "kind": k > 5} for k in range(12)]
    named = train(read(rows, label="kind", id="who"), Request())
    (tmp_path / "in.csv").write_text("who,size\nx,1\ny,9\n")
    assert predict(named, tmp_path / "in.csv") == "who,predicted\nx,False\ny,True\n"
    (tmp_path / "in.csv").write_text("size\n1\n9\n")
    assert predict(named, tmp_path / "in.csv") == "predicted\nFalse\nTrue\n"


def test_predicted_numbers_keep_their_digits(tmp_path):
    lines = [f"{a},{1e9 + 2 * a}" for a in np.linspace(0, 1, 50)]
    path = tmp_path / "times.csv"
    path.write_text("\n".join(["a,when", *lines]) + "\n")
    model = train(read(path, label="when", numbers=True), Request())
    found = [float(line.split(",")[0]) for line in predict(model, path).splitlines()[1:]]
    assert np.ptp(found) == pytest.approx(2, abs=0.1)


def test_numbers_of_a_table_are_numbers_in_json(tmp_path, model):
    (tmp_path / "in.csv").write_text("size,code,cost\n3,007,$1.50\n,008,$2.50\n2.5,9,$3\n")
    lines = predict(model, tmp_path / "in.csv", "jsonl", append=True).splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["size"] for row in rows] == [3, None, 2.5]
    assert [row["code"] for row in rows] == ["007", "008", "9"]
    assert [row["cost"] for row in rows] == ["$1.50", "$2.50", "$3"]
