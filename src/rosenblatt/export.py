"""A model as an ONNX graph, which other languages and services run without this package.

The graph is made of plain operators, not of ai.onnx.ml's LinearClassifier: that one keeps its
weights and scores in single precision, and has no word for which class an activation of zero is.
"""

import json
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from . import __version__
from .data.rows import Array
from .disk import replace_file
from .learners.linear import LinearLearner
from .reading.arrow import table_scaling
from .reading.recipe import FeatureRecipe
from .reading.scaling import sparse_scaling
from .storage.model import Model

OPSET, IR_VERSION = 17, 8  # old enough for every onnxruntime since 2022
MOST_BYTES = 2**31 - 2**20  # a protocol buffer ends at 2 GB
LABEL_TYPES = {"b": np.bool_, "i": np.int64, "u": np.uint64, "f": np.float64}  # others are text


def write_onnx(path: str | os.PathLike[str], model: Model) -> int:
    """Write a model as an ONNX file; until it is complete and on disk, an old one stays.

    Parameters
    ----------
    path : str or path-like
        Where to.
    model : Model
        What ``storage.file.load_model`` gave, of rows of numbers.

    Returns
    -------
    int
        How many columns it takes.
    """
    made = make_onnx_graph(model)
    content = made.SerializeToString()
    with replace_file(path) as temporary:
        temporary.write_bytes(content)
    columns: int = made.graph.input[0].type.tensor_type.shape.dim[1].dim_value
    return columns


def make_onnx_graph(model: Model) -> Any:
    """The graph from ``X``, rows in the type of the weights, to ``label`` and ``scores``.

    Labels and scores are those of the estimator's ``predict`` and ``decision_function``: a score
    per class, or one alone for two classes. A tie goes to the same class.

    Parameters
    ----------
    model : Model
        What ``storage.file.load_model`` gave, of rows of numbers.
    """
    if model.estimator == "PerceptronNetwork":
        return written(model, *network_graph(model))
    refuse_what_is_more_than_weights(model)
    return written(model, *linear_graph(model))


class Graph:
    """Steps and the constants that they take, which name themselves as they are added."""

    def __init__(self) -> None:
        self.onnx = imported_onnx()
        self.nodes: list[Any] = []
        self.constants: dict[str, Array] = {}

    def constant(self, array: Any, name: str = "") -> str:
        """A constant's name."""
        name = name or f"constant_{len(self.constants)}"
        self.constants[name] = np.asarray(array)
        return name

    def node(self, kind: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """The name of what a step gives."""
        name = name or f"step_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def cast(self, given: str, dtype: Any, name: str = "") -> str:
        """The same in another type."""
        kind = self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.node("Cast", given, name=name, to=kind)

    def label(self, scores: str, classes: Array, two: bool, ties: str | None) -> None:
        """The last steps: from scores to a class."""
        if two:
            beyond = "GreaterOrEqual" if ties == "positive" else "Greater"
            number = self.cast(self.node(beyond, scores, "zero"), np.int64)
        else:
            number = self.node("ArgMax", scores, axis=1, keepdims=0)
        self.node("Gather", self.constant(classes, "classes"), number, name="label")


class Shape(NamedTuple):
    """What goes into a graph and comes out, besides rows."""

    dtype: "np.dtype[Any]"
    columns: int
    scores: int
    """How many there are per row."""


def written(model: Model, graph: Graph, shape: Shape) -> Any:
    """A graph from X to label and scores as an ONNX model."""
    onnx, outputs = graph.onnx, () if shape.scores == 1 else (shape.scores,)
    made = onnx.helper.make_model(
        onnx.helper.make_graph(
            graph.nodes,
            "perceptron",
            [value("X", shape.dtype, "rows", shape.columns)],
            [
                value("label", graph.constants["classes"].dtype, "rows"),
                value("scores", shape.dtype, "rows", *outputs),
            ],
            [onnx.numpy_helper.from_array(array, name) for name, array in graph.constants.items()],
        ),
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="rosenblatt",
        producer_version=__version__,
    )
    onnx.helper.set_model_props(made, {"columns": json.dumps(column_names(model.features))})
    return made


# A linear model: products with weights


def linear_graph(model: Model) -> tuple[Graph, Shape]:
    """The steps from X to a label by one product with the weights."""
    graph = Graph()
    weights, biases = coefficients(model)
    scaling = get_scaling(model.features, len(weights))
    rows = scaled(graph, scaling, weights.dtype) if scaling else "X"
    products = graph.node("MatMul", rows, graph.constant(weights, "weights"))
    scores = graph.node("Add", products, graph.constant(biases, "bias"), name="scores")
    graph.constant(biases[:1] * 0, "zero")
    two, classes = weights.ndim == 1, label_tensor(model.classes)
    graph.label(scores, classes, two, model.parameters.get("ties"))
    width = len(scaling.get("centre", weights))
    return graph, Shape(weights.dtype, width, 1 if two else len(classes))


def get_scaling(features: dict[str, Any], width: int) -> dict[str, Array]:
    """What brings the columns of X to one size, in double precision; nothing if they stay."""
    recipe = FeatureRecipe(**load_recipe(features))
    if not recipe.scales:
        return {}
    if recipe.rows != "table":
        scaling = sparse_scaling(recipe.scales)
        assert scaling is not None
        factor = np.ones(width)
        factor[: len(scaling.factors)] = scaling.factors[:width]
        return {"centre": np.zeros(width), "factor": factor, "filling": np.zeros(width)}
    table = table_scaling(recipe)
    found = {"centre": table.centre, "factor": table.factor, "filling": table.filling}
    flagged = np.flatnonzero(table.flags)
    return found | ({"flagged": flagged} if len(flagged) else {})


def scaled(graph: Graph, scaling: dict[str, Array], dtype: "np.dtype[Any]") -> str:
    """The steps from X to rows of one size, in which gaps are filled and flagged."""
    named = {name: graph.constant(array, name) for name, array in scaling.items()}
    missing = graph.node("IsNaN", "X")
    centred = graph.node("Sub", graph.cast("X", np.float64), named["centre"])
    numbers = graph.node("Mul", centred, named["factor"])
    filled = graph.node("Where", missing, named["filling"], numbers)
    rows = graph.cast(filled, dtype)
    if "flagged" not in scaling:
        return rows
    flags = graph.cast(graph.node("Gather", missing, named["flagged"], axis=1), dtype)
    return graph.node("Concat", rows, flags, axis=1)


# A network: products and thresholds, unit by unit or layer by layer


def network_graph(model: Model) -> tuple[Graph, Shape]:
    """The steps from X to a label by the units of each network, in double precision."""
    graph = Graph()
    graph.constant(np.zeros(1), "zero")
    graph.constant(np.array([-1.0]), "off")
    graph.constant(np.array([1.0]), "on")
    graph.constant(np.array([0.5]), "half")
    lift, growth = model.facts["lift"], model.parameters["growth"]
    rows, width = lifted(graph, lift), model.facts["width"] + lift["sphere"]
    answer = {"upstart": upstart_answer, "tiling": tiling_answer}.get(growth, chain_answer)
    scores = [
        compute_score(graph, *answer(graph, rows, width, state.units())) for state in model.states
    ]
    two = len(scores) == 1
    if two:
        graph.node("Squeeze", *scores, graph.constant(np.array([1]), "axis"), name="scores")
    else:
        graph.node("Concat", *scores, name="scores", axis=1)
    graph.label("scores", label_tensor(model.classes), two, "negative")
    return graph, Shape(np.dtype(np.float64), model.facts["width"], len(scores))


def lifted(graph: Graph, lift: dict[str, Any]) -> str:
    """Rows as the units see them: as they are, or on a sphere."""
    if not lift["sphere"]:
        return "X"
    centred = graph.node("Sub", "X", graph.constant(np.array(lift["centre"], np.float64)))
    z = graph.node("Div", centred, graph.constant(np.array(lift["scale"], np.float64)))
    along = graph.constant(np.array([1]))
    square = graph.node("ReduceSum", graph.node("Mul", z, z), along, keepdims=1)
    twice, less = graph.node("Add", z, z), graph.node("Sub", square, "on")
    above = graph.node("Concat", twice, less, axis=1)
    return graph.node("Div", above, graph.node("Add", square, "on"))


def compute_activations(graph: Graph, seen: str, units: Sequence[Any], columns: slice) -> str:
    """A column per unit: its weights of some columns times what it sees, and its bias."""
    weights = graph.constant(np.column_stack([unit.weights[columns] for unit in units]))
    biases = graph.constant(np.array([unit.bias for unit in units]))
    return graph.node("Add", graph.node("MatMul", seen, weights), biases)


def fires(graph: Graph, activations: str) -> str:
    """1 where units are on, else -1."""
    return graph.node("Where", graph.node("Greater", activations, "zero"), "on", "off")


def compute_score(graph: Graph, outputs: str, activations: str) -> str:
    """The sign of the answer, times a size from a half to one that grows with the activation."""
    size = graph.node("Abs", activations)
    share = graph.node("Div", size, graph.node("Add", size, "on"))
    sure = graph.node("Add", graph.node("Mul", share, "half"), "half")
    return graph.node("Mul", outputs, sure)


def upstart_answer(graph: Graph, rows: str, width: int, units: Sequence[Any]) -> tuple[str, str]:
    """From the youngest to the first: daughters that are on push their parent on or off."""
    depths = [
        [number for number, unit in enumerate(units) if unit.layer == depth]
        for depth in range(max(unit.layer for unit in units) + 1)
    ]
    pushed = own = ""
    for depth in range(len(depths) - 1, -1, -1):
        here = [units[number] for number in depths[depth]]
        own = decided = compute_activations(graph, rows, here, slice(width))
        if pushed:
            decided = graph.node("Where", graph.node("Equal", pushed, "zero"), own, pushed)
        if depth:
            parents = np.array([unit.parent for unit in here])[:, None] == depths[depth - 1]
            signs = np.array([unit.sign for unit in here])[:, None] * parents
            on = graph.cast(graph.node("Greater", decided, "zero"), np.float64)
            pushed = graph.node("MatMul", on, graph.constant(signs.astype(np.float64)))
    return fires(graph, decided), own


def tiling_answer(graph: Graph, rows: str, width: int, units: Sequence[Any]) -> tuple[str, str]:
    """Layer by layer; the first unit of the last one answers."""
    signals, activations = rows, ""
    for layer in range(units[-1].layer + 1):
        here = [unit for unit in units if unit.layer == layer]
        activations = compute_activations(graph, signals, here, slice(None))
        signals = fires(graph, activations)
    master = graph.constant(np.array([0]))
    one, other = (graph.node("Gather", each, master, axis=1) for each in (signals, activations))
    return one, other


def chain_answer(graph: Graph, rows: str, width: int, units: Sequence[Any]) -> tuple[str, str]:
    """Unit by unit: each sees the row, and the outputs of some units before it."""
    outputs: list[str] = []
    activations = ""
    for unit in units:
        activations = compute_activations(graph, rows, [unit], slice(width))
        if len(unit.weights) > width:
            seen = graph.node("Concat", *outputs[width - len(unit.weights) :], axis=1)
            sent = graph.node("MatMul", seen, graph.constant(unit.weights[width:, None]))
            activations = graph.node("Add", activations, sent)
        outputs.append(fires(graph, activations))
    return outputs[-1], activations


def value(name: str, dtype: "np.dtype[Any]", *shape: str | int) -> Any:
    """What goes in or comes out: its type and shape."""
    helper = imported_onnx().helper
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), shape)


def refuse_what_is_more_than_weights(model: Model) -> None:
    """Refuse a model that is not one product of a row of numbers with weights."""
    if not model.is_linear:
        raise ValueError(f"A {model.estimator} has no weights of columns, and cannot be exported.")
    if model.is_multilabel:
        raise ValueError(
            "A model that gives a row any number of labels cannot be exported; predict with "
            "rosenblatt, or train one model for each label."
        )
    if LinearLearner.from_model(model).votes:
        raise ValueError(
            'A vote of many weights cannot be exported; train with the solution "average", which '
            "predicts nearly the same."
        )
    recipe = load_recipe(model.features)
    if recipe.get("bits") is not None:
        hashed = [repr(name) for name, kind in recipe.get("columns") or () if kind != "number"]
        some = ", ".join(hashed[:3]) + (", …" if len(hashed) > 3 else "")
        raise ValueError(
            f"The model hashes {'the words of ' + some if hashed else 'names or products'}, and no "
            "operator of ONNX does that; train on columns of numbers, or predict with rosenblatt."
        )


def load_recipe(features: dict[str, Any]) -> dict[str, Any]:
    """How a file became rows; nothing for a model of matrices."""
    recipe = features.get("recipe")
    return recipe if isinstance(recipe, dict) else {}


def column_names(features: dict[str, Any]) -> list[str] | None:
    """The names of the columns of X, if they have any."""
    columns = load_recipe(features).get("columns")
    names = [name for name, _ in columns] if columns else features.get("names")
    return None if names is None else list(map(str, names))


def coefficients(model: Model) -> tuple[Array, Array]:
    """The weights, with a column per class if there are over two, and the biases."""
    weights, biases = LinearLearner.from_model(model).coefficients()
    W = weights[0] if len(weights) == 1 else weights.T
    if W.nbytes > MOST_BYTES:
        raise ValueError(f"The weights take {W.nbytes >> 20:,} MB, and an ONNX file at most 2 GB.")
    if not np.isfinite(W).all():
        raise ValueError("The weights are no longer finite; train again on numbers scaled down.")
    return np.ascontiguousarray(W), biases


def label_tensor(classes: Array) -> Array:
    """Labels in a type that ONNX has: numbers stay numbers."""
    return classes.astype(LABEL_TYPES.get(classes.dtype.kind, object))


def imported_onnx() -> Any:
    """The package onnx, or a sentence on how to get it."""
    try:
        import onnx
    except ImportError:
        raise ImportError(
            "Export needs the package onnx; install it with: pip install 'rosenblatt[onnx]'"
        ) from None
    return onnx
