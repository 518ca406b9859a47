"""Uneven margins: every form against its naive twin, and what the paper says."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rosenblatt import Perceptron
from rosenblatt.parameters import ParameterError

from ..conftest import blobs, examples


@settings(max_examples=25)
@given(examples(), st.sampled_from([(4.0, 1.0), (0.0, 3.0), (2.0, 2.0)]))
def test_uneven_margins_reach_what_each_class_asks_for(data, margins):
    """PAUM (Li et al. 2002): where it stops, positive rows exceed one margin, negative another."""
    X, y = data
    model = Perceptron(margin=margins, max_iter=300).fit(X, y)
    if model.stop_reason_ == "separated":
        scores = model.decision_function(X)
        assert np.all(scores[y == 1] > margins[0])
        assert np.all(scores[y == 0] < -margins[1])


def test_a_rare_class_is_found_more_often_with_a_larger_margin():
    rng = np.random.default_rng(0)
    y = (np.arange(2000) % 20 == 0).astype(int)
    X = rng.normal(size=(2000, 5)) + 1.2 * y[:, None]
    found = [
        Perceptron(margin=(wide, 1.0), solution="average", random_state=0)
        .fit(X, y)
        .predict(X)[y == 1]
        .mean()
        for wide in (0.0, 20.0, 100.0)
    ]
    assert found[0] < found[1] < found[2]


def test_several_classes_at_once_have_one_margin():
    X, y = blobs(classes=3)
    with pytest.raises(ParameterError) as refusal:
        Perceptron(margin=(0.0, 1.0)).fit(X, y)
    assert refusal.value.code == "sides-of-many"
    Perceptron(margin=(0.0, 1.0), multi_class="ovr").fit(X, y)
