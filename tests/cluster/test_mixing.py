"""Mixing: what partitions learnt adds up to what the naive twin does."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rosenblatt import ALMA, AROW, SCW, Perceptron, mistake_bounds
from rosenblatt.cluster import fit
from rosenblatt.cluster.mixing import add_up, learn, mix_into, pack
from rosenblatt.cluster.partitions import make_batch
from rosenblatt.cluster.rows import (
    begin_learner,
    find_target,
    pool_labels,
    prepare,
    summarize_partition,
)
from rosenblatt.parameters import ParameterError

from .. import reference
from ..conftest import FORMS, blobs, csr, examples, form_parameters
from .conftest import cut


@settings(max_examples=40)
@given(examples(), st.data())
def test_sums_of_parts_mix_as_the_twin_does(rows, data):
    """The algebra of one epoch after another, without a cluster."""
    X, y = rows
    first = data.draw(st.integers(0, len(X)))
    lengths = [length for length in (first, len(X) - first) if length]
    settings = {"solution": "average", "order": "fixed", "max_iter": 3, "random_state": 0}
    twin = reference.MixedPerceptron(**settings).fit(X, y, lengths)
    weights, bias = mixed_here(X, y, lengths, settings).coefficients()
    np.testing.assert_allclose(weights, twin.coef_[0], atol=1e-12)
    np.testing.assert_allclose(bias, twin.intercept_, atol=1e-12)


RULES = {AROW: lambda: reference.AROWRule(), SCW: lambda: reference.SCWRule()}


@pytest.mark.parametrize("solution", ["last", "average"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", [AROW, SCW])
@settings(max_examples=10)
@given(examples("two"), st.data())
def test_confident_parts_mix_as_the_twin_does(kind, sparse, dtype, solution, rows, data):
    X, y = rows
    first = data.draw(st.integers(0, len(X)))
    lengths = [length for length in (first, len(X) - first) if length]
    settings = {"solution": solution, "order": "fixed", "max_iter": 3, "random_state": 0}
    twin = reference.MixedFamily(RULES[kind], **settings).fit(X, y, lengths)
    given = csr(X.astype(dtype)) if sparse else X.astype(dtype)
    state = mixed_here(given, y, lengths, settings, kind)
    weights, bias = state.coefficients()
    close = 1e-9 if dtype == np.float64 else 1e-3
    np.testing.assert_allclose(weights, twin.coef_[0], rtol=close, atol=close)
    np.testing.assert_allclose(bias, twin.intercept_, rtol=close, atol=close)


def mixed_here(X, y, lengths, settings, kind=Perceptron):
    """The state that the tasks of a cluster find, called one after the other."""
    cuts = np.cumsum(lengths)[:-1]
    ends = [0, *cuts, len(y)]
    blocks = [(X[i:j], y[i:j]) for i, j in itertools.pairwise(ends)]
    batches = [make_batch(*block, None, number) for number, block in enumerate(blocks)]
    found, parameters = list(map(summarize_partition, batches)), kind(**settings).get_params()
    target = find_target(pool_labels(found), None, parameters, from_files=False)
    learner = begin_learner(found, target.classes, parameters, kind._rule, may_widen=False)
    empty = learner.without_weights()
    parts = [prepare(batch, i, target, empty, X.shape[1]) for i, batch in enumerate(batches)]
    (state,) = learner.states
    for epoch in range(1, settings["max_iter"] + 1):
        weights = {0: pack(state)}
        settings_of_all = weights, epoch, len(parts)
        reports = [learn(part, i, *settings_of_all) for i, part in enumerate(parts)]
        sums = add_up(*reports)[0]
        mix_into(state, sums)
        if not any(result.mistakes for result in sums.epochs):
            break
    return state


@pytest.mark.cluster
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("solution", ["last", "average"])
def test_mixing_is_its_twin(client, form, solution):
    X, y = blobs(90, 4, 2 if form == "two" else 3)
    lengths = [40, 13, 37]
    settings = {"solution": solution, "max_iter": 2, "random_state": 5, **form_parameters(form)}
    twin = reference.MixedPerceptron(**settings).fit(X, y, lengths)
    model = fit(Perceptron(**settings), *cut(X, y, lengths), client=client)
    np.testing.assert_allclose(model.coef_, twin.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, twin.intercept_, rtol=1e-9, atol=1e-12)


@pytest.mark.cluster
def test_the_bound_holds_when_all_is_separated(client):
    """Mistakes weighted by the shares of partitions are at most R²/γ² (McDonald et al. 2010)."""
    random = np.random.default_rng(0)
    X, plane = random.normal(size=(400, 5)), random.normal(size=5)
    X = X[np.abs(X @ plane) > 0.5]
    y = np.where(X @ plane > 0, "up", "down")
    lengths = [50, 70, len(X) - 120]
    model = fit(Perceptron(random_state=0), *cut(X, y, lengths), client=client)
    made = model.mixing_
    assert model.stop_reason_ == "separated"
    assert model.score(X, y) == 1
    assert made.rows == tuple(lengths)
    assert made.rounds[-1].mistakes == (0, 0, 0)
    bound = mistake_bounds(X, y, model.coef_[0], model.intercept_[0]).unit_step
    assert 0 < sum(np.mean(one.mistakes) for one in made.rounds) <= bound


@pytest.mark.cluster
@pytest.mark.parametrize("form", ["two", "argmax"])
@pytest.mark.parametrize("kind", [AROW, SCW])
def test_mixing_by_confidence_is_its_twin(client, kind, form):
    X, y = blobs(60, 4, 2 if form == "two" else 3)
    lengths = [20, 13, 27]
    settings = {"solution": "average", "max_iter": 3, "random_state": 5, **form_parameters(form)}
    twin = reference.MixedFamily(RULES[kind], **settings).fit(X, y, lengths)
    model = fit(kind(**settings), *cut(X, y, lengths), client=client)
    np.testing.assert_allclose(model.coef_, twin.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(model.intercept_, twin.intercept_, rtol=1e-8, atol=1e-10)


@pytest.mark.cluster
def test_what_cannot_be_mixed_is_refused(client):
    with pytest.raises(ParameterError, match="cannot be mixed by alma"):
        fit(ALMA(), *cut(*blobs(40, 3), [20, 20]), client=client)
