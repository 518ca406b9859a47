"""Whatever happens to the workers: the result is the same, or there is a sentence."""

import asyncio
import os
import signal
import threading
import time

import numpy as np
import pytest
from distributed import Client

import rosenblatt
from rosenblatt import Perceptron
from rosenblatt.cluster import WorkersLostError, client as cluster, fit
from rosenblatt.parameters import ParameterError

from ..conftest import blobs
from .conftest import cut, same, threads

pytestmark = pytest.mark.cluster


class Killer:
    """Kills a worker with SIGKILL shortly after an epoch began."""

    def __init__(self, client, epoch):
        self.client, self.epoch = client, epoch
        self.died = False

    def __call__(self, done):
        if done.epoch.epoch == self.epoch:
            first, *_ = self.client.run(os.getpid).values()
            threading.Timer(0.01, self.kill, [first]).start()

    def kill(self, pid):
        os.kill(pid, signal.SIGKILL)
        self.died = True


@pytest.mark.parametrize("partitions", [1, 8])
def test_a_killed_worker_changes_nothing(client, partitions):
    X, y = blobs(40_000, 20)
    settings = {"solution": "average", "max_iter": 6, "random_state": 2}
    parts = cut(X, y, [40_000 // partitions] * partitions)
    undisturbed = fit(Perceptron(**settings), *parts, client=client)
    killer = Killer(client, epoch=2)
    model = fit(Perceptron(**settings), *parts, client=client, report=killer)
    assert killer.died
    assert same(model, undisturbed)
    mistakes = [[one.mistakes for one in each.mixing_.rounds] for each in (model, undisturbed)]
    assert mistakes[0] == mistakes[1]
    client.wait_for_workers(2, timeout=30)


def test_without_workers_there_is_a_sentence_and_the_last_model(tmp_path):
    path = tmp_path / "model.safetensors"
    settings = {"max_iter": 8, "random_state": 0, "solution": "average"}
    parts = cut(*blobs(100, 4), [50, 50])
    with threads(2) as client:

        def close_all(done):
            if done.epoch.epoch == 3:
                lose_workers(client)

        given = {"client": client, "checkpoint": path, "patience": 0.5, "report": close_all}
        with pytest.raises(WorkersLostError, match=r"model after epoch 3 is in .*model\.safe"):
            fit(Perceptron(**settings), *parts, **given)
    kept = rosenblatt.load(path)
    assert (len(kept.history_), kept.stop_reason_) == (3, "unfinished")
    with threads(1) as client:
        same = fit(Perceptron(**settings | {"max_iter": 3}), *parts, client=client)
    assert np.array_equal(kept.coef_, same.coef_)


def lose_workers(client):
    """End all workers."""
    client.cluster.scale(0)
    while client.nthreads():
        time.sleep(0.01)


def test_results_whose_workers_are_gone_are_not_waited_for_for_ever():
    with threads(1) as client:
        found = cluster.Cluster(client, patience=0.2)
        task = client.submit(sum, [1, 2])
        assert found.get_results([task]) == [3]
        lose_workers(client)  # after the task is done, before its result is fetched
        with pytest.raises(WorkersLostError, match="no worker came back"):
            found.get_results([task])


def test_weights_are_not_sent_for_ever_to_a_worker_that_is_gone(monkeypatch):
    released = []

    async def send(values, **_):
        while not values.keys() <= set(released):
            await asyncio.sleep(0.1)

    with threads(1) as client:
        found = cluster.Cluster(client)
        assert found.share({"a": 1}).result() == {"a": 1}
        seen = iter([{"one", "two"}, {"one", "two", "three"}])
        monkeypatch.setattr(client, "scatter", send)
        monkeypatch.setattr(client, "nthreads", lambda: next(seen, {"two", "three"}))
        monkeypatch.setattr(client, "_release_key", released.append)
        with pytest.raises(TimeoutError):
            found.share({"a": 1})
        monkeypatch.undo()


def test_there_must_be_a_client(monkeypatch):
    def none():
        raise ValueError

    monkeypatch.setattr(cluster, "get_client", none)
    with pytest.raises(ValueError, match="There is no Dask client"):
        cluster.Cluster()


def test_a_client_need_not_be_the_default():
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False}
    with Client(**options, dashboard_address=":0", set_as_default=False) as one:
        model = fit(Perceptron(random_state=0), *cut(*blobs(40, 3), [20, 20]), client=one)
    assert model.n_iter_ > 0


def test_workers_that_never_come_are_told_before_the_first_epoch():
    with threads(1) as client:
        lose_workers(client)
        with pytest.raises(WorkersLostError, match="lost before the first epoch: no worker came"):
            fit(Perceptron(), *cut(*blobs(20, 3), [10, 10]), client=client, patience=0.2)


@pytest.mark.parametrize("where", ["nowhere", "tcp://", "x:y", "", "local:many", "local:0"])
def test_an_address_that_is_none_gets_a_sentence(where, monkeypatch):
    monkeypatch.setattr(cluster, "Client", None)  # nothing is connected to
    with pytest.raises(ParameterError, match=f"cluster='{where}' must be local:N"):
        cluster.connect(where)


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "[]", '{"address": 1}', '{"other": "here"}'])
def test_a_file_that_names_no_scheduler_gets_a_sentence(text, tmp_path):
    path = tmp_path / "scheduler.json"
    path.write_text(text)
    with pytest.raises(ParameterError, match=r"scheduler's file: .*[^.]\.$"):
        cluster.connect(str(path))
