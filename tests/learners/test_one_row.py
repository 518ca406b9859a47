"""Single rows of a learner: the states of batches of one, and undone for what a row can change."""

import numpy as np
import pytest

from rosenblatt.data.rows import view_rows
from rosenblatt.learners import one_row
from rosenblatt.learners.linear import LinearLearner, TrainingRows
from rosenblatt.parameters import CLASS_RULES
from rosenblatt.training.rules import RULES
from rosenblatt.training.state import pack_state

from ..conftest import csr


def begin(rule, classes, width, **parameters):
    usual = {name: each.default for name, each in CLASS_RULES[rule].parameters.items()}
    shape = width, np.float64
    return LinearLearner.begin(usual | parameters, np.arange(classes), shape, rule=RULES[rule])


def pack(learner):
    found = []
    for arrays, numbers in map(pack_state, learner.states):
        found += [*numbers.items(), *((name, each.tobytes()) for name, each in arrays.items())]
    return found


def refuse(state, rows):
    raise KeyboardInterrupt


@pytest.mark.parametrize("options", [{}, {"solution": "average"}])
@pytest.mark.parametrize(("classes", "width", "layout"), [(2, 4, np.asarray), (5, 90, csr)])
@pytest.mark.parametrize("rule", ["perceptron", "arow", "alma", "ftrl"])
def test_a_row_is_a_batch_of_one_and_errors_are_undone(
    rule, classes, width, layout, options, monkeypatch
):
    random = np.random.default_rng(0)
    X = random.integers(-3, 4, (45, width)) * (random.random((45, width)) < 4 / width) * 1.0
    one, batch = (begin(rule, classes, width, **options) for _ in range(2))
    undone = 0
    for x, code in zip(X, random.integers(classes, size=45), strict=True):
        rows, before = view_rows(layout(x[None])), pack(one)
        with monkeypatch.context() as patch:
            patch.setattr(one_row, "NOT_LOST", np.inf)  # so that the last problem is asked
            patch.setattr(type(one.states[-1]), "refuse_overflow", refuse)
            try:
                one.learn_one(rows, int(code))
            except KeyboardInterrupt:
                undone += 1
                assert pack(one) == before
                patch.undo()
                one.learn_one(rows, int(code))
        batch.learn(TrainingRows.of(rows, np.array([code]), None, width))
        assert pack(one) == pack(batch)
        assert one.predict_one(rows) == one.choose(one.scores(rows, width))[0]
    assert undone > 10
