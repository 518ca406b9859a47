"""Hashed features of strings: words, n-grams, categories, crosses, and their names.

Each kernel appends the features of one column of a table to sparse rows. The string of row r is
``data[offsets[r]:offsets[r + 1]]``, as in Arrow. A kernel starts at a row and a number k of values,
stops before a row without room, and returns both.
"""

import math
from itertools import product
from typing import NamedTuple

import numpy as np

from .addresses import ONES, SPACE, UPPER, address, byte, eight, eight_bytes, is_blank, low_zeros
from .algebra import mix, smaller
from .compiling import compiled, helper, inlined
from .forms import BITS, FLAG, FLOATS, WHOLE, given, vector


class CSRBuffer(NamedTuple):
    """A buffer of sparse rows: row r has the values and columns ``starts[r]:starts[r + 1]``.

    ``starts`` has one more element than the buffer has rows, and ``starts[0]`` is 0.
    """

    values: np.ndarray
    indices: np.ndarray
    starts: np.ndarray


class Grams(NamedTuple):
    """Which n-grams of a text are features, and their values.

    Features are runs of ``shortest`` to ``longest`` words, or characters; each is hashed with
    ``salt`` to the columns 0 to ``mask`` (one less than a power of 2). By ``counts``, a value is
    the number n of occurrences (RAW), 1 (BINARY), or 1 + log n (SUBLINEAR); it is multiplied by the
    weight of its column, if there are ``weights``; with ``unit_length`` every row is divided by its
    length.
    """

    shortest: int
    longest: int
    characters: bool
    counts: int
    unit_length: bool
    salt: np.uint64
    mask: np.uint64
    weights: np.ndarray


RAW, BINARY, SUBLINEAR = range(3)
BUCKETS = 1 << 16


class GramRoom(NamedTuple):
    """Arrays to count the n-grams of one text in, which Python makes once for many texts.

    ``keys`` are the columns of its n-grams, ``ordered`` these in order, ``counts`` their number
    in each bucket. Of words, ``hashes`` and ``begins`` hold the last ones; of characters,
    ``letters``, ``edges`` and ``begins`` hold all.
    """

    keys: np.ndarray
    ordered: np.ndarray
    counts: np.ndarray
    begins: np.ndarray
    hashes: np.ndarray
    letters: np.ndarray
    edges: np.ndarray


def make_room(grams: Grams, longest: int) -> GramRoom:
    """Room for texts of up to a number of bytes; a word has at least two, and one between two.

    Around characters are two blanks.
    """
    most = longest + 2 if grams.characters else (longest + 1) // 3
    grams_at_most = most * (grams.longest - grams.shortest + 1)
    characters = most if grams.characters else 0
    return GramRoom(
        keys=np.empty(grams_at_most, np.uint32),
        ordered=np.empty(grams_at_most, np.uint32),
        counts=np.empty(BUCKETS + 1, np.uint32),
        begins=np.empty(characters + 1 if grams.characters else grams.longest, np.int64),
        hashes=np.empty(grams.longest, np.uint64),
        letters=np.empty(characters, np.uint8),
        edges=np.empty(characters + 1, np.int64),
    )


class Names(NamedTuple):
    """A buffer for the names of new features, which their hashes do not tell.

    The name of feature ``indices[n]`` is in the bytes ``begins[n]:ends[n]``, for n below
    ``count[0]``; an inverted begin or end (~) stands for a space there. ``seen`` has a byte for
    each of the mask + 1 columns, which is 1 once its feature occurred; it is empty where names are
    not wanted. Set ``count[0]`` to 0 after copying the names.
    """

    seen: np.ndarray
    indices: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    count: np.ndarray


def each_buffer():
    """Buffers of either precision."""
    for kind in FLOATS:
        yield CSRBuffer(vector(kind), vector(np.uint32), vector(np.uint64))


STRINGS = given(np.uint8), given(np.int32), WHOLE, WHOLE  # with offsets, a row and a value
NAMES = Names(vector(np.uint8), vector(np.uint32), *[vector(np.int64)] * 3)
GRAMS = Grams(WHOLE, WHOLE, FLAG, WHOLE, FLAG, BITS, BITS, given(np.float32))
ROOM = make_room(GRAMS, 0)


# Hashes of 64 bits, eight bytes at a time. A column is the last bits of a mixed hash.


@inlined
def spell(h, letters):
    """Extend a hash by up to eight letters."""
    h = (h ^ letters) * np.uint64(0x9E3779B97F4A7C15)
    return h ^ (h >> np.uint64(32))


@inlined
def hash_bytes(i, end, stop, h):
    """Hash the bytes i to end, starting from the hash h; the bytes up to stop may be read."""
    h = spell(h, np.uint64(end - i))
    while i + 8 < end:
        h = spell(h, eight_bytes(i))
        i += 8
    if i < end:
        surplus = np.uint64(8 * (8 - (end - i)))
        h = spell(h, eight(i, stop) << surplus)
    return mix(h)


def salt(name: str) -> int:
    """The hash that the features of a column begin with: ``hash_bytes`` of its name, in Python."""
    data = name.encode()
    h = spell_in_python(0, len(data))
    for i in range(0, len(data), 8):
        letters = data[i : i + 8]
        h = spell_in_python(h, int.from_bytes(letters, "little") << 8 * (8 - len(letters)))
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9 & EVERY_BIT  # ``mix``
    h = (h ^ h >> 27) * 0x94D049BB133111EB & EVERY_BIT
    return h ^ h >> 31


EVERY_BIT = 0xFFFFFFFFFFFFFFFF


def spell_in_python(h: int, letters: int) -> int:
    """``spell`` of Python's integers."""
    h = (h ^ letters) * 0x9E3779B97F4A7C15 & EVERY_BIT
    return h ^ h >> 32


@inlined
def seen_names(names):
    """The address of the flags of known names, or 0 where names are not wanted."""
    return address(names.seen) if len(names.seen) > 0 else 0


@inlined
def is_new(seen, index):
    """Whether a feature occurs for the first time and its name is wanted."""
    return seen != 0 and byte(seen + index) == 0


@helper
def keep_name(names, index, begin, end):
    """Keep the name of a new feature, while there is room."""
    seen, indices, begins, ends, count = names
    n = count[0]
    seen[index] = 1
    if n < len(indices):
        indices[n], begins[n], ends[n] = index, begin, end
        count[0] += 1


# Columns.


@compiled(lambda: ((*STRINGS, BITS, BITS, FLAG, rows, NAMES) for rows in each_buffer()))
def categories(data, offsets, row, k, seed, mask, trim, rows, names):
    """Append each string as a feature of value 1; none if it is empty. ``trim`` ignores blanks."""
    values, indices, starts = rows
    base, seen = address(data), seen_names(names)
    while row < smaller(len(offsets), len(starts)) - 1 and k < smaller(len(values), len(indices)):
        i, end = base + offsets[row], base + offsets[row + 1]
        while trim and i < end and is_blank(byte(i)):
            i += 1
        while trim and i < end and is_blank(byte(end - 1)):
            end -= 1
        if i < end:
            index = np.uint32(hash_bytes(i, end, end, seed) & mask)
            if is_new(seen, index):
                keep_name(names, index, i - base, end - base)
            values[k], indices[k] = 1, index
            k += 1
        row += 1
        starts[row] = k
    return row, k


class NumberColumns(NamedTuple):
    """How numbers become features: one number of each array for each column.

    A number x becomes (x - centre)·factor in the column ``indices``, and a missing one (NaN) the
    filling. Unless ``flags`` is negative, a missing one also sets that column to 1.
    """

    centre: np.ndarray
    factor: np.ndarray
    filling: np.ndarray
    indices: np.ndarray
    flags: np.ndarray


def forms_of_numbers():
    """Numbers of either precision become values of either."""
    column = given(np.float64)
    columns = NumberColumns(column, column, column, given(np.uint32), given(np.int64))
    for kind, rows in product(FLOATS, each_buffer()):
        yield given(kind, 2), WHOLE, columns, rows


@compiled(forms_of_numbers)
def numbers(matrix, first, columns, rows):
    """Set rows to the features of a matrix, from a column on; none for numbers that become 0."""
    values, indices, starts = rows
    width, kind, k = len(columns.indices), values.dtype.type, np.uint64(0)
    for row in range(len(starts) - 1):
        for j in range(width):
            place = np.uint64(j)
            x = np.float64(matrix[np.uint64(row), np.uint64(first + j)])
            missing = math.isnan(x)
            if missing:
                value = kind(columns.filling[place])
            else:
                value = kind((x - columns.centre[place]) * columns.factor[place])
            values[k], indices[k] = value, columns.indices[place]
            k += np.uint64(value != 0)
            if missing and columns.flags[place] >= 0:
                values[k], indices[k] = 1, columns.flags[place]
                k += np.uint64(1)
        starts[np.uint64(row + 1)] = k
    return k


@compiled(lambda: ((rows, vector(np.uint64), rows) for rows in each_buffer()))
def append(rows, ends, out):
    """Append the values of rows to the rows of ``out``, which end at ``ends`` so far."""
    values, indices, starts = rows
    for row in range(len(ends)):
        end = ends[row]
        for k in range(starts[row], starts[row + 1]):
            out.values[end], out.indices[end] = values[k], indices[k]
            end += np.uint64(1)
        ends[row] = end


def merge_duplicates(rows: CSRBuffer, longest: int) -> None:
    """Add up the values of each column that a row has several times, in place.

    A column stays where it is first; ``longest`` is the number of values of the longest row.
    """
    merge_in_rows(rows, np.full(1 << max(1, 2 * longest).bit_length(), -1, np.int64))


@compiled(lambda: ((rows, vector(np.int64)) for rows in each_buffer()))
def merge_in_rows(rows, slots):
    """``merge_duplicates`` with a hash table of places, of more than twice the longest row."""
    values, indices, starts = rows
    stop = k = 0
    for row in range(len(starts) - 1):
        i, stop, begin, bits = stop, np.int64(starts[row + 1]), k, 1
        if k == i and is_rising(indices, i, stop):
            k = i = stop
        while 1 << bits <= 2 * (stop - i):
            bits += 1
        shift, mask = np.uint32(32 - bits), np.int64((1 << bits) - 1)
        while i < stop:
            index = indices[i]
            slot = np.int64((np.uint32(index * np.uint32(0x9E3779B1))) >> shift)
            while slots[slot] >= begin and indices[slots[slot]] != index:  # others are of old rows
                slot = (slot + 1) & mask
            if slots[slot] >= begin:
                values[slots[slot]] += values[i]
            else:
                slots[slot] = k
                values[k], indices[k] = values[i], indices[i]
                k += 1
            i += 1
        starts[row + 1] = k


@inlined
def is_rising(indices, i, stop):
    """Whether each column from place i on is above the one before it."""
    while i + 1 < stop and indices[i] < indices[i + 1]:
        i += 1
    return i + 1 >= stop


# Words, eight bytes at a time. A set of some of eight bytes is a mask of their upper bits.

A_TO_Z, ZERO_TO_NINE, UNDERSCORE = tuple(b"az"), tuple(b"09"), tuple(b"__")


@inlined
def between(word, first, last):
    """The mask of the bytes from one letter to another, in eight bytes without upper bits."""
    return (word + ONES * np.uint64(128 - first)) & ~(word + ONES * np.uint64(127 - last)) & UPPER


@inlined
def lower(word):
    """Letters in lower case; an underscore becomes a byte that is in no word."""
    return word | (~word & UPPER) >> np.uint64(2)


@inlined
def in_words(word):
    """The mask of ASCII letters, digits and underscores, and of all bytes of other characters."""
    plain = word & ~UPPER
    letters = between(lower(plain), *A_TO_Z)
    others = between(plain, *ZERO_TO_NINE) | between(plain, *UNDERSCORE)
    return letters | others | (word & UPPER)


@inlined
def character_starts(word):
    """The mask of the bytes that begin a character of UTF-8: all but 10xxxxxx."""
    return ~(word & ~(word << np.uint64(1))) & UPPER


@inlined
def read_word(i, end, h):
    """Hash the word at i in lower case; also where it ends, and if it has several characters."""
    after_first = UPPER << np.uint64(8)
    several = False
    while True:
        word = eight(i, end)
        outside = ~in_words(word) & UPPER
        first_outside = outside & (~outside + np.uint64(1))
        inside = (first_outside >> np.uint64(7)) - np.uint64(1)
        several |= character_starts(word) & inside & after_first != 0
        if inside != 0:
            h = spell(h, lower(word) & inside)
        i += low_zeros(outside) >> 3
        if outside != 0:
            return h, i, several
        after_first = UPPER


@inlined
def word_keys(i, end, base, grams, room, names):
    """Write the columns of the word n-grams between two addresses; return their number.

    Words are those of scikit-learn: two or more letters, digits or underscores, in lower case.
    hashes[n] is the hash of the last n + 1 words, which begin at begins[n].
    """
    hashes, begins, keys = room.hashes, room.begins, room.keys
    n, words, seen = 0, 0, seen_names(names)
    while i < end:
        h, after, several = read_word(i, end, grams.salt)
        if several:
            words += 1
            for before in range(smaller(words, grams.longest) - 1, -1, -1):
                g, begin, place = h, i, np.uint64(before)
                if before > 0:
                    shorter = place - np.uint64(1)
                    g = spell(spell(hashes[shorter], np.uint64(SPACE)), h)
                    begin = begins[shorter]
                hashes[place], begins[place] = g, begin
                if before + 1 >= grams.shortest:
                    index = np.uint32(mix(g) & grams.mask)
                    if is_new(seen, index):
                        keep_name(names, index, begin - base, after - base)
                    keys[np.uint64(n)] = index
                    n += 1
        i = after + 1
    return n


LOWER = np.arange(256, dtype=np.uint8)
LOWER[65:91] += 32
LOWER[9:14] = SPACE


@inlined
def character_keys(i, end, base, grams, room, names):
    """Write the columns of the character n-grams between two addresses; return their number.

    Letters are in lower case, and white space is one space. A text begins and ends with a space,
    so that prefixes and suffixes differ from what is within words. Character c is letters[edges[c]]
    to letters[edges[c + 1]]; it came from the address begins[c]. In names, ~ marks that space.
    """
    keys, letters, edges, begins = room.keys, room.letters, room.edges, room.begins
    n = 0
    letters[0], edges[0], begins[0] = SPACE, 0, i
    size = characters = 1
    while i < end:
        c = LOWER[byte(i)]
        if c != SPACE or letters[size - 1] != SPACE:
            if c & 0xC0 != 0x80 or size == 1:
                edges[characters], begins[characters] = size, i
                characters += 1
            letters[size] = c
            size += 1
        i += 1
    if letters[size - 1] != SPACE:
        letters[size], edges[characters], begins[characters] = SPACE, size, end
        size += 1
        characters += 1
    edges[characters] = size
    if characters < 3:  # a blank text
        return n

    first, seen, last = address(letters), seen_names(names), begins[characters - 1] - base
    for c in range(characters):
        for d in range(c + grams.shortest, smaller(c + grams.longest, characters) + 1):
            h = hash_bytes(first + edges[c], first + edges[d], first + size, grams.salt)
            index = np.uint32(h & grams.mask)
            if is_new(seen, index):
                begin = ~(begins[1] - base) if c == 0 else begins[c] - base
                stop = ~last if d == characters else begins[d] - base
                keep_name(names, index, begin, stop)
            keys[n] = index
            n += 1
    return n


@inlined
def sort(keys, n, mask, counts, ordered):
    """Sort n keys from 0 to mask. They are hashes: about one falls into each of n buckets."""
    buckets, shift = BUCKETS, np.uint32(0)
    while buckets > n + n and buckets > 2:
        buckets >>= 1
    while mask >> np.uint64(shift) >= np.uint64(buckets):
        shift += np.uint32(1)
    for b in range(buckets + 1):
        counts[b] = 0
    for t in range(n):
        counts[(keys[t] >> shift) + np.uint32(1)] += np.uint32(1)
    for b in range(buckets):
        counts[b + 1] += counts[b]
    for t in range(n):
        b = keys[t] >> shift
        ordered[counts[b]] = keys[t]
        counts[b] += np.uint32(1)
    for t in range(1, n):
        key, place = ordered[t], t
        while place > 0 and ordered[place - 1] > key:
            ordered[place] = ordered[place - 1]
            place -= 1
        ordered[place] = key


@helper
def write_counts(room, n, k, grams, rows):
    """Write each distinct key from place k on, with its value; return the place after them."""
    values, indices, _ = rows
    ordered = room.ordered
    sort(room.keys, n, grams.mask, room.counts, ordered)
    first, count = k, 0
    for t in range(n):
        again = t > 0 and ordered[t] == ordered[t - 1]
        count = count + 1 if again else 1
        k += not again
        values[k - 1], indices[k - 1] = 1 if grams.counts == BINARY else count, ordered[t]
    weigh(first, k, grams, values, indices)
    return k


@inlined
def weigh(first, stop, grams, values, indices):
    """Turn the counts of a row into its values."""
    total = 0.0
    for t in range(first, stop):
        value = np.float64(values[t])
        if grams.counts == SUBLINEAR and value > 1:
            value = 1 + math.log(value)
        if len(grams.weights) > 0:
            value *= grams.weights[indices[t]]
        values[t] = value
        total += value * value
    if grams.unit_length:
        for t in range(first, stop):
            values[t] = values[t] / math.sqrt(total)


@compiled(lambda: ((given(np.uint64), GRAMS, vector(kind), given(np.uint32)) for kind in FLOATS))
def weigh_rows(starts, grams, values, indices):
    """Turn the counts of rows into their values, once the weights are known."""
    for row in range(len(starts) - 1):
        weigh(starts[row], starts[row + 1], grams, values, indices)


def text(
    data: np.ndarray,
    offsets: np.ndarray,
    row: int,
    k: int,
    grams: Grams,
    rows: CSRBuffer,
    names: Names,
) -> tuple[int, int]:
    """Append the distinct n-grams of each string, sorted by column."""
    longest = int(np.diff(offsets[row : len(rows.starts)]).max(initial=0))
    return append_grams(data, offsets, row, k, grams, make_room(grams, longest), rows, names)


@compiled(lambda: ((*STRINGS, GRAMS, ROOM, rows, NAMES) for rows in each_buffer()))
def append_grams(data, offsets, row, k, grams, room, rows, names):
    """Append the distinct n-grams of each string, counted in a room for the longest one."""
    base = address(data)
    while row < smaller(len(offsets), len(rows.starts)) - 1:
        i, end = base + offsets[row], base + offsets[row + 1]
        if grams.characters:
            n = character_keys(i, end, base, grams, room, names)
        else:
            n = word_keys(i, end, base, grams, room, names)
        if n > smaller(len(rows.values), len(rows.indices)) - k:
            break
        k = write_counts(room, n, k, grams, rows)
        row += 1
        rows.starts[row] = k
    return row, k


# Products of every two features of a row, as additional features.


@compiled(lambda: ((rows, BITS, rows, NAMES) for rows in each_buffer()))
def cross(rows, mask, out, names):
    """Copy rows, and add the products of every two features to each; ``out`` has their starts.

    The name of a product is the pair of its columns.
    """
    values, indices, starts = rows
    seen = seen_names(names)
    for row in range(len(starts) - 1):
        end, stop = out.starts[row], starts[row + 1]
        for k in range(starts[row], stop):
            out.values[end], out.indices[end] = values[k], indices[k]
            end += np.uint64(1)
        for k in range(starts[row], stop):
            for j in range(k + np.uint64(1), stop):
                index = cross_index(indices[k], indices[j], mask)
                if is_new(seen, index):
                    keep_name(names, index, indices[k], indices[j])
                out.values[end], out.indices[end] = values[k] * values[j], index
                end += np.uint64(1)


@inlined
def cross_index(i, j, mask):
    """The column of a product of two features, whose order does not matter."""
    if i > j:
        i, j = j, i
    return np.uint32(mix(np.uint64(i) << np.uint64(32) | np.uint64(j)) & mask)
