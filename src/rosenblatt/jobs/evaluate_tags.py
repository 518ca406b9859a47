"""How well sequences are tagged: tokens, unknown words, each tag, and chunks as conlleval has them.

Tjong Kim Sang & Buchholz (2000): a chunk is right if its kind, its first and its last token are.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..data.rows import Array
from ..learners.sequence.schemes import LETTERS, Chunks, find_chunks, get_parts
from .evaluate import ClassScore


class ChunkScore(NamedTuple):
    """How many chunks were found, how many there are, and how many of these were found."""

    found: int
    wanted: int
    right: int

    @property
    def precision(self) -> float:
        """The share of the found chunks that are right."""
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """The share of the chunks that were found."""
        return self.right / self.wanted if self.wanted else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.found + self.wanted
        return 2 * self.right / both if both else 0.0


@dataclass
class SequenceEvaluation:
    """Tags that were found beside those that are right.

    Attributes
    ----------
    tokens, right : int
        How many there are, and how many have the right tag.
    unknown, unknown_right : int
        The same of words that were not met in training.
    by_tag : list of ClassScore
        Precision, recall and F1 of each tag.
    chunks : dict of str to ChunkScore, or None
        By kind, and of all as "", if the tags write chunks.
    """

    tokens: int
    right: int
    unknown: int
    unknown_right: int
    by_tag: list[ClassScore]
    chunks: dict[str, ChunkScore] | None

    @property
    def accuracy(self) -> float:
        """The share of tokens whose tag is right."""
        return self.right / self.tokens if self.tokens else float("nan")

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON values."""
        report: dict[str, Any] = {
            "tokens": self.tokens,
            "errors": self.tokens - self.right,
            "accuracy": self.accuracy,
            "unknown_words": self.unknown,
            "unknown_errors": self.unknown - self.unknown_right,
            "classes": {str(one.label): one._asdict() for one in self.by_tag},
        }
        if self.chunks is not None:
            report["chunks"] = {
                kind or "all": {
                    **one._asdict(),
                    "precision": one.precision,
                    "recall": one.recall,
                    "f1": one.f1,
                }
                for kind, one in self.chunks.items()
            }
        return report


def evaluate_tags(
    found: list[Any], wanted: list[Any], starts: Array, known: Array
) -> SequenceEvaluation:
    """Compare tags with the right ones.

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
    by_tag = [
        ClassScore(
            name,
            right[k] / said[k] if said[k] else 0.0,
            right[k] / rows[k] if rows[k] else 0.0,
            2 * right[k] / (said[k] + rows[k]),
            int(rows[k]),
        )
        for k, name in enumerate(names)
    ]
    unknown = ~known
    counts = len(one), int(same.sum()), int(unknown.sum()), int((same & unknown).sum())
    return SequenceEvaluation(*counts, by_tag, chunk_scores(names, one, other, starts))


def chunk_scores(
    names: list[Any], found: Array, wanted: Array, starts: Array
) -> dict[str, ChunkScore] | None:
    """How well chunks are found, by kind and all together."""
    parts = get_parts(names)
    if parts is None:
        return None
    letters = np.array([LETTERS.get(letter, letter) for letter, _ in parts[0]])
    kinds = sorted({kind for _, kind in parts[0] if kind})
    numbers = np.array([kinds.index(kind) + 1 if kind else 0 for _, kind in parts[0]])
    both = [find_chunks(letters[codes], numbers[codes], starts) for codes in (found, wanted)]
    spans = [find_spans(chunks) for chunks in both]
    common = spans[0] & spans[1]
    scores = {}
    for number, kind in enumerate(["", *kinds]):
        counted = [sum(1 for span in some if number in (0, span[0])) for some in (*spans, common)]
        scores[kind] = ChunkScore(*counted)
    return scores


def find_spans(chunks: Chunks) -> set[tuple[int, int, int]]:
    """Kind, first and last token of every chunk."""
    first, last = np.flatnonzero(chunks.begins), np.flatnonzero(chunks.ends)
    kinds = chunks.kinds[first]
    return set(zip(kinds.tolist(), first.tolist(), last.tolist(), strict=True))
