"""fastText's files: labels and texts in lines."""

import io

import numpy as np
import pytest

from rosenblatt.jobs.files import train
from rosenblatt.jobs.predictions import Contents, mark_label, predict_rows
from rosenblatt.learners.kinds import make_learner
from rosenblatt.reading.reader import read as read_as_usual
from rosenblatt.reading.records import read_records
from rosenblatt.training.plan import Request

from .samples import notices, read, refused, whole

SINGLE = "__label__good a fine film\n__label__bad a dull film\n" * 20
SETS = "__label__a __label__b one\n__label__a two\nthree __label__c words __label__a\nnone\n"


def test_one_label_of_each_line_is_a_class(write):
    reader = read(write("train.txt", SINGLE))
    labels, _, rows = whole(reader)
    assert (reader.format, reader.columns, reader.multilabel) == (
        "fasttext",
        [("text", "text")],
        False,
    )
    assert labels == ["good", "bad"] * 20
    table = "label,text\n" + "good,a fine film\nbad,a dull film\n" * 20
    assert rows == whole(read(write("t.csv", table), text="text"))[2]
    assert notices(reader) == []


@pytest.mark.parametrize("batch_bytes", [1, 30, 1000])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n  \n"])
def test_labels_may_be_several_and_stand_anywhere(write, end, batch_bytes):
    text = "\ufeff" + SETS.replace("\n", end)
    reader = read(write("train", text), batch_bytes=batch_bytes)
    labels, _, rows = whole(reader)
    assert labels == [("a", "b"), ("a",), ("c", "a"), ()]
    assert notices(reader) == ["labels"]
    table = "label,text\na b,one\na,two\nc a,three words\n,none\n"
    options = {"text": "text", "labels_separator": " "}
    assert rows == whole(read(write("t.csv", table), **options))[2]


def test_a_model_reads_lines_without_labels(write):
    features = read(write("train.txt", SINGLE)).features()
    lines = io.BytesIO(b"a fine film\n\na dull one")
    reader = read(lines, format="fasttext", features=features, label=False)
    assert len(whole(reader)[2]) == 2
    unlabelled = read(write("more.txt", SINGLE + "no label\n"))
    assert len(whole(unlabelled)[2]) == 40
    assert notices(unlabelled) == ["label-missing"]


def test_lines_that_do_not_fit_are_told(write):
    path = write("t.txt", SINGLE * 2000 + "__label__a __label__b both\n")
    with refused("several-labels", line=80_001, column=1):
        whole(read(path))
    assert not read(path, skip_bad=1).multilabel
    with refused("encoding", line=41, column=1):
        whole(read(write("t.txt", SINGLE.encode() + b"__label__good \xff\n")))
    latin = write("l.txt", (SINGLE + "__label__good sch\u00f6n\n").encode("latin-1"))
    assert len(whole(read(latin, encoding="latin-1"))[0]) == 41
    for stated in (True, False):
        with refused("option-of-format"):
            read(write("t.txt", SINGLE), header=stated)


def test_numbers_are_learnt_where_that_is_stated(write):
    path = write("t.txt", "".join(f"__label__{k / 4} w{k % 5}\n" for k in range(90)))
    assert not read(path).has_numbers
    reader = read(path, numbers=True)
    assert (reader.has_numbers, whole(reader)[0][:3]) == (True, [0, 0.25, 0.5])


@pytest.mark.parametrize(("text", "labels"), [(SINGLE, ["good", "bad"]), (SETS, ["a b", "a"])])
def test_records_have_the_labels_and_the_text(write, text, labels):
    rows = [*read_records(read_as_usual(write("train.txt", text)))]
    assert [row["label"] for row in rows][:2] == labels
    assert rows[0]["text"] in ("a fine film", "one")


@pytest.mark.parametrize("text", [SINGLE, SETS * 20])
def test_a_model_writes_what_it_can_read(write, text):
    path = write("train.txt", text)
    model = train(read_as_usual(path), Request(parameters={"max_iter": 20}))
    learner, rows = make_learner(model, path), [*read_records(read_as_usual(path))]

    def predict(**contents):
        how = {"features": model.features["recipe"], "label": False}
        return b"".join(predict_rows(learner, read(path, **how), Contents("fasttext", **contents)))

    assert len(predict().splitlines()) == len(rows)
    again = read(io.BytesIO(predict(append=True)), label="label")
    assert again.format == "fasttext"
    assert [row["text"] for row in read_records(again)] == [row["text"] for row in rows]
    found, wanted = whole(again)[0], whole(read(path))[0]
    assert np.mean([{*a} == {*b} for a, b in zip(found, wanted, strict=True)]) > 0.9


def test_a_label_with_a_blank_is_not_written():
    assert mark_label("fine") == "__label__fine"
    with refused("label-blank"):
        mark_label("very fine")
