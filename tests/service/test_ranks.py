"""The service predicts, explains and learns ranks, and refuses labels that are none."""

import numpy as np

from rosenblatt.service.learning import Keeping, Learning
from rosenblatt.storage.file import load_model

from .conftest import trained
from .test_app import client_of, settled

GRADES = ["low", "medium", "high"]


def rows(count, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(-5, 6, (count, 2))
    ranks = np.searchsorted([-4, 3], X @ [1, -2] + rng.normal(size=count))
    return [
        {"a": int(a), "b": int(b), "grade": GRADES[rank]}
        for (a, b), rank in zip(X, ranks, strict=True)
    ]


def test_ranks_are_served(tmp_path):
    given = {"label": "grade", "text": (), "bits": None, "ordinal": GRADES}
    path = trained(tmp_path / "model", rows(60), **given)
    learning = Learning(path, Keeping(), say=lambda sentence: None)
    learning.start()
    try:
        client = client_of(learning)
        about = client.get("/model").json()
        assert (about["target"], about["classes"]) == ("ranks", GRADES)
        far = [{"a": -5, "b": 5}, {"a": 5, "b": -5}]
        answer = client.post("/predict?explain=2", json=far).json()
        assert answer["labels"] == ["low", "high"]
        assert len(answer["scores"][0]) == 3
        assert {one["feature"] for one in answer["explanations"][0]} == {"a", "b"}
        refused = client.post("/learn", json=[{"a": 1, "b": 1, "grade": "huge"}])
        assert refused.status_code == 400
        assert "'huge' is not among low, medium, high" in refused.json()["error"]
        assert client.post("/learn", json=rows(40, seed=1)).status_code == 202
        settled(client, learning)
        after = client.get("/model").json()
        assert after["sequence"] == 40
        assert 0 <= after["error"]["all"] < 0.5
    finally:
        learning.stop()
    saved = load_model(path)
    assert saved.classes.tolist() == GRADES
    assert np.all(np.diff(saved.states[0].bias) <= 0)
    assert saved.states[0].seen == 160
