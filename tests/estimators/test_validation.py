"""Early stopping by rows of one's own: eval_set of fit, and a validation file of train."""

import numpy as np
import pandas
import pytest

import rosenblatt
from rosenblatt import AROW, Perceptron
from rosenblatt.parameters.tables import METRICS

from ..cli.conftest import run
from ..reading.samples import refused


@pytest.fixture
def rows():
    """Rows to learn from and to validate with, whose labels are noisy."""
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 5))
    y = (X[:, 0] + random.normal(size=500) > 1).astype(int)
    return (X[:300], y[:300]), (X[300:], y[300:])


@pytest.fixture
def files(tmp_path, rows):
    paths = []
    for name, (X, y) in zip(("learnt.csv", "held.csv"), rows, strict=True):
        paths.append(tmp_path / name)
        pandas.DataFrame(X, columns=list("abcde")).assign(label=y).to_csv(paths[-1], index=False)
    return paths


@pytest.mark.parametrize("kind", [Perceptron, AROW])
def test_eval_set_decides_and_no_row_is_held_out(rows, kind):
    (X, y), held = rows
    model = kind(early_stopping=True, random_state=0, max_iter=30).fit(X, y, eval_set=held)
    assert model.history_[0].rows == len(y)
    best = max(epoch.validation_score for epoch in model.history_)
    assert model.score(*held) == pytest.approx(best)
    assert model.stop_reason_ == "no_improvement"
    assert len(model.history_) < 30


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_stops(rows, metric):
    (X, y), held = rows
    settings = {"early_stopping": True, "metric": metric, "random_state": 0, "max_iter": 30}
    model = Perceptron(**settings).fit(X, y, eval_set=held)
    scores = [epoch.validation_score for epoch in model.history_]
    assert len(scores) == int(np.argmax(scores)) + 1 + model.n_iter_no_change
    many = Perceptron(**settings, multi_class="ovr").fit(X, y + (X[:, 1] > 0))
    assert len(many.history_) < 30


def test_probabilities_are_calibrated_on_eval_set(rows):
    (X, y), held = rows
    model = Perceptron(early_stopping=True, calibrate=True, random_state=0)
    chances = model.fit(X, y, eval_set=held).predict_proba(held[0])[:, 1]
    assert chances.mean() == pytest.approx(held[1].mean(), abs=0.15)


def test_a_wrong_eval_set_is_refused_in_one_sentence(rows):
    (X, y), held = rows
    model = Perceptron(early_stopping=True)
    with refused("eval-set-unused"):
        Perceptron().fit(X, y, eval_set=held)
    with refused("eval-set-form"):
        model.fit(X, y, eval_set=held[0])
    with refused("unknown-label"):
        model.fit(X, y, eval_set=(held[0], held[1] + 7))
    with pytest.raises(ValueError, match="eval_set: X has 4 features"):
        model.fit(X, y, eval_set=(held[0][:, :4], held[1]))
    with pytest.raises(ValueError, match="eval_set: X has 200 rows and y 3 labels"):
        model.fit(X, y, eval_set=(held[0], held[1][:3]))
    assert not hasattr(model, "history_")


@pytest.mark.parametrize("stream", [False, True])
def test_a_validation_file_decides(files, rows, stream):
    options = {"window": 1000} if stream else {}
    model = rosenblatt.train(files[0], validation=files[1], epochs=30, metric="auc", **options)
    classifier = model[-1]
    assert classifier.early_stopping
    assert classifier.history_[0].rows == 300
    assert classifier.history_[0].validation_score > 0.8
    assert len(classifier.history_) < 30


def test_a_table_validates_too(files):
    learnt, held = map(pandas.read_csv, files)
    model = rosenblatt.train(learnt, validation=held, epochs=30)
    best = max(epoch.validation_score for epoch in model[-1].history_)
    assert model.score(held.drop(columns="label"), held.label) == pytest.approx(best)


def test_the_shell_takes_a_validation_file(capsys, files, tmp_path):
    model = tmp_path / "model"
    given = ("train", files[0], "--validation", files[1], "--metric", "log-loss", "-o", model)
    status, _, err = run(capsys, *given, "--epochs", "30")
    assert (status, err) == (0, "")
    assert rosenblatt.load(model)[-1].metric == "log-loss"
    unlabelled = tmp_path / "unlabelled.csv"
    pandas.read_csv(files[1]).drop(columns="label").to_csv(unlabelled, index=False)
    for wrong, sentence in (
        (unlabelled, "has no column 'label'"),
        (tmp_path / "missing.csv", "There is no file"),
    ):
        status, _, err = run(capsys, "train", files[0], "--validation", wrong)
        assert status != 0
        assert sentence in err
