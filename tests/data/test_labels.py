"""Labels become numbers, rows and classes get weights, and some rows are held out."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import array_shapes, arrays, integer_dtypes
from sklearn.preprocessing import MultiLabelBinarizer

from rosenblatt.data.labels import (
    LabelSets,
    UnknownLabelError,
    as_words,
    class_weights,
    codes_of,
    encode,
    has_class,
    held_out,
    in_sequence,
    known_classes,
    met_classes,
    refuse_one_class,
    row_weights,
    rows_that_count,
    split,
    tidy,
)
from rosenblatt.parameters import ParameterError

labels = arrays(
    integer_dtypes(endianness="=") | st.sampled_from([np.dtype("U3"), np.dtype(bool)]),
    array_shapes(min_dims=1, max_dims=1, max_side=20),
)


@given(y=labels)
def test_labels_are_numbered_as_numpy_does(y):
    classes, codes = encode(y)
    np.testing.assert_array_equal(classes, np.unique(y))
    np.testing.assert_array_equal(classes[codes], y)
    assert classes.dtype == y.dtype


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int64])
def test_labels_far_apart_for_their_type_are_numbered(dtype):
    classes, codes = encode(np.array([100, -100, 100], dtype))
    assert (classes.tolist(), codes.tolist()) == ([-100, 100], [1, 0, 1])


def test_labels_are_looked_up_among_the_classes():
    classes = np.array(["a", "b", "d"])
    assert codes_of(np.array(["d", "a"]), classes).tolist() == [2, 0]
    sentence = r"^part 3: Row 8 has the label 'c', which is not among the classes \['a', 'b', 'd'\]"
    with pytest.raises(UnknownLabelError, match=sentence):
        codes_of(np.array(["a", "c", "e"]), classes, first_row=7, where="part 3: ")


def test_of_many_classes_some_are_listed():
    with pytest.raises(UnknownLabelError, match=r"the classes \[0, 1, .*, 19, '…'\];"):
        codes_of(np.array([-1]), np.arange(1000))


def test_labels_of_a_file_are_whole_numbers_where_they_can_be():
    assert tidy(np.array([1.0, 2.0])).dtype == np.int64
    assert tidy(np.array([1.0, 2.5])).dtype == np.float64
    assert tidy(np.array(["x", "y"], object)).dtype.kind == "U"
    assert as_words(np.array([1.0, 2.5]), np.array([1, 2])).tolist() == ["1", "2.5"]
    assert as_words(np.array([1, 2]), np.array([1, 2])).tolist() == ["1", "2"]


@pytest.mark.parametrize(
    ("named", "dtype", "wanted"),
    [
        ([2, 0, 2], None, [0, 2]),
        (["b", "a"], None, ["a", "b"]),
        (["2", " 10"], np.float64, [2, 10]),
        (["0.5", "1"], np.float64, [0.5, 1.0]),
        (["2", "10"], np.dtype("U3"), ["10", "2"]),
        ([True, False], None, [False, True]),
    ],
)
def test_named_classes_are_sorted_and_of_the_type_of_the_labels(named, dtype, wanted):
    assert known_classes(named, dtype).tolist() == wanted


@pytest.mark.parametrize(
    ("named", "dtype", "sentence"),
    [
        ([1, 1], None, "classes must name at least two different labels"),
        ([1.0, np.nan], None, "classes contains NaN or infinity"),
        (["1", "x"], np.float64, r"classes 1, x are not all numbers below 2\^53"),
        (["1", "9007199254740993"], np.int64, "are not all numbers below"),
    ],
)
def test_unusable_classes_are_refused(named, dtype, sentence):
    with pytest.raises(ParameterError, match=sentence):
        known_classes(named, dtype)


def test_classes_that_were_met_are_two_and_not_too_many():
    assert met_classes(np.array([2.0, 1.0, 2.0])).tolist() == [1, 2]
    with pytest.raises(UnknownLabelError, match="Only the label 1 was met"):
        met_classes(np.array([1.0, 1.0]))
    with pytest.raises(ParameterError, match="1001 different numbers as labels look like no"):
        met_classes(np.arange(1001))


# Weights


SETS = LabelSets(np.array([1, 4, 7, 4, 4]), np.array([0, 3, 3, 5]))


def test_sets_of_labels_are_gone_through_cut_and_joined():
    assert list(SETS) == [(1, 4, 7), (), (4, 4)]
    assert [list(SETS[some]) for some in (slice(1), slice(1, 3), slice(2, 2))] == [
        [(1, 4, 7)],
        [(), (4, 4)],
        [],
    ]
    assert list(in_sequence([SETS[:1], SETS[1:2], SETS[2:]])) == list(SETS)
    assert MultiLabelBinarizer().fit_transform(SETS).tolist() == [[1, 1, 1], [0] * 3, [0, 1, 0]]
    has = SETS.indicator(codes_of(SETS.values, np.array([1, 4, 7])), 3)
    assert has.tolist() == [[True] * 3, [False] * 3, [False, True, False]]
    assert has_class(has, 1).tolist() == [True, False, True]


def test_a_label_of_several_that_is_not_known_is_named_with_its_row():
    with pytest.raises(UnknownLabelError, match=r"^Row 3 has the label 4, .* classes \[1, 7\]"):
        codes_of(SETS.values[[0, 2, 3]], np.array([1, 7]), 1, rows=np.array([0, 0, 2]))


def test_classes_of_sets_may_be_one_but_not_none():
    assert met_classes(np.array([3.0]), least=1).tolist() == [3]
    assert known_classes(["a"], least=1).tolist() == ["a"]
    with pytest.raises(UnknownLabelError, match="No row has a label; name all labels with classes"):
        met_classes(np.array([]), least=1)


def test_weights_of_rows_and_classes_are_multiplied():
    codes = np.array([0, 1, 1])
    assert row_weights(codes, None, None) is None
    assert row_weights(codes, [1, 2, 3], None).tolist() == [1, 2, 3]
    assert row_weights(codes, None, np.array([5.0, 7.0])).tolist() == [5, 7, 7]
    assert row_weights(codes, [1, 2, 3], np.array([5.0, 7.0])).tolist() == [5, 14, 21]
    assert row_weights(codes, 2, None).tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([1, -1, 1], "sample_weight is -1.0 in row 1"),
        ([1, 1, np.nan], "sample_weight is nan in row 2"),
        ([np.inf, 1, 1], "sample_weight is inf in row 0"),
        ([1, 1], r"sample_weight has shape \(2,\); X has 3 rows"),
    ],
)
def test_unusable_weights_are_refused(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        row_weights(np.array([0, 1, 1]), given, None)


def test_weights_of_classes_go_by_label_or_by_rarity():
    classes, codes = np.array(["a", "b", "c"]), np.array([0, 0, 0, 1, 1, 2])
    assert class_weights(None, classes, codes) is None
    assert class_weights({"a": 2, "c": 3}, classes, codes).tolist() == [2, 1, 3]
    assert class_weights("balanced", classes, codes).tolist() == [6 / 9, 6 / 6, 6 / 3]
    with pytest.raises(ValueError, match="No row has the label 'b' to balance"):
        class_weights("balanced", classes, np.array([0, 2]))
    with pytest.raises(ParameterError, match=r"The classes \['c'\] are not in class_weight"):
        class_weights({"a": 1, "b": 1, "C": 1}, classes, codes)
    for unusable in ("equal", [1, 2, 3]):
        with pytest.raises(ParameterError, match="class_weight must be a dict"):
            class_weights(unusable, classes, codes)


def test_rows_without_weight_do_not_count():
    codes = np.array([0, 1, 1])
    assert rows_that_count(codes, None).tolist() == [0, 1, 2]
    counting = rows_that_count(codes, np.array([1.0, 0.0, 0.5]))
    assert counting.tolist() == [0, 2]
    assert counting.dtype == np.uint32
    refuse_one_class(codes, counting)
    with pytest.raises(ValueError, match="All sample weights are zero"):
        refuse_one_class(codes, counting[:0])
    with pytest.raises(ValueError, match="Only one class has rows of a weight above 0"):
        refuse_one_class(codes, counting[1:])


# Rows to test with


@given(cuts=st.sets(st.integers(1, 999)), seed=st.integers(0, 2**32 - 1))
def test_however_rows_are_cut_the_same_are_held_out(cuts, seed):
    whole = held_out(0, 1000, 0.3, seed)
    parts = [
        held_out(part[0], len(part), 0.3, seed) for part in np.split(range(1000), sorted(cuts))
    ]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 0.99])
def test_about_the_share_is_held_out_and_seeds_differ(share):
    held = [held_out(0, 20_000, share, seed) for seed in range(3)]
    for one in held:
        assert abs(one.mean() - share) < 0.02
    assert (held[0] != held[1]).any()
    assert (held[1] != held[2]).any()


def test_a_split_keeps_the_shares_of_the_classes():
    codes = np.arange(100) % 4
    counting = np.flatnonzero(codes < 3).astype(np.uint32)
    learnt, held = split(counting, codes, 0.2, 0)
    assert sorted([*learnt, *held]) == counting.tolist()
    assert (np.diff(learnt.astype(int)) > 0).all()
    assert np.bincount(codes[held]).tolist() == [5, 5, 5]
    with pytest.raises(ValueError, match="Rows cannot be held out"):
        split(counting[:3], codes, 0.2, 0)
