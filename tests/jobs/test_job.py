"""What the jobs of all kinds of data share."""

from types import SimpleNamespace

import pytest

from rosenblatt.jobs import files, job
from rosenblatt.jobs.job import Checkpointer
from rosenblatt.reading.reader import read
from rosenblatt.training.plan import Request


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


@pytest.mark.parametrize("parameters", [{}, {"max_iter": 1}, {"early_stopping": True}])
def test_a_training_is_planned_once_and_completed_once(monkeypatch, parameters):
    rows = [{"size": k % 13, "kind": "ab"[k % 13 > 6]} for k in range(90)]
    made, make_plan = [], job.make_plan
    monkeypatch.setattr(job, "make_plan", lambda *given: made.append(make_plan(*given)) or made[0])
    model = files.train(read(rows, label="kind"), Request(parameters=parameters))
    assert len(made) == 1
    assert "intercept_step" in made[0].unresolved
    assert model.parameters["intercept_step"] is not None
