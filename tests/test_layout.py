"""How the package is laid out: public names, light imports, rooms, and what is compiled once."""

import ast
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

import rosenblatt

SOURCE = Path(rosenblatt.__file__).parent
ROOMS = sorted(
    path.stem
    for path in SOURCE.iterdir()
    if (path.suffix == ".py" and not path.stem.startswith("__")) or (path / "__init__.py").exists()
)


def python(script, **environment):
    return subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )


def test_public_names_are_sorted_and_exist():
    names = rosenblatt.__all__  # in ruff's order: what is in capitals comes first
    assert names == sorted(names, key=lambda name: (not name.isupper(), name))
    assert set(rosenblatt.__all__) <= set(dir(rosenblatt))
    assert all(hasattr(rosenblatt, name) for name in rosenblatt.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'Perceptrons'"):
        rosenblatt.Perceptrons  # noqa: B018


def test_importing_the_package_imports_nothing_heavy():
    imported = python("import sys, rosenblatt; print(*sys.modules)").stdout.split()
    assert "rosenblatt" in imported
    assert not {"numba", "numpy", "pyarrow", "scipy", "sklearn"} & set(imported)


def test_an_estimator_imports_neither_pyarrow_nor_safetensors():
    imported = python(
        "import sys\n"
        "class NoPandas:  # scikit-learn imports pandas, and that pyarrow\n"
        "    def find_spec(name, *_):\n"
        "        if name == 'pandas': raise ImportError\n"
        "sys.meta_path.insert(0, NoPandas)\n"
        "from rosenblatt import Perceptron\n"
        "Perceptron(max_iter=1).fit([[1.0], [2.0]], [0, 1])\n"
        "print(*sys.modules)"
    ).stdout.split()
    assert "rosenblatt.kernels.loop" in imported
    assert not {"pyarrow", "safetensors"} & set(imported)


def test_every_room_has_its_tests():
    tests = Path(__file__).parent
    tested = {path.name for path in tests.iterdir()}
    assert [room for room in ROOMS if not tested & {room, f"test_{room}.py"}] == []


def test_compiled_functions_are_made_in_one_place():
    """What runs on a GPU is not kept on disk, and compiled code may call Python through C."""
    made = {"by_kind", "cache", "compiled", "helper", "inlined", "inlined_sum", "instruction"}
    offenders = []
    for path in FILES:
        if path.name not in ("compiling.py", "gpu.py"):
            named = re.findall(r"\b(?:njit|jit|vectorize|guvectorize)\b", path.read_text("utf-8"))
            offenders += [(path.name, name) for name in named]
        if path.parent.name == "kernels" and path.name != "compiling.py":
            known = made | {"cuda.jit" if path.name == "gpu.py" else "ctypes.CFUNCTYPE"}
            functions = [node for owner, node in functions_in(path) if not owner]
            used = [ast.unparse(d).partition("(")[0] for f in functions for d in f.decorator_list]
            offenders += [
                (path.name, name) for name in used if name not in known and not name.endswith(".of")
            ]
    assert offenders == []


# A stranger reads a function at once.

LONGEST_FUNCTION = 60
MOST_PARAMETERS = 8
FREE = {  # estimators and public functions, which say their parameters one by one
    **dict.fromkeys(rosenblatt.__all__, ("__init__", "fit")),
    "LinearClassifier": ("__init__", "fit"),
    "": ("read", "fit", "plot", "from_data", "from_estimator", "save_plot"),
}
FILES = sorted(SOURCE.rglob("*.py"))


@cache
def parse_file(path):
    """The syntax tree of a file."""
    return ast.parse(path.read_text("utf-8"))


def functions_in(path):
    """Every function of a file, with the class that it belongs to."""
    for node in ast.walk(parse_file(path)):
        if isinstance(node, ast.ClassDef):
            yield from (
                (node.name, each) for each in node.body if isinstance(each, ast.FunctionDef)
            )
    for node in parse_file(path).body:
        if isinstance(node, ast.FunctionDef):
            yield "", node


def is_free(owner, function):
    return function.name in FREE.get(owner, ()) or function.name in FREE[""]


def limited_functions():
    """Every function that is not free, with its file and whether it is a method."""
    for path in FILES:
        for owner, function in functions_in(path):
            if not is_free(owner, function):
                yield path, owner != "", function


def test_functions_are_short():
    offenders = []
    for path, _, function in limited_functions():
        docstring = ast.get_docstring(function, clean=False) or ""
        lines = function.end_lineno - function.lineno + 1 - len(docstring.splitlines())
        if lines > LONGEST_FUNCTION:
            offenders.append((path.name, function.name, lines))
    assert offenders == []


def test_functions_take_few_parameters():
    """Kernels may take more: flat arguments are what compiled code is fast with."""
    offenders = []
    for path, is_method, function in limited_functions():
        count = len(function.args.args) + len(function.args.kwonlyargs) - is_method
        if count > MOST_PARAMETERS and path.parent.name != "kernels":
            offenders.append((path.name, function.name, count))
    assert offenders == []


def test_the_library_does_not_speak_of_options():
    """The shell translates; what others say must be true in Python, too."""
    for path in FILES:
        if "shell" not in path.relative_to(SOURCE).with_suffix("").parts:
            for node in ast.walk(parse_file(path)):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    assert not re.search(r"(^|[\s(])--[a-z]", node.value), (path.name, node.value)


def test_the_oldest_versions_are_those_that_are_declared():
    """``make oldest`` tests what pyproject.toml promises."""
    root = Path(__file__).parents[1]
    needs = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    extras = ("dask", "jit", "onnx", "plots", "serve", "test")
    lists = [needs["dependencies"], *(needs["optional-dependencies"][extra] for extra in extras)]
    declared = "\n".join(need for needs in lists for need in needs if "== 'win32'" not in need)
    bounds = dict(re.findall(r"([\w-]+)(?:\[[\w,]+\])?>=([\d.]+)", declared))
    pinned = (root / "tests" / "oldest.txt").read_text("utf-8")
    pins = dict(re.findall(r"^([\w-]+)==([\d.]+)$", pinned, re.MULTILINE))
    assert pins.keys() == bounds.keys()
    for name, bound in bounds.items():
        assert (pins[name] + ".").startswith(bound + "."), name


# These counts may only fall. When a change lowers one, lower its limit here.

NOT_OURS = {"_replace", "_asdict", "_fields", "_make", "_exit", "_cache"}
MOST = {
    "lines that touch private attributes of another room": 0,
    "functions called x_of or x_in": 0,
    "modules imported by their name in a string": 0,
    "source files without a test file of their name": 48,
    "comparisons with the name of a target": 38,
}
TARGETS = {"classes", "labels", "numbers", "ranks", "tags"}


def is_private(name):
    return name.startswith("_") and not name.startswith("__") and name not in NOT_OURS


def private_names(tree):
    """The private attributes that the classes of a file have."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and is_private(node.name):
            yield node.name
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("self", "cls"):
            yield node.attr
        if isinstance(node, ast.ClassDef):
            lines = [each for each in node.body if isinstance(each, ast.Assign | ast.AnnAssign)]
            targets = [ast.unparse(getattr(each, "target", each)) for each in lines]
            yield from (target.partition(" ")[0] for target in targets)


def private_lines(trees):
    """Where private attributes are touched that no class of the same room has."""
    rooms = {path: path.relative_to(SOURCE).parts[0] for path in trees}
    known = {room: {"_" + room} for room in rooms.values()}
    for path, tree in trees.items():
        known[rooms[path]].update(private_names(tree))
    return {
        (str(path.relative_to(SOURCE)), node.lineno)
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and is_private(node.attr)
        and node.attr not in known[rooms[path]]
        and rooms[path] != "kernels"  # Numba's
    }


def target_comparisons(trees):
    """Where code decides by the name of a target; a method of the target could."""
    return [
        (str(path.relative_to(SOURCE)), node.lineno)
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        and TARGETS & {each.value for each in ast.walk(node) if isinstance(each, ast.Constant)}
    ]


@cache
def counts():
    """What is counted, in all files of the package."""
    trees = {path: parse_file(path) for path in FILES}
    tops = [node for tree in trees.values() for node in tree.body]
    names = [node.name for node in tops if isinstance(node, ast.FunctionDef)]
    lazy = SOURCE / "slices.py"  # what slices have is loaded when it is used
    calls = [node for path in trees if path != lazy for node in ast.walk(trees[path])]
    calls = [ast.unparse(node.func) for node in calls if isinstance(node, ast.Call)]
    found = private_lines(trees), [name for name in names if name.endswith(("_of", "_in"))]
    found = *found, [call for call in calls if call.endswith("import_module")]
    sources = [path.relative_to(SOURCE) for path in FILES if not path.stem.startswith("__")]
    tests = Path(__file__).parent
    alone = [path for path in sources if not (tests / path.parent / f"test_{path.name}").exists()]
    return dict(zip(MOST, (*found, alone, target_comparisons(trees)), strict=True))


@pytest.mark.parametrize("what", MOST)
def test_what_is_to_go_only_becomes_less(what):
    found = counts()[what]
    assert len(found) <= MOST[what], found


def test_the_list_of_slow_tests_names_tests_that_there_are():
    tests = Path(__file__).parent
    for line in (tests / "slow.txt").read_text("utf-8").split():
        path, _, name = line.partition("::")
        assert f"def {name}(" in (tests.parent / path).read_text("utf-8"), line


def names_in(path):
    """The names, attributes and strings of a file's code, without docstrings."""
    for node in ast.walk(parse_file(path)):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_a_rule_is_named_in_few_files():
    """A step, an entry of the table and a class; one more may choose it by default."""
    from rosenblatt.parameters import RULE_TABLE

    used = {path: set(names_in(path)) for path in FILES}
    for name, entry in RULE_TABLE.items():
        if name not in ("perceptron", "pa"):  # the base of all, and a rule of taggers as well
            own = {name, entry.estimator}
            files = [str(path.relative_to(SOURCE)) for path in FILES if own & used[path]]
            assert len(files) <= 4, (name, files)
