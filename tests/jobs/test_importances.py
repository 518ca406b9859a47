"""Importances of columns, and how their deviations are measured."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from rosenblatt.data.rows import view_rows
from rosenblatt.data.splits import Split
from rosenblatt.jobs.files import train
from rosenblatt.jobs.importances import measure_deviations, measure_first_rows, rank_columns
from rosenblatt.learners.kinds import make_learner
from rosenblatt.reading.reader import read
from rosenblatt.training.plan import Request


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("at_once", [1, 100, 2**20])
def test_deviations_are_those_of_numpy(sparse, at_once, monkeypatch):
    monkeypatch.setattr("rosenblatt.jobs.importances.VALUES_AT_ONCE", at_once)
    X = np.random.default_rng(0).normal(size=(300, 5)) * (np.arange(5) > 0)
    rows, *parts = (
        view_rows(csr_array(part) if sparse else np.ascontiguousarray(part))
        for part in (X, *np.array_split(X, 4))
    )
    np.testing.assert_allclose(measure_deviations(parts, 5), X.std(axis=0), atol=1e-12)
    few = measure_first_rows(rows, 5, Split())
    np.testing.assert_allclose(few, X.std(axis=0), atol=1e-12)
    split = Split(0.3, 1)
    few = measure_first_rows(rows, 5, split)
    np.testing.assert_allclose(few, X[~split.held_out(0, 300)].std(axis=0), atol=1e-12)
    assert measure_deviations([], 3).tolist() == [0, 0, 0]


def test_the_most_important_column_comes_first(tmp_path):
    random = np.random.default_rng(0)
    rows = [
        {"size": float(x), "colour": str(c), "noise": float(z), "kind": "yes" if x > 0 else "no"}
        for x, c, z in zip(
            random.normal(size=300), random.choice(["red", "green"], 300), random.normal(size=300),
            strict=True,
        )
    ]  # fmt: skip
    model = train(read(rows, label="kind", names=100), Request())
    coef, _ = make_learner(model, "m").coefficients()
    found = rank_columns(model, coef)
    assert found[0].name == "size"
    assert {one.name for one in found} >= {"noise", "colour=red", "colour=green"}
    sizes = [one.importance for one in found]
    assert sizes == sorted(sizes, reverse=True)
    red = next(one for one in found if one.name == "colour=red")
    share = np.mean([row["colour"] == "red" for row in rows])
    assert red.deviation == pytest.approx(np.sqrt(share * (1 - share)), rel=1e-4)
    again = read(rows, features=model.features["recipe"])
    again = measure_deviations((each.rows for each in again), coef.shape[1])
    assert rank_columns(model, coef, again)[0].importance == pytest.approx(sizes[0], rel=1e-4)
    assert len(rank_columns(model, coef, most=2)) == 2


def test_held_out_rows_do_not_enter_the_importances():
    random = np.random.default_rng(0)
    held, found = Split(0.25, 0).held_out(0, 120), []
    numbers = random.normal(size=120)
    for size in (1, 500):
        rows = [
            {"a": float(a * size if out else a), "kind": bool(a > 0)}
            for a, out in zip(numbers, held, strict=True)
        ]
        request = Request(parameters={"random_state": 0}, holdout=0.25)
        found.append(train(read(rows, label="kind", names=9), request).features["deviations"])
    assert found[0] == found[1]


def test_models_without_deviations_are_ranked_by_weight():
    rows = [{"a": k, "b": -2 * k % 7, "kind": k > 5} for k in range(12)]
    model = train(read(rows, label="kind"), Request())
    del model.features["deviations"]
    coef, _ = make_learner(model, "m").coefficients()
    found = rank_columns(model, coef)
    assert {one.importance for one in found} == {None}
    weights = [abs(one.weights[0]) for one in found]
    assert weights == sorted(weights, reverse=True)
