"""A service needs no training file: labels and columns are enough."""

import numpy as np
import pytest

from rosenblatt.parameters import ParameterError
from rosenblatt.service.create import new_model, parse_column
from rosenblatt.service.model import ServedModel
from rosenblatt.storage.file import load_model, save_model

from ..shell.conftest import run
from .conftest import examples, replayed, sequence_in
from .test_rows import dense

COLUMNS = ["size:number:0.1:0.5", "colour:category", "note:text:1-2"]


def served(model, folder):
    save_model(folder / "m", model)
    return ServedModel(load_model(folder / "m"), "m")


def test_numbers_are_as_they_are_or_as_stated(tmp_path):
    rows = [{"a": 5.0, "b": 7.0, "label": 1}, {"a": None, "label": 0}]
    plain = served(new_model(["0", "1"], ["a", "b"]), tmp_path)
    np.testing.assert_array_equal(dense(plain.maker.make(rows, True)), [[5, 7], [0, 0]])
    stated = served(new_model(["0", "1"], ["a:number:3:2", "b"]), tmp_path)
    np.testing.assert_array_equal(dense(stated.maker.make(rows, True)), [[1, 7], [0, 0]])
    assert plain.learner.classes.tolist() == [0, 1]


ODD = [
    "", "a:colour", "a:number:1", "a:number:x:1", "a:number:1:0", "a:category:2", "a:text:0-2",
    "a:text:x",
]  # fmt: skip


@pytest.mark.parametrize("stated", ODD)
def test_columns_that_are_not_understood(stated):
    with pytest.raises(ParameterError, match="features"):
        parse_column(stated)


def test_what_is_refused():
    for features in (["a", "a"], ["a", "label"]):
        with pytest.raises(ParameterError, match="twice"):
            new_model(["x", "y"], features)
    with pytest.raises(ParameterError, match="at least two"):
        new_model(["x", "x"], ["a"])


@pytest.mark.slow
def test_a_service_from_nothing(serve, tmp_path):
    path = tmp_path / "new.safetensors"
    options = ["--learn", "--new", "big,small", "--label", "kind", "--set", "bits=12"]
    options += ["--features", "size,colour:category,note:text"]
    service = serve(path, *options)
    assert service.learn(examples(50))[1]["sequence"] == 50
    status, err = service.stop()
    assert status == 0
    assert "Numbers are used unscaled" in err
    again = serve(path, *options)  # the same command goes on
    assert again.learn(examples(1))[1]["sequence"] == 51
    assert again.stop()[1].count("\n") == 1
    assert sequence_in(path) == 51
    assert path.read_bytes() == replayed(path)
    assert load_model(path).estimator == "AROW"  # what suits one pass


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--new", "a,b"], "--features"),
        (["--features", "x"], "needs --new"),
        (["--rule", "arow"], "needs --new"),
        (["--grow", "9"], "--grow needs --learn"),
        (["--new", "a", "--features", "x"], "at least two"),
        (["--new", "a,b", "--features", "x:colour"], "features: 'x:colour'"),
        (["--new", "a,b", "--features", "x", "--rule", "pa", "--set", "margin=3"], "has no margin"),
    ],
)
def test_options_that_do_not_go_together(capsys, tmp_path, options, said):
    status, _, err = run(capsys, "serve", tmp_path / "m", "--port", 0, *options)
    assert (status, err.count("\n")) == (2, 1)
    assert said in err
    assert list(tmp_path.iterdir()) == []
