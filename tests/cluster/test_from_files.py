"""The command: train --cluster."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import rosenblatt
from rosenblatt import AROW, Perceptron, PRank
from rosenblatt.cluster import fit
from rosenblatt.cluster.fitting import train
from rosenblatt.jobs.job import FileJob
from rosenblatt.parameters import LINEAR, ParameterError, parameters_for_files
from rosenblatt.reading.reader import read
from rosenblatt.shell.app import app
from rosenblatt.storage.file import load_model
from rosenblatt.training.plan import Request, usual_bias_step

from ..conftest import blobs
from .conftest import rows_file

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize("way", ["address", "file", "local:1"])
def test_the_command_trains_on_a_cluster(client, three_files, tmp_path, way):
    (tmp_path / "scheduler.json").write_text(json.dumps({"address": client.scheduler.address}))
    where = {"address": client.scheduler.address, "file": str(tmp_path / "scheduler.json")}
    model = tmp_path / "model"
    command = ["train", three_files, "--cluster", where.get(way, way), "--epochs", "2"]
    command += ["--test", f"{tmp_path}/part-0.csv", "-o", str(model), "--checkpoint", "0"]
    command += ["--set", "intercept_step=1", "--rule", "perceptron"]
    result = CliRunner().invoke(app, command, catch_exceptions=False)
    assert "120 rows, 4 features, 2 classes" in result.output
    assert [line.split()[1] for line in result.output.splitlines()[:2]] == ["1", "2"]
    settings = {"solution": "average", "max_iter": 2, "random_state": 0}
    settings["intercept_step"] = rosenblatt.load(model)[-1].intercept_step
    expected = fit(Perceptron(**settings), three_files, client=client)
    assert np.array_equal(rosenblatt.load(model)[-1].coef_, expected.coef_)
    told = CliRunner().invoke(app, ["predict", str(model), f"{tmp_path}/part-0.csv"])
    assert len(told.output.splitlines()) == 40


def test_ranks_are_refused_before_files_are_read():
    job = FileJob(Request(ordinal=("low", "high")))
    with pytest.raises(ParameterError) as refused:
        train("none.csv", {}, job, "local:1")
    assert refused.value.code == "cluster-ranks"
    with pytest.raises(TypeError, match="PRank cannot be trained on a cluster"):
        fit(PRank(), np.eye(2), [0, 1])


def test_the_command_speaks_json_and_refuses(client, tmp_path):
    X, y = blobs(60, 4)
    path = rows_file(tmp_path / "rows.svm", X, y)
    command = ["train", str(path), "--epochs", "2", "--cluster", client.scheduler.address]
    output = CliRunner().invoke(app, [*command, "--json"], catch_exceptions=False).output
    first, *_, last = map(json.loads, output.splitlines())
    assert first["event"] == "epoch"
    assert first["mistakes"] > 0
    assert last["event"] == "done"
    for option, code in {
        ("--set", "window=5"): "cluster-window",
        ("--holdout", "0.2"): "cluster-holdout",
    }.items():
        with pytest.raises(ValueError, match="cluster") as refusal:
            CliRunner().invoke(app, [*command, *option], catch_exceptions=False)
        assert refusal.value.code == code


def test_the_model_does_not_know_of_the_screen(client, tmp_path):
    X, y = blobs(60, 4)
    path = rows_file(tmp_path / "rows.svm", X, y)
    given = {"max_iter": 2}
    where = client.scheduler.address
    asked = FileJob(Request("perceptron", given))
    model = train(str(path), {}, asked, where, checkpoint=tmp_path / "model")
    step = usual_bias_step(read(path).mean_square())
    expected = parameters_for_files(**given, order="each", intercept_step=step, margin=0.0)
    assert model.parameters == load_model(tmp_path / "model").parameters == expected
    assert set(expected) == set(LINEAR)
    asked = FileJob(Request("perceptron", {"max_iter": 1}))
    once = train(str(path), {}, asked, where)
    assert once.parameters["order"] == "fixed"


def test_what_workers_read_otherwise_is_told(client, three_files, tmp_path):
    with (tmp_path / "part-2.csv").open("a") as file:
        file.write("oops,1,1,1,one\n,1,1,1,one\n")
    where = ["--cluster", client.scheduler.address, "--skip-bad", "3", "-q"]
    for how in (["--epochs", "2"], ["--epochs", "1"]):
        command = ["train", three_files, *where, *how]
        result = CliRunner().invoke(app, command, catch_exceptions=False)
        assert "Note: 1 broken row left out." in result.stderr
        assert "Note: Missing numbers count as the mean of their column." in result.stderr
    with pytest.warns(UserWarning) as warned:  # noqa: PT030
        fit(Perceptron(max_iter=2), three_files, client=client, skip_bad=3)
    codes = {str(one.message): one.message.args[0].code for one in warned}
    assert codes["1 broken row left out."] == "skipped-rows"


def test_rules_with_variances_train_on_a_cluster(client, three_files, tmp_path):
    where = ["--cluster", client.scheduler.address, "-q", "-o", str(tmp_path / "model")]
    command = ["train", three_files, *where, "--epochs", "2", "--rule", "arow"]
    CliRunner().invoke(
        app, [*command, "--set", "r=2", "--set", "intercept_step=1"], catch_exceptions=False
    )
    model = rosenblatt.load(tmp_path / "model")[-1]
    assert (type(model).__name__, model.r) == ("AROW", 2)
    settings = {"solution": "average", "max_iter": 2, "random_state": 0, "r": 2}
    settings["intercept_step"] = model.intercept_step
    expected = fit(AROW(**settings), three_files, client=client)
    assert np.array_equal(model.coef_, expected.coef_)
    with pytest.raises(ParameterError, match="cannot be mixed by romma"):
        CliRunner().invoke(app, [*command[:-1], "romma"], catch_exceptions=False)
