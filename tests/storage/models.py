"""Small models to save, and what it means that two are the same, for the tests of this folder."""

import json

import numpy as np
import pytest
from safetensors.numpy import save_file

from rosenblatt import Perceptron
from rosenblatt.parameters import CodedError
from rosenblatt.storage import file
from rosenblatt.storage.file import load_model
from rosenblatt.training.state import pack_state

from ..conftest import LAYOUTS, blobs, form_parameters


def trained(solution="last", form="two", layout="dense", dtype=np.float64, labels=None, **chosen):
    rows, y = blobs(12, 3, classes=2 if form == "two" else 3)
    rows = LAYOUTS[layout](np.round(4 * rows).astype(dtype))
    chosen = {"max_iter": 3, "random_state": 0, **form_parameters(form), **chosen}
    y = y if labels is None else np.asarray(labels)[y]
    return Perceptron(solution=solution, **chosen).fit(rows, y)


def learn_on(perceptron, X, y):
    """Go on as the solution can: the pocket needs all rows at once."""
    if perceptron.solution == "pocket":
        return perceptron.set_params(warm_start=True).fit(X, y)
    return perceptron.partial_fit(X, y)


def assert_same_arrays(one, other):
    one, other = (part.toarray() if hasattr(part, "indptr") else part for part in (one, other))
    assert (one.dtype, one.shape) == (other.dtype, other.shape)
    assert one.tobytes() == other.tobytes()


def assert_same_state(one, other):
    assert type(one) is type(other)
    assert getattr(one, "rule", None) is getattr(other, "rule", None)
    (arrays, numbers), (other_arrays, other_numbers) = map(pack_state, (one, other))
    assert numbers == other_numbers
    assert [type(number) for number in numbers.values()] == [
        type(number) for number in other_numbers.values()
    ]
    assert arrays.keys() == other_arrays.keys()
    for name in arrays:
        assert_same_arrays(arrays[name], other_arrays[name])


def assert_same(one, other):
    assert one.parameters == other.parameters
    assert one.classes.dtype == other.classes.dtype
    assert one.classes.tolist() == other.classes.tolist()
    assert (one.features, one.facts) == (other.features, other.facts)
    assert list(one.history) == list(other.history)
    for solutions in zip(one.states, other.states, strict=True):
        assert_same_state(*solutions)


def files_beside(path):
    return sorted(file.name for file in path.parent.iterdir())


def refused(path, match=None, load=load_model, code="model-damaged"):
    with pytest.raises(CodedError, match=match) as caught:
        load(path)
    assert (caught.value.code, caught.value.file) == (code, str(path))
    assert str(path) in str(caught.value)
    assert str(caught.value).endswith(".")
    assert len(str(caught.value)) < 300


def attempt(path, load=load_model):
    """The model, or the sentence with which it is refused."""
    try:
        return load(path)
    except ValueError as error:
        return str(error)


def forge(path, model, change):
    """Write a changed model with a checksum that is right."""
    tensors, text = file.pack_model(model)
    header = json.loads(text)
    change(header, tensors)
    write(path, header, tensors)


def write(path, header, tensors):
    """Write a file with the right checksum."""
    text = json.dumps(header | {"checksum": ""})
    text = text.replace('""', f'"{file.checksum(text, tensors)}"', 1)
    save_file(tensors, path, {"rosenblatt": text})


def put(place, value):
    """A change of one header entry or tensor, given by its path."""

    def change(header, tensors):
        if isinstance(value, np.ndarray):
            tensors[place] = value
            return
        *outer, last = place
        for name in outer:
            header = header[name]
        header[last] = value

    return change
