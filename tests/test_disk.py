"""Files and folders appear whole or not at all."""

import os

import pytest

from rosenblatt import disk
from rosenblatt.disk import (
    TemporaryFile,
    explain_errors,
    refuse_all_but_files,
    remove_temporaries,
    replace_file,
    replace_folder,
    temporary_beside,
)


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


@pytest.mark.parametrize("replace", [replace_file, replace_folder])
def test_a_failure_leaves_everything_as_it_was(tmp_path, replace):
    with pytest.raises(KeyboardInterrupt), replace(tmp_path / "new"):
        raise KeyboardInterrupt
    assert names(tmp_path) == []


@pytest.mark.parametrize("replace", [replace_file, replace_folder])
def test_what_the_system_refuses_names_the_file_that_was_wanted(tmp_path, replace):
    path = tmp_path / "nowhere" / "new"
    sentence = r"nowhere.new could not be written: no such file or directory\.$"
    with pytest.raises(FileNotFoundError, match=sentence), replace(path):
        pass


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


def test_a_folder_is_replaced_whole(tmp_path):
    path = tmp_path / "folder"
    for text in ("one", "two"):
        with replace_folder(path) as temporary:
            (temporary / text).write_text(text)
        assert names(path) == [text]
    assert names(tmp_path) == ["folder"]


def test_the_folder_of_a_faster_run_may_stay(tmp_path, monkeypatch):
    path = tmp_path / "folder"
    with replace_folder(path) as temporary:
        (temporary / "mine").touch()
        path.mkdir()
        (path / "theirs").touch()
        monkeypatch.setattr("pathlib.Path.exists", lambda path: False)  # it comes just after
    assert names(path) == ["theirs"]
    assert names(tmp_path) == ["folder"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_folders_and_pipes_are_never_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, kind in (tmp_path, "folder"), (tmp_path / "pipe", "device or pipe"):
        with pytest.raises(ValueError, match=f"is a {kind}; give the name of a file"):
            refuse_all_but_files(path)
        with pytest.raises(ValueError, match=f"is a {kind}"), replace_file(path):
            pass


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


def test_a_temporary_file_is_closed_and_deleted_with_its_object(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    file = TemporaryFile([b"a", b"bc"])
    (path,) = tmp_path.iterdir()
    assert (path.read_bytes(), str(path)) == (b"abc", file.name)
    del file
    assert names(tmp_path) == []

    def fail():
        yield b"a"
        raise OSError("the source is damaged")

    with pytest.raises(OSError, match="the source is damaged"):
        TemporaryFile(fail())
    assert names(tmp_path) == []
    file = TemporaryFile([])
    file.delete()
    file.delete()
    assert names(tmp_path) == []
