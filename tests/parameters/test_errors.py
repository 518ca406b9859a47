"""Errors about parameters and input: every one has a code."""

import ast
import pickle
import re
from pathlib import Path

import rosenblatt
from rosenblatt.parameters import InputError

FILES = sorted(Path(rosenblatt.__file__).parent.rglob("*.py"))
ERRORS = "ParameterError", "InputError", "RestartError", "UnknownLabelError"


def find_calls(path):
    """Every call in a file, with the name of what is called."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            yield getattr(node.func, "id", ""), node


def test_every_error_has_a_code():
    offenders = []
    for path in FILES:
        for name, node in find_calls(path):
            if name in ERRORS:
                codes = [each.value for each in node.keywords if each.arg == "code"]
                texts = [code.value for code in codes if isinstance(code, ast.Constant)]
                if not codes or not all(re.fullmatch("[a-z0-9-]+", text) for text in texts):
                    offenders.append((path.name, node.lineno, texts))
    assert offenders == []


def test_an_error_can_be_reworded_and_pickled():
    error = InputError("{a} line\nis bad; name first", code="line", column="x")
    other = pickle.loads(pickle.dumps(error.reword(f"a.csv: {error}.", line=7)))
    assert (type(other), str(other)) == (InputError, "a.csv: {a} line\\nis bad; name first.")
    assert (other.code, other.file, other.line, other.column) == ("line", None, 7, "x")


def test_the_readers_raise_no_error_without_a_code():
    readers = [path for path in FILES if path.parent.name == "reading"]
    assert readers
    offenders = [path.name for path in readers if "ValueError" in dict(find_calls(path))]
    assert offenders == []
