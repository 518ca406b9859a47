"""Export models as ONNX graphs, which other languages and services run without this package.

The graph consists of plain operators. The LinearClassifier of ai.onnx.ml would keep weights and
scores in single precision, and does not say to which class an activation of zero belongs.
"""

import json
import os
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from . import __version__
from .data.rows import Array, to_dense
from .data.targets import NumberTarget
from .disk import replace_file
from .kernels.words import categories, salt
from .learners.linear import LinearLearner
from .parameters import RULE_TABLE
from .reading.arrow import encode_strings, missing_name, table_scaling, to_words
from .reading.columnar import BATCH_ROWS
from .reading.parser import allocate_rows
from .reading.reader import read
from .reading.recipe import FeatureRecipe
from .reading.records import read_records
from .reading.scaling import sparse_scaling
from .reading.vocabulary import Vocabulary
from .storage.model import Model
from .training.rules import RULES

OPSET, ML_OPSET, IR_VERSION = 17, 3, 8  # every onnxruntime since 2022 reads these
MOST_BYTES = 2**31 - 2**20  # a protocol buffer has at most 2 GB
MOST_WORDS = 10**6  # of categories in a graph
LABEL_TYPES = {"b": np.bool_, "i": np.int64, "u": np.uint64, "f": np.float64}  # others are text


def write_onnx(
    path: str | os.PathLike[str], model: Model, words: Mapping[str, Sequence[str]] | None = None
) -> int:
    """Write a model as an ONNX file, which is replaced only when the new one is complete.

    Parameters
    ----------
    path : str or path-like
        The file to write.
    model : Model
        A model of columns of numbers and categories, from ``storage.file.load_model``.
    words : dict of str to sequence of str, default=None
        The words of each column of categories, from ``collect_words``; None takes those that the
        model file names, if these are all.

    Returns
    -------
    int
        Number of columns of the input.
    """
    made = make_onnx_graph(model, words)
    with replace_file(path) as temporary:
        temporary.write_bytes(made.SerializeToString())
    return sum(one.type.tensor_type.shape.dim[1].dim_value for one in made.graph.input)


def make_onnx_graph(model: Model, words: Mapping[str, Sequence[str]] | None = None) -> Any:
    """Make the ONNX model from ``X``, rows in the type of the weights, to ``label`` and ``scores``.

    Labels and scores are those of ``predict`` and ``decision_function`` of the estimator, also for
    ties: one score per class, or a single one for two classes. The label of a model of numbers is
    the number. Categories are a second input, ``categories``, of strings.

    Parameters
    ----------
    model, words
        As for ``write_onnx``.
    """
    if model.estimator == "PerceptronNetwork":
        return make_model(model, make_network_graph(model))
    refuse_other_models(model)
    return make_model(model, make_linear_graph(model, words))


class MissingWordsError(ValueError):
    """The words of some weights are not known; ``collect_words`` finds them in a file."""


class Graph:
    """A graph under construction: its nodes and constants; methods return names of values.

    A row has ``columns`` numbers of type ``dtype`` and ``categories`` words, and gets ``scores``.
    """

    def __init__(self) -> None:
        try:
            import onnx
        except ImportError:
            raise ImportError("Export needs onnx: pip install 'rosenblatt[onnx]'.") from None
        self.onnx: Any = onnx
        self.nodes: list[Any] = []
        self.constants: dict[str, Array] = {}
        self.label_type: np.dtype[Any]
        self.dtype: np.dtype[Any] = np.dtype(np.float64)
        self.columns = self.scores = self.categories = 0

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
        """Add the last nodes: from scores to a class; "last" ties of several are for the last."""
        if two:
            beyond = "GreaterOrEqual" if ties in ("positive", "last") else "Greater"
            number = self.add_cast(self.add(beyond, scores, "zero"), np.int64)
        else:
            last = int(ties == "last")
            number = self.add("ArgMax", scores, axis=1, keepdims=0, select_last_index=last)
        classes = classes.astype(LABEL_TYPES.get(classes.dtype.kind, object))
        self.label_type = classes.dtype
        self.add("Gather", self.add_constant(classes, "classes"), number, name="label")

    def add_target(self, scores: str, model: Model, two: bool) -> None:
        """Add the last nodes of a linear model: from scores to what its target predicts."""
        learner = LinearLearner.from_model(model)
        target = learner.target
        if isinstance(target, NumberTarget):
            self.label_type = np.dtype(np.float64)
            scale, center = (self.add_constant(np.array(n)) for n in (target.scale, target.center))
            spread = self.add("Mul", self.add_cast(scores, np.float64), scale)
            self.add("Add", spread, center, name="label")
        else:
            ties = "last" if learner.rule.labels.has_thresholds else model.parameters.get("ties")
            self.add_label(scores, model.classes, two, ties)


def make_model(model: Model, graph: Graph) -> Any:
    """Make the ONNX model of a graph from X to label and scores."""
    helper, used = graph.onnx.helper, {name for node in graph.nodes for name in node.input}

    def describe(name: str, dtype: Any, *width: int) -> Any:
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return helper.make_tensor_value_info(name, kind, ("rows", *width))

    inputs = {"X": (graph.dtype, graph.columns), "categories": (object, graph.categories)}
    outputs = () if graph.scores == 1 else (graph.scores,)
    body = helper.make_graph(
        graph.nodes,
        "perceptron",
        [describe(name, dtype, width) for name, (dtype, width) in inputs.items() if width],
        [describe("label", graph.label_type), describe("scores", graph.dtype, *outputs)],
        [
            graph.onnx.numpy_helper.from_array(array, name)
            for name, array in graph.constants.items()
            if name in used
        ],
    )
    domains = {"": OPSET} | ({"ai.onnx.ml": ML_OPSET} if graph.categories else {})
    made = helper.make_model(
        body,
        opset_imports=[helper.make_opsetid(*each) for each in domains.items()],
        ir_version=IR_VERSION,
        producer_name="rosenblatt",
        producer_version=__version__,
    )
    named = bool(get_recipe(model).columns)
    names = list_columns(model, "number") if named else model.features.get("names")
    properties = {"columns": json.dumps(names)}
    if graph.categories:
        properties["categories"] = json.dumps(list_columns(model, "category"))
    helper.set_model_props(made, properties)
    return made


# A linear model: products of numbers with weights, and tables of the words of categories


def make_linear_graph(model: Model, words: Mapping[str, Sequence[str]] | None) -> Graph:
    """Make the graph of a linear model.

    Each category is looked up in a table of the known words, which has the weight of the column
    that the word is hashed to. Other words and empty strings have the weight 0.
    """
    graph, recipe = Graph(), get_recipe(model)
    weights, biases = get_coefficients(model)
    two, weights = weights.ndim == 1, weights.reshape(len(weights), -1)
    hashed = recipe.bits is not None
    names = list_columns(model, "category") if hashed else []
    numbers = list_columns(model, "number") if hashed else []
    scaling = get_scaling(recipe, len(numbers) if hashed else len(weights))
    width, parts = len(scaling.get("centre", numbers if hashed else weights)), []
    if width:
        rows = add_scaling(graph, scaling, weights.dtype) if scaling else "X"
        of_numbers = weights
        if hashed:
            flagged = scaling.get("flagged", np.zeros(0, np.intp)).tolist()
            salted = [*numbers, *(missing_name(numbers[j]) for j in flagged)]
            of_numbers = weights[[salt(name) % len(weights) for name in salted]]
        parts.append(graph.add("MatMul", rows, graph.add_constant(of_numbers, "weights")))
    if names:
        known = find_words(model, weights) if words is None else words
        chosen = {name: known.get(name, ()) for name in names}
        parts += add_categories(graph, recipe, chosen, weights)
    total = parts[0]
    for part in [*parts[1:], graph.add_constant(biases, "bias")]:
        total = graph.add("Add", total, part)
    last = [graph.add_constant(np.array([1]))] if two else []
    scores = graph.add("Squeeze" if two else "Identity", total, *last, name="scores")
    graph.add_constant(biases[:1] * 0, "zero")
    graph.add_target(scores, model, two)
    graph.dtype, graph.columns, graph.categories = weights.dtype, width, len(names)
    graph.scores = weights.shape[1]
    return graph


def get_scaling(recipe: FeatureRecipe, width: int) -> dict[str, Array]:
    """Return the scaling of the columns of X, in double precision; empty if there is none."""
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


def add_categories(
    graph: Graph, recipe: FeatureRecipe, words: Mapping[str, Sequence[str]], weights: Array
) -> list[str]:
    """Add the look-up of each category; return the names of the weights that are found."""
    found, rows, offset = [], [np.zeros((1, weights.shape[1]), weights.dtype)], 1
    table = "category_weights"
    one = graph.add_constant(np.array([1], np.int64))
    for place, (name, own) in enumerate(words.items()):
        own = [word for word in dict.fromkeys(own) if word]
        column = graph.add_constant(np.array([place], np.int64))
        cells = graph.add("Gather", "categories", column, axis=1)
        code = graph.add(
            "LabelEncoder",
            cells,
            domain="ai.onnx.ml",
            keys_strings=own or [""],
            values_int64s=[*range(offset, offset + len(own))] or [0],
            default_int64=0,
        )
        picked = graph.add("Gather", table, code, axis=0)
        found.append(graph.add("Squeeze", picked, one))
        rows.append(weights[hash_words(recipe, name, own)])
        offset += len(own)
    graph.add_constant(np.concatenate(rows), table)
    return found


def hash_words(recipe: FeatureRecipe, column: str, own: Sequence[str]) -> Array:
    """Return the hashed columns of the words of a category."""
    import pyarrow

    bits = recipe.bits
    assert bits is not None
    data, offsets = encode_strings(pyarrow.array(own, pyarrow.string()))
    out = allocate_rows(len(own), len(own), np.dtype(np.float32))
    met = Vocabulary(0, 0).met
    mask = np.uint64((1 << bits) - 1)
    categories(data, offsets, 0, 0, np.uint64(salt(column)), mask, False, out, met)
    return out.indices.astype(np.intp)


def find_words(model: Model, weights: Array) -> dict[str, list[str]]:
    """Return the words of each category that the model file names; refuse if some are missing."""
    found: dict[str, list[str]] = {name: [] for name in list_columns(model, "category")}
    known = set()
    for column, name in model.features.get("largest", []):
        known.add(column)
        own, _, word = name.partition("=")
        while own not in found and "=" in word:  # a column may have = in its name
            more, _, word = word.partition("=")
            own = f"{own}={more}"
        if own in found:
            found[own].append(word)
    used = np.flatnonzero(weights.any(axis=1)).tolist()
    if missing := len(set(used) - known):
        raise MissingWordsError(
            f"The model file does not name the words of {missing:,} weights; they are needed from "
            "the training file."
        )
    return found


def collect_words(model: Model, data: Any) -> dict[str, list[str]]:
    """Return all words of each category in a file or a table like that of the training.

    Parameters
    ----------
    model : Model
        A model with columns of categories.
    data : path or table
        As for ``read``.
    """
    import pyarrow

    reader = read(data, features=model.features.get("recipe", {}), label=False)
    found: dict[str, dict[str, None]] = {name: {} for name in list_columns(model, "category")}
    records = read_records(reader)
    while part := list(islice(records, BATCH_ROWS)):
        for name in found:
            cells = to_words(pyarrow.array([record.get(name) for record in part]))
            words = (word for word in cells.unique().to_pylist() if word is not None)
            found[name] |= dict.fromkeys(map(str.strip, words))
        if sum(map(len, found.values())) > MOST_WORDS:
            raise ValueError(f"The columns have over {MOST_WORDS:,} words, too many for a table.")
    return {name: list(words) for name, words in found.items()}


# A network: products and thresholds, unit by unit or layer by layer


def make_network_graph(model: Model) -> Graph:
    """Make the graph of a network: one answer per class, in double precision."""
    graph = Graph()
    for name, value in {"zero": 0.0, "off": -1.0, "on": 1.0, "half": 0.5}.items():
        graph.add_constant(np.array([value]), name)
    (sphere, centre, scale), growth = model.facts["lift"], model.parameters["growth"]
    rows = add_lift(graph, centre, scale) if sphere else "X"
    add_units = add_upstart if growth == "upstart" else add_chain
    scores = [
        add_score(graph, *add_units(graph, rows, len(centre) + sphere, state.units(), growth))
        for state in model.states
    ]
    two = len(scores) == 1
    if two:
        graph.add("Squeeze", *scores, graph.add_constant(np.array([1]), "axis"), name="scores")
    else:
        graph.add("Concat", *scores, name="scores", axis=1)
    graph.add_label("scores", model.classes, two, "negative")
    graph.columns, graph.scores = len(centre), len(scores)
    return graph


def add_lift(graph: Graph, centre: list[float], scale: list[float]) -> str:
    """Add the projection of X onto a sphere."""
    centred = graph.add("Sub", "X", graph.add_constant(np.array(centre, np.float64)))
    z = graph.add("Div", centred, graph.add_constant(np.array(scale, np.float64)))
    along = graph.add_constant(np.array([1]))
    square = graph.add("ReduceSum", graph.add("Mul", z, z), along, keepdims=1)
    twice, less = graph.add("Add", z, z), graph.add("Sub", square, "on")
    above = graph.add("Concat", twice, less, axis=1)
    return graph.add("Div", above, graph.add("Add", square, "on"))


def add_activation(graph: Graph, seen: Sequence[str], unit: Any) -> str:
    """Add the activation of a unit: the weights times what it sees, plus the bias."""
    whole = graph.add("Concat", *seen, axis=1)
    product = graph.add("MatMul", whole, graph.add_constant(unit.weights[:, None]))
    return graph.add("Add", product, graph.add_constant(np.array([unit.bias])))


def add_signs(graph: Graph, activations: str) -> str:
    """Add the outputs of units: 1 for positive activations, else -1."""
    return graph.add("Where", graph.add("Greater", activations, "zero"), "on", "off")


def add_score(graph: Graph, outputs: str, activations: str) -> str:
    """Add the score: the sign of the output, times 1/2 to 1 by the size of the activation."""
    size = graph.add("Abs", activations)
    share = graph.add("Div", size, graph.add("Add", size, "on"))
    sure = graph.add("Add", graph.add("Mul", share, "half"), "half")
    return graph.add("Mul", outputs, sure)


def add_upstart(graph: Graph, rows: str, width: int, units: Any, growth: str) -> tuple[str, str]:
    """Add the units from the last to the first: active ones switch their parent."""
    pushed: dict[int, str] = {}
    for number, unit in reversed(list(enumerate(units))):
        own = decided = add_activation(graph, [rows], unit)
        if number in pushed:
            still = graph.add("Equal", pushed[number], "zero")
            decided = graph.add("Where", still, own, pushed[number])
        if number:
            active = graph.add("Greater", decided, "zero")
            push = graph.add("Where", active, "on" if unit.sign > 0 else "off", "zero")
            others = pushed.get(unit.parent)
            pushed[unit.parent] = push if others is None else graph.add("Add", others, push)
    return add_signs(graph, decided), own


def add_chain(graph: Graph, rows: str, width: int, units: Any, growth: str) -> tuple[str, str]:
    """Add the units one by one; each sees the row, or outputs of units before it, or both."""
    outputs: list[str] = []
    activations: list[str] = []
    for unit in units:
        seen = [rows, *outputs[len(outputs) + width - len(unit.weights) :]]
        if growth == "tiling" and unit.layer:
            before = zip(outputs, units, strict=False)
            seen = [output for output, other in before if other.layer == unit.layer - 1]
        activations.append(add_activation(graph, seen, unit))
        outputs.append(add_signs(graph, activations[-1]))
    last = [unit.layer for unit in units].index(units[-1].layer) if growth == "tiling" else -1
    return outputs[last], activations[last]


def refuse_other_models(model: Model) -> None:
    """Raise ValueError for a model that is not a product of rows of numbers with weights."""
    recipe = get_recipe(model)
    if not model.is_linear:
        raise ValueError(f"A {model.estimator} has no weights of columns and cannot be exported.")
    if model.is_multilabel:
        raise ValueError("A model of label sets cannot be exported; train one for each label.")
    names = list_columns(model, "text") + list_columns(model, "date")
    what = {
        f"the n-grams or dates of {', '.join(map(repr, names[:3]))}": names,
        "names": recipe.rows != "table",
        "products": recipe.pairs,
        "bins": recipe.bins,
    }
    hashed = [one for one, given in what.items() if given and recipe.bits is not None]
    if hashed:
        raise ValueError(
            f"The model hashes {hashed[0]}, which ONNX cannot do; train with tune=False on columns "
            "of numbers and categories, or predict with rosenblatt."
        )


def list_columns(model: Model, kind: str) -> list[str]:
    """Return the names of the columns of a kind, in order."""
    return [str(name) for name, own in get_recipe(model).columns or () if own == kind]


def get_recipe(model: Model) -> FeatureRecipe:
    """Return the recipe of the features; that of a model of matrices is empty."""
    return FeatureRecipe(**model.features.get("recipe", {}))


def get_coefficients(model: Model) -> tuple[Array, Array]:
    """Return the weights, with a column per class if there are over two, and the biases."""
    weights, biases = LinearLearner.from_model(model).coefficients()
    if len(biases) > len(weights):  # those of ranks: a score is the sum of w·x + b up to each
        weights = np.arange(len(biases) + 1, dtype=weights.dtype)[:, None] * weights
        biases = np.append(biases.dtype.type(0), np.cumsum(biases))
    W = weights[0] if len(weights) == 1 else weights.T
    if W.nbytes > MOST_BYTES:
        raise ValueError(f"The weights take {W.nbytes >> 20:,} MB, but ONNX has at most 2 GB.")
    if not np.isfinite(W).all():
        raise ValueError("The weights are not finite; train again with smaller numbers.")
    return np.ascontiguousarray(W), biases


def register_converters() -> None:
    """Let skl2onnx convert linear classifiers and regressors, also as the last step of a pipeline.

    The second output of a classifier has scores, not probabilities.
    """
    from skl2onnx import update_registered_converter
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType
    from skl2onnx.operator_converters import linear_classifier, linear_regressor
    from sklearn.linear_model import LinearRegression
    from sklearn.svm import LinearSVC

    import rosenblatt

    def parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
        operator = scope.declare_local_operator(f"Rosenblatt{type(model).__name__}", model)
        operator.inputs, number = inputs, type(inputs[0].type)
        outputs = {"variable": number}
        if hasattr(model, "classes_"):
            words = model.classes_.dtype.kind == "U"
            outputs = {"label": StringTensorType if words else Int64TensorType, "scores": number}
        for name, kind in outputs.items():
            operator.outputs.append(scope.declare_local_variable(name, kind()))
        return operator.outputs

    def convert(scope: Any, operator: Any, container: Any) -> None:
        model = operator.raw_operator
        classes = hasattr(model, "classes_")
        operator.raw_operator = twin = LinearSVC() if classes else LinearRegression()
        twin.coef_, twin.intercept_ = to_dense(model.coef_), model.intercept_
        if classes:
            twin.classes_ = model.classes_
            linear_classifier.convert_sklearn_linear_classifier(scope, operator, container)
        else:
            linear_regressor.convert_sklearn_linear_regressor(scope, operator, container)

    for rule, entry in RULE_TABLE.items():
        if not RULES[rule].labels.has_thresholds:
            model, name = getattr(rosenblatt, entry.estimator), f"Rosenblatt{entry.estimator}"
            update_registered_converter(model, name, lambda _: None, convert, parser=parse)
