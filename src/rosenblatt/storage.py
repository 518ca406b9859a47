"""One model file: safetensors with a JSON header, which holds data only and is never half-written.

Its metadata has one entry, ``rosenblatt``: a JSON text with the format's number, a checksum and all
that is not an array. Array ``a`` of solution 0 is the tensor ``0.a``; ``history`` is one, too.
Format 1 holds linear models, format 2 those in dual form.
"""

import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from . import __version__
from .disk import plain_errors, refuse_all_but_files, replacing
from .kernels.linear import Updates
from .rows import check_structure, first_not_finite
from .training import SOLUTIONS, Array, Bookmark, Dual, Epoch, Last, Vote, joined

FORMAT = 2
LABEL_TYPES = re.compile(r"[<>|]([biuf][1248]|U\d{1,9}|O)")
LABEL_BYTES = 2**28
HEADER_BYTES = 2**25  # over a million names; JSON takes up to 25 times as much memory
CSR = ("data", "indices", "indptr")
DAMAGE = (
    SafetensorError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    OverflowError,
    RecursionError,
)


class Model(NamedTuple):
    """All that predicting and learning on need.

    Attributes
    ----------
    parameters : dict
        Those of the classifier, among them ``solution`` and ``multi_class``.
    classes : ndarray
        The labels, sorted: numbers, booleans or text.
    solutions : list of Last, or of one Dual
        The state of training, one per problem.
    features : dict
        How rows were made: names, columns or hash settings.
    facts : dict
        What else is worth keeping, as JSON values.
    history : sequence of Epoch
        One record per epoch.
    bookmark : Bookmark or None
        Where an unfinished run stands.
    """

    parameters: dict[str, Any]
    classes: Array
    solutions: list[Any]
    features: dict[str, Any]
    facts: dict[str, Any]
    history: Sequence[Epoch] = ()
    bookmark: Bookmark | None = None


def save(path: str | os.PathLike[str], model: Model) -> None:
    """Write a model; until the new file is complete and on disk, an old one stays as it is.

    Parameters
    ----------
    path : str or path
        Where to.
    model : Model
        What to write.
    """
    try:
        check(model)
    except ValueError as reason:
        raise ValueError(f"The model cannot be saved: {reason}.") from None
    tensors, text = packed(model)
    text = text.replace('""', f'"{checksum(text, tensors)}"', 1)
    with replacing(path) as temporary:
        try:
            save_file(tensors, temporary, {"rosenblatt": text})
        except SafetensorError as error:
            raise OSError(f"{path} could not be written: {error}") from None
        if header_size(temporary) > HEADER_BYTES:
            raise ValueError(
                f"The model cannot be saved: names and facts take over {HEADER_BYTES >> 20} MB; "
                "shorten the names of the features."
            )


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model; everything in the file is checked before anything is used.

    Parameters
    ----------
    path : str or path
        A file that ``save`` wrote.
    """
    refuse_all_but_files(path)
    size = header_size(path)
    try:
        require(size <= HEADER_BYTES, f"its header is longer than {HEADER_BYTES >> 20} MB")
        with safe_open(path, "np") as file:
            text = (file.metadata() or {})["rosenblatt"]
            header = json.loads(text)
            newer = header["format"] > FORMAT
            if not newer:
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
                blank = text.replace(header["checksum"], "", 1)
                require(checksum(blank, tensors) == header["checksum"], "its checksum is wrong")
                model = unpacked(header, tensors)
                require(not tensors, "it holds more than a model")
                check(model)
    except DAMAGE as error:
        reason = error if isinstance(error, ValueError) else "it is incomplete or no model at all"
        raise ValueError(
            f"{path} is not an intact model of rosenblatt ({reason}); use another copy or train "
            "again."
        ) from None
    if newer:
        raise ValueError(f"{path} was written by a newer rosenblatt; update rosenblatt to load it.")
    return model


def header_size(path: str | os.PathLike[str]) -> int:
    """How long the header of a model file is: as its first eight bytes say, or to its end."""
    with plain_errors(path, "read"), open(path, "rb") as file:
        return min(int.from_bytes(file.read(8), "little"), os.fstat(file.fileno()).st_size)


def checksum(text: str, tensors: dict[str, Array]) -> str:
    """The SHA-256 of the header and of each tensor's name, type, shape and bytes."""
    digest = hashlib.sha256(text.encode())
    for name, array in sorted(tensors.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.reshape(-1).data)
    return digest.hexdigest()


# From a model to tensors and text


def packed(model: Model) -> tuple[dict[str, Array], str]:
    """A model as tensors and a JSON text whose checksum is left empty."""
    tensors = {"history": np.array(model.history, np.float64).reshape(-1, len(Epoch._fields))}
    for number, solution in enumerate(model.solutions):
        arrays = arrays_of(solution).items()
        tensors |= {f"{number}.{name}": np.ascontiguousarray(array) for name, array in arrays}
    parameters = dict(model.parameters)
    if isinstance(parameters.get("class_weight"), dict):  # as pairs, the labels keep their type
        parameters["class_weight"] = list(parameters["class_weight"].items())
    header = {
        "checksum": "",
        "format": 2 if is_dual(model) else 1,
        "version": __version__,
        "parameters": parameters,
        "classes": {"dtype": model.classes.dtype.str, "values": model.classes.tolist()},
        "solutions": [counters_of(solution) for solution in model.solutions],
        "features": model.features,
        "facts": model.facts,
        "bookmark": None,
    }
    if model.bookmark is not None:
        header["bookmark"] = packed_bookmark(model.bookmark, tensors)
    return tensors, json.dumps(header, default=plain)


def packed_bookmark(bookmark: Bookmark, tensors: dict[str, Array]) -> dict[str, Any]:
    """The numbers of a bookmark; its arrays join the tensors."""
    numbers = bookmark._asdict()
    best, mistaken = numbers.pop("best"), numbers.pop("mistaken")
    if best is not None:
        tensors |= {f"best.{name}": array for name, array in arrays_of(best).items()}
        numbers["best"] = counters_of(best)
    if mistaken is not None:
        tensors["mistaken"] = mistaken
    return numbers


def is_dual(model: Model) -> bool:
    """Whether a model is in dual form."""
    return [type(solution) for solution in model.solutions] == [Dual]


def arrays_of(solution: Last | Dual) -> dict[str, Array]:
    """The arrays of a solution by name."""
    arrays = {name: getattr(solution, name) for name in names(type(solution), Array)}
    if isinstance(solution, Dual):
        updates = solution.updates._asdict()
        arrays |= {f"updates.{name}": array for name, array in updates.items()}
        return arrays | arrays_of_rows("support", solution.support)
    if isinstance(solution, Vote):
        updates = joined(solution.updates)._asdict()
        arrays |= {f"updates.{name}": array for name, array in updates.items()}
        for number, support in enumerate(solution.supports):
            arrays |= arrays_of_rows(f"supports.{number}", support)
    return arrays


def arrays_of_rows(name: str, rows: Any) -> dict[str, Array]:
    """Rows as one array, or as three when they are sparse."""
    if hasattr(rows, "indptr"):
        return {f"{name}.{part}": getattr(rows, part) for part in CSR}
    return {name: rows}


def counters_of(solution: Last | Dual) -> dict[str, Any]:
    """The numbers of a solution by name."""
    counters = {name: getattr(solution, name) for name in names(type(solution), int, float, bool)}
    if isinstance(solution, Vote):
        counters["supports"] = len(solution.supports)
    return counters


def names(kind: type[Last | Dual], *types: Any) -> list[str]:
    """The fields of a solution that are of one of these types."""
    return [field.name for field in fields(kind) if field.type in types]


def plain(value: Any) -> Any:
    """A NumPy number as one that JSON knows."""
    if isinstance(value, np.generic):
        return value.item()
    raise ValueError(
        f"A model file holds numbers, text, lists and dicts, not {value!r}; for random_state give "
        "an int or None."
    )


# And back


def unpacked(header: dict[str, Any], tensors: dict[str, Array]) -> Model:
    """The model in a header and tensors, which are taken out."""
    parameters = header["parameters"]
    if isinstance(parameters.get("class_weight"), list):
        parameters["class_weight"] = dict(parameters["class_weight"])
    kind = Dual if header["format"] == 2 else SOLUTIONS[parameters["solution"]]
    width = header["facts"].get("width")
    return Model(
        parameters,
        labels(**header["classes"]),
        [
            unpacked_solution(kind, counters, tensors, str(number), width)
            for number, counters in enumerate(header["solutions"])
        ],
        header["features"],
        header["facts"],
        [
            Epoch._make([*map(int, counts), loss, None if np.isnan(score) else score])
            for *counts, loss, score in tensors.pop("history").tolist()
        ],
        unpacked_bookmark(kind, header.get("bookmark"), tensors),
    )


def unpacked_bookmark(
    kind: type[Last | Dual], numbers: dict[str, Any] | None, tensors: dict[str, Array]
) -> Bookmark | None:
    """A bookmark as it was, if there was one."""
    if numbers is None:
        return None
    best = numbers.pop("best", None)
    if best is not None:
        best = unpacked_solution(kind, best, tensors, "best", None)
    return Bookmark(**numbers, best=best, mistaken=tensors.pop("mistaken", None))


def labels(dtype: str, values: list[Any]) -> Array:
    """The labels, in the type that they had."""
    classes = np.array(values, label_type(dtype, len(values)))
    require(classes.tolist() == values, "its labels are not of their type")
    return classes


def label_type(dtype: str, count: int) -> np.dtype[Any]:
    """The type of so many labels, if it is one that a file can hold."""
    require(LABEL_TYPES.fullmatch(dtype), f"it has no place for labels of type {dtype[:20]!r}")
    require(np.dtype(dtype).itemsize * count <= LABEL_BYTES, "its labels are too long")
    return np.dtype(dtype)


def unpacked_solution(
    kind: type[Last | Dual],
    counters: dict[str, Any],
    tensors: dict[str, Array],
    prefix: str,
    width: Any,
) -> Last | Dual:
    """A solution as it was when it was saved."""
    solution = object.__new__(kind)  # its __init__ would start anew
    for name in names(kind, Array):
        setattr(solution, name, tensors.pop(f"{prefix}.{name}"))
    for name in names(kind, int, float, bool):
        setattr(solution, name, counters[name])
    if isinstance(solution, Dual):
        solution.updates = unpacked_updates(tensors, prefix)
        solution.support = support(tensors, f"{prefix}.support", width)
    if isinstance(solution, Vote):
        solution.updates, solution.pending = [unpacked_updates(tensors, prefix)], []
        solution.supports = [
            support(tensors, f"{prefix}.supports.{part}", solution.weights.shape[0])
            for part in range(counters["supports"])
        ]
    return solution


def unpacked_updates(tensors: dict[str, Array], prefix: str) -> Updates:
    """The updates of a solution."""
    return Updates(*(tensors.pop(f"{prefix}.updates.{name}") for name in Updates._fields))


def support(tensors: dict[str, Array], name: str, width: int) -> Any:
    """Mistaken rows, dense or sparse as they were."""
    if name in tensors:
        return tensors.pop(name)
    from scipy.sparse import csr_array  # most models do without

    data, indices, indptr = (tensors.pop(f"{name}.{part}") for part in CSR)
    require(indices.dtype.kind == indptr.dtype.kind == "i", "its sparse rows are malformed")
    return csr_array((data, indices, indptr), shape=(len(indptr) - 1, width))


# What is checked both ways, so that no file is written that would not load


def require(condition: Any, otherwise: str) -> None:
    """Raise unless a condition holds."""
    if not condition:
        raise ValueError(otherwise)


def check(model: Model) -> None:
    """Refuse a model whose parts do not fit together: kernels trust them."""
    parameters, classes, solutions, features, facts, history, bookmark = model
    parts = (parameters, features, facts)
    require(all(isinstance(part, dict) for part in parts), "its parts are not all dicts")
    check_labels(classes)
    check_held_out(facts.get("held_out", {}))
    if is_dual(model):
        check_dual(solutions[0], 1 if len(classes) == 2 else len(classes), facts.get("width"))
        return
    count = len(classes)
    apart = count > 2 and parameters.get("multi_class") == "ovr"
    fitting = {type(solution) for solution in solutions} == {SOLUTIONS.get(parameters["solution"])}
    fitting &= len(solutions) == (count if apart else 1)
    require(fitting, "its parameters solution or multi_class are not those of its weights")
    outputs = () if apart or count == 2 else (count,)
    if bookmark is not None:
        check_bookmark(bookmark)
        require(bookmark.epoch == len(history), "its bookmark is not in its history")
        solutions = [*solutions, bookmark.best] if bookmark.best is not None else solutions
    for solution in solutions:
        check_arrays(solution, (len(solutions[0].weights), *outputs), solutions[0].weights.dtype)
        check_counters(solution)
        if isinstance(solution, Vote):
            check_supports(solution)
            check_updates(solution)


def check_bookmark(bookmark: Bookmark) -> None:
    """Refuse a place in a run that there cannot be."""
    for name, kind in Bookmark.__annotations__.items():
        value = getattr(bookmark, name)
        if kind in (int, float):
            require(type(value) is kind and value >= 0, f"{name} of its bookmark is out of range")
    flags = bookmark.mistaken
    fitting = flags is None or (flags.dtype == bool and flags.ndim == 1)
    require(fitting, "its mistaken rows are malformed")


def check_held_out(score: Any) -> None:
    """Refuse counts of rows held out that there cannot be."""
    fitting = isinstance(score, dict) and set(score) in (set(), {"rows", "errors"})
    fitting = fitting and all(type(count) is int and count >= 0 for count in score.values())
    require(fitting, "its held-out rows are out of range")


def check_labels(classes: Array) -> None:
    """Refuse labels that cannot be told apart, looked up or stored."""
    label_type(classes.dtype.str, len(classes))
    known = classes.dtype != object or all(isinstance(label, str) for label in classes)
    require(known and classes.ndim == 1, "its labels are neither numbers nor text")
    ordered = len(classes) >= 2 and np.all(classes[:-1] < classes[1:])
    require(ordered, "its labels are not two or more, distinct and in order")


def check_arrays(solution: Last, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Refuse arrays of another shape or type than the weights, or that are not finite."""
    require(dtype in (np.float32, np.float64), "its weights are not floating-point numbers")
    for name in names(type(solution), Array):
        array = getattr(solution, name)
        fitting = array.shape == (shape[1:] or (1,) if name.endswith("bias") else shape)
        fitting &= array.dtype == (np.float64 if name.startswith("missing") else dtype)
        require(fitting and np.isfinite(array).all(), f"{name} does not fit or is not finite")


def check_counters(solution: Last) -> None:
    """Refuse counters that no training can reach."""
    for kind, most in (int, np.iinfo(np.int64).max), (float, np.inf), (bool, True):
        for name in names(type(solution), kind):
            value = getattr(solution, name)
            require(type(value) is kind and 0 <= value <= most, f"{name} is out of range")


def check_supports(vote: Vote) -> None:
    """Refuse rows of another width or type than the weights, or that are not finite."""
    require(not vote.pending, "its vote was not closed after the last update")
    for rows in vote.supports:
        fitting = rows.shape[1:] == vote.weights.shape[:1] and rows.dtype == vote.weights.dtype
        require(fitting and first_not_finite(rows) is None, "its rows do not fit its weights")
        if hasattr(rows, "indptr"):
            check_structure(rows)


def check_updates(vote: Vote) -> None:
    """Refuse updates by rows, at times or of classes that there are not."""
    updates = joined(vote.updates)
    rows = sum(rows.shape[0] for rows in vote.supports)
    check_numbers(updates, rows, len(vote.bias), vote.seen)
    require(np.all(np.diff(updates.times) >= 0), "its updates are out of order")


def check_numbers(updates: Updates, rows: int, outputs: int, seen: int) -> None:
    """Refuse updates that are malformed, or by rows, at times or of classes that there are not."""
    fitting = [array.dtype for array in updates] == [array.dtype for array in joined([])]
    fitting &= all(array.ndim == 1 for array in updates)
    require(fitting and len(set(map(len, updates))) == 1, "its updates are malformed")
    ends = {"rows": rows, "times": seen + 1, "labels": outputs, "rivals": outputs}
    for name, end in ends.items():
        numbers = getattr(updates, name)
        require(np.all((numbers >= 0) & (numbers < end)), f"the {name} of its updates do not exist")
    steps = np.isfinite(updates.steps) & np.isfinite(updates.intercept_steps)
    require(steps.all(), "its updates are not finite")


def check_dual(dual: Dual, outputs: int, width: Any) -> None:
    """Refuse a dual form whose arrays, rows and updates do not fit together."""
    require(type(width) is int and 0 < width < 2**63, "its number of columns is out of range")
    for count in (dual.mistakes, dual.given):
        require(type(count) is int and 0 <= count < 2**63, "its counters are out of range")
    finite = isinstance(dual.forgotten, float) and np.isfinite(dual.forgotten)
    require(finite, "its counters are out of range")
    size, mistakes = len(dual.numbers), len(dual.norms)
    kept = len(dual.ages)
    require(kept in (0, size) and mistakes in (0, dual.mistakes), "its arrays do not fit")
    whole, real = np.dtype(np.int64), np.dtype(np.float64)
    wanted: list[tuple[str, np.dtype[Any], list[tuple[int, ...]]]] = [
        ("numbers", whole, [(size,)]),
        ("ages", whole, [(kept,)]),
        ("seen", whole, [(outputs,)]),
        ("coef", real, [(outputs, size)]),
        ("missing", real, [(outputs, size)]),
        ("bias", real, [(outputs,)]),
        ("missing_bias", real, [(outputs,)]),
        ("norms", real, [(mistakes,)]),
        ("matrix", real, [(0, 0), (size, size)]),
    ]
    for name, dtype, shapes in wanted:
        array = getattr(dual, name)
        fitting = array.dtype == dtype and array.shape in shapes and np.isfinite(array).all()
        fitting &= dtype == real or np.all(array >= 0)
        require(fitting, f"{name} does not fit or is not finite")
    require(np.all(dual.numbers < dual.given), "its numbers of rows do not exist")
    check_dual_support(dual, size, width)
    check_numbers(dual.updates, size, outputs, int(dual.seen.max()))
    require(len(dual.updates.rows) == mistakes, "its updates are malformed")
    grouped = np.lexsort((np.arange(mistakes), dual.updates.labels))
    labels, times = dual.updates.labels[grouped], dual.updates.times[grouped]
    forward = (np.diff(times) >= 0) | (np.diff(labels) != 0)
    timely = dual.updates.times <= dual.seen[dual.updates.labels]
    require(forward.all() and timely.all(), "its updates are out of order")


def check_dual_support(dual: Dual, size: int, width: int) -> None:
    """Refuse support rows of another number, width or type, or that are not finite."""
    rows = dual.support
    if rows.ndim == 1:  # columns of a precomputed matrix
        fitting = rows.dtype == np.int64 and rows.shape == (size,)
        require(fitting and np.all((rows >= 0) & (rows < width)), "its columns do not exist")
        return
    fitting = rows.shape == (size, width) and rows.dtype in (np.float32, np.float64)
    require(fitting and first_not_finite(rows) is None, "its rows do not fit")
    if hasattr(rows, "indptr"):
        check_structure(rows)
