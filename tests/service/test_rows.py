"""Examples become the rows that files of them become, each for itself."""

import json

import numpy as np
import pandas as pd
import pytest

import rosenblatt
from rosenblatt.data.rows import n_rows, to_dense, to_matrix
from rosenblatt.reading.batches import join_batches
from rosenblatt.service.model import ServedModel
from rosenblatt.service.requests import BadExampleError, make_texts, parse_json, parse_values
from rosenblatt.storage.file import load_model

from .conftest import examples, trained

NUMBERS = [{"a": a, "b": -a / 3, "kind": int(a > 3)} for a in range(8)]


def maker(path):
    return ServedModel(load_model(path), str(path)).maker


def dense(made):
    return to_dense(to_matrix(made.rows, n_rows(made.rows), made.width))


@pytest.mark.parametrize("options", [{}, {"pairs": True}, {"scale": "none"}])
def test_rows_are_those_of_features(tmp_path, options):
    path = trained(tmp_path / "m.safetensors", **options)
    rows = examples(20, seed=3)
    made = maker(path).make(rows, labelled=True)
    wanted = rosenblatt.load(path)[0].transform(rows)
    np.testing.assert_array_equal(dense(made), to_dense(wanted))
    assert made.labels.tolist() == [row["kind"] for row in rows]


def test_numbers_to_learn_may_be_written_as_in_training(tmp_path):
    rows = [{"size": size, "price": f"${1_234 * size:,}"} for size in range(1, 60)]
    path = trained(tmp_path / "m.safetensors", rows, label="price", text=(), bits=None)
    price = [{"size": 3, "price": price} for price in ("$1,500", "1500", 1500, "$ 1,500.0")]
    assert maker(path).make(price, labelled=True).labels.tolist() == [1500] * 4
    with pytest.raises(BadExampleError, match="'€1,500' is not a number"):
        maker(path).make([{"size": 3, "price": "€1,500"}], labelled=True)


def test_a_row_does_not_depend_on_those_that_come_with_it(tmp_path):
    odd = [
        {"size": 2**60 + 1, "colour": 3, "note": True, "kind": "big"},
        {"size": 0.1, "colour": "red", "note": None, "kind": "big"},
        {"size": "1e-3", "colour": 2.5, "kind": "small"},
        {"size": None, "colour": None, "note": 7, "kind": "small"},
        {"size": True, "colour": False, "note": "x", "kind": "small"},
    ]
    for path in (
        trained(tmp_path / "m.safetensors"),
        trained(tmp_path / "n.safetensors", NUMBERS, text=(), bits=None),
    ):
        make = maker(path).make
        rows = odd if "m." in path.name else [{"a": one["size"], "kind": 1} for one in odd]
        whole, alone = make(rows, True), join_batches([make([row], True) for row in rows])
        np.testing.assert_array_equal(dense(whole), dense(alone))
        assert whole.labels.tolist() == alone.labels.tolist()


@pytest.mark.parametrize(
    ("row", "column", "sentence"),
    [
        ({"size": "tall", "kind": "big"}, "size", "'tall' is not a number"),
        ({"size": [1], "kind": "big"}, "size", "neither a word nor a number"),
        ({"size": {"a": 1}, "kind": "big"}, "size", "neither a word nor a number"),
        ({"size": 1e39, "kind": "big"}, "size", "too large"),
        ({"size": "inf", "kind": "big"}, "size", "too large"),
        ({"size": 10**400, "kind": "big"}, "size", "too large"),
        ({"colour": ["red"], "kind": "big"}, "colour", "neither a word"),
        ({"colour": json.loads('"\\ud800"'), "kind": "big"}, "colour", "half a character"),
        ({"size": 1}, "kind", "label is missing"),
        ({"size": 1, "kind": " "}, "kind", "label is missing"),
        ({"size": 1, "kind": ["big"]}, "kind", "neither a word"),
        ({"sise": 1, "kind": "big"}, None, "none of the model's columns"),
    ],
)
def test_what_cannot_be_used_is_named_with_row_and_column(tmp_path, row, column, sentence):
    make = maker(trained(tmp_path / "m.safetensors")).make
    with pytest.raises(BadExampleError, match=sentence) as error:
        make([*examples(2), row], labelled=True)
    assert (error.value.row, error.value.column) == (3, column)


ODD = [
    '{"a": 1, "a": 2, "kind": 1}', '{"a": NaN, "kind": 1}', '{"a": 1, "x": NaN, "kind": 1}',
    '{"a": Infinity, "kind": 1}', '{"a": 01, "kind": 1}', '{"a": 1e400, "kind": 1}',
    '{"a": 1e39, "kind": 1}', '{"a": -0, "b": -0.0, "kind": 1}',
    '{"a": 123456789012345678901234567890, "kind": 1}', '{"a": "3", "kind": 1}',
    '{"a": true, "kind": 1}', '{"a": null, "kind": 1}', '{"a": 1, "b": 2}', '{"kind": 1}',
    '{"a": 1, "kind": "1"}', '{"a": 1, "kind": 1.5}', '{"a": 1, "x": [1, 2], "kind": 0}',
    '{"a": 1, "x": {"a": 2}, "kind": 0}', '{"a": 1, "x": "}, {", "kind": 0}',
    '{"a": 1, "x": "\\u0061\\"", "kind": 0}', '{"a": 1, "x": "\t", "kind": 0}',
    '{"a": 1,, "kind": 0}', '{"a": 4.35, "b": 1E+5, "kind": 0}', '{"a": 1} {"a": 2}',
]  # fmt: skip


@pytest.mark.parametrize("odd", ODD)
def test_what_the_log_keeps_makes_the_same_rows(tmp_path, odd):
    """A request and its replay give the same numbers, or both are refused."""
    made = maker(trained(tmp_path / "m", NUMBERS, text=(), bits=None))
    try:
        values = parse_values(odd.encode(), "application/json", 10)
        live = made.make(values, labelled=True)
    except BadExampleError:
        return
    at_once = made.decode(odd.encode(), labelled=True)
    replayed = made.make([*map(parse_json, make_texts(values))], labelled=True)
    for one in [replayed] + ([] if at_once is None else [at_once]):
        assert one.labels.tolist() == live.labels.tolist()
        assert one.rows.values.tobytes() == live.rows.values.tobytes()


@pytest.mark.parametrize(
    "rows", [NUMBERS, [{"a": row["a"], "kind": row["kind"]} for row in NUMBERS]]
)
@pytest.mark.parametrize("odd", [[1], [1, 2], {"b": 1}, []])
def test_a_list_is_not_a_number(tmp_path, rows, odd):
    made = maker(trained(tmp_path / "m", rows, text=(), bits=None))
    names = [name for name in rows[0] if name != "kind"]
    with pytest.raises(BadExampleError, match="neither a word nor a number"):
        made.make([dict.fromkeys(names, odd) | {"kind": 1}], labelled=True)


def test_dates_are_those_of_features(tmp_path):
    days = ["2024-02-29", "2023-12-31", "2024-07-01", "1999-01-05"]
    rows = [{"when": day, "kind": k % 2} for k, day in enumerate(days)]
    path = trained(tmp_path / "m.safetensors", rows, text=())
    make = maker(path).make
    np.testing.assert_array_equal(
        dense(make(rows, True)), to_dense(rosenblatt.load(path)[0].transform(rows))
    )
    odd = [*rows, {"when": "2024-05-05T10:00:00Z", "kind": 1}, {"when": None, "kind": 1}]
    alone = join_batches([make([row], True) for row in odd])
    np.testing.assert_array_equal(dense(make(odd, True)), dense(alone))
    with pytest.raises(BadExampleError, match="'soon' is not a date") as error:
        make([*rows, {"when": "soon", "kind": 1}], labelled=True)
    assert (error.value.row, error.value.column) == (5, "when")


def test_models_of_lines_are_not_served(tmp_path):
    (tmp_path / "data.svm").write_text("".join(f"{k % 2} 1:{k}\n" for k in range(10)))
    rosenblatt.save(rosenblatt.train(tmp_path / "data.svm"), tmp_path / "m")
    with pytest.raises(ValueError, match="trained from lines of svmlight"):
        maker(tmp_path / "m")


def test_labels_of_numbers_are_numbers(tmp_path):
    rows = [{"a": k, "b": k % 3, "y": 2.5 * k} for k in range(30)]
    path = trained(tmp_path / "m", rows, label="y", text=(), bits=None, numbers=True)
    make = maker(path).make
    assert make([{"a": 1, "y": 1e37}], labelled=True).labels.tolist() == [1e37]
    for value, sentence in (True, "true or false"), (None, "is missing"), (1e39, "too large"):
        with pytest.raises(BadExampleError, match=sentence):
            make([{"a": 1, "y": value}], labelled=True)


DOORS = {
    "size": ["3", " 4.5 ", "NA", "true", "-0", "1e2", ""],
    "price": ["$1,234.50", "$7", "7", "", "$1,000", " $2 ", "n/a"],
    "colour": [" red", "blue ", "", "NA", "True", "3.0", "3"],
    "day": ["2024-02-29", "2023-12-31 ", "", "1999-01-05", "NA", "2024-07-01", "2000-01-01"],
}


def test_all_doors_make_the_rows_of_the_file(tmp_path):
    """A file, a frame, dicts and requests: the same cells are the same rows."""
    lines = [
        f'{k},"${1000 + k:,}",{["red", "blue"][k % 2]},2024-01-{k % 28 + 1},{k % 2}\n'
        for k in range(60)
    ]
    (tmp_path / "train.csv").write_text("size,price,colour,day,kind\n" + "".join(lines))
    with pytest.warns(UserWarning, match="is taken as"):
        model = rosenblatt.train(tmp_path / "train.csv", bits=14)
    rosenblatt.save(model, tmp_path / "m")
    frame = pd.DataFrame(DOORS)
    frame.to_csv(tmp_path / "new.csv", index=False)
    frame.to_json(tmp_path / "new.jsonl", orient="records", lines=True)
    frame.to_parquet(tmp_path / "new.parquet")
    features, rows = rosenblatt.load(tmp_path / "m")[0], frame.to_dict("records")
    wanted = to_dense(features.transform(tmp_path / "new.csv"))
    assert len({*map(bytes, wanted)}) > 4
    for name, data in {
        "JSON lines": tmp_path / "new.jsonl",
        "Parquet": tmp_path / "new.parquet",
        "frame": frame,
        "dicts": rows,
    }.items():
        np.testing.assert_array_equal(to_dense(features.transform(data)), wanted, name)
    make = maker(tmp_path / "m").make
    np.testing.assert_array_equal(dense(make(rows, False)), wanted)
    alone = join_batches([make([row], False) for row in rows])
    np.testing.assert_array_equal(dense(alone), wanted)
