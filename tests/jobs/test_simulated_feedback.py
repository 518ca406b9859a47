"""Training from a file with labels that only judge predictions."""

import numpy as np
import pytest

import rosenblatt
from rosenblatt.cli.app import app
from rosenblatt.jobs.files import train
from rosenblatt.jobs.job import FileJob
from rosenblatt.learners.linear import LinearLearner
from rosenblatt.parameters import ParameterError
from rosenblatt.reading.reader import read
from rosenblatt.training.plan import Request

from ..conftest import blobs


def write_svmlight(path, X, y):
    lines = [
        f"{label} " + " ".join(f"{k + 1}:{value:g}" for k, value in enumerate(row))
        for row, label in zip(X, y, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def file(tmp_path):
    X, y = blobs(400, 4, classes=3)
    write_svmlight(tmp_path / "rows.svm", np.round(4 * X), y)
    return tmp_path / "rows.svm"


def facts(model):
    return model.file_facts_["facts"]


def learn(file, **given):
    request = Request("banditron", {"exploration": 0.2, "random_state": 3} | given)
    return LinearLearner.from_model(train(read(file, scale="none", batch_bytes=500), request))


@pytest.mark.parametrize("solution", ["last", "average"])
def test_a_stream_is_one_pass_of_the_estimator(file, solution):
    learner = learn(file, solution=solution, intercept_step=1.0)
    X, y = blobs(400, 4, classes=3)
    model = rosenblatt.Banditron(0.2, random_state=3, solution=solution)
    model.fit(np.round(4 * X).astype(learner.dtype), y)
    np.testing.assert_allclose(learner.coefficients()[0], model.coef_, rtol=1e-5)


def test_errors_are_those_of_the_drawn_predictions_beside_full_information(file, capsys):
    with pytest.warns(UserWarning, match="this simulates feedback"):
        model = rosenblatt.train(file, rule="banditron", exploration=0.3, random_state=1)
    judged = facts(model)["feedback"]
    assert judged["rows"] == 400
    assert 0.15 * 400 < judged["errors"] < 0.8 * 400  # 0.2 of them are drawn wrong
    assert 0 < judged["full_errors"] < judged["errors"]
    app(["train", str(file), "--rule", "banditron", "-P", "100"], standalone_mode=False)
    printed, notes = capsys.readouterr()
    assert "a perceptron with all labels" in printed
    assert "this simulates feedback" in notes


def test_two_classes_are_learnt_as_labels(file, tmp_path):
    X, y = blobs(100, 3)
    write_svmlight(tmp_path / "two.svm", X, y)
    assert "feedback" not in facts(rosenblatt.train(tmp_path / "two.svm", rule="banditron"))


def test_a_run_continues_from_its_model(file, tmp_path):
    first = train(read(file), Request("banditron", {}))
    again = train(read(file), FileJob(Request("banditron", {}), initial=first))
    assert again.facts["feedback"]["full_errors"] is None
    assert again.facts["feedback"]["errors"] < first.facts["feedback"]["errors"]
    state = LinearLearner.from_model(again).states[0]
    assert state.seen == 800
    assert state.further["draws"][0] != LinearLearner.from_model(first).states[0].further["draws"]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"labels_budget": 9.0}, "feedback-option"),
        ({"online": True}, "feedback-option"),
        ({"early_stopping": True}, "validation-unused"),
    ],
)
def test_options_that_need_labels_or_epochs_are_refused(file, options, code):
    with pytest.raises(ParameterError) as error:
        rosenblatt.train(file, rule="banditron", **options)
    assert error.value.code == code


@pytest.mark.filterwarnings("ignore:Predictions are drawn")
def test_a_pipeline_acts_and_takes_feedback(file):
    model = rosenblatt.train(file, rule="banditron")
    predicted, probability = model.act(file)
    before = model[-1].coef_.copy()
    assert model.feedback(file, predicted, predicted == 1, probability) is model
    assert len(predicted) == 400
    assert not np.array_equal(model[-1].coef_, before)
    with pytest.raises(AttributeError):
        rosenblatt.train(file).act(file)
