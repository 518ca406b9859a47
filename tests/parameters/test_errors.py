"""Errors about parameters and input: every one has a code."""

import ast
import pickle
from pathlib import Path

import pytest

import rosenblatt
from rosenblatt.parameters import InputError

FILES = sorted(Path(rosenblatt.__file__).parent.rglob("*.py"))
ERRORS = "ParameterError", "InputError", "FirstIndexError", "UnknownLabelError"


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_error_has_a_code(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ERRORS:
            codes = [each.value for each in node.keywords if each.arg == "code"]
            assert codes, f"line {node.lineno}"
            for code in codes:
                if isinstance(code, ast.Constant):
                    assert code.value == code.value.lower()
                    assert set(code.value) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


def test_an_error_can_be_reworded_and_pickled():
    error = InputError("a line is bad; state {first}", code="line", column="x", first=0)
    other = pickle.loads(pickle.dumps(error.reword(f"a.csv: {error.template}.", line=7)))
    assert str(other) == "a.csv: a line is bad; state first=0."
    assert (other.code, other.file, other.line, other.column) == ("line", None, 7, "x")
    assert (type(other), other.values) == (InputError, {"first": 0})


@pytest.mark.parametrize("path", sorted(FILES[0].parent.glob("reading/*.py")), ids=lambda p: p.name)
def test_the_readers_raise_no_error_without_a_code(path):
    called = [
        node.func
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
    ]
    assert "ValueError" not in [getattr(name, "id", "") for name in called]
