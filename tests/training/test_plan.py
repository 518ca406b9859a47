"""A request and what is found in the data become one plan, with nothing left open."""

import json
from dataclasses import FrozenInstanceError, replace

import pytest

from rosenblatt.data.splits import Split
from rosenblatt.parameters import RULE_TABLE, ParameterError
from rosenblatt.training.plan import (
    IN_MEMORY_ROWS,
    DataProfile,
    Request,
    make_plan,
    resolve_rule,
    usual_aggressiveness,
    usual_bias_step,
)

from ..reading.samples import refused

STREAM = DataProfile(fits=False)


def plan(found=IN_MEMORY_ROWS, rule=None, **given):
    names = (*Request().options, "ordinal")
    options = {name: given.pop(name) for name in names if name in given}
    return make_plan(Request(rule, given, **options), found)


@pytest.mark.parametrize("rule", RULE_TABLE)
def test_nothing_is_left_open_once_rows_are_known(rule):
    target = RULE_TABLE[rule].target
    found = replace(IN_MEMORY_ROWS, numbers=target == "numbers")
    made = plan(found, rule, ordinal=("low", "high") if target == "ranks" else None).complete(2.0)
    assert made.unresolved == []
    assert made.parameters.keys() == RULE_TABLE[rule].parameters.keys()
    assert made.parameters["order"] == "each"
    assert made.parameters.get("intercept_step", 0.25) == 0.25
    assert made.parameters.get("margin") is not None or "margin" not in made.parameters


def test_the_same_arguments_give_the_same_plan_which_cannot_be_changed():
    assert plan(max_iter=3) == plan(max_iter=3)
    with pytest.raises(FrozenInstanceError):
        plan().rule = "arow"


@pytest.mark.parametrize(
    ("found", "given", "stream", "order"),
    [
        (DataProfile(), {}, False, "each"),
        (DataProfile(), {"max_iter": 1}, True, "fixed"),
        (DataProfile(), {"max_iter": 1, "order": "each"}, False, "each"),
        (DataProfile(), {"max_iter": 1, "solution": "pocket", "order": "fixed"}, False, "fixed"),
        (IN_MEMORY_ROWS, {"max_iter": 1}, False, "fixed"),
        (STREAM, {}, True, "fixed"),
        (STREAM, {"max_iter": 1}, True, "fixed"),
        (DataProfile(), {"window": 5}, True, "each"),
        (DataProfile(), {"progress_every": 5}, True, "fixed"),
    ],
)
def test_a_single_pass_is_a_stream_and_several_are_shuffled(found, given, stream, order):
    made = plan(found, "perceptron", **given)
    assert (made.stream, made.parameters["order"]) == (stream, order)


def test_texts_are_learnt_by_arow_in_five_passes():
    texts = replace(IN_MEMORY_ROWS, texts=2)
    made = plan(texts)
    named = {name: made.parameters[name] for name in ("r", "max_iter", "solution")}
    assert (made.rule, named) == ("arow", {"r": 1.0, "max_iter": 5, "solution": "last"})
    assert made.parameters["class_weight"] is None
    assert plan(texts, margin=0.5).rule == "perceptron"
    assert plan(texts, C=0.5).rule == "pa"
    assert plan(texts, solution="pocket", order="fixed").rule == "perceptron"


def test_the_perceptron_has_a_margin_and_balanced_classes_for_texts_whose_labels_are_known():
    texts = replace(IN_MEMORY_ROWS, texts=2)
    parameters = plan(texts, "perceptron").parameters
    assert (parameters["margin"], parameters["class_weight"]) == (2.0, "balanced")
    weights = {"a": 1.0}
    assert plan(texts, "perceptron", class_weight=weights).parameters["class_weight"] == weights
    assert plan(texts, margin=0.5).parameters["class_weight"] is None
    for other in (replace(texts, label_sets=True), replace(texts, rereadable=False)):
        assert plan(other, rule="perceptron").parameters["margin"] == 0.0
    named = plan(texts, "perceptron", classes=("a", "b")).parameters
    assert (named["margin"], named["class_weight"]) == (0.0, None)


def test_texts_with_any_number_of_labels_are_learnt_by_arow_in_three_passes():
    sets = replace(IN_MEMORY_ROWS, texts=1, label_sets=True)
    made = plan(sets)
    named = {name: made.parameters[name] for name in ("r", "max_iter", "solution")}
    assert named == {"r": 0.1, "max_iter": 3, "solution": "last"}
    assert plan(sets, max_iter=7).parameters["max_iter"] == 7
    assert plan(sets, C=0.5).rule == "pa"
    assert plan(sets, margin=0.5).rule == "perceptron"
    assert plan(sets, rule="arow").parameters["r"] == 1.0
    assert plan(replace(sets, texts=0)).rule == "pa"


def test_tables_are_learnt_by_pa_unless_the_textbook_is_stated():
    usual = plan()
    assert (usual.rule, usual.parameters["loss"]) == ("pa", "squared_hinge")
    assert usual.unresolved == ["intercept_step", "C"]
    known = plan().complete(54.0)
    assert (known.parameters["C"], known.unresolved) == (usual_aggressiveness(54.0), [])
    assert plan(C=2.0).complete(54.0).parameters["C"] == 2.0
    stated = plan(rule="pa").parameters
    assert (stated["C"], stated["loss"]) == (1.0, "hinge")
    worst = {"order": "worst", "solution": "last"}
    for textbook in ({"margin": 0.5}, {"solution": "pocket"}, worst):
        assert plan(**textbook).rule == "perceptron"


def test_one_pass_without_a_rule_is_that_of_arow():
    made = plan(max_iter=1)
    assert (made.rule, made.estimator, made.parameters["solution"]) == ("arow", "AROW", "last")
    assert plan(max_iter=1, solution="average").rule == "pa"
    assert plan(max_iter=1, progress_every=9).rule == "arow"
    assert resolve_rule(Request(parameters={"C": 1.0}, tune=True), DataProfile())[0] == "pa"


def test_rows_are_held_out_where_something_needs_them():
    assert not plan().split
    assert plan(holdout=0.2, random_state=3).split == Split(0.2, 3)
    assert plan(early_stopping=True).split == Split(0.1, 0)
    assert plan(calibrate=True, holdout=0.3).split == Split(0.3, 0)


def test_what_does_not_go_together_is_refused():
    with refused("stream-order"):
        plan(STREAM, order="once")
    with refused("out-of-range"):
        plan(rule="arow", order="batch")


def test_a_run_is_resumed_with_the_same_plan_only():
    before = plan().complete(2.0).as_dict()
    assert json.loads(json.dumps(before)) == before
    plan().refuse_other_plan(before)  # the step of the bias is not known yet
    with pytest.raises(ParameterError, match="began with max_iter = 10, not 3") as refusal:
        plan(max_iter=3).refuse_other_plan(before)
    assert refusal.value.code == "resume-changed"
    with refused("resume-changed"):
        plan(intercept_step=1.0).refuse_other_plan(before)
    with refused("resume-unknown-plan"):
        plan().refuse_other_plan({})


def test_the_bias_moves_by_a_power_of_2_of_the_size_of_rows():
    assert usual_bias_step(0.0) == usual_bias_step(float("inf")) == 1.0
    assert plan().complete(54.0).parameters["intercept_step"] == 4.0
    assert plan(STREAM, fit_intercept=False).parameters["intercept_step"] == 1.0
