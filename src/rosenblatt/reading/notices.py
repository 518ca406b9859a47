"""What was read otherwise than one might think: a kind for programs, a sentence for people."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple


class NoticeKind(StrEnum):
    """What a notice is about."""

    QUERIES = "queries"
    BASES = "bases"
    MISSING = "missing"
    COLUMN = "column"
    BITS = "bits"
    WORDS = "words"
    NUMBERS = "numbers"
    DELIMITER = "delimiter"
    ENCODING = "encoding"
    SCALE = "scale"
    CODES = "codes"
    FIRST = "first"
    DATES = "dates"
    TEXT = "text"
    LABELS = "labels"


class Notice(NamedTuple):
    """Something that a reader passed over or took in its own way."""

    kind: NoticeKind
    sentence: str

    def __str__(self) -> str:
        return self.sentence


QUERIES = Notice(NoticeKind.QUERIES, "The query numbers (qid) are not used.")
BASES = Notice(NoticeKind.BASES, "The base predictions after the importance are not used.")
MISSING = Notice(NoticeKind.MISSING, "Missing numbers count as 0.")
AVERAGED = Notice(NoticeKind.MISSING, "Missing numbers count as the mean of their column.")
MEDIAN = Notice(NoticeKind.MISSING, "Missing numbers count as the median of their column.")
LABEL_SETS = Notice(
    NoticeKind.LABELS,
    "Rows have any number of labels, so that each label is a problem of its own.",
)
BITS = Notice(NoticeKind.BITS, "The columns are numbers and not hashed: bits is not used.")


FROM_0 = Notice(NoticeKind.FIRST, "The columns are numbered from 0: a row far down has an index 0.")


def unused_column(name: str) -> Notice:
    """A column that cannot become features."""
    return Notice(
        NoticeKind.COLUMN, f"The column {name!r} is neither numbers, strings nor dates: not used."
    )


def stray_words(name: str, words: Sequence[str], cells: int) -> Notice:
    """A column of numbers with a few words in it."""
    return Notice(
        NoticeKind.WORDS,
        f"The column {name!r} is taken as numbers, though of its first {cells:,} cells a few are "
        f"not ({listed(words)}); such rows are broken.",
    )


def spelled_numbers(name: str, cell: str, number: float) -> Notice:
    """A column of numbers that are not written plainly."""
    return Notice(
        NoticeKind.NUMBERS,
        f"The column {name!r} is taken as numbers: {cell[:40]!r} is read as {number:.12g}.",
    )


def spelled_in_several_ways(name: str, cells: Sequence[str]) -> Notice:
    """A column of numbers of several spellings or units."""
    return Notice(
        NoticeKind.NUMBERS,
        f"The column {name!r} has numbers that are written in several ways ({listed(cells)}) and "
        "is taken as a category; write them in one way to have it taken as numbers.",
    )


def leading_zeros(name: str, cell: str) -> Notice:
    """A column of whole numbers with zeros before them."""
    return Notice(
        NoticeKind.CODES,
        f"The column {name!r} has leading zeros ({cell.strip()[:40]!r}) and is taken as a "
        "category; write its numbers without them to have it taken as numbers.",
    )


def mixed_column(name: str, words: Sequence[str]) -> Notice:
    """A column with more numbers than words, and many of these."""
    return Notice(
        NoticeKind.WORDS,
        f"The column {name!r} has words among its numbers ({listed(words)}) and is taken as a "
        "category.",
    )


def mixed_dates(name: str, words: Sequence[str]) -> Notice:
    """A column of dates but for a few cells."""
    return Notice(
        NoticeKind.WORDS,
        f"The column {name!r} has dates, and cells that are none ({listed(words)}), and is taken "
        "as a category; leave these cells empty to have it taken as dates.",
    )


def looks_like_utf8(encoding: str) -> Notice:
    """A file of UTF-8 that is read in another encoding, as was stated."""
    return Notice(
        NoticeKind.ENCODING,
        f"The bytes are UTF-8 as far as one can tell, and are read as {encoding}, as was stated: "
        "letters with accents will be wrong. Leave the encoding out.",
    )


def note_delimiter(delimiter: str) -> Notice:
    """Cells that are not divided as the name of their file says."""
    what = "blanks" if delimiter == " " else repr(delimiter)
    return Notice(NoticeKind.DELIMITER, f"The cells are divided by {what}.")


def listed(words: Sequence[str], most: int = 3) -> str:
    """Some words, and that there are more."""
    shown = ", ".join(repr(word[:40]) for word in words[:most])
    return shown + (", …" if len(words) > most else "")


def flagged_columns(names: Sequence[str]) -> Notice:
    """Columns with so many gaps that these are features."""
    return Notice(
        NoticeKind.MISSING, f"Where numbers are missing in {listed(names)} is a feature, too."
    )


def note_statistics(rows: int) -> Notice:
    """Statistics of what can be read only once."""
    return Notice(
        NoticeKind.SCALE,
        f"The sizes of numbers are those of the first {rows:,} rows, as a pipe is read once.",
    )


def other_sizes() -> Notice:
    """Sparse columns that were scaled, as nobody said."""
    return Notice(
        NoticeKind.SCALE,
        "The sizes of columns differ widely, so each is divided by its largest number.",
    )


def indistinct(names: Sequence[str], dtype: str) -> Notice:
    """Columns of numbers that are so large that their differences are lost."""
    return Notice(
        NoticeKind.SCALE,
        f"The numbers of {listed(names)} do not differ, or too little for their size to be told "
        f"apart in {dtype}; subtract one of them from all.",
    )


def find_code_columns(names: Sequence[str]) -> Notice:
    """Columns of numbers that are names rather than sizes, by their looks."""
    are = "looks like codes" if len(names) == 1 else "look like codes"
    return Notice(
        NoticeKind.CODES,
        f"{listed(names)} {are} rather than sizes; such a column is better a category, or ignored.",
    )


def date_column(name: str, form: str, parts: Sequence[str]) -> Notice:
    """A column that was taken as dates."""
    return Notice(
        NoticeKind.DATES,
        f"The column {name!r} is taken as dates{form}: {', '.join(parts)}, and the time as a "
        "number.",
    )


def text_column(name: str) -> Notice:
    """A column that was taken as text."""
    return Notice(
        NoticeKind.TEXT, f"The column {name!r} is taken as text, as its cells are of many words."
    )


def names_of_rows(name: str) -> Notice:
    """A column of strings that are different in nearly every row."""
    return Notice(
        NoticeKind.CODES,
        f"The column {name!r} is another in nearly every row, so that it tells little of rows to "
        "come; such a column is better text, or ignored.",
    )


def left_out(bad: int) -> str:
    """What to say of broken rows.

    >>> left_out(1)
    '1 broken row left out.'
    """
    return f"{bad:,} broken row{'' if bad == 1 else 's'} left out."
