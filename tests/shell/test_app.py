"""The program: help, errors, and words that are not known."""

import json
import os
import subprocess
import sys

import pytest

from rosenblatt import __version__
from rosenblatt.kernels.compiling import ORIGIN
from rosenblatt.shell.app import COMMANDS, app
from rosenblatt.shell.parameters import table_for_training

from .conftest import run


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["train", "moon", "--json"], "file"),
        (["train", "--json"], "usage"),
        (["fly", "--json"], "usage"),
        (["train", "iris", "--epochs", "0", "--json"], "out-of-range"),
        (["train", "iris", "--epochs", "x", "--json"], "usage"),
        (["train", "iris", "--set", "solution=none", "--json"], "out-of-range"),
        (["train", "iris", "--epoch", "3", "--json"], "usage"),
        (
            ["train", "iris", "--set", "order=worst", "--set", "solution=pocket", "--json"],
            "order-solution",
        ),
    ],
)
def test_wrong_words_end_with_status_two_and_one_line(capsys, arguments, code):
    status, out, err = run(capsys, *arguments)
    assert status == 2
    assert json.loads(out)["code"] == code
    assert err.startswith("rosenblatt: ")
    assert err.count("\n") == 1


def test_without_a_command_the_help_is_printed(capsys):
    status, _, err = run(capsys)
    assert status == 2
    assert "Commands:" in err


def test_commands_and_options_are_completed(monkeypatch):
    from click.shell_completion import ShellComplete

    complete = ShellComplete(app, {}, "rosenblatt", "_ROSENBLATT_COMPLETE")
    found = [each.value for each in complete.get_completions(["train", "iris"], "--pr")]
    assert found == ["--probabilities"]
    assert [each.value for each in complete.get_completions([], "pr")] == ["predict", "prove"]


def test_version(capsys):
    assert run(capsys, "--version")[:2] == (0, f"rosenblatt {__version__} ({ORIGIN})\n")


@pytest.mark.parametrize("arguments", [["train", "--help"], ["--help"], ["serve", "--help"]])
def test_help_imports_nothing_heavy(arguments):
    script = (
        f"import sys; sys.argv = {['rosenblatt', *arguments]}\n"
        "from rosenblatt.shell.app import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numba', 'numpy', 'pyarrow', 'rich', 'scipy', 'sklearn'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "Show this message" in out.stdout
    assert out.stdout.splitlines()[-1] == "[]"


def test_nothing_is_coloured_when_piped(capsys, folder):
    command = [sys.executable, "-c", "from rosenblatt.shell.app import main; main()"]
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


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_in_80_columns(capsys, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    status, out, _ = run(capsys, *command.split(), "--help")
    assert status == 0
    assert max(map(len, out.splitlines())) <= 80
    assert len(out.splitlines()) <= (80 if command == "train" else 70)


def test_set_help_lists_the_parameters(capsys):
    status, out, _ = run(capsys, "train", "--set", "help")
    described = [line.split()[0] for line in out.splitlines()]
    assert status == 0
    assert {"margin", "fit_intercept"} <= set(described) <= table_for_training().keys()
    assert max(map(len, out.splitlines())) <= 80
