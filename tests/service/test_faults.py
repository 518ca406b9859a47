"""Faults of disk, thread, clients and log: nothing is lost in silence."""

import stat
import threading

import pytest

import rosenblatt
from rosenblatt.service.app import Service
from rosenblatt.service.learning import Learning
from rosenblatt.service.replay import log_path
from rosenblatt.service.server import ModelWatcher

from .conftest import Client, client_of, current_of, examples, trained

quiet = lambda sentence: None  # noqa: E731


def test_the_rest_of_an_older_log_is_not_mixed_into_a_new_one(model):
    wal = log_path(model).with_name(log_path(model).name + "-wal")
    wal.write_bytes(b"left")
    with pytest.raises(ValueError, match="left of an older log"):
        Learning(model, say=quiet)
    assert not log_path(model).exists()


def test_others_do_not_read_the_log_and_the_model(serve, model):
    service = serve(model, "--learn")
    assert service.learn(examples(3))[0] == 202
    assert service.stop()[0] == 0
    log = log_path(model)
    for path in (model, log, log.with_name(f"{log.name}-lock")):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_mistake_of_ours_is_a_counted_500(learning):
    said = []
    service = Service(current_of(learning), learning, say=said.append)
    service.parse = None
    answer = Client(service).post("/predict", json=examples(1))
    assert (answer.status_code, answer.json()) == (
        500,
        {"error": "An internal error; the service has logged it.", "code": "internal"},
    )
    assert 'path="/predict",status="500"} 1.0' in Client(service).get("/metrics").text
    assert said[0].startswith("'/predict' (request ")


def test_a_model_that_is_replaced_while_it_is_sent_arrives_whole(learning, model):
    client, stop = client_of(learning), threading.Event()

    def replace():
        while not stop.is_set():
            client.post("/learn", json=examples(1))

    thread = threading.Thread(target=replace)
    thread.start()
    try:
        for _ in range(30):
            answer = client.get("/model.safetensors")
            assert len(answer.content) == int(answer.headers["content-length"])
    finally:
        stop.set()
        thread.join()


def test_a_service_that_predicts_follows_the_model_file(tmp_path):
    path, said = tmp_path / "model.safetensors", []
    trained(path)
    watcher = ModelWatcher(path, said.append)
    before = watcher.current
    watcher.check_file()
    assert watcher.current is before
    trained(path, examples(80, seed=4))
    watcher.check_file()
    assert watcher.current is not before
    wanted = rosenblatt.load(path).decision_function(examples(3, labelled=False))
    served, learner, _ = watcher.current
    made = served.maker.make(examples(3, labelled=False), labelled=False)
    assert learner.scores(made.rows, made.width) == pytest.approx(wanted)
    path.write_bytes(b"broken")
    watcher.check_file()
    watcher.check_file()
    assert watcher.current.served is served
    assert len(said) == 2
    assert "keeps the model" in said[1]
