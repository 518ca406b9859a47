"""Export models as ONNX graphs, which other languages and services run without this package.

The graph consists of plain operators. The LinearClassifier of ai.onnx.ml would keep weights and
scores in single precision, and does not say to which class an activation of zero belongs.
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

OPSET, IR_VERSION = 17, 8  # every onnxruntime since 2022 reads these
MOST_BYTES = 2**31 - 2**20  # a protocol buffer has at most 2 GB
LABEL_TYPES = {"b": np.bool_, "i": np.int64, "u": np.uint64, "f": np.float64}  # others are text


def write_onnx(path: str | os.PathLike[str], model: Model) -> int:
    """Write a model as an ONNX file, which is replaced only when the new one is complete.

    Parameters
    ----------
    path : str or path-like
        The file to write.
    model : Model
        A model of rows of numbers, from ``storage.file.load_model``.

    Returns
    -------
    int
        Number of columns of the input.
    """
    made = make_onnx_graph(model)
    content = made.SerializeToString()
    with replace_file(path) as temporary:
        temporary.write_bytes(content)
    columns: int = made.graph.input[0].type.tensor_type.shape.dim[1].dim_value
    return columns


def make_onnx_graph(model: Model) -> Any:
    """Make the ONNX model from ``X``, rows in the type of the weights, to ``label`` and ``scores``.

    Labels and scores are those of ``predict`` and ``decision_function`` of the estimator, also for
    ties: one score per class, or a single one for two classes.

    Parameters
    ----------
    model : Model
        A model of rows of numbers, from ``storage.file.load_model``.
    """
    if model.estimator == "PerceptronNetwork":
        return make_model(model, *make_network_graph(model))
    refuse_other_models(model)
    return make_model(model, *make_linear_graph(model))


class Graph:
    """A graph under construction: its nodes and constants; methods return names of values."""

    def __init__(self) -> None:
        self.onnx = import_onnx()
        self.nodes: list[Any] = []
        self.constants: dict[str, Array] = {}

    def add_constant(self, array: Any, name: str = "") -> str:
        """Add a constant."""
        name = name or f"constant_{len(self.constants)}"
        self.constants[name] = np.asarray(array)
        return name

    def add(self, kind: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """Add a node."""
        name = name or f"step_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def add_cast(self, given: str, dtype: Any, name: str = "") -> str:
        """Add a conversion to another type."""
        kind = self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.add("Cast", given, name=name, to=kind)

    def add_label(self, scores: str, classes: Array, two: bool, ties: str | None) -> None:
        """Add the last nodes: from scores to a class."""
        if two:
            beyond = "GreaterOrEqual" if ties == "positive" else "Greater"
            number = self.add_cast(self.add(beyond, scores, "zero"), np.int64)
        else:
            number = self.add("ArgMax", scores, axis=1, keepdims=0)
        self.add("Gather", self.add_constant(classes, "classes"), number, name="label")


class Shape(NamedTuple):
    """The type of the numbers, and how many columns and scores a row has."""

    dtype: "np.dtype[Any]"
    columns: int
    scores: int


def make_model(model: Model, graph: Graph, shape: Shape) -> Any:
    """Make the ONNX model of a graph from X to label and scores."""
    onnx, outputs = graph.onnx, () if shape.scores == 1 else (shape.scores,)
    made = onnx.helper.make_model(
        onnx.helper.make_graph(
            graph.nodes,
            "perceptron",
            [describe_value("X", shape.dtype, "rows", shape.columns)],
            [
                describe_value("label", graph.constants["classes"].dtype, "rows"),
                describe_value("scores", shape.dtype, "rows", *outputs),
            ],
            [onnx.numpy_helper.from_array(array, name) for name, array in graph.constants.items()],
        ),
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="rosenblatt",
        producer_version=__version__,
    )
    onnx.helper.set_model_props(made, {"columns": json.dumps(get_column_names(model.features))})
    return made


# A linear model: products with weights


def make_linear_graph(model: Model) -> tuple[Graph, Shape]:
    """Make the graph of a linear model: one product with the weights."""
    graph = Graph()
    weights, biases = get_coefficients(model)
    scaling = get_scaling(model.features, len(weights))
    rows = add_scaling(graph, scaling, weights.dtype) if scaling else "X"
    products = graph.add("MatMul", rows, graph.add_constant(weights, "weights"))
    scores = graph.add("Add", products, graph.add_constant(biases, "bias"), name="scores")
    graph.add_constant(biases[:1] * 0, "zero")
    two, classes = weights.ndim == 1, convert_labels(model.classes)
    graph.add_label(scores, classes, two, model.parameters.get("ties"))
    width = len(scaling.get("centre", weights))
    return graph, Shape(weights.dtype, width, 1 if two else len(classes))


def get_scaling(features: dict[str, Any], width: int) -> dict[str, Array]:
    """Return the scaling of the columns of X, in double precision; empty if there is none."""
    recipe = FeatureRecipe(**get_recipe(features))
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


def add_scaling(graph: Graph, scaling: dict[str, Array], dtype: "np.dtype[Any]") -> str:
    """Add the scaling of X, with missing numbers filled and flagged."""
    named = {name: graph.add_constant(array, name) for name, array in scaling.items()}
    missing = graph.add("IsNaN", "X")
    centred = graph.add("Sub", graph.add_cast("X", np.float64), named["centre"])
    numbers = graph.add("Mul", centred, named["factor"])
    filled = graph.add("Where", missing, named["filling"], numbers)
    rows = graph.add_cast(filled, dtype)
    if "flagged" not in scaling:
        return rows
    flags = graph.add_cast(graph.add("Gather", missing, named["flagged"], axis=1), dtype)
    return graph.add("Concat", rows, flags, axis=1)


# A network: products and thresholds, unit by unit or layer by layer


def make_network_graph(model: Model) -> tuple[Graph, Shape]:
    """Make the graph of a network: one answer per class, in double precision."""
    graph = Graph()
    graph.add_constant(np.zeros(1), "zero")
    graph.add_constant(np.array([-1.0]), "off")
    graph.add_constant(np.array([1.0]), "on")
    graph.add_constant(np.array([0.5]), "half")
    lift, growth = model.facts["lift"], model.parameters["growth"]
    rows, width = add_lift(graph, lift), model.facts["width"] + lift["sphere"]
    answer = {"upstart": add_upstart, "tiling": add_tiling}.get(growth, add_chain)
    scores = [
        add_score(graph, *answer(graph, rows, width, state.units())) for state in model.states
    ]
    two = len(scores) == 1
    if two:
        graph.add("Squeeze", *scores, graph.add_constant(np.array([1]), "axis"), name="scores")
    else:
        graph.add("Concat", *scores, name="scores", axis=1)
    graph.add_label("scores", convert_labels(model.classes), two, "negative")
    return graph, Shape(np.dtype(np.float64), model.facts["width"], len(scores))


def add_lift(graph: Graph, lift: dict[str, Any]) -> str:
    """Add the projection of X onto a sphere, if the network has one."""
    if not lift["sphere"]:
        return "X"
    centred = graph.add("Sub", "X", graph.add_constant(np.array(lift["centre"], np.float64)))
    z = graph.add("Div", centred, graph.add_constant(np.array(lift["scale"], np.float64)))
    along = graph.add_constant(np.array([1]))
    square = graph.add("ReduceSum", graph.add("Mul", z, z), along, keepdims=1)
    twice, less = graph.add("Add", z, z), graph.add("Sub", square, "on")
    above = graph.add("Concat", twice, less, axis=1)
    return graph.add("Div", above, graph.add("Add", square, "on"))


def add_activations(graph: Graph, seen: str, units: Sequence[Any], columns: slice) -> str:
    """Add the activations of units: weights of some columns times their input, plus bias."""
    weights = graph.add_constant(np.column_stack([unit.weights[columns] for unit in units]))
    biases = graph.add_constant(np.array([unit.bias for unit in units]))
    return graph.add("Add", graph.add("MatMul", seen, weights), biases)


def add_signs(graph: Graph, activations: str) -> str:
    """Add the outputs of units: 1 for positive activations, else -1."""
    return graph.add("Where", graph.add("Greater", activations, "zero"), "on", "off")


def add_score(graph: Graph, outputs: str, activations: str) -> str:
    """Add the score: the sign of the output, times 1/2 to 1 by the size of the activation."""
    size = graph.add("Abs", activations)
    share = graph.add("Div", size, graph.add("Add", size, "on"))
    sure = graph.add("Add", graph.add("Mul", share, "half"), "half")
    return graph.add("Mul", outputs, sure)


def add_upstart(graph: Graph, rows: str, width: int, units: Sequence[Any]) -> tuple[str, str]:
    """Add the units from the last layer to the first: active ones switch their parent."""
    depths = [
        [number for number, unit in enumerate(units) if unit.layer == depth]
        for depth in range(max(unit.layer for unit in units) + 1)
    ]
    pushed = own = ""
    for depth in range(len(depths) - 1, -1, -1):
        here = [units[number] for number in depths[depth]]
        own = decided = add_activations(graph, rows, here, slice(width))
        if pushed:
            decided = graph.add("Where", graph.add("Equal", pushed, "zero"), own, pushed)
        if depth:
            parents = np.array([unit.parent for unit in here])[:, None] == depths[depth - 1]
            signs = np.array([unit.sign for unit in here])[:, None] * parents
            on = graph.add_cast(graph.add("Greater", decided, "zero"), np.float64)
            pushed = graph.add("MatMul", on, graph.add_constant(signs.astype(np.float64)))
    return add_signs(graph, decided), own


def add_tiling(graph: Graph, rows: str, width: int, units: Sequence[Any]) -> tuple[str, str]:
    """Add the units layer by layer; the first unit of the last layer decides."""
    signals, activations = rows, ""
    for layer in range(units[-1].layer + 1):
        here = [unit for unit in units if unit.layer == layer]
        activations = add_activations(graph, signals, here, slice(None))
        signals = add_signs(graph, activations)
    master = graph.add_constant(np.array([0]))
    one, other = (graph.add("Gather", each, master, axis=1) for each in (signals, activations))
    return one, other


def add_chain(graph: Graph, rows: str, width: int, units: Sequence[Any]) -> tuple[str, str]:
    """Add the units one by one: each sees the row and outputs of units before it."""
    outputs: list[str] = []
    activations = ""
    for unit in units:
        activations = add_activations(graph, rows, [unit], slice(width))
        if len(unit.weights) > width:
            seen = graph.add("Concat", *outputs[width - len(unit.weights) :], axis=1)
            sent = graph.add("MatMul", seen, graph.add_constant(unit.weights[width:, None]))
            activations = graph.add("Add", activations, sent)
        outputs.append(add_signs(graph, activations))
    return outputs[-1], activations


def describe_value(name: str, dtype: "np.dtype[Any]", *shape: str | int) -> Any:
    """Describe an input or output by its type and shape."""
    helper = import_onnx().helper
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), shape)


def refuse_other_models(model: Model) -> None:
    """Raise ValueError for a model that is not a product of rows of numbers with weights."""
    if not model.is_linear:
        raise ValueError(f"A {model.estimator} has no weights of columns and cannot be exported.")
    if model.is_multilabel:
        raise ValueError(
            "A model of label sets cannot be exported; predict with rosenblatt, or train one model "
            "for each label."
        )
    if LinearLearner.from_model(model).votes:
        raise ValueError(
            'A vote of many weights cannot be exported; train with solution="average", which '
            "predicts nearly the same."
        )
    recipe = get_recipe(model.features)
    if recipe.get("bits") is not None:
        hashed = [repr(name) for name, kind in recipe.get("columns") or () if kind != "number"]
        some = ", ".join(hashed[:3]) + (", …" if len(hashed) > 3 else "")
        raise ValueError(
            f"The model hashes {'the words of ' + some if hashed else 'names, products or bins'}, "
            "which ONNX cannot do; train on columns of numbers, or predict with rosenblatt."
        )


def get_recipe(features: dict[str, Any]) -> dict[str, Any]:
    """Return the recipe of the features; empty for a model of matrices."""
    recipe = features.get("recipe")
    return recipe if isinstance(recipe, dict) else {}


def get_column_names(features: dict[str, Any]) -> list[str] | None:
    """Return the names of the columns of X, if they have any."""
    columns = get_recipe(features).get("columns")
    names = [name for name, _ in columns] if columns else features.get("names")
    return None if names is None else list(map(str, names))


def get_coefficients(model: Model) -> tuple[Array, Array]:
    """Return the weights, with a column per class if there are over two, and the biases."""
    weights, biases = LinearLearner.from_model(model).coefficients()
    W = weights[0] if len(weights) == 1 else weights.T
    if W.nbytes > MOST_BYTES:
        raise ValueError(f"The weights take {W.nbytes >> 20:,} MB, and ONNX has at most 2 GB.")
    if not np.isfinite(W).all():
        raise ValueError("The weights are not finite; train again with smaller numbers.")
    return np.ascontiguousarray(W), biases


def convert_labels(classes: Array) -> Array:
    """Convert labels to a type that ONNX has; numbers stay numbers."""
    return classes.astype(LABEL_TYPES.get(classes.dtype.kind, object))


def import_onnx() -> Any:
    """Import the package onnx; raise ImportError with what to install."""
    try:
        import onnx
    except ImportError:
        raise ImportError(
            "Export needs the package onnx; install it with: pip install 'rosenblatt[onnx]'"
        ) from None
    return onnx
