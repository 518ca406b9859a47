"""A job: stop rules over all partitions, any number of workers, and little that travels."""

import os
import time

import dask.array as da
import numpy as np
import pytest
from dask.delayed import delayed
from scipy.sparse import csr_matrix

from rosenblatt import Perceptron
from rosenblatt.cluster import fit
from rosenblatt.cluster.mixing import pack, unpack
from rosenblatt.learners.linear import LinearLearner

from ..conftest import blobs
from .conftest import cut, same, threads

pytestmark = pytest.mark.cluster


def test_measured_losses_are_of_the_mixed_weights(client):
    X, y = blobs(90, 4)
    settings = {"max_iter": 3, "random_state": 0, "measure": True}
    model = fit(Perceptron(**settings), *cut(X, y, [30, 30, 30]), client=client)
    assert model.history_[-1].errors == np.count_nonzero(model.predict(X) != y)


def test_the_number_of_workers_does_not_matter(client):
    X, y = blobs(300, 6, 3)
    settings = {"solution": "average", "max_iter": 4, "random_state": 1}
    parts = cut(X, y, [25] * 12)  # over one level of the tree
    two = fit(Perceptron(**settings), *parts, client=client)
    for workers in (1, 3):
        with threads(workers) as other:
            assert same(fit(Perceptron(**settings), *parts, client=other), two)


def test_nothing_grows_over_a_hundred_epochs(client):
    """Neither the scheduler's tasks nor a worker's memory: the weights alone are 1 MB each time."""
    random = np.random.default_rng(0)
    columns = random.integers(0, 2**17, (30, 100)).repeat(2, axis=0)
    parts = np.ones(6000, np.float32), columns.ravel(), np.arange(0, 6001, 100)
    X, y = csr_matrix(parts, shape=(60, 2**17)), np.arange(60) % 2  # each row has a clashing twin
    tasks, memory = {}, {}
    resident = lambda: __import__("psutil").Process().memory_info().rss  # noqa: E731  # by value

    def note(done):
        if done.epoch.epoch in (20, 100):
            tasks[done.epoch.epoch] = client.run_on_scheduler(
                lambda dask_scheduler: len(dask_scheduler.tasks)
            )
            memory[done.epoch.epoch] = max(client.run(resident).values())

    model = Perceptron(solution="average", max_iter=100, random_state=0)
    fit(model, *cut(X, y, [20, 20, 20]), client=client, report=note)
    assert model.n_iter_ == 100
    assert tasks[100] <= tasks[20] + 8  # some may still be on their way out
    assert memory[100] < memory[20] + 30e6


def test_rows_are_read_once_and_do_not_travel(client, tmp_path):
    X, y = blobs(90, 4)
    log = str(tmp_path)

    def loaded(block):
        open(f"{log}/{os.getpid()}-{time.time_ns()}", "w").close()
        return block

    dX, dy = cut(X, y, [30, 30, 30])
    counted = da.concatenate(
        [da.from_delayed(delayed(loaded)(b), (30, 4), float) for b in dX.to_delayed().ravel()]
    )
    moved = []

    def note(done):
        moved.append(client.run_on_scheduler(lambda dask_scheduler: sum_of_shards(dask_scheduler)))

    def sum_of_shards(scheduler):
        tasks = scheduler.tasks.items()
        held = [task for key, task in tasks if str(key).startswith("prepare") and task.who_has]
        return [len(task.who_has) for task in held[-3:]]  # others may be on their way out

    model = fit(Perceptron(random_state=0), counted, dy, client=client, report=note)
    assert len(list(tmp_path.iterdir())) == 3
    assert moved == [[1, 1, 1]] * model.n_iter_


def test_only_what_is_not_zero_travels():
    learner = LinearLearner.begin(Perceptron().get_params(), np.array([0, 1]), (2**18, np.float32))
    (state,) = learner.states
    state.weights[[3, 7]] = 1, -2
    sent = pack(state)
    assert sent.nnz == 2
    assert np.array_equal(unpack(state, sent).weights, state.weights)
