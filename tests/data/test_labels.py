"""Labels become numbers."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import array_shapes, arrays, integer_dtypes
from sklearn.preprocessing import MultiLabelBinarizer

from rosenblatt.data.labels import (
    LabelSets,
    UnknownLabelError,
    as_words,
    check_classes,
    encode,
    find_classes,
    has_class,
    join_labels,
    make_labels,
    number_labels,
    tidy,
)
from rosenblatt.parameters import InputError

from ..reading.samples import refused

SHAPES = array_shapes(min_dims=1, max_dims=1, max_side=20)
labels = arrays(
    integer_dtypes(endianness="=") | st.sampled_from([np.dtype("U3"), np.dtype(bool)]), SHAPES
) | arrays(
    st.sampled_from([np.dtype(np.float32), np.dtype(np.float64)]),
    SHAPES,
    elements=st.sampled_from([-0.0, 0.0, 1.0, 7.0, -3.0, 2.5, 2.0**60, np.inf]),
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
    assert number_labels(np.array(["d", "a"]), classes).tolist() == [2, 0]
    sentence = r"^Row 8 has the label 'c', which is not among the classes \['a', 'b', 'd'\]"
    with pytest.raises(UnknownLabelError, match=sentence):
        number_labels(np.array(["a", "c", "e"]), classes, first_row=7)


def test_of_many_classes_some_are_listed():
    with pytest.raises(UnknownLabelError, match=r"the classes \[0, 1, .*, 19, …\];"):
        number_labels(np.array([-1]), np.arange(1000))


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
    assert check_classes(named, dtype).tolist() == wanted


@pytest.mark.parametrize(
    ("named", "dtype", "code"),
    [
        ([1, 1], None, "one-class"),
        ([1.0, np.nan], None, "classes-not-finite"),
        (["1", "x"], np.float64, "classes-of-type"),
        (["1", "9007199254740993"], np.int64, "classes-of-type"),
    ],
)
def test_unusable_classes_are_refused(named, dtype, code):
    with refused(code):
        check_classes(named, dtype)


def test_classes_that_were_met_are_two_and_not_too_many():
    assert find_classes(np.array([2.0, 1.0, 2.0])).tolist() == [1, 2]
    with refused("one-class"):
        find_classes(np.array([1.0, 1.0]))
    with refused("labels-are-numbers"):
        find_classes(np.arange(1001))


SETS = LabelSets(np.array([1, 4, 7, 4, 4]), np.array([0, 3, 3, 5]))


def test_sets_of_labels_are_gone_through_cut_and_joined():
    assert list(SETS) == [(1, 4, 7), (), (4, 4)]
    assert [list(SETS[some]) for some in (slice(1), slice(1, 3), slice(2, 2))] == [
        [(1, 4, 7)],
        [(), (4, 4)],
        [],
    ]
    assert list(join_labels([SETS[:1], SETS[1:2], SETS[2:]])) == list(SETS)
    assert MultiLabelBinarizer().fit_transform(SETS).tolist() == [[1, 1, 1], [0] * 3, [0, 1, 0]]
    has = SETS.indicator(number_labels(SETS.values, np.array([1, 4, 7])), 3)
    assert has.tolist() == [[True] * 3, [False] * 3, [False, True, False]]
    assert has_class(has, 1).tolist() == [True, False, True]


def test_a_label_of_several_that_is_not_known_is_named_with_its_row():
    with pytest.raises(UnknownLabelError, match=r"^Row 3 has the label 4, .* classes \[1, 7\]"):
        number_labels(SETS.values[[0, 2, 3]], np.array([1, 7]), 1, rows=np.array([0, 0, 2]))


def test_classes_of_sets_may_be_one_but_not_none():
    assert find_classes(np.array([3.0]), least=1).tolist() == [3]
    assert check_classes(["a"], least=1).tolist() == ["a"]
    assert check_classes(["3", "1", "2"], float, option="ordinal").tolist() == [3, 1, 2]
    with refused("rank-twice"):
        check_classes(["3", "1", "3.0"], float, option="ordinal")
    with refused("no-labels"):
        find_classes(np.array([]), least=1)


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ([[0], [1, 2]], r"y has \[0\], of type list, in row 0; each row needs one word"),
        ([1, {"a": 1}], r"y has {'a': 1}, of type dict, in row 1"),
        (np.array(["2020-01-01"], "M8[ns]"), "of type datetime64, in row 0"),
        ([b"a", b"b"], "of type bytes, in row 0"),
        (np.array([1j]), "Complex data not supported"),
        (["a", 1], "y mixes words and numbers: row 0 is 'a' and row 1 is 1"),
        ([2.5, True, "a"], "row 0 is 2.5 and row 2 is 'a'"),
        (["a", None], "Input y contains NaN: row 1 is None"),
        (["a", "a\0", "b"], r"Row 1 of y is 'a\\x00', which ends in a NUL character"),
        (np.array([1, np.inf]), "Input y contains infinity: row 1 is inf"),
    ],
)
def test_labels_that_are_not_words_or_numbers_are_refused_with_the_row(labels, sentence):
    with pytest.raises(InputError, match=sentence):
        make_labels(labels)


def test_objects_become_words_or_numbers():
    assert make_labels(np.array([1, 2], object)).dtype == int
    assert make_labels(np.array([True, False], object)).dtype == bool
    assert make_labels(["a", "b"]).tolist() == ["a", "b"]
    assert make_labels([[0, 1], [1, 0]]).shape == (2, 2)
