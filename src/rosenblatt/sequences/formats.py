"""Files of tagged sentences: CoNLL-U, columns as of CoNLL-2000 to 2003, word/TAG, plain text."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..kernels.conll import TokenLines, read_token_lines
from ..parameters import ParameterError
from ..reading.sources import Source
from ..rows import Array
from .sentences import Sentences
from .strings import Strings, Typed

TREE_FIELDS = (
    "id",
    "form",
    "lemma",
    "upos",
    "xpos",
    "feats",
    "head",
    "deprel",
    "deps",
    "misc",
)


class Layout(NamedTuple):
    """Where words, further columns and tags stand in a file, as a model keeps it.

    ``fields`` are the numbers of the columns, the word's first; ``label`` is that of the tag.
    """

    format: str
    fields: tuple[int, ...]
    label: int


class TaggedFile(NamedTuple):
    """A file as bytes, its sentences, and where its tags are or are to be."""

    name: str
    data: bytes
    layout: Layout
    sentences: Sentences
    tags: Strings | None
    line_ends: Array
    tag_begins: Array
    tag_ends: Array


def read_bytes(path: str) -> tuple[str, bytes]:
    """All bytes of a file, of several, or of standard input."""
    source = Source(path)
    with source.open() as stream:
        data = stream.read()
    if not data.strip():
        raise ValueError(f"{source.name} is empty.")
    return source.name, data


def label_of(label: str | None, kind: str, n_fields: int, name: str) -> int:
    """The number of the tag's column."""
    if kind == "conllu":
        wanted = "upos" if label is None else label.lower()
        if wanted in TREE_FIELDS[2:]:
            return TREE_FIELDS.index(wanted)
    elif label is None:
        return n_fields - 1
    if label is not None and label.isdecimal() and 0 < int(label) < n_fields:
        return int(label)
    known = ", ".join(TREE_FIELDS[2:]) if kind == "conllu" else f"numbers from 1 to {n_fields - 1}"
    raise ParameterError(f"{name} has no column of tags {label}; {{label?}} may be {known}.")


def layout_of(path: str, kind: str, label: str | None) -> Layout:
    """How a file to learn from is laid out: the tag's column, and the columns before it."""
    name, data = read_bytes(path)
    if kind == "tagged":
        return Layout(kind, (0,), 1)
    if kind == "text":
        raise ValueError(f"{name} is plain text; a file with tags is needed to learn from.")
    if kind == "conllu":
        return Layout(kind, (1,), label_of(label, kind, len(TREE_FIELDS), name))
    _, found = token_lines(data, False, False, (0,))
    _, _, fewest, most, short_line = found
    if fewest != most:
        raise ValueError(
            f"{name}, line {short_line}: {fewest} columns, where other lines have {most}."
        )
    if most < 2:
        raise ValueError(f"{name} has one column only; a word and a tag are needed.")
    place = label_of(label, kind, most, name)
    return Layout(kind, tuple(range(place)), place)


def token_lines(
    data: bytes, tabs: bool, trees: bool, wanted: tuple[int, ...]
) -> tuple[TokenLines, Any]:
    """The wanted fields of all tokens, and what was counted."""
    letters = np.frombuffer(data, np.uint8)
    most = int(np.count_nonzero(letters == ord("\n"))) + 1
    fields = np.array(wanted, np.int64)
    room = TokenLines(
        np.empty((len(fields), most), np.int64),
        np.empty((len(fields), most), np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
    )
    return room, read_token_lines(letters, tabs, trees, fields, room)


def read_tagged(path: str, layout: Layout, columns: tuple[str, ...], with_tags: bool) -> TaggedFile:
    """A file as a model reads it.

    Parameters
    ----------
    path
        The file, or "-".
    layout
        Where words, columns and tags stand.
    columns
        What the model calls the columns.
    with_tags
        Whether there must be tags.
    """
    name, data = read_bytes(path)
    if layout.format in ("tagged", "text"):
        return read_lines(name, data, layout, columns, with_tags)
    trees = layout.format == "conllu"
    room, found = token_lines(data, trees, trees, (*layout.fields, layout.label))
    count, n_sentences, fewest, _, short_line = found
    needed = len(TREE_FIELDS) if trees else max(layout.fields) + 1
    if not trees and with_tags:
        needed = max(needed, layout.label + 1)
    if count and fewest < needed:
        raise ValueError(f"{name}, line {short_line}: {fewest} columns, where {needed} are needed.")
    if not count:
        raise ValueError(f"{name} has no tokens.")
    letters = np.frombuffer(data, np.uint8)
    check_utf8(name, data)
    texts = [
        Strings(letters, begins[:count], ends[:count])
        for begins, ends in zip(room.begins, room.ends, strict=True)
    ]
    starts = np.concatenate([[0], room.sentences[:n_sentences]])
    typed = {column: Typed.of(text) for column, text in zip(columns, texts, strict=False)}
    tags = texts[-1]
    sentences = Sentences(starts, typed)
    places = room.line_ends[:count], tags.begins, tags.ends
    return TaggedFile(name, data, layout, sentences, tags if with_tags else None, *places)


def check_utf8(name: str, data: bytes) -> None:
    """Refuse bytes that are no text."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ValueError(
            f"{name}, line {line}: the byte {data[error.start]:#04x} is no UTF-8; convert the file."
        ) from None


def read_lines(
    name: str, data: bytes, layout: Layout, columns: tuple[str, ...], with_tags: bool
) -> TaggedFile:
    """A file with a sentence a line, words with or without their tags."""
    check_utf8(name, data)
    lines = [line.split() for line in data.decode().split("\n")]
    words, tags = [], []
    if layout.format == "tagged":
        for number, line in enumerate(lines, 1):
            for token in line:
                word, slash, tag = token.rpartition("/")
                if with_tags and not (slash and word and tag):
                    raise ValueError(f"{name}, line {number}: {token!r} is not as word/TAG is.")
                words.append(word if slash and word else token)
                tags.append(tag)
    elif with_tags:
        raise ValueError(f"{name} is plain text; a file with tags is needed.")
    else:
        words = [token for line in lines for token in line]
    if len(columns) > 1:
        raise ValueError(
            f"{name} has words only, and the model needs the columns {', '.join(columns)}; give "
            "a file of columns."
        )
    starts = np.concatenate([[0], np.cumsum([len(line) for line in lines], dtype=np.int64)])
    typed = {columns[0]: Typed.of(Strings.of(words))}
    nothing, found = np.zeros(0, np.int64), Strings.of(tags) if with_tags else None
    return TaggedFile(name, data, layout, Sentences(starts, typed), found, *[nothing] * 3)


def filled(file: TaggedFile, tags: list[str]) -> bytes:
    """The bytes of a file with other tags: in their column, behind it, or as word/TAG."""
    if file.layout.format in ("tagged", "text"):
        return with_slashes(file, tags)
    data, at, pieces = file.data, 0, []
    encoded = {tag: tag.encode() for tag in set(tags)}
    gap = b" " if b"\t" not in data[: int(file.line_ends[0])] else b"\t"
    places = zip(
        tags,
        file.tag_begins.tolist(),
        file.tag_ends.tolist(),
        file.line_ends.tolist(),
        strict=True,
    )
    for tag, begin, end, line_end in places:
        if begin >= 0:
            pieces += [data[at:begin], encoded[tag]]
            at = end
        else:
            pieces += [data[at:line_end], gap, encoded[tag]]
            at = line_end
    return b"".join([*pieces, data[at:]])


def with_slashes(file: TaggedFile, tags: list[str]) -> bytes:
    """Lines of word/TAG."""
    (column,) = file.sentences.columns.values()
    texts = column.strings.texts()
    tokens = [f"{texts[kind]}/{tag}" for kind, tag in zip(column.types.tolist(), tags, strict=True)]
    ends = file.sentences.starts.tolist()
    lines = [" ".join(tokens[a:b]) for a, b in pairwise(ends)]
    return "\n".join(lines).encode()
