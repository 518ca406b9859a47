"""Choices are the estimators' parameters, listed nowhere else."""

import pytest

from rosenblatt import KernelPerceptron, Perceptron
from rosenblatt.lab.choices import DEFAULTS, DOCUMENTS, TABLE, Choices
from rosenblatt.lab.data import SetOptions, made
from rosenblatt.parameters import KERNEL, LINEAR


def test_untouched_choices_make_the_textbook_perceptron():
    assert Choices().parameters() == {"random_state": 0}
    assert isinstance(Choices().estimator(), Perceptron)


def test_what_a_form_does_not_use_is_left_out():
    chosen = {**DEFAULTS, "intercept_step": "radius", "eta0": 0.5, "degree": 5, "gamma": 2.0}
    radius = {"intercept_step": "radius"}
    assert Choices(chosen).parameters() == {**radius, "eta0": 0.5, "random_state": 0}
    origin = Choices({**chosen, "form": "origin"})
    assert origin.parameters() == {"fit_intercept": False, "eta0": 0.5, "random_state": 0}
    kernel = Choices({**chosen, "form": "kernel"})
    assert kernel.parameters() == {**radius, "gamma": 2.0, "random_state": 0}
    assert isinstance(kernel.estimator(), KernelPerceptron)
    poly = Choices({**chosen, "form": "kernel", "kernel": "poly"})
    assert poly.parameters() == {**kernel.parameters(), "kernel": "poly", "degree": 5}


def test_every_word_is_one_that_some_estimator_takes():
    for name in ("order", "solution", "ties"):
        assert TABLE[name].choices == LINEAR[name].choices
    assert set(TABLE["kernel"].choices) < set(KERNEL["kernel"].choices)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_documents_choose_what_can_be_learnt_with(document):
    points = made("blobs", SetOptions())
    choices = Choices({**DEFAULTS, **DOCUMENTS[document]})
    assert choices.estimator().fit(points.X, points.y).stop_reason_ in ("separated", "max_iter")
