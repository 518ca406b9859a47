import io
import re
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from rosenblatt import parsing
from rosenblatt.parsing import Block, Grams, Names, Progress

from .reference import hash_bytes, mix_bits, spell

MASK = np.uint64(2**18 - 1)


def as_array(data):
    return np.frombuffer(data, np.uint8)


def block(rows, values, dtype=np.float32):
    return Block(
        np.zeros(values, dtype), np.zeros(values, np.uint32), np.zeros(rows + 1, np.uint64)
    )


def room_for_names(n=1000):
    places = np.zeros(n, np.int64)
    return Names(
        np.zeros(int(MASK) + 1, np.uint8),
        np.zeros(n, np.uint32),
        places,
        places.copy(),
        np.zeros(1, np.int64),
    )


def names_in(names, data):
    n = names.count[0]
    return {
        int(index): data[begin:end]
        for index, begin, end in zip(
            names.indices[:n], names.begins[:n], names.ends[:n], strict=True
        )
    }


def entries(block, rows):
    """Each row as a list of (column, value)."""
    return [
        list(zip(block.indices[i:j].tolist(), block.values[i:j].tolist(), strict=True))
        for i, j in zip(block.starts[:rows], block.starts[1 : rows + 1], strict=True)
    ]


def svmlight(text, dtype=np.float64, first=0, limit=2**32, increasing=True, around=b""):
    """The labels, the rows and the end of a text, which may lie within other bytes."""
    labels, out = np.zeros(len(text)), block(len(text), len(text), dtype)
    buffer, start = as_array(around + text + around), len(around)
    end = parsing.svmlight(
        buffer, start + len(text), Progress(start), labels, out, first, limit, increasing
    )
    return labels[: end.rows].tolist(), entries(out, end.rows), end


def vowpal_wabbit(text, around=b"", names=None):
    labels, weights = np.zeros(len(text)), np.zeros(len(text))
    out, groups = block(len(text), len(text)), np.zeros(len(text), np.uint8)
    buffer, start = as_array(around + text + around), len(around)
    end = parsing.vowpal_wabbit(
        buffer, start + len(text), Progress(start), labels, weights, out, groups, MASK, names
    )
    n = end.rows
    return (
        labels[:n].tolist(),
        weights[:n].tolist(),
        entries(out, n),
        bytes(groups[: end.values]),
        end,
    )


# Numbers.


def nearest(decimal, dtype):
    """The float nearest to a decimal, of two the even one; beyond the largest comes infinity."""
    exact = abs(Fraction(decimal))
    largest = Fraction(float(np.finfo(dtype).max))
    with np.errstate(over="ignore"):
        near = dtype(float(min(exact, largest)))
        floats = {near, np.nextafter(near, dtype(0)), np.nextafter(near, dtype(np.inf))}

    def distance(x):
        unit = largest - Fraction(float(np.nextafter(np.finfo(dtype).max, dtype(0))))
        value = Fraction(float(x)) if np.isfinite(x) else largest + unit
        return abs(value - exact), x.view(f"u{x.itemsize}") % 2

    return -min(floats, key=distance) if decimal[0] == "-" else min(floats, key=distance)


def check_number(decimal):
    for dtype in np.float32, np.float64:
        expected = nearest(decimal, dtype)
        _, rows, end = svmlight(b"0 0:" + decimal.encode() + b"\n", dtype)
        if np.isinf(expected):
            assert (end.error, end.where) == (parsing.VALUE_TOO_LARGE, 4)
        else:
            assert end.error == 0
            assert rows == [[(0, float(expected))]]
            assert np.signbit(rows[0][0][1]) == (decimal[0] == "-")


@st.composite
def decimals(draw):
    whole = draw(st.text("0123456789", max_size=draw(st.sampled_from([1, 8, 20, 100]))))
    part = draw(st.none() | st.text("0123456789", max_size=draw(st.sampled_from([3, 18, 100]))))
    if not whole and not part:
        whole = "7"
    exponents = st.integers(-30, 30) | st.integers(-400, 330)
    exponent = draw(st.none() | st.builds("{}{:+d}".format, st.sampled_from("eE"), exponents))
    point = "" if part is None else "." + part
    return draw(st.sampled_from(["", "-", "+"])) + whole + point + (exponent or "")


@settings(max_examples=400)
@given(decimals())
@example("16777217")
@example("16777217.0000000000000000000000000000000001")
@example("340282356779733661637539395458142568447.9")
@example("340282356779733661637539395458142568448")
@example("7.006492321624085354618e-46")
@example("2.4703282292062327208e-324")
@example("2.4703282292062327209e-324")
@example("2.2250738585072011e-308")
@example("1.7976931348623158e308")
@example("1.7976931348623159e308")
@example("0." + "0" * 400 + "1e401")
@example("1" + "0" * 400 + "e-400")
def test_decimals_are_rounded_once(decimal):
    check_number(decimal)


@given(st.integers(0, 0x7FEFFFFFFFFFFFFF), st.booleans())
def test_the_middle_between_two_floats_goes_to_the_even_one(bits, short):
    if short:
        bits %= 0x7F7FFFFF
    unsigned, dtype = (np.uint32, np.float32) if short else (np.uint64, np.float64)
    low, high = unsigned(bits).view(dtype), unsigned(bits + 1).view(dtype)
    middle = (Fraction(float(low)) + Fraction(float(high))) / 2
    places = 1100
    digits = f"{middle.numerator * 10**places // middle.denominator:0{places + 1}d}"
    exact = digits[:-places] + "." + digits[-places:]
    check_number(exact)
    check_number(exact + "1")
    check_number(f"{int(digits) - 1}e-{places}")


def test_every_power_of_ten_is_rounded_down_to_64_bits():
    for e in range(parsing.LEAST, parsing.MOST + 1):
        P, q = parsing.power_of_ten(e)
        assert P.bit_length() == 64
        assert 0 <= Fraction(10) ** e - P * Fraction(2) ** q < Fraction(2) ** q


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
    assert rows == entries(Block(X.data, X.indices, X.indptr), len(y))
    assert end.values == X.nnz
    lines = [line.split(b"#")[0].split() for line in text.split(b"\n")]
    assert end.ignored == sum(len(f) > 1 and f[1].startswith(b"qid") for f in lines)


@given(svmlight_texts, st.integers(1, 4), st.integers(6, 9))
def test_svmlight_in_pieces_and_in_small_arrays_is_the_same(text, room, values):
    labels, rows, end = svmlight(text, np.float32)
    some, out, progress = np.zeros(room), block(room, values), Progress()
    seen_labels, seen_rows = [], []
    for stop in [*range(1, len(text)), len(text)]:
        while True:
            progress = parsing.svmlight(as_array(text), stop, progress, some, out, 0, 2**32, True)
            seen_labels += some[: progress.rows].tolist()
            seen_rows += entries(out, progress.rows)
            full = progress.error == parsing.FULL
            progress = progress._replace(rows=0, values=0)
            if not full:
                break
    assert (seen_labels, seen_rows) == (labels, rows)
    assert progress[3:6] == end[3:6]
    assert progress.at == len(text)


def test_progress_goes_on_where_it_stopped():
    text = as_array(b"1 1:1\n2 2:2 3:3\n3 4:4\n4")
    labels, out = np.zeros(3), block(3, 4)
    small = Block(out.values[:2], out.indices[:2], out.starts)
    progress = parsing.svmlight(text, len(text), Progress(), labels, small, 0, 99, True)
    assert progress == Progress(6, 1, 1, 1, 0, parsing.FULL, 12)
    progress = parsing.svmlight(text, len(text), progress, labels, out, 0, 99, True)
    assert progress[:6] == Progress(22, 3, 4, 3, 0, 0)[:6]
    assert labels.tolist() == [1, 2, 3]
    assert entries(out, 3) == [[(1, 1)], [(2, 2), (3, 3)], [(4, 4)]]


@pytest.mark.parametrize(
    ("line", "error", "where"),
    [
        (b"x 1:1", parsing.LABEL, 0),
        (b"1:1 2:2", parsing.LABEL, 1),
        (b"1,2 1:1", parsing.LABELS, 1),
        (b"nan 1:1", parsing.LABEL, 0),
        (b"1e999 1:1", parsing.LABEL, 0),
        (b"1e 1:1", parsing.LABEL, 1),
        (b"- 1:1", parsing.LABEL, 0),
        (b"1 qid 1:1", parsing.QUERY, 2),
        (b"1 qid:x 1:1", parsing.QUERY, 2),
        (b"1 1:1 qid:2", parsing.INDEX, 6),
        (b"1 :1", parsing.INDEX, 2),
        (b"1 12 3:4", parsing.INDEX, 4),
        (b"1 1 :1", parsing.INDEX, 3),
        (b"1 -1:1", parsing.INDEX_TOO_SMALL, 2),
        (b"1 0:1", parsing.INDEX_TOO_SMALL, 2),
        (b"1 1:1 1:1", parsing.INDEX_ORDER, 6),
        (b"1 2:1 1:1", parsing.INDEX_ORDER, 6),
        (b"1 4294967295:1", 0, 0),
        (b"1 4294967296:1", parsing.INDEX_TOO_LARGE, 2),
        (b"1 18446744073709551617:1", parsing.INDEX_TOO_LARGE, 2),
        (b"1 1:", parsing.VALUE, 4),
        (b"1 1: 2", parsing.VALUE, 4),
        (b"1 1:inf", parsing.VALUE, 4),
        (b"1 1:1x", parsing.VALUE, 5),
        (b"1 1:1e39", parsing.VALUE_TOO_LARGE, 4),
        (b"\0", parsing.NUL, 0),
        (b"1\0 1:1", parsing.NUL, 1),
        (b"1 \0 1:1", parsing.NUL, 2),
        (b"1 1:1\0", parsing.NUL, 5),
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
        assert parsing.REASONS[end.error]


def test_svmlight_limit_and_order_are_the_callers():
    assert svmlight(b"1 4:1\n", limit=5)[2].error == 0
    assert svmlight(b"1 5:1\n", limit=5)[2].error == parsing.INDEX_TOO_LARGE
    assert svmlight(b"1 2:1 1:5 2:3\n", increasing=False)[1] == [[(2, 1), (1, 5), (2, 3)]]


# Vowpal Wabbit. The naive parser knows valid lines only.


def naive_vw_line(line):
    head, *spaces = line.split(b"|")
    fields = head.split()
    if fields and (fields[-1].startswith(b"'") or (spaces and not head[-1:].isspace())):
        fields.pop()  # the tag
    label = float(fields[0]) if fields else None
    weight = float(fields[1]) if len(fields) > 1 else 1.0
    row, groups = [], b""
    for space in spaces:
        fields = space.split()
        name, scale, seed = b" ", np.float32(1), 0
        if space[:1].strip():
            name, _, value = fields.pop(0).partition(b":")
            scale, seed = np.float32(value or 1), hash_bytes(name)
        for field in fields:
            feature, _, value = field.partition(b":")
            h = seed + int(feature) if feature.isdigit() else hash_bytes(feature, seed)
            row.append((h & int(MASK), float(np.float32(value or 1) * scale)))
        groups += name[:1] * len(fields)
    return label, weight, row, groups


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
    labels, weights, rows, groups, end = vowpal_wabbit(text)
    naive = [naive_vw_line(line) for line in text.split(b"\n") if line.strip()]
    assert (end.error, end.at, end.lines) == (0, len(text), len(lines))
    assert [None if np.isnan(y) else y for y in labels] == [label for label, *_ in naive]
    assert weights == [weight for _, weight, _, _ in naive]
    assert rows == [row for _, _, row, _ in naive]
    assert groups == b"".join(group for *_, group in naive)
    assert end.ignored == sum(
        line.split()[:3] in (["0.5", "3", "7"], ["1", "1", "0"]) for line in lines
    )


@pytest.mark.parametrize(
    ("line", "error", "where"),
    [
        (b"x |a b", parsing.LABEL, 0),
        (b"1:2 |a b", parsing.LABEL, 0),
        (b"1 x |a b", parsing.WEIGHT, 2),
        (b"1 -1 |a b", parsing.WEIGHT, 2),
        (b"1e999 |a b", parsing.LABEL, 0),
        (b"1 2 3 4 |a b", parsing.LABEL, 6),
        (b"1 |a:x b", parsing.VALUE, 5),
        (b"1 |a b:x", parsing.VALUE, 7),
        (b"1 |a b:", parsing.VALUE, 7),
        (b"1 |a b:1e39", parsing.VALUE_TOO_LARGE, 7),
        (b"1 |a:1e30 b:1e30", parsing.VALUE_TOO_LARGE, 12),
        (b"1 |a :1", parsing.NAME, 5),
        (b"1\0 |a b", parsing.NUL, 1),
        (b"1 |a\0 b", parsing.NUL, 4),
        (b"1 |a b\0", parsing.NUL, 6),
    ],
)
def test_vowpal_wabbit_errors_say_what_and_where(line, error, where):
    labels, _, rows, _, end = vowpal_wabbit(b"1 | 7:2\n\n" + line + b"\n2 | 1\n")
    assert (labels, rows) == ([1], [[(7, 2)]])
    assert (end.at, end.lines, end.error, end.where - end.at) == (9, 2, error, where)


def test_a_full_vowpal_wabbit_block_leaves_the_line():
    text = as_array(b"1 |a b c\n2 |a d e\n")
    labels, groups = np.zeros(2), np.zeros(3, np.uint8)
    end = parsing.vowpal_wabbit(
        text, len(text), Progress(), labels, labels.copy(), block(2, 3), groups, MASK, None
    )
    assert end == Progress(9, 1, 2, 1, 0, parsing.FULL, 16)


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

letters = st.sampled_from([*b"0123456789.:-+eE|'# \t\r\n\0\xffqid,ab"])
any_bytes = st.lists(letters | st.integers(0, 255), max_size=60).map(bytes)


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


# Text.


def naive_words(text):
    words = re.findall(rb"[0-9A-Za-z_\x80-\xff]+", text)
    return [w.lower() for w in words if any(c & 0xC0 != 0x80 for c in w[1:])]


def hash_word(word, salt):
    h = salt
    for i in range(0, len(word), 8):
        h = spell(h, int.from_bytes(word[i : i + 8].replace(b"_", b"\x7f"), "little"))
    return h


def naive_word_grams(text, grams):
    words = naive_words(text)
    for n in range(grams.shortest, grams.longest + 1):
        for i in range(len(words) - n + 1):
            h, *others = [hash_word(w, int(grams.salt)) for w in words[i : i + n]]
            for other in others:
                h = spell(spell(h, ord(" ")), other)
            yield mix_bits(h) & int(grams.mask), b" ".join(words[i : i + n])


def naive_character_grams(text, grams):
    text = re.sub(rb"[ \t\n\v\f\r]+", b" ", text).lower()
    characters = re.findall(rb"(?s)(?:^.|[^\x80-\xbf])[\x80-\xbf]*", text)
    for n in range(grams.shortest, grams.longest + 1):
        for i in range(len(characters) - n + 1):
            gram = b"".join(characters[i : i + n])
            yield hash_bytes(gram, int(grams.salt)) & int(grams.mask), gram


def column(strings, around=b""):
    """The bytes of strings and where each begins, as Arrow keeps them."""
    offsets = np.cumsum([len(around)] + [len(s) for s in strings], dtype=np.int32)
    return as_array(around + b"".join(strings) + around), offsets


def hashed(strings, grams, around=b"", names=None):
    data, offsets = column(strings, around)
    out = block(len(strings), 5 * len(data) + 9)
    row, k = parsing.text(data, offsets, 0, 0, grams, out, names)
    assert row == len(strings)
    assert k == out.starts[row]
    return entries(out, row)


texts = st.lists(
    st.text(st.sampled_from("aAbZz_09é日 \t,.'-<>")).map(str.encode) | any_bytes, max_size=4
)
ranges = st.tuples(st.integers(1, 3), st.integers(0, 2)).map(lambda r: (r[0], r[0] + r[1]))


def grams_of(shortest, longest, characters=False, presence=False, unit_length=False, bits=18):
    salt, mask = np.uint64(2**63 + 5), np.uint64(2**bits - 1)
    return Grams(shortest, longest, characters, presence, unit_length, salt, mask)


@settings(max_examples=200)
@given(texts, ranges, st.booleans(), st.sampled_from([2, 10, 18]))
def test_grams_are_those_of_the_naive_tokeniser(strings, lengths, characters, bits):
    grams = grams_of(*lengths, characters, bits=bits)
    naive = naive_character_grams if characters else naive_word_grams
    expected = [sorted(Counter(i for i, _ in naive(s, grams)).items()) for s in strings]
    assert hashed(strings, grams) == expected
    for around in b"0" * 9, b" " * 9:
        assert hashed(strings, grams, around) == expected


@given(st.text("aAbZzé_09 ,.'-<>\n"))
def test_words_are_those_of_scikit_learn(string):
    words = re.findall(r"(?u)\b\w\w+\b", string.lower())
    assert [w.decode() for w in naive_words(string.encode())] == words


@given(texts, st.booleans())
def test_grams_can_be_present_or_of_unit_length(strings, characters):
    counts = hashed(strings, grams_of(1, 2, characters))
    present = hashed(strings, grams_of(1, 2, characters, presence=True))
    assert present == [[(i, 1) for i, _ in row] for row in counts]
    for row, unit in zip(
        counts, hashed(strings, grams_of(1, 2, characters, False, True)), strict=True
    ):
        length = np.sqrt(sum(v * v for _, v in row))
        assert unit == [(i, np.float32(v / length)) for i, v in row]


@given(texts.filter(bool), st.booleans())
def test_names_of_grams(strings, characters):
    grams, names = grams_of(1, 2, characters), room_for_names()
    naive = naive_character_grams if characters else naive_word_grams
    rows = hashed(strings, grams, names=names)
    assert rows == hashed(strings, grams)
    expected = {}
    for s in strings:
        for i, name in naive(s, grams):
            expected.setdefault(i, set()).add(name)
    found = names_in(names, b"".join(strings))
    assert found.keys() == expected.keys()
    for i, name in found.items():
        if characters:
            assert re.sub(rb"[ \t\n\v\f\r]+", b" ", name).lower() in expected[i]
        else:
            assert b" ".join(naive_words(name)) in expected[i]


def test_a_long_text_is_sorted_too():
    rng = np.random.default_rng(0)
    words = [b"w%d" % w for w in rng.integers(0, 50_000, 200_000)]
    grams = grams_of(1, 1)
    (row,) = hashed([b" ".join(words)], grams)
    expected = Counter(mix_bits(hash_word(w, int(grams.salt))) & int(MASK) for w in words)
    assert row == sorted(expected.items())


def test_text_stops_when_there_is_no_room_and_goes_on():
    strings = [b"one two", b"three four five", b"", b"six"]
    expected = hashed(strings, grams_of(1, 1))
    data, offsets = column(strings)
    out = block(4, 4)
    assert parsing.text(data, offsets, 0, 0, grams_of(1, 1), out, None) == (1, 2)
    assert entries(out, 1) == expected[:1]
    out = block(4, 6)
    assert parsing.text(data, offsets, 1, 0, grams_of(1, 1), out, None) == (4, 4)
    assert entries(Block(out.values, out.indices, out.starts[1:]), 3) == expected[1:]


# Categories, numbers, and blocks side by side.


def test_categories_numbers_and_text_make_one_row():
    salt = int(parsing.salt(as_array(b"colour")))
    assert salt == hash_bytes(b"colour")
    strings = [b"red", b"", b"dark blue"]
    names = room_for_names()
    a, b, c = block(3, 3), block(3, 3), block(3, 3)
    data, offsets = column(strings)
    assert parsing.categories(data, offsets, 0, 0, np.uint64(salt), MASK, a, None) == (3, 2)
    assert parsing.categories(data, offsets, 0, 0, np.uint64(salt), MASK, a, names) == (3, 2)
    assert set(names_in(names, b"".join(strings)).values()) == {b"red", b"dark blue"}
    assert parsing.numbers(np.array([np.nan, 0, 2.5]), 0, 0, 7, b) == (3, 1)
    assert parsing.numbers(np.array([1, 0, 2]), 0, 0, 8, c) == (3, 2)
    red, blue = (hash_bytes(s, salt) & int(MASK) for s in (b"red", b"dark blue"))

    sizes = sum(np.diff(x.starts) for x in (a, b, c))
    out, groups = block(3, int(sizes.sum())), np.zeros(sizes.sum(), np.uint8)
    out.starts[1:] = np.cumsum(sizes)
    ends = out.starts[:-1].copy()
    for group, part in enumerate((a, b, c)):
        parsing.append(part, group, ends, out, groups)
    assert ends.tolist() == out.starts[1:].tolist()
    assert entries(out, 3) == [[(red, 1), (8, 1)], [], [(blue, 1), (7, 2.5), (8, 2)]]
    assert groups.tolist() == [0, 2, 0, 1, 2]


def test_columns_without_room_stop_and_go_on():
    out = block(3, 1)
    assert parsing.numbers(np.array([1.0, 2, 3]), 0, 0, 7, out) == (1, 1)
    data, offsets = column([b"a", b"b"])
    assert parsing.categories(data, offsets, 1, 0, np.uint64(1), MASK, out, None) == (2, 1)


# Crosses.


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 9), st.integers(-3, 3), st.integers(0, 2)), max_size=6),
        max_size=4,
    ),
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=3),
)
def test_crosses_are_those_of_the_naive_loop(rows, pairs):
    expected, names = [], {}
    for row in rows:
        products = []
        for a, b in pairs:
            for k, (i, x, g) in enumerate(row):
                for m, (j, y, h) in enumerate(row):
                    if (g, h) == (a, b) and (a != b or k < m):
                        low, high = sorted((i, j)) if a == b else (i, j)
                        index = mix_bits(low << 32 | high) & int(MASK)
                        products.append((index, x * y))
                        names.setdefault(index, (i, j))
        expected.append([(i, x) for i, x, _ in row] + products)

    whole, out = block(len(rows), 99), block(len(rows), sum(map(len, expected)))
    whole.starts[1:] = np.cumsum([len(row) for row in rows])
    flat = [feature for row in rows for feature in row]
    groups = np.array([g for *_, g in flat], np.uint8)
    whole.indices[: len(flat)] = [i for i, *_ in flat]
    whole.values[: len(flat)] = [x for _, x, _ in flat]
    pairs = np.array(pairs, np.uint8).reshape(-1, 2)
    parsing.count_crosses(whole.starts, groups, pairs, out.starts)
    assert out.starts.tolist() == np.cumsum([0] + [len(row) for row in expected]).tolist()
    kept = room_for_names()
    parsing.cross(whole, groups, pairs, MASK, out, kept)
    assert entries(out, len(rows)) == expected
    count = kept.count[0]
    pairs_kept = zip(kept.begins[:count].tolist(), kept.ends[:count].tolist(), strict=True)
    assert dict(zip(kept.indices[:count].tolist(), pairs_kept, strict=True)) == names
