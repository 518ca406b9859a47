"""Errors about parameters: every one has a code."""

import ast
from pathlib import Path

import pytest

import rosenblatt

FILES = sorted(Path(rosenblatt.__file__).parent.rglob("*.py"))
ERRORS = "ParameterError", "UnknownLabelError"


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_error_about_parameters_has_a_code(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ERRORS:
            codes = [each.value for each in node.keywords if each.arg == "code"]
            assert codes, f"line {node.lineno}"
            for code in codes:
                if isinstance(code, ast.Constant):
                    assert code.value == code.value.lower()
                    assert set(code.value) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
