"""Detect the format of a file by its name, its first bytes or its first lines."""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from ..parameters import ParameterError
from .parser import BOM, SAMPLE
from .sources import BLANKS, Source, file_error

FORMATS = {
    "svmlight": "svmlight",
    "libsvm": "svmlight",
    "svm": "svmlight",
    "vw": "vw",
    "csv": "csv",
    "tsv": "tsv",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "parquet": "parquet",
    "arrow": "arrow",
    "feather": "arrow",
}
DELIMITERS = {"csv": ",", "tsv": "\t"}
TEXTS = ("csv", "tsv", "jsonl", "svmlight", "vw")
PACKED = ("gz", "bz2", "xz", "zst", "lz4", "zip")
WORKBOOKS = ("xlsx", "xlsm", "xls", "ods")  # which pandas reads
OF_SENTENCES = "conllu, conll, tagged"  # formats that taggers read
MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"FEA1": "arrow"}
JSON_OBJECT = re.compile(rb"\s*\{\s*[\"}]")
FORMAT_OF_ROWS = {"svmlight": "svmlight", "vw": "vw", "table": "csv"}

NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
NUMBERS = rf"{NUMBER}(?:,{NUMBER})*"
SVMLIGHT_LINE = re.compile(  # which may lack a label where others have several
    rf"(?:{NUMBERS}(?![:,]))?\s*(?:qid:\d+)?(?:(?:^|\s+)\d+:{NUMBER})*\s*(?:#.*)?".encode()
)
VW_LINE = re.compile(
    rf"(?:{NUMBERS}\s+)?(?:{NUMBER}\s+)*(?:'[^\s|]*\s*)?\|(?:[^\s|:]*(?::{NUMBER})?\s.*)?".encode()
)
DECIMAL_COMMA = re.compile(r"[-+]?[0-9.]+,[0-9]+")
LINES_LOOKED_AT = 100
ALIKE = 0.9  # of the rows have as many cells as the first, where the delimiter is the right one


def detect_format(source: Source, stated: str | None, rows: str = "") -> str:
    """Return the stated format, or detect it by names, by the rows of a model, or by content."""
    known = ", ".join(dict.fromkeys(FORMATS.values()))
    if stated is not None:
        if stated not in FORMATS:
            raise ParameterError(
                f"{{format}} is unknown; there are: {known}, and for sentences {OF_SENTENCES}.",
                code="out-of-range",
                format=stated,
            )
        return FORMATS[stated]
    told = next(filter(None, map(format_from_name, source.names)), None)
    if told is not None:
        return told
    refuse_others(source.names)
    if source.is_folder:
        what = f"is a folder without a file whose name tells its format; there are: {known}"
        raise file_error("folder", source.name, what)
    head = source.head(SAMPLE)
    told = format_from_magic(head) or FORMAT_OF_ROWS.get(rows) or format_from_lines(head)
    if told is None:
        raise ParameterError(
            f"Neither the name nor the content of {source.name} tells its format; use "
            f"{{format?}}: {known}, or for sentences {OF_SENTENCES}.",
            code="unknown-format",
        )
    return told


def refuse_others(names: Sequence[str]) -> None:
    """Refuse files that hold sentences or workbooks by their names, which are not rows."""
    for name in names:
        if find_ending(name) in WORKBOOKS:
            raise ParameterError(
                f"{name} is an Excel workbook; name a single one, or save all as CSV.",
                code="several-workbooks",
            )
        if find_ending(name) in OF_SENTENCES.split(", "):
            raise ParameterError(
                f"{name} holds sentences by its name; use {{format}} to train a tagger.",
                code="format-of-sentences",
                format=find_ending(name),
            )


def find_ending(name: str) -> str:
    """Return the ending of a name in lower case, without those of compression.

    >>> find_ending("data/A.CSV.gz")
    'csv'
    """
    endings = [ending[1:].lower() for ending in Path(name).suffixes]
    return next((ending for ending in reversed(endings) if ending not in PACKED), "")


def format_from_name(name: str) -> str | None:
    """Return the format that the ending of a name implies, or None."""
    return FORMATS.get(find_ending(name))


def format_from_magic(head: bytes) -> str | None:
    """Return the format that the first bytes of a file mark, or None."""
    found = next((kind for mark, kind in MAGIC.items() if head.startswith(mark)), None)
    return found or ("jsonl" if JSON_OBJECT.match(head.removeprefix(BOM)) else None)


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


def detect_delimiter(source: Source, usual: str) -> str:
    """Detect the delimiter of a table of text; ``usual`` unless another fits better."""
    return find_delimiter(source.head(SAMPLE), usual) or usual


def find_delimiter(head: bytes, usual: str) -> str | None:
    """Find a delimiter that divides all rows into the same number of cells, or None."""
    whole = head[: head.rfind(b"\n") + 1] or head
    text = whole.removeprefix(BOM).decode(errors="replace")
    if usual == "," and has_decimal_commas(split_rows(text, ";")):
        return ";"
    for delimiter in dict.fromkeys([usual, ",", ";", "\t", "|"]):
        if delimiter != BLANKS and have_equal_widths(split_rows(text, delimiter)):
            return delimiter
    rows = [line.split() for line in text.split("\n", LINES_LOOKED_AT) if '"' not in line]
    rows = list(filter(None, rows))
    cells = [[re.fullmatch(NUMBER, cell) for cell in row] for row in rows[1:]]
    numbers = cells and any(map(all, zip(*cells, strict=False)))
    return BLANKS if numbers and have_equal_widths(rows) else None


def split_rows(text: str, delimiter: str, most: int = LINES_LOOKED_AT) -> list[list[str]]:
    """Divide the first rows of a text into cells; return none if they cannot be divided."""
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        return list(islice(filter(None, rows), most))
    except csv.Error:
        return []


def has_decimal_commas(rows: Sequence[Sequence[str]]) -> bool:
    """Whether semicolons divide the rows, and all commas are decimal commas."""
    cells = [cell.strip() for row in rows for cell in row if "," in cell]
    return bool(cells) and have_equal_widths(rows) and all(map(DECIMAL_COMMA.fullmatch, cells))


def have_equal_widths(rows: Sequence[Sequence[object]]) -> bool:
    """Whether nearly all rows have the same number of cells, and more than one."""
    if not rows or len(rows[0]) < 2:
        return False
    return Counter(map(len, rows))[len(rows[0])] >= ALIKE * len(rows)
