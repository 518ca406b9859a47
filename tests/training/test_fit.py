"""A whole training by its plan: what is saved on the way, and what the model says."""

from types import SimpleNamespace

import pytest

from rosenblatt.training.fit import fit
from rosenblatt.training.plan import IN_MEMORY_ROWS, Request, make_plan
from rosenblatt.training.report import Listener
from rosenblatt.training.training import Part

from .test_training import Memory, Remembering

PLAN = make_plan(Request("perceptron", {"max_iter": 3, "order": "fixed"}), IN_MEMORY_ROWS).complete(
    1.0
)


class Learner:
    """Makes runs that remember rows, and models that are the facts."""

    def __init__(self):
        self.states = [Memory()]

    def finish(self, states):
        self.states = states

    def to_model(self, facts, history, checkpoint):
        return SimpleNamespace(facts=facts, history=list(history), checkpoint=checkpoint)


class Source:
    """Two parts of four rows each; or one part, in memory."""

    def __init__(self, in_memory):
        self.in_memory, self.reported = in_memory, 0
        self.tasks = [Part.of(Remembering(0, 4))]
        if not in_memory:
            self.tasks.append(Part.of(Remembering(4, 4)))

    def parts(self, learner, run):
        return iter(self.tasks)

    def report_part(self, run):
        self.reported += 1

    def facts(self, learner, run):
        return {"rows": run.count.rows, "plain": True}


class Offers:
    """Takes every unfinished model."""

    def __init__(self):
        self.models = []

    def offer(self, unfinished):
        self.models.append(unfinished())


@pytest.mark.parametrize("in_memory", [True, False])
def test_unfinished_models_are_offered_after_epochs_or_parts(in_memory):
    source, learner, offers, epochs = Source(in_memory), Learner(), Offers(), []
    reporter = Listener()
    reporter.epoch = epochs.append
    run = fit(PLAN, source, learner, reporter, {"origin": "here"}, checkpointer=offers)
    assert [epoch.epoch for epoch in epochs] == [1, 2]
    assert run.stop_reason == "separated"  # the second epoch has no mistake
    assert source.reported == (0 if in_memory else 4)
    assert len(offers.models) == (1 if in_memory else 4)
    for model in offers.models:
        assert model.facts["stop_reason"] == "unfinished"
        assert model.facts["origin"] == "here"
        assert model.checkpoint is not None
    assert sorted(learner.states[0].rows) == list(range(4 if in_memory else 8))
