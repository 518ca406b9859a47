"""The log: all or nothing, in order, of one writer, and never trimmed beyond a model."""

import sqlite3

import pytest

from rosenblatt.service.log import KeyedRequest, Log, LogError


@pytest.fixture
def log(tmp_path):
    made = Log.create(tmp_path / "m.log", b"first")
    yield made
    made.close()


def texts(log, after=0, until=None):
    return [entry.text for entries in log.entries(after, until, size=3) for entry in entries]


def test_examples_come_back_in_order_with_their_numbers(log):
    assert (log.append(["a", "b"]), log.append(["c"]), log.append(["d", "e"])) == (2, 3, 5)
    assert texts(log) == ["a", "b", "c", "d", "e"]
    assert texts(log, after=2, until=4) == ["c", "d"]
    identity = log.identity
    log.close()
    again = Log(log.path, writes=True)
    assert (again.last, again.identity, texts(again, after=4)) == (5, identity, ["e"])
    assert (again.models(), again.model(0)) == ([0], b"first")
    again.close()


@pytest.mark.parametrize("count", [1, 205])
def test_many_examples_at_once(log, count, monkeypatch):
    monkeypatch.setattr("rosenblatt.service.log.AT_ONCE", 100)
    log.append(["a"])
    given = [f"{k} ü" for k in range(count)]
    assert log.append(given, [KeyedRequest(b"key", b"digest", 0, count - 1)]) == count + 1
    found = [entry for entries in log.entries(1) for entry in entries]
    assert [entry.text for entry in found] == given
    assert all(entry.is_intact for entry in found)
    assert log.find_request(b"key")[2:] == (2, count + 1)
    log.last = 1  # so that all numbers are taken
    with pytest.raises(LogError, match="UNIQUE"):
        log.append([*"x" * (2 * count)])
    log.last = count + 1
    log.reopen()
    assert texts(log, after=1) == given


def test_every_commit_is_synced(log):
    assert log.one("PRAGMA journal_mode") == ("wal",)
    assert log.one("PRAGMA synchronous") == (2,)  # FULL


def test_one_writes_and_others_read(log):
    log.append(["a"])
    with pytest.raises(ValueError, match="Another service writes"):
        Log(log.path, writes=True)
    reader = Log(log.path, writes=False)
    log.append(["b"])
    assert texts(reader, until=2) == ["a", "b"]
    with pytest.raises(LogError, match="cannot be written"):
        reader.append(["c"])
    reader.close()
    assert texts(log) == ["a", "b"]


def test_after_an_error_nothing_of_a_group_is_there_and_the_log_goes_on(log):
    log.append(["a"])
    with pytest.raises(LogError, match="cannot be written"):
        log.write(("INSERT INTO nothing VALUES (?)", [(1,)]))
    log.reopen()
    log.last = 0  # the number of an example that is there
    with pytest.raises(LogError, match="UNIQUE"):
        log.append(["b", "c"])
    with pytest.raises(LogError, match="read again"):
        log.append(["d"])
    log.last = 1
    log.reopen()
    assert log.append(["d"]) == 2
    assert texts(log) == ["a", "d"]


def test_a_start_does_not_read_all_of_a_log(log):
    question = "SELECT sequence FROM examples WHERE model IS NOT NULL ORDER BY sequence"
    (*_, plan) = log.one(f"EXPLAIN QUERY PLAN {question}")
    assert "INDEX models" in plan


def test_what_is_no_log_is_refused(tmp_path):
    path = tmp_path / "m.log"
    with pytest.raises(FileNotFoundError, match="There is no log"):
        Log(path, writes=False)
    path.write_bytes(b"something else" * 1000)
    with pytest.raises((ValueError, LogError), match=r"not an intact log|cannot be read"):
        Log(path, writes=True)
    path.unlink()
    sqlite3.connect(path).execute("CREATE TABLE other (a)").connection.close()
    with pytest.raises(ValueError, match="not a log of rosenblatt"):
        Log(path, writes=True)


def test_a_log_appears_whole_or_not_at_all(tmp_path):
    with pytest.raises(FileNotFoundError):
        Log.create(tmp_path / "none" / "m.log", b"model")
    assert list(tmp_path.iterdir()) == []
