"""Predicting, scoring, inspecting and exporting from the shell."""

import io
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rosenblatt
from rosenblatt.storage.file import load_model

from .conftest import TEXT, TRAINED, flowers, get_labels, run, trained


@pytest.mark.parametrize(("data", "options"), TRAINED)
def test_predict_and_score(capsys, folder, data, options):
    model = trained(capsys, data, *options)
    status, out, err = run(capsys, "predict", model, data)
    assert (status, err) == (0, "")
    assert out.splitlines() == get_labels(data)
    assert run(capsys, "predict", model, data, "-o", "out.txt")[:2] == (0, "")
    assert (folder / "out.txt").read_text() == out
    status, said, _ = run(capsys, "score", model, data)
    assert status == 0
    assert said.startswith(f"{data}: error 0.00%: 0 of {len(get_labels(data))} rows (majority ")
    assert "acro F1 1.0000" in said


@pytest.mark.parametrize(("data", "options"), TRAINED)
def test_predict_from_standard_input(capsys, folder, monkeypatch, data, options):
    model = trained(capsys, data, *options)

    class Pipe:
        buffer = io.BytesIO((folder / data).read_bytes())

    Pipe.buffer.seekable = lambda: False
    monkeypatch.setattr(sys, "stdin", Pipe)
    status, out, err = run(capsys, "predict", model, "-")
    assert (status, err) == (0, "")
    assert out.splitlines() == get_labels(data)


def test_scores_decide_the_labels(capsys, folder):
    model = trained(capsys)
    out = run(capsys, "predict", model, "flowers.csv", "--scores")[1]
    scores = np.array([[float(cell) for cell in line.split()] for line in out.splitlines()])
    assert scores.shape == (90, 3)
    names = np.array(["setosa", "versicolor", "virginica"])
    assert names[scores.argmax(axis=1)].tolist() == get_labels("flowers.csv")
    loaded = rosenblatt.load(model)
    X = np.loadtxt("flowers.csv", np.float32, delimiter=",", skiprows=1, usecols=(0, 1))
    np.testing.assert_allclose(scores, loaded.decision_function(X), rtol=1e-4, atol=1e-4)


def test_predict_needs_no_labels_and_score_does(capsys, folder):
    model = trained(capsys)
    (folder / "new.csv").write_text("sepal,petal\n1,1.4\n7.6,1\n")
    assert run(capsys, "predict", model, "new.csv")[1] == "setosa\nvirginica\n"
    status, out, err = run(capsys, "score", model, "new.csv")
    assert (status, out) == (2, "")
    assert "has no column 'kind'" in err


def test_score_counts_the_wrong_rows(capsys, folder):
    model = trained(capsys)
    (folder / "new.csv").write_text("petal,sepal,kind\n1.4,1,setosa\n1.4,1,rose\n")
    out = run(capsys, "score", model, "new.csv")[1]
    assert out.startswith("new.csv: error 50.00%: 1 of 2 rows (majority baseline: 50.00%).\n")
    assert "not known" in out
    found = json.loads(run(capsys, "score", model, "new.csv", "--json")[1])
    assert (found["rows"], found["errors"]) == (2, 1)
    assert found["classes"][0]["recall"] == 1.0


@pytest.mark.parametrize(
    ("data", "options", "names"),
    [
        ("flowers.csv", (), ["petal: ", "sepal: "]),
        ("flowers.vw", (), ["size^petal: ", "size^sepal: "]),
        ("flowers.svm", (), ["index 1: ", "index 2: "]),
        ("reviews.csv", TEXT, ["review=dull: ", "review=superb: "]),
        ("reviews.csv", (*TEXT, "--set", "ngrams=2"), ["review=awful film: "]),
    ],
)
def test_inspect_names_the_largest_weights(capsys, folder, data, options, names):
    model = trained(capsys, data, *options, "--rule", "perceptron")
    status, out, _ = run(capsys, "inspect", model, "--top", 20)
    assert status == 0
    assert out.startswith(f"Perceptron for {2 if options else 3} classes: ")
    assert "solution average" in out
    assert "stopped: separated" in out
    assert all(f"  {name}" in out for name in names)
    assert "  bias: " in out
    few = run(capsys, "inspect", model, "--top", 1)[1]
    assert len([line for line in few.splitlines() if line.startswith("  ")]) == 2


@pytest.mark.parametrize("command", [("predict", "x"), ("score", "x"), ("inspect",)])
@pytest.mark.parametrize("text", [None, "", "not a model", "1 1:2\n"])
def test_a_model_that_is_none(capsys, folder, command, text):
    if text is not None:
        (folder / "x").write_text(text)
    name, *rest = command
    status, out, err = run(capsys, name, "x", *(["flowers.csv"] * len(rest)))
    assert (status, out) == (2, "")
    assert err.startswith("rosenblatt: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("command", ["predict", "score"])
def test_a_model_that_was_made_in_python_has_no_file_to_read_alike(capsys, folder, command):
    rosenblatt.Perceptron().fit([[2.0], [-1.0]], [1, 0]).save("python.safetensors")
    status, out, err = run(capsys, command, "python.safetensors", "flowers.csv")
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert "use rosenblatt.load in Python." in err
    assert run(capsys, "inspect", "python.safetensors")[0] == 0


@pytest.mark.parametrize("command", ["predict", "score"])
@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("none.csv", "There is no file none.csv."),
        ("flowers.svm", "holds svmlight rows; the model expects table rows"),
        ("reviews.csv", "has no column 'petal'"),
    ],
)
def test_a_file_that_does_not_suit_the_model(capsys, folder, command, data, sentence):
    model = trained(capsys)
    status, out, err = run(capsys, command, model, data)
    assert (status, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_full_disk_behind_standard_output_is_said_in_a_sentence(folder):
    command = [sys.executable, "-m", "rosenblatt", "train", "flowers.csv"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.endswith("rosenblatt: No space left on device.\n")


def test_a_label_of_two_lines_is_printed_in_one(capsys, folder):
    rows = "".join(f'{k},"{label}"\n' for k in range(9) for label in ("a\nb",)) + "-5,c\n" * 9
    (folder / "lines.csv").write_text("x,y\n" + rows)
    assert run(capsys, "train", "lines.csv", "-q", "-o", "m")[0] == 0
    _, out, _ = run(capsys, "predict", "m", "lines.csv")
    assert len(out.splitlines()) == 18
    assert set(out.splitlines()) == {r"a\nb", "c"}


def test_predictions_do_not_replace_their_rows(capsys, folder):
    model = trained(capsys)
    status, out, err = run(capsys, "predict", model, "flowers.csv", "-o", "flowers.csv")
    assert (status, out) == (2, "")
    assert "is also an input" in err


def test_a_closed_standard_output_is_said_in_a_sentence(capsys, folder):
    model = trained(capsys)
    command = f"{sys.executable} -m rosenblatt predict {model} flowers.csv >&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.returncode == 2
    said = done.stderr.splitlines()[-1]  # there may be a notice of compiling before
    assert said == "rosenblatt: Standard output is closed; name a file with -o."


def test_predictions_stand_beside_the_names_of_rows(capsys, folder):
    lines = flowers("csv").splitlines()
    named = [f"row {k},{line}" for k, line in enumerate(lines)]
    (folder / "named.csv").write_text("who" + "\n".join(named).removeprefix("row 0") + "\n")
    assert run(capsys, "train", "named.csv", "-q", "--id", "who", "-o", "m")[0] == 0
    _, alone, _ = run(capsys, "predict", trained(capsys), "flowers.csv")
    _, out, _ = run(capsys, "predict", "m", "named.csv")
    assert out.splitlines() == [f"row {k}\t{line}" for k, line in enumerate(alone.splitlines(), 1)]
    assert run(capsys, "predict", "m", "flowers.csv")[1] == alone


def test_a_model_remembers_that_its_file_had_no_header(capsys, folder):
    (folder / "bare.csv").write_text("5,1,a\n1,2,b\n5,2,a\n2,3,b\n")
    assert run(capsys, "train", "bare.csv", "-q", "-o", "m")[0] == 0
    (folder / "new.csv").write_text("1,0\n9,1\n3,0\n")
    assert len(run(capsys, "predict", "m", "new.csv")[1].splitlines()) == 3
    assert run(capsys, "predict", "m", "bare.csv")[1] == "a\nb\na\nb\n"
    (folder / "headed.csv").write_text("0,1,2\n5,1,a\n")
    _, _, err = run(capsys, "score", "m", "headed.csv", "--no-header")
    assert err.startswith("Note: 1 row of headed.csv with labels that the model does not know")


def test_indices_beyond_all_columns_are_passed_over(capsys, folder):
    (folder / "x.svm").write_text("0 1:1\n1 2:1\n" * 20)
    assert run(capsys, "train", "x.svm", "-q", "-o", "m")[0] == 0
    (folder / "new.svm").write_text("0 1:1 4294967296:1\n1 2:1 99999999999999999999:3\n")
    assert run(capsys, "predict", "m", "new.svm")[1] == "0\n1\n"
    assert "error 0.00%" in run(capsys, "score", "m", "new.svm")[1]
    _, _, err = run(capsys, "train", "new.svm", "-q")
    assert "an index is above 4,294,967,295." in err


@pytest.mark.parametrize("data", ["flowers.csv", "flowers.svm"])
def test_probabilities_when_asked_for(capsys, folder, data):
    model = trained(capsys, data, "--probabilities")
    status, out, _ = run(capsys, "predict", model, data, "--probabilities")
    assert status == 0
    table = np.array([line.split() for line in out.splitlines()], float)
    assert table.shape == (90, 3)
    np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-6)
    classes = [str(label) for label in load_model(model).classes.tolist()]
    named = [classes[code] for code in table.argmax(axis=1)]
    chosen = run(capsys, "predict", model, data)[1].split()
    assert np.mean(np.array(named) == chosen) > 0.8  # nine rows held out tell little of biases
    assert "Gives probabilities" in run(capsys, "inspect", model)[1]
    plain = trained(capsys, data)
    status, _, err = run(capsys, "predict", plain, data, "--probabilities")
    assert status == 2
    assert "train it with --probabilities or --conformal" in err


def test_a_model_that_continues_says_what_its_sets_are_worth(capsys, folder):
    model = trained(capsys, "flowers.csv", "--conformal", "--holdout", 0.3, "--epochs", 2)
    options = "train", "flowers.csv", "--initial", model, "--epochs", 1
    assert "of the initial model are dropped" in run(capsys, *options)[2]
    plain = trained(capsys, "flowers.csv", "--epochs", 2)
    assert "initial" not in run(capsys, *options[:3], plain)[2]


@pytest.mark.filterwarnings("always::rosenblatt.learners.conformal.TooFewRowsWarning")
def test_prediction_sets_when_asked_for(capsys, folder):
    model = trained(capsys, "flowers.csv", "--conformal", "--holdout", 0.3)
    status, out, err = run(capsys, "predict", model, "flowers.csv", "--coverage", 0.8)
    assert (status, err) == (0, "")
    sets = [line.split(",") for line in out.splitlines()]
    assert all({*one} <= {"setosa", "versicolor", "virginica"} for one in sets)
    more = "--coverage", 0.8, "--probabilities", "--output-format"
    out = run(capsys, "predict", model, "flowers.csv", *more, "csv")[1]
    assert out.splitlines()[0].endswith("probability_virginica,set")
    out = run(capsys, "predict", model, "flowers.csv", *more, "jsonl")[1]
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["set"] for row in rows] == sets
    assert all(row["predicted"] in row["set"] for row in rows)
    out = run(capsys, "score", model, "flowers.csv", "--coverage", 0.8)[1]
    labels = get_labels("flowers.csv")
    inside = np.mean([label in one for label, one in zip(labels, sets, strict=True)])
    size = np.mean([len(one) for one in sets])
    assert f"coverage {inside:.4f}, mean set size {size:.4f}." in " ".join(out.split())
    out = run(capsys, "score", model, "flowers.csv", "--coverage", 0.8, "--json")[1]
    assert (json.loads(out)["coverage"], json.loads(out)["mean_set_size"]) == (inside, size)
    out = run(capsys, "inspect", model)[1]
    assert re.search(r"Gives prediction sets \(predict --coverage\) from \d+ rows", out)
    assert json.loads(run(capsys, "inspect", model, "--json")[1])["conformal_rows"] > 9
    _, out, err = run(capsys, "predict", model, "flowers.csv", "--coverage", 0.99)
    assert "Note: A coverage of 0.99 needs 99 rows that were not learnt from" in err
    assert {*out.split()} == {"setosa,versicolor,virginica"}


def test_options_of_prediction_sets_are_refused_in_a_sentence(capsys, folder):
    plain = trained(capsys)
    for command in ("predict", "score"):
        status, _, err = run(capsys, command, plain, "flowers.csv", "--coverage", 0.9)
        assert status == 2
        assert "gives no prediction sets; train it with --conformal" in err


SETS = "1,4 1:3 2:1\n 1:-2 2:-1\n4 1:-1 2:2\n1 1:2 2:-3\n" * 10
TAGS = "x,z,tags\n3,1,warm; wet\n-2,-1,\n-1,2,wet\n2,-3,warm\n" * 1


@pytest.mark.parametrize(
    ("name", "text", "options", "lines"),
    [
        ("sets", SETS, [], ["1,4", "", "4", "1"]),
        ("tags.csv", TAGS, ["--separator", ";"], ["warm;wet", "", "wet", "warm"]),
    ],
)
def test_rows_of_any_number_of_labels(capsys, folder, name, text, options, lines):
    (folder / name).write_text(text)
    options = [*options, "--rule", "perceptron"]
    status, out, err = run(capsys, "train", name, *options, "--test", name, "-o", "model")
    assert (status, "Rows may have several labels" in err) == (0, name == "sets")
    assert ", 2 labels: " in out
    assert "Test error 0.00%: 0 of" in out
    assert "rows without exactly their labels; micro F1 1.0000." in out
    assert run(capsys, "predict", "model", name)[1].splitlines()[:4] == lines
    scores = run(capsys, "predict", "--scores", "model", name)[1].splitlines()
    assert [[float(word) > 0 for word in line.split()] for line in scores[:4]] == [
        [True, True],
        [False, False],
        [False, True],
        [True, False],
    ]
    status, out, _ = run(capsys, "score", "model", name)
    assert status == 0
    assert re.search("label +precision +recall +F1 +rows", out)
    assert "micro F1 1.0000." in out
    assert "Macro F1 1.0000, Hamming loss 0.0000" in out
    found = json.loads(run(capsys, "score", "--json", "model", name)[1])
    assert (found["micro_f1"], found["subset_accuracy"], found["hamming_loss"]) == (1, 1, 0)
    out = run(capsys, "inspect", "model")[1]
    assert "Perceptron for 2 labels: " in out
    assert "one for each label, " in out
    model = rosenblatt.load("model")
    assert model.predict(name)[:4].tolist() == [[1, 1], [0, 0], [0, 1], [1, 0]]


def test_what_does_not_know_several_labels_says_so(capsys, folder):
    (folder / "sets.svm").write_text(SETS)
    run(capsys, "train", "sets.svm", "-o", "model")
    for words, sentence in {
        "export model model.onnx": "cannot be exported",
        "train sets.svm --cluster local:1": "A cluster trains on rows with one label each",
        "train sets.svm --probabilities": "calibrate is for rows of one label each",
        "train sets.svm --balanced": "class_weight is for rows of one",
        "train sets.svm --set progress_every=10": "progress_every is for one problem",
        "train sets.svm --separator ;": "Commas divide the labels of a line of svmlight",
        "prove sets.svm": "Rows may have several labels; expected one label for each row",
    }.items():
        status, out, err = run(capsys, *words.split())
        assert (status, err.count("\n"), sentence in err) == (2, 1, True), (words, out, err)


def test_several_labels_are_tuned_and_gone_on_with(capsys, folder):
    (folder / "sets.svm").write_text(SETS)
    status, out, _ = run(capsys, "train", "sets.svm", "--tune", "-o", "model")
    assert (status, "(chosen" in out) == (0, True)
    status, out, _ = run(capsys, "train", "sets.svm", "--initial", "model", "-o", "more")
    assert (status, ", 2 labels: " in out) == (0, True)
    assert run(capsys, "train", "sets.svm", "--initial", "model", "--set", "order=active")[0] == 0
    out = run(capsys, "train", "sets.svm", "--set", "early_stopping=true", "--verbose")[1]
    assert "held-out error" in out
    status, out, _ = run(capsys, "train", "sets.svm", "--holdout", 0.4)
    assert (status, "Held-out error" in out, "micro F1" in out) == (0, True, True)


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_change_no_prediction(capsys, folder, classes):
    data = folder / "noisy.csv"
    lines = [f"{k % 7},{k * 3 % 11},{'abc'[(k % 7 + k * 3 % 11) % classes]}" for k in range(90)]
    data.write_text("\n".join(["u,v,label", *lines]))
    said = []
    for more in ([], ["--probabilities"]):
        run(capsys, "train", data, "--label", "label", "-o", "model", *more)
        said.append(run(capsys, "predict", "model", data)[1].split())
    assert said[0] == said[1]
    lines = run(capsys, "predict", "model", data, "--probabilities")[1].splitlines()
    assert {len(line.split()) for line in lines} == {classes}


def test_inspect_counts_as_train_does_and_shows_the_weights_that_the_service_explains_by(
    capsys, tmp_path
):
    from rosenblatt.learners.linear import LinearLearner
    from rosenblatt.storage.file import load_model

    data, model = tmp_path / "rows.csv", tmp_path / "model"
    data.write_text("a,b,y\n1,100,x\n2,300,z\n3,200,x\n5,900,z\n")
    status, told, _ = run(capsys, "train", data, "--epochs", 1, "--output", model)
    assert status == 0
    assert "4 updates" in told
    out = run(capsys, "inspect", model)[1]
    (epoch,) = load_model(model).history
    assert epoch.errors < epoch.mistakes == 4
    assert "4 updates in 4 rows seen" in out
    assert f"mistakes   {epoch.errors / 4:.2%}" in out
    coef, bias = LinearLearner.from_model(load_model(model)).coefficients()
    assert "in the units of the file" in out
    found = json.loads(run(capsys, "inspect", model, "--json")[1])
    columns = sorted(found["columns"], key=lambda each: each["column"])
    assert [each["weights"] for each in columns] == coef.T.tolist()
    assert found["bias"] == bias.tolist()


def test_predictions_as_tables(capsys, folder):
    model = trained(capsys, "flowers.csv", "--probabilities")
    alone = run(capsys, "predict", model, "flowers.csv")[1].splitlines()
    for words, delimiter in ((("--output-format", "tsv"), "\t"), (("--output-format", "csv"), ",")):
        lines = run(capsys, "predict", model, "flowers.csv", *words)[1].splitlines()
        assert (lines[0], [line.split(delimiter)[0] for line in lines[1:]]) == ("predicted", alone)
    options = "--append", "--scores", "--probabilities"
    for name in ("out.ndjson", "out.jsonl"):
        assert run(capsys, "predict", model, "flowers.csv", *options, "-o", name)[:2] == (0, "")
        rows = [json.loads(line) for line in (folder / name).read_text().splitlines()]
    assert [row["predicted"] for row in rows] == alone
    assert [row["kind"] for row in rows] == get_labels("flowers.csv")
    assert sum(name.startswith(("score_", "probability_")) for name in rows[0]) == 6
    assert sum(rows[0][f"probability_{name}"] for name in set(alone)) == pytest.approx(1)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--append", "--output-format", "text"], "all but one of --append out"),
        (["--threshold", 0.5], "is for models of two classes"),
        (["--scores", "--probabilities"], "all but one of --scores, --probabilities out"),
        (["--scores", "--coverage", 0.9], "leave all but one of --scores, --coverage out"),
    ],
)
def test_options_of_predict_that_do_not_fit(capsys, folder, options, code):
    status, out, err = run(capsys, "predict", trained(capsys), "flowers.csv", *options)
    assert (status, out, code in err) == (2, "", True)


def test_a_threshold_is_a_probability_where_there_are_some(capsys, folder):
    model = trained(capsys, "reviews.csv", *TEXT, "--probabilities")
    out = run(capsys, "predict", model, "reviews.csv", "--probabilities")[1]
    chances = [float(line.split()[1]) for line in out.splitlines()]
    out = run(capsys, "predict", model, "reviews.csv", "--threshold", 0.8)[1]
    assert out.split() == ["pos" if chance > 0.8 else "neg" for chance in chances]
    status, _, err = run(capsys, "predict", model, "reviews.csv", "--threshold", 7)
    assert (status, "threshold=7.0 must be a probability" in err) == (2, True)
