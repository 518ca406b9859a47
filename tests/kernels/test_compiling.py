"""Kernels are compiled by Numba until their sources change, and also run as plain Python."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rosenblatt.kernels import compiling

KERNELS = Path(compiling.__file__).parent
SCRIPT = """
import numpy as np
from copied.kernels import algebra, scores
rows = algebra.Rows(np.array([1.0, 2.0]), None, np.array([2], np.uint64))
out = np.zeros(1)
scores.score_rows(rows, np.array([10.0, 1.0]), np.zeros(1), out)
print(out[0], sum(scores.score_rows.stats.cache_misses.values()))
"""


def run(command, mode, **options):
    """Run Python, with kernels as the mode says."""
    environment = os.environ | {"ROSENBLATT_KERNELS": mode} | options.pop("env", {})
    return subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True, **options
    )


def test_a_change_of_a_helper_recompiles_its_callers_in_other_files(tmp_path):
    kernels = tmp_path / "copied/kernels"
    shutil.copytree(KERNELS, kernels, ignore=shutil.ignore_patterns("__py*", "_library*"))
    (tmp_path / "copied/__init__.py").touch()

    def call():
        folders = {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        return run(["-B", "-c", SCRIPT], "numba", env=folders, check=True).stdout.split()

    assert call() == ["12.0", "1"]
    assert call() == ["12.0", "0"]
    helpers = kernels / "algebra.py"
    helpers.write_text(helpers.read_text("utf-8").replace("values[k] * w[", "-values[k] * w["))
    assert call() == ["-12.0", "1"]
    assert call() == ["-12.0", "0"]


def test_kernels_run_where_no_folder_can_keep_them(tmp_path):
    (tmp_path / "file").write_text("")
    script = "import numpy as np\nfrom rosenblatt.kernels.algebra import shuffle\n"
    script += "order = np.arange(9, dtype=np.uint32)\nshuffle(order, 1, 1)\nprint(*sorted(order))"
    done = run(["-c", script], "numba", env={"NUMBA_CACHE_DIR": str(tmp_path / "file")})
    assert (done.returncode, done.stdout) == (0, "0 1 2 3 4 5 6 7 8\n"), done.stderr


NOT_PLAIN = "compiling.", "gpu.", "llvm."
"""Modules for the compiler, and for the GPU."""


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="NumPy 1 adds uint64 and int as floats"
)
def test_kernels_run_as_plain_python_for_a_debugger(tmp_path):
    found = []
    for mode in ("", "python"):
        script = Path(__file__).with_name("every_kernel.py")
        done = run(["-W", "error::RuntimeWarning", script], mode, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout))
    missed = [
        name
        for name in found[1]["not called"]
        if not name.startswith(NOT_PLAIN)
        and not re.search(r"\.(forms_of|each|make_state|tell)", name)
    ]
    called_by_import = ["dispatch.by_kind", "forms.given", "forms.vector"]
    called_by_import += ["loop.by_name", "numbers.name_to_compiler", "numbers.power_of_ten"]
    assert missed == called_by_import
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
    done = run(["-m", "pdb", script], "python", input="\n".join([*commands, "quit"]))
    assert "loop.py" in done.stdout
    assert "learn()" in done.stdout
    assert "w=array([0.])" in done.stdout


def test_an_unknown_mode_is_refused():
    done = run(["-c", "import rosenblatt.kernels.compiling"], "jit")
    assert "ROSENBLATT_KERNELS must be numba or python; got 'jit'." in done.stderr
