"""Templates: the attributes of neighbouring tokens that are features of a token, and their values.

A template is written as places joined by ``|``: ``word[-1]``, ``suffix3[0]``, ``pos[0]|pos[1]``. A
place is a column or an attribute of the word (of another column: ``suffix3(lemma)[0]``), and the
offset from the token. ``bias`` is a feature of every token.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..data.rows import Array, read_only
from ..parameters import ParameterError
from .kernels import tokens as kernel
from .kernels.tokens import Characters, Looks
from .sentences import FEATURES
from .strings import Strings

LEXICON = "lexicon"
"""The name of the column with the tags that each word has had."""
LOOKS = {
    "word": kernel.WORD,
    "lower": kernel.LOWER,
    "prefix": kernel.PREFIX,
    "suffix": kernel.SUFFIX,
    "shape": kernel.SHAPE,
    "outline": kernel.OUTLINE,
    "flags": kernel.FLAGS,
}
FARTHEST = 100  # from a token
PLACE = re.compile(r"\s*([^\[\]|()]+?)\s*(?:\(([^()]*)\))?\s*\[\s*([+-]?\d+)\s*\]\s*")
SIZED = re.compile(r"(prefix|suffix)([1-9]\d?)")


class Attribute(NamedTuple):
    """An attribute of a column, such as its suffix of ``size`` characters."""

    column: str
    look: int
    size: int = 0

    def __str__(self) -> str:
        names = {code: name for name, code in LOOKS.items()}
        name = names[self.look] + (str(self.size) if self.size else "")
        if self.look == kernel.WORD:
            return self.column
        return name if self.column == "word" else f"{name}({self.column})"


class Place(NamedTuple):
    """An attribute of the token at an offset."""

    attribute: Attribute
    offset: int

    def __str__(self) -> str:
        return f"{self.attribute}[{self.offset}]"


Template = tuple[Place, ...]


def format_template(template: Template) -> str:
    """Write a template as text.

    >>> format_template(parse_template("suffix3[0]|pos[-1]", ("word", "pos")))
    'suffix3[0]|pos[-1]'
    """
    return "|".join(map(str, template)) or "bias"


def parse_template(text: str, columns: Sequence[str]) -> Template:
    """Parse a template."""
    if text.strip() == "bias":
        return ()
    return tuple(parse_place(part, text, columns) for part in text.split("|"))


def parse_place(text: str, template: str, columns: Sequence[str]) -> Place:
    """Parse one place of a template."""
    found = PLACE.fullmatch(text)
    if found is None:
        raise ValueError(
            f"The template {template!r} cannot be parsed at {text!r}; write a place as a "
            'column or attribute of the word with an offset, as "word[-1]" or "suffix3[0]|pos[1]".'
        )
    name, of, offset = found[1], found[2], int(found[3])
    if abs(offset) > FARTHEST:
        raise ValueError(
            f"The template {template!r} looks over {FARTHEST} tokens away; use a smaller offset."
        )
    return Place(find_attribute(name, of, template, columns), offset)


def find_attribute(name: str, of: str | None, template: str, columns: Sequence[str]) -> Attribute:
    """Find an attribute by its name: a column, or an attribute of one."""
    known = (*columns, LEXICON)
    if of is None and name in known:
        return Attribute(name, kernel.WORD)
    column = columns[0] if of is None else of.strip()
    sized = SIZED.fullmatch(name)
    look = LOOKS.get(sized[1] if sized else name)
    if (
        look is None
        or column not in known
        or (look in (kernel.PREFIX, kernel.SUFFIX)) != bool(sized)
    ):
        raise ValueError(
            f"The template {template!r} asks for {name!r}, which is neither a column "
            f"({', '.join(columns)}) nor an attribute of one (lower, prefix1 …, suffix1 …, shape, "
            "outline, flags, lexicon)."
        )
    return Attribute(column, look, int(sized[2]) if sized else 0)


# The defaults for words of any language, chosen on held-out parts of training sets.

OF_WORDS = [
    *("bias", "word[0]", "lower[0]", "shape[0]", "outline[0]", "flags[0]"),
    *(f"{affix}{size}[0]" for affix in ("prefix", "suffix") for size in range(1, 6)),
    *("word[-1]", "word[1]", "lower[-2]", "lower[-1]", "lower[1]", "lower[2]"),
    *("suffix3[-1]", "suffix3[1]", "lower[-1]|suffix3[0]", "suffix3[0]|lower[1]"),
    *("shape[-1]", "shape[1]", "outline[-1]|outline[0]", "outline[0]|outline[1]"),
    *("lower[-1]|lower[0]", "lower[0]|lower[1]", "lower[-1]|lower[1]", "lower[1]|lower[2]"),
    *("lexicon[-2]", "lexicon[-1]", "lexicon[0]", "lexicon[1]", "lexicon[2]"),
    *("lexicon[-1]|lexicon[0]", "lexicon[0]|lexicon[1]", "lexicon[1]|lexicon[2]"),
]
WITH_COLUMN = [
    *("{c}[-2]", "{c}[-1]", "{c}[0]", "{c}[1]", "{c}[2]"),
    *("{c}[-2]|{c}[-1]", "{c}[-1]|{c}[0]", "{c}[0]|{c}[1]", "{c}[1]|{c}[2]"),
    *("{c}[-2]|{c}[-1]|{c}[0]", "{c}[-1]|{c}[0]|{c}[1]", "{c}[0]|{c}[1]|{c}[2]"),
    *("{w}[-1]|{c}[0]", "{w}[0]|{c}[0]", "{w}[0]|{c}[1]"),
]


def make_default_templates(columns: Sequence[str]) -> list[Template]:
    """Return the default templates for tokens of some columns, the word first."""
    word = columns[0]
    texts = [text.replace("word[", f"{word}[") for text in OF_WORDS]
    for column in columns[1:]:
        texts += [text.format(c=column, w=word) for text in WITH_COLUMN]
    return [parse_template(text, columns) for text in texts]


def resolve_templates(features: Any, columns: tuple[str, ...]) -> list[Template]:
    """Return the templates of the parameter ``features``, or the default ones."""
    if LEXICON in columns:
        raise ValueError(f"The column name {LEXICON!r} is reserved; rename the column.")
    if columns == (FEATURES,):
        if features is not None:
            raise ParameterError(
                "features has templates, and the tokens come with features; "
                "leave one out, or give tokens as strings, tuples or dicts of columns.",
                code="templates-and-features",
            )
        return [parse_template(f"{FEATURES}[0]", columns)]
    if features is None:
        return make_default_templates(columns)
    if not isinstance(features, list | tuple) or not features:
        raise ParameterError(
            f"features must be None or a list of templates; got {features!r:.60}.",
            code="out-of-range",
        )
    if not all(isinstance(text, str) for text in features):
        raise ParameterError(
            'features must have templates as strings, such as "word[-1]".', code="out-of-range"
        )
    return [parse_template(text, columns) for text in dict.fromkeys(features)]


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
    room = np.empty((3, strings.longest + 8), np.uint32)
    data, begins, ends = strings
    kernel.hash_looks(read_only(data), begins, ends, looks, make_character_tables(), room, found)
    return found


def classify_character(letter: str) -> int:
    """Return the kind of a character."""
    category = unicodedata.category(letter)
    kinds = {"Lu": kernel.UPPER_CASE, "Lt": kernel.UPPER_CASE, "Ll": kernel.LOWER_CASE}
    if category in kinds:
        return kinds[category]
    return {"L": kernel.LETTER, "N": kernel.DIGIT, "M": kernel.MARK}.get(category[0], 0)


def spell_attribute(strings: Strings, attribute: Attribute) -> Strings:
    """Return an attribute of each string; no string is too short for it.

    >>> spell_attribute(Strings.of(["McDonald's"]), Attribute("word", kernel.SHAPE)).texts()
    ["XxXxxxx'x"]
    """
    most = len(kernel.FLAG_LETTERS)
    letters = np.empty(int((strings.ends - strings.begins + most).sum()), np.uint32)
    room, ends = np.empty((3, strings.longest + most), np.uint32), np.empty(strings.size, np.int64)
    look = attribute.look, attribute.size, make_character_tables()
    data, begins, last = strings
    kernel.write_looks(read_only(data), begins, last, *look, room, letters, ends)
    letters = letters[: ends[-1] if len(ends) else 0]
    text = letters.tobytes().decode("utf-32-le", "replace").encode()
    sizes = 1 + (letters > 0x7F) + (letters > 0x7FF) + (letters > 0xFFFF)  # in UTF-8
    places = np.concatenate([[0], np.cumsum(sizes)])
    ends = places[ends]
    return Strings(np.frombuffer(text, np.uint8), np.concatenate([[0], ends])[:-1], ends)
