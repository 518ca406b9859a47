"""Progressive validation: rows are predicted before they are learnt from."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import SGDClassifier

from rosenblatt import AROW, PassiveAggressiveRegressor, Perceptron, progressive

from ..conftest import LAYOUTS, blobs
from ..reading.samples import refused


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("solution", ["last", "average"])
@pytest.mark.parametrize("size", [1, 7, 60])
def test_every_row_is_predicted_by_what_was_learnt_before_its_batch(layout, solution, size):
    X, y = blobs(60, 4, classes=3)
    rows = LAYOUTS[layout](X)
    seen = progressive(AROW(solution=solution), rows, y, batch_size=size)
    for begin in range(0, 60, size):
        before, at = AROW(solution=solution), slice(begin, begin + size)
        if begin:
            before.partial_fit(rows[:begin], y[:begin], classes=[0, 1, 2])
        predicted = before.predict(rows[at]) if begin else 0
        np.testing.assert_array_equal(seen.wrong[at], predicted != y[at])
    assert seen.error == seen.wrong.mean()
    for count in (1, 30, 60):
        np.testing.assert_allclose(seen.so_far()[count - 1], seen.wrong[:count].mean())
    shares = [seen.wrong[begin : begin + 25].mean() for begin in (0, 25, 50)]
    np.testing.assert_allclose(seen.over(25), shares)


def test_row_by_row_the_last_weights_err_as_their_history_says():
    X, y = blobs(60, 4)
    model = Perceptron(order="fixed", max_iter=1).fit(X, y)
    seen = progressive(Perceptron(), X, y, batch_size=1)
    ties = np.count_nonzero(y[:1] == 0)  # a first row on the boundary is right if it is the first
    assert seen.wrong.sum() == model.history_[0].errors - ties


def test_a_drift_is_seen_where_it_is():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3))
    y = np.where(np.arange(4000) < 2000, X[:, 0] > 0, X[:, 0] < 0)
    errors = progressive(Perceptron(), X, y).over(500)
    assert np.argmax(errors) == 4
    assert errors[3] < 0.1


def test_other_estimators_and_data_frames_will_do():
    X, y = blobs(300, 4)
    seen = progressive(SGDClassifier(random_state=0), X, y, batch_size=20)
    assert 0 < seen.error < 0.5
    frame = pd.DataFrame(X, columns=list("abcd"))
    ours = progressive(AROW(), frame, y, batch_size=20)
    np.testing.assert_array_equal(ours.wrong, progressive(AROW(), X, y, batch_size=20).wrong)


def test_a_model_goes_on_from_what_it_knows():
    X, y = blobs(60, 4)
    model = Perceptron().fit(X, y)
    predicted = model.predict(X[:30])
    seen = progressive(model, X[:30], y[:30], batch_size=30)
    np.testing.assert_array_equal(seen.wrong, predicted != y[:30])


def test_what_cannot_be_is_refused():
    X, y = blobs(10, 2)
    with pytest.raises(ValueError, match="one label each, and a batch_size from 1 up"):
        progressive(AROW(), X, y[:9])
    with pytest.raises(ValueError, match="one label each, and a batch_size from 1 up"):
        progressive(AROW(), X, y, batch_size=0)
    with pytest.raises(ValueError, match="Row 0 has the label 0, which is not among the classes"):
        progressive(AROW(), X, y, classes=[1, 2])


def test_a_regressor_is_refused():
    with refused("progressive-numbers"):
        progressive(PassiveAggressiveRegressor(), np.eye(3), [1.5, 2.5, 3.5])
