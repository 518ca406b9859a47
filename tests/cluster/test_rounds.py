"""What is told of the epochs."""

import pytest

from rosenblatt import Perceptron
from rosenblatt.cluster import fit
from rosenblatt.cluster.rounds import format_line

from ..conftest import blobs
from .conftest import cut

pytestmark = pytest.mark.cluster


def test_a_line_per_epoch(client, capsys):
    X, y = blobs(60, 4)
    model = Perceptron(max_iter=2, random_state=0, verbose=1)
    fit(model, *cut(X, y, [30, 30]), client=client)
    lines = capsys.readouterr().out.splitlines()
    assert lines == [format_line(done) for done in model.mixing_.rounds]
    assert all("per shard" in line and "MB moved" in line for line in lines)
