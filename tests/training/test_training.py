"""The outer loop: how a run ends, what it tells, and how it goes on after a break."""

import numpy as np
import pytest

from rosenblatt import Epoch
from rosenblatt.kernels.loop import UPDATE
from rosenblatt.training.training import Part, ProblemRun, SweepResult, Training

# The loop knows only what a task promises


class Memory:
    """A state that remembers which rows it was shown, and how wide it was made."""

    def __init__(self):
        self.rows, self.width = [], 0

    def widen(self, width):
        self.width = max(self.width, width)

    def stop_reason(self, clean):
        return "separated" if clean else ""

    def sweep(self, task, order, most):
        position = 0
        while position < len(order):
            learnt = task.learn(self, order, position, most)
            position = learnt.position
            yield learnt


class Remembering:
    """A task whose every new row is a mistake."""

    def __init__(self, first, count, width=1):
        self.row_order = np.arange(count, dtype=np.uint32)
        self.first, self.width = first, width

    def learn(self, state, order, start, most=None):
        stop = min(start + (most or 2), len(order))
        fresh = [t for t in range(start, stop) if self.first + order[t] not in state.rows]
        state.rows += [self.first + int(order[t]) for t in fresh]
        updates = np.zeros(len(fresh), UPDATE)
        updates["position"] = fresh
        return SweepResult(stop, updates, stop - start, len(fresh), len(fresh), 0.25 * len(fresh))


def two_parts():
    return [Part.of(Remembering(0, 5, width=3)), Part.of(Remembering(5, 4, width=7))]


def run_of(parts, max_iter, **options):
    """A run of one problem that begins with an empty memory."""
    return Training(parts, [ProblemRun(state=Memory())], max_iter, **options)


def record(problem):
    return problem.epochs, problem.stop_reason, problem.best_epoch


def test_a_run_goes_over_all_parts_until_an_epoch_is_clean():
    run = run_of(two_parts, 9)
    assert run.train() is run
    assert run.epochs == [Epoch(1, 9, 9, 9, 2.25), Epoch(2, 9, 0, 0, 0.0)]
    assert run.stop_reason == "separated"
    (outcome,) = run.states
    assert outcome.rows == list(range(9))
    assert outcome.width == 7


# Several problems over the same rows


class Slow(Memory):
    """A memory that takes in so many rows in an epoch."""

    def __init__(self, pace):
        super().__init__()
        self.pace, self.room, self.shown = pace, pace, 0

    def sweep(self, task, order, most):
        self.room, self.shown = self.pace, self.shown + len(order)
        new = [row for row in order if task.first + row not in self.rows]
        yield from super().sweep(task, np.setdiff1d(order, new[self.pace :]), most)


def paces(*each):
    return [ProblemRun(state=Slow(pace)) for pace in each]


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_a_problem_that_is_done_rests_while_the_others_learn(threads):
    part = Part(lambda _: Remembering(0, 6), np.arange(6, dtype=np.uint32))
    run = Training(lambda: [part], paces(6, 2, 3, 6), 9, threads=threads).train()
    assert [len(problem.epochs) for problem in run.problems] == [2, 4, 3, 2]
    assert [problem.state.shown for problem in run.problems] == [12, 24, 18, 12]
    assert [epoch.mistakes for epoch in run.epochs] == [17, 5, 2, 0]
    assert (run.stop_reason, run.active) == ("separated", [])


def test_early_stopping_is_of_each_problem():
    scores = {0: [0.5, 0.4, 0.3], 1: [0.1, 0.2, 0.3]}
    asked = []

    def validate(numbers):
        asked.append(numbers)
        return {number: scores[number][len(asked) - 1] for number in numbers}

    part = Part(lambda _: Remembering(0, 6), np.arange(6, dtype=np.uint32))
    run = Training(lambda: [part], paces(1, 1), 3, 1, validate=validate).train()
    assert asked == [[0, 1], [0, 1], [1]]
    assert [len(outcome.rows) for outcome in run.states] == [1, 3]
    assert [epoch.validation_score for epoch in run.epochs] == pytest.approx([0.3, 0.3, 0.3])
    assert run.stop_reason == "max_iter"


# Leaving and resuming


@pytest.mark.parametrize("after", range(1, 6))
@pytest.mark.parametrize("order", ["each", "active"])
@pytest.mark.parametrize("each", [(6,), (6, 1, 2)])
def test_a_run_that_was_left_goes_on_as_if_it_had_not_been(after, order, each):
    count = 1 if order == "active" else 2
    sizes = [(0, 5), (5, 4)][:count]

    def parts():
        return [
            Part(lambda _, size=size: Remembering(*size), np.arange(size[1], dtype=np.uint32))
            for size in sizes
        ]

    def leave(run):
        if len(run.epochs) * count + run.done == after:
            raise KeyboardInterrupt

    options = {"order": order, "seed": 3}
    whole = Training(parts, paces(*each), 4, **options).train()
    broken = Training(parts, paces(*each), 4, **options, after_part=leave)
    try:
        broken.train()
    except KeyboardInterrupt:
        left, states = broken.checkpoint(), [problem.state for problem in broken.problems]
        broken = Training(parts, [ProblemRun(state=state) for state in states], 4, **options)
        broken.resume(left)
        broken.train()
    assert [*map(record, broken.problems)] == [*map(record, whole.problems)]
    assert [one.rows for one in broken.states] == [one.rows for one in whole.states]


@pytest.mark.parametrize("max_iter", [1, 2, 4])
@pytest.mark.parametrize("after", [1, 2])
def test_a_run_that_was_left_after_its_last_epoch_is_over(after, max_iter):
    def leave(epoch):
        if epoch.epoch == after:
            raise KeyboardInterrupt

    whole = run_of(two_parts, max_iter).train()
    broken = run_of(two_parts, max_iter, after_epoch=leave)
    if after > len(whole.epochs):
        return
    with pytest.raises(KeyboardInterrupt):
        broken.train()
    again = Training(two_parts, [ProblemRun(state=broken.problems[0].state)], max_iter)
    again.resume(broken.checkpoint())
    assert record(again.train().problems[0]) == record(whole.problems[0])


def test_the_best_state_outlives_a_break():
    def leave(epoch):
        if epoch.epoch == 2:
            raise KeyboardInterrupt

    scores = iter([0.1, 0.9])
    run = run_of(two_parts, 3, validate=lambda _: {0: next(scores)}, after_epoch=leave)
    again = run_of(two_parts, 3, validate=lambda _: {0: 0.5})
    for one in (run, again):
        one.problems[0].state.stop_reason = lambda clean: ""
    with pytest.raises(KeyboardInterrupt):
        run.train()
    (left,) = run.checkpoint().problems
    assert (left.best_score, left.best_epoch) == (0.9, 2)
    again.resume(run.checkpoint())
    assert again.train().states == [left.best]
