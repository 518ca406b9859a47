"""What is found in the partitions, before anything is learnt."""

import numpy as np
import pytest

from rosenblatt import Perceptron
from rosenblatt.cluster import fit
from rosenblatt.cluster.partitions import make_batch
from rosenblatt.cluster.rows import find_target, pool_labels, summarize_partition
from rosenblatt.parameters import ParameterError


def labels_of(*parts):
    """The counts of the labels of partitions of rows without columns."""
    batches = [make_batch(np.ones((len(y), 1)), np.array(y), None, 0) for y in parts]
    return pool_labels(list(map(summarize_partition, batches)))


def test_classes_are_those_of_all_partitions():
    plain = {"class_weight": None}
    met = find_target(labels_of([2, 2], [1, 2], [5]), None, plain, from_files=False)
    assert met.classes.tolist() == [1, 2, 5]
    words = find_target(labels_of(["a"], ["long"]), None, plain, from_files=False)
    assert words.classes.tolist() == ["a", "long"]
    named = find_target(labels_of([2, 1]), ["3", "2", "1"], plain, from_files=True)
    assert named.classes.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="Some partitions have numbers as labels and some have"):
        labels_of([2, 1], ["a", "b"])


def test_classes_are_balanced_over_all_partitions():
    labels = labels_of([0, 0, 0], [0, 1])
    target = find_target(labels, None, {"class_weight": "balanced"}, from_files=False)
    assert target.class_weight.tolist() == [5 / 8, 5 / 2]


@pytest.mark.cluster
@pytest.mark.parametrize("epochs", [1, 2])
def test_columns_with_gaps_take_no_memory(client, tmp_path, epochs):
    path = tmp_path / "rows.svm"
    path.write_text("0 1:1\n1 4000000000:1\n")
    with pytest.raises(ParameterError, match="are 8,000,000,000 weights"):
        fit(Perceptron(order="fixed", max_iter=epochs), path, client=client)
