"""In Python what the shell does."""

from inspect import signature
from typing import get_type_hints

import numpy as np
import pandas
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rosenblatt
from rosenblatt import (
    AROW,
    SCW,
    Features,
    KernelPerceptron,
    PassiveAggressive,
    Perceptron,
    Pipeline,
    load,
    save,
    train,
)
from rosenblatt.estimators.pipeline import TrainedModel

from ..shell.conftest import run

RANDOM = np.random.default_rng(0)
FRAME = pandas.DataFrame(
    {
        "length": RANDOM.normal(size=120).round(3),
        "colour": RANDOM.choice(["red", "green", "blue"], 120),
        "kind": np.tile(["cat", "dog"], 60),
    }
)
FRAME["length"] += np.where(FRAME["kind"] == "dog", 1.0, -1.0)


@pytest.fixture
def path(tmp_path):
    FRAME.to_csv(tmp_path / "animals.csv", index=False)
    return tmp_path / "animals.csv"


def test_train_is_the_command(capsys, path, tmp_path):
    model = train(path)
    assert run(capsys, "train", path, "-q", "-o", tmp_path / "model")[0] == 0
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(model[-1].coef_, loaded[-1].coef_)
    assert (
        model.predict(path).tolist()
        == run(capsys, "predict", tmp_path / "model", path)[1].splitlines()
    )


def test_tables_dicts_and_paths_are_predicted_alike(path):
    model = train(FRAME, label="kind")
    expected = model.predict(FRAME).tolist()
    assert model.predict(FRAME.drop(columns="kind")).tolist() == expected
    assert model.predict(FRAME.to_dict("records")).tolist() == expected
    assert model.predict(path).tolist() == expected
    assert model.score(FRAME, FRAME["kind"]) == np.mean(FRAME["kind"] == expected)
    assert model.decision_function(FRAME.iloc[:5]).shape == (5,)


def test_a_pipeline_survives_its_file(tmp_path):
    pipeline = make_pipeline(Features(bits=10), Perceptron(max_iter=5))
    pipeline.fit(FRAME.drop(columns="kind"), FRAME["kind"])
    for model in (train(FRAME, label="kind", solution="average", max_iter=2), pipeline):
        save(model, tmp_path / "model")
        again = load(tmp_path / "model")
        assert again.predict(FRAME).tolist() == model.predict(FRAME).tolist()
        save(again, tmp_path / "again")
        assert load(tmp_path / "again").predict(FRAME).tolist() == model.predict(FRAME).tolist()


def test_a_pipeline_of_python_is_used_in_the_shell(capsys, tmp_path, path):
    model = make_pipeline(Features(bits=10), Perceptron(max_iter=5))
    save(model.fit(FRAME.drop(columns="kind"), FRAME["kind"]), tmp_path / "model")
    out = run(capsys, "predict", tmp_path / "model", path)[1]
    assert out.splitlines() == model.predict(FRAME).tolist()


def test_what_train_and_load_return_is_what_their_types_say(path, tmp_path):
    save(Perceptron().fit([[1.0], [-1.0]], [1, 0]), tmp_path / "model")
    for function, given in ((train, path), (load, tmp_path / "model")):
        assert get_type_hints(function)["return"] is TrainedModel
        for name in ("predict", "score"):
            wanted = [*signature(getattr(TrainedModel, name)).parameters][1:]
            assert [*signature(getattr(function(given), name)).parameters][: len(wanted)] == wanted


def test_estimators_are_saved_too_and_others_are_not(tmp_path):
    X, y = [[2.0], [-1.0]], [1, 0]
    for model in (Perceptron(), KernelPerceptron()):
        save(model.fit(X, y), tmp_path / "model")
        assert type(load(tmp_path / "model")) is type(model)
    with pytest.raises(
        ValueError, match=r"consists of StandardScaler, Perceptron\. Features\(\) in place of other"
    ):
        save(make_pipeline(StandardScaler(), Perceptron()).fit(X, y), tmp_path / "model")


def test_an_estimator_of_numbers_names_features_for_a_table_of_words():
    X, y = pandas.DataFrame({"size": [1.0, 2.0], "work": ["own", "state"]}), [0, 1]
    with pytest.raises(ValueError, match=r"X holds words.*'own'.*make_pipeline\(Features"):
        Perceptron().fit(X, y)
    assert make_pipeline(Features(), Perceptron()).fit(X, y).predict(X).tolist() == y


def test_options_are_told_apart(path):
    model = train(path, label="kind", margin=1.0, holdout=0.2, bits=10, classes=["cat", "dog"])
    assert model[-1].margin == 1.0
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'max_itre'; use max_iter$"):
        train(path, max_itre=3)


def test_a_pipeline_continues_to_learn_from_tables_of_the_same_form(tmp_path):
    model = train(FRAME[:60], label="kind", max_iter=1, rule="perceptron", order="fixed")
    twin = train(FRAME[:60], label="kind", max_iter=1, rule="perceptron", order="fixed")
    assert model.partial_fit(FRAME[60:]) is model
    features = twin[0].transform(FRAME[60:])
    twin[-1].partial_fit(features, FRAME["kind"][60:])
    np.testing.assert_array_equal(model[-1].coef_, twin[-1].coef_)
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    loaded.partial_fit(FRAME.drop(columns="kind")[:20], FRAME["kind"][:20])
    twin[-1].partial_fit(twin[0].transform(FRAME[:20]), FRAME["kind"][:20])
    np.testing.assert_array_equal(loaded[-1].coef_, twin[-1].coef_)


def test_a_pipeline_of_label_sets_continues_to_learn():
    rows = [{"a": 1.0, "tags": "x;y"}, {"a": -1.0, "tags": "x"}, {"a": -2.0, "tags": ""}] * 5
    options = {"label": "tags", "labels_separator": ";", "rule": "perceptron", "order": "fixed"}
    model, twin = (train(rows, **options) for _ in range(2))
    model.partial_fit(rows[:3])
    twin[-1].partial_fit(twin[0].transform(rows[:3]), np.array([[1, 1], [1, 0], [0, 0]]))
    np.testing.assert_array_equal(model[-1].coef_, twin[-1].coef_)


def test_rows_without_labels_need_y():
    model = Pipeline([("features", Features()), ("classifier", Perceptron())])
    with pytest.raises(ValueError, match="pass y"):
        model.partial_fit([{"a": 1}, {"a": 2}], classes=[0, 1])


def test_a_new_pipeline_begins_with_a_batch():
    X, y = FRAME.drop(columns="kind"), FRAME["kind"]
    model = Pipeline([("features", Features()), ("classifier", Perceptron())])
    model.partial_fit(X[:60], y[:60], classes=["cat", "dog"]).partial_fit(X[60:], y[60:])
    assert model.score(X, y) > 0.5
    model.partial_fit(X[:1], ["owl"], classes=["owl"])
    assert model.classes_.tolist() == ["cat", "dog", "owl"]


def test_a_compact_pipeline_is_not_saved(tmp_path):
    X, y = FRAME.drop(columns="kind"), FRAME["kind"]
    model = make_pipeline(Features(compact=True), Perceptron(random_state=0)).fit(X, y)
    wide = make_pipeline(Features(), Perceptron(random_state=0)).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), wide.predict(X))
    with pytest.raises(ValueError, match="compact=False"):
        save(model, tmp_path / "model")


def test_batches_of_a_table_are_learnt_from():
    model = Perceptron()
    for batch in rosenblatt.read(FRAME, label="kind", bits=8):
        model.partial_fit(batch.X, batch.y, classes=["cat", "dog"])
    assert model.n_mistakes_ > 0


@pytest.mark.parametrize("stream", [False, True])
def test_truth_values_stay_truth_values(capsys, tmp_path, stream):
    frame = FRAME.assign(kind=FRAME["kind"] == "dog")
    once = {"max_iter": 1, "order": "fixed"} if stream else {}
    model = train(frame, label="kind", **once)
    save(model, tmp_path / "model")
    for one in (model, load(tmp_path / "model")):
        assert one.classes_.dtype == bool
        assert one.predict(frame).dtype == bool
        assert one.score(frame, frame["kind"]) > 0.7
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_parquet(tmp_path / "rows.parquet")
    said = [
        run(capsys, "score", tmp_path / "model", tmp_path / f"rows.{ending}")[1].split(":", 1)[1]
        for ending in ("csv", "parquet")
    ]
    assert said[0] == said[1]
    assert "True" in said[0]
    assert "not known" not in said[0]


def test_classes_of_truth_values_can_be_named():
    frame = FRAME.assign(kind=FRAME["kind"] == "dog")
    assert train(frame, label="kind", classes=["False", "True"]).classes_.tolist() == [False, True]
    with pytest.raises(ValueError, match="are not all True or False"):
        train(frame, label="kind", classes=["no", "yes"])


def test_labels_that_are_categories_keep_their_type():
    frame = FRAME.assign(kind=pandas.Categorical(np.tile([1, 2], 60)))
    assert train(frame, label="kind").classes_.tolist() == [1, 2]
    frame = FRAME.assign(kind=pandas.Categorical(np.tile([False, True], 60)))
    assert train(frame, label="kind").classes_.tolist() == [False, True]


def test_notes_are_warnings_unless_somebody_listens():
    frame = FRAME.assign(parts=[[1]] * len(FRAME))
    with pytest.warns(UserWarning, match="The column 'parts' is not used") as warned:
        train(frame, label="kind")
    assert warned[0].filename == __file__


def test_one_pass_is_arows_unless_something_is_said(capsys, path, tmp_path):
    kinds = {
        AROW: [{"max_iter": 1}, {"max_iter": 1, "rule": "arow", "solution": "last"}],
        PassiveAggressive: [{}],
        Perceptron: [{"max_iter": 1, "rule": "perceptron"}, {"max_iter": 1, "margin": 1.0}],
        SCW: [{"max_iter": 1, "rule": "scw", "C": 0.5}],
    }
    for kind, asked in kinds.items():
        for options in asked:
            assert type(train(path, **options)[-1]) is kind
    assert train(path, max_iter=1)[-1].solution == "last"
    assert train(path, max_iter=1, solution="average")[-1].solution == "average"
    status, out, _ = run(capsys, "train", path, "--epochs", "1", "-o", tmp_path / "model")
    assert (status, "Rule AROW, solution last." in out) == (0, True)
    np.testing.assert_array_equal(
        load(tmp_path / "model")[-1].coef_, train(path, max_iter=1)[-1].coef_
    )


@pytest.mark.parametrize("spelled", ["True", "true"])
@pytest.mark.parametrize("words", [False, True])
def test_truth_values_are_the_same_in_files_and_frames(tmp_path, spelled, words):
    random = np.random.default_rng(0)
    truth = random.random(60) > 0.5
    frame = pandas.DataFrame({"x": random.normal(size=60), "flag": truth, "kind": truth + 1})
    if words:
        frame["colour"] = random.choice(["red", "blue"], 60)
    path = tmp_path / "rows.csv"
    no = "False" if spelled == "True" else "false"
    frame.assign(flag=np.where(truth, spelled, no)).to_csv(path, index=False)
    of_frame, of_file = train(frame, label="kind"), train(path, label="kind")
    scores = of_frame.decision_function(frame)
    for model in of_frame, of_file:
        np.testing.assert_array_equal(model.decision_function(path), scores)
        np.testing.assert_array_equal(model.decision_function(frame), scores)


def test_a_word_among_truth_values_is_told(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("flag,x,y\n" + "true,1,0\nfalse,2,1\n" * 20)
    model = train(path, label="y")
    path.write_text("flag,x\ntrue,1\nfalse,2\nperhaps,2\n")
    with pytest.raises(ValueError, match=r"line 4, column 'flag': 'perhaps' is not a number"):
        model.predict(path)


def test_one_problem_per_class_is_learnt_from_files(path):
    rows = [{"x": float(k % 3), "kind": f"k{k % 3}"} for k in range(30)]
    model = train(rows, label="kind", multi_class="ovr")
    assert model[-1].coef_.shape == (3, 1)
    assert len(model[-1]._learner.states) == 3
    active = train(rows, label="kind", multi_class="ovr", order="active")
    assert active[-1].coef_.shape == (3, 1)
    two = train(path, multi_class="ovr")  # is one problem
    np.testing.assert_array_equal(two[-1].coef_, train(path)[-1].coef_)


def test_probabilities_that_are_not_learnt_are_refused_with_what_to_do(path):
    with pytest.raises(AttributeError, match="calibrate=True"):
        _ = train(path).predict_proba
    assert hasattr(train(path, calibrate=True), "predict_proba")
