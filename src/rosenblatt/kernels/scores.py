"""Scores of rows under given weights."""

import numpy as np

from .algebra import dot, score
from .compiling import compiled


@compiled
def score_rows(rows, w, b, out):
    """The activation w·x + b of every row."""
    for i in range(len(out)):
        out[i] = dot(w, np.uint64(i), rows) + b[0]


@compiled
def score_classes(rows, w, b, out):
    """The activation of every class for every row; weight j·classes + c is of column j, class c."""
    for i in range(len(out)):
        score(w, b, out[i], np.uint64(i), rows)
