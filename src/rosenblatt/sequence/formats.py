"""Read files of sentences: CoNLL-U, columns of CoNLL-2000 to 2003, word/TAG, plain text."""

from collections.abc import Iterator
from io import BytesIO
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ..data.rows import Array
from ..parameters import InputError, ParameterError
from ..reading.sources import Source
from .kernels.conll import TokenLines, read_token_lines
from .sentences import Sentences, find_starts
from .strings import Categorical, Strings

TREE_FIELDS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")


class Layout(NamedTuple):
    """Where words, further columns and tags stand in a file, as a model keeps it.

    ``fields`` are the numbers of the columns, the word's first; ``label`` is that of the tag.
    """

    format: str
    fields: tuple[int, ...]
    label: int
    encoding: str | None = None
    """The encoding, unless it is UTF-8."""


class TaggedFile(NamedTuple):
    """A file as bytes, its sentences, and the places of its tags."""

    name: str
    data: bytes
    layout: Layout
    sentences: Sentences
    tags: Strings | None
    line_ends: Array
    tag_begins: Array
    tag_ends: Array


BOM = "\ufeff".encode()
AT_ONCE = 1 << 20  # bytes that are read from a stream at once


def refuse(name: str, text: str, code: str, line: int | None = None) -> InputError:
    """Return the error for a file, or for a line of it."""
    place = name if line is None else f"{name}, line {line}:"
    return InputError(f"{place} {text}", code=code, file=name, line=line)


class Piece(NamedTuple):
    """Whole sentences of a file as bytes, and the number of lines before them."""

    name: str
    data: bytes
    lines_before: int


def read_pieces(source: Source, kind: str, size: int) -> Iterator[Piece]:
    """Yield the bytes of files in pieces of whole sentences, each about ``size`` bytes long."""
    for path in source.files if len(source.files) > 1 else [None]:
        own = source if path is None else Source(path, source.encoding)
        rest, lines = b"", 0
        with own.open() as stream:
            while more := read_fully(stream, size):
                data = (rest + more).removeprefix(BOM if not lines else b"")
                end = find_end_of_sentences(data, kind) if len(more) == size else len(data)
                rest = data[end:]
                if end:
                    yield Piece(own.name, data[:end], lines)
                    lines += data.count(b"\n", 0, end)
        if rest:
            yield Piece(own.name, rest, lines)


def read_fully(stream: Any, size: int) -> bytes:
    """Read ``size`` bytes of a stream, fewer only at its end."""
    parts, left = [], size
    while left and (more := stream.read(min(left, AT_ONCE))):
        parts.append(more)
        left -= len(more)
    return b"".join(parts)


def find_end_of_sentences(data: bytes, kind: str) -> int:
    """Return where the last complete sentence of some bytes ends; 0 if there is none."""
    if kind in ("tagged", "text"):
        return data.rfind(b"\n") + 1
    stop = len(data)
    while (newline := data.rfind(b"\n", 0, stop)) >= 0:
        line = data[data.rfind(b"\n", 0, newline) + 1 : newline]
        if not line.strip():
            return newline + 1
        stop = newline
    return 0


def find_label(label: str | None, kind: str, n_fields: int, name: str) -> int:
    """Return the number of the column of tags."""
    if kind == "conllu":
        wanted = "upos" if label is None else label.lower()
        if wanted in TREE_FIELDS[2:]:
            return TREE_FIELDS.index(wanted)
    elif label is None:
        return n_fields - 1
    if label is not None and label.isdecimal() and 0 < int(label) < n_fields:
        return int(label)
    known = ", ".join(TREE_FIELDS[2:]) if kind == "conllu" else f"numbers from 1 to {n_fields - 1}"
    raise ParameterError(
        f"{name} has no column of tags {label}; label may be {known}.", code="unknown-column"
    )


def find_layout(piece: Piece, kind: str, label: str | None) -> Layout:
    """Find the layout of a file to learn from: the column of tags, and the columns before it."""
    name = piece.name
    if kind == "tagged":
        return Layout(kind, (0,), 1)
    if kind == "text":
        raise refuse(name, "is plain text; give a file with tags to learn from.", "no-tags")
    if kind == "conllu":
        return Layout(kind, (1,), find_label(label, kind, len(TREE_FIELDS), name))
    _, found = find_fields(piece.data, False, False, (0,))
    count, _, _, most, _ = found
    if not count:
        raise refuse(name, "has no tokens.", "no-tokens")
    if most < 2:
        raise refuse(name, "has one column only; a word and a tag are needed.", "no-tags")
    place = find_label(label, kind, most, name)
    return Layout(kind, tuple(range(place)), place)


def find_fields(
    data: bytes, tabs: bool, trees: bool, wanted: tuple[int, ...]
) -> tuple[TokenLines, Any]:
    """Return the places of some fields of all tokens, and the counts of the kernel."""
    letters = np.frombuffer(data, np.uint8)
    most = int(np.count_nonzero(letters == ord("\n"))) + 1
    fields = np.array(wanted, np.int64)
    begins, ends = np.empty((2, len(fields), most), np.int64)
    room = TokenLines(begins, ends, *np.empty((2, most), np.int64))
    columns = 0 if trees else count_columns(data)
    return room, read_token_lines(letters, tabs, trees, columns, fields, room)


def count_columns(data: bytes) -> int:
    """Return the number of columns of the first line of a token."""
    lines, marks = map(bytes.split, BytesIO(data)), (b"#", b"-DOCSTART-")
    return next((len(words) for words in lines if words and not words[0].startswith(marks)), 0)


def read_tagged(
    piece: Piece, layout: Layout, columns: tuple[str, ...], with_tags: bool
) -> TaggedFile:
    """Read the sentences of a piece of a file.

    Parameters
    ----------
    piece
        The bytes.
    layout
        Where words, columns and tags stand.
    columns
        The names of the columns in the model.
    with_tags
        Whether the file must have tags.
    """
    if layout.format in ("tagged", "text"):
        return read_lines(piece, layout, columns, with_tags)
    name, data, before = piece
    trees = layout.format == "conllu"
    room, found = find_fields(data, trees, trees, (*layout.fields, layout.label))
    count, n_sentences, fewest, most, short_line = found
    needed = len(TREE_FIELDS) if trees else max(layout.fields) + 1
    if not trees and with_tags:
        needed = max(needed, layout.label + 1)
    if count and fewest < needed:
        wanted = f"{fewest} columns, where {needed} are needed."
        raise refuse(name, wanted, "too-few-columns", before + short_line)
    if with_tags and not trees and fewest < most:
        wanted = f"{fewest} columns, where other lines have {most}."
        raise refuse(name, wanted, "too-few-columns", before + short_line)
    letters = np.frombuffer(data, np.uint8)
    check_utf8(piece)
    texts = [
        Strings(letters, begins[:count], ends[:count])
        for begins, ends in zip(room.begins, room.ends, strict=True)
    ]
    starts = np.concatenate([[0], room.sentences[:n_sentences]])
    typed = {column: Categorical.of(text) for column, text in zip(columns, texts, strict=False)}
    tags = texts[-1]
    sentences = Sentences(starts, typed)
    places = room.line_ends[:count], tags.begins, tags.ends
    return TaggedFile(name, data, layout, sentences, tags if with_tags else None, *places)


def check_utf8(piece: Piece) -> None:
    """Refuse bytes that are not UTF-8."""
    name, data, before = piece
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = before + data[: error.start].count(b"\n") + 1
        byte = f"the byte {data[error.start]:#04x} is not UTF-8"
        advice = "use the encoding of the file, such as latin-1"
        raise refuse(name, f"{byte}; {advice}.", "encoding", line) from None


def read_lines(
    piece: Piece, layout: Layout, columns: tuple[str, ...], with_tags: bool
) -> TaggedFile:
    """Read a file with one sentence per line, of words with or without tags."""
    check_utf8(piece)
    if len(columns) > 1:
        wanted = f"the model needs the columns {', '.join(columns)}; give a file of columns."
        raise refuse(piece.name, f"has words only, and {wanted}", "too-few-columns")
    if layout.format == "text" and with_tags:
        raise refuse(piece.name, "is plain text; give a file with tags.", "no-tags")
    words, starts = split_words(piece.data)
    tags = None
    if layout.format == "tagged":
        words, tags = split_tags(piece, words, starts, with_tags)
    typed = {columns[0]: Categorical.of(words)}
    nothing, found = np.zeros(0, np.int64), tags if with_tags else None
    name, data = piece.name, piece.data
    return TaggedFile(name, data, layout, Sentences(starts, typed), found, *[nothing] * 3)


def split_words(data: bytes) -> tuple[Strings, Array]:
    """Return the words between blanks, and where each line begins among them."""
    lines = [line.split() for line in data.decode().split("\n")]
    return Strings.of(list(chain.from_iterable(lines))), find_starts(lines)


def split_tags(
    piece: Piece, tokens: Strings, starts: Array, needed: bool
) -> tuple[Strings, Strings]:
    """Split tokens such as word/TAG into words and tags; a token without a tag is a word."""
    last = np.full(tokens.size, -1)
    slashes = np.flatnonzero(tokens.data == ord("/"))
    places = np.searchsorted(slashes, tokens.ends) - 1
    known = places >= 0
    last[known] = slashes[places[known]]
    split = (last > tokens.begins) & (not needed or last < tokens.ends - 1)
    if needed and not split.all():
        wrong = int(np.argmin(split))
        line = piece.lines_before + int(np.searchsorted(starts, wrong, "right"))
        text = tokens.text(wrong)
        raise refuse(piece.name, f"expected word/TAG, got {text!r}.", "not-word-tag", line)
    ends = np.where(split, last, tokens.ends)
    begins = np.where(split, last + 1, tokens.ends)
    return tokens._replace(ends=ends), tokens._replace(begins=begins)


def fill_tags(file: TaggedFile, names: list[str], codes: Array) -> bytes:
    """Return the bytes of a file with other tags: in their column, behind it, or as word/TAG."""
    tags, starts = Strings.of(names).take(codes), file.sentences.starts
    if file.layout.format in ("tagged", "text"):
        (column,) = file.sentences.columns.values()
        newlines = np.bincount(starts[1:], minlength=len(codes) + 1)
        begins = np.where(newlines == 0, 0, 1)
        ends = np.where(newlines == 0, 1, 1 + newlines)
        gaps = Strings(np.frombuffer(b" " + b"\n" * int(newlines.max()), np.uint8), begins, ends)
        slashes = Strings.of(["/"]).take(np.zeros(len(codes), np.intp))
        words = column.strings.take(column.types)
        out = interleave([words, slashes, tags, gaps.take(np.arange(1, len(newlines)))])
        return b"\n" * int(newlines[0]) + out.removesuffix(b"\n")
    found = file.tag_begins >= 0
    stops = np.where(found, file.tag_begins, file.line_ends)
    begins = np.concatenate([[0], np.where(found, file.tag_ends, file.line_ends)])
    text = Strings(np.frombuffer(file.data, np.uint8), begins[:-1], stops)
    gap = "\t" if len(codes) and b"\t" in file.data[: int(file.line_ends[0])] else " "
    gaps = Strings.of([gap, ""]).take(found.astype(np.intp))
    return interleave([text, gaps, tags]) + file.data[int(begins[-1]) :]


def interleave(parts: list[Strings]) -> bytes:
    """Return the bytes of the first string of each part, of the second of each, and so on."""
    together = Strings.concatenate(parts)
    order = np.arange(together.size).reshape(len(parts), -1).T.ravel()
    return together.take(order).compact().data.tobytes()
