"""Plain English in help, docstrings, messages and pages: no idioms, and every default is named."""

import ast
import re
import tokenize
from pathlib import Path

import click

from rosenblatt.shell.app import COMMANDS, app

ROOT = Path(__file__).parents[1]
IDIOMS = re.compile(
    r"\b(anew|lest|whom|nobody|so many|such a|otherwise than|what came of|a line each|goes on|"
    r"at hand|by itself|gladly|of its own|(?:is|are) (?:told|said|heard)|of which)\b",
    re.IGNORECASE,
)
PLAIN = (
    "*.md",
    "docs/**/*.md",
    "src/rosenblatt/**/*.py",
    "examples/**/*.py",
    "benchmarks/*.py",
    "library/*.py",
    "wasm/*.py",
)
TEXTS = sorted(path for pattern in PLAIN for path in ROOT.glob(pattern))


def read_words(path):
    """The text of a page, or the strings and comments of a module."""
    text = path.read_text("utf-8")
    if path.suffix == ".md":
        return re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    strings = [
        node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    with path.open("rb") as file:
        tokens = tokenize.tokenize(file.readline)
        comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    return "\n".join(" ".join(words.split()) for words in [*strings, *comments])


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def test_there_are_no_idioms():
    found = {name_of(path): IDIOMS.findall(read_words(path)) for path in TEXTS}
    assert {name: idioms for name, idioms in found.items() if idioms} == {}


def test_every_pattern_of_the_list_finds_files():
    assert all(any(ROOT.glob(pattern)) for pattern in PLAIN)


def is_plain_help(text):
    """Whether the help of an option is a phrase that names the quantity, and then the default."""
    text = text.replace("\N{NO-BREAK SPACE}", " ")
    return (
        re.search(r"\.( \[(default: .+|required)\])?$", text)
        and len(text.partition(" [")[0].split()) >= 2
        and not IDIOMS.search(text)
    )


def test_every_option_names_its_quantity():
    offenders = [
        (name, parameter.opts[-1], parameter.help)
        for name in COMMANDS
        for parameter in app.get_command(click.Context(app), name).params
        if isinstance(parameter, click.Option) and not is_plain_help(parameter.help)
    ]
    assert offenders == []


def test_the_help_of_every_command_is_plain():
    for name in COMMANDS:
        command = app.get_command(click.Context(app), name)
        assert command.epilog, name
        assert not IDIOMS.search(f"{command.help} {COMMANDS[name][1]}"), name
        assert command.help.split("\n")[0].endswith("."), name
