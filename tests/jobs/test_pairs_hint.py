"""A note suggests products of columns where held-out rows gain much, and only there."""

import numpy as np
import pytest

import rosenblatt
from rosenblatt.training.report import Listener


class Notes(Listener):
    """Collects the codes of notes."""

    def __init__(self):
        self.codes = []

    def note(self, sentence):
        self.codes.append(sentence.code)


def make_rows(label, n=1500, columns=3):
    """Rows of normal numbers with a label."""
    X = np.random.default_rng(0).normal(size=(n, columns))
    return [
        {f"x{j}": value for j, value in enumerate(row)} | {"label": int(label(row))}
        for row in X.tolist()
    ]


def codes_of(rows, **options):
    notes = Notes()
    rosenblatt.train(rows, listener=notes, **options)
    return notes.codes


def is_product(row):
    return row[0] * row[1] > 0


def test_held_out_rows_that_gain_much_are_noted():
    assert codes_of(make_rows(is_product), holdout=0.3) == ["pairs"]


@pytest.mark.parametrize(
    ("rows", "options"),
    [
        (make_rows(lambda row: row[0] + row[1] > 0), {"holdout": 0.3}),  # a plane is enough
        (make_rows(is_product), {}),  # no row is held out
        (make_rows(is_product), {"holdout": 0.3, "rule": "pa"}),  # the rule is stated
        (make_rows(is_product), {"holdout": 0.3, "pairs": True}),
        (make_rows(is_product, n=400), {"holdout": 0.3}),  # too few rows to tell
        (make_rows(is_product, columns=21), {"holdout": 0.3}),  # too many columns
    ],
)
def test_nothing_is_noted_otherwise(rows, options):
    assert codes_of(rows, **options) == []
