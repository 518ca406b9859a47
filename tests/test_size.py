"""No figure of the size rises above its budget in ``size.json``; ``make size`` prints the table.

When a change lowers a figure, lower its budget, too.
"""

import ast
import inspect
import json
import sys
import warnings
from collections import Counter
from itertools import pairwise
from pathlib import Path

import click
import numpy as np

import rosenblatt
from rosenblatt import Perceptron
from rosenblatt.shell.app import app

ROOT = Path(__file__).parents[1]
SOURCE = Path(rosenblatt.__file__).parent
TRAIN, SERVE = (app.get_command(click.Context(app), name) for name in ("train", "serve"))
BUDGETS = json.loads((ROOT / "tests" / "size.json").read_text("utf-8"))


def count_code(text):
    """The lines of a module, without blank lines, comments and docstrings."""
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None:
            first, last = node.body[0].lineno, node.body[0].end_lineno
            lines[first - 1 : last] = [""] * (last - first + 1)
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in lines)


def count_folder(folder):
    """The lines of code of all modules below a folder."""
    return sum(count_code(path.read_text("utf-8")) for path in folder.rglob("*.py"))


def count_options(command):
    """The number of options of a command of the shell."""
    return sum(isinstance(each, click.Option) for each in command.params)


def trace_fit():
    """The functions that a fit of 200 rows in three epochs enters, as files and first lines."""
    X = np.random.default_rng(0).normal(size=(200, 5))
    y = X[:, 0] + 0.5 * X[:, 1] * X[:, 2] > 0
    model, entered = Perceptron(random_state=0, max_iter=3), []

    def note(frame, event, _):
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(SOURCE):
            entered.append((path.relative_to(SOURCE), frame.f_code.co_firstlineno))

    with warnings.catch_warnings(action="ignore"):  # three epochs are too few
        model.fit(X, y)  # which compiles, and fills caches
        before = sys.getprofile()
        sys.setprofile(note)
        try:
            model.fit(X, y)
        finally:
            sys.setprofile(before)
    return entered


def measure():
    """Every figure by its name."""
    source = ROOT / "src" / "rosenblatt"
    paths = sorted(path for path in source.iterdir() if path.is_dir() or path.suffix == ".py")
    lines = Counter()
    for path in paths:
        name = f"src/{path.name}" if path.is_dir() else "src, modules without a folder"
        lines[name] += count_folder(path) if path.is_dir() else count_code(path.read_text("utf-8"))
    lines["src"] = lines.total()
    for name in ("tests", "benchmarks", "library", "wasm"):
        lines[name] = count_folder(ROOT / name)
    entered = trace_fit()
    modules, folders = [path for path, _ in entered], [path.parts[0] for path, _ in entered]
    pages = [path.read_text("utf-8") for path in (ROOT / "docs").rglob("*.md")]
    return {
        **{f"lines of {name}": count for name, count in lines.items() if count},
        "words of docs": sum(len(page.split()) for page in pages),
        "options of train": count_options(TRAIN),
        "options of serve": count_options(SERVE),
        "parameters of Perceptron": len(inspect.signature(Perceptron).parameters),
        "functions in a fit": len(set(entered)),
        "modules in a fit": len(set(modules)),
        "changes of folder in a fit": sum(one != other for one, other in pairwise(folders)),
    }


def test_no_figure_rises_above_its_budget():
    above = {name: n for name, n in measure().items() if n > BUDGETS.get(name, 0)}
    assert not above, {name: f"{n}, budget {BUDGETS.get(name, 0)}" for name, n in above.items()}


def test_blank_lines_comments_and_docstrings_are_not_counted():
    assert count_code('"""A module."""\n\nx = 1  # one\n') == 1
    assert count_code('def f():\n    """Do.\n\n    More.\n    """\n    # why\n    return 1\n') == 2
    assert count_code('x = [\n    1,\n]\n"""Not a docstring."""\n') == 4


if __name__ == "__main__":
    print(f"{'now':>8}{'budget':>8}")
    for name, figure in measure().items():
        print(f"{figure:8,}{BUDGETS.get(name, 0):8,}  {name}")
