"""The ONNX file: onnxruntime answers what the model answers, and what cannot be said is refused."""

import json
import sys
import tempfile
from itertools import product

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rosenblatt
from rosenblatt import (
    AROW,
    KernelPerceptron,
    PassiveAggressiveRegressor,
    Perceptron,
    PerceptronNetwork,
)
from rosenblatt.export import make_onnx_graph, register_converters, write_onnx
from rosenblatt.jobs.files import train
from rosenblatt.parameters import SIGN_OF_ZERO
from rosenblatt.reading.reader import read
from rosenblatt.storage.file import load_model, save_model
from rosenblatt.training.plan import Request
from rosenblatt.training.report import Listener

from .conftest import FORMS, blobs, form_parameters
from .shell.conftest import run

onnx = pytest.importorskip("onnx", reason="export needs the extra onnx")
runtime = pytest.importorskip("onnxruntime", reason="only onnxruntime can tell what a graph does")

LABELS = {
    "int64": np.array([-5, 2**60, 2**60 + 1]),
    "uint64": np.array([0, 1, 2**64 - 1], np.uint64),
    "float": np.array([0, 1, 2], np.float32),
    "text": np.array(["é", "ü", "日本"]),
    "object": np.array(["a", "b", "c"], object),
    "bool": np.array([False, True]),
}


def answers(graph, X):
    """The labels and scores that a service would give."""
    content = graph if isinstance(graph, bytes) else graph.SerializeToString()
    session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
    return session.run(["label", "scores"], {"X": X})


def saved(perceptron, path):
    perceptron.save(path)
    return load_model(path)


def trained(path, **parameters):
    return train(read(path), Request("perceptron", parameters))


def small_numbers(form, dtype, seed=0):
    """Rows of small integers, of which many tie."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (60, 3)).astype(dtype)
    return X, np.arange(60) % (2 if form == "two" else 4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("solution", ["last", "average", "pocket"])
@pytest.mark.parametrize("form", FORMS)
def test_onnxruntime_answers_as_the_perceptron(form, solution, dtype, tmp_path):
    X, y = small_numbers(form, dtype)
    perceptron = Perceptron(solution=solution, max_iter=4, random_state=0, **form_parameters(form))
    model = saved(perceptron.fit(X, y), tmp_path / "model.safetensors")
    graph = make_onnx_graph(model)
    onnx.checker.check_model(graph, full_check=True)
    labels, scores = answers(graph, X)
    expected = perceptron.decision_function(X)
    assert (scores.dtype, scores.shape) == (expected.dtype, expected.shape)
    if solution != "average":  # small integers: every sum is exact
        assert scores.tolist() == expected.tolist()
        assert labels.tolist() == perceptron.predict(X).tolist()
    else:
        assert np.allclose(scores, expected, rtol=8 * np.finfo(dtype).eps)


@pytest.mark.parametrize("lift", ["none", "sphere"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("growth", ["upstart", "tiling", "tower", "pyramid"])
def test_onnxruntime_answers_as_the_network(growth, classes, lift, tmp_path):
    rng = np.random.default_rng(classes)
    X = np.array(list(product([-1.0, 2.0], repeat=5)))  # whole numbers: every sum is exact
    X = rng.normal(size=X.shape) if lift == "sphere" else X
    y = rng.integers(0, classes, len(X))
    network = PerceptronNetwork(growth, lift=lift, max_units=12, max_iter=20, random_state=0)
    model = saved(network.fit(X, y), tmp_path / "model.safetensors")
    assert network.n_units_ > 2 * (classes - 1)
    graph = make_onnx_graph(model)
    onnx.checker.check_model(graph, full_check=True)
    fresh = np.vstack([X, rng.normal(0, 2, (200, 5))])
    labels, scores = answers(graph, fresh)
    assert np.allclose(scores, network.decision_function(fresh), rtol=0, atol=1e-12)
    assert labels.tolist() == network.predict(fresh).tolist()


@pytest.mark.parametrize(
    ("form", "ties"),
    [
        *((form, ties) for form in ("two", "ovr") for ties in SIGN_OF_ZERO),
        ("argmax", "mistake"),
        ("argmax", "correct"),
    ],
)
def test_ties_go_to_the_same_class(form, ties, tmp_path):
    X, y = small_numbers(form, np.float64)
    perceptron = Perceptron(ties=ties, max_iter=1, **form_parameters(form)).fit(X, y)
    zero = np.zeros((1, 3))
    for state in perceptron._learner.states:
        state.bias[:] = 0  # a row of zeros ties
    perceptron._learner.kept = None
    assert not perceptron.decision_function(zero).any()
    labels, _ = answers(make_onnx_graph(saved(perceptron, tmp_path / "model.safetensors")), zero)
    assert labels.tolist() == perceptron.predict(zero).tolist()
    assert labels[0] == (1 if (form, ties) == ("two", "positive") else 0)


@pytest.mark.parametrize("kind", LABELS)
def test_labels_keep_their_type(kind, tmp_path):
    classes = LABELS[kind]
    X, y = blobs(classes=len(classes))
    perceptron = Perceptron(max_iter=3).fit(X, classes[y])
    labels, scores = answers(make_onnx_graph(saved(perceptron, tmp_path / "model.safetensors")), X)
    assert labels.tolist() == perceptron.predict(X).tolist()
    assert np.allclose(scores, perceptron.decision_function(X), rtol=1e-12)


@pytest.mark.parametrize("kind", ["csv", "svmlight"])
def test_models_of_files_are_exported_too(kind, tmp_path):
    X, y = small_numbers("argmax", np.float32)
    path = tmp_path / f"data.{kind}"
    if kind == "csv":
        rows = [f"{a:g},{b:g},class {k},{c:g}\n" for (a, b, c), k in zip(X, y, strict=True)]
        path.write_text("left,right,y,up\n" + "".join(rows))
    else:
        rows = [f"{k} 0:{a:g} 1:{b:g} 2:{c:g}\n" for (a, b, c), k in zip(X, y, strict=True)]
        path.write_text("".join(rows))
    model = trained(path, solution="last", max_iter=3)
    save_model(tmp_path / "model.safetensors", model)
    write_onnx(tmp_path / "model.onnx", model)
    content = (tmp_path / "model.onnx").read_bytes()
    perceptron = rosenblatt.load(tmp_path / "model.safetensors")
    labels, scores = answers(content, X)
    assert labels.tolist() == perceptron.predict(X).tolist()
    assert scores.tolist() == perceptron.decision_function(X).tolist()
    (entry,) = onnx.load_from_string(content).metadata_props
    names = ["left", "right", "up"] if kind == "csv" else None
    assert (entry.key, json.loads(entry.value)) == ("columns", names)


def test_a_hash_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "words.csv").write_text("review,y\ngood film,1\nbad film,0\n")
    words = train(read(tmp_path / "words.csv", text="review"), Request())
    with pytest.raises(
        ValueError, match=r"^The model hashes the n-grams or dates of 'review', .*\.$"
    ):
        write_onnx(tmp_path / "model.onnx", words)
    assert not (tmp_path / "model.onnx").exists()


def test_a_model_without_weights_of_columns_is_refused_in_a_sentence(tmp_path):
    model = saved(KernelPerceptron().fit(*blobs()), tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match=r"^A KernelPerceptron has no weights .*\.$"):
        make_onnx_graph(model)


def test_weights_beyond_two_gigabytes_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("rosenblatt.export.MOST_BYTES", 10)
    with pytest.raises(ValueError, match="at most 2 GB"):
        make_onnx_graph(saved(Perceptron().fit(*blobs()), tmp_path / "model.safetensors"))


def test_the_command_writes_a_file(capsys, tmp_path):
    X, y = blobs()
    perceptron = Perceptron().fit(X, y)
    perceptron.save(tmp_path / "model.safetensors")
    made = tmp_path / "model.onnx"
    status, out, err = run(capsys, "export", tmp_path / "model.safetensors", made)
    assert (status, out, err) == (0, f"{made}: 5 columns in, labels and scores out.\n", "")
    assert answers(made.read_bytes(), X)[0].tolist() == perceptron.predict(X).tolist()


def test_the_command_refuses_in_one_sentence(capsys, tmp_path, monkeypatch):
    model = tmp_path / "model.safetensors"
    Perceptron().fit(*blobs()).save(model)
    before = model.read_bytes()

    def refused(*arguments):
        status, out, err = run(capsys, "export", *arguments)
        assert (status, out, err.count("\n")) == (2, "", 1)
        return err

    assert "is also an input; write to another file" in refused(model, model)
    assert "There is no folder" in refused(model, tmp_path / "nowhere" / "model.onnx")
    assert "is a folder" in refused(model, tmp_path)
    assert "is not an intact model" in refused(__file__, tmp_path / "model.onnx")
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert "pip install 'rosenblatt[onnx]'" in refused(model, tmp_path / "model.onnx")
    assert model.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]


# Categories


def make_people(rows=300, classes=("no", "yes"), seed=0):
    """Rows of numbers, some missing, and of categories."""
    random = np.random.default_rng(seed)
    jobs = random.choice(["cook", "pilot", "naïve = poet", ""], rows)
    towns = random.choice([f"town {k}" for k in range(40)], rows)
    sizes = np.where(random.random(rows) < 0.1, np.nan, random.normal(100, 9, rows).round(1))
    ages = random.integers(1, 90, rows)
    kinds = (np.nan_to_num(sizes) + 20 * (jobs == "pilot") + ages % 7 > 105).astype(int)
    kinds = (kinds + (len(classes) - 2) * (ages > 60)) % len(classes)
    return [
        {
            "size": None if np.isnan(size) else float(size),
            "job": str(job),
            "age": int(age),
            "town": str(town),
            "kind": classes[kind],
        }
        for size, job, age, town, kind in zip(sizes, jobs, ages, towns, kinds, strict=True)
    ]


def run_on_rows(content, rows, model):
    """Labels and scores of the graph of a pipeline for rows of dicts."""
    session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
    dtypes = {"tensor(float)": np.float32, "tensor(double)": np.float64}
    given = {}
    for one in session.get_inputs():
        kind = "number" if one.name == "X" else "category"
        names = [name for name, own in model[0].recipe_["columns"] if own == kind]
        table = [[row[name] for name in names] for row in rows]
        if kind == "number":
            given["X"] = np.array(table, float).astype(dtypes[one.type])
        else:
            given["categories"] = np.array([[str(c).strip() for c in row] for row in table], object)
    return session.run(["label", "scores"], given)


@pytest.mark.parametrize("scale", ["auto", "none"])
@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c"), (0, 1)])
def test_categories_are_looked_up(scale, classes):
    rows = make_people(classes=classes)
    if scale == "none":
        rows = [{**row, "size": row["size"] or 0.0} for row in rows]
    model = rosenblatt.train(rows, label="kind", scale=scale, tune=False, listener=Listener())
    content = export_pipeline(model)
    labels, scores = run_on_rows(content, rows, model)
    assert labels.tolist() == model.predict(rows).tolist()
    graph = onnx.load_from_string(content).graph
    used = {name for node in graph.node for name in node.input}
    assert {one.name for one in graph.initializer} <= used  # onnxruntime warns of others
    np.testing.assert_allclose(scores, model.decision_function(rows), rtol=1e-4, atol=1e-4)


def export_pipeline(model, words=None):
    """The bytes of the ONNX file of a pipeline."""
    with tempfile.TemporaryDirectory() as folder:
        rosenblatt.save(model, f"{folder}/m")
        return make_onnx_graph(load_model(f"{folder}/m"), words).SerializeToString()


def test_words_that_were_not_met_count_as_missing():
    rows = make_people()
    model = rosenblatt.train(rows, label="kind", tune=False, listener=Listener())
    strange = [{**rows[0], "job": "astronaut", "town": "Atlantis"}]
    missing = [{**rows[0], "job": "", "town": ""}]
    content = export_pipeline(model)
    (_, unknown), (_, scores) = (run_on_rows(content, each, model) for each in (strange, missing))
    assert unknown.tolist() == scores.tolist()
    np.testing.assert_allclose(scores, model.decision_function(missing), rtol=1e-4)


def test_words_that_share_a_column_share_its_weight():
    rows = make_people()
    model = rosenblatt.train(rows, label="kind", bits=4, listener=Listener())  # 16 columns
    words = {name: sorted({row[name] for row in rows}) for name in ("job", "town")}
    labels, scores = run_on_rows(export_pipeline(model, words), rows, model)
    np.testing.assert_allclose(scores, model.decision_function(rows), rtol=1e-4, atol=1e-4)
    assert labels.tolist() == model.predict(rows).tolist()


def test_words_that_the_model_does_not_name_come_from_a_file(tmp_path):
    from rosenblatt.export import MissingWordsError, collect_words

    rows = [
        {"name": f" person {k} ", "happy": k % 3 == 0, "x": k % 5, "kind": "ab"[k % 2]}
        for k in range(1500)
    ]
    model = rosenblatt.train(rows, label="kind", category=["name", "happy"], tune=False)
    with pytest.raises(MissingWordsError):
        export_pipeline(model)
    rosenblatt.save(model, tmp_path / "m")
    words = collect_words(load_model(tmp_path / "m"), rows)
    assert len(words["name"]) == 1500
    _, scores = run_on_rows(export_pipeline(model, words), rows, model)
    np.testing.assert_allclose(scores, model.decision_function(rows), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("options", "word"),
    [({"text": "note"}, "n-grams"), ({"pairs": True}, "products"), ({"bins": 4}, "bins")],
)
def test_what_cannot_be_looked_up_is_refused(options, word):
    rows = [{"note": f"some words {k % 3}", "x": k, "kind": k > 5} for k in range(12)]
    model = rosenblatt.train(rows, label="kind", **options)
    with pytest.raises(ValueError, match=word):
        export_pipeline(model)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_are_predicted_in_their_unit(dtype, tmp_path):
    X = small_numbers("two", dtype)[0]
    y = 1000 + X @ np.array([3.0, -2.0, 0.5]) + np.arange(60) % 7
    model = PassiveAggressiveRegressor(C=100.0, solution="average", random_state=0).fit(X, y)
    graph = make_onnx_graph(saved(model, tmp_path / "model.safetensors"))
    onnx.checker.check_model(graph, full_check=True)
    labels, scores = answers(graph, X)
    assert (labels.dtype, labels.shape, scores.dtype) == (np.float64, (60,), X.dtype)
    assert np.allclose(labels, model.predict(X), rtol=1e-5)


def test_numbers_of_a_file_with_categories_are_exported(tmp_path):
    rng = np.random.default_rng(0)
    rooms, town = rng.integers(1, 9, 200), rng.choice(["Ulm", "Jena"], 200)
    price = 50_000 + 20_000 * rooms + 30_000 * (town == "Ulm") + 100 * rng.normal(size=200)
    lines = [f"{a},{b},{c:.1f}" for a, b, c in zip(rooms, town, price, strict=True)]
    (tmp_path / "house.csv").write_text("rooms,town,price\n" + "\n".join(lines) + "\n")
    model = train(read(tmp_path / "house.csv", label="price", names=99), Request())
    save_model(tmp_path / "model", model)
    assert write_onnx(tmp_path / "model.onnx", model) == 2
    session = runtime.InferenceSession(tmp_path / "model.onnx")
    given = {"X": rooms[:, None].astype(np.float32), "categories": town[:, None].astype(object)}
    (labels,) = session.run(["label"], given)
    frame = read(tmp_path / "house.csv", label=False, features=model.features["recipe"])
    expected = rosenblatt.load(tmp_path / "model")[-1].predict(next(iter(frame)).X)
    assert np.allclose(labels, expected)
    assert np.abs(labels - price).mean() < 5_000


@pytest.mark.parametrize("labels", ["classes", "two classes", "numbers"])
def test_skl2onnx_converts_a_pipeline(labels):
    skl2onnx = pytest.importorskip("skl2onnx")
    register_converters()
    X, y = blobs(60, 3, 2 if "two" in labels else 3)
    X = X.astype(np.float32)
    y = X @ np.arange(3) if labels == "numbers" else np.array(["a", "b", "c"])[y]
    kind = PassiveAggressiveRegressor if labels == "numbers" else AROW
    whole = make_pipeline(StandardScaler(), kind(random_state=0)).fit(X, y)
    session = runtime.InferenceSession(skl2onnx.to_onnx(whole, X[:1]).SerializeToString())
    predicted = session.run(None, {"X": X})[0].ravel()
    if labels == "numbers":
        np.testing.assert_allclose(predicted, whole.predict(X), rtol=1e-4, atol=1e-4)
    else:
        np.testing.assert_array_equal(predicted, whole.predict(X))
