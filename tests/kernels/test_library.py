"""The library of compiled kernels: its forms, its arguments, and its bits."""

import json
import re
import runpy
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import rosenblatt
from rosenblatt.data.rows import view_rows
from rosenblatt.kernels import compiling
from rosenblatt.kernels.algebra import Rows, shuffle
from rosenblatt.kernels.scores import score_rows
from rosenblatt.parameters import RULE_TABLE

from .test_compiling import run

built = pytest.mark.skipif(compiling.library is None, reason="Numba compiles the kernels here")
ALONE = "import sys\nsys.modules['numba'] = sys.modules['llvmlite'] = None\n"
"""What makes importing Numba impossible."""


def alone(script, folder):
    """Run a script without Numba."""
    return run(["-c", ALONE + script], "", cwd=folder)


@built
@pytest.mark.parametrize("rule", RULE_TABLE)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_library_has_the_loop_of_every_rule(rule, kind, monkeypatch):
    """All rules, layouts, precisions, targets and solutions."""
    monkeypatch.setattr(compiling, "compile_here", None)
    entry = RULE_TABLE[rule]
    X = np.array([[1.0, 0, 2], [0, 1, 1], [2, 1, 0], [0, 0, 1]], kind)
    labels = [[0, 1, 1, 0], [0, 1, 2, 1]] if entry.target == "classes" else [[0, 1, 2, 1]]
    for layout, y, solution in product((np.asarray, csr_array), labels, ("last", "average")):
        model = getattr(rosenblatt, entry.estimator)(solution=solution, max_iter=2)
        model.fit(layout(X), y).predict(layout(X))
        model.partial_fit(layout(X), y)
        model.learn_one(X[0], y[0]).predict_one(X[0])


COMMANDS = """
from rosenblatt import KernelPerceptron, SequencePerceptron, train
from rosenblatt.shell.app import app
app(["train", "iris"], standalone_mode=False)
open("t.csv", "w").write("size,text,label\\n" + "1.5,a fine day,x\\n,a cold night,y\\n" * 9)
app(["train", "t.csv", "-o", "t.model"], standalone_mode=False)
app(["predict", "t.model", "t.csv"], standalone_mode=False)
open("t.conll", "w").write("He PRP\\nruns VBZ\\n\\nThe DT\\ndog NN\\n\\n" * 3)
app(["train", "t.conll"], standalone_mode=False)
KernelPerceptron().fit([[0.0], [1.0], [2.0]], [0, 1, 0])
"""


@built
def test_commands_run_where_numba_cannot_be_imported(tmp_path):
    done = alone(COMMANDS, tmp_path)
    assert done.returncode == 0, done.stderr


@built
def test_an_unknown_type_is_one_clear_sentence(tmp_path):
    script = "import numpy as np\nfrom rosenblatt.kernels.algebra import shuffle\n"
    for given, said in (
        ("np.zeros(3, np.int8), 0, 0", "int8[1], int, int"),
        ("np.zeros(6, np.uint32)[::2], 0, 0", "uint32[1] with gaps, int, int"),
        ("[1, 2], 0, 0", "list, int, int"),
        ("np.zeros(3, np.uint32), 1.5, 0", "uint32[1], float, int"),
        ("np.zeros(3, np.uint32), 0", "uint32[1], int"),
        ("np.zeros(3, np.uint32), (0, None), 0", "uint32[1], tuple(int, NoneType), int"),
    ):
        done = alone(f"{script}shuffle({given})", tmp_path)
        sentence = f"TypeError: shuffle is not compiled for ({said}); `pip install rosenblatt[jit]`"
        assert sentence in done.stderr.splitlines()[-1]


@built
def test_what_cannot_be_read_safely_has_no_form(monkeypatch):
    unknown = []
    monkeypatch.setattr(
        compiling, "compile_here", lambda function: lambda *given: unknown.append(1)
    )
    skewed = np.frombuffer(bytearray(13), np.uint8)[1:].view(np.uint32)
    fixed = np.arange(3, dtype=np.uint32)
    fixed.flags.writeable = False
    swapped = np.arange(3).astype(">u4")
    times = np.zeros(3, "M8[s]")
    for given in (
        skewed,
        fixed,
        swapped,
        times,
        np.array(3, np.uint32),
        "text",
        b"bytes",
        object(),
    ):
        shuffle(given, 0, 0)
    shuffle(np.arange(3, dtype=np.uint32), 1 << 64, 0)
    shuffle(np.arange(3, dtype=np.uint32), *range(100))
    deep = ()
    for _ in range(2000):
        deep = (deep,)
    shuffle(deep, 0, 0)
    shuffle()
    assert len(unknown) == 12


@built
def test_scalars_of_numpy_are_numbers():
    order, other = np.arange(50, dtype=np.uint32), np.arange(50, dtype=np.uint32)
    shuffle(order, np.int64(7), np.int64(3))
    shuffle(other, 7, 3)
    assert order.tolist() == other.tolist() != list(range(50))
    nothing = np.empty(0, np.uint32)
    shuffle(nothing, 0, 0)


@built
def test_calls_leave_no_references(monkeypatch):
    monkeypatch.setattr(compiling, "compile_here", lambda function: int)  # which refuses them
    rows, w, b, out = view_rows(np.ones((3, 2))), np.ones(2), np.zeros(1), np.empty(3)
    given = [rows, rows.values, rows.starts, w, b, out]
    for arguments in ((rows, w, b, out), (rows, w, b, "no array")):
        counts = [sys.getrefcount(each) for each in given]
        for _ in range(100):
            with suppress(TypeError):
                score_rows(*arguments)
        assert [sys.getrefcount(each) for each in given] == counts
    assert out.tolist() == [2.0] * 3


@built
def test_many_threads_call_a_kernel():
    rng = np.random.default_rng(0)
    X, w = rng.integers(-9, 9, (200, 5)).astype(float), np.arange(5.0)

    def call(number):
        out = np.empty(200)
        score_rows(view_rows(X), w, np.array([float(number)]), out)
        return (out == X @ w + number).all()

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(call, range(2000)))


@built
def test_a_tuple_of_another_class_has_no_form(monkeypatch):
    monkeypatch.setattr(compiling, "compile_here", lambda function: lambda *given: "compiled")
    rows = view_rows(np.ones((3, 2)))
    other = type("Rows", (Rows,), {})(*rows)
    for given in (other, tuple(rows)):
        assert score_rows(given, np.ones(2), np.zeros(1), np.empty(3)) == "compiled"


@built
@pytest.mark.slow
def test_bits_are_those_of_numba_for_the_same_processor(tmp_path):
    script, found = Path(__file__).with_name("every_kernel.py"), []
    numba = {"NUMBA_CPU_NAME": compiling.library.TARGET, "NUMBA_CPU_FEATURES": ""}
    for mode in ("", "numba"):
        env = {} if mode == "" else numba | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        done = run([script], mode, cwd=tmp_path, env=env)
        assert done.returncode == 0, done.stderr
        found.append(json.loads(re.sub(r"\bNaN\b", '"NaN"', done.stdout))["found"])
    assert found[0] == found[1]


TABLE = """enum {{ SLOTS = 1, RESULTS = 1, NUMBER_OF_CLASSES = 1 }};
static const char *const CLASSES[] = {{0}};
static const struct form FORMS_0[] = {{{{0}}}};
static const struct target TARGETS[] = {{{{"{}", FORMS_0}}, {{0}}}};
"""


def test_a_library_is_linked_again_when_its_forms_change(tmp_path):
    pytest.importorskip("setuptools")
    tools = runpy.run_path(str(Path(__file__).parents[2] / "library/build.py"))
    if obstacle := tools["find_obstacle"]():
        pytest.skip(obstacle)
    for cpu in ("first-cpu", "second-cpu"):
        (tmp_path / "table.h").write_text(TABLE.format(cpu))
        tools["link"](tmp_path, [], tmp_path / "made")
        assert cpu.encode() in (tmp_path / "made").read_bytes()
