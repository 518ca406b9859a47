"""Training from files does to the last bit what Perceptron does to the same rows in memory."""

import io
import json

import numpy as np
import pytest
from scipy.sparse import csr_array, vstack

import rosenblatt
from rosenblatt import Perceptron, files, storage
from rosenblatt.files import Lesson, predictions, score, train, train_as_stream, train_in_memory
from rosenblatt.readers import read
from rosenblatt.training import SOLUTIONS

FORMATS = ["svm", "csv", "vw"]
BATCHES = [1, 700, 1 << 20]


def silent(report):
    """Hear what training says, and say nothing."""


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
    batches = list(read(path, batch_bytes=1 << 26, **options))
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
        labels = labels.astype(str if labels.dtype == object else np.int64)
    return X, labels, weights


def streamed(path, lesson, batch_bytes=1 << 20, **options):
    reader = read(path, batch_bytes=batch_bytes, **options)
    return train_as_stream(reader, lesson, silent, silent)


def in_memory(path, lesson, batch_bytes=1 << 20, **options):
    return train_in_memory(read(path, batch_bytes=batch_bytes, **options), lesson, silent)


def predicted(model, reader):
    return np.concatenate([labels for _, labels in predictions(model, reader)])


def assert_same(model, fitted):
    """The weights, the bias and the counts are those of a Perceptron, bit for bit."""
    (solution,) = model.solutions
    weights, bias = solution.answer()
    np.testing.assert_array_equal(np.atleast_2d(weights.T), fitted.coef_)
    np.testing.assert_array_equal(bias, fitted.intercept_)
    assert weights.dtype == fitted.coef_.dtype
    assert solution.mistakes == fitted.n_mistakes_
    assert model.classes.tolist() == fitted.classes_.tolist()
    assert len(model.history) == fitted.n_iter_
    assert model.facts["stop_reason"] == fitted.stop_reason_


# The same as Perceptron.


@pytest.mark.parametrize("batch_bytes", BATCHES)
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("solution", ["last", "average"])
@pytest.mark.parametrize("kind", FORMATS)
def test_one_pass_as_a_stream_is_fit(write, kind, solution, classes, batch_bytes):
    path = write(f"rows.{kind}", made(kind, classes))
    names = [str(label) for label in range(classes)]
    lesson = Lesson(solution, epochs=1, classes=names if batch_bytes == 1 else None)
    model = streamed(path, lesson, batch_bytes)
    X, y, weights = matrix(path)
    fitted = Perceptron(solution=solution, order="fixed", max_iter=1).fit(X, y, weights)
    assert fitted.n_mistakes_ > 20
    assert_same(model, fitted)


@pytest.mark.parametrize("kind", FORMATS)
def test_train_reads_one_pass_as_a_stream(write, kind):
    path = write(f"rows.{kind}", made(kind))
    tallies, epochs = [], []
    model = train(read(path, batch_bytes=700), Lesson(epochs=1), epochs.append, tallies.append)
    fitted = Perceptron(solution="average", order="fixed", max_iter=1).fit(*matrix(path))
    assert_same(model, fitted)
    assert len(tallies) > 3
    assert [tally.rows for tally in tallies] == sorted({tally.rows for tally in tallies})
    assert tallies[-1] == (200, path.stat().st_size, fitted.n_mistakes_)
    assert [(epoch.epoch, epoch.mistakes) for epoch in epochs] == [(1, fitted.n_mistakes_)]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("solution", ["last", "average"])
def test_several_passes_as_a_stream_are_fit(write, kind, classes, solution):
    path = write(f"rows.{kind}", made(kind, classes))
    model = streamed(path, Lesson(solution, epochs=4), 700)
    fitted = Perceptron(solution=solution, order="fixed", max_iter=4).fit(*matrix(path))
    assert_same(model, fitted)
    assert [e.mistakes for e in model.history] == [e.mistakes for e in fitted.history_]


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("solution", list(SOLUTIONS))
@pytest.mark.parametrize(("order", "seed"), [("each", 0), ("each", 7), ("once", 3), ("fixed", 0)])
def test_in_memory_is_fit(write, kind, classes, solution, order, seed):
    path = write(f"rows.{kind}", made(kind, classes))
    model = in_memory(path, Lesson(solution, order, 5, seed=seed), 700)
    fitted = Perceptron(solution=solution, order=order, max_iter=5, random_state=seed)
    assert_same(model, fitted.fit(*matrix(path)))
    assert list(model.history) == fitted.history_


@pytest.mark.parametrize("order", ["active", "first", "worst"])
def test_the_other_orders_in_memory_are_fit(write, order):
    path = write("rows.csv", made("csv"))
    model = in_memory(path, Lesson("last", order, 5))
    assert_same(model, Perceptron(order=order, max_iter=5).fit(*matrix(path)[:2]))


def test_a_margin_is_kept(write):
    path = write("rows.svm", made("svm"))
    fitted = Perceptron(margin=2.5, order="fixed", max_iter=3).fit(*matrix(path)[:2])
    assert_same(streamed(path, Lesson("last", margin=2.5, epochs=3), 700), fitted)
    assert_same(in_memory(path, Lesson("last", "fixed", 3, 2.5), 700), fitted)


def test_a_stream_stops_when_nothing_is_wrong(write):
    path = write("rows.svm", "0 1:-1\n1 1:2\n" * 20)
    model = streamed(path, Lesson("last", epochs=50))
    assert model.facts["stop_reason"] == "separated"
    assert len(model.history) < 50
    assert model.history[-1].mistakes == 0


@pytest.mark.parametrize(("size", "epochs", "order"), [(1, 3, None), (1 << 30, 1, "fixed")])
def test_large_files_and_single_passes_are_streams(write, monkeypatch, size, epochs, order):
    monkeypatch.setattr(files, "IN_MEMORY", size)
    monkeypatch.delattr(files, "train_in_memory")
    path = write("rows.svm", made("svm"))
    model = train(read(path), Lesson("last", order, epochs))
    assert_same(model, Perceptron(order="fixed", max_iter=epochs).fit(*matrix(path)[:2]))


def test_what_a_stream_cannot_do_is_said(write, monkeypatch):
    monkeypatch.setattr(files, "IN_MEMORY", 1)
    path = write("rows.svm", made("svm"))
    with pytest.raises(ValueError, match="order each needs the rows in memory; use --order fixed"):
        train(read(path), Lesson(order="each"))
    with pytest.raises(ValueError, match="solution pocket needs the rows in memory; use average"):
        train(read(path), Lesson("pocket"))


# Columns that come later.


@pytest.mark.parametrize("labels", ["01", "012"])
@pytest.mark.parametrize("solution", ["last", "average"])
def test_later_batches_bring_new_columns(write, solution, labels):
    rows = [f"{labels[i % len(labels)]} 1:{i % 7 - 3} {2 + i // 10}:1\n" for i in range(120)]
    path = write("rows.svm", "".join(rows))
    widths = [batch.width for batch in read(path, batch_bytes=100)]
    assert widths[0] < widths[-1] == 13
    fitted = Perceptron(solution=solution, order="fixed", max_iter=2).fit(*matrix(path)[:2])
    assert_same(streamed(path, Lesson(solution, epochs=2), 100), fitted)
    assert_same(in_memory(path, Lesson(solution, "fixed", 2), 100), fitted)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_file_wider_than_the_model(write, classes):
    path = write("rows.svm", made("svm", classes))
    model = train(read(path), Lesson())
    text = path.read_text()
    wide = write("wide.svm", text.replace("\n", " 500:3\n"))
    narrow = write("narrow.svm", "".join(f"{line.split()[0]} 1:1\n" for line in text.splitlines()))
    assert predicted(model, read(wide)).tolist() == predicted(model, read(path)).tolist()
    X, y, _ = matrix(narrow)
    weights, bias = model.solutions[0].answer()
    scores = X.toarray() @ weights[:1].reshape(1, -1) + bias
    best = scores.argmax(axis=1) if classes > 2 else (scores[:, 0] > 0).astype(int)
    assert predicted(model, read(narrow)).tolist() == best.tolist()
    assert score(model, read(narrow)).errors == np.count_nonzero(best != y)
    assert len(model.solutions[0].weights) == 9


def test_columns_of_a_table_are_found_by_name(write):
    path = write("rows.csv", made("csv"))
    model = train(read(path), Lesson())
    lines = [line.split(",") for line in path.read_text().splitlines()]
    turned = write("turned.csv", "".join(",".join(["7", *line[::-1]]) + "\n" for line in lines))
    turned.write_text(turned.read_text().replace("7", "extra", 1))
    recipe = model.features["recipe"]
    expected = predicted(model, read(path, features=recipe))
    assert predicted(model, read(turned, features=recipe)).tolist() == expected.tolist()
    assert score(model, read(turned, features=recipe)) == score(model, read(path))


# Labels and weights.


def test_a_label_that_comes_late_is_named_with_its_row(write):
    path = write("rows.svm", "0 1:1\n1 2:1\n" * 50 + "2 1:1\n")
    with pytest.raises(
        ValueError, match=r"^Row 101 has the label 2, which was not among the first r"
    ):
        streamed(path, Lesson(), 60)
    named = streamed(path, Lesson(epochs=1, classes=["0", "1", "2"]), 60)
    fitted = Perceptron(solution="average", order="fixed", max_iter=1).fit(*matrix(path)[:2])
    np.testing.assert_array_equal(named.solutions[0].answer()[0].T, fitted.coef_)


def test_labels_that_are_words(write):
    path = write("rows.csv", made("csv", 3, label=lambda y: ["oak", "a long word", "Ünit"][y]))
    model = train(read(path, batch_bytes=700), Lesson())
    assert model.classes.tolist() == ["a long word", "oak", "Ünit"]
    X, y, _ = matrix(path)
    fitted = Perceptron(solution="average", max_iter=10, random_state=0).fit(X, y)
    assert_same(model, fitted)
    assert score(model, read(path)).errors == np.count_nonzero(fitted.predict(X) != y)
    with pytest.raises(ValueError, match=r"^Row 4 has the label pine"):
        streamed(
            write("late.csv", "a,y\n1,oak\n2,elm\n1,oak\n2,pine\n"),
            Lesson(classes=["oak", "elm"]),
        )


@pytest.mark.parametrize("label", ["{}", "{}.0", "{}e0", "+{}"])
def test_whole_numbers_are_labels_as_integers(write, label):
    path = write("rows.svm", made("svm", 3, label=label.format))
    model = train(read(path), Lesson(epochs=1))
    assert model.classes.dtype == np.int64
    assert model.classes.tolist() == [0, 1, 2]
    assert score(model, read(path)).errors < 200


def test_negative_and_fractional_labels(write):
    signs = train(read(write("signs.svm", "-1 1:-1\n+1 1:1\n" * 9)), Lesson())
    assert signs.classes.tolist() == [-1, 1]
    path = write("halves.svm", "0.5 1:-1\n1 1:1\n" * 9)
    halves = train(read(path), Lesson())
    assert halves.classes.tolist() == [0.5, 1.0]
    assert score(halves, read(path)).errors == 0


def test_importance_weights_scale_the_steps(write):
    lines = made("vw").splitlines()
    weights = np.random.default_rng(1).choice([0, 0.5, 1, 3], size=len(lines))
    weights[:2] = 1
    weighed = [f"{a[:2]}{w} {a[2:]}\n" for a, w in zip(lines, weights, strict=True)]
    path = write("rows.vw", "".join(weighed))
    X, y, read_weights = matrix(path)
    np.testing.assert_array_equal(read_weights, weights)
    fitted = Perceptron(solution="average", order="fixed", max_iter=3).fit(X, y, weights)
    assert_same(streamed(path, Lesson(epochs=3), 700), fitted)
    assert_same(in_memory(path, Lesson(order="fixed", epochs=3), 700), fitted)
    # A row of weight 0 is never seen: it might as well not be there.
    without = write("rest.vw", "".join(np.array(weighed)[weights > 0]))
    rest = streamed(without, Lesson(epochs=3), 700).solutions[0]
    np.testing.assert_array_equal(rest.answer()[0], fitted.coef_[0])
    assert rest.seen == streamed(path, Lesson(epochs=3)).solutions[0].seen


# Predictions.


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("solution", list(SOLUTIONS))
def test_predictions_and_score_are_those_of_a_perceptron(write, kind, classes, solution):
    path = write(f"rows.{kind}", made(kind, classes))
    unseen = write(f"unseen.{kind}", made(kind, classes, seed=1))
    model = train(read(path), Lesson(solution, order="each", epochs=3, seed=5))
    fitted = Perceptron(solution=solution, max_iter=3, random_state=5).fit(*matrix(path))
    X, y, _ = matrix(unseen)
    expected = fitted.predict(X)
    for batch_bytes in BATCHES:
        assert predicted(model, read(unseen, batch_bytes=batch_bytes)).tolist() == expected.tolist()
        found = score(model, read(unseen, batch_bytes=batch_bytes))
        assert (found.rows, found.errors) == (200, np.count_nonzero(expected != y))
        assert found.error == pytest.approx(1 - fitted.score(X, y))


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("solution", list(SOLUTIONS))
def test_a_model_survives_its_file(write, tmp_path, kind, classes, solution):
    path = write(f"rows.{kind}", made(kind, classes))
    unseen = write(f"unseen.{kind}", made(kind, classes, seed=1))
    model = train(read(path), Lesson(solution, order="each", epochs=3))
    storage.save(tmp_path / "m.safetensors", model)
    again = storage.load(tmp_path / "m.safetensors")
    recipe = again.features["recipe"]
    assert json.dumps(recipe) == json.dumps(model.features["recipe"])
    expected = predicted(model, read(unseen)).tolist()
    assert predicted(again, read(unseen, features=recipe)).tolist() == expected
    loaded = rosenblatt.load(tmp_path / "m.safetensors")
    X, y, _ = matrix(unseen, features=recipe)
    assert loaded.predict(X).tolist() == expected
    if solution != "pocket":
        fitted = Perceptron(solution=solution, max_iter=3, random_state=0).fit(*matrix(path))
        np.testing.assert_array_equal(
            loaded.partial_fit(X, y).coef_, fitted.partial_fit(X, y).coef_
        )


def test_a_loaded_model_says_how_it_was_trained(write, tmp_path):
    path = write("rows.csv", made("csv"))
    lesson = Lesson("average", margin=0.5, epochs=3, seed=4)
    storage.save(tmp_path / "m.safetensors", train(read(path), lesson))
    loaded = rosenblatt.load(tmp_path / "m.safetensors")
    assert (loaded.margin, loaded.max_iter, loaded.random_state) == (0.5, 3, 4)
    again = Perceptron(**loaded.get_params()).fit(*matrix(path)[:2])
    np.testing.assert_array_equal(again.coef_, loaded.coef_)


def test_text_and_categories_round_trip(write, tmp_path):
    rows = [f"{'good film' if i % 2 else 'bad film'} {i},red,{i % 5},{i % 2}\n" for i in range(60)]
    path = write("rows.csv", "words,colour,n,y\n" + "".join(rows))
    reader = read(path, text=["words"], ngrams=(1, 2), bits=12, names=1000)
    model = train(reader, Lesson())
    storage.save(tmp_path / "m.safetensors", model)
    again = storage.load(tmp_path / "m.safetensors")
    found = score(again, read(path, features=again.features["recipe"]))
    assert (found.rows, found.errors) == (60, 0)
    assert {"words=good", "words=bad", "colour=red", "n"} <= {
        n for _, n in again.features["largest"]
    }


# What goes wrong, in a sentence.


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("empty.svm", "", r"empty.svm is empty\."),
        ("empty.csv", "", r"empty.csv is empty\."),
        ("empty.vw", "", r"empty.vw is empty\."),
        ("comments.svm", "# nothing\n", r"There are no rows to learn from\."),
        ("one.svm", "1 1:1\n1 2:1\n", r"Only the label 1 was met; a model needs two"),
        ("one.csv", "a,y\n1,oak\n2,oak\n", r"Only the label oak was met; a model needs two"),
        ("none.vw", "1 |a x\n-1 |a y\n |a z\n", r"Row 3 has no label\."),
        ("broken.svm", "1 1:1\n0 x\n", r"broken.svm, line 2, column 3: "),
        ("big.svm", "0 1:3e38 2:3e38\n1 1:3e38 2:3e38\n" * 9, r"overflow"),
    ],
)
@pytest.mark.parametrize("epochs", [1, 5])
@pytest.mark.parametrize("solution", ["last", "average"])
def test_bad_files_get_one_sentence(write, name, text, sentence, epochs, solution):
    with pytest.raises(ValueError, match=sentence) as error:
        train(read(write(name, text)), Lesson(solution, epochs=epochs))
    assert "\n" not in str(error.value)


def test_a_row_without_a_label_is_named_whatever_the_batches(write):
    path = write("rows.vw", "1 |a x\n-1 |a y\n" * 50 + "|a z\n")
    for batch_bytes in (60, 1 << 20):
        with pytest.raises(ValueError, match=r"^Row 101 has no label\.$"):
            streamed(path, Lesson(), batch_bytes)


def test_rows_that_all_weigh_nothing(write):
    path = write("rows.vw", "1 0 |a x\n-1 0 |a y\n")
    for epochs in (1, 3):
        with pytest.raises(ValueError, match="no rows to learn from"):
            train(read(path), Lesson(epochs=epochs))


def test_measurements_are_no_classes(write):
    path = write("rows.svm", "".join(f"{i / 7:.6f} 1:1\n" for i in range(1100)))
    with pytest.raises(ValueError, match="1100 different numbers as labels look like no classes"):
        train(read(path), Lesson())


def test_a_file_without_labels_cannot_be_scored(write):
    path = write("rows.csv", made("csv"))
    model = train(read(path), Lesson())
    recipe = model.features["recipe"]
    bare = write("bare.csv", "\n".join(s.rpartition(",")[0] for s in path.read_text().splitlines()))
    assert len(predicted(model, read(bare, features=recipe))) == 200
    with pytest.raises(ValueError, match="has no labels"):
        score(model, read(bare, features=recipe))


def test_a_stream_that_cannot_be_read_twice():
    class Pipe(io.BytesIO):
        def seekable(self):
            return False

    reader = read(Pipe(made("svm").encode()), format="svm")
    assert len(train(reader, Lesson(epochs=1)).history) == 1
    with pytest.raises(ValueError, match="can be read only once"):
        train(read(Pipe(made("svm").encode()), format="svm"), Lesson(epochs=3))


def test_no_rows_have_no_error():
    assert np.isnan(files.Score().error)


def test_the_last_update_may_overflow(write):
    path = write("rows.vw", "-1 |b y\n1 10 |a x:3e38\n")
    for solution in ("last", "average"):
        for lesson in (Lesson(solution, epochs=1), Lesson(solution, "fixed", 1)):
            with pytest.raises(ValueError, match="overflow"):
                train(read(path), lesson)
    with pytest.raises(ValueError, match="overflow"):
        in_memory(path, Lesson("last", "fixed", 1))


@pytest.mark.parametrize(("solution", "order"), [("vote", "worst"), ("pocket", "active")])
def test_what_does_not_go_together_is_refused_as_by_fit(write, solution, order):
    path = write("rows.csv", made("csv"))
    with pytest.raises(ValueError, match=f"solution.*{solution}"):
        Perceptron(solution=solution, order=order).fit(*matrix(path)[:2])
    with pytest.raises(ValueError, match=f"solution.*{solution}"):
        train(read(path), Lesson(solution, order))


def test_one_pass_in_memory_for_solutions_that_need_it(write):
    path = write("rows.csv", made("csv"))
    for solution in ("vote", "pocket"):
        model = train(read(path), Lesson(solution, epochs=1))
        assert model.parameters["solution"] == solution
