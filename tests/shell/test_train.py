"""Training from the shell, as a user meets it: what is printed and how it exits."""

import json
import re
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

import rosenblatt
from rosenblatt.parameters import ORDERS
from rosenblatt.shell.data import BUILT_IN, load_builtin
from rosenblatt.storage.file import load_model

from .conftest import TRAINED, flowers, get_labels, run, trained

PERCEPTRON = ("--rule", "perceptron")


def sample_lines(text):
    return [json.loads(line) for line in text.splitlines()]


SLOW_READER = """
import signal, sys, time
from rosenblatt.shell import progress
from rosenblatt.shell.app import main

class Slow(progress.ProgressPrinter):
    batches = 0
    def batch(self, tally):
        Slow.batches += 1
        if Slow.batches == 5:
            print("now", flush=True)
            time.sleep(60)

progress.ProgressPrinter = Slow
main()
"""


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_set_shows_the_perceptron_and_what_is_proved(capsys, name):
    status, out, err = run(capsys, "train", name)
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith(f"Perceptron (a mistake adds yx to w and y to b) on {name}: ")
    proved = re.findall(r"^  (\w+): .*(?:at most ([\d,]+) \(|no plane .*)proved", out, re.M)
    known = {"iris": [("setosa", "222"), ("versicolor", ""), ("virginica", "")], "xor": [("1", "")]}
    assert proved == known.get(name, proved) != []
    assert ("Files are learnt by PassiveAggressive" in lines[-1]) == (name != "xor")


def test_a_built_in_set_with_an_option_is_learnt_as_a_file(capsys):
    out = run(capsys, "train", "iris", "--seed", 1)[1]
    assert "Label: class" in out.splitlines()
    assert "Rule PassiveAggressive, solution average." in out


def test_verbose_tells_of_every_epoch_of_any_run(capsys, folder):
    for data in ("iris", "flowers.csv"):
        options = "train", data, "--epochs", 7, "--set", "margin=1e6"
        for more, told in (((), [1, 2, 4, 7]), (("-v",), [1, 2, 3, 4, 5, 6, 7])):
            out = run(capsys, *options, *more)[1]
            assert [int(k) for k in re.findall(r"^epoch +(\d+) ", out, re.MULTILINE)] == told


def test_a_built_in_set_is_a_table_with_names(capsys, folder):
    from sklearn.datasets import load_wine

    wine = load_wine(as_frame=True)
    table = wine.data.assign(kind=wine.target_names[wine.target])
    table.to_csv("wine.csv", index=False)
    assert run(capsys, "train", "wine", "-q", "-o", "built-in")[0] == 0
    assert run(capsys, "train", "wine.csv", "-q", "-o", "file")[0] == 0
    models = [load_model(name) for name in ("built-in", "file")]
    np.testing.assert_array_equal(*(model.states[0].weights for model in models))
    out = run(capsys, "predict", "built-in", "wine.csv")[1]
    assert np.mean(np.array(out.split()) == table["kind"]) > 0.98


def test_json_of_folds_ends_with_done(capsys):
    events = sample_lines(run(capsys, "train", "iris", "--json", "--folds", 5)[1])
    (validation,) = (one for one in events if one["event"] == "cross_validation")
    assert events[-1]["event"] == "done"
    assert validation["rows"] == 150
    assert validation["figures"]["error"]["deviation"] > 0


@pytest.mark.parametrize(("data", "options"), TRAINED)
def test_train_on_a_file_keeps_and_tests_a_model(capsys, folder, data, options):
    arguments = ("train", data, *options, "-o", "m.safetensors", "--test", data, "--epochs", 200)
    status, out, err = run(capsys, *arguments, *PERCEPTRON)
    assert (status, err) == (0, "")
    lines = out.splitlines()
    rows = len(get_labels(data))
    epochs = [line.split()[:2] for line in lines if line.startswith("epoch")]
    assert epochs[0] == ["epoch", "1"]
    assert lines[-5].startswith(f"Test error 0.00%: 0 of {rows} rows (majority baseline: ")
    assert lines[-4].startswith("Separated the training data after ")
    assert lines[-3].startswith(f"{data}: {rows} rows, ")
    assert (" 2 classes: " if options else " 3 classes: ") in lines[-3]
    assert lines[-2] == "Rule Perceptron, solution average."
    assert lines[-1] == "Wrote the model to m.safetensors."
    assert (folder / "m.safetensors").stat().st_size > 0


def test_classes_that_are_named_look_like_those_that_are_met(capsys, folder):
    model = trained(capsys, "flowers.svm", "--classes", "3,1,2,4")
    assert run(capsys, "predict", model, "flowers.svm")[1].splitlines() == get_labels("flowers.svm")
    model = trained(capsys, "flowers.csv", "--classes", "virginica,versicolor,setosa")
    assert run(capsys, "predict", model, "flowers.csv")[1].splitlines() == get_labels("flowers.csv")


def test_one_pass_over_standard_input(capsys, folder):
    command = [sys.executable, "-c", "from rosenblatt.shell.app import main; main()"]
    options = ["train", "-", "--format", "csv", "--epochs", "1", "-o", "m.safetensors"]
    done = subprocess.run([*command, *options], input=flowers("csv").encode(), capture_output=True)
    assert done.returncode == 0
    assert b"90 rows, 2 features, 3 classes" in done.stdout
    assert b"Trained 1 epoch in " in done.stdout
    done = subprocess.run(
        [*command, "predict", "m.safetensors", "-"],
        input=flowers("csv").encode(),
        capture_output=True,
    )
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 90


@pytest.mark.parametrize("order", ORDERS)
def test_the_rows_of_a_file_are_counted_once(capsys, folder, order):
    given = "--set", "solution=last", "--set", f"order={order}"
    status, out, _ = run(capsys, "train", "flowers.csv", "-q", *given)
    assert status == 0
    assert "\nflowers.csv: 90 rows, 2 features, 3 classes: " in out


@pytest.mark.parametrize(
    ("name", "text", "options", "sentence"),
    [
        ("none.csv", None, (), "There is no file none.csv."),
        ("moon", None, (), "There is no file moon. The built-in sets are iris, xor"),
        ("irs", None, (), "There is no file irs. Did you mean iris?"),
        (".", None, (), "./reviews.csv has other columns than ./flowers.csv: 'review'"),
        ("empty.csv", "", (), "empty.csv is empty."),
        ("x.csv", "a,y\n1,p\n2,n\n3\n", (), "x.csv, line 4, column "),
        ("x.svm", "1 1:2\n0 1:1\n1 1;2\n", (), "x.svm, line 3, column "),
        ("x.vw", "1 |a b\n0 |a b:x\n", (), "x.vw, line 2, column "),
        ("x.csv", "a,y\n1,p\n2,n\n", ("--label", "z"), "x.csv has no column 'z'; there are: a, y."),
        ("x.csv", "a,y\n1,p\n2,n\n", ("--format", "yaml"), "format='yaml' is unknown; use "),
        (
            "x.dat",
            "some\nwords\n",
            (),
            "Neither the name nor the content of x.dat tells its format; use format: svmlight",
        ),
        ("x.svm", "1 1:1\n2 1:2\n", ("--classes", "1"), "label"),
        ("x.svm", "1 1:1\n2 1:2\n", ("--classes", "a,b"), "classes"),
        ("x.vw", "1 |a b\n2 |a c\n", ("--set", "ngrams=two"), "ngrams=two must be a number or a"),
        ("x.vw", "1 |a b\n2 |a c\n", ("--test", "none.vw"), "There is no file none.vw."),
        ("x.csv", "a,y\n", (), "has no rows below its header (use --no-header if"),
        ("x.csv", "a,y\n1,p\n2,n\n", ("--label", "--5"), "x.csv has no column '--5'; there"),
        ("x.csv", "a,y\n1,p\n2,n\n", ("--encoding", "x"), "encoding='x' is unknown; try latin-1."),
        (
            "x.csv",
            "a b,y\n" + "1,0\n2,1\n" * 50 + "x,1\n",
            (),
            "'x' is not a number; if the column holds words, name it in category.",
        ),
        (
            "x.svm",
            "1 1:1\n" * 200_000 + "1 0:1\n",
            ("--set", "first=1"),
            "an index is below the first column (1; use --set first=0 if it is 0).",
        ),
    ],
)
def test_bad_input_makes_no_model(capsys, folder, name, text, options, sentence):
    if text is not None:
        (folder / name).write_text(text)
    status, _, err = run(capsys, "train", name, "-o", "m.safetensors", "-q", *options)
    assert status == 2
    assert err.startswith("rosenblatt: ")
    assert sentence in err
    assert err.count("\n") == 1
    assert not (folder / "m.safetensors").exists()
    assert not list(folder.glob(".*.part"))


def test_a_bad_file_leaves_the_old_model_alone(capsys, folder):
    model = folder / trained(capsys)
    before = model.read_bytes()
    (folder / "x.csv").write_text("petal,sepal,kind\n1,2,a\n3\n")
    assert run(capsys, "train", "x.csv", "-o", model)[0] == 2
    assert model.read_bytes() == before


def test_skip_bad_leaves_broken_rows_out(capsys, folder):
    lines = flowers("csv").splitlines(keepends=True)
    (folder / "x.csv").write_text("".join([*lines[:5], "1,2\n", *lines[5:], "1,2\n"]))
    status, out, err = run(capsys, "train", "x.csv", "-q", "--skip-bad", 2)
    assert status == 0
    assert "x.csv: 90 rows" in out
    assert err == "Note: 2 broken rows left out.\n"
    status, _, err = run(capsys, "train", "x.csv", "-q", "--skip-bad", 1)
    assert status == 2
    assert "line 93" in err


def test_json_is_one_object_per_line(capsys, folder):
    (folder / "new.csv").write_text(flowers("csv"))
    options = ["--json", "--test", "new.csv", "--holdout", 0.2, "-o", "model"]
    status, out, err = run(capsys, "train", "flowers.csv", *options)
    assert (status, err) == (0, "")
    *told, done = sample_lines(out)
    epochs = [said for said in told if said["event"] == "epoch"]
    assert {said["event"] for said in told} <= {"epoch", "progress"}  # of a slow machine
    assert [epoch["epoch"] for epoch in epochs] == list(range(1, len(epochs) + 1))
    assert done["event"] == "done"
    assert done["rows"] == done["test"]["rows"] == 90
    assert 0 < done["held_out"]["rows"] < 40
    assert done["classes"] == ["setosa", "versicolor", "virginica"]
    assert done["mistakes"] == sum(epoch["mistakes"] for epoch in epochs)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--holdout", 1], "holdout must be from 0 up and below 1; got 1.0."),
        (["--holdout", "nan"], "holdout must be from 0 up and below 1; got nan."),
        (["--checkpoint", 1], "--checkpoint needs -o; add it."),
        (["--resume"], "--resume needs -o; add it."),
        (["--checkpoint", -1, "-o", "m"], "Invalid value for '--checkpoint': -1.0 is not in"),
        (["--max-iter", 3], "There is no option --max-iter. Use --epochs VALUE."),
        (["--seed", -1], "random_state must be a whole number from 0 up and below 2^32; got -1."),
        (["--set", "window=3", "--set", "order=fixed"], "A stream is read in its order"),
    ],
)
def test_bad_numbers_get_one_sentence(capsys, folder, options, sentence):
    status, out, err = run(capsys, "train", "flowers.csv", *options)
    assert (status, out) == (2, "")
    assert err.startswith(f"rosenblatt: {sentence}")
    assert err.count("\n") == 1


def test_built_in_sets_take_early_stopping_and_balanced_classes(capsys):
    options = ["--set", "early_stopping=true", "--balanced", "--seed", 1, "--test", "wine"]
    assert run(capsys, "train", "wine", *options)[0] == 0
    status, _, err = run(capsys, "train", "wine", "--encoding", "latin-1")
    assert (status, err.count("\n"), "encoding is for" in err) == (2, 1, True)


@pytest.mark.parametrize("kind", ["Perceptron", "KernelPerceptron"])
def test_only_what_was_trained_from_a_file_is_resumed(capsys, folder, kind):
    getattr(rosenblatt, kind)().fit([[2.0], [-1.0]], [1, 0]).save("model")
    before = Path("model").read_bytes()
    status, out, err = run(capsys, "train", "flowers.csv", "-o", "model", "--resume")
    sentence = "rosenblatt: model was not trained from a file; leave --resume out.\n"
    assert (status, out, err) == (2, "", sentence)
    assert Path("model").read_bytes() == before


def test_resume_with_nothing_to_resume_begins_anew(capsys, folder):
    options = ["-q", "-o", "model", "--resume", *PERCEPTRON]
    status, _, err = run(capsys, "train", "flowers.csv", *options)
    assert (status, err) == (
        0,
        "Note: There is no model to resume; the run starts from the beginning.\n",
    )
    before = (folder / "model").read_bytes()
    status, out, err = run(capsys, "train", "flowers.csv", *options, "--test", "flowers.csv")
    assert (status, err) == (0, "Note: The run is complete.\n")
    assert "Test error" in out
    assert (folder / "model").read_bytes() == before
    status, _, err = run(capsys, "train", "flowers.csv", *options, "--set", "margin=2")
    assert status == 2
    assert "The run began with margin = 0.0, not 2;" in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_killed_is_resumed_to_the_same_model(capsys, folder, number):
    data = folder / "long.svm"
    random = np.random.default_rng(0)
    rows = random.integers(1, 9, (25_000, 3)).cumsum(axis=1)
    labels = random.integers(2, size=len(rows))
    data.write_text(
        "".join(f"{y} {a}:1 {b}:2 {c}:1\n" for y, (a, b, c) in zip(labels, rows, strict=True)) * 64
    )
    options = ["train", "long.svm", "--epochs", "1", "-q", "--checkpoint", "0", "-o"]
    assert run(capsys, *options, "whole")[0] == 0
    command = [sys.executable, "-c", SLOW_READER, *options, "left"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "now\n"
        process.send_signal(number)
        status = process.wait()
    assert status in (128 + number, -number)
    begun = load_model("left")
    assert begun.facts["stop_reason"] == "unfinished"
    assert begun.checkpoint.parts == 4
    assert not list(folder.glob(".*.part"))
    assert run(capsys, *options, "left", "--resume")[0] == 0
    assert Path("left").read_bytes() == Path("whole").read_bytes()


def test_what_is_written_is_not_what_is_read(capsys, folder):
    before = Path("flowers.csv").read_bytes()
    for options in (["-o", "flowers.csv"], ["--test", "flowers.svm", "-o", "flowers.svm"]):
        status, out, err = run(capsys, "train", "flowers.csv", *options)
        assert (status, out) == (2, "")
        assert "is also an input; write to another file." in err
    assert Path("flowers.csv").read_bytes() == before


def test_a_reader_that_leaves_does_not_end_the_training(folder):
    command = f"{sys.executable} -m rosenblatt train flowers.csv -o left | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True)
    assert done.returncode == 0
    assert done.stderr == b""
    assert len(load_model("left").history) > 1


def test_a_test_file_whose_name_looks_like_a_pattern(capsys, folder):
    (folder / "test[1].csv").write_text((folder / "flowers.csv").read_text())
    status, out, _ = run(capsys, "train", "flowers.csv", "-q", "--test", "test[1].csv")
    assert status == 0
    assert "Test error" in out


def test_going_on_with_a_model(capsys, folder):
    text = (folder / "flowers.csv").read_text().splitlines(keepends=True)
    (folder / "one.csv").write_text("".join(text[:46]))
    (folder / "two.csv").write_text("".join([text[0], *text[46:]]))
    once = ("--epochs", 1, "-q", "-o")
    as_it_is = ("--set", "scale=none")
    classes = ("--classes", ",".join(sorted(set(get_labels("flowers.csv")))))
    assert run(capsys, "train", "one.csv", *classes, *as_it_is, *once, "half")[0] == 0
    assert run(capsys, "train", "two.csv", "--initial", "half", *once, "whole")[0] == 0
    assert run(capsys, "train", "flowers.csv", *classes, *as_it_is, *once, "at-once")[0] == 0
    whole, at_once = (load_model(name).states[0] for name in ("whole", "at-once"))
    np.testing.assert_array_equal(whole.coefficients()[0], at_once.coefficients()[0])
    other = "--initial", "half", "--set", "solution=average"
    status, _, err = run(capsys, "train", "two.csv", *other)
    assert (status, "begun with solution last; continue with the same" in err) == (2, True)
    status, _, err = run(capsys, "train", "two.csv", "--initial", "half", "--rule", "romma")
    assert (status, "continue with its rule" in err) == (2, True)
    assert run(capsys, "train", "two.csv", "--initial", "half", "--label", "kind")[0] == 2


@pytest.mark.parametrize(("rows", "place"), [(30, "head"), (30, "tail"), (200_000, "tail")])
def test_a_stray_word_is_skipped_wherever_it_is(capsys, folder, rows, place):
    good = [f"{i % 7},{i % 2}\n" for i in range(rows)]
    lines = ["oops,1\n", *good] if place == "head" else [*good, "oops,1\n"]
    (folder / "x.csv").write_text("a,y\n" + "".join(lines))
    status, out, err = run(capsys, "train", "x.csv", "-o", "m", "--skip-bad", "1", "--epochs", "1")
    assert status == 0
    assert f"{rows:,} rows, 1 feature" in out
    assert "1 broken row left out." in err
    recipe = load_model("m").features["recipe"]
    assert recipe["columns"] == [["a", "number"]]


def test_the_error_before_learning_is_printed(capsys, folder):
    given = ("train", "flowers.csv", "--epochs", 2, "--set", "progress_every=25")
    status, out, _ = run(capsys, *given)
    assert status == 0
    objects = sample_lines(run(capsys, *given, "--json")[1])
    told = [one for one in objects if one["event"] == "progress"]
    rows = np.array([one["rows"] for one in told])
    assert rows.tolist() == [25, 50, 75, 90]
    shown = [line.split() for line in out.splitlines() if " rows/s" in line]
    assert [words[1] for words in shown] == [*map(str, rows)]
    sizes = np.diff(rows, prepend=0)
    windows, errors = (np.array([one[name] for one in told]) for name in ("last_error", "error"))
    np.testing.assert_allclose(np.cumsum(windows * sizes) / rows, errors)


def test_the_settings_for_the_next_row_are_printed(capsys, folder):
    once = "--epochs", 1, "--tune"
    often = "--set", "progress_every=30", "-o", "model"
    status, out, _ = run(capsys, "train", "flowers.csv", *once, *often)
    assert status == 0
    assert "drift alarm" in out
    assert "(predicts the next row)" in out
    told = sample_lines(run(capsys, "train", "flowers.csv", *once, "--json")[1])
    (event,) = (one for one in told if one["event"] == "stream")
    assert event["rows"] == 90
    assert f"Stream: error {event['error']:.2%} of 90 rows" in out
    assert f"Stream: error {event['error']:.2%} of 90 rows" in run(capsys, "inspect", "model")[1]


def test_a_pass_is_told_as_a_whole(capsys, folder):
    options = "--set", "progress_every=9", "--checkpoint", 1, "-o", "m", "--json"
    status, out, err = run(capsys, "train", "flowers.csv", *options)
    assert (status, json.loads(out)["code"]) == (2, "progress-checkpoint")
    assert "checkpoint" in err


def test_a_large_index_is_refused_before_it_takes_memory(capsys, folder):
    (folder / "x.svm").write_text("0 1:1\n1 4000000000:1\n")
    tracemalloc.start()
    status, _, err = run(capsys, "train", "x.svm")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert status == 2
    assert "are 8,000,000,000 weights" in err
    assert most < 100e6


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ([], True),
        (["-q"], False),
        (["--holdout", 0.2], False),
        (["--folds", 3], False),
        (["--test", "flowers.csv"], False),
        (["--epochs", 1], False),
    ],
)
def test_a_training_without_other_rows_says_how_to_measure(capsys, folder, options, shown):
    out = run(capsys, "train", "flowers.csv", *options)[1]
    assert ("Measure its error on other rows by --holdout 0.2" in out) == shown


def test_rows_that_are_all_predicted_as_one_class_are_noted(capsys, folder):
    rows = [f"{k % 7},{'yes' if k % 50 == 0 else 'no'}\n" for k in range(200)]
    (folder / "rare.csv").write_text("".join(["size,fraud\n", *rows]))
    err = run(capsys, "train", "rare.csv", "--test", "rare.csv", "-q", "-o", "rare")[2]
    assert "Note: All rows of rare.csv are predicted as no. Train with --balanced" in err
    assert "are predicted as" in run(capsys, "score", "rare", "rare.csv")[2]
    out, err = run(capsys, "train", "flowers.csv", "--test", "flowers.csv", "-q")[1:]
    assert ("Test error" in out, "are predicted as" in err) == (True, False)


def test_labels_that_the_model_does_not_know_are_told_of(capsys, folder):
    (folder / "other.csv").write_text(flowers("csv").replace("setosa", "rose"))
    status, out, err = run(capsys, "train", "flowers.csv", "--test", "other.csv", "-q")
    assert status == 0
    assert err == (
        "Note: 30 rows of other.csv with labels that the model does not know, such as 'rose', "
        "count as errors.\n"
    )
    assert "Test error " in out


def test_train_and_inspect_say_what_the_columns_are_taken_for(capsys, folder):
    words = "one two three four five six seven"
    lines = [f"{k},{'ab'[k % 2]},2020-01-{k % 28 + 1:02},{words} {k},x{k % 3}" for k in range(60)]
    (folder / "mixed.csv").write_text("\n".join(["size,kind,day,note,class", *lines]))
    status, out, err = run(capsys, "train", "mixed.csv", "-o", "m", "--ignore", "kind")
    assert status == 0
    assert out.splitlines()[:5] == [
        "Label: class",
        "Numbers (mean 0, deviation 1): size",
        "Text (1-2 words, binary counts, tf-idf): note",
        "Dates (their parts, and the time as a number): day",
        "Not used: kind",
    ]
    assert "3 classes: x0 (20), x1 (20), x2 (20)\n" in out
    assert "'day' is taken as dates" in err
    assert "'note' is taken as text" in err
    inspected = run(capsys, "inspect", "m")[1].splitlines()
    assert inspected[0] == "AROW for 3 classes: x0 (20), x1 (20), x2 (20)"
    assert inspected[1:6] == out.splitlines()[:5]
    done = run(capsys, "train", "mixed.csv", "--json", "--ignore", "kind")[1].splitlines()[-1]
    found = json.loads(done)
    assert (found["label"], found["class_rows"]) == ("class", [20, 20, 20])
    kinds = {"number": ["size"], "date": ["day"], "text": ["note"], "ignored": ["kind"]}
    assert found["columns"] == kinds


def test_warnings_are_notes(capsys):
    from rosenblatt.shell.app import show_warning

    show_warning(UserWarning("This takes long."), UserWarning, "learner.py", 3)
    show_warning(RuntimeWarning("overflow"), RuntimeWarning, "learner.py", 3)
    assert capsys.readouterr().err.splitlines() == [
        "Note: This takes long.",
        "learner.py:3: RuntimeWarning: overflow",
    ]


def test_folds_show_the_spread(capsys, folder):
    status, out, _ = run(capsys, "train", "flowers.csv", "--folds", 3, "--probabilities", "-o", "m")
    assert status == 0
    assert "Cross-validation with 3 folds: error 0.00%: 0 of 90 rows (majority" in out
    assert "deviation" in out
    assert "log loss" in out
    assert (folder / "m").exists()
    for options in (["--initial", "m"], ["--cluster", "local:1"]):
        status, _, err = run(capsys, "train", "flowers.csv", "--folds", 3, *options)
        assert (status, err.count("--folds")) == (2, 1), options


def test_the_built_in_iris_is_that_of_scikit_learn():
    X, y, names = load_builtin("iris")
    iris = load_iris()
    np.testing.assert_array_equal(X, iris.data)
    np.testing.assert_array_equal(y, iris.target_names[iris.target])
    assert names["feature_names"] == iris.feature_names


@pytest.mark.parametrize(
    ("path", "sentence"), [("-", "- is not a file"), ("no/m", "There is no folder no to write to")]
)
def test_a_model_is_written_to_a_file_in_a_folder_that_there_is(capsys, folder, path, sentence):
    before = [*folder.iterdir()]
    status, _, err = run(capsys, "train", "iris", "-o", path)
    assert (status, sentence in err, err.count("\n")) == (2, True, 1)
    assert [*folder.iterdir()] == before
