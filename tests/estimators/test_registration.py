"""Rules of other packages: docs/your-own-rule.md as an installed package."""

import importlib
import json
import os
import pickle
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

import rosenblatt
from rosenblatt import PassiveAggressive
from rosenblatt.estimators.constructors import estimator
from rosenblatt.estimators.linear import LinearClassifier
from rosenblatt.estimators.registration import register_rule
from rosenblatt.kernels import passive_aggressive
from rosenblatt.parameters import RULE_TABLE, InputError, ParameterError
from rosenblatt.storage.file import load_model
from rosenblatt.training.rules import RULES, UpdateRule

from ..conftest import blobs

PAGE = Path(__file__).parents[2] / "docs/your-own-rule.md"
COLUMNS = "sepal length (cm),sepal width (cm),petal length (cm),petal width (cm)"
RUN = """
import json, sys
from rosenblatt.shell.app import main
for command in json.load(sys.stdin):
    sys.argv = command.split()
    print(">", command)
    try:
        main()
    except SystemExit as stop:
        print("status", stop.code)
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A folder with the package of the page, as if it were installed there."""
    text = PAGE.read_text("utf-8")
    folder = tmp_path_factory.mktemp("installed")
    about = folder / "rosenblatt_relaxation-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Name: rosenblatt-relaxation\nVersion: 1.0\n")
    (project,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    points = tomllib.loads(project)["project"]["entry-points"]["rosenblatt.rules"]
    lines = [f"{name} = {place}" for name, place in points.items()]
    (about / "entry_points.txt").write_text("\n".join(["[rosenblatt.rules]", *lines]))
    name, code = re.search(r"```python\n# (\w+\.py)\n(.*?)```", text, re.DOTALL).groups()
    (folder / name).write_text(code, "utf-8")
    return folder


@pytest.fixture
def installed(package, own_rules, monkeypatch):
    """The package of the page, found by this process."""
    monkeypatch.syspath_prepend(package)
    return package


def run_commands(folder, commands):
    """What several commands print to both streams, in one process that finds the package."""
    paths = [Path(rosenblatt.__file__).parents[1], folder]
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "COLUMNS": "200"},
    )
    return re.split(r"^> .*\n", done.stdout, flags=re.MULTILINE)[1:], done.stderr


def test_the_shell_finds_a_rule_that_a_package_declares(package):
    (shown,) = re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    train, _ = shown.splitlines()  # a service follows below
    model = "iris.safetensors"
    commands = [train, f"rosenblatt inspect {model}", f"rosenblatt predict {model} new.csv"]
    (package / "new.csv").write_text(f"{COLUMNS}\n5,3.5,1.4,0.2\n6.3,3,5.5,2\n")
    (package / "two.csv").write_text("a,kind\n0,no\n1,no\n4,yes\n5,yes\n" * 5)
    stream = "rosenblatt train two.csv --rule relaxation --epochs 1 --checkpoint 0 -o two -q"
    further = [
        "rosenblatt train two.csv --rule=relaxatoin",
        stream,
        f"{stream} --resume",
        "rosenblatt score two two.csv",
        "rosenblatt train two.csv --rule relaxation --set share=3 -q",
    ]
    told, errors = run_commands(package, [*commands, *further])
    trained, inspected, predicted, _, first, again, scored, _ = told
    codes = [each.rpartition("status ")[2][:1] for each in told]
    assert codes == ["0", "0", "0", "2", "0", "0", "0", "2"], errors
    assert "Rule Relaxation, solution average." in trained
    assert "share 0.5" in inspected
    assert predicted.split()[:2] == ["setosa", "virginica"]
    assert "two.csv: error 0.00%" in scored
    assert first.splitlines()[1:] == again.splitlines()[1:]
    assert re.search("rule=.relaxatoin. is not known. Did you mean relaxation", errors)
    assert "share must be above 0 and at most 2; got 3." in errors


@pytest.mark.usefixtures("installed")
def test_python_finds_a_rule_that_a_package_declares(tmp_path):
    rows = [{"a": a, "b": a % 3, "kind": "yes" if a > 9 else "no"} for a in range(20)]
    model = rosenblatt.train(rows, label="kind", rule="relaxation", share=0.5, calibrate=True)
    kind = type(model[-1])
    assert (kind.__module__, kind.__name__) == ("rosenblatt_relaxation", "Relaxation")
    rosenblatt.save(model, tmp_path / "model")
    loaded = rosenblatt.load(tmp_path / "model")
    assert type(loaded[-1]) is kind
    np.testing.assert_array_equal(loaded.predict_proba(rows), model.predict_proba(rows))
    assert rosenblatt.evaluate(loaded, rows, [row["kind"] for row in rows])["error"] == 0
    assert {each.name for each in rosenblatt.importances(loaded)} == {"a", "b"}
    copy = pickle.loads(pickle.dumps(loaded)).partial_fit(rows)
    assert copy[-1]._rule is loaded[-1]._rule
    assert (
        rosenblatt.cross_validate(rows, label="kind", rule="relaxation", folds=2).score.error < 0.3
    )


@pytest.mark.usefixtures("installed")
def test_the_parameters_of_all_rules_are_its_own():
    relaxation = importlib.import_module("rosenblatt_relaxation").Relaxation
    X, y = load_iris(return_X_y=True)
    model = relaxation(calibrate=True, class_weight={0: 9.0, 1: 1.0, 2: 1.0}, random_state=0)
    assert model.fit(X, y).predict_proba(X).shape == (150, 3)
    with pytest.raises(ParameterError, match="share must be above 0 and at most 2; got 3"):
        relaxation(share=3).fit(X, y)


def test_a_model_file_imports_only_what_packages_declare(
    installed, own_rules, tmp_path, monkeypatch
):
    rows = [{"a": 1, "kind": "x"}, {"a": 2, "kind": "y"}]
    rosenblatt.save(rosenblatt.train(rows, label="kind", rule="relaxation"), tmp_path / "model")
    for table in (RULES, RULE_TABLE, sys.modules):
        table.pop("relaxation", None) or table.pop("rosenblatt_relaxation")
    for module in ("relaxation", "rosenblatt_relaxation"):
        (tmp_path / f"{module}.py").write_text("raise SystemExit")
    sys.path.remove(str(installed))
    monkeypatch.syspath_prepend(tmp_path)
    sentence = "cannot be loaded: rule=.relaxation. is not known.* Install the package"
    with pytest.raises(InputError, match=sentence) as error:
        load_model(tmp_path / "model")
    assert (error.value.code, error.value.file) == ("unknown-rule", str(tmp_path / "model"))


def test_a_package_that_cannot_be_imported_is_named(own_rules, tmp_path, monkeypatch):
    about = tmp_path / "broken-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: broken\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[rosenblatt.rules]\nbroken = broken_rule:Broken\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match=r"^The rule broken cannot be imported from broken_rule"):
        RULES["broken"]
    (tmp_path / "broken_rule.py").write_text("raise ValueError('No.')")
    with pytest.raises(ImportError, match=r"cannot be imported from broken_rule:Broken: No\.$"):
        RULES["broken"]


def register(name, rule, C=1.0):
    """Register the passive-aggressive rule once more."""
    members = {"__annotations__": {"C": float, "loss": str}, "C": C, "loss": "hinge"}
    kind = estimator(type(name, (LinearClassifier,), members))
    own = RULE_TABLE["pa"].own
    return register_rule(UpdateRule(rule, passive_aggressive.PassiveAggressive), own)(kind)


@pytest.mark.usefixtures("own_rules")
def test_a_rule_that_is_registered_again_replaces_the_first(tmp_path):
    register("Twice", "twice")
    again = register("Twice", "twice")
    rows, y = blobs()
    model = again(C=0.5, random_state=0).fit(rows, y)
    np.testing.assert_array_equal(
        model.coef_, PassiveAggressive(0.5, random_state=0).fit(rows, y).coef_
    )
    model.save(tmp_path / "model")
    assert type(rosenblatt.load(tmp_path / "model")) is again
    with pytest.raises(ParameterError) as error:
        register("Thrice", "twice")
    assert error.value.code == "rule-taken"


@pytest.mark.parametrize(
    ("name", "rule", "C", "code"),
    [
        ("AROW", "new", 1.0, "rule-taken"),
        ("KernelPerceptron", "new", 1.0, "rule-taken"),
        ("New", "arow", 1.0, "rule-taken"),
        ("New", "new", 2.0, "rule-class"),
    ],
)
def test_names_and_defaults_are_checked(name, rule, C, code):
    with pytest.raises(ParameterError) as error:
        register(name, rule, C)
    assert error.value.code == code
    assert "new" not in RULES
