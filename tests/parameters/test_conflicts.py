"""Parameters: one table for all faces, and each refusal a sentence in the caller's words."""

from itertools import product

import numpy as np
import pytest

from rosenblatt.dual.parameters import CONFLICTS as DUAL_CONFLICTS
from rosenblatt.parameters import (
    CONFLICTS,
    FILES,
    FOR_FILES,
    FOR_ONE_PASS,
    LINEAR,
    ORDERS,
    RULE_TABLE,
    SIGN_OF_ZERO,
    ParameterError,
    check_parameters,
    check_signs,
)
from rosenblatt.training.linear_state import SOLUTIONS

TABLES = {"linear": LINEAR, "files": FILES}


def defaults(*tables):
    return {name: one.default for table in tables for name, one in table.items()}


@pytest.mark.parametrize("table", TABLES)
def test_every_default_is_accepted(table):
    assert all(one.accepts(one.default) for one in TABLES[table].values())
    accepted = {**LINEAR, **FILES}
    assert all(accepted[name].accepts(value) for name, value in FOR_FILES.items())
    rule = RULE_TABLE[FOR_ONE_PASS["rule"]].parameters
    assert rule["solution"].accepts(FOR_ONE_PASS["solution"])


@pytest.mark.parametrize(
    ("name", "table", "known"),
    [
        ("solution", LINEAR, SOLUTIONS),
        ("order", LINEAR, ORDERS),
        ("ties", LINEAR, SIGN_OF_ZERO),
    ],
)
def test_the_words_are_those_that_there_is_code_for(name, table, known):
    assert table[name].wanted.partition(" (")[0] == "one of " + ", ".join(map(repr, known))
    assert all(table[name].accepts(word) for word in known)
    assert not table[name].accepts("another")
    assert not table[name].accepts(None)
    assert not table[name].accepts([*known])


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("eta0", [1, 0.5, np.float32(2), np.int64(3)], [0, -1, np.nan, np.inf, "1", None, True]),
        ("eta0", [1e300], [10**400]),
        ("margin", [0, 0.0, 2.5, (1, 0)], [-1, np.nan, np.inf, "0", (1, 2, 3), (1, -1), 10**400]),
        ("margin", [3], [np.array([1.0, 2.0])]),
        ("early_stopping", [True, 3], ["roc_auc", -1]),
        ("calibrate", [True, "conformal"], ["sigmoid"]),
        ("warm_start", [True, False, 1, 0, np.True_], [[], 2]),
        ("max_iter", [1, np.int32(7)], [0, -1, 1.5, 2.0, None, True]),
        ("intercept_step", [0, 1.5, "radius"], [-1, "R", None, np.inf]),
    ],
)
def test_parameters_are_in_their_range(name, good, bad):
    sentence = rf"^{name} must be .*; got .{{1,60}}\.$"
    for value in good:
        check_parameters(defaults(LINEAR) | {name: value}, LINEAR)
    for value in bad:
        with pytest.raises(ParameterError, match=sentence) as refusal:
            check_parameters(defaults(LINEAR) | {name: value}, LINEAR)
        assert refusal.value.code == "out-of-range"


WHERE = {"fit", "batch", "stream", "problems", "cluster", "steps"}
VALUES = {
    "solution": ["last", "average", "vote", "pocket"],
    "order": list(ORDERS),
    "window": [0, 5],
    "holdout": [0.0, 0.5],
    "progress_every": [0, 10],
    "intercept_step": [1.0, "radius"],
    "early_stopping": [False, True],
    "calibrate": [False, True, "conformal"],
    "warm_start": [False, True],
    "margin": [0.0, 1.0],
    "measure": [False, True],
    "tol": [None, 0.1],
    "ranks": [None, ["a", "b"]],
    "fit_intercept": [True, False],
    "kernel": ["rbf", "precomputed"],
    "budget": [None, 9],
}
ALL_CONFLICTS = dict.fromkeys([*CONFLICTS, *DUAL_CONFLICTS])


def occasions(conflict):
    """Parameters, two of them changed at most, that a conflict is about."""
    plain = defaults(LINEAR, FILES) | {"order": "fixed"}
    plain |= {"rule": "perceptron", "kernel": "rbf", "budget": None}
    every = [{name: value} for name in VALUES for value in VALUES[name]]
    for one, other in product(every, every):
        if conflict.when(values := {**plain, **one, **other}):
            yield values


def test_the_codes_of_conflicts_are_unique_and_few():
    codes = [conflict.code for conflict in ALL_CONFLICTS]
    assert len(set(codes)) == len(codes) <= 25


@pytest.mark.parametrize("conflict", ALL_CONFLICTS, ids=lambda conflict: conflict.code)
def test_every_conflict_occurs_and_is_a_sentence(conflict):
    assert conflict.where in WHERE
    shown = conflict.why.format_map(next(occasions(conflict)))
    assert shown.endswith(".")
    assert "{" not in shown
    assert "--" not in conflict.why


def test_parameters_are_refused_where_they_do_not_go_together():
    values = defaults(LINEAR) | {"early_stopping": True}
    check_parameters(values, LINEAR)
    with pytest.raises(ParameterError) as refusal:
        check_parameters(values, LINEAR, "batch")
    assert refusal.value.code == "batch-early-stopping"
    with pytest.raises(ParameterError, match=r"^early_stopping=True would .*\.$") as refusal:
        check_parameters(values, LINEAR, "steps")
    assert refusal.value.code == "steps-early-stopping"
    values = defaults(LINEAR) | {"order": "first"}
    with pytest.raises(ParameterError, match=r"^order='first' needs all the data, and ") as refusal:
        check_parameters(values, LINEAR, "batch")
    assert refusal.value.code == "batch-order"


@pytest.mark.parametrize("ties", SIGN_OF_ZERO)
def test_a_sign_of_a_tie_needs_two_sides(ties):
    check_signs({"ties": ties}, 2, False)
    check_signs({"ties": ties}, 3, True)
    if ties in ("positive", "negative"):
        with pytest.raises(ParameterError, match=f"ties='{ties}' is about .* but 3 classes"):
            check_signs({"ties": ties}, 3, False)
    else:
        check_signs({"ties": ties}, 3, False)


def test_what_was_accepted_is_not_checked_again_and_equal_values_of_other_types_are():
    values = defaults(LINEAR) | {"eta0": 1.0}
    for _ in range(2):
        check_parameters(values, LINEAR)
        with pytest.raises(ParameterError) as refusal:
            check_parameters(values | {"eta0": True}, LINEAR)  # equal to 1.0
        assert refusal.value.code == "out-of-range"
    with pytest.raises(ParameterError):
        check_parameters(values, LINEAR | {"eta0": LINEAR["max_iter"]})
    with pytest.raises(ParameterError):
        check_parameters(values | {"early_stopping": True}, LINEAR, "batch")
