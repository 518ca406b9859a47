"""Templates: the attributes of neighbouring tokens that are features of a token.

A template is written as places joined by ``|``: ``word[-1]``, ``suffix3[0]``, ``pos[0]|pos[1]``. A
place is a column or an attribute of the word (of another column: ``suffix3(lemma)[0]``), and the
offset from the token. ``bias`` is a feature of every token. Template files of CRF++ can be read.
"""

import re
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from ...kernels import tokens as kernel
from ...parameters import ParameterError
from .sentences import FEATURES

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
CRF_PLACE = re.compile(r"%x\[\s*(-?\d+)\s*,\s*(\d+)\s*\]")


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


def read_crf_templates(path: str | Path, columns: Sequence[str]) -> list[Template]:
    """Read the templates of a file of CRF++; ``B`` alone stands for transitions."""
    with open(path, encoding="utf-8") as file:
        lines = [(n, line.strip()) for n, line in enumerate(file, 1)]
    found = []
    for number, line in lines:
        if line and not line.startswith("#") and line != "B":
            found.append(parse_crf_template(line, f"{path}, line {number}", columns))
    if not found:
        raise ValueError(f"{path} has no templates; expected lines such as U00:%x[0,0].")
    return found


def parse_crf_template(line: str, where: str, columns: Sequence[str]) -> Template:
    """Parse the template of a line of a CRF++ file."""
    name, _, macro = line.partition(":")
    if name.startswith("B"):
        raise ValueError(
            f"{where}: {line!r} joins features with two tags, which is not supported; use U."
        )
    places = CRF_PLACE.findall(macro)
    if not name.startswith("U") or (macro and not places):
        raise ValueError(
            f"{where}: {line!r} is not a template of CRF++, such as U00:%x[0,0]/%x[1,0]."
        )
    for _, column in places:
        if int(column) >= len(columns):
            raise ValueError(
                f"{where}: {line!r} asks for column {column}, and there are {len(columns)}, "
                "counted from 0."
            )
    return tuple(
        Place(Attribute(columns[int(column)], kernel.WORD), int(offset))
        for offset, column in places
    )


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
                "{features?} has templates, and the tokens come with features; "
                "leave one out, or give tokens as strings, tuples or dicts of columns.",
                code="templates-and-features",
            )
        return [parse_template(f"{FEATURES}[0]", columns)]
    if features is None:
        return make_default_templates(columns)
    if isinstance(features, str | PathLike):
        if not Path(features).is_file():
            raise ParameterError(
                f"{{features?}} must be a list of templates or a file of CRF++; there is no file "
                f"{features}.",
                code="no-template-file",
            )
        return read_crf_templates(Path(features), columns)
    if not isinstance(features, list | tuple) or not features:
        raise ParameterError(
            f"{{features?}} must be None, a list of templates or a file; got {features!r:.60}.",
            code="out-of-range",
        )
    if not all(isinstance(text, str) for text in features):
        raise ParameterError(
            '{features?} must have templates as strings, such as "word[-1]".', code="out-of-range"
        )
    return [parse_template(text, columns) for text in dict.fromkeys(features)]
