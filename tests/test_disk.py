"""Files and folders appear whole or not at all."""

import os

import pytest

from rosenblatt import disk
from rosenblatt.disk import (
    explain_errors,
    refuse_all_but_files,
    remove_temporaries,
    replace_file,
    temporary_beside,
)
from rosenblatt.jobs.job import Checkpointer


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with replace_file(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert names(tmp_path) == ["file"]


def test_temporary_files_of_a_file_are_removed_and_no_others(tmp_path):
    left = [temporary_beside(tmp_path / name) for name in ("m", "m", "m.2", "n")]
    for path in (*left, tmp_path / "m", tmp_path / ".m.part"):
        path.touch()
    remove_temporaries(tmp_path / "m")
    assert names(tmp_path) == sorted([left[2].name, left[3].name, "m", ".m.part"])
    remove_temporaries(tmp_path / "nowhere" / "m")


def test_a_sentence_is_not_told_twice():
    with (
        pytest.raises(OSError, match=r"^one could not be read: no space\.$"),
        explain_errors("two", "written"),
        explain_errors("one", "read"),
    ):
        raise OSError(28, "No space")


def test_windows_waits_until_no_one_reads_the_file(tmp_path, monkeypatch):
    refused = []

    def replace(temporary, target):
        if len(refused) < 3:
            refused.append(target)
            raise PermissionError(13, "The process cannot access the file")

    monkeypatch.setattr(disk.os, "replace", replace)
    monkeypatch.setattr(disk, "READERS_BLOCK", True)
    disk.move_over(tmp_path / "new", tmp_path / "old")
    assert len(refused) == 3
    refused.clear()
    monkeypatch.setattr(disk, "READERS_BLOCK", False)
    with pytest.raises(PermissionError):
        disk.move_over(tmp_path / "new", tmp_path / "old")


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="this system has no links")
def test_a_loop_of_links_is_refused(tmp_path):
    (tmp_path / "one").symlink_to(tmp_path / "other")
    (tmp_path / "other").symlink_to(tmp_path / "one")
    with pytest.raises(ValueError, match="is a loop of links"):
        refuse_all_but_files(tmp_path / "one")


def test_temporary_files_that_may_be_in_use_stay(tmp_path):
    new, old = (temporary_beside(tmp_path / "m") for _ in range(2))
    for path in new, old:
        path.touch()
    os.utime(old, (0, 0))
    Checkpointer(tmp_path / "m", 10)
    assert names(tmp_path) == [new.name]
