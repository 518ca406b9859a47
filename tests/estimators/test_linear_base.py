"""What classifiers and regressors share (test_promises.py has what every estimator promises)."""

import numpy as np
import pytest
from scipy.sparse import random_array
from sklearn import clone

from rosenblatt import (
    ALMA,
    AROW,
    FTRL,
    PassiveAggressiveRegressor,
    Perceptron,
    PRank,
    ShiftingPerceptron,
)
from rosenblatt.data.rows import view_rows

MODELS = [
    Perceptron(),
    Perceptron(solution="average"),
    Perceptron(solution="average", multi_class="ovr"),
    ALMA(solution="average"),
    ShiftingPerceptron(),
    AROW(solution="average"),
    FTRL(solution="average"),
    PassiveAggressiveRegressor(solution="average"),
    PRank(solution="average"),
]


def test_a_bias_to_start_from_needs_a_bias():
    with pytest.raises(ValueError, match="intercept_init needs fit_intercept=True"):
        Perceptron(fit_intercept=False).fit([[1.0], [-1.0]], [0, 1], intercept_init=1)


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("classes", [2, 3])
def test_few_columns_score_as_all_do_to_the_bit(model, classes):
    X = random_array((80, 900), density=0.02, format="csr", rng=0)
    y, few = np.arange(80) % classes, X[[3, 60, 7]]
    model, numbers = clone(model), isinstance(model, PassiveAggressiveRegressor)
    model.partial_fit(X, y, **({} if numbers else {"classes": np.arange(classes)}))
    score, learner = model._score, model._learner
    assert learner.kept is None
    found = score(few), learner.scores(view_rows(few), 900), learner.scores(view_rows(few), 901)
    assert learner.kept is None or model.solution == "last"
    learner.prepare()
    wanted = score(few), learner.scores(view_rows(few), 900), learner.scores(view_rows(few), 901)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.any()
