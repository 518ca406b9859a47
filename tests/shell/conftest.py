"""What the tests of the commands share: a shell, files, and a trained model."""

import sys
from pathlib import Path

import numpy as np
import pytest

from rosenblatt.shell.app import main


def run(capsys, *arguments):
    """The exit status of a command, and what it printed to both streams."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["rosenblatt", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
    streams = capsys.readouterr()
    return stop.value.code, streams.out, streams.err


@pytest.fixture
def numbers(tmp_path):
    """A CSV file with two separable classes."""
    path = tmp_path / "numbers.csv"
    path.write_text("a,kind,b\n0,no,1\n1,no,0\n4,yes,4\n5,yes,3\n")
    return path


def flowers(kind):
    """Three flowers that are easy to tell apart, in a format."""
    random = np.random.default_rng(0)
    centres = {"setosa": (1, 1), "versicolor": (7, 1), "virginica": (1, 7)}
    if kind in ("csv", "tsv"):
        lines = ["petal,sepal,kind"]
        form = "{0:.2f},{1:.2f},{2}"
    else:
        lines = []
        form = {"svm": "{3} 1:{0:.2f} 2:{1:.2f}", "vw": "{3} |size petal:{0:.2f} sepal:{1:.2f}"}[
            kind
        ]
    for k in range(90):
        number = k % 3
        name = list(centres)[number]
        petal, sepal = centres[name] + random.uniform(-0.5, 0.5, size=2)
        lines.append(form.format(petal, sepal, name, number + 1))
    text = "".join(f"{line}\n" for line in lines)
    return text.replace(",", "\t") if kind == "tsv" else text


def reviews():
    """Reviews whose words tell what they say."""
    good, bad = ["lovely", "superb", "warm"], ["dull", "awful", "cold"]
    rows = [
        f'"a {(good if k % 2 else bad)[k % 3]} film, number {k % 7}",{"pos" if k % 2 else "neg"}'
        for k in range(60)
    ]
    return "".join(f"{row}\n" for row in ["review,verdict", *rows])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to work in, with a file of every format."""
    monkeypatch.chdir(tmp_path)
    for kind in ("csv", "tsv", "svm", "vw"):
        (tmp_path / f"flowers.{kind}").write_text(flowers(kind))
    (tmp_path / "reviews.csv").write_text(reviews())
    return tmp_path


TEXT = ("--text", "review", "--label", "verdict")


TRAINED = [
    ("flowers.csv", ()),
    ("flowers.tsv", ()),
    ("flowers.svm", ()),
    ("flowers.vw", ()),
    ("reviews.csv", TEXT),
    ("reviews.csv", (*TEXT, "--set", "ngrams=2-3", "--set", "characters=true", "--set", "bits=12")),
]


def trained(capsys, data="flowers.csv", *options):
    """Train on a file; the name of the model."""
    arguments = ("train", data, "-o", "m.safetensors", "--epochs", 200, "-q", *options)
    assert run(capsys, *arguments)[0] == 0
    return "m.safetensors"


def get_labels(name):
    """The labels of a file, as written."""
    lines = iter(Path(name).read_text().splitlines())
    if name.endswith(("svm", "vw")):
        return [line.split()[0] for line in lines]
    next(lines)
    return [line.replace("\t", ",").rpartition(",")[2] for line in lines]
