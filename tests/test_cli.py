"""The commands, as a user meets them: what they print and how they exit."""

import subprocess
import sys

import pytest

from rosenblatt import __version__, cli


def run(capsys, *arguments):
    """The exit status of a command, and what it printed to both streams."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["rosenblatt", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
    streams = capsys.readouterr()
    return stop.value.code, streams.out, streams.err


@pytest.fixture
def numbers(tmp_path):
    """A CSV file with two separable classes."""
    path = tmp_path / "numbers.csv"
    path.write_text("a,kind,b\n0,no,1\n1,no,0\n4,yes,4\n5,yes,3\n")
    return path


@pytest.mark.parametrize("name", list(cli.BuiltIn))
def test_train_shows_every_epoch_and_a_verdict(capsys, name):
    status, out, _ = run(capsys, "train", name, "--epochs", 3)
    lines = out.splitlines()
    assert status == 0
    assert lines[0].startswith(f"{name}: ")
    assert [line.split()[:2] for line in lines[1:4]] == [["epoch", str(k)] for k in (1, 2, 3)]
    assert "mistakes in 3 epochs" in lines[4]
    assert "\x1b" not in out


def test_train_says_when_the_classes_are_separated(capsys):
    status, out, _ = run(capsys, "train", "digits", "--quiet")
    assert status == 0
    assert "Separated after" in out
    assert "100.00% of the training rows" in out
    assert "epoch " not in out


def test_train_says_when_they_are_not(capsys):
    _, out, _ = run(capsys, "train", "xor", "--quiet")
    assert "Not separated after" in out
    assert "mistakes in 100 epochs" in out
    assert "100 epochs are over" in out


@pytest.mark.parametrize("solution", list(cli.Solution))
@pytest.mark.parametrize("order", ["once", "fixed"])
def test_train_takes_every_solution(capsys, solution, order):
    options = ("--solution", solution, "--order", order, "--seed", 1, "-q")
    status, out, _ = run(capsys, "train", "iris", *options)
    assert status == 0
    assert f"The {solution} weights classify" in out


def test_the_choices_are_those_of_the_estimator():
    from rosenblatt.training import ORDERS, SOLUTIONS

    assert list(cli.Solution) == list(SOLUTIONS)
    assert list(cli.Order) == list(ORDERS)


def test_options_that_do_not_go_together_are_refused_in_one_line(capsys):
    status, _, err = run(capsys, "train", "iris", "--order", "worst", "--solution", "vote")
    assert status == 2
    assert err.startswith("rosenblatt: solution='vote' weighs")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments", [["train", "moon"], ["train"], ["fly"], ["train", "iris", "--epochs", "0"]]
)
def test_wrong_words_end_with_status_two(capsys, arguments):
    assert run(capsys, *arguments)[0] == 2


def test_version(capsys):
    assert run(capsys, "--version")[:2] == (0, f"rosenblatt {__version__}\n")


def test_help_imports_nothing_heavy():
    script = (
        "import sys; sys.argv = ['rosenblatt', 'train', '--help']\n"
        "from rosenblatt.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'numba', 'numpy', 'pyarrow', 'scipy', 'sklearn'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "--solution" in out.stdout
    assert out.stdout.splitlines()[-1] == "[]"


def test_prove_and_verify_a_separable_file(capsys, numbers, tmp_path):
    proof = tmp_path / "proof.json"
    status, out, _ = run(capsys, "prove", numbers, "--label", "kind", "--certificate", proof)
    assert status == 0
    assert "Separable" in out
    assert "The margin is between" in out
    assert run(capsys, "verify", numbers, proof, "--label", "kind")[0] == 0
    status, out, _ = run(capsys, "verify", "xor", proof)
    assert status == 1
    assert "does not prove" in out


def test_prove_and_verify_an_inseparable_set(capsys, tmp_path):
    proof = tmp_path / "proof.json"
    status, out, _ = run(capsys, "prove", "xor", "--certificate", proof)
    assert status == 1
    assert "  row 1, class 0: 1/4" in out
    assert run(capsys, "verify", "xor", proof)[0] == 0


def test_prove_sets_one_class_against_the_others(capsys):
    assert run(capsys, "prove", "iris", "--positive", 0)[0] == 0
    assert run(capsys, "prove", "iris", "--positive", 1)[0] == 1
    status, _, err = run(capsys, "prove", "iris")
    assert status == 2
    assert "3 classes (0, 1, 2)" in err
    status, _, err = run(capsys, "prove", "iris", "--positive", "rose")
    assert status == 2
    assert "no label rose" in err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "neither a file nor a built-in data set"),
        ("", "cannot be read as CSV"),
        ("a,b\n1,2\n3\n", "cannot be read as CSV"),
        ("a,b\nx,1\ny,2\n", "column a is not numeric"),
        ("a,b\n,1\n2,2\n", "column a has missing values"),
    ],
)
def test_bad_files_get_one_sentence(capsys, tmp_path, text, sentence):
    path = tmp_path / "bad.csv"
    if text is not None:
        path.write_text(text)
    status, out, err = run(capsys, "prove", path)
    assert (status, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1


def test_a_label_that_does_not_exist(capsys, numbers):
    status, _, err = run(capsys, "prove", numbers, "--label", "colour")
    assert status == 2
    assert "has no column colour; it has a, kind, b" in err


def test_a_damaged_certificate(capsys, tmp_path):
    proof = tmp_path / "proof.json"
    proof.write_text("{")
    status, _, err = run(capsys, "verify", "xor", proof)
    assert status == 2
    assert "is not JSON" in err


def test_a_missing_certificate(capsys, tmp_path):
    status, _, err = run(capsys, "verify", "xor", tmp_path / "none.json")
    assert status == 2
    assert "none.json" in err
