"""The program: help, errors, and words that are not known."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import rosenblatt
from rosenblatt import __version__
from rosenblatt.cli.app import app, spelling
from rosenblatt.cli.options import Order, Solution
from rosenblatt.parameters import NAME_ONLY, TOKEN

from .conftest import run


def test_the_choices_are_those_of_the_estimator():
    from rosenblatt.training.orders import ORDERS
    from rosenblatt.training.solutions import SOLUTIONS

    assert list(Solution) == list(SOLUTIONS)
    assert list(Order) == list(ORDERS)


def test_options_that_do_not_go_together_are_refused_in_one_line(capsys):
    status, _, err = run(capsys, "train", "iris", "--order", "worst", "--solution", "vote")
    assert status == 2
    assert err.startswith("rosenblatt: --solution vote weighs")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments", [["train", "moon"], ["train"], ["fly"], ["train", "iris", "--epochs", "0"]]
)
def test_wrong_words_end_with_status_two(capsys, arguments):
    assert run(capsys, *arguments)[0] == 2


def test_version(capsys):
    assert run(capsys, "--version")[:2] == (0, f"rosenblatt {__version__}\n")


def test_help_imports_nothing_heavy():
    script = (
        "import sys; sys.argv = ['rosenblatt', 'train', '--help']\n"
        "from rosenblatt.cli.app import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'numba', 'numpy', 'pyarrow', 'scipy', 'sklearn'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "--solution" in out.stdout
    assert out.stdout.splitlines()[-1] == "[]"


def test_nothing_is_coloured_when_piped(capsys, folder):
    command = [sys.executable, "-c", "from rosenblatt.cli.app import main; main()"]
    environment = {**os.environ, "COLUMNS": "100", "TERM": "xterm-256color"}
    for variable in ("FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS"):
        environment.pop(variable, None)
    for arguments in (
        ["train", "--help"],
        ["train", "flowers.csv", "-o", "m.safetensors", "--test", "flowers.csv"],
        ["inspect", "m.safetensors"],
        ["train", "none.csv"],
        ["train", "flowers.csv", "--epochs", "x"],
    ):
        done = subprocess.run([*command, *arguments], capture_output=True, env=environment)
        assert done.stdout + done.stderr
        assert b"\x1b" not in done.stdout + done.stderr
        assert b"Traceback" not in done.stderr


def test_help_fits_on_two_screens(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    status, out, _ = run(capsys, "train", "--help")
    assert status == 0
    assert len(out.splitlines()) <= 100
    assert max(map(len, out.splitlines())) <= 80
    for default in ("(average;", "(each;", "(10)", "(18;"):
        assert default in out


def tokens():
    """Every parameter that a sentence of the library speaks of."""
    for path in Path(rosenblatt.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from TOKEN.finditer(node.value)


@pytest.mark.parametrize("command", typer.main.get_command(app).commands)
def test_no_command_recommends_an_option_that_it_lacks(command):
    params = typer.main.get_command(app).commands[command].params
    known = {option for one in params for option in (*one.opts, *one.secondary_opts)}
    met = set()
    for token in tokens():
        name, kind, word, literal = token.groups()
        said = spelling([command])(name, NAME_ONLY if kind == "?" else word or literal)
        assert said.split()[0] in known or said.endswith(" (in Python)")
        met.add(said.split()[0])
    assert command != "train" or {"--first", "--no-header", "--category"} <= met
