"""Any arguments of a library's kernels, under a sanitizer of addresses: library.c with a stub."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "library/library.c"
TABLE = r"""
enum { SLOTS = 9, RESULTS = 4, NUMBER_OF_CLASSES = 1 };
static const char *const CLASSES[] = {"__main__.Pair", 0};

static void add(const int64_t *slots, int64_t *results)
{
    double *values = (double *)(intptr_t)slots[0], total = 0;
    for (int64_t k = 0; k < slots[1]; k++) total += values[k];
    results[0] = slots[1];
    memcpy(results + 1, &total, 8);
    results[2] = slots[2] + (int8_t)slots[3];
    results[3] = -1;
}

static const struct form FORMS[] = {
    {"kernels.add", "[d1r]qb", add, "(qd?Q)"},
    {"kernels.add", "\201([d1r](qbn))", add, "__main__:Pair(q(d?))"},
    {"kernels.log", "[T{q:position:d:margin:}1w]", add, "q"},
    {0}};
static const struct target TARGETS[] = {{"any", FORMS}, {0}};
"""
SCRIPT = r"""
import random, sys
from collections import namedtuple
import numpy as np
import _library

Pair = namedtuple("Pair", "first second")
unknown = []
calls = {}
for name in ("add", "log"):
    calls[name] = _library.kernel(f"kernels.{name}", lambda *given: unknown.append(given))
other = print
assert _library.kernel("kernels.none", other) is other

X = np.arange(5.0)
one = np.int8(-1)
assert calls["add"](X, 7, one) == (5, 10.0, True, 2**64 - 1)
found = calls["add"](Pair(X[1:4], (7, one, None)))
assert found == (3, (6.0, True)) and type(found) is Pair
LOG = np.dtype([("position", np.int64), ("margin", np.float64)])
assert calls["log"](np.zeros(0, LOG)) == 0
assert not unknown


class Odd(tuple):
    '''A class without a form.'''


class Hostile:
    '''An object whose attributes raise.'''

    def __getattr__(self, name):
        raise ValueError(name)


frozen = np.arange(3.0)
frozen.flags.writeable = False
parts = [
    X, X[::2], X[:0], X.astype("f4"), X.astype(">f8"), X.reshape(5, 1), np.array(1.0), frozen,
    np.frombuffer(bytearray(17), np.uint8)[1:].view(float), np.zeros(2, LOG),
    np.zeros(2, LOG)["margin"],
    np.zeros(1, [("label" * 300, "i8")]), np.zeros((1,) * 30), np.zeros(3, "M8[s]"),
    np.zeros(2, "U3"),
    np.zeros(2, object), np.ma.masked, memoryview(b"abc"), bytearray(b"12345678"), b"", "x" * 5000,
    None, True, 7, -7, 1 << 63, 1 << 100, 1.5, float("nan"), 1j, one, np.uint64(2**64 - 1),
    np.bool_(1), np.float32(2), np.int16(-3), np.datetime64("2020"), (), [], {}, set(), object(),
    Hostile(), type, Pair,
    Odd((X, 7, one)), Pair(X, (7, one, None)), Pair(X, 7), ((X,),), (None,) * 2000,
    np.longdouble(1),
]
deep = ()
for _ in range(3000):
    deep = (deep,)
parts.append(deep)
rng = random.Random(0)
counts = [sys.getrefcount(part) for part in parts]
for _ in range(20000):
    given = [rng.choice(parts) for _ in range(rng.choice([0, 1, 1, 2, 3, 3, 3, 12]))]
    if rng.random() < 0.3:
        kind = rng.choice([tuple, Odd, Pair])
        given = [Pair(*given[:2]) if kind is Pair and len(given) > 1 else Odd(given)]
    calls[rng.choice(["add", "log"])](*given)
del given
seen = len(unknown)
unknown.clear()
kind = None
after = [sys.getrefcount(part) for part in parts]
changed = [repr(part)[:50] for part, a, b in zip(parts, counts, after) if abs(b - a) > 500]
assert not changed, changed
print(seen)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="where gcc has a sanitizer")
def test_any_arguments_are_taken_or_refused(tmp_path):
    compiler = shutil.which("gcc")
    if compiler is None or not Path(sysconfig.get_path("include"), "Python.h").exists():
        pytest.skip("needs gcc and Python's headers")
    (tmp_path / "table.h").write_text(TABLE)
    flags = "-g -O1 -shared -fPIC -fsanitize=address,undefined -fno-sanitize-recover=undefined"
    paths = [f"-I{tmp_path}", f"-I{sysconfig.get_path('include')}"]
    out = tmp_path / "_library.abi3.so"
    built = [compiler, *flags.split(), "-Wall", "-Werror", *paths, str(SOURCE), "-o", str(out)]
    done = subprocess.run(built, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    names = ["libasan.so", "libubsan.so"]
    found = [subprocess.check_output([compiler, f"-print-file-name={n}"], text=True) for n in names]
    environment = os.environ | {
        "LD_PRELOAD": " ".join(map(str.strip, found)),
        "ASAN_OPTIONS": "detect_leaks=0",
        "PYTHONPATH": str(tmp_path),
    }
    (tmp_path / "fuzz.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, tmp_path / "fuzz.py"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout) > 10000
