"""Compiled code is kept on disk until its sources change, and also runs uncompiled."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core.caching import CompileResultCacheImpl

from rosenblatt.kernels import compiling
from rosenblatt.kernels.scores import score_rows

KERNELS = Path(compiling.__file__).parent
SCRIPT = """
import numpy as np
from copied.kernels import algebra, scores
rows = algebra.Rows(np.array([1.0, 2.0]), None, np.array([2], np.uint64))
out = np.zeros(1)
scores.score_rows(rows, np.array([10.0, 1.0]), np.zeros(1), out)
print(out[0], sum(scores.score_rows.stats.cache_misses.values()))
"""


def test_a_change_of_a_helper_recompiles_its_callers_in_other_files(tmp_path):
    shutil.copytree(KERNELS, tmp_path / "copied/kernels", ignore=shutil.ignore_patterns("__py*"))
    (tmp_path / "copied/__init__.py").touch()

    def run():
        environment = {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        command = [sys.executable, "-B", "-c", SCRIPT]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        ).stdout.split()

    assert run() == ["12.0", "1"]
    assert run() == ["12.0", "0"]
    (tmp_path / "copied/kernels/words.py").write_text("# scores.py does not import this file\n")
    assert run() == ["12.0", "0"]
    helpers = tmp_path / "copied/kernels/algebra.py"
    helpers.write_text(helpers.read_text("utf-8").replace("values[k] * w[", "-values[k] * w["))
    assert run() == ["-12.0", "1"]
    assert run() == ["-12.0", "0"]
    for ending in ("nbi", "nbc"):
        for kept in (tmp_path / "cache").rglob(f"*.{ending}"):
            kept.write_bytes(kept.read_bytes()[:20])
        assert run() == ["-12.0", "1"]
        assert run() == ["-12.0", "0"]


def test_kernels_import_each_other_in_the_one_form_that_the_stamp_follows():
    slices = [*KERNELS.parent.glob("*/kernels/*.py"), KERNELS.parent / "network/kernels.py"]
    for path in [*KERNELS.glob("*.py"), *slices]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                assert re.fullmatch(r"(kernels\.)?\w+", node.module or ""), path.name
                assert node.col_offset in (0, 4), path.name


def test_without_numbas_private_names_its_own_stamp_remains():
    def function():
        """Nothing that could be stamped."""

    assert compiling.stamp_cache(function) is function


def test_the_text_of_files_counts_and_not_their_times():
    """A package in an image or another folder of the same path uses the code compiled before."""
    kept = score_rows._cache._cache_file
    assert kept._source_stamp == compiling.hash_module(KERNELS / "scores.py")


def test_kernels_compile_where_no_folder_is_writable(monkeypatch):
    monkeypatch.setattr(CompileResultCacheImpl, "_locator_classes", [])
    kernel = compiling.compiled(lambda number: number + 1)
    assert kernel(1) == 2
    assert not compiling.is_first_offer(kernel)


def test_a_second_process_compiles_nothing_and_tells_nothing(tmp_path):
    script = """
import numpy as np
from rosenblatt.data.rows import view_rows
from rosenblatt.kernels import algebra, scores
scores.score_rows(view_rows(np.ones((2, 3))), np.ones(3), np.ones(1), np.empty(2))
kernels = (vars(algebra) | vars(scores)).values()
stats = [kernel.stats for kernel in kernels if hasattr(kernel, "stats")]
print(sum(sum(kernel.cache_misses.values()) for kernel in stats))
print(sum(sum(kernel.cache_hits.values()) for kernel in stats))
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = (
        subprocess.run(
            [sys.executable, "-c", script],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        for _ in range(2)
    )
    compiled_first, found_first = map(int, first.stdout.split())
    compiled_then, found_then = map(int, second.stdout.split())
    assert compiled_first > 0 == found_first
    assert found_then > 0 == compiled_then
    assert first.stderr == f"{compiling.COMPILING}{compiling.OFFER}\n"
    assert second.stderr == ""
    more = script.replace("ones(", "ones(dtype=np.float32, shape=")
    third = subprocess.run(
        [sys.executable, "-c", more], env=environment, capture_output=True, text=True, check=True
    )
    assert third.stderr == f"{compiling.COMPILING}\n"


def test_kernels_run_where_no_folder_can_keep_them(tmp_path):
    (tmp_path / "file").write_text("")
    script = (
        "import numpy as np\nfrom rosenblatt.kernels.algebra import mix\nprint(mix(np.uint64(1)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "file")},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, "6238072747940578789\n"), done.stderr


NOT_PLAIN = "compiling.", "foreign.", "gpu."
"""Modules for the compiler, and for the GPU."""


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="NumPy 1 adds uint64 and int as floats"
)
def test_kernels_run_as_plain_python_for_a_debugger(tmp_path):
    found = []
    for off in ("0", "1"):
        done = subprocess.run(
            [
                sys.executable,
                "-W",
                "error::RuntimeWarning",
                Path(__file__).with_name("every_kernel.py"),
            ],
            env={**os.environ, "NUMBA_DISABLE_JIT": off},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout))
    missed = [name for name in found[1]["not called"] if not name.startswith(NOT_PLAIN)]
    assert missed == ["dispatch.by_kind", "numbers.power_of_ten"]  # which the import calls
    compiled, plain = (each["found"] for each in found)
    assert compiled.keys() == plain.keys()
    for name, numbers in compiled.items():
        np.testing.assert_allclose(plain[name], numbers, rtol=1e-6, atol=2e-7, err_msg=name)


def test_a_debugger_stops_in_a_kernel_as_the_page_says(tmp_path):
    page = (Path(__file__).parents[2] / "docs/reading-the-code.md").read_text("utf-8")
    commands = re.findall(r"^\(Pdb\) (.+)$", page, re.MULTILINE)
    script = tmp_path / "fit.py"
    script.write_text(
        "from rosenblatt import Perceptron\nPerceptron().fit([[1.0], [-1.0]], [1, 0])\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pdb", script],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        input="\n".join([*commands, "quit"]),
        capture_output=True,
        text=True,
    )
    assert "loop.py" in done.stdout
    assert "learn()" in done.stdout
    assert "w=array([0.])" in done.stdout


HIDDEN = """
import sys, threading
from rosenblatt.kernels import compiling

with compiling.hide_blas():
    try:
        import scipy.linalg.cython_blas
    except ImportError as error:
        print(error, "scipy.linalg" in sys.modules)
    other = threading.Thread(target=lambda: __import__("scipy.linalg"))
    other.start()
    other.join()
    print("scipy.linalg" in sys.modules)
import scipy.linalg.cython_blas
"""


def test_while_a_kernel_is_loaded_other_threads_can_import_scipy():
    done = subprocess.run(
        [sys.executable, "-c", HIDDEN], capture_output=True, text=True, check=True
    )
    first, second = done.stdout.splitlines()
    assert first.startswith("No module named 'scipy")
    assert first.endswith(" False")
    assert (second, done.stderr) == ("True", "")
