"""The table of update rules, and the estimators that derive from it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import rosenblatt
from rosenblatt.parameters import (
    ANY_RULE,
    RULE_NAMES,
    RULE_TABLE,
    ParameterError,
    defaults,
    parameters_for_files,
)
from rosenblatt.training.rules import RULES


def test_every_rule_has_kernels_a_class_and_a_place_in_the_registry():
    assert RULE_TABLE.keys() == RULES.keys()
    assert all(RULES[rule].name == rule for rule in RULE_TABLE)
    for estimator, rule in RULE_NAMES.items():
        assert getattr(rosenblatt, estimator)._rule.name == rule
        assert estimator in rosenblatt.__all__


@pytest.mark.parametrize("rule", RULE_TABLE)
def test_the_own_parameters_of_a_rule_have_help_and_a_grid_in_range(rule):
    entry = RULE_TABLE[rule]
    assert entry.own.keys() & ANY_RULE.keys() <= {"max_iter", "order"}
    assert entry.grid or not entry.tuned
    for parameter in entry.own.values():
        assert parameter.help
        assert not parameter.help.endswith(".")
        assert all(map(parameter.accepts, (parameter.default, *parameter.grid)))


def test_parameters_are_those_given_and_the_defaults():
    usual = defaults(RULE_TABLE["arow"].parameters) | {"solution": "average", "random_state": 0}
    usual |= {"order": None, "intercept_step": None}
    assert parameters_for_files("arow", r=2.0) == usual | {"r": 2.0}
    with pytest.raises(
        ParameterError,
        match=r"^AROW has no C, which is for rule .*; its own parameters are r\.$",
    ) as error:
        parameters_for_files("arow", C=3)
    assert error.value.code == "not-of-rule"


def test_the_room_needs_the_standard_library_only():
    script = "import sys, rosenblatt.parameters; print(*{n.partition('.')[0] for n in sys.modules})"
    environment = os.environ | {"PYTHONPATH": str(Path(rosenblatt.__file__).parents[1])}
    command = [sys.executable, "-S", "-c", script]
    imported = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout.split()
    assert set(imported) - {"__main__", "rosenblatt"} <= sys.stdlib_module_names


@pytest.mark.parametrize("table", [RULE_TABLE, RULES])
def test_an_unknown_rule_is_refused_with_the_names_of_all_rules(table):
    with pytest.raises(
        ParameterError, match=r"arrow. is not known\. Did you mean arow.*shifting,"
    ) as error:
        table["arrow"]
    assert error.value.code == "unknown-rule"


def test_rules_of_the_package_are_known_without_a_search_among_packages(monkeypatch):
    monkeypatch.setattr("importlib.metadata.entry_points", None)
    assert RULE_TABLE["arow"].estimator == "AROW"
