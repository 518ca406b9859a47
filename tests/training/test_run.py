"""The outer loop: how a run ends, what it tells, and how it goes on after a break."""

import numpy as np
import pytest

from rosenblatt import Epoch, Perceptron
from rosenblatt.kernels.linear import UPDATE
from rosenblatt.training.history import History
from rosenblatt.training.run import Run, losses
from rosenblatt.training.tasks import Learnt


def test_a_clean_pass_ends_the_run_and_says_so():
    X, y = np.array([[1.0], [-1.0]]), [1, 0]
    model = Perceptron(order="fixed").fit(X, y)
    assert (model.stop_reason_, model.n_iter_) == ("separated", len(model.history_))
    assert [epoch.mistakes for epoch in model.history_] == [2, 0]


def test_a_run_that_never_ends_stops_at_max_iter():
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    model = Perceptron(max_iter=7).fit(X, [0, 1, 1, 0])
    assert (model.stop_reason_, model.n_iter_) == ("max_iter", 7)


def test_measuring_ends_a_run_without_another_clean_pass():
    X, y = np.array([[1.0], [-1.0]]), [1, 0]
    met, measured = Perceptron(order="fixed").fit(X, y), Perceptron(order="fixed", measure=True)
    measured.fit(X, y)
    assert measured.stop_reason_ == met.stop_reason_ == "separated"
    assert measured.n_iter_ == met.n_iter_ - 1
    assert (measured.history_[-1].errors, measured.history_[-1].loss) == (0, 0)


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
        self.everything = np.arange(count, dtype=np.uint32)
        self.first, self.width = first, width

    def learn(self, state, order, start, most=None):
        stop = min(start + (most or 2), len(order))
        fresh = [t for t in range(start, stop) if self.first + order[t] not in state.rows]
        state.rows += [self.first + int(order[t]) for t in fresh]
        updates = np.zeros(len(fresh), UPDATE)
        updates["position"] = fresh
        return Learnt(stop, updates, len(fresh), 0.25 * len(fresh), stop - start)

    def margins(self, state):
        return np.array([1.0 if self.first + i in state.rows else -1.0 for i in self.everything])

    def required(self):
        return np.zeros(len(self.everything))


def two_parts():
    return [Remembering(0, 5, width=3), Remembering(5, 4, width=7)]


def test_a_run_goes_over_all_parts_until_an_epoch_is_clean():
    run = Run(two_parts, Memory(), History(9))
    assert run.train() is run
    assert run.history.epochs == [Epoch(1, 9, 9, 9, 2.25), Epoch(2, 9, 0, 0, 0.0)]
    assert run.history.stop_reason == "separated"
    assert run.outcome.rows == list(range(9))
    assert run.state.width == 7


def test_updates_are_seen_as_they_are_made():
    run, seen = Run(two_parts, Memory(), History(9), updates_at_once=1), []
    for order, learnt in run.updates():
        rows = order[learnt.updates["position"]]
        seen.extend((run.epoch, run.part, int(row)) for row in rows)
        assert len(run.state.rows) == len(seen)
    assert seen == [*((1, 0, i) for i in range(5)), *((1, 1, i) for i in range(4))]


@pytest.mark.parametrize("order", ["each", "once", "fixed", "worst"])
def test_orders_take_any_task(order):
    run = Run(lambda: [Remembering(0, 6)], Memory(), History(20), order=order, seed=1).train()
    assert run.history.stop_reason == "separated"
    assert sorted(run.state.rows) == list(range(6))


def test_losses_of_the_weights_as_they_are_end_a_run_at_once():
    run = Run(lambda: [Remembering(0, 6)], Memory(), History(9), measure=True).train()
    assert run.history.epochs == [Epoch(1, 6, 6, 0, 0.0)]
    assert losses(Remembering(0, 2), Memory()) == (2, 2.0, False)


def test_parts_and_epochs_are_told():
    told = []
    run = Run(
        two_parts,
        Memory(),
        History(2),
        after_part=lambda run: told.append((run.epoch, run.done)),
        after_epoch=told.append,
    ).train()
    first, second = run.history.epochs
    assert told == [(1, 1), (1, 2), first, (2, 1), (2, 2), second]


@pytest.mark.parametrize("after", range(1, 6))
@pytest.mark.parametrize("order", ["each", "active"])
def test_a_run_that_was_left_goes_on_as_if_it_had_not_been(after, order):
    count = 1 if order == "active" else 2

    def parts():
        return [Remembering(0, 5), Remembering(5, 4)][:count]

    def leave(run):
        if len(run.history.epochs) * count + run.done == after:
            raise KeyboardInterrupt

    whole = Run(parts, Memory(), History(4), order, 3).train()
    broken = Run(parts, Memory(), History(4), order, 3, after_part=leave)
    try:
        broken.train()
    except KeyboardInterrupt:
        left = broken.checkpoint()
        state, epochs = broken.state, list(broken.history.epochs)
        broken = Run(parts, state, History(4, epochs=epochs), order, 3)
        broken.resume(left)
        broken.train()
    assert broken.history == whole.history
    assert broken.state.rows == whole.state.rows


@pytest.mark.parametrize("max_iter", [1, 2, 4])
@pytest.mark.parametrize("after", [1, 2])
def test_a_run_that_was_left_after_its_last_epoch_is_over(after, max_iter):
    def leave(epoch):
        if epoch.epoch == after:
            raise KeyboardInterrupt

    whole = Run(two_parts, Memory(), History(max_iter)).train()
    broken = Run(two_parts, Memory(), History(max_iter), after_epoch=leave)
    if after > len(whole.history.epochs):
        return
    with pytest.raises(KeyboardInterrupt):
        broken.train()
    again = Run(two_parts, broken.state, History(max_iter, epochs=broken.history.epochs))
    again.resume(broken.checkpoint())
    assert again.train().history == whole.history


def test_the_best_state_outlives_a_break():
    scores = iter([0.1, 0.9, 0.5])
    run = Run(two_parts, Memory(), History(3), validate=lambda state: next(scores))
    run.state.stop_reason = lambda clean: ""
    run.history.patience = 9
    for _ in run.updates():
        pass
    left = run.checkpoint()
    assert (left.best_score, left.best_epoch) == (0.9, 2)
    again = Run(two_parts, Memory(), History(3))
    again.resume(left)
    assert again.outcome is left.best
