"""svmlight and Vowpal Wabbit lines."""

import io
import itertools

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from rosenblatt.reading.batches import join_batches

from ..reference import hash_bytes
from .samples import SVMLIGHT, TINY, VW, compressed, notices, read, refused, whole


@pytest.mark.parametrize("how", ["", ".gz", ".zst"])
def test_svmlight_is_read_as_by_scikit_learn(write, how):
    reader = read(write("data.svm" + how, compressed(SVMLIGHT, how)))
    labels, weights, rows = whole(reader)
    X, y = load_svmlight_file(io.BytesIO(SVMLIGHT), dtype=np.float32)
    assert labels == y.tolist()
    assert weights == []
    pairs = list(zip(X.indices.tolist(), X.data.tolist(), strict=True))
    assert rows == [pairs[i:j] for i, j in itertools.pairwise(X.indptr)]
    assert notices(reader) == ["queries"]
    assert (reader.format, reader.hashed, reader.bits, reader.bad) == ("svmlight", False, None, 0)
    assert whole(reader) == (labels, weights, rows)


def test_words_that_a_line_repeats_are_added_up():
    text, once = b"1 | the the:2 the cat\n-1 | a\n", b"1 | the:4 cat\n-1 | a\n"
    (batch,), (other,) = (read(io.BytesIO(each), format="vw") for each in (text, once))
    assert [each.tolist() for each in batch.rows] == [each.tolist() for each in other.rows]


# Several labels of a row, or none.


SETS = b"1,4,7 1:1 2:2\n 3:1\n2 # nothing else\n-1,2 qid:3 4:1\n\n3,3 5:1\n"


@pytest.mark.parametrize("batch_bytes", [1, 20, 1 << 20])
@pytest.mark.parametrize("threads", [1, 2])
def test_rows_of_several_labels_are_read_as_by_scikit_learn(write, batch_bytes, threads):
    X, sets = load_svmlight_file(io.BytesIO(SETS), multilabel=True)
    reader = read(write("sets", SETS), batch_bytes=batch_bytes, threads=threads, scale="none")
    assert (reader.format, reader.multilabel) == ("svmlight", True)
    batch = join_batches(list(reader))
    assert list(batch.y) == [tuple(labels) for labels in sets]
    np.testing.assert_array_equal(batch.X.toarray(), X.toarray())
    assert notices(reader) == ["labels", "queries"]
    assert reader.features()["labels_separator"] == ","


def test_several_labels_are_asked_for_or_found():
    late = io.BytesIO(b"1 1:1\n" * 200_000 + b"1,2 1:1\n")
    with refused("several-labels", line=200_001, column=2):
        list(read(late, format="svm"))
    late.seek(0)
    *_, batch = read(late, format="svm", labels_separator=",")
    assert list(batch.y)[-2:] == [(1,), (1, 2)]
    with refused("separator-of-format"):
        read(io.BytesIO(SETS), format="svm", labels_separator=";")
    with refused("out-of-range"):
        read(io.BytesIO(SETS), format="svm", labels_separator="")


def test_rows_of_vowpal_wabbit_may_have_several_labels(write):
    text = b"1,4,7 'x |a b\n|a c\n2 3 |a d\n"
    reader = read(write("sets", text))
    assert (reader.format, reader.multilabel, notices(reader)) == ("vw", True, ["labels"])
    (batch,) = reader
    assert (list(batch.y), batch.weights.tolist()) == ([(1, 4, 7), (), (2,)], [1, 1, 3])
    with pytest.raises(ValueError, match=r"column 1: there are several labels; use labels_sep"):
        list(read(io.BytesIO(b"1 |a b\n" * 200_000 + b"1,2 |a b\n"), format="vw"))
    (batch,) = read(write("one", b"1 |a b\n"), features=reader.features())
    assert list(batch.y) == [(1,)]


def test_a_long_number_among_several_labels_is_told():
    text = b"1,2 1:1\n\n3,9007199254740993,4 1:1\n5,6 1:1\n"
    with refused("label-too-large", line=3, column=1):
        list(read(io.BytesIO(text), format="svm"))


def test_a_model_reads_rows_of_several_labels_without_them():
    recipe = read(io.BytesIO(SETS), format="svm", scale="none").features()
    plain = io.BytesIO(b"1:1 2:2\n1,9 3:1\n")
    (batch,) = read(plain, format="svm", features=recipe, label=False)
    assert batch.labels is None
    assert batch.X.toarray().tolist() == [[1, 2, 0], [0, 0, 1]]


@pytest.mark.parametrize("how", ["", ".gz", ".zst"])
def test_vowpal_wabbit_is_read_as_naively(write, how):
    reader = read(write("data.vw" + how, compressed(VW, how)), names=10)
    space_a, space_b = hash_bytes(b"a"), hash_bytes(b"b")
    mask = 2**18 - 1
    xs = [hash_bytes(b"x%d" % (i % 7), space_a) & mask for i in range(200)]
    y = hash_bytes(b"y", space_a) & mask
    rows = [[(x, 0.5), (y, 1), (space_b + i & mask, 1)] for i, x in enumerate(xs)]
    assert whole(reader) == ([i % 2 for i in range(200)], [2] * 200, rows)
    assert reader.names[hash_bytes(b"x0", space_a) & mask] == "a^x0"
    assert reader.names[space_b & mask] == "b^0"
    assert len(reader.names) == 10
    assert reader.hashed


def test_the_first_index_is_found_out_or_stated():
    def columns(text, **options):
        _, _, rows = whole(read(io.BytesIO(text), format="svm", **options))
        return [[i for i, _ in row] for row in rows]

    assert columns(b"1 1:1 2:1\n1\n") == [[0, 1], []]
    assert columns(b"1 1:1 2:1\n1 0:1\n") == [[1, 2], [0]]
    assert columns(b"1 1:1 # 0:1\n") == [[0]]
    assert columns(b"1 1:1\n", first=0) == [[1]]


def test_large_labels_of_lines_are_told():
    for kind, line in ("svmlight", b" 1:1\n"), ("vw", b" |a b\n"):
        text = b"# first\n" * (kind == "svmlight") + b"1" + line + b"-%d" % 2**60 + line
        with refused("label-too-large", line=text.count(10), column=1):
            list(read(io.BytesIO(text), format=kind))
        assert len(whole(read(io.BytesIO(text), format=kind, label=False))[2]) == 2


def test_svmlight_without_labels_is_read_when_none_is_wanted():
    text = b"1:1 3:2\n5 2:1\nqid:4 1:3 # why\n0.5 qid:4 2:2\n1\n"
    labels, _, rows = whole(read(io.BytesIO(text), format="svm", label=False))
    assert labels == [None] * 5
    assert rows == [[(0, 1), (2, 2)], [(1, 1)], [(0, 3)], [(1, 2)], []]
    with refused("label", line=1, column=2):
        list(read(io.BytesIO(text), format="svm"))
    with refused("feature", line=1, column=2):
        list(read(io.BytesIO(b"1.5:1\n"), format="svm", label=False))


@pytest.mark.parametrize("name", ["data.svm", "data.vw"])
def test_a_mark_of_utf8_before_lines_is_passed_over(write, name):
    expected = whole(read(write(name, TINY[name])))
    assert whole(read(write("marked-" + name, b"\xef\xbb\xbf" + TINY[name]))) == expected
