"""Any file as a model, and forged models with a right checksum: refused in a sentence or harmless.

``python tests/fuzz/fuzz_storage.py -max_total_time=60`` (needs the extra ``fuzz``).
"""

import json
import sys
import warnings
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory

import atheris
import numpy as np
from safetensors.numpy import save_file

import rosenblatt.kernels.loop  # noqa: F401  compiled code cannot be instrumented

with atheris.instrument_imports(include=["rosenblatt.storage", "rosenblatt.training.state"]):
    from rosenblatt.storage import file

from rosenblatt import AROW, KernelPerceptron, Perceptron
from rosenblatt.data.rows import view_rows
from rosenblatt.learners.linear import LinearLearner

NUMBERS = -1, 0, 1, 3, 2**70, 0.5, float("nan"), float("inf")
VALUES = [None, True, *NUMBERS, "", "vote", [], {}, [[0]]]
X, Y = np.random.default_rng(0).integers(-4, 5, (12, 3)).astype(float), np.arange(12) % 3
MODELS = [
    kind(max_iter=3, random_state=0, **own).fit(X, Y % classes).to_model()
    for classes in (2, 3)
    for kind, own in [
        (Perceptron, {"solution": "last"}),
        (Perceptron, {"solution": "average"}),
        (Perceptron, {"solution": "pocket"}),
        (AROW, {}),
        (KernelPerceptron, {"kernel": "poly", "degree": 2}),
    ]
]
TYPES = [np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_]


def forge(choose, path):
    """Write a model of which some entries and tensors are changed."""
    model = MODELS[choose.ConsumeIntInRange(0, len(MODELS) - 1)]
    tensors, text = file.pack_model(model)
    header = json.loads(text)
    for _ in range(choose.ConsumeIntInRange(1, 3)):
        if choose.ConsumeBool():
            change_entry(choose, header)
        else:
            change_tensor(choose, tensors)
    text = json.dumps(header)
    text = text.replace('""', f'"{file.checksum(text, tensors)}"', 1)
    save_file(tensors, path, {"rosenblatt": text})


def change_entry(choose, place):
    """Put another value somewhere into the header."""
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = keys[choose.ConsumeIntInRange(0, len(keys) - 1)]
        if not isinstance(place[key], (dict, list)) or choose.ConsumeProbability() < 0.2:
            break
        place = place[key]
    if choose.ConsumeBool():
        place[key] = deepcopy(VALUES[choose.ConsumeIntInRange(0, len(VALUES) - 1)])
    elif isinstance(place, dict):
        del place[key]
    else:
        place[key] = choose.ConsumeInt(9)


def change_tensor(choose, tensors):
    """Change a number, the type, the shape or the name of a tensor, or take it away."""
    names = sorted(tensors)
    if not names:
        return
    name = names[choose.ConsumeIntInRange(0, len(names) - 1)]
    array = tensors[name].copy()
    how = choose.ConsumeIntInRange(0, 4)
    if how == 0 and array.size:
        bits = array.reshape(-1).view(np.uint8)
        bits[choose.ConsumeIntInRange(0, len(bits) - 1)] = choose.ConsumeIntInRange(0, 255)
    elif how == 1:
        with np.errstate(invalid="ignore", over="ignore"):
            array = array.astype(TYPES[choose.ConsumeIntInRange(0, len(TYPES) - 1)])
    elif how == 2:
        array = array.reshape(-1)[choose.ConsumeIntInRange(0, 3) :].copy()
    elif how == 3:
        array = np.stack([array] * choose.ConsumeIntInRange(0, 2) or [array[:0]])
    else:
        del tensors[name]
        name = choose.ConsumeUnicodeNoSurrogates(12)
    tensors[name] = array


def test_one_input(data):
    """Load it; what loads must be saved, answer and vote."""
    choose = atheris.FuzzedDataProvider(data)
    if choose.ConsumeBool():
        PATH.write_bytes(choose.ConsumeBytes(4096))
    else:
        forge(choose, PATH)
    try:
        model = file.load_model(PATH)
    except ValueError as error:
        assert str(error).endswith("."), error
        return
    file.save_model(PATH, model)
    with np.errstate(all="ignore"):
        wide = model.is_linear and len(model.states[0].weights) > 0
        if wide and model.parameters.get("ties") in ("mistake", "correct"):
            learner = LinearLearner.from_model(model)
            learner.scores(view_rows(np.ones((1, learner.width), learner.dtype)), learner.width)
        try:
            file.load(PATH).predict(np.ones((1, 3)))
        except ValueError as error:
            assert str(error).endswith("."), error


if __name__ == "__main__":
    warnings.simplefilter("error")
    with TemporaryDirectory() as folder:
        PATH = Path(folder, "model.safetensors")
        atheris.Setup(sys.argv, test_one_input)
        atheris.Fuzz()
