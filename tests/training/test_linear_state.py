"""Every solution, order and form against its naive twin, in one pass or in batches."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from rosenblatt import Perceptron

from .. import reference
from ..conftest import FORMS, LAYOUTS, ROUNDS, VARIANTS, blobs, examples, form_parameters

RANDOM = "each", "once"


def parameters(form):
    """Settings under which small integers stay exact."""
    ties, margins = ["mistake", "correct"], [0.0, 0.0, 1.0, 3.0]
    if form != "argmax":  # of two sides
        ties, margins = [*ties, "positive", "negative"], [*margins, (0.0, 2.0), (3.0, 1.0)]
    return st.fixed_dictionaries(
        {
            "eta0": st.sampled_from([1.0, 0.5, 2.0]),
            "margin": st.sampled_from(margins),
            "ties": st.sampled_from(ties),
            "fit_intercept": st.booleans(),
            "intercept_step": st.sampled_from([1.0, 0.0, 2.0, "radius"]),
            "measure": st.booleans(),
            "max_iter": st.integers(1, 6),
            "random_state": st.integers(0, 9),
        }
    ).map(lambda drawn: drawn | form_parameters(form))


def starts(form, width, fit_intercept):
    """Where to start: at zero, or at small integers."""
    outputs = 1 if form == "two" else 3
    small = st.integers(-2, 2)
    bias = arrays(float, outputs, elements=small if fit_intercept else st.just(0))
    weights = arrays(float, (outputs, width), elements=small)
    return st.just({}) | st.fixed_dictionaries({"coef_init": weights, "intercept_init": bias})


def assert_same_run(model, twin, close=np.testing.assert_array_equal):
    close([epoch[:5] for epoch in model.history_], [epoch[:5] for epoch in twin.history_])
    assert model.n_mistakes_ == twin.n_mistakes_
    assert model.n_iter_ == twin.n_iter_
    assert model.stop_reason_ == twin.stop_reason_
    close(model.coef_, twin.coef_.astype(model.coef_.dtype))
    close(model.intercept_, twin.intercept_.astype(model.coef_.dtype))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("solution", "order"), VARIANTS)
@settings(max_examples=6 * ROUNDS)
@given(choices=st.data())
def test_equals_its_twin_bit_for_bit_on_integers(solution, order, form, choices):
    X, y = choices.draw(examples(form))
    chosen = choices.draw(parameters(form)) | {"solution": solution, "order": order}
    given = choices.draw(starts(form, X.shape[1], chosen["fit_intercept"]))
    weights = arrays(float, len(y), elements=st.integers(1, 3))
    given["sample_weight"] = choices.draw(st.none() | weights)
    twin = reference.Perceptron(**chosen).fit(X, y, **given)
    for layout in LAYOUTS.values():
        for dtype in (np.float32, np.float64):
            rows = layout(X.astype(dtype))
            model = Perceptron(**chosen).fit(rows, y, **given)
            assert model.coef_.dtype == dtype
            assert_same_run(model, twin)
            if solution != "average":  # whose scores are not integers
                np.testing.assert_array_equal(
                    model.decision_function(rows),
                    twin.decision_function(X).astype(model.decision_function(rows).dtype),
                )
                np.testing.assert_array_equal(model.predict(rows), twin.predict(X))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("solution", "order"), VARIANTS)
@pytest.mark.parametrize("layout", ["dense", "int32"])
def test_equals_its_twin_on_real_numbers(solution, order, form, layout):
    X, y = blobs(40, 37, classes=2 if form == "two" else 3)
    chosen = {"solution": solution, "order": order, "max_iter": 3, "random_state": 0}
    chosen |= form_parameters(form)
    twin = reference.Perceptron(**chosen).fit(X, y)
    model = Perceptron(**chosen).fit(LAYOUTS[layout](X), y)
    assert_same_run(model, twin, np.testing.assert_allclose)
    np.testing.assert_allclose(model.decision_function(X), twin.decision_function(X))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("solution", "order"), [variant for variant in VARIANTS if variant[1] not in RANDOM]
)
@given(choices=st.data())
@settings(max_examples=6 * ROUNDS)
def test_a_row_of_weight_zero_is_never_seen(solution, order, form, choices):
    X, y = choices.draw(examples(form))
    extra = choices.draw(arrays(bool, len(y)))
    mixed = np.repeat(np.arange(len(y)), 1 + extra)
    weights = (np.diff(mixed, prepend=-1) > 0).astype(float)  # the second of a pair weighs nothing
    rows = np.where(weights[:, None] > 0, X[mixed], 7)
    chosen = form_parameters(form) | {"solution": solution, "order": order, "max_iter": 5}
    without = Perceptron(**chosen).fit(X, y)
    beside = Perceptron(**chosen).fit(rows, y[mixed], sample_weight=weights)
    assert beside.history_ == without.history_
    np.testing.assert_array_equal(beside.decision_function(X), without.decision_function(X))
