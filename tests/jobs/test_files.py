"""Training from files does to the last bit what Perceptron does to the same rows in memory."""

import copy
import io
import json
from typing import NamedTuple

import numpy as np
import pyarrow
import pytest
from pyarrow import csv, parquet
from scipy.sparse import csr_array, vstack
from sklearn.metrics import f1_score

import rosenblatt
from rosenblatt import Perceptron, progressive
from rosenblatt.data.splits import Split
from rosenblatt.jobs import files
from rosenblatt.jobs.evaluate import evaluate, scored
from rosenblatt.jobs.files import FileRows
from rosenblatt.jobs.job import FileJob
from rosenblatt.kernels.algebra import shuffle
from rosenblatt.learners.linear import LinearLearner
from rosenblatt.parameters import RULE_TABLE
from rosenblatt.reading.reader import read, read_whole
from rosenblatt.shell.progress import ProgressPrinter
from rosenblatt.storage.file import load_model, save_model
from rosenblatt.training.linear_state import SOLUTIONS
from rosenblatt.training.plan import IN_MEMORY_ROWS, DataProfile, Request
from rosenblatt.training.report import Listener

FORMATS = ["svm", "csv", "vw"]
BATCHES = [1, 700, 1 << 20]


class Heard(Listener):
    """Notes down all that a training says."""

    def __init__(self):
        self.tallies, self.epochs, self.notes, self.left = [], [], [], []

    def batch(self, tally):
        self.tallies.append(tally)

    def epoch(self, epoch):
        self.epochs.append(epoch)

    def note(self, sentence):
        self.notes.append(sentence)

    def offer(self, unfinished):
        """As a keeper: keep every model that could be gone on from."""
        self.left.append(copy.deepcopy(unfinished()))


class How(NamedTuple):
    """How to train, in few words."""

    solution: str = "average"
    order: str | None = None
    epochs: int = 10
    margin: float = 0.0
    seed: int = 0
    classes: list | None = None
    window: int = 0
    holdout: float | None = None
    early_stopping: bool = False
    balanced: bool = False
    multi_class: str = "argmax"

    def job(self, heard=None, begun=None):
        parameters = {
            "solution": self.solution,
            "order": self.order,
            "max_iter": self.epochs,
            "margin": self.margin,
            "intercept_step": 1.0,
            "random_state": self.seed,
            "early_stopping": self.early_stopping,
            "class_weight": "balanced" if self.balanced else None,
            "multi_class": self.multi_class,
        }
        names = None if self.classes is None else tuple(self.classes)
        options = {"window": self.window, "holdout": self.holdout}
        request = Request("perceptron", parameters, names, **options)
        return FileJob(request, heard or Listener(), heard, begun)


def train(reader, how, heard=None, begun=None):
    return files.train(reader, how.job(heard, begun))


def score(model, reader):
    return evaluate(LinearLearner.from_model(model), reader).score


def made(kind, classes=2, rows=200, seed=0, width=9, label=str):
    """A file of noisy rows: enough mistakes to tell any two ways of training apart."""
    random = np.random.default_rng(seed)
    labels = random.integers(classes, size=rows)
    labels[:classes] = range(classes)  # all are met in any first batch that is not tiny
    X = random.normal(size=(rows, width)).round(3)
    X[np.arange(rows), labels] += 1.5
    lines = {
        "csv": lambda x, y: ",".join(f"{value:.4g}" for value in x) + f",{label(y)}",
        "svm": lambda x, y: (
            f"{label(y)} " + " ".join(f"{j + 1}:{x[j]:.4g}" for j in range(width) if x[j] > -0.3)
        ),
        "vw": lambda x, y: (
            f"{label(y)} |a " + " ".join(f"f{j}:{x[j]:.4g}" for j in range(width) if x[j] > -0.3)
        ),
    }
    header = ",".join([*(f"c{j}" for j in range(width)), "y"]) + "\n" if kind == "csv" else ""
    return header + "".join(f"{lines[kind](*row)}\n" for row in zip(X, labels, strict=True))


@pytest.fixture
def write(tmp_path):
    """Write a text to a file."""

    def to_file(name, text):
        path = tmp_path / name
        path.write_text(text)
        return path

    return to_file


def matrix(path, **options):
    """The rows, labels and weights of a file as a person would hand them to fit."""
    batches = list(read(path, batch_bytes=1 << 20, **options))
    parts, width = [], batches[-1].width
    for values, indices, starts in (batch.rows for batch in batches):
        if indices is None:
            parts.append(values.reshape(-1, width))
        else:
            csr = values, indices.astype(np.int64), starts.astype(np.int64)
            parts.append(csr_array(csr, shape=(len(starts) - 1, width)))
    X = np.vstack(parts) if batches[0].rows.indices is None else vstack(parts, "csr")
    labels, weights = (
        None if batches[0][field] is None else np.concatenate([batch[field] for batch in batches])
        for field in (1, 2)
    )
    if labels is not None:
        labels = labels.astype(str if labels.dtype.kind in "OU" else np.int64)
    return X, labels, weights


def streamed(path, how, batch_bytes=1 << 20, **options):
    reader = read(path, batch_bytes=batch_bytes, **options)
    return run(reader, how._replace(order=how.order or "fixed"), DataProfile(fits=False))


def in_memory(path, how, batch_bytes=1 << 20, **options):
    reader = read(path, batch_bytes=batch_bytes, **options)
    return run(reader, how, IN_MEMORY_ROWS)


def run(reader, how, found):
    """Learn in memory or as a stream, whatever the size of a file."""
    job = how.job()
    plan = job.make_plan(found)
    reader.hold_out(plan.split)
    whole = None if plan.stream else read_whole(reader)
    return files.learn(FileRows(reader, whole, plan, job.reporter), job)


def predicted(model, reader):
    learner = LinearLearner.from_model(model)
    codes = [learner.choose(activations) for _, activations in scored(learner, reader)]
    return model.classes[np.concatenate(codes)]


def assert_same(model, fitted):
    """The weights, the bias and the counts are those of a Perceptron, bit for bit."""
    learner = LinearLearner.from_model(model)
    coef, bias = learner.coefficients()
    np.testing.assert_array_equal(coef, fitted.coef_)
    np.testing.assert_array_equal(bias, fitted.intercept_)
    assert coef.dtype == fitted.coef_.dtype
    assert sum(state.mistakes for state in learner.states) == fitted.n_mistakes_
    assert model.classes.tolist() == fitted.classes_.tolist()
    assert len(model.history) == fitted.n_iter_
    assert model.facts["stop_reason"] == fitted.stop_reason_


# The same as Perceptron.


@pytest.mark.parametrize(("epochs", "batch_bytes"), [*((1, size) for size in BATCHES), (4, 700)])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("solution", ["last", "average"])
@pytest.mark.parametrize("kind", FORMATS)
def test_passes_as_a_stream_are_fit(write, kind, solution, classes, epochs, batch_bytes):
    path = write(f"rows.{kind}", made(kind, classes))
    names = [str(label) for label in range(classes)]
    how = How(solution, epochs=epochs, classes=names if batch_bytes == 1 else None)
    model = streamed(path, how, batch_bytes)
    fitted = Perceptron(solution=solution, order="fixed", max_iter=epochs).fit(*matrix(path))
    assert fitted.n_mistakes_ > 20
    assert_same(model, fitted)
    assert [e.mistakes for e in model.history] == [e.mistakes for e in fitted.history_]


@pytest.mark.parametrize("kind", FORMATS)
def test_train_reads_one_pass_as_a_stream(write, kind):
    path = write(f"rows.{kind}", made(kind))
    heard = Heard()
    model = train(read(path, batch_bytes=700, scale="none"), How(epochs=1), heard)
    tallies, epochs = heard.tallies, heard.epochs
    raw = matrix(path, scale="none")
    fitted = Perceptron(solution="average", order="fixed", max_iter=1).fit(*raw)
    assert_same(model, fitted)
    assert len(tallies) > 3
    assert [tally.rows for tally in tallies] == sorted({tally.rows for tally in tallies})
    assert tallies[-1] == (200, path.stat().st_size, fitted.n_mistakes_, 1)
    assert [(epoch.epoch, epoch.mistakes) for epoch in epochs] == [(1, fitted.n_mistakes_)]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("solution", list(SOLUTIONS))
@pytest.mark.parametrize(("order", "seed"), [("each", 7), ("once", 3), ("fixed", 0)])
def test_in_memory_is_fit(write, kind, classes, solution, order, seed):
    path = write(f"rows.{kind}", made(kind, classes))
    model = in_memory(path, How(solution, order, 5, seed=seed), 700)
    fitted = Perceptron(solution=solution, order=order, max_iter=5, random_state=seed)
    assert_same(model, fitted.fit(*matrix(path)))
    assert list(model.history) == fitted.history_


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("solution", list(SOLUTIONS))
def test_one_problem_per_class_is_fit(write, kind, solution):
    path = write(f"rows.{kind}", made(kind, 3))
    fitted = Perceptron(solution=solution, order="each", max_iter=5, random_state=7)
    fitted.set_params(multi_class="ovr").fit(*matrix(path))
    model = in_memory(path, How(solution, "each", 5, seed=7, multi_class="ovr"), 700)
    assert_same(model, fitted)
    assert list(model.history) == fitted.history_
    if solution in ("last", "average"):
        model = streamed(path, How(solution, epochs=5, multi_class="ovr"), 700)
        assert_same(model, fitted.set_params(order="fixed").fit(*matrix(path)))


# Any number of labels of a row.


def made_sets(kind, rows=200, seed=0, width=7):
    """A file of rows with several labels or none, and the same as X and an indicator."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, width)).round(3)
    Y = X[:, :4] + random.normal(size=(rows, 4)) > np.array([0.5, 1, 0, 2])
    Y[:2] = [[1, 1, 1, 1], [0, 0, 0, 0]]  # all are met in any first batch that is not tiny
    separator = "," if kind == "svm" else ";"
    labels = [separator.join(str(k) for k in np.flatnonzero(row)) for row in Y]
    text = "" if kind == "svm" else ",".join([*(f"c{j}" for j in range(width)), "y"]) + "\n"
    for x, label in zip(X, labels, strict=True):
        pairs = " ".join(f"{j + 1}:{value:.4g}" for j, value in enumerate(x))
        cells = ",".join(f"{value:.4g}" for value in x)
        text += f"{label} {pairs}\n" if kind == "svm" else f"{cells},{label}\n"
    return text, X.astype(np.float32), Y.astype(int)


@pytest.mark.parametrize("kind", ["svm", "csv"])
@pytest.mark.parametrize("solution", list(SOLUTIONS))
def test_label_sets_of_a_file_are_fit(write, kind, solution, tmp_path):
    text, X, Y = made_sets(kind)
    path, options = write(f"rows.{kind}", text), {"scale": "none"}
    options |= {} if kind == "svm" else {"labels_separator": ";"}
    rows = csr_array(X) if kind == "svm" else X
    fitted = Perceptron(solution=solution, order="each", max_iter=4, random_state=7).fit(rows, Y)
    model = in_memory(path, How(solution, "each", 4, seed=7), 700, **options)
    model = model._replace(classes=np.array([int(label) for label in model.classes]))
    assert_same(model, fitted)
    assert list(model.history) == fitted.history_
    assert model.facts["class_rows"] == Y.sum(axis=0).tolist()
    if solution in ("last", "average"):
        streaming = streamed(path, How(solution, epochs=4), 700, **options)
        fitted.set_params(order="fixed").fit(rows, Y)
        assert_same(streaming._replace(classes=model.classes), fitted)
        found = evaluate(
            LinearLearner.from_model(streaming), read(path, features=streaming.features["recipe"])
        )
        expected = f1_score(Y, fitted.predict(rows), average="micro")
        assert found["micro_f1"] == pytest.approx(expected)


def choose_some(left):
    """Up to four of the places where a run was left: the first, the last and others between."""
    return [left[k] for k in sorted({round(k) for k in np.linspace(0, len(left) - 1, 4)})]


@pytest.mark.parametrize("size", [1, 1 << 30])
def test_label_sets_are_held_out_left_and_resumed(write, tmp_path, monkeypatch, size):
    monkeypatch.setattr(files, "IN_MEMORY", size)
    path, heard = write("rows.svm", made_sets("svm")[0]), Heard()
    how = How("average", "fixed", 6, early_stopping=True, holdout=0.3)
    whole = train(read(path, batch_bytes=900), how, heard)
    assert all(0.5 < epoch.validation_score < 1 for epoch in whole.history)
    assert len(heard.left) > 1
    for unfinished in choose_some(heard.left):
        save_model(tmp_path / "model", unfinished)
        begun = load_model(tmp_path / "model")
        resumed = train(read(path, batch_bytes=900), how, begun=begun)
        assert resumed.history == whole.history
        for one, other in zip(whole.states, resumed.states, strict=True):
            np.testing.assert_equal(vars(one), vars(other))


def test_rows_of_several_labels_are_counted_once(write, monkeypatch, capsys):
    monkeypatch.setattr(files, "IN_MEMORY", 1)
    path, heard = write("rows.svm", made_sets("svm")[0]), Heard()
    model = train(read(path, batch_bytes=900), How("last", epochs=1), heard)
    last = heard.tallies[-1]
    assert (last.rows, last.problems, last.mistakes) == (200, 4, model.history[0].errors)
    ProgressPrinter("json").window(last)
    printed = json.loads(capsys.readouterr().out)
    assert (printed["rows"], printed["error"]) == (200, last.mistakes / 800)


def test_a_late_label_of_several_begins_the_run_again(write):
    text = "1,2 1:1\n 1:-1\n" * 50 + "3 1:2\n" * 50
    model = streamed(write("rows.svm", text), How(epochs=2), 200)
    assert model.classes.tolist() == [1, 2, 3]
    one = streamed(write("rows.svm", "1 1:1\n 1:-1\n" * 50), How(), labels_separator=",")
    assert (one.classes.tolist(), len(one.states), one.is_multilabel) == ([1], 1, True)
    with pytest.raises(ValueError, match="No row has a label; name all labels with classes"):
        streamed(write("rows.svm", "1:1\n1:-1\n"), How(), labels_separator=",")


@pytest.mark.parametrize("order", ["batch", "active", "first", "worst"])
def test_the_other_orders_in_memory_are_fit(write, order):
    path = write("rows.csv", made("csv"))
    model = in_memory(path, How("last", order, 5))
    assert_same(model, Perceptron(order=order, max_iter=5, random_state=0).fit(*matrix(path)[:2]))


def test_a_margin_is_kept(write):
    path = write("rows.svm", made("svm"))
    fitted = Perceptron(margin=2.5, order="fixed", max_iter=3).fit(*matrix(path)[:2])
    assert_same(streamed(path, How("last", margin=2.5, epochs=3), 700), fitted)
    assert_same(in_memory(path, How("last", "fixed", 3, 2.5), 700), fitted)


def test_a_stream_stops_when_nothing_is_wrong(write):
    path = write("rows.svm", "0 1:-1\n1 1:2\n" * 20)
    model = streamed(path, How("last", epochs=50))
    assert model.facts["stop_reason"] == "separated"
    assert len(model.history) < 50
    assert model.history[-1].mistakes == 0


@pytest.mark.parametrize(("size", "epochs", "order"), [(1, 3, None), (1 << 30, 1, "fixed")])
def test_large_files_and_single_passes_are_streams(write, monkeypatch, size, epochs, order):
    monkeypatch.setattr(files, "IN_MEMORY", size)
    monkeypatch.delattr(files, "read_whole")
    path = write("rows.svm", made("svm"))
    model = train(read(path), How("last", order, epochs))
    assert_same(model, Perceptron(order="fixed", max_iter=epochs).fit(*matrix(path)[:2]))


def test_what_a_stream_cannot_do_is_said(write, monkeypatch):
    monkeypatch.setattr(files, "IN_MEMORY", 1)
    path = write("rows.svm", made("svm"))
    with pytest.raises(ValueError, match="A stream is read in its order"):
        train(read(path), How(order="each"))
    with pytest.raises(ValueError, match="A stream is read in its order"):
        train(read(path), How(order="fixed", window=50))
    with pytest.raises(ValueError, match="solution='pocket' needs the rows in memory"):
        train(read(path), How("pocket"))


# Columns that come later.


@pytest.mark.parametrize("labels", ["01", "012"])
@pytest.mark.parametrize("solution", ["last", "average"])
def test_later_batches_bring_new_columns(write, solution, labels):
    rows = [f"{labels[i % len(labels)]} 1:{i % 7 - 3} {2 + i // 10}:1\n" for i in range(120)]
    path = write("rows.svm", "".join(rows))
    widths = [batch.width for batch in read(path, batch_bytes=100)]
    assert widths[0] < widths[-1] == 13
    fitted = Perceptron(solution=solution, order="fixed", max_iter=2).fit(*matrix(path)[:2])
    assert_same(streamed(path, How(solution, epochs=2), 100), fitted)
    assert_same(in_memory(path, How(solution, "fixed", 2), 100), fitted)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_file_wider_than_the_model(write, classes):
    path = write("rows.svm", made("svm", classes))
    model = train(read(path), How())
    text = path.read_text()
    wide = write("wide.svm", text.replace("\n", " 500:3\n"))
    narrow = write("narrow.svm", "".join(f"{line.split()[0]} 1:1\n" for line in text.splitlines()))
    assert predicted(model, read(wide)).tolist() == predicted(model, read(path)).tolist()
    X, y, _ = matrix(narrow)
    weights, bias = model.states[0].coefficients()
    scores = X.toarray() @ weights[:1].reshape(1, -1) + bias
    best = scores.argmax(axis=1) if classes > 2 else (scores[:, 0] > 0).astype(int)
    assert predicted(model, read(narrow)).tolist() == best.tolist()
    assert score(model, read(narrow)).errors == np.count_nonzero(best != y)
    assert len(model.states[0].weights) == 9


def test_columns_of_a_table_are_found_by_name(write):
    path = write("rows.csv", made("csv"))
    model = train(read(path), How())
    lines = [line.split(",") for line in path.read_text().splitlines()]
    turned = write("turned.csv", "".join(",".join(["7", *line[::-1]]) + "\n" for line in lines))
    turned.write_text(turned.read_text().replace("7", "extra", 1))
    recipe = model.features["recipe"]
    expected = predicted(model, read(path, features=recipe))
    assert predicted(model, read(turned, features=recipe)).tolist() == expected.tolist()
    assert score(model, read(turned, features=recipe)) == score(model, read(path))


# Labels and weights.


LATE = "0 1:1\n1 2:1\n" * 50 + "2 1:1\n"


@pytest.mark.parametrize("text", [LATE, "0 1:1\n" * 50 + "1 2:1\n" * 50])
def test_a_label_that_comes_late_makes_the_run_begin_again(write, text):
    path, heard = write("rows.svm", text), Heard()
    model = train(read(path, batch_bytes=60), How(epochs=1), heard)
    assert_same(model, averaged(path, 1))
    assert len(heard.notes) == 1
    assert "the run begins again" in heard.notes[0]


def test_a_label_that_comes_late_in_a_pipe_is_named_with_its_row(write):
    with pytest.raises(
        ValueError, match=r"^Row 101 has the label 2, which is not among the classes \[0, 1\]"
    ):
        train(read(Pipe(LATE), format="svm", batch_bytes=60), How(epochs=1))
    named = How(epochs=1, classes=["0", "1", "2"])
    model = train(read(Pipe(LATE), format="svm", batch_bytes=60), named)
    assert_same(model, averaged(write("rows.svm", LATE), 1))


class Pipe(io.BytesIO):
    """Bytes that can be read once."""

    def __init__(self, text):
        super().__init__(text.encode())

    def seekable(self):
        return False


def averaged(path, epochs, **parameters):
    """The averaged perceptron of a file, in its order."""
    model = Perceptron(solution="average", order="fixed", max_iter=epochs, **parameters)
    return model.fit(*matrix(path))


def test_labels_that_are_words(write):
    path = write("rows.csv", made("csv", 3, label=lambda y: ["oak", "a long word", "Ünit"][y]))
    model = train(read(path, batch_bytes=700), How())
    assert model.classes.tolist() == ["a long word", "oak", "Ünit"]
    X, y, _ = matrix(path)
    fitted = Perceptron(solution="average", max_iter=10, random_state=0).fit(X, y)
    assert_same(model, fitted)
    assert score(model, read(path)).errors == np.count_nonzero(fitted.predict(X) != y)
    with pytest.raises(ValueError, match=r"^Row 4 has the label 'pine'"):
        streamed(
            write("late.csv", "a,y\n1,oak\n2,elm\n1,oak\n2,pine\n"), How(classes=["oak", "elm"])
        )


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["0", "1"], [0, 1]),
        (["0.0", "1.0"], [0, 1]),
        (["0e0", "+1"], [0, 1]),
        (["-1", "+1"], [-1, 1]),
        (["0.5", "1"], [0.5, 1.0]),
    ],
)
def test_labels_are_numbers_and_whole_ones_integers(write, labels, classes):
    path = write("rows.svm", f"{labels[0]} 1:-1\n{labels[1]} 1:1\n" * 9)
    model = train(read(path), How())
    assert model.classes.tolist() == classes
    assert model.classes.dtype == type(classes[0])
    assert score(model, read(path)).errors == 0


def test_importance_weights_scale_the_steps(write):
    lines = made("vw").splitlines()
    weights = np.random.default_rng(1).choice([0, 0.5, 1, 3], size=len(lines))
    weights[:2] = 1
    weighed = [f"{a[:2]}{w} {a[2:]}\n" for a, w in zip(lines, weights, strict=True)]
    path = write("rows.vw", "".join(weighed))
    X, y, read_weights = matrix(path)
    np.testing.assert_array_equal(read_weights, weights)
    fitted = Perceptron(solution="average", order="fixed", max_iter=3).fit(X, y, weights)
    assert_same(streamed(path, How(epochs=3), 700), fitted)
    assert_same(in_memory(path, How(order="fixed", epochs=3), 700), fitted)
    # A row of weight 0 is never seen: it might as well not be there.
    without = write("rest.vw", "".join(np.array(weighed)[weights > 0]))
    rest = streamed(without, How(epochs=3), 700).states[0]
    np.testing.assert_array_equal(rest.coefficients()[0], fitted.coef_[0])
    assert rest.seen == streamed(path, How(epochs=3)).states[0].seen


# Predictions.


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("solution", list(SOLUTIONS))
def test_predictions_of_a_model_and_of_its_file(write, tmp_path, kind, classes, solution):
    path = write(f"rows.{kind}", made(kind, classes))
    unseen = write(f"unseen.{kind}", made(kind, classes, rows=60, seed=1))
    model = train(read(path, scale="none"), How(solution, order="each", epochs=3, seed=5))
    raw = matrix(path, scale="none")
    fitted = Perceptron(solution=solution, max_iter=3, random_state=5).fit(*raw)
    save_model(tmp_path / "m.safetensors", model)
    again, loaded = (load(tmp_path / "m.safetensors") for load in (load_model, rosenblatt.load))
    recipe = again.features["recipe"]
    assert json.dumps(recipe) == json.dumps(model.features["recipe"])
    X, y, _ = matrix(unseen, features=recipe)
    expected = fitted.predict(X)
    assert loaded.predict(X).tolist() == expected.tolist()
    for size in BATCHES:
        for one in (model, again):
            rows = read(unseen, features=recipe, batch_bytes=size)
            assert predicted(one, rows).tolist() == expected.tolist()
        found = score(model, read(unseen, features=recipe, batch_bytes=size))
        assert (found.rows, found.errors) == (60, np.count_nonzero(expected != y))
    if solution != "pocket":
        one, other = loaded[-1].partial_fit(X, y), fitted.partial_fit(X, y)
        np.testing.assert_array_equal(one.coef_, other.coef_)


def test_a_loaded_model_says_how_it_was_trained(write, tmp_path):
    path = write("rows.csv", made("csv"))
    how = How("average", margin=0.5, epochs=3, seed=4)
    save_model(tmp_path / "m.safetensors", train(read(path), how))
    loaded = rosenblatt.load(tmp_path / "m.safetensors")[-1]
    assert (loaded.margin, loaded.max_iter, loaded.random_state) == (0.5, 3, 4)
    again = Perceptron(**loaded.get_params()).fit(*matrix(path)[:2])
    np.testing.assert_array_equal(again.coef_, loaded.coef_)


# What goes wrong, in a sentence.


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("empty.svm", "", r"empty.svm is empty\."),
        ("empty.csv", "", r"empty.csv is empty\."),
        ("empty.vw", "", r"empty.vw is empty\."),
        ("comments.svm", "# nothing\n", r"There are no rows to learn from in .*comments\.svm\."),
        ("one.svm", "1 1:1\n1 2:1\n", r"only the label 1; a model needs two"),
        ("one.csv", "a,y\n1,oak\n2,oak\n", r"only the label oak; a model needs two"),
        ("none.vw", "|a x\n|a y\n", r"none of its 2 rows has a label\."),
        ("broken.svm", "1 1:1\n0 x\n", r"broken.svm, line 2, column 3: "),
        ("bare.svm", "1\n0\n", r"No row has a column to learn from\."),
        ("nothing.vw", "1 0 |a x\n-1 0 |a y\n", "no rows to learn from"),
        ("wide.svm", "0 1:1\n1 2147483647:1\n", "2,147,483,647 columns for 2 classes are"),
        ("big.svm", "0 1:3e38 2:3e38\n1 1:3e38 2:3e38\n" * 9, r"grew beyond"),
    ],
)
@pytest.mark.parametrize("epochs", [1, 5])
@pytest.mark.parametrize("solution", ["last", "average"])
def test_bad_files_get_one_sentence(write, name, text, sentence, epochs, solution):
    with pytest.raises(ValueError, match=sentence) as error:
        train(read(write(name, text)), How(solution, epochs=epochs))
    assert "\n" not in str(error.value)


def test_a_row_without_a_label_is_left_out_whatever_the_batches(write):
    text = "1 |a x\n-1 |a y\n" * 50
    known, path = write("known.vw", text), write("rows.vw", text + "|a z\n")
    for batch_bytes in (60, 1 << 20):
        model, other = (streamed(each, How(), batch_bytes) for each in (path, known))
        assert model.states[0].weights.tobytes() == other.states[0].weights.tobytes()


def test_measurements_are_no_classes(write):
    path = write("rows.svm", "".join(f"{i / 7:.6f} 1:1\n" for i in range(1100)))
    with pytest.raises(ValueError, match="1100 different numbers, too many for classes"):
        train(read(path, numbers=False), How())


def test_a_file_without_labels_cannot_be_scored(write):
    path = write("rows.csv", made("csv"))
    model = train(read(path), How())
    recipe = model.features["recipe"]
    bare = write("bare.csv", "\n".join(s.rpartition(",")[0] for s in path.read_text().splitlines()))
    assert len(predicted(model, read(bare, features=recipe))) == 200
    with pytest.raises(ValueError, match="has no labels"):
        score(model, read(bare, features=recipe))


def test_the_last_update_may_overflow(write):
    path = write("rows.vw", "-1 |b y\n1 10 |a x:3e38\n")
    for solution in ("last", "average"):
        for how in (How(solution, epochs=1), How(solution, "fixed", 1)):
            with pytest.raises(ValueError, match="grew beyond"):
                train(read(path, scale="none"), how)
    with pytest.raises(ValueError, match="grew beyond"):
        in_memory(path, How("last", "fixed", 1), scale="none")


# What is learnt from, and how much it weighs.


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("way", [streamed, in_memory])
def test_held_out_rows_are_not_learnt_from_but_tested(write, kind, way):
    path = write(f"rows.{kind}", made(kind))
    how = How(order="fixed", epochs=3, seed=5, holdout=0.25)
    model = way(path, how, 700)
    recipe = model.features["recipe"]
    X, y, weights = matrix(path, features=recipe, label=recipe["label"])
    held = Split(how.holdout, how.seed).held_out(0, len(y))
    assert 30 < held.sum() < 70
    fitted = Perceptron(solution="average", order="fixed", max_iter=3)
    fitted.fit(X, y, np.where(held, 0, 1 if weights is None else weights))
    assert_same(model, fitted)
    wrong = int((fitted.predict(X)[held] != y[held]).sum())
    assert model.facts["held_out"] == {"rows": int(held.sum()), "errors": wrong}
    assert model.facts["rows"] == len(y)
    assert model.history[-1].rows == len(y) - held.sum()


def test_a_holdout_without_rows_is_refused(write):
    path = write("rows.svm", "0 1:1\n1 2:1\n")
    with pytest.raises(ValueError, match="held no row out; take a larger share"):
        train(read(path), How(holdout=0.001))


@pytest.mark.parametrize("way", [streamed, in_memory])
@pytest.mark.parametrize("classes", [2, 3])
def test_balanced_classes(write, way, classes):
    path = write("rows.csv", made("csv", classes) + made("csv", 1, seed=1).split("\n", 1)[1])
    model = way(path, How(order="fixed", epochs=2, balanced=True), 700)
    fitted = averaged(path, 2, class_weight="balanced")
    assert_same(model, fitted)
    weights = model.parameters["class_weight"]
    assert list(weights) == list(range(classes))
    assert weights[0] < 1 < weights[1]


def test_a_class_without_rows_cannot_be_balanced(write):
    path = write("rows.csv", made("csv"))
    with pytest.raises(ValueError, match="No row has the label 2, so"):
        train(read(path), How(balanced=True, classes=["0", "1", "2"]))


@pytest.mark.parametrize("way", [streamed, in_memory])
def test_early_stopping_takes_the_best_epoch(write, way):
    path = write("rows.csv", made("csv", 3))
    how = How("last", order="fixed", epochs=40, early_stopping=True, holdout=0.3, seed=3)
    model = way(path, how, 700)
    scores = [epoch.validation_score for epoch in model.history]
    assert model.facts["stop_reason"] == "no_improvement"
    assert len(scores) == scores.index(max(scores)) + 6
    held = model.facts["held_out"]
    assert 1 - held["errors"] / held["rows"] == pytest.approx(max(scores))


def test_early_stopping_holds_a_tenth_out_unless_told(write):
    path = write("rows.csv", made("csv", rows=1000))
    model = train(read(path), How(early_stopping=True, epochs=2))
    assert 60 < model.facts["held_out"]["rows"] < 140


@pytest.mark.parametrize("option", ["epochs", "holdout", "balanced", "early_stopping"])
def test_a_pipe_cannot_do_what_needs_another_read(option):
    value = {"holdout": 0.5, "early_stopping": True}.get(option, 2)
    how = How(epochs=1)._replace(**{option: value})
    with pytest.raises(ValueError, match=r"can be read only once, but [a-z_]+ needs to read it"):
        train(read(Pipe(made("svm")), format="svm"), how)


# Windows.


@pytest.mark.parametrize("window", [1, 7, 64, 200, 10_000])
@pytest.mark.parametrize("batch_bytes", [300, 1 << 20])
@pytest.mark.parametrize("order", [None, "once"])
def test_windows_shuffle_within_so_many_rows(write, window, batch_bytes, order):
    path = write("rows.svm", made("svm", 3))
    how = How(order=order, epochs=2, window=window, seed=4)
    model = train(read(path, batch_bytes=batch_bytes), how)
    X, y, _ = matrix(path)
    rows = []
    for epoch in (0, 0) if order == "once" else (1, 2):
        for number, begin in enumerate(range(0, len(y), window)):
            some = np.arange(begin, min(begin + window, len(y)), dtype=np.uint32)
            shuffle(some, 4, number << 32 | epoch)
            rows += some.tolist()
    fitted = Perceptron(solution="average", order="fixed", max_iter=1).fit(X[rows], y[rows])
    np.testing.assert_array_equal(model.states[0].coefficients()[0].T, fitted.coef_)


# Leaving a run and going on.

LESSONS = [
    How("last", "fixed", 3),
    How("average", "each", 4, seed=3),
    How("average", "each", 3, window=30),
    How("last", "once", 3, balanced=True),
    How("last", "active", 5, margin=1.0),
    How("pocket", "each", 4),
    How("average", "each", 12, early_stopping=True, holdout=0.3),
    How("average", "fixed", 6, early_stopping=True, holdout=0.3),
    How("average", "fixed", 6, early_stopping=True, holdout=0.3, multi_class="ovr"),
]


@pytest.mark.parametrize(
    ("how", "size"),
    [(how, 1 << 30) for how in LESSONS]
    + [(how, 1) for how in LESSONS if how.order == "fixed" or how.window],
)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_resumed_run_ends_as_if_it_had_not_been_left(
    write, tmp_path, monkeypatch, how, size, classes
):
    monkeypatch.setattr(files, "IN_MEMORY", size)
    path, heard = write("rows.csv", made("csv", classes)), Heard()
    whole = train(read(path, batch_bytes=900), how, heard)
    assert len(heard.left) > 1
    for unfinished in choose_some(heard.left):
        save_model(tmp_path / "model", unfinished)
        begun = load_model(tmp_path / "model")
        assert begun.facts["stop_reason"] == "unfinished"
        resumed = train(read(path, batch_bytes=900), how, begun=begun)
        assert resumed.history == whole.history
        assert resumed.facts == whole.facts
        assert resumed.checkpoint is None
        for one, other in zip(whole.states, resumed.states, strict=True):
            np.testing.assert_equal(vars(one), vars(other))


def train_other(path, ordinal, heard=None, begun=None, **reading):
    """Train on labels that are numbers, or ranks in some order."""
    request = Request(None, {"max_iter": 6, "early_stopping": True}, ordinal=ordinal)
    reader = read(path, numbers=ordinal is None, **reading)
    return files.train(reader, FileJob(request, Listener(), heard, begun))


@pytest.mark.parametrize("ordinal", [None, (2, 1, 0)])
def test_a_run_of_numbers_or_ranks_is_resumed(write, tmp_path, ordinal):
    path, heard = write("rows.csv", made("csv", 3)), Heard()
    whole = train_other(path, ordinal, heard)
    for unfinished in choose_some(heard.left):
        save_model(tmp_path / "model", unfinished)
        resumed = train_other(path, ordinal, begun=load_model(tmp_path / "model"))
        assert (resumed.history, resumed.facts) == (whole.history, whole.facts)
        assert np.array_equal(resumed.states[0].weights, whole.states[0].weights)
        assert np.array_equal(resumed.states[0].bias, whole.states[0].bias)


def test_one_pass_of_numbers_does_not_depend_on_batches(tmp_path):
    """The centre and the scale of the numbers are those of the first rows, however they are cut."""
    rng = np.random.default_rng(0)
    columns = {"a": rng.normal(size=60), "w": rng.choice(["u", "v"], 60).tolist()}
    table = pyarrow.table({**columns, "y": np.arange(60.0) + rng.normal(size=60)})
    csv.write_csv(table, tmp_path / "0.csv")
    for size in (7, 60):
        parquet.write_table(table, tmp_path / f"{size}.parquet", row_group_size=size)
    request = Request(None, {"max_iter": 1})
    models = [
        files.train(read(path, label="y", numbers=True, batch_bytes=size), request)
        for path in sorted(tmp_path.iterdir())
        for size in (99, 1 << 20)
    ]
    for model in models:
        assert model.facts["numbers"] == models[0].facts["numbers"]
        assert np.array_equal(model.states[0].weights, models[0].states[0].weights)


@pytest.mark.parametrize("ordinal", [None, (2, 1, 0)])
def test_progressive_errors_of_numbers_and_ranks(write, ordinal):
    """They are those of rows before they are learnt; a stream finds the scale of numbers first."""
    path, told = write("rows.csv", made("csv", 3, rows=90)), Told()
    request = Request(None, {"max_iter": 1, "solution": "last"}, ordinal=ordinal, progress_every=30)
    reader = read(path, numbers=ordinal is None, scale="none")
    model = files.train(reader, FileJob(request, told))
    X, y, _ = matrix(path, numbers=False, scale="none")
    kind = getattr(rosenblatt, model.estimator)
    estimator, errors = kind(**model.parameters), []
    center, scale = (y.mean(), y.std()) if ordinal is None else (0, 1)
    for x, label in zip(X, y, strict=True):
        if ordinal is None:
            code = (label - center) / scale
            errors.append(abs(estimator.predict_one(x) - code) * scale)
        else:
            code = label
            first = ordinal[-1]  # weights of 0 are a tie
            errors.append((estimator.predict_one(x) if errors else first) != code)
        estimator.learn_one(x, code)
    assert told.windows[-1] == (90, pytest.approx(sum(errors), rel=1e-4))
    assert told.windows[0] == (30, pytest.approx(sum(errors[:30]), rel=1e-4))
    again = files.train(
        read(path, numbers=ordinal is None, scale="none"),
        Request(None, {"max_iter": 1, "solution": "last", "order": "fixed"}, ordinal=ordinal),
    )
    np.testing.assert_array_equal(again.states[0].weights, model.states[0].weights)


def test_a_run_goes_on_only_as_it_began(write):
    path, heard = write("rows.csv", made("csv")), Heard()
    finished = train(read(path), How(epochs=3), heard)
    begun = heard.left[0]
    assert train(read(path), How(epochs=3), begun=finished) is finished
    with pytest.raises(ValueError, match=r"began with margin = 0\.0, not 1\.0; resume it with"):
        train(read(path), How(epochs=3, margin=1.0), begun=begun)
    with pytest.raises(ValueError, match="began with another batch_bytes"):
        train(read(path, batch_bytes=900), How(epochs=3), begun=begun)
    with pytest.raises(ValueError, match="began with other features"):
        train(read(path, label=0, numbers=False), How(epochs=3), begun=begun)
    path.write_text(made("csv", seed=1))
    with pytest.raises(ValueError, match="has changed since the run began"):
        train(read(path), How(epochs=3), begun=begun)


@pytest.mark.parametrize("name", ["nan", "inf", "1e300", "9007199254740993"])
def test_classes_are_numbers_that_a_label_can_be(write, name):
    path = write("rows.svm", made("svm"))
    with pytest.raises(ValueError, match=f"classes 0, 1, {name} are not all numbers below 2"):
        train(read(path), How(classes=["0", "1", name]))


# Small files that become large.


@pytest.mark.parametrize("kind", FORMATS)
def test_rows_that_outgrow_memory_are_learnt_as_a_stream(write, monkeypatch, kind):
    path, heard = write(f"rows.{kind}", made(kind)), Heard()
    monkeypatch.setattr(files, "MOST_IN_MEMORY", 1000)
    model = train(read(path, batch_bytes=700), How(epochs=3), heard)
    assert_same(model, averaged(path, 3))
    assert any("learnt as a stream" in note for note in heard.notes)
    with pytest.raises(ValueError, match="A stream is read in its order"):
        train(read(path, batch_bytes=700), How(order="each", epochs=3))


@pytest.mark.parametrize("importance", ["1e-60", "1e308"])
@pytest.mark.parametrize("epochs", [1, 3])
def test_an_importance_beyond_the_type_is_refused(write, importance, epochs):
    path = write("rows.vw", f"1 {importance} |a x\n-1 |a y\n" * 9)
    with pytest.raises(ValueError, match="too small or too large for float32"):
        train(read(path), How(epochs=epochs))


@pytest.mark.parametrize("size", BATCHES)
def test_the_bias_moves_by_a_tenth_of_the_squared_length_of_rows(tmp_path, size):
    path = tmp_path / "rows.csv"
    rng = np.random.default_rng(0)
    rows = [f"{a:.3f},{b:.3f},{int(a + b > 0)}" for a, b in rng.normal(size=(300, 2))]
    path.write_text("\n".join(["a,b,y", *rows]))
    for epochs in 1, 2:  # as a stream, and in memory
        training = Request("perceptron", {"max_iter": epochs})
        model = files.train(read(path, scale="none", batch_bytes=size), training)
        assert model.facts["intercept_step"] == 0.25  # of 0.2, as a power of 2
        assert model.parameters["intercept_step"] == 0.25
        assert model.facts["class_rows"] == np.bincount([int(row[-1]) for row in rows]).tolist()
    without = Request("perceptron", {"fit_intercept": False})
    assert files.train(read(path), without).states[0].bias[0] == 0
    with pytest.raises(ValueError, match="intercept_step must be a number from 0 up; got"):
        files.train(read(path), Request("perceptron", {"intercept_step": "radius"}))


# The error before learning.


class Told(Heard):
    def __init__(self):
        super().__init__()
        self.windows = []

    def window(self, tally):
        self.windows.append((tally.rows, tally.mistakes))


@pytest.mark.parametrize(
    ("rule", "own"),
    [
        ("perceptron", {"solution": "last"}),
        ("perceptron", {"solution": "average"}),
        ("alma", {"solution": "average"}),
        ("arow", {"solution": "average"}),
        ("scw", {"solution": "last"}),
    ],
)
@pytest.mark.parametrize("kind", ["svm", "csv"])
@pytest.mark.parametrize("classes", [2, 3])
def test_every_row_is_predicted_by_all_before_it(write, rule, own, kind, classes):
    path, told = write(f"rows.{kind}", made(kind, classes, rows=150)), Told()
    given = {"max_iter": 2, "random_state": 0, "intercept_step": 1.0} | own
    X, y, _ = matrix(path)
    estimator = getattr(rosenblatt, RULE_TABLE[rule].estimator)(**own)
    mistakes = np.cumsum(progressive(estimator, X, y, batch_size=1).wrong)
    for every, size in ((7, 900), (150, 1 << 20), (1000, 900)):
        told.windows.clear()
        training = FileJob(Request(rule, given, progress_every=every), told)
        model = files.train(read(path, batch_bytes=size), training)
        ends = np.minimum(np.arange(every, 150 + every, every), 150)
        counts = mistakes[ends - 1]
        assert told.windows == list(zip(ends.tolist(), counts.tolist(), strict=True))
    plain = Request(rule, given | {"order": "fixed"})
    untold = files.train(read(path), plain)
    np.testing.assert_equal(vars(model.states[0]), vars(untold.states[0]))


def test_rows_held_out_are_not_told_of(write):
    path, told = write("rows.csv", made("csv")), Told()
    request = Request("perceptron", {"max_iter": 1}, holdout=0.3, progress_every=1000)
    files.train(read(path), FileJob(request, told))
    assert told.windows[-1][0] == 200 - np.count_nonzero(Split(0.3, 0).held_out(0, 200))


def test_a_model_to_start_from_keeps_its_rule(write):
    path = write("rows.csv", made("csv"))
    first = files.train(read(path), Request("arow", {"r": 3.0, "class_weight": "balanced"}))
    again = read(path, features=first.features["recipe"])
    model = files.train(again, FileJob(Request(), initial=first))
    assert (model.estimator, model.parameters["r"]) == ("AROW", 3.0)
    assert model.parameters["class_weight"] == first.parameters["class_weight"] != "balanced"


@pytest.mark.parametrize("pairs", [False, True])
def test_a_column_that_gives_the_label_away_is_named(pairs):
    X, y = np.random.default_rng(0).normal(size=(400, 3)), np.arange(400) % 2
    for copied in (2.0 * y, np.where(np.arange(400) < 399, 2.0 * y, 0.0)):
        table = {"a": X[:, 0], "copy": copied, "b": X[:, 1], "label": y}
        heard = Heard()
        rosenblatt.train(pyarrow.table(table), pairs=pairs, tune=False, listener=heard)
        found = [note for note in heard.notes if note.code == "label-given-away"]
        assert [sentence.split()[0] for sentence in found] == ["copy"] * int(copied[-1] > 0)


@pytest.mark.parametrize(("common", "found"), [(200, []), (398, ["label-constant"])])
def test_a_label_that_is_nearly_constant_is_noted(common, found):
    table = {"a": np.arange(400) % 7, "label": np.repeat(["no", "yes"], [common, 400 - common])}
    heard = Heard()
    rosenblatt.train(pyarrow.table(table), tune=False, listener=heard)
    notes = [note for note in heard.notes if note.code == "label-constant"]
    assert [note.code for note in notes] == found
    assert all(note.startswith("398 of 400 rows have the label no") for note in notes)


@pytest.mark.parametrize("rare", [False, True])
def test_a_decision_far_from_one_half_is_noted(rare):
    random = np.random.default_rng(0)
    x = random.normal(size=2000)
    chance = (0.1 if rare else 1) / (1 + np.exp(-x))
    label, heard = np.where(random.random(2000) < chance, "spam", "ham"), Heard()
    how = {"calibrate": True, "class_weight": "balanced"}
    rosenblatt.train(pyarrow.table({"x": x, "label": label}), tune=False, listener=heard, **how)
    notes = [note for note in heard.notes if note.code == "decision-probability"]
    assert len(notes) == rare
    assert all(note.startswith("spam is predicted where its probability is") for note in notes)
