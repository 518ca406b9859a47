"""Attributes of words in plain Python: the texts that the kernels hash."""

import unicodedata
from functools import cache

import numpy as np

from ...data.rows import Array, read_only
from ...kernels import tokens as kernel
from ...kernels.tokens import Characters, Looks
from .strings import Strings
from .templates import Attribute

KNOWN = 0x20000  # characters in the tables; beyond are letters without case


@cache
def make_character_tables() -> Characters:
    """Return the lower case and the kind of every character of the first planes of Unicode."""
    letters = [chr(code) for code in range(KNOWN)]
    lower = np.array([ord(letter.lower()[0]) for letter in letters], np.uint32)
    kinds = np.array([classify_character(letter) for letter in letters], np.uint8)
    return Characters(lower, kinds)


def hash_looks(strings: Strings, looks: Looks) -> Array:
    """Return the hashes of each string, a line of them for each look."""
    found = np.empty((len(looks.codes), strings.size), np.uint64)
    data, begins, ends = strings
    kernel.hash_looks(read_only(data), begins, ends, looks, make_character_tables(), found)
    return found


def classify_character(letter: str) -> int:
    """Return the kind of a character."""
    category = unicodedata.category(letter)
    kinds = {"Lu": kernel.UPPER_CASE, "Lt": kernel.UPPER_CASE, "Ll": kernel.LOWER_CASE}
    if category in kinds:
        return kinds[category]
    return {"L": kernel.LETTER, "N": kernel.DIGIT, "M": kernel.MARK}.get(category[0], 0)


def compute_attribute(word: str, attribute: Attribute) -> str | None:
    """Return an attribute of a word; None if the word is too short.

    >>> compute_attribute("McDonald's", Attribute("word", kernel.SHAPE))
    "XxXxxxx'x"
    """
    code, size = attribute.look, attribute.size
    if code == kernel.WORD:
        return word
    if code == kernel.SHAPE:
        return compute_shape(word, kernel.LONGEST_RUN)
    if code == kernel.OUTLINE:
        return compute_shape(word, 1)
    if code == kernel.FLAGS:
        return compute_flags(word)
    lower = "".join(letter.lower()[0] for letter in word)
    if code == kernel.LOWER:
        return lower
    if len(word) < size:
        return None
    return lower[:size] if code == kernel.PREFIX else lower[len(lower) - size :]


def list_kinds(word: str) -> list[int]:
    """Return the kind of each character."""
    return [classify_character(letter) if ord(letter) < KNOWN else kernel.LETTER for letter in word]


def compute_shape(word: str, most: int) -> str:
    """Return the kinds of the characters of a word, in runs of at most ``most``."""
    text = ""
    for letter, kind in zip(word, list_kinds(word), strict=True):
        shown = chr(kernel.SHAPES[kind]) if kind else letter
        text += shown if text[-most:] != shown * most else ""
    return text


def compute_flags(word: str) -> str:
    """Return a letter for each of: capitals, only capitals, digits, only digits, letters, …, -."""
    kinds = list_kinds(word)
    upper, digits = kinds.count(kernel.UPPER_CASE), kinds.count(kernel.DIGIT)
    lower = kinds.count(kernel.LOWER_CASE) + kinds.count(kernel.LETTER)
    has = (
        upper > 0,
        upper > 1 and lower == 0,
        digits > 0,
        digits == len(word),
        upper + lower > 0,
        0 in kinds,
        "-" in word,
    )
    letters = (chr(code) for code in kernel.FLAG_LETTERS)
    return "".join(letter for letter, true in zip(letters, has, strict=True) if true)
