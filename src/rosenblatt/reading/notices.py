"""What was read otherwise than one might think: a kind for programs, a sentence for people."""

from enum import StrEnum
from typing import NamedTuple


class NoticeKind(StrEnum):
    """What a notice is about."""

    QUERIES = "queries"
    BASES = "bases"
    MISSING = "missing"
    COLUMN = "column"
    BITS = "bits"


class Notice(NamedTuple):
    """Something that a reader passed over or took in its own way."""

    kind: NoticeKind
    sentence: str

    def __str__(self) -> str:
        return self.sentence


QUERIES = Notice(NoticeKind.QUERIES, "The query numbers (qid) are not used.")
BASES = Notice(NoticeKind.BASES, "The base predictions after the importance are not used.")
MISSING = Notice(NoticeKind.MISSING, "Missing numbers count as 0.")
BITS = Notice(NoticeKind.BITS, "The columns are numbers and not hashed: bits is not used.")


def unused_column(name: str) -> Notice:
    """A column that cannot become features."""
    return Notice(
        NoticeKind.COLUMN, f"The column {name!r} is neither numbers nor strings: not used."
    )
