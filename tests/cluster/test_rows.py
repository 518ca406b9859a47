"""What is found in the partitions, before anything is learnt."""

import numpy as np
import pytest

from rosenblatt import Perceptron
from rosenblatt.cluster import fit
from rosenblatt.cluster.partitions import make_batch
from rosenblatt.cluster.rows import (
    collect_classes,
    find_target,
    refuse_weightless,
    summarize_partition,
)
from rosenblatt.parameters import ParameterError


def found_in(*labels, weights=None):
    """What is found in partitions of rows without columns."""
    arrays = [np.array(part) for part in labels]
    scales = weights or [None] * len(arrays)
    pairs = enumerate(zip(arrays, scales, strict=True))
    return [
        summarize_partition(make_batch(np.ones((len(y), 1)), y, scale, number))
        for number, (y, scale) in pairs
    ]


def test_classes_are_those_of_all_partitions():
    assert collect_classes(found_in([2, 2], [1, 2], [5]), None, from_files=False).tolist() == [
        1,
        2,
        5,
    ]
    named = collect_classes(found_in([2, 1]), ["3", "2", "1"], from_files=True)
    assert named.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="Some partitions have numbers as labels and some have"):
        collect_classes(found_in([2, 1], ["a", "b"]), None, from_files=False)


def test_classes_are_balanced_over_all_partitions():
    found = found_in([0, 0, 0], [0, 1])
    target = find_target(found, np.array([0, 1]), {"class_weight": "balanced", "random_state": 0})
    assert target.class_weight.tolist() == [5 / 8, 5 / 2]


def test_weights_are_looked_at_together():
    found = found_in([0, 0], [1, 1], weights=[[1.0, 0.0], [0.0, 2.0]])
    plain = {"class_weight": None, "random_state": 0}
    refuse_weightless(found, find_target(found, np.array([0, 1]), plain))
    with pytest.raises(ValueError, match="Only one class has rows of a weight above 0"):
        refuse_weightless(
            found, find_target(found, np.array([0, 1]), plain | {"class_weight": {1: 0}})
        )


@pytest.mark.cluster
@pytest.mark.parametrize("epochs", [1, 2])
def test_columns_with_gaps_take_no_memory(client, tmp_path, epochs):
    path = tmp_path / "rows.svm"
    path.write_text("0 1:1\n1 4000000000:1\n")
    with pytest.raises(ParameterError, match="are 8,000,000,000 weights"):
        fit(Perceptron(order="fixed", max_iter=epochs), path, client=client)
