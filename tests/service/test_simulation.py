"""Some of the schedules of the simulation; ``python -m tests.service.simulation`` has all."""

import shutil
import subprocess
import sys

import pytest

from ..conftest import ROUNDS
from ..test_docs import ROOT
from . import simulation


@pytest.mark.slow
def test_a_crash_an_error_and_a_torn_write_lose_nothing():
    if sys.platform != "linux" or shutil.which("gcc") is None:
        pytest.skip("recording system calls needs Linux and gcc")
    command = [sys.executable, "-m", "tests.service.simulation", "1", str(max(40 // ROUNDS, 1))]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stderr
    assert "boundaries" in ran.stdout


def test_the_simulated_disk_keeps_what_was_synced():
    disk = simulation.Disk({"a": b"old"})
    disk.apply("write", "a", "", 0, b"new")
    disk.apply("create", "b", "", 0, b"")
    disk.apply("write", "b", "", 0, b"bee")
    assert disk.after_kill() == {"a": b"new", "b": b"bee"}
    assert disk.after_power_loss() == {"a": b"old"}
    disk.apply("sync", "a", "", 0, b"")
    assert disk.after_power_loss() == {"a": b"new"}
    disk.apply("rename", "b", "a", 0, b"")
    assert disk.after_power_loss() == {"a": b"new"}
    disk.apply("sync", "b", "", 0, b"")  # of the folder: there is no such file any more
    assert disk.after_power_loss() == {"a": b""}  # the name is on disk, and the bytes are not


@pytest.mark.parametrize("lost", [0, 1])
def test_the_simulation_notices_what_is_lost_or_twice(tmp_path, lost):
    """The checks can fail: a row too many, and one that is missing."""
    folder = tmp_path / "history"
    files = simulation.begin(folder)
    from rosenblatt.service.learning import Learning

    text = '{"x":1,"y":1,"kind":"a"}'
    learning = Learning(folder / "m", None, lambda sentence: None)
    learning.log.append([text] * (1 - lost) * 2)
    learning.log.close()
    files = {str(path): path.read_bytes() for path in folder.iterdir()}
    notes = [("sent", [None, [text]]), ("learnt", [None, [text], 1])]
    with pytest.raises(AssertionError):
        simulation.check(files, notes, tmp_path / "again")
