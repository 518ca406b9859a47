"""Early stopping by rows of one's own: X_val and y_val of fit."""

import re

import numpy as np
import pandas
import pytest
from scipy.sparse import csr_array

import rosenblatt
from rosenblatt import AROW, Adaline, PassiveAggressiveRegressor, Perceptron
from rosenblatt.parameters.tables import METRICS

from ..reading.samples import refused
from ..shell.conftest import run


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
    model = kind(early_stopping=True, random_state=0, max_iter=30).fit(
        X, y, X_val=held[0], y_val=held[1]
    )
    assert model.history_[0].rows == len(y)
    best = max(epoch.validation_score for epoch in model.history_)
    assert model.score(*held) == pytest.approx(best)
    assert model.stop_reason_ == "no_improvement"
    assert len(model.history_) < 30


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_stops(rows, metric):
    (X, y), held = rows
    settings = {"early_stopping": True, "metric": metric, "random_state": 0, "max_iter": 30}
    model = Perceptron(**settings).fit(X, y, X_val=held[0], y_val=held[1])
    scores = [epoch.validation_score for epoch in model.history_]
    assert len(scores) == int(np.argmax(scores)) + 1 + 5
    many = Perceptron(**settings, multi_class="ovr").fit(X, y + (X[:, 1] > 0))
    assert len(many.history_) < 30


def test_probabilities_are_calibrated_on_eval_set(rows):
    (X, y), held = rows
    model = Perceptron(early_stopping=True, calibrate=True, random_state=0)
    chances = model.fit(X, y, X_val=held[0], y_val=held[1]).predict_proba(held[0])[:, 1]
    assert chances.mean() == pytest.approx(held[1].mean(), abs=0.15)


def test_a_wrong_eval_set_is_refused_in_one_sentence(rows):
    (X, y), held = rows
    model = Perceptron(early_stopping=True)
    with refused("validation-unused"):
        Perceptron().fit(X, y, X_val=held[0], y_val=held[1])
    with refused("validation-form"):
        model.fit(X, y, X_val=held[0])
    with refused("unknown-label"):
        model.fit(X, y, X_val=held[0], y_val=held[1] + 7)
    with pytest.raises(ValueError, match="X_val, y_val: X has 4 features"):
        model.fit(X, y, X_val=held[0][:, :4], y_val=held[1])
    with pytest.raises(ValueError, match="X_val, y_val: X has 200 rows and y 3 labels"):
        model.fit(X, y, X_val=held[0], y_val=held[1][:3])
    assert not hasattr(model, "history_")


@pytest.mark.parametrize(
    ("metric", "figure"),
    [
        ("log-loss", r"held-out log loss 0\.\d{4}"),
        ("auc", r"held-out ROC AUC 0\.[89]\d{3}"),
        ("error", r" held-out error [12]\d\.\d\d%"),
    ],
)
def test_epochs_name_the_metric(capsys, files, metric, figure):
    stop = "--set", "early_stopping=true"
    status, out, _ = run(capsys, "train", files[0], *stop, "--metric", metric, "--epochs", "50")
    lines = [line for line in out.splitlines() if line.startswith("epoch")]
    assert status == 0
    assert all(re.search(f"{figure}$", line) for line in lines)
    assert "The held-out score no longer improved; kept the best weights." in out


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_an_eval_set_must_be_finite(rows, value, form):
    (X, y), (held, labels) = rows
    held[7, 2] = value
    with refused("not-finite", line=7, column=2) as caught:
        Perceptron(early_stopping=True).fit(form(X), y, X_val=form(held), y_val=labels)
    assert str(caught.value).startswith("X_val, y_val: ")


@pytest.mark.parametrize("metric", ["auc", "average-precision"])
def test_rows_of_one_class_do_not_rank(rows, metric):
    (X, y), (held, labels) = rows
    model = Perceptron(early_stopping=True, metric=metric)
    with refused("metric-one-class"):
        model.fit(X, y, X_val=held[labels == 1], y_val=labels[labels == 1])


@pytest.mark.filterwarnings("ignore:298 of 300 rows have the label")
def test_held_out_rows_of_one_class_are_noted(rows, files):
    (X, _), _ = rows
    y = np.arange(300) < 2
    with pytest.warns(UserWarning, match="one class only, and ROC AUC"):
        Perceptron(early_stopping=True, metric="auc", random_state=0).fit(X, y)
    pandas.read_csv(files[0]).assign(label=y).to_csv(files[0], index=False)
    with (
        pytest.warns(UserWarning, match="298 of 300 rows have the label False"),
        pytest.warns(UserWarning, match="one class only, and ROC AUC"),
    ):
        rosenblatt.train(files[0], early_stopping=True, metric="auc", tune=False)


@pytest.mark.parametrize("kind", [PassiveAggressiveRegressor, Adaline])
def test_eval_set_decides_for_numbers_too(rows, kind):
    (X, _), (held, _) = rows
    noise = np.random.default_rng(1).normal(size=500)
    y, wanted = X[:, 0] + noise[:300], held[:, 0] + noise[300:]
    model = kind(early_stopping=True, random_state=0, max_iter=30)
    model.fit(X, y, X_val=held, y_val=wanted)
    assert model.history_[0].rows == len(y)
    best = max(epoch.validation_score for epoch in model.history_)
    assert model.score(held, wanted) == pytest.approx(best)
    with refused("not-finite"):
        model.fit(X, y, X_val=held * np.nan, y_val=wanted)
