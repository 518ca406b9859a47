"""A tagger is served: it answers, learns sentence by sentence, and is rebuilt from its log."""

from contextlib import closing

import pytest

import rosenblatt
from rosenblatt import SequencePerceptron
from rosenblatt.service.app import Service
from rosenblatt.service.learning import Keeping, Learning
from rosenblatt.service.log import Log
from rosenblatt.service.model import open_model
from rosenblatt.service.replay import find_first_difference, log_path
from rosenblatt.service.sentences import MOST_TOKENS
from rosenblatt.storage.file import load_model

from ..learners.sequence import taggers
from .conftest import replayed
from .test_app import Client


def saved(path, name="average", compact=False):
    taggers.fitted(name).save(path, compact=compact)
    return path


def teach(name, seed=4, count=12):
    X, y = taggers.data_of(name, seed=seed, count=count)
    return [{"tokens": listed(x), "tags": tags} for x, tags in zip(X, y, strict=True)]


def listed(sentence):
    """Tokens as JSON has them."""
    return [list(token) if isinstance(token, tuple) else token for token in sentence]


def client_of(path):
    served = open_model(load_model(path), str(path))
    return Client(Service(served.make_predictor, say=print))


@pytest.mark.parametrize("name", ["average", "last", "markov2", "columns", "features", "chunks"])
@pytest.mark.parametrize("compact", [False, True])
def test_tags_are_those_of_python(tmp_path, name, compact):
    path = saved(tmp_path / "model", name, compact)
    X, _ = taggers.data_of(name, seed=8)
    sentences = [listed(x) for x in X]
    client, wanted = client_of(path), rosenblatt.load(path).predict(X)
    assert client.post("/predict", json=sentences).json() == {"tags": wanted, "sequence": 0}
    objects = [{"tokens": one} for one in sentences]
    assert client.post("/predict", json=objects).json()["tags"] == wanted
    assert client.post("/predict", json=objects[0]).json()["tags"] == wanted[:1]
    (reasons, *_) = client.post("/predict?explain=2", json=objects).json()["explanations"]
    assert [one["tag"] for one in reasons] == [
        one.tag for one in rosenblatt.load(path).explain(X[0])
    ]
    assert all(len(one["features"]) <= 2 for one in reasons)
    about = client.get("/model").json()
    assert (about["estimator"], about["rows"]) == ("SequencePerceptron", "sentences")
    assert client.get("/metrics").status_code == 200
    schema = client.get("/openapi.json").json()["paths"]["/predict"]["post"]["requestBody"]
    assert list(schema["content"]) == ["application/json", "application/x-ndjson"]


@pytest.fixture
def learning(tmp_path):
    started = Learning(saved(tmp_path / "model"), Keeping(), say=lambda sentence: None)
    started.start()
    yield started
    if started.is_alive():
        started.stop()
    started.log.close()  # after an error it is open


def make_service(learning):
    service = Service(lambda: learning.predictor, learning)
    return Client(service)


def test_what_is_learnt_is_kept_and_can_be_rebuilt(learning):
    path, client = learning.path, make_service(learning)
    begun = rosenblatt.load(path)
    given = teach("average")
    assert client.post("/learn", json=given[:5]).json() == {"sequence": 5, "examples": 5}
    assert client.post("/learn", json=given[5]).status_code == 202
    assert client.post("/learn", json=given[6:]).json()["sequence"] == 12
    learning.stop()
    for one in given:
        begun.partial_fit([one["tokens"]], [one["tags"]])
    found, wanted = load_model(path), begun.to_model()
    X, _ = taggers.data_of("average", seed=8)
    assert rosenblatt.load(path).predict(X) == begun.predict(X)
    assert found.states[0].mistakes == wanted.states[0].mistakes
    assert (found.states[0].emission_sums == wanted.states[0].emission_sums).all()
    assert replayed(path) == path.read_bytes()
    with closing(Log(log_path(path), writes=False)) as log:
        assert find_first_difference(log, path)[0] is None
    again = Learning(path, Keeping(), say=lambda sentence: None)
    again.start()
    again.stop()
    assert again.served.sequence == 12


def test_a_tag_that_is_new_is_refused_or_learnt(learning):
    client = make_service(learning)
    new = {"tokens": ["zebra", "the"], "tags": ["Z", "A"]}
    answer = client.post("/learn", json=[teach("average")[0], new])
    assert answer.status_code == 400
    assert answer.json()["error"] == "row 2, column 'tags': the tag 'Z' is not among A, B, C"
    learning.served.grow = True
    assert client.post("/learn", json=[new] * 80).status_code == 202
    learning.stop()
    model = rosenblatt.load(learning.path)
    assert model.classes_.tolist() == ["A", "B", "C", "Z"]
    assert model.predict([["zebra"]]) == [["Z"]]
    assert replayed(learning.path) == learning.path.read_bytes()


@pytest.mark.parametrize(
    ("example", "sentence"),
    [
        ({"words": ["a"]}, "row 1, column 'tokens': expected a list of tokens"),
        ({"tokens": "a b", "tags": ["A"]}, "row 1, column 'tokens': expected a list of tokens"),
        ({"tokens": ["a", 3], "tags": ["A", "B"]}, "has 3 as its word; a string is needed"),
        ({"tokens": ["a", "b"], "tags": ["A"]}, "there are 1 tags and 2 tokens"),
        ({"tokens": ["a"]}, "row 1, column 'tags': expected a list of tags"),
        ({"tokens": ["a"], "tags": [["A"]]}, "row 1, column 'tags': expected a list of tags"),
        ({"tokens": [], "tags": []}, "there are 0 tags and 0 tokens"),
        ({"tokens": ["a"] * (MOST_TOKENS + 1), "tags": ["A"]}, "there are over 10,000 tokens"),
        ("a b", "expected an object of columns"),
    ],
)
def test_what_is_no_sentence_is_refused(learning, example, sentence):
    answer = make_service(learning).post("/learn", json=example)
    assert answer.status_code == 400
    assert sentence in answer.json()["error"]
    assert learning.log.last == 0


def test_a_compact_tagger_is_served_and_does_not_learn(tmp_path):
    path = saved(tmp_path / "model", compact=True)
    with pytest.raises(ValueError, match="model: This tagger keeps only the weights that predict"):
        Learning(path, Keeping(), say=lambda sentence: None)
    assert client_of(path).post("/learn", json=teach("average")).status_code == 403


def test_other_models_are_refused_in_one_sentence(tmp_path):
    X, y = [[0.0], [1.0]], [0, 1]
    rosenblatt.KernelPerceptron().fit(X, y).save(tmp_path / "model")
    with pytest.raises(ValueError, match="linear models and taggers are served"):
        open_model(load_model(tmp_path / "model"), "model")


def test_warming_up_changes_nothing(tmp_path):
    for name in ("average", "columns", "features"):
        path = saved(tmp_path / "model", name)
        served = open_model(load_model(path), str(path))
        before = served.learner.to_model({})
        served.warm_up()
        after = served.learner.to_model({})
        assert after.states[0].seen == before.states[0].seen
        assert isinstance(rosenblatt.load(path), SequencePerceptron)
