"""Results that look better than they are get a line that says so."""

import numpy as np
import pytest

from rosenblatt.jobs.cautions import describe_constant, describe_giveaway

from ..conftest import csr

CLASSES = np.array(["no", "yes"])


@pytest.mark.parametrize(("counts", "noted"), [([2109, 7], True), ([1900, 216], False)])
def test_a_label_that_is_nearly_constant_is_noted(counts, noted):
    note = describe_constant(counts, CLASSES)
    assert (note is not None) == noted
    if note is not None:
        assert note.startswith("2,109 of 2,116 rows have the label no")


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_column_that_gives_the_label_away_is_named(sparse, classes):
    random, codes = np.random.default_rng(0), np.arange(600) % classes
    X = np.column_stack([random.normal(size=600), *(codes == k for k in range(classes))])
    rows, labels = csr(X) if sparse else X, np.arange(classes)
    every = np.arange(600)
    note = describe_giveaway(rows, every, codes, labels, {1: "copy=0", 2: "copy=1", 3: "copy=2"})
    assert note is not None
    assert note.startswith("copy=0 alone tells" if classes == 2 else "copy=0, copy=1, copy=2 alone")
    X[0, 1:] = X[1, 1:]  # one row of the wrong side
    rows = csr(X) if sparse else X
    assert describe_giveaway(rows, every, codes, labels, {}) is None
    some = every[classes:]
    assert describe_giveaway(rows, some, codes, labels, {}) is not None


def test_few_rows_are_separated_by_chance():
    assert describe_giveaway(np.eye(2), np.arange(2), np.arange(2), CLASSES, {}) is None
