"""After ``warm_up`` no usual command compiles anything."""

import subprocess
import sys

import numpy as np
import pytest

from rosenblatt.shell.commands import CommandError
from rosenblatt.shell.warm import warm_up

SCRIPT = """
import sys
from numba.core.dispatcher import Dispatcher
from rosenblatt.shell.app import app

def list_signatures():
    modules = [m for name, m in sys.modules.items() if name.startswith("rosenblatt.kernels")]
    found = [each for module in modules for each in vars(module).values()]
    kernels = [each for each in found if isinstance(each, Dispatcher)]
    return {(each.py_func.__name__, str(one)) for each in kernels for one in each.overloads}

from rosenblatt.shell.warm import warm_up
warm_up()
ready = list_signatures()
for words in [line.split() for line in sys.stdin]:
    app(words, standalone_mode=False)
    for name, signature in list_signatures() - ready:
        print("lacking", name, signature, words)
"""

COMMANDS = """
train iris
train xor --set solution=last
train digits --epochs 3
train two.svm -o two --epochs 1
train two.svm -o two --test two.svm
train many.svm -o many --holdout 0.1 --set early_stopping=true
train two.vw -o vw
train many.csv -o numbers --set order=once
train two.csv -o numbers --set scale=none
train mixed.csv -o words --text review
train mixed.csv --text review --set ngrams=1-2 --set bits=18
predict two two.svm -o out
predict many many.svm --scores -o out
predict vw two.vw -o out
predict numbers two.csv -o out
predict words mixed.csv -o out
score two two.svm
score many many.svm --json
score words mixed.csv
"""


def write_files(folder):
    """Files that are unlike those that warm-up makes, but for their kinds."""
    random = np.random.default_rng(0)
    for name, classes in ("two", 2), ("many", 5):
        rows = [
            (random.integers(classes), random.random(2), random.integers(2, 90)) for _ in range(500)
        ]
        form = "{0} 1:{1:.3f} {3}:{2:.3f}\n"
        (folder / f"{name}.svm").write_text("".join(form.format(y, *x, j) for y, x, j in rows))
        form = "{0} 2 |n one:{1:.3f} |m w{3}:{2:.3f} x\n"
        (folder / f"{name}.vw").write_text("".join(form.format(y, *x, j) for y, x, j in rows))
        form = "{1:.3f},{2:.3f},c{0}\n"
        lines = "".join(form.format(y, *x) for y, x, _ in rows)
        (folder / f"{name}.csv").write_text("first,second,class\n" + lines)
    form = '{1:.2f},{4},"this one, with {2:.2f}, is of {4}",{0}\n'
    kinds = ["oak", "elm", "ash tree"]
    lines = "".join(form.format(y > 2, *x, j, kinds[j % 3]) for y, x, j in rows)
    (folder / "mixed.csv").write_text("height,tree,review,label\n" + lines * 5)


def test_nothing_is_left_to_compile(tmp_path):
    """Kernels that warm-up compiled or loaded are in the memory of its process; no more are needed.

    This does not depend on what is on disk already. That a second process finds there what a first
    one compiled is a test of kernels/test_compiling.py.
    """
    write_files(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=COMMANDS.strip(),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    _, first, *lines = done.stdout.splitlines()
    assert first.startswith("All that the usual commands need is compiled (")
    assert [line for line in lines if line.startswith("lacking")] == []
    assert "Rosenblatt is compiling" not in done.stderr


def test_code_that_would_not_stay_on_disk_is_not_compiled(monkeypatch):
    monkeypatch.setattr("rosenblatt.kernels.compiling.stays_on_disk", lambda kernel: False)
    with pytest.raises(CommandError, match="set NUMBA_CACHE_DIR to a folder that is writable"):
        warm_up()


def test_whether_code_stays_on_disk():
    from numba import njit

    from rosenblatt.kernels.algebra import mix
    from rosenblatt.kernels.compiling import stays_on_disk

    assert stays_on_disk(mix)
    assert not stays_on_disk(njit(lambda: 1))
    assert not stays_on_disk(lambda: 1)
