"""On a cluster: what is learnt depends on the rows, their partitions and the seed only."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

pytest.importorskip("distributed", reason="needs Dask: pip install 'rosenblatt[dask]'")

import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import pandas
import pyarrow
from dask.delayed import delayed
from distributed import Client, LocalCluster
from pyarrow import parquet
from typer.testing import CliRunner

import rosenblatt
from rosenblatt import Inseparable, Perceptron, Separable, cli, files, margin, radius, storage
from rosenblatt import distributed as cluster
from rosenblatt.distributed import WorkersLostError, fit
from rosenblatt.reading.reader import read

from . import reference
from .conftest import FORMS, blobs, examples, form_parameters


@pytest.fixture(scope="module")
def client():
    """Two workers, each a process."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as processes,
        Client(processes) as client,
    ):
        client.run(lambda: __import__("rosenblatt.distributed"))
        yield client


def threads(workers):
    """A cluster within this process, which starts at once."""
    return Client(n_workers=workers, threads_per_worker=1, processes=False, dashboard_address=":0")


def cut(X, y, lengths):
    """X and y as dask arrays with partitions of these lengths."""
    if hasattr(X, "indptr"):
        rows = np.cumsum([0, *lengths])
        blocks = [
            da.from_delayed(delayed(X[i:j]), (j - i, X.shape[1]), X.dtype, meta=X[:0])
            for i, j in pairwise(rows)
        ]
        dX = da.concatenate(blocks)
    else:
        dX = da.from_array(X, chunks=(tuple(lengths), X.shape[1]))
    return dX, da.from_array(y, chunks=(tuple(lengths),))


def same(one, other):
    """Whether two models are the same to the last bit."""
    assert np.array_equal(one.coef_, other.coef_)
    assert np.array_equal(one.intercept_, other.intercept_)
    assert one.stop_reason_ == other.stop_reason_
    assert [epoch[:4] for epoch in one.history_] == [epoch[:4] for epoch in other.history_]
    assert np.allclose([e.loss for e in one.history_], [e.loss for e in other.history_])
    assert one.n_mistakes_ == other.n_mistakes_
    return True


# One partition, one machine


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("solution", ["last", "average"])
def test_one_partition_is_local(client, form, solution):
    X, y = blobs(120, 6, 2 if form == "two" else 3)
    settings = {"solution": solution, "max_iter": 6, "random_state": 7, **form_parameters(form)}
    local = Perceptron(**settings).fit(X, y)
    assert same(fit(Perceptron(**settings), *cut(X, y, [len(X)]), client=client), local)


@pytest.mark.parametrize(
    "settings",
    [
        {"order": "once", "margin": 0.5, "eta0": 0.1},
        {"order": "fixed", "intercept_step": "radius"},
        {"measure": True, "ties": "positive"},
        {"early_stopping": True, "n_iter_no_change": 2, "solution": "average"},
        {"class_weight": "balanced"},
        {"class_weight": {0: 2.0, 1: 0.5}, "fit_intercept": False},
    ],
    ids=str,
)
def test_one_partition_is_local_with_every_parameter(client, settings):
    X, y = blobs(90, 4)
    y[:20] = 1
    settings = {"max_iter": 5, "random_state": 3, **settings}
    local = Perceptron(**settings).fit(X, y)
    empty = [0, len(X), 0]  # partitions without rows do not count
    assert same(fit(Perceptron(**settings), *cut(X, y, empty), client=client), local)


def test_one_partition_is_local_in_float32_and_csr(client):
    X, y = blobs(80, 5, 3)
    X = csr_matrix(np.where(X > 0, X, 0).astype(np.float32))
    weights = np.linspace(0, 2, 80)
    model = Perceptron(max_iter=4, random_state=0, solution="average")
    local = Perceptron(**model.get_params()).fit(X, y, weights)
    dX, dy = cut(X, y, [80])
    given = da.from_array(weights, chunks=80)
    assert same(fit(model, dX, dy, sample_weight=given, client=client), local)
    assert model.coef_.dtype == np.float32


# Mixing


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mix", ["uniform", "mistakes"])
@pytest.mark.parametrize("solution", ["last", "average"])
def test_mixing_is_its_twin(client, form, mix, solution):
    X, y = blobs(90, 4, 2 if form == "two" else 3)
    lengths = [40, 13, 37]
    settings = {"solution": solution, "max_iter": 4, "random_state": 5, **form_parameters(form)}
    twin = reference.MixedPerceptron(mix=mix, **settings).fit(X, y, lengths)
    model = fit(Perceptron(**settings), *cut(X, y, lengths), mix=mix, client=client)
    np.testing.assert_allclose(model.coef_, twin.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, twin.intercept_, rtol=1e-9, atol=1e-12)


@settings(max_examples=40)
@given(examples(), st.data(), st.sampled_from(["uniform", "mistakes"]))
def test_sums_of_parts_mix_as_the_twin_does(rows, data, mix):
    """The algebra of one epoch after another, without a cluster."""
    X, y = rows
    first = data.draw(st.integers(0, len(X)))
    lengths = [length for length in (first, len(X) - first) if length]
    settings = {"solution": "average", "order": "fixed", "max_iter": 3, "random_state": 0}
    twin = reference.MixedPerceptron(mix=mix, **settings).fit(X, y, lengths)
    solution = mixed_here(X, y, lengths, mix, settings)
    weights, bias = solution.answer()
    np.testing.assert_allclose(weights, twin.coef_[0], atol=1e-12)
    np.testing.assert_allclose(bias, twin.intercept_, atol=1e-12)


def mixed_here(X, y, lengths, mix, settings):
    """The solution that the tasks of a cluster find, called one after the other."""
    stops = np.cumsum(lengths)
    shards = [
        cluster.shard_of(X[stop - length : stop], y[stop - length : stop], None, i, False)
        for i, (stop, length) in enumerate(zip(stops, lengths, strict=True))
    ]
    wishes = cluster.Wishes("mixing", mix, None, None, False)
    found = [cluster.survey(shard) for shard in shards]
    plan = cluster.planned(Perceptron(**settings), found, wishes, False, None)
    shards = [cluster.numbered(shard, i, plan) for i, shard in enumerate(shards)]
    solution = cluster.new_track(plan).solution
    changed, since = None, None
    for epoch in range(1, settings["max_iter"] + 1):
        weights = {0: cluster.weights_at(solution, changed)}
        change = cluster.Change("here", epoch, since, weights)
        reports = [cluster.learn(shard, i, change, plan) for i, shard in enumerate(shards)]
        sums = cluster.add_up(*reports).sums[0]
        changed, since = cluster.mix_into(solution, sums), epoch
        if not any(result.mistakes for result in sums.epochs):
            break
    cluster.forget("here")
    return solution


def test_the_bound_holds_when_all_is_separated(client):
    random = np.random.default_rng(0)
    X, plane = random.normal(size=(400, 5)), random.normal(size=5)
    X = X[np.abs(X @ plane) > 0.5]
    y = np.where(X @ plane > 0, "up", "down")
    for mix in ("uniform", "mistakes"):
        lengths = [50, 70, len(X) - 120]
        model = fit(Perceptron(random_state=0), *cut(X, y, lengths), mix=mix, client=client)
        made = model.mixing_
        assert model.stop_reason_ == "separated"
        assert model.score(X, y) == 1
        assert 0 < made.weighted_mistakes <= made.bound
        assert made.rows == tuple(lengths)
        assert made.rounds[-1].mistakes == (0, 0, 0)
        signs = np.where(y == "up", 1, -1)
        weights, bias = model.coef_[0], model.intercept_
        widest = min(signs * (X @ weights + bias)) / np.hypot(np.linalg.norm(weights), bias[0])
        assert made.margin == pytest.approx(widest)
        assert made.radius == pytest.approx(np.sqrt(radius(X) ** 2 + 1))


def test_measured_losses_are_of_the_mixed_weights(client):
    X, y = blobs(90, 4)
    settings = {"max_iter": 3, "random_state": 0, "measure": True}
    model = fit(Perceptron(**settings), *cut(X, y, [30, 30, 30]), client=client)
    assert model.history_[-1].errors == np.count_nonzero(model.predict(X) != y)


def test_early_stopping_goes_back_to_the_best(client):
    X, y = blobs(300, 4)
    settings = {"max_iter": 30, "random_state": 0, "early_stopping": True, "n_iter_no_change": 2}
    model = fit(Perceptron(**settings), *cut(X, y, [100, 100, 100]), client=client)
    scores = [epoch.validation_score for epoch in model.history_]
    assert model.stop_reason_ == "no_improvement"
    assert np.argmax(scores) == len(scores) - 3
    with pytest.raises(ValueError, match="Partition 1: early_stopping cannot hold rows out"):
        fit(Perceptron(**settings), *cut(X, y, [298, 2]), client=client)


# Sequential


@pytest.mark.parametrize("solution", ["last", "average"])
@pytest.mark.parametrize("form", FORMS)
def test_sequential_is_local(client, solution, form):
    X, y = blobs(90, 5, 2 if form == "two" else 3)
    settings = {"solution": solution, "order": "fixed", "max_iter": 3, **form_parameters(form)}
    local = Perceptron(**settings).fit(X, y)
    parts = cut(X, y, [20, 1, 40, 29])
    assert same(fit(Perceptron(**settings), *parts, mode="sequential", client=client), local)


# Whatever happens to the workers


def test_the_number_of_workers_does_not_matter(client):
    X, y = blobs(300, 6, 3)
    settings = {"solution": "average", "max_iter": 4, "random_state": 1}
    parts = cut(X, y, [25] * 12)  # over one level of the tree
    two = fit(Perceptron(**settings), *parts, client=client)
    for workers in (1, 3):
        with threads(workers) as other:
            assert same(fit(Perceptron(**settings), *parts, client=other), two)


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


@pytest.mark.parametrize("mode", ["mixing", "sequential"])
def test_a_killed_worker_changes_nothing(client, mode):
    X, y = blobs(40_000, 20)
    order = "fixed" if mode == "sequential" else "each"
    settings = {"solution": "average", "order": order, "max_iter": 6, "random_state": 2}
    parts = cut(X, y, [5000] * 8)
    undisturbed = fit(Perceptron(**settings), *parts, mode=mode, client=client)
    killer = Killer(client, epoch=2)
    model = fit(Perceptron(**settings), *parts, mode=mode, client=client, report=killer)
    assert killer.died
    assert same(model, undisturbed)
    assert model.mixing_.weighted_mistakes == undisturbed.mixing_.weighted_mistakes
    client.wait_for_workers(2, timeout=30)


def test_without_workers_there_is_a_sentence_and_the_last_model(tmp_path):
    X, y = blobs(100, 4)
    path = tmp_path / "model.safetensors"
    settings = {"max_iter": 8, "random_state": 0, "solution": "average"}
    parts = cut(X, y, [50, 50])
    with threads(2) as client:

        def close_all(done):
            if done.epoch.epoch == 3:
                client.cluster.scale(0)
                while client.nthreads():
                    time.sleep(0.01)

        with pytest.raises(WorkersLostError, match=r"model after epoch 3 is in .*model\.safe"):
            fit(
                Perceptron(**settings),
                *parts,
                client=client,
                checkpoint=path,
                patience=0.5,
                report=close_all,
            )
    assert len(rosenblatt.load(path).history_) == 3
    with threads(1) as client:
        whole = fit(Perceptron(**settings), *parts, client=client)
        model = Perceptron(**settings)
        resumed = fit(model, *parts, client=client, checkpoint=path, resume=True)
        assert same(resumed, whole)


class LeftError(Exception):
    """A run that is left."""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "settings", [{}, {"early_stopping": True}, {"random_state": None}], ids=str
)
def test_a_restart_goes_on_exactly(tmp_path, form, settings):
    X, y = blobs(200, 4, 2 if form == "two" else 3)
    settings = {"max_iter": 6, "random_state": 4, "solution": "average", **settings}
    settings |= form_parameters(form)
    path, parts = tmp_path / "model", cut(X, y, [60, 60, 80])

    def leave(done):
        if done.epoch.epoch == 3:
            raise LeftError

    with threads(1) as client:
        if form == "ovr" and "early_stopping" in settings:
            with pytest.raises(ValueError, match="cannot be left and resumed"):
                fit(Perceptron(**settings), *parts, client=client, checkpoint=path)
            return
        with pytest.raises(LeftError):
            fit(Perceptron(**settings), *parts, client=client, checkpoint=path, report=leave)
        begun = storage.load(path)
        assert begun.facts["stop_reason"] == "unfinished"
        seed = begun.parameters["random_state"]
        whole = fit(Perceptron(**settings | {"random_state": seed}), *parts, client=client)
        model = Perceptron(**settings)
        assert same(fit(model, *parts, client=client, checkpoint=path, resume=True), whole)
        assert model.mixing_.weighted_mistakes == whole.mixing_.weighted_mistakes
        again = fit(Perceptron(**settings), *parts, client=client, checkpoint=path, resume=True)
        assert same(again, whole)  # nothing was left to do
        assert np.array_equal(rosenblatt.load(path).predict(X), whole.predict(X))
        going_on = {"client": client, "checkpoint": path, "resume": True}
        with pytest.raises(ValueError, match=r"began with margin = 0\.0, not 1"):
            fit(Perceptron(**settings, margin=1.0), *parts, **going_on)
        with pytest.raises(ValueError, match=r"began with partitions = \[60, 60, 80\]"):
            fit(Perceptron(**settings), *cut(X, y, [100, 100]), **going_on)


def test_what_cannot_be_resumed_is_refused(client, tmp_path):
    X, y = blobs(20, 3)
    path = tmp_path / "model"
    Perceptron().fit(X, y).save(path)
    with pytest.raises(ValueError, match="no checkpoint of a cluster"):
        fit(Perceptron(), *cut(X, y, [20]), client=client, checkpoint=path, resume=True)
    with pytest.raises(ValueError, match="resume=True needs checkpoint="):
        fit(Perceptron(), *cut(X, y, [20]), client=client, resume=True)


def test_nothing_grows_over_a_hundred_epochs(client):
    """Neither the scheduler's tasks nor a worker's memory: the weights alone are 1 MB each time."""
    random = np.random.default_rng(0)
    columns = random.integers(0, 2**17, (30, 100)).repeat(2, axis=0)
    parts = np.ones(6000, np.float32), columns.ravel(), np.arange(0, 6001, 100)
    X, y = csr_matrix(parts, shape=(60, 2**17)), np.arange(60) % 2  # each row has a clashing twin
    client.run(cluster.forget, "")  # what runs that failed may have left
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
    assert set(client.run(lambda: len(cluster._held)).values()) == {0}


# What comes in


def test_partitions_of_all_kinds_work_together(client):
    X, y = blobs(90, 4)
    y = np.sort(y)  # so that some partitions have one class only
    X = np.round(X * 4)
    parts = [
        X[:20].astype(np.float32),
        csr_matrix(X[20:50]),
        X[50:50].astype(int),
        X[50:70].astype(int),
        np.asfortranarray(X[70:]),
    ]
    blocks = [
        da.from_delayed(delayed(part), part.shape, part.dtype, meta=np.empty((0, 0)))
        for part in parts
    ]
    settings = {"solution": "average", "max_iter": 4, "random_state": 0}
    mixed = fit(Perceptron(**settings), da.concatenate(blocks), y, client=client)
    plain = fit(Perceptron(**settings), *cut(X, y, [20, 30, 0, 20, 20]), client=client)
    assert same(mixed, plain)
    assert mixed.coef_.dtype == np.float64


def block(rows, width, dtype=float):
    return da.from_delayed(delayed(np.ones((rows, width), dtype)), (rows, 3), float)


@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        (da.concatenate([block(3, 3), block(3, 4)]), [0, 1, 0, 1, 0, 1], "Partition 0 has 3 col"),
        (da.ones((6, 2), chunks=2), [0, 1, 0, 1], "6 rows and y 4"),
        (da.ones((6, 2), chunks=3), [1] * 6, "only one class, 1"),
        (da.ones((6, 2), chunks=3), [0, 1, 0, 1, 0, np.nan], "Partition 1: y contains NaN"),
        (da.ones((0, 2), chunks=3), [], "no rows to learn from"),
        (da.ones((6, 2), chunks=3), None, "y is missing"),
        (da.from_array(np.array([[1, 2], [3, np.inf]]), chunks=1), [0, 1], "infinity"),
        (da.full((4, 1), 1e308, chunks=2), [0, 1, 0, 1], "grew beyond what float64"),
        (da.full((4, 1), "a", chunks=2), [0, 1, 0, 1], "Partition [01]: could not convert"),
    ],
)
def test_bad_input_gets_a_sentence(client, X, y, sentence):
    model = Perceptron(max_iter=3, random_state=0)
    with pytest.raises(ValueError, match=sentence):
        fit(model, X, y if y is None else np.array(y), client=client)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize(
    ("parameters", "wishes", "sentence"),
    [
        ({"solution": "vote"}, {}, "needs all rows in one place"),
        ({"solution": "pocket"}, {}, "needs all rows in one place"),
        ({"order": "worst"}, {}, "chooses among all rows"),
        ({}, {"mode": "sequential"}, 'use order="fixed"'),
        ({"warm_start": True}, {}, "use checkpoint="),
        ({}, {"mode": "both"}, "mode must be 'mixing' or 'sequential'"),
        ({}, {"mix": "both"}, "mix must be 'uniform' or 'mistakes'"),
        ({"margin": -1}, {}, "margin must be"),
        ({}, {"classes": [0, 5]}, "label 1 is not among the classes"),
    ],
)
def test_what_cannot_be_mixed_is_refused(client, parameters, wishes, sentence):
    X, y = blobs(20, 3)
    with pytest.raises(ValueError, match=sentence):
        fit(Perceptron(**parameters), *cut(X, y, [10, 10]), client=client, **wishes)


def test_options_for_files_and_collections_do_not_mix(client):
    X, y = blobs(20, 3)
    with pytest.raises(TypeError, match=r"\['text'\] are options for files"):
        fit(Perceptron(), *cut(X, y, [20]), client=client, text=["a"])
    with pytest.raises(ValueError, match="Files hold their labels"):
        fit(Perceptron(), "rows.svm", y, client=client)
    frame = dd.from_pandas(pandas.DataFrame(X), npartitions=2)
    labels = dd.from_pandas(pandas.Series(y), npartitions=1)
    with pytest.raises(ValueError, match="X has 2 partitions and y 1"):
        fit(Perceptron(), frame, labels, client=client)


def test_there_must_be_a_client(monkeypatch):
    def none():
        raise ValueError

    monkeypatch.setattr(cluster, "get_client", none)
    with pytest.raises(ValueError, match="There is no Dask client"):
        cluster.current_client()


def test_without_dask_there_is_a_sentence():
    script = "import sys; sys.modules['dask'] = None; import rosenblatt.distributed"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "ImportError: rosenblatt.distributed needs Dask" in result.stderr
    assert "pip install 'rosenblatt[dask]'" in result.stderr


def test_columns_in_several_blocks_and_unknown_lengths(client):
    X, y = blobs(60, 4)
    dX, dy = cut(X, y, [30, 30])
    settings = {"max_iter": 3, "random_state": 0}
    expected = fit(Perceptron(**settings), dX, dy, client=client)
    assert same(fit(Perceptron(**settings), dX.rechunk((30, 2)), dy, client=client), expected)
    keep = dy >= 0
    unknown = dX[keep], dy[keep]
    assert np.isnan(unknown[0].chunks[0]).all()
    assert same(fit(Perceptron(**settings), *unknown, client=client), expected)


def test_data_frames_keep_their_names(client):
    X, y = blobs(60, 3)
    table = pandas.DataFrame(X, columns=["a", "b", "c"])
    table["kind"] = np.where(y, "one", "other")
    frame = dd.from_pandas(table, npartitions=3)
    settings = {"max_iter": 3, "random_state": 0}
    model = fit(Perceptron(**settings), frame, "kind", client=client)
    arrays = cut(X, table["kind"].to_numpy(str), [20, 20, 20])
    assert same(model, fit(Perceptron(**settings), *arrays, client=client))
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    predicted = cluster.predict(model, frame[["a", "b", "c"]])
    assert predicted.compute().index.tolist() == table.index.tolist()
    assert cluster.score(model, frame, "kind") == model.score(table[["a", "b", "c"]], table["kind"])


# Files


def rows_file(path, X, y):
    """Rows as svmlight, CSV or Parquet, as the name says."""
    if path.suffix == ".svm":
        lines = [
            f"{label} " + " ".join(f"{j + 1}:{value:.4g}" for j, value in enumerate(x) if value > 0)
            for x, label in zip(X, y, strict=True)
        ]
        path.write_text("".join(f"{line}\n" for line in lines))
    else:
        table = pandas.DataFrame(X.round(3), columns=[f"c{j}" for j in range(X.shape[1])])
        table["kind"] = np.where(y, "one", "other")
        if path.suffix == ".csv":
            table.to_csv(path, index=False)
        else:
            parquet.write_table(pyarrow.Table.from_pandas(table), path)
    return path


@pytest.fixture(params=["svm", "csv", "parquet"])
def folder(request, tmp_path):
    """A folder with three files, of 30, 50 and 40 rows."""
    X, y = blobs(120, 4)
    for number, part in enumerate(np.split(np.arange(120), [30, 80])):
        rows_file(tmp_path / f"part-{number}.{request.param}", X[part], y[part])
    return tmp_path


def test_files_are_partitions_however_they_are_named(client, folder):
    paths = sorted(map(str, folder.iterdir()))
    settings = {"solution": "average", "max_iter": 3, "random_state": 0}
    model = fit(Perceptron(**settings), paths, client=client)
    assert model.mixing_.rows == (30, 50, 40)
    ways = [f"{folder}/part-*", folder, db.from_sequence(paths, npartitions=3)]
    assert all(same(fit(Perceptron(**settings), way, client=client), model) for way in ways)
    grouped = fit(Perceptron(**settings), db.from_sequence(paths, npartitions=1), client=client)
    assert grouped.mixing_.rows == (120,)
    assert cluster.score(model, paths) == pytest.approx(np.mean([*predicted_right(model, paths)]))
    assert len(cluster.predict(model, paths).compute()) == 120


def predicted_right(model, paths):
    """Whether each row of files comes out right."""
    for path in paths:
        X, y = files.matrix_and_labels(read(path))
        yield from model.predict(X) == y


def test_one_file_is_what_the_local_command_learns(client, folder):
    path = sorted(folder.iterdir())[0]
    lesson = files.Lesson("average", "each", 3, seed=5)
    local = files.train(read(path), lesson)
    model = Perceptron(solution="average", max_iter=3, random_state=5)
    fit(model, path, client=client)
    weights, bias = local.solutions[0].answer()
    assert np.array_equal(model.coef_[0], weights)
    assert np.array_equal(model.intercept_, bias)


@pytest.mark.parametrize("epochs", [1, 2])
def test_sequential_files_are_a_local_stream(client, tmp_path, epochs):
    X, y = blobs(120, 4)
    whole = rows_file(tmp_path / "whole.svm", X, y)
    paths = [
        rows_file(tmp_path / f"part-{number}.svm", X[part], y[part])
        for number, part in enumerate(np.split(np.arange(120), [30, 31, 80]))
    ]
    lesson = files.Lesson("average", "fixed", epochs)
    local = files.train_as_stream(read(whole), lesson, files.Watch())
    model = Perceptron(solution="average", order="fixed", max_iter=epochs)
    fit(model, paths, mode="sequential", client=client)
    assert np.array_equal(model.coef_[0], local.solutions[0].answer()[0])
    assert model.mixing_.rows == (30, 1, 49, 40)


def test_streams_grow_wider_and_know_late_labels(client, tmp_path):
    """Files read in one pass: new columns and new labels may come at any time."""
    rows = {
        "a.svm": "1 1:1\n0 2:1\n" * 50,
        "b.svm": "0 1:-1 9:1\n1 2:-1\n" * 50,
        "late.svm": "1 1:1\n" * 30_000 + "2 20:1\n",
    }
    for name, text in rows.items():
        (tmp_path / name).write_text(text)
    settings = {"order": "fixed", "max_iter": 1}
    for names, width in [(["a.svm", "b.svm"], 9), (list(rows), 20)]:
        paths = [tmp_path / name for name in names]
        model = fit(Perceptron(**settings), paths, client=client, batch_bytes=1000)
        assert model.n_features_in_ == width
        parts = [files.matrix_and_labels(read(path)) for path in paths]
        twin = reference.MixedPerceptron(**settings)
        X = np.vstack([np.pad(X.toarray(), ((0, 0), (0, width - X.shape[1]))) for X, _ in parts])
        twin.fit(X, np.concatenate([y for _, y in parts]), [len(y) for _, y in parts])
        np.testing.assert_allclose(model.coef_, twin.coef_, atol=1e-6)
    with pytest.raises(ValueError, match="label 2"):
        fit(Perceptron(**settings), paths, client=client, batch_bytes=1000, classes=[0, 1])


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
        held = [task for key, task in tasks if "perceptron-prepare" in str(key) and task.who_has]
        return [len(task.who_has) for task in held[-3:]]  # others may be on their way out

    model = fit(Perceptron(random_state=0), counted, dy, client=client, report=note)
    assert len(list(tmp_path.iterdir())) == 3
    assert moved == [[1, 1, 1]] * model.n_iter_


def test_only_what_changed_travels(client):
    """Rows that touch few of many weights: far less than the weights, each way."""
    random = np.random.default_rng(0)
    columns = random.integers(0, 2**18, (200, 10))
    parts = np.ones(2000, np.float32), columns.ravel(), np.arange(0, 2001, 10)
    X, y = csr_matrix(parts, shape=(200, 2**18)), random.integers(0, 2, 200)
    model = Perceptron(solution="average", max_iter=3, random_state=0)
    fit(model, *cut(X, y, [50] * 4), client=client)
    everything = (2 + 4) * 2**18 * 4  # down to two workers, up from four partitions
    assert all(done.bytes_moved < everything / 5 for done in model.mixing_.rounds)
    dense = fit(Perceptron(max_iter=2, random_state=0), *cut(*blobs(200, 3), [50] * 4))
    assert dense.mixing_.rounds[0].bytes_moved > 0


# Predicting and proving


def test_predictions_stay_where_the_rows_are(client):
    X, y = blobs(90, 4, 3)
    model = Perceptron(solution="vote", random_state=0, max_iter=3).fit(X, y)
    dX, dy = cut(X, y, [30, 0, 60])
    predicted = cluster.predict(model, dX)
    assert predicted.chunks == ((30, 0, 60),)
    assert np.array_equal(predicted.compute(), model.predict(X))
    assert cluster.score(model, dX, dy) == model.score(X, y)
    with pytest.raises(ValueError, match="no rows to score"):
        cluster.score(model, dX[:0], dy[:0])


@pytest.mark.parametrize("layout", [np.asarray, csr_matrix])
def test_separability_of_all_partitions_is_proved(client, layout, monkeypatch):
    monkeypatch.setattr(cluster, "HARD_ROWS", 10)
    random = np.random.default_rng(0)
    X = np.round(random.normal(size=(600, 3)) * 8)
    y = np.where(X @ [1, 2, -1] > 0.5, "a", "b")
    verdict = cluster.separability(*cut(layout(X), y, [100, 200, 300]), client=client)
    assert isinstance(verdict, Separable)
    assert verdict.verify(X, y)
    assert verdict.margin == pytest.approx(margin(X, y, np.array(verdict.weights), verdict.bias))
    y[[5, 599]] = y[[599, 5]]
    clash = cluster.separability(*cut(layout(X), y, [100, 200, 300]), client=client)
    assert isinstance(clash, Inseparable)
    assert clash.verify(X, y)
    with pytest.raises(ValueError, match="3 classes"):
        cluster.separability(*cut(X, np.arange(600) % 3, [300, 300]), client=client)


# What is said, and the shell


def test_a_line_per_epoch(client, capsys, monkeypatch):
    X, y = blobs(60, 4)
    model = Perceptron(max_iter=2, random_state=0, verbose=1)
    fit(model, *cut(X, y, [30, 30]), client=client)
    lines = capsys.readouterr().out.splitlines()
    assert lines == [cluster.line_of(done) for done in model.mixing_.rounds]
    assert all("per shard" in line and "MB moved" in line for line in lines)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    fit(model, *cut(X, y, [30, 30]), client=client)
    assert "epoch    2" in capsys.readouterr().out


def test_tasks_have_names_to_read(client):
    names = set()
    X, y = blobs(60, 4)

    def note(done):
        names.update(
            client.run_on_scheduler(lambda dask_scheduler: [*dask_scheduler.task_prefixes])
        )

    fit(Perceptron(max_iter=2), *cut(X, y, [30, 30]), client=client, report=note)
    assert {"perceptron-prepare", "perceptron-learn", "perceptron-mix"} <= names


@pytest.mark.parametrize("way", ["address", "file", "local:1"])
def test_the_command_trains_on_a_cluster(client, tmp_path, way):
    X, y = blobs(120, 4)
    for number, part in enumerate(np.split(np.arange(120), 3)):
        rows_file(tmp_path / f"part-{number}.csv", X[part], y[part])
    (tmp_path / "scheduler.json").write_text(json.dumps({"address": client.scheduler.address}))
    where = {"address": client.scheduler.address, "file": str(tmp_path / "scheduler.json")}
    model = tmp_path / "model"
    command = ["train", f"{tmp_path}/part-*.csv", "--cluster", where.get(way, way), "--epochs", "2"]
    command += ["--test", f"{tmp_path}/part-0.csv", "-o", str(model), "--checkpoint", "0"]
    result = CliRunner().invoke(cli.app, command, catch_exceptions=False)
    assert "120 rows, 4 features, 2 classes" in result.output
    assert "per shard" in result.output
    settings = {"solution": "average", "max_iter": 2, "random_state": 0}
    expected = fit(Perceptron(**settings), f"{tmp_path}/part-*.csv", client=client)
    assert np.array_equal(rosenblatt.load(model).coef_, expected.coef_)
    told = CliRunner().invoke(cli.app, ["predict", str(model), f"{tmp_path}/part-0.csv"])
    assert len(told.output.splitlines()) == 40


def test_the_command_speaks_json_and_refuses(client, tmp_path):
    X, y = blobs(60, 4)
    path = rows_file(tmp_path / "rows.svm", X, y)
    command = ["train", str(path), "--epochs", "2", "--cluster", client.scheduler.address]
    output = CliRunner().invoke(cli.app, [*command, "--json"], catch_exceptions=False).output
    first, *_, last = map(json.loads, output.splitlines())
    assert first["event"] == "epoch"
    assert first["mistakes_per_shard"] == [first["mistakes"]]
    assert first["bytes_moved"] > 0
    assert last["event"] == "done"
    for option in (["--window", "5"], ["--holdout", "0.2"], ["--cache"]):
        with pytest.raises(ValueError, match=f"{option[0]} does not go with --cluster"):
            CliRunner().invoke(cli.app, [*command, *option], catch_exceptions=False)
    for where in ("nowhere", "local:many"):
        with pytest.raises(ValueError, match=f"--cluster {where} is no"):
            cluster.connected(where)


def test_a_client_need_not_be_the_default():
    X, y = blobs(40, 3)
    one = Client(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        dashboard_address=":0",
        set_as_default=False,
    )
    try:
        model = fit(Perceptron(random_state=0), *cut(X, y, [20, 20]), client=one)
    finally:
        one.close()
    assert model.n_iter_ > 0
