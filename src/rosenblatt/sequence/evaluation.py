"""How well tags are predicted: of all words, of unknown ones, and chunks.

Chunks are counted as conlleval does (Tjong Kim Sang & Buchholz 2000): one is right if its kind, its
first and its last token are.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..data.results import Result, Table, count
from ..data.rows import Array
from ..jobs.evaluation import BY_CLASS, ClassScore, class_scores
from .schemes import Chunks, find_chunks, list_kinds, split_chunk_tags


class ChunkScore(NamedTuple):
    """Figures of chunks of a kind, and the number predicted, wanted, and predicted rightly."""

    label: str
    precision: float
    recall: float
    f1: float
    found: int
    wanted: int
    right: int


@dataclass(repr=False)
class TagEvaluation(Result):
    """Counts of predicted tags beside the right ones.

    Attributes
    ----------
    tokens, right : int
        The number of tokens, and of those with the right tag.
    unknown_words, unknown_right : int
        The same for words that did not occur in training.
    by_tag : list of ClassScore
        Precision, recall and F1 of each tag.
    chunks : dict of str to ChunkScore, or None
        By kind, and of all as "", if the tags write chunks.
    """

    in_headline = frozenset(("accuracy", "chunk_f1"))
    tokens: int
    right: int
    unknown_words: int
    unknown_right: int
    by_tag: list[ClassScore]
    chunks: dict[str, ChunkScore] | None

    @property
    def accuracy(self) -> float:
        """The share of tokens whose tag is right."""
        return self.right / self.tokens if self.tokens else float("nan")

    def headline(self) -> str:
        """Return the accuracy, in all and of unknown words, and F1 of chunks."""
        wrong = self.tokens - self.right
        text = f"accuracy {self.accuracy:.2%}: {wrong:,} of {count(self.tokens, 'token')} wrong"
        if self.unknown_words:
            share = self.unknown_right / self.unknown_words
            text += f"; of {count(self.unknown_words, 'unknown word')} {share:.2%} right"
        if self.chunks is not None:
            text += f"; chunk F1 {100 * self.chunks[''].f1:.2f}"
        return text

    def figures(self) -> dict[str, float | None]:
        """Return the accuracy, and F1 of chunks."""
        chunks = {} if self.chunks is None else {"chunk_f1": self.chunks[""].f1}
        return {"accuracy": self.accuracy, **chunks}

    def counts(self) -> dict[str, Any]:
        """Return the number of tokens and of errors, in all and of unknown words."""
        return {
            "tokens": self.tokens,
            "errors": self.tokens - self.right,
            "unknown_words": self.unknown_words,
            "unknown_errors": self.unknown_words - self.unknown_right,
        }

    def tables(self) -> list[Table]:
        """Return the figures of each tag, and of each kind of chunk."""
        columns = {("tokens" if name == "rows" else name): BY_CLASS[name] for name in BY_CLASS}
        found = [Table("classes", "Tags", columns, self.by_tag)]
        if self.chunks is not None:
            rows = [one._replace(label=kind or "all") for kind, one in self.chunks.items()]
            columns = {name: BY_CLASS[name] for name in ("label", "precision", "recall", "f1")}
            columns |= dict.fromkeys(("found", "wanted", "right"), ",d")
            found.append(Table("chunks", "Chunks", columns, rows))
        return found


def evaluate_tags(
    found: list[Any], wanted: list[Any], starts: Array, known: Array
) -> TagEvaluation:
    """Compare predicted tags with the right ones.

    Parameters
    ----------
    found, wanted
        A tag for each token.
    starts
        Where each sentence begins.
    known
        Whether each token's word was met in training.
    """
    names = sorted({*found, *wanted})
    numbers = {name: number for number, name in enumerate(names)}
    one = np.array([numbers[tag] for tag in found], np.int64)
    other = np.array([numbers[tag] for tag in wanted], np.int64)
    same = one == other
    said, rows = (np.bincount(codes, minlength=len(names)) for codes in (one, other))
    right = np.bincount(one[same], minlength=len(names))
    by_tag = class_scores(np.array(names, object), right, said, rows)
    unknown = ~known
    counts = len(one), int(same.sum()), int(unknown.sum()), int((same & unknown).sum())
    return TagEvaluation(*counts, by_tag, chunk_scores(names, one, other, starts))


def chunk_scores(
    names: list[Any], found: Array, wanted: Array, starts: Array
) -> dict[str, ChunkScore] | None:
    """Return the scores of chunks by kind, and of all as ""."""
    parts = split_chunk_tags(names)
    if parts is None:
        return None
    kinds = list_kinds(parts[0])
    spans = [find_spans(find_chunks(codes, starts, parts[0])) for codes in (found, wanted)]
    spans.append(spans[0] & spans[1])
    counts = np.zeros((3, len(kinds) + 1), np.int64)
    for row, some in zip(counts, spans, strict=True):
        row[0] = len(some)
        np.add.at(row, [kind for kind, _, _ in some], 1)
    scores = class_scores(np.array(["", *kinds], object), counts[2], counts[0], counts[1])
    each = zip(scores, counts.T.tolist(), strict=True)
    return {one.label: ChunkScore(*one[:4], *own) for one, own in each}


def find_spans(chunks: Chunks) -> set[tuple[int, int, int]]:
    """Return the kind, first and last token of every chunk."""
    first, last = np.flatnonzero(chunks.begins), np.flatnonzero(chunks.ends)
    kinds = chunks.kinds[first]
    return set(zip(kinds.tolist(), first.tolist(), last.tolist(), strict=True))
