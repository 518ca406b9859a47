"""Options that belong together are fields of a dataclass."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from rosenblatt.kernels import compiling
from rosenblatt.shell.commands import DescribedArgument, command, option


@dataclass
class Colours:
    paper: str = option("Colour of the paper.", default="white", group="Colours")
    ink: tuple[str, ...] = option("Colour of the ink.", default=(), group="Colours")
    bold: bool = option("Whether lines are thick.", default=False, flags=["-b", "--bold"])
    width: float = option("Width of lines in mm.", default=0.5)
    target: Path | None = option("Write to FILE.")


seen = []


@command(DescribedArgument("text", "What to write."))
def write(text: str, colours: Colours) -> None:
    """Write a text.

    Examples
    --------
    write hello
    """
    seen[:] = [text, colours]


def test_what_is_given_fills_the_dataclasses():
    assert CliRunner().invoke(write, ["a"]).exit_code == 0
    assert seen == ["a", Colours()]
    words = ["a", "--ink", "red", "--ink", "blue", "-b", "--width", "1", "--target", "x"]
    assert CliRunner().invoke(write, words).exit_code == 0
    assert seen == ["a", Colours("white", ("red", "blue"), True, 1.0, Path("x"))]


def test_the_help_has_groups_defaults_and_examples():
    assert (
        CliRunner().invoke(write, ["--help"], terminal_width=80).output
        == """\
Usage: write [OPTIONS] TEXT

  Write a text.

Arguments:
  TEXT  What to write.

Colours:
  --paper NAME  Colour of the paper. [default: white]
  --ink NAME    Colour of the ink.

Options:
  -b, --bold      Whether lines are thick.
  --width NUMBER  Width of lines in mm. [default: 0.5]
  --target FILE   Write to FILE.
  --help          Show this message and exit.

Examples:
  write hello
"""
    )


@pytest.mark.parametrize("words", [["--width", "wide"], ["--colour"]])
def test_wrong_values_are_usage_errors(words):
    assert CliRunner().invoke(write, ["a", *words]).exit_code == 2
    with pytest.raises(click.UsageError):
        write(["a", *words], standalone_mode=False)


COMPILER = set() if compiling.library is None else {"numba", "scipy.linalg"}
HEAVY = {"matplotlib", "pandas", "pydantic", "rich", "sklearn", "typer", *COMPILER}


@pytest.mark.parametrize(
    ("data", "heavy"),
    [
        ("rows.svm", {*HEAVY, "pyarrow", "scipy.linalg"}),
        ("table.csv", HEAVY),
        ("iris", {"pandas", "sklearn"}),
    ],
)
def test_training_starts_with_little(tmp_path, data, heavy):
    (tmp_path / "rows.svm").write_text("1 1:1\n0 2:1\n" * 9)
    lines = (f"{i % 7},{i % 5 or ''},{'ab'[i % 2]}\n" for i in range(50))
    (tmp_path / "table.csv").write_text("one,two,class\n" + "".join(lines))
    script = f"""
import sys
from rosenblatt.shell.app import app
app(["train", {data!r}, "-q", "-o", "model"], standalone_mode=False)
print(sorted({heavy!r} & set(sys.modules)))
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
