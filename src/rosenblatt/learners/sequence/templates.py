"""Templates: which looks of which tokens are features of a token.

A template is written as places joined by ``|``: ``word[-1]``, ``suffix3[0]``, ``pos[0]|pos[1]``. A
place is a column, or a look of the word (of another column if it is named: ``suffix3(lemma)[0]``),
and how far from the token it is looked at. ``bias`` is a feature of every token. CRF++'s template
files are read as they are.
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
"""The column of the sets of tags that words have had."""
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
    """A look, of so many characters where that matters, of a column."""

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


def written(template: Template) -> str:
    """A template as it is written.

    >>> written(parsed("suffix3[0]|pos[-1]", ("word", "pos")))
    'suffix3[0]|pos[-1]'
    """
    return "|".join(map(str, template)) or "bias"


def parsed(text: str, columns: Sequence[str]) -> Template:
    """The template that a text stands for."""
    if text.strip() == "bias":
        return ()
    return tuple(parsed_place(part, text, columns) for part in text.split("|"))


def parsed_place(text: str, template: str, columns: Sequence[str]) -> Place:
    """One place of a template."""
    found = PLACE.fullmatch(text)
    if found is None:
        raise ValueError(
            f"The template {template!r} is not understood at {text!r}; a place is written as a "
            'column or a look of the word and an offset, as "word[-1]" or "suffix3[0]|pos[1]".'
        )
    name, of, offset = found[1], found[2], int(found[3])
    if abs(offset) > FARTHEST:
        raise ValueError(
            f"The template {template!r} looks over {FARTHEST} tokens away; use a smaller offset."
        )
    return Place(attribute_called(name, of, template, columns), offset)


def attribute_called(name: str, of: str | None, template: str, columns: Sequence[str]) -> Attribute:
    """The attribute of a name: a column, or a look of one."""
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
            f"({', '.join(columns)}) nor a look of one (lower, prefix1 …, suffix1 …, shape, "
            "outline, flags, lexicon)."
        )
    return Attribute(column, look, int(sized[2]) if sized else 0)


def crf_templates(path: str | Path, columns: Sequence[str]) -> list[Template]:
    """The templates of a file of CRF++'s; ``B`` alone is what transitions are."""
    with open(path, encoding="utf-8") as file:
        lines = [(n, line.strip()) for n, line in enumerate(file, 1)]
    found = []
    for number, line in lines:
        if line and not line.startswith("#") and line != "B":
            found.append(crf_template(line, f"{path}, line {number}", columns))
    if not found:
        raise ValueError(f"{path} has no templates; lines such as U00:%x[0,0] are.")
    return found


def crf_template(line: str, where: str, columns: Sequence[str]) -> Template:
    """The template of a line of CRF++'s."""
    name, _, macro = line.partition(":")
    if name.startswith("B"):
        raise ValueError(
            f"{where}: {line!r} joins features with two tags, which is not offered; use U."
        )
    places = CRF_PLACE.findall(macro)
    if not name.startswith("U") or (macro and not places):
        raise ValueError(f"{where}: {line!r} is no template of CRF++, as U00:%x[0,0]/%x[1,0] is.")
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


# What is good for words of any language, chosen on held-out parts of training sets.

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


def usual_templates(columns: Sequence[str]) -> list[Template]:
    """The templates for tokens of some columns, of which the first is the word."""
    word = columns[0]
    texts = [text.replace("word[", f"{word}[") for text in OF_WORDS]
    for column in columns[1:]:
        texts += [text.format(c=column, w=word) for text in WITH_COLUMN]
    return [parsed(text, columns) for text in texts]


def resolve_templates(features: Any, columns: tuple[str, ...]) -> list[Template]:
    """The templates that the parameter ``features`` asks for, or the usual ones."""
    if LEXICON in columns:
        raise ValueError(f"A column called {LEXICON!r} is the model's own; call it otherwise.")
    if columns == (FEATURES,):
        if features is not None:
            raise ParameterError(
                "{features?} has templates, and the tokens come with features of their own; "
                "leave one out, or give tokens as strings, tuples or dicts of columns.",
                code="templates-and-features",
            )
        return [parsed(f"{FEATURES}[0]", columns)]
    if features is None:
        return usual_templates(columns)
    if isinstance(features, str | PathLike):
        if not Path(features).is_file():
            raise ParameterError(
                f"{{features?}} must be a list of templates or a file of CRF++'s; there is no file "
                f"{features}.",
                code="no-template-file",
            )
        return crf_templates(Path(features), columns)
    if not isinstance(features, list | tuple) or not features:
        raise ParameterError(
            f"{{features?}} must be None, a list of templates or a file; got {features!r:.60}.",
            code="out-of-range",
        )
    if not all(isinstance(text, str) for text in features):
        raise ParameterError(
            '{features?} must have templates as strings, such as "word[-1]".', code="out-of-range"
        )
    return [parsed(text, columns) for text in dict.fromkeys(features)]
