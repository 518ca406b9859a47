"""Tables of hashes, and strings told apart by them."""

import unicodedata

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from rosenblatt.sequence.kernels import tokens as kernel
from rosenblatt.sequence.kernels.tokens import ABSENT, Looks
from rosenblatt.sequence.strings import Categorical, Strings, fill_table
from rosenblatt.sequence.templates import KNOWN, LOOKS, Attribute, hash_looks, spell_attribute

TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), max_size=30)


@given(texts=TEXTS)
@example(texts=["", "\x01", "\x02\x00"])
@settings(deadline=None)
def test_strings_are_numbered_as_they_come(texts):
    typed = Categorical.of(Strings.of(texts))
    known = list(dict.fromkeys(texts))
    assert typed.strings.texts() == known
    assert typed.types.tolist() == [known.index(text) for text in texts]


@given(keys=st.lists(st.integers(1, 2**64 - 1), unique=True, max_size=60))
@settings(deadline=None)
def test_tables_know_what_was_put_into_them(keys):
    keys = np.array(keys, np.uint64)
    table = fill_table(keys, np.arange(len(keys), dtype=np.uint32))
    found = np.empty(len(keys), np.uint32)
    kernel.find(table, keys, found)
    assert found.tolist() == list(range(len(keys)))
    kernel.find(table, ~keys | np.uint64(1), found)
    others = set((~keys | np.uint64(1)).tolist()) - set(keys.tolist())
    assert (found == ABSENT).sum() >= len(others)


@pytest.mark.parametrize("name", sorted(LOOKS))
@given(texts=TEXTS)
@settings(deadline=None, max_examples=50)
def test_a_look_is_hashed_as_its_name_is(name, texts):
    size = 3 if name in ("prefix", "suffix") else 0
    attribute, salts = Attribute("word", LOOKS[name], size), np.array([7], np.uint64)
    looks = Looks(np.array([LOOKS[name]], np.uint8), np.array([size]), salts)
    hashes = hash_looks(Strings.of(texts), looks)
    known = [text for text in texts if len(text) >= size]
    spelt = spell_attribute(Strings.of(known), attribute)
    assert spelt.texts() == [spell(text, name, size) for text in known]
    wanted = dict(zip(known, spelt.hashes(np.full(len(known), 7, np.uint64)), strict=True))
    assert hashes[0].tolist() == [wanted.get(text, 0) for text in texts]


def spell(word, name, size):
    """What a look of a word is, letter by letter."""
    lower = "".join(letter.lower()[0] for letter in word)
    kinds = {"Lu": "X", "Lt": "X", "Ll": "x", "L": "a", "N": "d", "M": "m"}
    found = [unicodedata.category(letter) if ord(letter) < KNOWN else "Lo" for letter in word]
    shown = [kinds.get(kind, kinds.get(kind[0])) for kind in found]
    if name in ("word", "lower", "prefix", "suffix"):
        by_name = {"word": word, "lower": lower, "prefix": lower[:size]}
        return by_name.get(name, lower[len(lower) - size :])
    if name == "flags":
        upper, small, digits = (
            shown.count("X"),
            shown.count("x") + shown.count("a"),
            shown.count("d"),
        )
        has = (upper, upper > 1 and not small, digits, digits == len(word), upper + small)
        has = *has, None in shown, "-" in word
        return "".join(letter for letter, true in zip("UudDap-", has, strict=True) if true)
    text, most = "", 4 if name == "shape" else 1
    for letter, kind in zip(word, shown, strict=True):
        show = kind or letter
        text += show if text[-most:] != show * most else ""
    return text


def test_a_set_of_tags_leaves_out_the_own_sentence():
    """Word 0 has tag 0 three times and tag 1 once, word 1 has tag 1 twice."""
    sequences = np.array([0, 2, 4, 6])
    words, pairs = np.array([0, 1, 0, 1, 0, 0]), np.array([0, 2, 0, 2, 0, 1])
    starts, tags, counts = np.array([0, 2, 3]), np.array([0, 1, 1]), np.array([3, 1, 2])

    def hashes(share, without_own):
        sets = np.zeros(6, np.uint64)
        known = starts, tags, counts, share, without_own
        kernel.hash_tag_sets(sequences, words, pairs, *known, np.zeros(3, np.int64), sets)
        return sets.tolist()

    own = hashes(0.0, True)
    assert own[0] == own[2]  # both tags: the last sentence has them
    assert own[4] == own[5] != own[0]  # tag 0 alone
    assert own[1] == own[3]
    often = hashes(0.4, True)
    assert often[0] == own[4]  # tag 1 is too rare
    assert hashes(0.0, False) == [own[0], own[1]] * 2 + [own[0]] * 2  # none is left out
