"""The thread that learns: groups share a sync, snapshots name what they know, starts recover."""

import threading

import pytest

from rosenblatt.service.learning import Keeping, Learning
from rosenblatt.service.log import Log, LogError
from rosenblatt.service.replay import log_path
from rosenblatt.service.requests import BadExampleError

from .conftest import client_of, examples, job_of, replayed, sequence_in, trained


def outcome(job):
    """The number that a job was told, or the error."""
    return job.future.exception(30) or job.future.result(30)


def taught(learning, rows):
    """Teach rows in jobs of one; their sequence numbers or errors."""
    jobs = [job_of([row]) for row in rows]
    for job in jobs:
        learning.take(job)
    return [outcome(job) for job in jobs]


def silent(path, keeping=None):
    said = []
    learning = Learning(path, keeping, said.append)
    learning.start()
    return learning, said


def waiting(model, rows):
    """A thread that has not begun, with a job for each row."""
    learning, jobs = Learning(model, None, lambda sentence: None), [job_of([row]) for row in rows]
    for job in jobs:
        learning.take(job)
    return learning, jobs


def test_what_waits_shares_one_sync(model):
    learning, jobs = waiting(model, examples(40))
    learning.log.append = counted(learning.log.append, groups := [])
    learning.start()
    learning.stop()
    assert groups == [40]
    assert [outcome(job) for job in jobs] == list(range(1, 41))


def test_one_bad_example_spoils_no_other_request(model):
    good, bad = examples(5), {"nothing": "of the model"}
    learning, jobs = waiting(model, [*good[:2], bad, *good[2:]])
    learning.start()
    learning.stop()
    refused = outcome(jobs.pop(2))
    assert (type(refused), refused.row) == (BadExampleError, 1)
    assert [outcome(job) for job in jobs] == [1, 2, 3, 4, 5]
    assert sequence_in(model) == 5
    assert model.read_bytes() == replayed(model)


def counted(append, groups):
    """What appends, and notes how many at a time."""
    return lambda texts, requests: groups.append(len(texts)) or append(texts, requests)


def test_a_corrupt_snapshot_is_rebuilt_from_the_log(model):
    learning, _ = silent(model)
    taught(learning, examples(25))
    learning.stop()
    good = model.read_bytes()
    for bad in (good[:-1] + bytes([good[-1] ^ 1]), good[:100], b""):
        model.write_bytes(bad)
        learning, said = silent(model)
        assert "is not an intact model" in said[0]
        assert f"rebuilt from {log_path(model)}" in said[0]
        learning.call(learning.snapshot).result(10)
        assert model.read_bytes() == good
        learning.stop()
        assert model.read_bytes() == good
    model.unlink()
    learning, said = silent(model)
    learning.stop()
    assert model.read_bytes() == good


def test_another_model_is_not_taken_for_that_of_the_log(model, tmp_path):
    learning, _ = silent(model)
    taught(learning, examples(5))
    learning.stop()
    trained(model, examples(30, seed=77))
    with pytest.raises(ValueError, match="has not learnt from"):
        Learning(model)
    Log(log_path(model), writes=True).close()  # it was left


def test_a_log_that_lost_its_end_goes_on_after_the_model(model):
    learning, _ = silent(model)
    taught(learning, examples(20))
    learning.stop()
    log = Log(log_path(model), writes=True)
    log.connection.execute("DELETE FROM examples WHERE sequence > 12")
    log.close()
    learning, said = silent(model)
    assert "has lost 8 acknowledged examples after number 12" in said[0]
    assert "ends at example 12, and the model knows 20" in said[1]
    assert taught(learning, examples(3)) == [21, 22, 23]
    learning.stop()
    log = Log(log_path(model), writes=False)
    assert log.models() == [0, 20]
    log.close()


def test_a_lost_log_begins_anew_after_the_model(model):
    learning, _ = silent(model)
    taught(learning, examples(4))
    learning.stop()
    log_path(model).unlink()
    learning, said = silent(model)
    assert "a new one continues after example 4" in said[0]
    assert taught(learning, examples(1)) == [5]
    found = client_of(learning).get("/examples").json()["examples"]
    assert [one["sequence"] for one in found] == [5]
    learning.stop()
    assert model.read_bytes() == replayed(model)


def test_snapshots_are_made_on_the_way(model, monkeypatch):
    monkeypatch.setattr("rosenblatt.service.learning.SAVED_EXAMPLES", 10)
    learning, _ = silent(model, Keeping(seconds=1000))
    for begin in range(5):
        taught(learning, examples(10, seed=begin))
    learning.call(lambda: None).result(10)
    if learning.saving is not None:
        learning.saving.result(10)
    assert sequence_in(model) >= 10
    assert learning.call(learning.snapshot).result(10) == model
    assert sequence_in(model) == 50
    learning.stop()


class DisasterError(Exception):
    """A mistake in the code."""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_every_job_has_an_outcome_when_the_thread_fails(learning):
    def fail(texts, requests):
        raise DisasterError

    learning.log.append = fail
    held, release = threading.Event(), threading.Event()
    learning.call(lambda: (held.set(), release.wait(30)))
    assert held.wait(30)
    futures = [learning.take(job_of([row])) for row in examples(3)]
    futures.append(learning.call(lambda: "done"))
    release.set()
    learning.join(30)
    futures.append(learning.take(job_of([{}])))  # after its end
    assert [type(future.exception(0)) for future in futures] == [LogError] * 5
    with pytest.raises(LogError, match="Disaster"):
        learning.call(lambda: "done").result(30)
