"""How the package is laid out: public names, light imports, rooms, and what is compiled once."""

import ast
import subprocess
import sys
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
    assert rosenblatt.__all__ == sorted(rosenblatt.__all__)
    assert set(rosenblatt.__all__) <= set(dir(rosenblatt))
    assert all(hasattr(rosenblatt, name) for name in rosenblatt.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'Perceptrons'"):
        rosenblatt.Perceptrons  # noqa: B018


def test_importing_the_package_imports_nothing_heavy():
    imported = python("import sys, rosenblatt; print(*sys.modules)").stdout.split()
    assert "rosenblatt" in imported
    assert not {"numba", "numpy", "pyarrow", "scipy", "sklearn"} & set(imported)


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_its_tests(room):
    assert Path(__file__).with_name(f"test_{room}.py").exists()


@pytest.mark.parametrize("room", [room for room in ROOMS if room in ("kernels", "parsing")])
def test_everything_compiled_is_kept_on_disk(room):
    tree = ast.parse((SOURCE / f"{room}.py").read_text())
    kept = {
        ast.unparse(node.targets[0])
        for node in tree.body
        if isinstance(node, ast.Assign)
        and ast.unparse(node.value).startswith("njit(cache=True, nogil=True")
    }
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    decorators = {ast.unparse(d) for function in functions for d in function.decorator_list}
    assert "compiled" in kept
    assert decorators <= kept | {"intrinsic"}  # which is compiled into its callers


def test_a_second_process_compiles_nothing(tmp_path):
    script = """
import numpy as np
from rosenblatt import Perceptron, kernels
X, y = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]]), np.array([0, 1, 1])
Perceptron(solution="average").fit(X, y).predict(X)
stats = [kernel.stats for kernel in vars(kernels).values() if hasattr(kernel, "stats")]
print(sum(sum(kernel.cache_misses.values()) for kernel in stats))
print(sum(sum(kernel.cache_hits.values()) for kernel in stats))
"""
    first, second = (python(script, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2))
    compiled_first, found_first = map(int, first.stdout.split())
    compiled_then, found_then = map(int, second.stdout.split())
    assert compiled_first > 0 == found_first
    assert found_then > 0 == compiled_then
    assert "compiles its kernels" in first.stderr
    assert second.stderr == ""


def test_the_tuples_that_kernels_take_keep_their_names():
    """The cache on a user's disk refers to them: without one, the next release breaks there."""
    from rosenblatt import kernels, parsing, training

    assert all(hasattr(kernels, name) for name in ("Rows", "Examples", "Rule", "Lines"))
    assert all(hasattr(parsing, name) for name in ("Block", "Progress", "Grams", "Names"))
    assert hasattr(training, "Updates")
