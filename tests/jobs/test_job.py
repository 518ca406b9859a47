"""What the jobs of all kinds of data share."""

from types import SimpleNamespace

from rosenblatt.jobs import job
from rosenblatt.jobs.job import Checkpointer


def test_checkpoints_are_written_when_they_are_due(monkeypatch):
    saved, clock = [], SimpleNamespace(perf_counter=lambda: now)
    monkeypatch.setattr(job, "time", clock)
    monkeypatch.setattr(job, "save_model", lambda path, model: saved.append((path, model)))
    now = 100.0
    checkpointer = Checkpointer("model", 10, now)
    for second in range(35):
        now = 100.0 + second
        checkpointer.offer(lambda second=second: second)
    assert saved == [("model", 10), ("model", 20), ("model", 30)]
