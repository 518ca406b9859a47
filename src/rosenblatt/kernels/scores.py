"""Scores of rows under given weights."""

import numpy as np

from .algebra import dot, each_rows, score
from .compiling import compiled
from .forms import given, vector


def forms_of_scores():
    """Rows with weights of their precision; the scores may be more precise."""
    for rows in each_rows():
        weights = given(rows.values.dtype)
        for kind in {rows.values.dtype.type, np.float64}:
            yield rows, weights, weights, vector(kind)


@compiled(forms_of_scores)
def score_rows(rows, w, b, out):
    """The activation w·x + b of every row."""
    for i in range(len(out)):
        out[i] = dot(w, np.uint64(i), rows) + b[0]


def forms_of_class_scores():
    """Rows with weights and scores of their precision."""
    for rows in each_rows():
        kind = rows.values.dtype
        yield rows, given(kind), given(kind), vector(kind, 2)


@compiled(forms_of_class_scores)
def score_classes(rows, w, b, out):
    """The activation of every class for every row; weight j·classes + c is of column j, class c."""
    for i in range(len(out)):
        score(w, b, out[i], np.uint64(i), rows)
