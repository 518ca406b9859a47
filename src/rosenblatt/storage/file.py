"""The model file: safetensors with a JSON header.

Its metadata has one entry, ``rosenblatt``: a JSON text with the format's number, a checksum and all
that is not an array. Array ``a`` of state 0 is the tensor ``0.a``; ``history`` is one, too. Weights
that never changed may be left out (storage/sparse.py).
"""

import hashlib
import json
import os
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load, save_file

from .. import __version__
from ..data.rows import Array
from ..disk import explain_errors, refuse_all_but_files, replace_file
from ..parameters import InputError
from ..training import state as states
from ..training.rules import RULES
from ..training.state import require
from ..training.training import Checkpoint, Epoch, ProblemRun
from .model import MISMATCH, Model, check_model, label_type, state_class
from .small import begin_small, keep_largest, pack_weights, parse_size
from .sparse import SHAPE, remove_unchanged, restore_unchanged

FORMAT = 1
HEADER_BYTES = 2**25  # over a million names; JSON takes up to 25 times as much memory
ROOM, ENTRY = 200, 120  # bytes of a header besides its text, and of the entry of a tensor in it
DAMAGE = (*MISMATCH, zlib.error, SafetensorError, RecursionError)


def save_model(path: str | os.PathLike[str], model: Model, size: int | str | None = None) -> None:
    """Save a model; an old file is replaced once the new one is complete and on disk.

    Parameters
    ----------
    path : str or path
        The file to write.
    model : Model
        The model.
    size : int, str or None
        The largest size of the file, such as "2MB": it then holds the largest weights, in 8 bits,
        as a perceptron.
    """
    try:
        check_model(model)
    except ValueError as reason:
        raise InputError(f"The model cannot be saved: {reason}.", code="model-invalid") from None
    tensors, text = pack_model(model) if size is None else pack_small(model, parse_size(size))
    text = text.replace('""', f'"{checksum(text, tensors)}"', 1)
    with replace_file(path) as temporary:
        try:
            save_file(tensors, temporary, {"rosenblatt": text})
        except SafetensorError as error:
            raise OSError(f"{path} could not be written: {error}") from None
        if header_size(temporary) > HEADER_BYTES:
            raise InputError(
                f"The model cannot be saved: names and facts take over {HEADER_BYTES >> 20} MB; "
                "shorten the names of the features.",
                code="model-too-large",
                file=str(path),
            )


def load_model(path: str | os.PathLike[str], data: bytes | None = None) -> Model:
    """Load a model; all of the file is checked before anything is used.

    Parameters
    ----------
    path : str or path
        A file that ``save_model`` wrote.
    data : bytes or None
        The bytes of the file, if they are in memory; ``path`` is then its name in errors.
    """
    if data is None:
        refuse_all_but_files(path)
        size = header_size(path)
    else:
        size = int.from_bytes(data[:8], "little")
    try:
        require(size <= HEADER_BYTES, f"its header is longer than {HEADER_BYTES >> 20} MB")
        if data is None:
            with safe_open(path, "np") as file:
                metadata = file.metadata()
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        else:
            metadata = json.loads(data[8 : 8 + size]).get("__metadata__")
            tensors = {name: array.copy() for name, array in load(data).items()}  # to be changed
        text = (metadata or {})["rosenblatt"]
        header = json.loads(text)
        if header["format"] > FORMAT:
            raise InputError(
                "It was written by a newer rosenblatt; update rosenblatt to load it.",
                code="model-newer",
            )
        blank = text.replace(header["checksum"], "", 1)
        require(checksum(blank, tensors) == header["checksum"], "its checksum is wrong")
        model = unpack_model(header, tensors)
        require(not tensors, "it holds more than a model")
        check_model(model)
    except DAMAGE as error:
        code = getattr(error, "code", "")
        if code in ("model-newer", "unknown-rule"):
            sentence = f"{path} cannot be loaded: {error}"
            raise InputError(sentence, code=code, file=str(path)) from None
        reason = error if isinstance(error, ValueError) else "it is incomplete or no model at all"
        raise InputError(
            f"{path} is not an intact model of rosenblatt ({reason}); use another copy or train "
            "again.",
            code="model-damaged",
            file=str(path),
        ) from None
    return model


# Files


def header_size(path: str | os.PathLike[str]) -> int:
    """The size of a model file's header, from its first eight bytes; at most that of the file."""
    with explain_errors(path, "read"), open(path, "rb") as file:
        return min(int.from_bytes(file.read(8), "little"), os.fstat(file.fileno()).st_size)


def checksum(text: str, tensors: dict[str, Array]) -> str:
    """The SHA-256 of the header and of each tensor's name, type, shape and bytes."""
    digest = hashlib.sha256(text.encode())
    for name, array in sorted(tensors.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.reshape(-1).data)
    return digest.hexdigest()


# From a model to tensors and text


def pack_model(model: Model, small: bool = False) -> tuple[dict[str, Array], str]:
    """Turn a model into tensors and a JSON text with an empty checksum.

    ``small`` stores weights in 8 bits.
    """
    tensors = {"history": pack_epochs(model.history)}
    numbers = []
    for number, state in enumerate(model.states):
        arrays, counters = states.pack_state(state)
        if small:
            packed, shape = pack_weights(arrays["weights"])
            arrays |= packed
        else:
            arrays, shape = remove_unchanged(state, arrays)
        tensors |= {f"{number}.{name}": np.ascontiguousarray(arrays[name]) for name in arrays}
        numbers.append({**counters, SHAPE: shape} if shape else counters)
    parameters = dict(model.parameters)
    if isinstance(parameters.get("class_weight"), dict):  # as pairs, the labels keep their type
        parameters["class_weight"] = list(parameters["class_weight"].items())
    header = {
        "checksum": "",
        "format": FORMAT,
        "version": __version__,
        "estimator": model.estimator,
        "rule": model.states[0].rule.name if model.is_linear else None,
        "parameters": parameters,
        "classes": {"dtype": model.classes.dtype.str, "values": model.classes.tolist()},
        "states": numbers,
        "features": model.features,
        "facts": model.facts,
        "checkpoint": None,
    }
    if model.checkpoint is not None:
        header["checkpoint"] = pack_checkpoint(model.checkpoint, tensors)
    return tensors, json.dumps(header, default=plain)


def pack_small(model: Model, size: int) -> tuple[dict[str, Array], str]:
    """Turn a model into tensors and a text that together take at most ``size`` bytes."""
    model = begin_small(model)
    count = sum(int(np.count_nonzero(state.weights)) for state in model.states)
    while True:
        tensors, text = pack_model(keep_largest(model, count), small=True)
        whole = ROOM + len(json.dumps(text)) + sum(ENTRY + one.nbytes for one in tensors.values())
        if whole <= size:
            return tensors, text
        if not count:
            raise InputError(
                f"The model cannot be made smaller than {whole:,} bytes; state a larger size.",
                code="model-not-small",
            )
        count = min(count - 1, int(count * 0.97 * size / whole)) if whole < 8 * size else count // 8


def pack_epochs(epochs: Sequence[Epoch]) -> Array:
    """Turn epochs into an array with a row for each."""
    return np.array(epochs, np.float64).reshape(-1, len(Epoch._fields))


def pack_checkpoint(checkpoint: Checkpoint, tensors: dict[str, Array]) -> dict[str, Any]:
    """Turn a checkpoint into JSON values; add its arrays to the tensors."""
    problems = []
    for number, problem in enumerate(checkpoint.problems):
        numbers = dict(vars(problem))
        best = numbers.pop("best")
        del numbers["state"]  # one of the model's
        tensors[f"epochs.{number}"] = pack_epochs(numbers.pop("epochs"))
        tensors[f"mistaken.{number}"] = numbers.pop("mistaken")
        if best is not None:
            arrays, counters = states.pack_state(best)
            tensors |= {f"best.{number}.{name}": array for name, array in arrays.items()}
            numbers["best"] = [counters]
        problems.append(numbers)
    return {"parts": checkpoint.parts, "problems": problems}


def plain(value: Any) -> Any:
    """Turn a NumPy number into one for JSON; refuse other objects."""
    if isinstance(value, np.generic):
        return value.item()
    raise InputError(
        f"A model file holds numbers, text, lists and dicts, not {value!r}; for random_state give "
        "an int or None.",
        code="not-json",
    )


# And back


def unpack_model(header: dict[str, Any], tensors: dict[str, Array]) -> Model:
    """Make the model of a header and tensors; remove these."""
    parameters = header["parameters"]
    if isinstance(parameters.get("class_weight"), list):
        parameters["class_weight"] = dict(parameters["class_weight"])
    rule = None if header["rule"] is None else RULES[header["rule"]]
    kind = state_class(header["estimator"], parameters.get("solution", ""))
    require((rule is None) != hasattr(kind, "rule"), "its rule is not that of its states")
    width = header["facts"].get("width")

    def state(prefix: str, numbers: dict[str, Any]) -> Any:
        cut = len(prefix) + 1
        names = [name for name in tensors if name.startswith(f"{prefix}.")]
        arrays = {name[cut:]: tensors.pop(name) for name in names}
        if rule is not None and SHAPE in numbers:
            restore_unchanged(kind, rule, arrays, numbers.pop(SHAPE))
        columns = width if rule is None else len(arrays["weights"])
        found = states.unpack_state(kind, rule, arrays, numbers, columns)
        require(not arrays, "it holds more than a model")
        return found

    found = [state(str(number), numbers) for number, numbers in enumerate(header["states"])]
    return Model(
        header["estimator"],
        parameters,
        load_labels(**header["classes"]),
        found,
        header["features"],
        header["facts"],
        unpack_epochs(tensors.pop("history")),
        unpack_checkpoint(header["checkpoint"], tensors, state),
    )


def unpack_epochs(rows: Array) -> list[Epoch]:
    """Make epochs of the rows of an array."""
    return [
        Epoch._make([*map(int, counts), loss, None if np.isnan(score) else score])
        for *counts, loss, score in rows.tolist()
    ]


def unpack_checkpoint(
    numbers: dict[str, Any] | None, tensors: dict[str, Array], state: Any
) -> Checkpoint | None:
    """Make the checkpoint of a header, if it has one."""
    if numbers is None:
        return None
    problems = []
    for number, kept in enumerate(numbers["problems"]):
        (best,) = [state(f"best.{number}", one) for one in kept.pop("best", ())] or [None]
        epochs = unpack_epochs(tensors.pop(f"epochs.{number}"))
        flags = tensors.pop(f"mistaken.{number}")
        count = Epoch(*kept.pop("count"))
        found = {"count": count, "epochs": epochs, "best": best, "mistaken": flags}
        problems.append(ProblemRun(**kept, **found))
    return Checkpoint(numbers["parts"], problems)


def load_labels(dtype: str, values: list[Any]) -> Array:
    """The labels in their type."""
    classes = np.array(values, label_type(dtype, len(values)))
    require(classes.tolist() == values, "its labels are not of their type")
    return classes
