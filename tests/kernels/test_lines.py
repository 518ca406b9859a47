"""Lines of svmlight and Vowpal Wabbit: the right rows, in pieces too, and errors that say where."""

import io

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.datasets import load_svmlight_file

from rosenblatt.kernels import lines
from rosenblatt.kernels.lines import Cursor
from rosenblatt.kernels.words import CSRBuffer

from ..reference import hash_bytes
from .texts import (
    MASK,
    NO_NAMES,
    ONE,
    any_bytes,
    as_array,
    block,
    cut,
    entries,
    names_in,
    room_for_names,
    several,
    svmlight,
)


def vowpal_wabbit(text, around=b"", names=NO_NAMES, room=None):
    """What is read of a text; ``room`` is that for the labels of rows of any number of them."""
    size, several = len(text), room is not None
    labels, weights = np.zeros(room if several else size), np.zeros(size)
    starts = np.zeros(size + 1, np.int64) if several else ONE
    out = block(size, size)
    given = as_array(around + text + around), len(around) + size, Cursor(len(around))
    end = lines.vowpal_wabbit(*given, labels, starts, weights, out, MASK, names)
    n = end.rows
    found = cut(labels, starts[: n + 1]) if several else labels[:n].tolist()
    return found, weights[:n].tolist(), entries(out, n), end


# svmlight.

blanks = st.sampled_from([" ", "  ", "\t", " \t "])
reals = st.floats(-1e9, 1e9).map(repr) | st.integers(-99, 99).map(str) | st.just("+.5E-3")


@st.composite
def svmlight_lines(draw):
    kind = draw(st.sampled_from(["row"] * 6 + ["blank", "comment"]))
    end = draw(st.sampled_from(["", " ", "\t"])) + draw(st.sampled_from(["\n", "\r\n"]))
    comment = "#" + draw(st.text("ab:1 #", max_size=5))
    if kind != "row":
        return (comment if kind == "comment" else "") + end
    fields = [draw(reals)]
    if draw(st.booleans()):
        fields.append(f"qid:{draw(st.integers(0, 99))}")
    columns = draw(st.sets(st.integers(0, 12) | st.integers(0, 2**31 - 2), max_size=6))
    fields += [f"{i}:{draw(reals)}" for i in sorted(columns)]
    line = draw(st.sampled_from(["", " "])) + draw(blanks).join(fields)
    return line + draw(st.sampled_from(["", comment])) + end


svmlight_texts = st.lists(svmlight_lines(), min_size=1, max_size=6).map("".join).map(str.encode)


@given(svmlight_texts)
def test_svmlight_is_read_as_by_scikit_learn(text):
    text += b"1 3:4\n"
    labels, rows, end = svmlight(text)
    X, y = load_svmlight_file(io.BytesIO(text), n_features=2**31, zero_based=True)
    assert (end.error, end.at, end.lines) == (0, len(text), text.count(b"\n"))
    assert labels == y.tolist()
    assert rows == entries(CSRBuffer(X.data, X.indices, X.indptr), len(y))
    assert end.values == X.nnz
    lines = [line.split(b"#")[0].split() for line in text.split(b"\n")]
    assert end.ignored == sum(len(f) > 1 and f[1].startswith(b"qid") for f in lines)


@given(svmlight_texts, st.integers(1, 4), st.integers(6, 9))
def test_svmlight_in_pieces_and_in_small_arrays_is_the_same(text, room, values):
    labels, rows, end = svmlight(text, np.float32)
    some, out, cursor = np.zeros(room), block(room, values), Cursor()
    seen_labels, seen_rows = [], []
    for stop in [*range(1, len(text)), len(text)]:
        while True:
            given = as_array(text), stop, cursor, some, ONE, out, 0, 2**32, False, True
            cursor = lines.svmlight(*given)
            seen_labels += some[: cursor.rows].tolist()
            seen_rows += entries(out, cursor.rows)
            full = cursor.error == lines.FULL
            cursor = cursor._replace(rows=0, values=0)
            if not full:
                break
    assert (seen_labels, seen_rows) == (labels, rows)
    assert cursor[3:6] == end[3:6]
    assert cursor.at == len(text)


@pytest.mark.parametrize(
    ("line", "error", "where"),
    [
        (b"x 1:1", lines.LABEL, 0),
        (b"1:1 2:2", lines.LABEL, 1),
        (b"1,2 1:1", lines.LABELS, 1),
        (b"nan 1:1", lines.LABEL, 0),
        (b"1e999 1:1", lines.LABEL, 0),
        (b"1e 1:1", lines.LABEL, 1),
        (b"- 1:1", lines.LABEL, 0),
        (b"1 qid 1:1", lines.QUERY, 2),
        (b"1 qid:x 1:1", lines.QUERY, 2),
        (b"1 1:1 qid:2", lines.INDEX, 6),
        (b"1 :1", lines.INDEX, 2),
        (b"1 12 3:4", lines.INDEX, 4),
        (b"1 1 :1", lines.INDEX, 3),
        (b"1 -1:1", lines.INDEX_TOO_SMALL, 2),
        (b"1 0:1", lines.INDEX_TOO_SMALL, 2),
        (b"1 1:1 1:1", lines.INDEX_ORDER, 6),
        (b"1 2:1 1:1", lines.INDEX_ORDER, 6),
        (b"1 4294967295:1", 0, 0),
        (b"1 4294967296:1", lines.INDEX_TOO_LARGE, 2),
        (b"1 18446744073709551617:1", lines.INDEX_TOO_LARGE, 2),
        (b"1 1:", lines.VALUE, 4),
        (b"1 1: 2", lines.VALUE, 4),
        (b"1 1:inf", lines.VALUE, 4),
        (b"1 1:1x", lines.VALUE, 5),
        (b"1 1:1e39", lines.VALUE_TOO_LARGE, 4),
        (b"\0", lines.NUL, 0),
        (b"1\0 1:1", lines.NUL, 1),
        (b"1 \0 1:1", lines.NUL, 2),
        (b"1 1:1\0", lines.NUL, 5),
        (b"1 # \0", 0, 0),
    ],
)
def test_svmlight_errors_say_what_and_where(line, error, where):
    labels, rows, end = svmlight(b"1 1:2\n\n" + line + b"\n2 1:1\n", np.float32, first=1)
    if error == 0:
        assert (end.rows, end.error) == (3, 0)
    else:
        assert (labels, rows) == ([1], [[(0, 2)]])
        assert (end.at, end.lines, end.error, end.where - end.at) == (7, 2, error, where)
        assert end.error in lines.REASONS


def test_svmlight_leaves_out_what_is_beyond_the_limit_if_lenient():
    assert svmlight(b"1 4:1\n", limit=5)[2].error == 0
    assert svmlight(b"1 5:1\n", limit=5)[2].error == lines.INDEX_TOO_LARGE
    text = b"1 2:1 5:2 99999999999999999999:3 4:1 4294967296:1\n2 7:1\n"
    assert svmlight(text, limit=5, lenient=True)[:2] == ([1, 2], [[(2, 1), (4, 1)], []])
    assert svmlight(b"1 2:1 9:x\n", limit=5, lenient=True)[2].error == lines.VALUE


# Several labels, or none.


MANY = b"1,4,7 1:1 2:2\n 3:1\n2 # nothing else\n-1.5,2 qid:3 4:1\n\nqid:1 1:1\n3,3 5:1\n"


def test_rows_have_any_number_of_labels():
    sets, rows, end = several(MANY)
    assert sets == [[1, 4, 7], [], [2], [-1.5, 2], [], [3, 3]]
    assert rows == [[(1, 1), (2, 2)], [(3, 1)], [], [(4, 1)], [(1, 1)], [(5, 1)]]
    assert (end.at, end.lines, end.ignored, end.error) == (len(MANY), 7, 2, 0)


@pytest.mark.parametrize("room", [1, 2, 5])
def test_several_labels_in_small_arrays_are_the_same(room):
    sets, rows, _ = several(MANY)
    at, seen = 0, []
    while at < len(MANY):
        some, entries_of_some, end = several(MANY[at:], room=room, values=2, labels=3)
        assert end.error in (0, lines.FULL)
        seen += zip(some, entries_of_some, strict=True)
        at += end.at
    assert seen == list(zip(sets, rows, strict=True))


@pytest.mark.parametrize("kernel", ["svmlight", "vowpal_wabbit"])
@given(text=any_bytes, labels=st.integers(0, 4), room=st.integers(0, 3))
def test_labels_of_any_bytes_stay_in_their_room(kernel, text, labels, room):
    found, starts = np.full(labels + 9, 7.0), np.full(room + 10, 7)
    starts[0], weights = 0, np.zeros(9)
    given = as_array(text), len(text), Cursor(), found[:labels], starts[: room + 1]
    if kernel == "svmlight":
        end = lines.svmlight(*given, block(9, 5), 0, 99, False, True)
    else:
        end = lines.vowpal_wabbit(*given, weights, block(9, 5), MASK, NO_NAMES)
    assert end.rows <= room
    assert (found[labels:] == 7).all()
    assert (starts[room + 1 :] == 7).all()
    assert 0 <= starts[end.rows] <= labels
    assert (np.diff(starts[: end.rows + 1]) >= 0).all()


@pytest.mark.parametrize(
    ("line", "where"),
    [(b"1, 1:1", 2), (b",1 1:1", 0), (b"1,x 1:1", 2), (b"1,2:1", 3), (b"1,1e999 1:1", 2)],
)
def test_a_broken_label_among_several_is_told(line, where):
    sets, _, end = several(b"1,2 1:1\n" + line + b"\n")
    assert sets == [[1, 2]]
    assert (end.at, end.error, end.where - end.at) == (8, lines.LABEL, where)


# Vowpal Wabbit. The naive parser knows valid lines only.


def naive_vw_line(line):
    head, *spaces = line.split(b"|")
    fields = head.split()
    if fields and (fields[-1].startswith(b"'") or (spaces and not head[-1:].isspace())):
        fields.pop()  # the tag
    label = float(fields[0]) if fields else None
    weight = float(fields[1]) if len(fields) > 1 else 1.0
    row = []
    for space in spaces:
        fields = space.split()
        scale, seed = np.float32(1), 0
        if space[:1].strip():
            name, _, value = fields.pop(0).partition(b":")
            scale, seed = np.float32(value or 1), hash_bytes(name)
        for field in fields:
            feature, _, value = field.partition(b":")
            h = seed + int(feature) if feature.isdigit() else hash_bytes(feature, seed)
            row.append((h & int(MASK), float(np.float32(value or 1) * scale)))
    return label, weight, row


names_of_features = st.text("abcXYZ0123é_", min_size=1, max_size=20) | st.integers(0, 10**9).map(
    str
)
small = st.floats(-100, 100, width=32).map(repr) | st.integers(-5, 5).map(str)


@st.composite
def vw_lines(draw):
    head = draw(st.sampled_from(["", "1 ", "-1 2.5 ", "0.5 3 7 ", "1 1 0 'a:b", "'tag ", "tag"]))
    spaces = ""
    for _ in range(draw(st.integers(0, 3) if head[-1:] == " " else st.integers(1, 3))):
        name = draw(st.just("") | names_of_features)
        scale = ":" + draw(small) if name and draw(st.booleans()) else ""
        features = draw(st.lists(st.tuples(names_of_features, st.just("") | small), max_size=5))
        fields = [f + (v and ":" + v) for f, v in features]
        spaces += (
            "|" + draw(blanks).join([name + scale, *fields]) + draw(st.sampled_from(["", " "]))
        )
    return head + spaces


@given(st.lists(vw_lines(), max_size=5))
def test_vowpal_wabbit_is_read_as_by_the_naive_parser(lines):
    text = "".join(line + "\n" for line in lines).encode()
    labels, weights, rows, end = vowpal_wabbit(text)
    naive = [naive_vw_line(line) for line in text.split(b"\n") if line.strip()]
    assert (end.error, end.at, end.lines) == (0, len(text), len(lines))
    assert [None if np.isnan(y) else y for y in labels] == [label for label, *_ in naive]
    assert weights == [weight for _, weight, _ in naive]
    assert rows == [row for *_, row in naive]
    assert end.ignored == sum(
        line.split()[:3] in (["0.5", "3", "7"], ["1", "1", "0"]) for line in lines
    )


@pytest.mark.parametrize(
    ("line", "error", "where"),
    [
        (b"x |a b", lines.LABEL, 0),
        (b"1:2 |a b", lines.LABEL, 0),
        (b"1 x |a b", lines.WEIGHT, 2),
        (b"1 -1 |a b", lines.WEIGHT, 2),
        (b"1e999 |a b", lines.LABEL, 0),
        (b"1 2 3 4 |a b", lines.LABEL, 6),
        (b"1 |a:x b", lines.VALUE, 5),
        (b"1 |a b:x", lines.VALUE, 7),
        (b"1 |a b:", lines.VALUE, 7),
        (b"1 |a b:1e39", lines.VALUE_TOO_LARGE, 7),
        (b"1 |a:1e30 b:1e30", lines.VALUE_TOO_LARGE, 12),
        (b"1 |a :1", lines.NAME, 5),
        (b"1,2 |a b", lines.LABELS, 0),
        (b"1 1,2 |a b", lines.WEIGHT, 2),
        (b"1\0 |a b", lines.NUL, 1),
        (b"1 |a\0 b", lines.NUL, 4),
        (b"1 |a b\0", lines.NUL, 6),
    ],
)
def test_vowpal_wabbit_errors_say_what_and_where(line, error, where):
    labels, _, rows, end = vowpal_wabbit(b"1 | 7:2\n\n" + line + b"\n2 | 1\n")
    assert (labels, rows) == ([1], [[(7, 2)]])
    assert (end.at, end.lines, end.error, end.where - end.at) == (9, 2, error, where)


def test_rows_of_vowpal_wabbit_have_any_number_of_labels():
    text = b"1,4,7 |a b\n |a c\n2 2.5 'tag |a\n'tag |a\n1,2|a d\n3,3 |\n"
    sets, weights, *_, end = vowpal_wabbit(text, room=50)
    assert sets == [[1, 4, 7], [], [2], [], [], [3, 3]]
    assert weights == [1, 1, 2.5, 1, 1, 1]
    assert (end.at, end.error) == (len(text), 0)
    sets, *_, end = vowpal_wabbit(text, room=4)
    assert (sets, end.error, end.lines) == ([[1, 4, 7], [], [2], [], []], lines.FULL, 5)
    for line, error, where in [
        (b"1, |a", lines.LABEL, 2),
        (b"1,x |a", lines.LABEL, 2),
        (b"1,2 x |a", lines.WEIGHT, 4),
        (b"1,2\0 |a", lines.NUL, 3),
    ]:
        sets, *_, end = vowpal_wabbit(b"1,2 |a\n" + line + b"\n", room=50)
        assert (sets, end.error, end.where - end.at) == ([[1, 2]], error, where)


def test_a_full_vowpal_wabbit_block_leaves_the_line():
    text = as_array(b"1 |a b c\n2 |a d e\n")
    labels = np.zeros(2)
    end = lines.vowpal_wabbit(
        text, len(text), Cursor(), labels, ONE, labels.copy(), block(2, 3), MASK, NO_NAMES
    )
    assert end == Cursor(9, 1, 2, 1, 0, lines.FULL, 16)


def test_names_are_those_met_first_while_there_is_room():
    text = b"1 |a b c:2 b | 12\n"
    expected = {hash_bytes(x, hash_bytes(b"a")) & int(MASK): x for x in (b"b", b"c")} | {12: b"12"}
    names = room_for_names()
    vowpal_wabbit(text, names=names)
    assert names_in(names, text) == expected
    names = room_for_names(1)
    vowpal_wabbit(text, names=names)
    assert list(names_in(names, text).values()) == [b"b"]


# Any bytes: no crash, and nothing depends on what lies around them.


def same(a, b, shift):
    """Whether two results are equal but for where they begin."""
    *a, p = a
    *b, q = b
    moved = p._replace(at=p.at + shift, where=p.where + shift)
    return repr(a) == repr(b) and moved == q


@settings(max_examples=300)
@given(any_bytes)
def test_bytes_around_do_not_matter(text):
    for read in svmlight, vowpal_wabbit:
        alone = read(text)
        end = alone[-1]
        assert 0 <= end.at <= text.rfind(b"\n") + 1
        assert end.at <= end.where <= len(text)
        assert end.at == 0 or text[end.at - 1 : end.at] == b"\n"
        for around in b"0" * 9, b"9" * 9, b"\n" * 9:
            assert same(alone, read(text, around=around), 9)
