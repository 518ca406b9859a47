"""Hide one slice at a time: everything else imports, runs, and passes some of its tests."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rosenblatt import slices
from rosenblatt.slices import SLICES

ROOT = Path(__file__).parents[1]
TESTS = ["data/test_labels.py", "estimators/test_one_row.py", "jobs/test_predictions.py"]
USERS = {"theory": ("cluster", "plots")}  # slices that work with another one only
TABLE = "size,kind\n" + "".join(f"{k},{'big' if k > 5 else 'small'}\n" for k in range(12))
HIDE = """
import sys

class Hider:
    def find_spec(self, name, path=None, target=None):
        if f"{name}.".startswith(tuple(f"rosenblatt.{each}." for each in HIDDEN)):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hider())
"""
IMPORT_ALL = """
import importlib, pkgutil
import rosenblatt

def fail(name):
    assert name.removeprefix("rosenblatt.") in HIDDEN, name

for module in pkgutil.walk_packages(rosenblatt.__path__, "rosenblatt.", onerror=fail):
    name = module.name.removeprefix("rosenblatt.")
    if not f"{name}.".startswith(tuple(f"{each}." for each in HIDDEN)) and name not in SKIPPED:
        importlib.import_module(module.name)
assert all(hasattr(rosenblatt, name) for name in rosenblatt.__all__)
"""
SHELL = """
from rosenblatt.shell.app import app

for line in sys.stdin.read().splitlines():
    print(f"> {line}", flush=True)
    try:
        app(line.split(), standalone_mode=False, prog_name="rosenblatt")
    except SystemExit as stop:
        assert not stop.code, line
"""
COMMANDS = """--help
train table.csv -q -o model --epochs 30 --holdout 0.2
predict model table.csv
score model table.csv
inspect model
train --help
train iris"""


def run_without(name, script, folder, text=None):
    """Run a script of Python in a process in which a slice is hidden; return what it prints."""
    modules = [name, *USERS.get(name, ())]
    skipped = ["__main__", "dual.kernels.gpu"]
    begin = f"HIDDEN, SKIPPED = {modules!r}, {skipped!r}\n{HIDE}"
    done = subprocess.run(
        [sys.executable, "-c", begin + script],
        input=text,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path[1:])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name", SLICES)
def test_without_a_slice_all_else_imports_and_a_table_is_learnt(name, tmp_path):
    (tmp_path / "table.csv").write_text(TABLE)
    printed = run_without(name, IMPORT_ALL + SHELL, tmp_path, COMMANDS)
    assert "error 0.00%" in printed
    listed = re.findall(r"^  ([a-z]\S*) ", printed.partition("> train")[0], re.MULTILINE)
    hidden = {name, *USERS.get(name, ())}
    for other, one in SLICES.items():
        assert all((command in listed) == (other not in hidden) for command in one.commands)
    formats = [each for each, endings in SLICES[name].formats.items() if endings]
    assert not [each for each in formats if each in printed]


@pytest.mark.slow
@pytest.mark.parametrize("name", SLICES)
def test_without_a_slice_tests_of_the_rest_pass(name):
    paths = [str(ROOT / "tests" / path) for path in TESTS]
    options = ["-q", "-p", "no:cacheprovider", f"--rootdir={ROOT}", f"-c{ROOT / 'pyproject.toml'}"]
    printed = run_without(
        name, f"import pytest\nsys.exit(pytest.main({[*options, *paths]!r}))", ROOT
    )
    assert " passed" in printed


def test_what_the_table_names_is_there():
    for folder, one in SLICES.items():
        assert slices.is_there(folder)
        places = [f"{module}:{name}" for name, module in slices.list_names().items()]

        commands = [f"{where}:{name}" for name, (where, _) in one.commands.items()]
        places += [one.file_class, *one.learners.values(), one.shell, *commands]
        assert all(slices.load(place) is not None for place in places if place)


QUESTIONS = re.compile(r"SequencePerceptron|tagger|tagged|\bconll|sentences\b", re.IGNORECASE)


def list_conditions(tree):
    """Every expression that decides something."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.IfExp | ast.While | ast.Assert):
            yield node.test
        elif isinstance(node, ast.Compare | ast.BoolOp | ast.match_case):
            yield node
        elif isinstance(node, ast.comprehension):
            yield from node.ifs


def test_nobody_outside_asks_whether_it_is_a_tagger():
    """A sentence file, a tagger and its model are told apart by the table of slices only."""
    source = ROOT / "src" / "rosenblatt"
    asked = []
    for path in source.rglob("*.py"):
        if "sequence" not in path.relative_to(source).parts:
            conditions = list_conditions(ast.parse(path.read_text("utf-8")))
            asked += [(path.name, ast.unparse(each)) for each in conditions]
    assert len(asked) > 1000
    assert [one for one in asked if QUESTIONS.search(one[1])] == []


def test_a_file_belongs_to_a_slice_by_its_name_or_its_stated_format():
    found = slices.find_by_format("a/b.CoNLLu.gz", None)
    assert found == (SLICES["sequence"], "conllu")
    assert slices.find_by_format("b.txt", "tagged") == (SLICES["sequence"], "tagged")
    assert slices.find_by_format("b.conllu", "csv") is None
    assert slices.find_by_format("b.csv", None) is None
    assert slices.find_by_estimator("SequencePerceptron") is SLICES["sequence"]
    assert slices.find_by_estimator("Perceptron") is None
