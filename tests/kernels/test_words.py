"""Words, n-grams, categories and products are those of naive loops."""

import re
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rosenblatt.data.rows import read_only
from rosenblatt.kernels import words
from rosenblatt.kernels.words import RAW, CSRBuffer, Grams, NumberColumns
from rosenblatt.reading.recipe import COUNTS

from ..reference import hash_bytes, mix_bits, spell, weighed
from .texts import MASK, NO_NAMES, any_bytes, as_array, block, entries, names_in, room_for_names

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
    text = re.sub(rb"[ \t\n\v\f\r]+", b" ", text).strip(b" ").lower()
    found = re.findall(rb"(?s)(?:^.|[^\x80-\xbf])[\x80-\xbf]*", text)
    characters = [b" ", *found, b" "] if found else []
    for n in range(grams.shortest, grams.longest + 1):
        for i in range(len(characters) - n + 1):
            gram = b"".join(characters[i : i + n])
            yield hash_bytes(gram, int(grams.salt)) & int(grams.mask), gram


def column(strings, around=b""):
    """The bytes of strings and where each begins, as Arrow keeps them."""
    offsets = np.cumsum([len(around)] + [len(s) for s in strings], dtype=np.int32)
    return as_array(around + b"".join(strings) + around), offsets


def hashed(strings, grams, around=b"", names=NO_NAMES):
    data, offsets = column(strings, around)
    out = block(len(strings), 5 * len(data) + 10 * len(strings))
    row, k = words.text(data, offsets, 0, 0, grams, out, names)
    assert row == len(strings)
    assert k == out.starts[row]
    return entries(out, row)


texts = st.lists(
    st.text(st.sampled_from("aAbZz_09é日 \t,.'-<>")).map(str.encode) | any_bytes, max_size=4
)
ranges = st.tuples(st.integers(1, 3), st.integers(0, 2)).map(lambda r: (r[0], r[0] + r[1]))


def resolve_ngrams(
    shortest, longest, characters=False, counts=RAW, unit_length=False, bits=18, weights=()
):
    salt, mask = np.uint64(2**63 + 5), np.uint64(2**bits - 1)
    weights = read_only(np.array(weights, np.float32))
    return Grams(shortest, longest, characters, counts, unit_length, salt, mask, weights)


@settings(max_examples=200)
@given(texts, ranges, st.booleans(), st.sampled_from([2, 10, 18]))
def test_grams_are_those_of_the_naive_tokeniser(strings, lengths, characters, bits):
    grams = resolve_ngrams(*lengths, characters, bits=bits)
    naive = naive_character_grams if characters else naive_word_grams
    expected = [sorted(Counter(i for i, _ in naive(s, grams)).items()) for s in strings]
    assert hashed(strings, grams) == expected
    for around in b"0" * 9, b" " * 9:
        assert hashed(strings, grams, around) == expected


@given(st.text("aAbZzé_09 ,.'-<>\n"))
def test_words_are_those_of_scikit_learn(string):
    words = re.findall(r"(?u)\b\w\w+\b", string.lower())
    assert [w.decode() for w in naive_words(string.encode())] == words


@pytest.mark.parametrize("counts", COUNTS)
@given(texts, st.booleans(), st.booleans(), st.booleans())
def test_counts_are_weighed_as_by_the_twin(counts, strings, characters, unit_length, weighted):
    weights = np.random.default_rng(0).uniform(1, 9, 2**10) if weighted else ()
    grams = resolve_ngrams(1, 2, characters, COUNTS.index(counts), unit_length, 10, weights)
    raw = hashed(strings, resolve_ngrams(1, 2, characters, bits=10))
    expected = [weighed(dict(row), counts, weights, unit_length) for row in raw]
    for found, wanted in zip(hashed(strings, grams), expected, strict=True):
        assert dict(found) == pytest.approx(wanted, rel=1e-6)


@given(texts.filter(bool), st.booleans())
def test_names_of_grams(strings, characters):
    grams, names = resolve_ngrams(1, 2, characters), room_for_names()
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
    grams = resolve_ngrams(1, 1)
    (row,) = hashed([b" ".join(words)], grams)
    expected = Counter(mix_bits(hash_word(w, int(grams.salt))) & int(MASK) for w in words)
    assert row == sorted(expected.items())


def test_text_stops_when_there_is_no_room_and_goes_on():
    strings = [b"one two", b"three four five", b"", b"six"]
    expected = hashed(strings, resolve_ngrams(1, 1))
    data, offsets = column(strings)
    out = block(4, 4)
    assert words.text(data, offsets, 0, 0, resolve_ngrams(1, 1), out, NO_NAMES) == (1, 2)
    assert entries(out, 1) == expected[:1]
    out = block(4, 6)
    assert words.text(data, offsets, 1, 0, resolve_ngrams(1, 1), out, NO_NAMES) == (4, 4)
    assert entries(CSRBuffer(out.values, out.indices, out.starts[1:]), 3) == expected[1:]


# Categories, numbers, and blocks side by side.


def plain_columns(index):
    zero, own = np.zeros(1), np.array([index], np.uint32)
    return NumberColumns(zero, zero + 1, zero, own, np.full(1, -1))


@given(st.text(max_size=20))
def test_the_hash_of_a_name_is_that_of_the_kernels(name):
    assert words.salt(name) == hash_bytes(name.encode())


def test_categories_numbers_and_text_make_one_row():
    salt = words.salt("colour")
    strings = [b"red", b"", b"dark blue"]
    names = room_for_names()
    a, b, c = block(3, 3), block(3, 3), block(3, 3)
    data, offsets = column(strings)
    arguments = data, offsets, 0, 0, np.uint64(salt), MASK, False, a
    assert words.categories(*arguments, NO_NAMES) == (3, 2)
    assert words.categories(*arguments, names) == (3, 2)
    assert set(names_in(names, b"".join(strings)).values()) == {b"red", b"dark blue"}
    matrix = np.array([[np.nan, 1.0], [0, 0], [2.5, 2]])
    assert words.numbers(matrix, 0, plain_columns(7), b) == 1
    assert words.numbers(matrix, 1, plain_columns(8), c) == 2
    red, blue = (hash_bytes(s, salt) & int(MASK) for s in (b"red", b"dark blue"))

    sizes = sum(np.diff(x.starts) for x in (a, b, c))
    out = block(3, int(sizes.sum()))
    out.starts[1:] = np.cumsum(sizes)
    ends = out.starts[:-1].copy()
    for part in a, b, c:
        words.append(part, ends, out)
    assert ends.tolist() == out.starts[1:].tolist()
    assert entries(out, 3) == [[(red, 1), (8, 1)], [], [(blue, 1), (7, 2.5), (8, 2)]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_are_scaled_filled_and_flagged(dtype):
    matrix = np.array([[9.0, 0.1, np.nan], [9.0, np.nan, 3.0]])
    centre, factor, filling = np.array([0.5, 3.0]), np.array([3.0, 7.0]), np.array([0.25, 0.0])
    indices, flags = np.array([4, 2], np.uint32), np.array([-1, 6])
    out = block(2, 6, dtype)
    columns = NumberColumns(centre, factor, filling, indices, flags)
    assert words.numbers(matrix, 1, columns, out) == 3
    assert entries(out, 2) == [[(4, dtype((0.1 - 0.5) * 3.0)), (6, 1)], [(4, 0.25)]]


def test_columns_without_room_stop_and_go_on():
    out = block(3, 1)
    data, offsets = column([b"a", b"b"])
    assert words.categories(data, offsets, 1, 0, np.uint64(1), MASK, False, out, NO_NAMES) == (2, 1)


# Products.


@given(st.lists(st.lists(st.tuples(st.integers(0, 9), st.integers(-3, 3)), max_size=6), max_size=4))
def test_products_are_those_of_the_naive_loop(rows):
    expected, names = [], {}
    for row in rows:
        products = []
        for (i, x), (j, y) in combinations(row, 2):
            low, high = sorted((i, j))
            index = mix_bits(low << 32 | high) & int(MASK)
            products.append((index, x * y))
            names.setdefault(index, (i, j))
        expected.append(row + products)

    whole, out = block(len(rows), 99), block(len(rows), sum(map(len, expected)))
    whole.starts[1:] = np.cumsum([len(row) for row in rows])
    out.starts[1:] = np.cumsum([len(row) for row in expected])
    flat = [feature for row in rows for feature in row]
    whole.indices[: len(flat)] = [i for i, _ in flat]
    whole.values[: len(flat)] = [x for _, x in flat]
    kept = room_for_names()
    words.cross(whole, MASK, out, kept)
    assert entries(out, len(rows)) == expected
    count = kept.count[0]
    pairs = zip(kept.begins[:count].tolist(), kept.ends[:count].tolist(), strict=True)
    assert dict(zip(kept.indices[:count].tolist(), pairs, strict=True)) == names


# Columns that a row has several times.


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 2**32 - 1) | st.integers(0, 9), st.integers(-3, 3))))
)
def test_duplicates_are_added_up_where_they_are_first(rows):
    expected, flat = [], [pair for row in rows for pair in row]
    for row in rows:
        sums = Counter()
        for index, value in row:
            sums[index] += value
        expected.append(list(sums.items()))
    out = block(len(rows), len(flat))
    out.starts[1:] = np.cumsum([len(row) for row in rows])
    out.indices[:], out.values[:] = [i for i, _ in flat], [x for _, x in flat]
    words.merge_duplicates(out, max(map(len, rows), default=0))
    assert entries(out, len(rows)) == expected
