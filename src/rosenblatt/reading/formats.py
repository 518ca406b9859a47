"""Detect the format of a file by its name, its first bytes or its first lines."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from ..parameters import ParameterError
from ..slices import find_by_format, find_ending, list_slices
from .parser import BOM, SAMPLE
from .sources import Source, file_error
from .spellings import NUMBER

FORMATS = {
    "svmlight": "svmlight",
    "libsvm": "svmlight",
    "svm": "svmlight",
    "vw": "vw",
    "fasttext": "fasttext",
    "csv": "csv",
    "tsv": "tsv",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "parquet": "parquet",
    "arrow": "arrow",
    "feather": "arrow",
}
DELIMITERS = {"csv": ",", "tsv": "\t"}
TEXTS = ("csv", "tsv", "jsonl", "svmlight", "vw", "fasttext")
MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"FEA1": "arrow", b"__label__": "fasttext"}
JSON_OBJECT = re.compile(rb"\s*\{\s*[\"}]")

NUMBERS = rf"{NUMBER}(?:,{NUMBER})*"
SVMLIGHT_LINE = re.compile(  # which may lack a label where others have several
    rf"(?:{NUMBERS}(?![:,]))?\s*(?:qid:\d+)?(?:(?:^|\s+)\d+:{NUMBER})*\s*(?:#.*)?".encode()
)
VW_LINE = re.compile(
    rf"(?:{NUMBERS}\s+)?(?:{NUMBER}\s+)*(?:'[^\s|]*\s*)?\|(?:[^\s|:]*(?::{NUMBER})?\s.*)?".encode()
)
MARKED_CELL = re.compile(rb'(?:^|\t)("[^\t\r\n]*)', re.MULTILINE)
CLOSED_CELL = re.compile(rb'"(?:[^"]|"")*"')
DECIMAL_COMMA = re.compile(r"[-+]?[0-9.]+,[0-9]+")
LINES_LOOKED_AT = 100
ALIKE = 0.9  # of the rows have as many cells as the first, where the delimiter is the right one


def detect_format(source: Source, stated: str | None, rows: str = "") -> str:
    """Return the stated format, or detect it by names, by the rows of a model, or by content."""
    if stated is not None:
        if stated not in FORMATS:
            raise ParameterError(
                f"format={stated!r} is unknown; use {list_formats()}.", code="out-of-range"
            )
        return FORMATS[stated]
    told = next(filter(None, map(format_from_name, source.names)), None)
    if told is not None:
        return told
    for name in source.names:
        other = find_by_format(name, None)
        if other is not None:
            raise ParameterError(
                f"{name} holds {other[0].examples} by its name; use "
                f"format={other[1]!r} to train on them.",
                code="format-not-rows",
            )
    if source.is_folder:
        what = "is a folder without a file whose name tells its format; there are"
        raise file_error("folder", source.name, f"{what}: {list_formats()}")
    head = source.head(SAMPLE)
    known = {"svmlight": "svmlight", "vw": "vw", "table": "csv"}.get(rows)
    begin = head.removeprefix(BOM)
    told = next((kind for mark, kind in MAGIC.items() if begin.startswith(mark)), None)
    told = told or ("jsonl" if JSON_OBJECT.match(begin) else known or format_from_lines(head))
    if told is None:
        raise ParameterError(
            f"Neither the name nor the content of {source.name} tells its format; use "
            f"format: {list_formats()}.",
            code="unknown-format",
        )
    return told


def list_formats() -> str:
    """The names of all formats, those of rows first."""
    others = [
        f"for {one.examples} {', '.join(name for name in one.formats if one.formats[name])}"
        for one in list_slices()
        if one.formats
    ]
    return ", ".join([*dict.fromkeys(FORMATS.values()), *others])


def format_from_name(name: str) -> str | None:
    """Return the format that the ending of a name implies, or None."""
    return FORMATS.get(find_ending(name))


def format_from_lines(head: bytes) -> str | None:
    """Return the format that all first lines fit, or None."""
    lines = [line for line in first_lines(head) if not line.startswith(b"#")]
    if not lines or b"\0" in head:
        return None
    if any(b":" in line for line in lines) and all(map(SVMLIGHT_LINE.fullmatch, lines)):
        return "svmlight"
    if all(map(VW_LINE.fullmatch, lines)):
        return "vw"
    return "csv" if find_delimiter(head, ",") else None


def first_lines(head: bytes) -> list[bytes]:
    """Return the first lines that are whole and not empty."""
    whole = head[: head.rfind(b"\n") + 1] or head
    lines = (line.strip() for line in whole.removeprefix(BOM).split(b"\n"))
    return list(islice(filter(None, lines), LINES_LOOKED_AT))


def find_delimiter(head: bytes, usual: str) -> str | None:
    """Find a delimiter that divides all rows into the same number of cells, or None."""
    whole = head[: head.rfind(b"\n") + 1] or head
    text = whole.removeprefix(BOM).decode(errors="replace")
    rows = split_rows(text, ";")
    commas = [cell.strip() for row in rows for cell in row if "," in cell]
    decimal = bool(commas) and all(map(DECIMAL_COMMA.fullmatch, commas))
    if usual == "," and decimal and have_equal_widths(rows):
        return ";"
    for delimiter in dict.fromkeys([usual, ",", ";", "\t", "|"]):
        if have_equal_widths(split_rows(text, delimiter)):
            return delimiter
    return None


class Dialect(NamedTuple):
    """How rows are divided into cells: the letter between them, and whether marks enclose them."""

    delimiter: str
    quoted: bool = True


def is_quoted(head: bytes, delimiter: str) -> bool:
    r"""Whether quotation marks enclose cells; else they are part of the text between tabs.

    >>> is_quoted(b'spam\t"Win" now\nham\tyes\n', "\t"), is_quoted(b'a\t"b\tc"\nd\te\n', "\t")
    (False, True)
    """
    if delimiter != "\t" or all(map(CLOSED_CELL.fullmatch, MARKED_CELL.findall(head))):
        return True
    lines = head[: head.rfind(b"\n") + 1].splitlines()
    return len({line.count(b"\t") for line in lines if line.strip()}) != 1


def divide_rows(text: Iterable[str], dialect: Dialect) -> Iterator[list[str]]:
    """Divide the rows of a text into cells, however long they are."""
    usual = csv.field_size_limit(2**31 - 1)
    quoting: Any = csv.QUOTE_MINIMAL if dialect.quoted else csv.QUOTE_NONE
    try:
        yield from csv.reader(text, delimiter=dialect.delimiter, quoting=quoting)
    finally:
        csv.field_size_limit(usual)


def split_rows(text: str, delimiter: str) -> list[list[str]]:
    """Divide the first rows of a text into cells; return none if they cannot be divided."""
    try:
        rows = divide_rows(io.StringIO(text, newline=""), Dialect(delimiter))
        return list(islice(filter(None, rows), LINES_LOOKED_AT))
    except csv.Error:
        return []


def have_equal_widths(rows: Sequence[Sequence[object]]) -> bool:
    """Whether nearly all rows have the same number of cells, and more than one."""
    if not rows or len(rows[0]) < 2:
        return False
    return Counter(map(len, rows))[len(rows[0])] >= ALIKE * len(rows)
