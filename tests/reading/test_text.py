"""Text becomes weighed n-grams: which columns, which n-grams, and what they weigh."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer

from rosenblatt.reading.batches import join_batches
from rosenblatt.reading.reader import read, read_whole
from rosenblatt.reading.statistics import TextSurvey

from ..reference import inverse_document_frequency, weighed
from .samples import piped, whole

RANDOM = np.random.default_rng(0)
LEXICON = ["spam", "offer", "win", "meeting", "lunch", "the", "report", "free", "see", "tomorrow"]
TEXTS = [" ".join(RANDOM.choice(LEXICON, RANDOM.integers(6, 20))) for _ in range(60)]
MAILS = pd.DataFrame({"body": TEXTS, "subject": [text[:14] for text in TEXTS], "y": [0, 1] * 30})


def view_rows(frame, **options):
    return [dict(row) for row in whole(read(frame, label="y", **options))[2]]


@pytest.mark.parametrize("counts", ["raw", "binary", "sublinear"])
@pytest.mark.parametrize("tfidf", [True, False])
@pytest.mark.parametrize("characters", [False, True])
def test_texts_are_weighed_as_by_the_twin_and_scikit_learn(counts, tfidf, characters):
    options = {"text": "body", "ignore": "subject", "bits": 12, "characters": characters}
    plain = view_rows(MAILS, **options, counts="raw", tfidf=False)
    raw = [{j: round(v / min(row.values())) for j, v in row.items()} for row in plain]  # some is 1
    weights = [inverse_document_frequency(raw, j) for j in range(2**12)] if tfidf else ()
    found = view_rows(MAILS, **options, counts=counts, tfidf=tfidf)
    for row, text in zip(found, raw, strict=True):
        assert row == pytest.approx(weighed(text, counts, weights), rel=1e-5)
    ends = np.cumsum([0] + [len(row) for row in raw])
    indices = [j for row in raw for j in row]
    values = [1 if counts == "binary" else v for row in raw for v in row.values()]
    matrix = csr_array((np.array(values, float), indices, ends), (60, 2**12))
    theirs = TfidfTransformer(use_idf=tfidf, sublinear_tf=counts == "sublinear")
    expected = theirs.fit_transform(matrix).toarray()
    for row, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(list(row.values()), wanted[list(row)], rtol=1e-5)


def test_weights_are_kept_and_do_not_depend_on_batches(write):
    path = write("mails.csv", MAILS.to_csv(index=False))
    options = {"text": "body", "bits": 12}
    reader = read(path, **options)
    rows = whole(reader)
    features = json.loads(json.dumps(reader.features()))
    assert features["frequencies"]["rows"] == 60
    for size in 1, 300:
        assert whole(read(path, **options, batch_bytes=size)) == rows
    assert whole(read(write("mails.parquet", MAILS), **options)) == rows
    assert whole(read(path, features=features)) == rows
    few = io.BytesIO(MAILS[:3].to_csv(index=False).encode())
    assert whole(read(few, features=features))[2] == rows[2][:3]
    broken = features | {"frequencies": {"rows": 60, "counts": ""}}
    with pytest.raises(ValueError, match="features is not what"):
        read(path, features=broken)


@pytest.mark.parametrize("counts", ["raw", "binary", "sublinear"])
def test_one_text_is_read_once_and_weighed_bit_for_bit_as_if_read_twice(write, monkeypatch, counts):
    path = write("mails.csv", MAILS[["body", "y"]].to_csv(index=False))
    options = {"text": "body", "bits": 12, "counts": counts, "names": 1000}
    twice = read(path, **options)
    expected = join_batches(list(twice))
    once = read(path, **options)
    assert once.one_pass_statistics
    monkeypatch.setattr(TextSurvey, "batches", lambda self: pytest.fail("read twice"))
    found = read_whole(once)
    for one, other in zip(found.rows, expected.rows, strict=True):
        np.testing.assert_array_equal(one, other)
    assert once.features() == twice.features()
    assert dict(once.names) == dict(twice.names)
    assert "body=spam" in once.names.values()
    both = read(write("both.csv", MAILS.to_csv(index=False)), text=["body", "subject"])
    assert not both.one_pass_statistics  # each text has its own length


def test_a_pipe_has_no_weights_of_all_rows():
    data = MAILS.to_csv(index=False).encode()
    for tfidf in None, True:
        with piped(data) as pipe:
            reader = read(pipe, format="csv", text="body", tfidf=tfidf)
            if tfidf:
                with pytest.raises(ValueError, match="read only once, but tfidf=True needs"):
                    list(reader)
            else:
                rows = whole(reader)[2]
                assert rows == whole(read(io.BytesIO(data), text="body", tfidf=False))[2]


def test_columns_have_n_grams_of_their_own():
    reader = read(MAILS, label="y", text=["body:1", "subject:c2-3"], names=9999)
    whole(reader)
    names = {*reader.names.values()}
    assert {"body=spam", "subject=sp"} <= names
    assert not any(" " in name for name in names if name.startswith("body"))
    assert {len(name) for name in names if name.startswith("subject")} == {10, 11}
    assert reader.features()["grams"] == {"body": [1, 1, False], "subject": [2, 3, True]}
    odd = MAILS.rename(columns={"body": "body:1"})  # a name comes first
    assert read(odd, label="y", text=["body:1"]).features()["grams"] == {}
    with pytest.raises(ValueError, match=r"ngrams must be two whole numbers"):
        read(MAILS, label="y", text=["body:3-2"])
    with pytest.raises(ValueError, match="has no column 'head'"):
        read(MAILS, label="y", text=["head:1"])


def test_words_come_with_their_pairs_and_characters_in_threes():
    reader = read(MAILS, label="y", text="body", ignore="subject", names=9999)
    whole(reader)
    assert {name.count(" ") for name in reader.names.values()} == {0, 1}
    reader = read(MAILS, label="y", text="body", ignore="subject", characters=True, names=9999)
    whole(reader)
    assert {len(name) - len("body=") for name in reader.names.values()} == {2, 3, 4}


@pytest.mark.parametrize("kind", ["csv", "parquet", "dicts"])
def test_texts_are_told_by_their_looks(write, kind):
    frame = pd.DataFrame(
        {
            "text": TEXTS,
            "name": [f"Person {k}" for k in range(60)],
            "code": [f"P{k}" for k in range(60)],
            "title": [f"minister {k % 12} party{k % 5}" for k in range(60)],
            "town": ["New York City", "Paris"] * 30,
            "sentence": ["one of a few long sentences", "another of these sentences"] * 30,
            "y": [0, 1] * 30,
        }
    )
    data = {"csv": frame.to_csv(index=False), "parquet": frame, "dicts": frame.to_dict("records")}
    source = data[kind] if kind == "dicts" else write("t." + kind, data[kind])
    reader = read(source)
    kinds = {"text": "text", "name": "category", "code": "category", "title": "text"}
    assert dict(reader.columns) == kinds | {"town": "category", "sentence": "category"}
    codes = [notice.code for notice in reader.notices]
    assert codes == ["text", "words-short", "words-short", "text"]
    assert str(reader.notices[0]) == (
        "The column 'text' is taken as text: most cells differ and have several words."
    )
    other = read(source, category=["text", "title"], ignore=["name", "code"])
    assert {found for _, found in other.columns} == {"category"}
    assert not other.notices
    stated = read(source, text=["text", "title"])
    assert "text" not in [notice.kind for notice in stated.notices]
    stated = read(source, text="town")
    assert sorted(stated.features()["text"]) == ["text", "title", "town"]
