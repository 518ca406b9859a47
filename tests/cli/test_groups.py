"""Options that belong together travel together."""

import inspect
import subprocess
import sys
from dataclasses import dataclass
from typing import Annotated

import typer

from rosenblatt.cli.groups import grouped

from .conftest import run


@dataclass
class Colours:
    paper: Annotated[str, typer.Option(help="Of the paper.")] = "white"
    ink: str = "black"


def test_a_group_becomes_an_option_for_each_field():
    said = []

    @grouped
    def write(text: str, colours: Colours) -> None:
        """Write."""
        said.append((text, colours))

    assert list(inspect.signature(write).parameters) == ["text", "paper", "ink"]
    assert inspect.signature(write).parameters["ink"].default == "black"
    write(text="a", paper="blue", ink="red")
    assert said == [("a", Colours("blue", "red"))]


def test_training_on_a_small_file_starts_with_little(tmp_path):
    (tmp_path / "rows.svm").write_text("1 1:1\n0 2:1\n" * 9)
    script = """
import sys
from rosenblatt.cli.app import app
app(["train", "rows.svm", "-q", "-o", "model"], standalone_mode=False)
heavy = {"matplotlib", "pandas", "pyarrow", "pydantic", "rich", "scipy.linalg", "sklearn"}
print(sorted(heavy & set(sys.modules)))
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_values_are_taken_as_typer_takes_them(capsys, folder):
    for words in ("--epochs", "x"), ("--solution", "none"), ("--holdout", "half"):
        code, _, error = run(capsys, "train", "flowers.svm", *words)
        assert code == 2
        assert f"Invalid value for '{words[0]}'" in error
    code, _, error = run(capsys, "train")
    assert (code, "Missing argument 'DATA'" in error) == (2, True)
