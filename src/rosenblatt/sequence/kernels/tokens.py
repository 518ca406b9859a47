"""Features of words: numbers of distinct strings, their spelling, and templates of features.

String i is ``data[begins[i]:ends[i]]``. Strings are compared by 64-bit hashes of their characters;
two different strings share one in a million vocabularies. A hash table has a power of 2 of places,
at least half of them free; a key of 0 marks a free place.
"""

from typing import NamedTuple

import numpy as np

from ...kernels.algebra import fetch, mix
from ...kernels.compiling import compiled, helper, inlined
from ...kernels.forms import FLAG, REAL, WHOLE, given, vector
from ...kernels.words import spell

ABSENT = np.uint32(0xFFFFFFFF)
WORD, LOWER, PREFIX, SUFFIX, SHAPE, OUTLINE, FLAGS = range(7)
UPPER_CASE, LOWER_CASE, DIGIT, LETTER, MARK = range(1, 6)  # kinds of characters; 0 is another


class HashTable(NamedTuple):
    """Numbers by hash: ``numbers[place]`` belongs to the hash ``keys[place]``."""

    keys: np.ndarray
    numbers: np.ndarray


class Characters(NamedTuple):
    """The lower case and the kind of the first characters of Unicode."""

    lower: np.ndarray
    kinds: np.ndarray


class Looks(NamedTuple):
    """Spelling features to compute: the code, number of characters and hash salt of each."""

    codes: np.ndarray
    sizes: np.ndarray
    salts: np.ndarray


class Templates(NamedTuple):
    """Feature templates: template k has the places ``starts[k]`` to ``starts[k + 1]``.

    A place is an attribute and a view, which is a column seen some tokens away. A template of one
    place has its features by type in the block of its view, at ``slots[k]``; that is -1 for other
    templates, which are listed in ``joined``.
    """

    starts: np.ndarray
    attributes: np.ndarray
    views: np.ndarray
    slots: np.ndarray
    joined: np.ndarray


class Views(NamedTuple):
    """Columns seen some tokens away, each with a block of features by type.

    A type has ``sizes`` features there, those of templates of one place, from ``starts`` on.
    """

    columns: np.ndarray
    offsets: np.ndarray
    sizes: np.ndarray
    starts: np.ndarray


class Columns(NamedTuple):
    """The types of all tokens, one row per column, and the attribute values of the types.

    The value of attribute a for type t is at ``value_starts[a] + t``. After the ``counts`` types of
    a column come the types of places before and behind a sequence, nearest first, ``reach`` of
    each.
    """

    types: np.ndarray
    counts: np.ndarray
    values: np.ndarray
    value_starts: np.ndarray
    reach: int


class FeatureList(NamedTuple):
    """Features by key, with the template and the values of each; unused values are ABSENT.

    There are ``count[0]`` features; the arrays have room for more.
    """

    table: HashTable
    numbers: np.ndarray
    values: np.ndarray
    count: np.ndarray


NUMBERS, HASHES, KEYS = given(np.int64), given(np.uint64), vector(np.uint64)
CHARACTERS = Characters(given(np.uint32), given(np.uint8))
STRINGS = given(np.uint8), NUMBERS, NUMBERS
LOOKS = Looks(given(np.uint8), NUMBERS, HASHES)
LETTERS, WORDS = vector(np.uint32, 2), vector(np.uint32)
PLACED, TABLE = vector(np.int64), HashTable(KEYS, WORDS)
FEATURES = (
    Columns(given(np.uint32, 2), NUMBERS, given(np.uint32), NUMBERS, WHOLE),
    FeatureList(TABLE, vector(np.uint16), LETTERS, PLACED),
    FLAG,
)
PLACES = Templates(*[NUMBERS] * 5), Views(*[NUMBERS] * 4)


# Tables.


@inlined
def find_slot(table, key):
    """The place of a key, or the free place for it."""
    mask = np.uint64(len(table.keys) - 1)
    place = key & mask
    while table.keys[place] != 0 and table.keys[place] != key:
        place = (place + np.uint64(1)) & mask
    return place


@inlined
def find_number(table, key):
    """The number of a key, or ABSENT."""
    place = find_slot(table, key)
    return table.numbers[place] if table.keys[place] != 0 else ABSENT


@compiled(lambda: [(TABLE, HASHES, given(np.uint32))])
def fill(table, keys, numbers):
    """Put keys with their numbers into a table that has room."""
    for k in range(len(keys)):
        place = find_slot(table, keys[k])
        table.keys[place], table.numbers[place] = keys[k], numbers[k]


@compiled(lambda: [(TABLE, HASHES, WORDS)])
def find(table, keys, numbers):
    """Set the number of each key; ABSENT for unknown keys and for 0."""
    for k in range(len(keys)):
        numbers[k] = find_number(table, keys[k]) if keys[k] != 0 else ABSENT


@compiled(lambda: [(TABLE, HASHES, WHOLE, WORDS, PLACED)])
def number_keys(table, keys, known, numbers, firsts):
    """Number keys, new ones from ``known`` on; return how many are known then.

    ``firsts`` gets the place of each new key. The table must have room. A key of 0 is ABSENT.
    """
    count = known
    for k in range(len(keys)):
        if keys[k] == 0:
            numbers[k] = ABSENT
            continue
        place = find_slot(table, keys[k])
        if table.keys[place] == 0:
            table.keys[place], table.numbers[place] = keys[k], count
            firsts[count - known] = k
            count += 1
        numbers[k] = table.numbers[place]
    return count


# Strings.


@inlined
def decode_character(data, i, end):
    """The character that begins at byte i of UTF-8, and where the next one begins."""
    c = np.uint32(data[i])
    more = 0
    if c >= 0xF0:
        c, more = c & np.uint32(0x07), 3
    elif c >= 0xE0:
        c, more = c & np.uint32(0x0F), 2
    elif c >= 0xC0:
        c, more = c & np.uint32(0x1F), 1
    i += 1
    while more > 0 and i < end:
        c = c << np.uint32(6) | (np.uint32(data[i]) & np.uint32(0x3F))
        i += 1
        more -= 1
    return c, i


@helper
def read_characters(data, begin, end, letters):
    """Write the characters of a string; return their number."""
    n, i = 0, begin
    while i < end:
        letters[n], i = decode_character(data, i, end)
        n += 1
    return n


@inlined
def hash_number(h, number):
    """Extend a hash by a number."""
    return spell(h, np.uint64(number) + np.uint64(1))


@inlined
def to_key(h):
    """Turn a hash into the key of a table, which is never 0."""
    h = mix(h)
    return h if h != 0 else np.uint64(1)


@inlined
def hash_characters(letters, first, last, h):
    """Hash characters first to last, starting from the hash h; never 0."""
    for k in range(first, last):
        h = hash_number(h, letters[k])
    return to_key(h)


@compiled(lambda: [(*STRINGS, HASHES, WORDS, KEYS)])
def hash_strings(data, begins, ends, salts, letters, hashes):
    """Set the hash of each string, which depends on its salt; ``letters`` has room for one."""
    for k in range(len(begins)):
        n = read_characters(data, begins[k], ends[k], letters)
        hashes[k] = hash_characters(letters, 0, n, salts[k])


@inlined
def classify_character(letter, characters):
    """The kind of a character; those beyond the table are letters without case."""
    return characters.kinds[letter] if letter < len(characters.kinds) else np.uint8(LETTER)


SHAPES = np.array([0, ord("X"), ord("x"), ord("d"), ord("a"), ord("m")], np.uint32)
FLAG_LETTERS = np.array([ord(c) for c in "UudDap-"], np.uint32)
LONGEST_RUN = 4  # of a shape


@inlined
def get_shape(letters, n, most, characters, out):
    """Write the shape of a word, with runs of at most ``most`` equal kinds; return its length."""
    size, run = 0, 0
    for k in range(n):
        kind = classify_character(letters[k], characters)
        c = SHAPES[kind] if kind != 0 else letters[k]
        run = run + 1 if size > 0 and out[size - 1] == c else 1
        if run <= most:
            out[size] = c
            size += 1
    return size


@inlined
def get_flags(letters, n, characters, out):
    """Write a letter for each property of a word, such as capitals or digits; return how many."""
    upper = lower = digits = hyphens = other = 0
    for k in range(n):
        kind = classify_character(letters[k], characters)
        upper += kind == UPPER_CASE
        lower += kind in (LOWER_CASE, LETTER)
        digits += kind == DIGIT
        other += kind == 0
        hyphens += letters[k] == ord("-")
    has = (
        upper > 0,
        upper > 1 and lower == 0,
        digits > 0,
        digits == n,
        upper + lower > 0,
        other > 0,
        hyphens > 0,
    )
    size = 0
    for k in range(7):
        if has[k]:
            out[size] = FLAG_LETTERS[k]
            size += 1
    return size


@inlined
def write_look(code, size, letters, lowered, n, characters, out):
    """Write one spelling feature of a word; return its length, -1 if the word is too short."""
    if code == FLAGS:
        return get_flags(letters, n, characters, out)
    if code in (SHAPE, OUTLINE):
        return get_shape(letters, n, LONGEST_RUN if code == SHAPE else 1, characters, out)
    source = letters if code == WORD else lowered
    first, last = 0, n
    if code == PREFIX:
        last = size
    if code == SUFFIX:
        first = n - size
    if first < 0 or last > n:
        return -1
    for k in range(first, last):
        out[k - first] = source[k]
    return last - first


@inlined
def read_word(data, begin, end, characters, letters, lowered):
    """Write the characters of a word, and those in lower case; return their number."""
    n = read_characters(data, begin, end, letters)
    for k in range(n):
        c = letters[k]
        lowered[k] = characters.lower[c] if c < len(characters.lower) else c
    return n


@compiled(lambda: [(*STRINGS, LOOKS, CHARACTERS, LETTERS, vector(np.uint64, 2))])
def hash_looks(data, begins, ends, looks, characters, room, hashes):
    """Set the hash of each spelling feature (one row each) of each string; 0 if it has none.

    ``room`` has three rows for the longest string and eight letters.
    """
    letters, lowered, out = room[0], room[1], room[2]
    for t in range(len(begins)):
        n = read_word(data, begins[t], ends[t], characters, letters, lowered)
        for a in range(len(looks.codes)):
            code, size, salt = looks.codes[a], np.int64(looks.sizes[a]), looks.salts[a]
            length = write_look(code, size, letters, lowered, n, characters, out)
            hashes[a, t] = hash_characters(out, 0, length, salt) if length >= 0 else np.uint64(0)


@compiled(lambda: [(*STRINGS, WHOLE, WHOLE, CHARACTERS, LETTERS, WORDS, PLACED)])
def write_looks(data, begins, ends, code, size, characters, room, texts, text_ends):
    """Write a spelling feature of each string, which none is too short for, one after the other."""
    letters, lowered, out, total = room[0], room[1], room[2], 0
    for t in range(len(begins)):
        n = read_word(data, begins[t], ends[t], characters, letters, lowered)
        for k in range(write_look(code, size, letters, lowered, n, characters, out)):
            texts[total] = out[k]
            total += 1
        text_ends[t] = total


# Features.


@inlined
def get_type(columns, column, i, first, last):
    """The type of a column at place i, which may lie outside the sequence first to last."""
    if i < first:
        return columns.counts[column] + (first - i - 1)
    if i >= last:
        return columns.counts[column] + columns.reach + (i - last)
    return np.int64(columns.types[column, i])


@inlined
def get_value(columns, templates, place, here):
    """The attribute value of a template's place, by the types around a token."""
    return columns.values[
        columns.value_starts[templates.attributes[place]] + here[templates.views[place]]
    ]


@inlined
def template_key(k):
    """The hash that the keys of a template's features begin with."""
    return hash_number(np.uint64(0x2545F4914F6CDD1D), k)


@compiled(lambda: [(given(np.uint16), given(np.uint32, 2), KEYS)])
def compute_keys(numbers, values, keys):
    """Set the key of each feature, from the number of its template and its values."""
    for f in range(len(numbers)):
        h = template_key(numbers[f])
        for a in range(values.shape[1]):
            if values[f, a] != ABSENT:
                h = hash_number(h, values[f, a])
        keys[f] = to_key(h)


@inlined
def find_feature(key, features, learning):
    """The number of a feature, and whether it is new; when not learning, ABSENT for unknown ones.

    The caller fills in the template and values of a new feature.
    """
    table, _, _, count = features
    place = find_slot(table, key)
    if table.keys[place] != 0:
        return table.numbers[place], False
    if not learning:
        return ABSENT, False
    found = np.uint32(count[0])
    table.keys[place], table.numbers[place] = key, found
    count[0] += 1
    return found, True


@compiled(lambda: [(*PLACES, *FEATURES, WORDS)])
def fill_views(templates, views, columns, features, learning, rows):
    """Fill the blocks of all views with the features of each type.

    When learning, there must be room for one new feature of each type and template.
    """
    for k in range(len(templates.slots)):
        if templates.slots[k] < 0:
            continue
        first = templates.starts[k]
        view, attribute = templates.views[first], templates.attributes[first]
        size = views.sizes[view]
        place = views.starts[view] + templates.slots[k]
        for t in range(columns.counts[views.columns[view]] + 2 * columns.reach):
            value = columns.values[columns.value_starts[attribute] + t]
            rows[place + t * size] = ABSENT
            if value != ABSENT:
                key = to_key(hash_number(template_key(k), value))
                row, new = find_feature(key, features, learning)
                rows[place + t * size] = row
                if new:
                    features.numbers[row] = k
                    features.values[row, 0] = value


@inlined
def has_room(features, more):
    """Whether there is room for more features."""
    needed = features.count[0] + more
    return 2 * needed <= len(features.table.keys) and needed <= len(features.numbers)


@compiled(
    lambda: [
        (NUMBERS, WHOLE, WHOLE, *PLACES, *FEATURES, given(np.uint32), PLACED, KEYS, WORDS, PLACED)
    ]
)
def write_features(
    sequences, begin, end, templates, views, columns, features, learning, rows, here, keys, out,
    starts,
):  # fmt: skip
    """Write the features of the tokens of the sequences begin to end; return where it stopped.

    Features of token i begin at ``starts[i]``. Those of templates of one place come from the blocks
    of the views, the others from the table. It stops before a sequence whose new features may lack
    room. ``here`` has a place for each view, and ``keys`` for each joined template.
    """
    n, mask = starts[sequences[begin]], np.uint64(len(features.table.keys) - 1)
    for s in range(begin, end):
        first, last = sequences[s], sequences[s + 1]
        if learning and not has_room(features, (last - first) * len(templates.slots)):
            return s
        for i in range(first, last):
            for v in range(len(here)):
                there = get_type(columns, views.columns[v], i + views.offsets[v], first, last)
                here[v] = there
                size = views.sizes[v]
                place = views.starts[v] + there * size
                for k in range(place, place + size):
                    if rows[k] != ABSENT:
                        out[n] = rows[k]
                        n += 1
            for j in range(len(keys)):  # all keys first, to prefetch their places
                keys[j] = joined_key(templates.joined[j], templates, columns, here)
                fetch(features.table.keys, keys[j] & mask)
            for j in range(len(keys)):
                if keys[j] != 0:
                    row, new = find_feature(keys[j], features, learning)
                    if new:
                        describe_joined(
                            row, templates.joined[j], templates, columns, features, here
                        )
                    if row != ABSENT:
                        out[n] = row
                        n += 1
            starts[i + 1] = n
    return end


@inlined
def joined_key(k, templates, columns, here):
    """The key of a template's feature by the types around a token; 0 if a value is absent."""
    h = template_key(k)
    for place in range(templates.starts[k], templates.starts[k + 1]):
        value = get_value(columns, templates, place, here)
        if value == ABSENT:
            return np.uint64(0)
        h = hash_number(h, value)
    return to_key(h)


@inlined
def describe_joined(row, k, templates, columns, features, here):
    """Set the template and the values of a new feature."""
    features.numbers[row] = k
    for place in range(templates.starts[k], templates.starts[k + 1]):
        value = get_value(columns, templates, place, here)
        features.values[row, place - templates.starts[k]] = value


# The lexicon: the tags of each word in the training data.


@compiled(lambda: [(*[NUMBERS] * 6, REAL, FLAG, PLACED, KEYS)])
def hash_tag_sets(sequences, words, pairs, starts, tags, counts, share, without_own, own, sets):
    """Set a hash of the frequent tags that each token's word has in other sequences.

    A tag is frequent with at least ``share`` of the word's tokens. Pairs of a word and a tag are
    numbered: word w has the pairs ``starts[w]`` to ``starts[w + 1]``, with their ``tags`` and
    ``counts``, and token i has pair ``pairs[i]``. A word of no other sequence has an empty set.
    Unless ``without_own``, a sequence's own tags count, too; ``own`` holds a 0 for each pair.
    """
    for s in range(len(sequences) - 1):
        first, last = sequences[s], sequences[s + 1]
        if without_own:
            for i in range(first, last):
                own[pairs[i]] += 1
        for i in range(first, last):
            w, total = words[i], 0
            for p in range(starts[w], starts[w + 1]):
                total += counts[p] - own[p]
            h = np.uint64(0)
            for p in range(starts[w], starts[w + 1]):
                if counts[p] - own[p] > 0 and counts[p] - own[p] >= share * total:
                    h = hash_number(h, tags[p])
            sets[i] = to_key(h)
        if without_own:
            for i in range(first, last):
                own[pairs[i]] = 0
