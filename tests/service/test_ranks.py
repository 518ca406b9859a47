"""The service predicts and learns ranks, and refuses labels that are none."""

import numpy as np

from rosenblatt.service.learning import Learning

from .conftest import replayed, trained
from .test_app import client_of, settled

GRADES = ["low", "medium", "high"]


def test_ranks_are_served(tmp_path):
    X = np.random.default_rng(0).integers(-5, 6, (100, 2))
    grades = np.array(GRADES)[np.searchsorted([-4, 3], X @ [1, -2])]
    rows = [
        {"a": a, "b": b, "grade": grade}
        for (a, b), grade in zip(X.tolist(), grades.tolist(), strict=True)
    ]
    given = {"label": "grade", "text": (), "bits": None, "ordinal": GRADES}
    learning = Learning(trained(tmp_path / "model", rows[:60], **given), say=print)
    learning.start()
    client = client_of(learning)
    answer = client.post("/predict", json=[{"a": -5, "b": 5}, {"a": 5, "b": -5}]).json()
    assert (answer["labels"], len(answer["scores"][0])) == (["low", "high"], 3)
    refused = client.post("/learn", json=rows[0] | {"grade": "huge"})
    assert "'huge' is not among low, medium, high" in refused.json()["error"]
    assert client.post("/learn", json=rows[60:]).status_code == 202
    settled(client, learning)
    about = client.get("/model").json()
    assert (about["target"], about["classes"], about["sequence"]) == ("ranks", GRADES, 40)
    learning.stop()
    assert learning.path.read_bytes() == replayed(learning.path)
