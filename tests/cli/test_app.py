"""The program: help, errors, and words that are not known."""

import ast
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import click
import pytest

import rosenblatt
from rosenblatt import __version__
from rosenblatt.cli.app import COMMANDS, app, make_speller
from rosenblatt.cli.panels import find_flag
from rosenblatt.parameters import NAME_ONLY, SHELL_NAMES, TOKEN

from .conftest import run

PACKAGE = Path(rosenblatt.__file__).parent


def find_command(name):
    return app.get_command(click.Context(app), name)


def test_options_that_do_not_go_together_are_refused_in_one_line(capsys):
    arguments = "train", "iris", "--order", "worst", "--solution", "vote"
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("rosenblatt: --solution vote ")
    assert err.count("\n") == 1
    _, out, err = run(capsys, *arguments, "--json")
    error = json.loads(out)
    assert (error["event"], error["code"]) == ("error", "order-average")
    assert err == f"rosenblatt: {error['message']}\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["train", "moon", "--json"], "file"),
        (["train", "--json"], "usage"),
        (["fly", "--json"], "usage"),
        (["train", "iris", "--epochs", "0", "--json"], "out-of-range"),
        (["train", "iris", "--epochs", "x", "--json"], "usage"),
        (["train", "iris", "--solution", "none", "--json"], "usage"),
        (["train", "iris", "--epoch", "3", "--json"], "usage"),
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


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_are_described_in_the_list_as_in_their_help(name):
    command = find_command(name)
    assert command.name == name
    first, listed = command.help.split("\n\n")[0], COMMANDS[name][1]
    assert first.split()[:2] == listed.split()[:2]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_of_a_shell_is_printed(capsys, shell):
    status, out, _ = run(capsys, "--show-completion", shell)
    assert status == 0
    assert "_ROSENBLATT_COMPLETE" in out


def test_commands_and_options_are_completed(monkeypatch):
    from click.shell_completion import ShellComplete

    complete = ShellComplete(app, {}, "rosenblatt", "_ROSENBLATT_COMPLETE")
    found = [each.value for each in complete.get_completions(["train", "iris"], "--so")]
    assert found == ["--solution"]
    assert [each.value for each in complete.get_completions([], "pr")] == ["predict", "prove"]


def test_version(capsys):
    assert run(capsys, "--version")[:2] == (0, f"rosenblatt {__version__}\n")


@pytest.mark.parametrize("arguments", [["train", "--help"], ["--help"], ["serve", "--help"]])
def test_help_imports_nothing_heavy(arguments):
    script = (
        f"import sys; sys.argv = {['rosenblatt', *arguments]}\n"
        "from rosenblatt.cli.app import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numba', 'numpy', 'pyarrow', 'rich', 'scipy', 'sklearn'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "Show this message" in out.stdout
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


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_in_80_columns(capsys, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    status, out, _ = run(capsys, *command.split(), "--help")
    assert status == 0
    assert max(map(len, out.splitlines())) <= 80
    assert "\N{NO-BREAK SPACE}" not in out
    assert len(out.splitlines()) <= 100


def read_panels(out):
    """The names of the panels of a help page."""
    return [line[:-1] for line in out.splitlines() if line[:1].isupper() and line[-1] == ":"]


def test_the_help_of_training_describes_the_common_options_and_names_the_others(
    capsys, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "80")
    out = run(capsys, "train", "--help")[1]
    more = "More options (see --help-all)"
    panels = ["Arguments", "Output", "Training", "Input", "Options", more, "Examples"]
    assert read_panels(out) == panels
    assert len(out.splitlines()) < 100
    words = " ".join(out.split())
    assert "--epochs N Largest number of epochs. [default: 10" in words
    assert "Sequence tagging --markov --search --templates" in words
    everything = run(capsys, "train", "--help-all")[1]
    further = ["Update rules", "Order and bias", "Features", "Large files", "Sequence tagging"]
    assert sorted(read_panels(everything)) == sorted({*panels, *further} - {more})
    assert max(map(len, everything.splitlines())) <= 80
    words = " ".join(everything.split())
    assert "arow: regularization r > 0; larger means smaller updates. [default: 1]" in words
    listed = {option for one in find_command("train").params for option in one.opts}
    listed -= {also for one in find_command("train").params for also in getattr(one, "also", ())}
    assert all(option in words for option in listed if option.startswith("--"))
    assert read_panels(run(capsys, "train", "--help")[1]) == panels  # again


@pytest.mark.parametrize("name", ["max_iter", "random_state", "calibrate", "intercept_step"])
def test_options_also_have_the_name_of_the_parameter_in_python(name):
    shell = SHELL_NAMES[name]
    (option,) = (one for one in find_command("train").params if one.name == shell)
    assert find_flag(name) in option.opts
    assert find_flag(name) not in option.get_help_record(click.Context(find_command("train")))[0]


@cache
def tokens():
    """Every parameter that a sentence of the library speaks of."""
    trees = (ast.parse(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py"))
    nodes = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant))
    texts = {node.value for node in nodes if isinstance(node.value, str)}
    return {token.groups() for text in texts for token in TOKEN.finditer(text)}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_recommends_an_option_that_it_lacks(command):
    params = find_command(command).params
    known = {option for one in params for option in (*one.opts, *one.secondary_opts)}
    met = set()
    for name, kind, word, literal in tokens():
        said = make_speller([command])(name, NAME_ONLY if kind == "?" else word or literal)
        assert said.split()[0] in known or said.endswith(" (in Python)")
        met.add(said.split()[0])
    assert command != "train" or {"--first", "--no-header", "--category"} <= met
