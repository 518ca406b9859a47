"""Forged model files with right checksums: every kind of model, every entry and tensor changed.

A forged file must be refused in one sentence, or become a model that predicts.
"""

import json
import tempfile
from copy import deepcopy
from itertools import chain
from pathlib import Path

import numpy as np

import rosenblatt
from rosenblatt import (
    ALMA,
    AROW,
    ROMMA,
    SCW,
    KernelPerceptron,
    PassiveAggressive,
    Perceptron,
    PerceptronNetwork,
    PRank,
    SecondOrderPerceptron,
    SequencePerceptron,
)
from rosenblatt.storage import file

from ..conftest import blobs, csr

VALUES = [
    None, True, -1, 0, 1, 3, 10**9, 2**70, 0.5, -1e308, float("nan"), float("inf"),
    "", "x", "last", [], {}, [[0]], [1, 2], ["a"], {"a": 1},
]  # fmt: skip
TYPES = [np.float16, np.float32, np.float64, np.int32, np.int64, np.uint8, np.uint16, np.bool_]
NUMBERS = [-1, 0, 1, 7, 2**31, 10**9, 2**62, -(2**63)]
FLOATS = [*NUMBERS, np.nan, np.inf, 1e308]
FINE = ("refused", "refused later", "harmless")
SENTENCES = [["the", "Cat", "sat"], ["a", "dog"]]
TAGS = [["B-N", "I-N", "O"], ["O", "B-N"]]


def linear_models():
    """The linear models: each solution, form and rule."""
    rows, y = blobs(12, 3, classes=2)
    many, labels = blobs(12, 3, classes=3)
    rows, many = np.round(4 * rows), np.round(4 * many)
    for solution in ("last", "average", "pocket"):
        yield f"two {solution}", Perceptron(solution=solution, max_iter=3, random_state=0), rows, y
    for form in ("argmax", "ovr"):
        model = Perceptron(multi_class=form, solution="average", max_iter=3, random_state=0)
        yield form, model, many, labels
    sets = np.array([labels == 0, labels > 0]).T.astype(int)
    yield "label sets", Perceptron(max_iter=2, random_state=0), many, sets
    wide = np.tile(rows, (4, 1)), np.tile(y, 4)
    yield "calibrated", Perceptron(calibrate=True, max_iter=2, random_state=0), *wide
    yield "ranks", PRank(ranks=[2, 0, 1], solution="average", random_state=0), many, labels
    weights = {0: 1.0, 1: 2.0}
    yield "class weights", Perceptron(class_weight=weights, max_iter=2, random_state=0), rows, y
    for model in (
        PassiveAggressive(C=0.5),
        ALMA(solution="average"),
        ROMMA(),
        SecondOrderPerceptron(solution="average"),
        AROW(solution="average"),
        SCW(),
    ):
        yield str(model), model.set_params(max_iter=2, random_state=0), rows, y


def other_models():
    """Kernels, networks and taggers."""
    rows, y = blobs(12, 3, classes=2)
    many, labels = blobs(12, 3, classes=3)
    for model in (
        KernelPerceptron("poly", degree=2, solution="vote"),
        KernelPerceptron("rbf", budget=4, solution="average"),
        KernelPerceptron("rbf", budget=4),
        KernelPerceptron("linear"),
    ):
        yield str(model), model.set_params(max_iter=2, random_state=0), csr(many), labels
    yield "precomputed", KernelPerceptron("precomputed", random_state=0), rows @ rows.T, y
    for growth in ("upstart", "tiling", "tower", "pyramid"):
        model = PerceptronNetwork(growth, random_state=0, max_iter=5, max_units=6)
        yield growth, model, np.round(rows), np.arange(12) % 2
    yield "networks", PerceptronNetwork(random_state=0, max_iter=5, max_units=4), many, labels
    yield "tagger", SequencePerceptron(max_iter=2, random_state=0), SENTENCES, TAGS
    dicts = [[{"w": word, "n": 2.0} for word in words] for words in SENTENCES]
    yield "tagger of features", SequencePerceptron(max_iter=2, random_state=0), dicts, TAGS
    pairs = [[(word, word[0]) for word in words] for words in SENTENCES]
    own = {"features": ["word[0]", "suffix2[-1]"], "constraints": "none"}
    yield "tagger of pairs", SequencePerceptron(max_iter=2, random_state=0, **own), pairs, TAGS


TABLE = [
    {
        "size": float(k),
        "kind": "ab"[k % 2],
        "day": f"2024-01-{k + 1:02}",
        "title": f"word{k % 3} and word{k % 5}",
        "label": "no" if k % 4 else "yes",
    }
    for k in range(20)
]


def pipelines():
    """Models with features: tables with words, dates and texts, and files of svmlight and VW."""
    yield "table", rosenblatt.train(TABLE, label="label", text=["title"], bits=6), TABLE
    crossed = rosenblatt.train(TABLE, label="label", ignore=["title"], bits=6, pairs=True)
    yield "crossed table", crossed, TABLE
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.csv")
        lines = [",".join(map(str, row.values())) for row in TABLE]
        path.write_text("\n".join([",".join(TABLE[0]), *lines]))
        yield "csv", rosenblatt.train(path, label="label", text=["title"], bits=6), path
    numbers = [{"a": k, "b": -k % 7, "label": k > 9} for k in range(20)]
    yield "numbers", rosenblatt.train(numbers, label="label", calibrate=True), numbers
    with tempfile.TemporaryDirectory() as folder:
        light = Path(folder, "rows.svm")
        light.write_text("".join(f"{k % 2} 1:{k} 3:{k % 5}\n" for k in range(20)))
        yield "svmlight", rosenblatt.train(light), csr(np.ones((2, 3)))
        words = Path(folder, "rows.vw")
        words.write_text("".join(f"{2 * (k % 2) - 1} |a x:{k} y |b z{k % 3}\n" for k in range(20)))
        yield "vw", rosenblatt.train(words, bits=6), csr(np.ones((2, 64)))


def models():
    """The name of each model, the model, and what it predicts for."""
    for name, model, X, y in chain(linear_models(), other_models()):
        yield name, model.fit(X, y), X
    yield from pipelines()


def places(value, path=()):
    """The path to every entry of a header; of long lists the first two and the last."""
    if path:
        yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for number in sorted({0, 1, len(value) - 1} & set(range(len(value)))):
            yield from places(value[number], (*path, number))


def changed_entries(header):
    """Headers of which one entry has another value or is gone."""
    for path in places(header):
        if path[0] in ("checksum", "format", "version"):
            continue
        for value in VALUES:
            yield f"{path} = {value!r}", with_entry(header, path, value)
        yield f"{path} is gone", with_entry(header, path, None, gone=True)
    yield "one more entry", header | {"more": 1}


def with_entry(header, path, value, gone=False):
    """A copy of a header with another value at a path."""
    copied = deepcopy(header)
    inner = copied
    for key in path[:-1]:
        inner = inner[key]
    if gone:
        del inner[path[-1]]
    else:
        inner[path[-1]] = deepcopy(value)
    return copied


def changed_tensors(tensors):
    """Tensors of which one has another number, type or shape, or is gone."""
    for name, array in tensors.items():
        yield f"{name} is gone", {key: tensors[key] for key in tensors if key != name}
        yield f"{name} twice", tensors | {f"{name}x": array}
        for kind in TYPES:
            with np.errstate(all="ignore"):
                yield f"{name} as {kind.__name__}", tensors | {name: array.astype(kind)}
        shapes = [array[:0], array[:-1], np.concatenate([array, array]), array[None], array.ravel()]
        for other in [*shapes, np.zeros((), array.dtype)]:
            yield f"{name} of {other.shape}", tensors | {name: np.array(other, order="C")}
        for place in sorted({0, array.size - 1} & set(range(array.size))):
            for number in FLOATS if array.dtype.kind == "f" else NUMBERS:
                yield (
                    f"{name}[{place}] = {number}",
                    tensors | {name: with_number(array, place, number)},
                )


def with_number(array, place, number):
    """A copy of an array with another number at a place, cut to what its type can hold."""
    copied = np.array(array)
    with np.errstate(all="ignore"):
        copied.reshape(-1)[place] = np.array(number, object).astype(float).astype(array.dtype)
    return copied


def forgeries(model, folder):
    """What was changed, the header and the tensors, of every forged file."""
    path = Path(folder, "own.safetensors")
    rosenblatt.save(model, path)
    tensors, text = file.pack_model(file.load_model(path))
    header = json.loads(text)
    for what, other in changed_entries(header):
        yield what, other, tensors
    for what, others in changed_tensors(tensors):
        yield what, header, others


def outcome(path, X):
    """Whether a file is refused or predicts, or in what other way it fails."""
    try:
        model = rosenblatt.load(path)
    except ValueError as error:
        said = str(error)
        plain = said.endswith(".") and "\n" not in said and str(path) in said and len(said) < 400
        return "refused" if plain else f"said {said}"
    except Exception as error:
        return f"{type(error).__name__} {error}"
    table = isinstance(X, Path) or (isinstance(X, list) and isinstance(X[0], dict))
    if table and not hasattr(model, "named_steps"):
        return "harmless"  # without its features it is another model
    try:
        model.predict(X)
        rosenblatt.save(model, path)
    except (ValueError, OSError) as error:
        return "refused later" if str(error).endswith(".") else f"said {error}"
    except Exception as error:
        return f"{type(error).__name__} {error}"
    return "harmless"
