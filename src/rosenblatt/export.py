"""A model as an ONNX graph, which other languages and services run without this package.

The graph is made of plain operators, not of ai.onnx.ml's LinearClassifier: that one keeps its
weights and scores in single precision, and has no word for which class an activation of zero is.
"""

import json
import os
from typing import Any

import numpy as np

from . import __version__
from .disk import replacing
from .learner import Learner
from .reading.arrow import table_scaling
from .reading.recipe import FeatureRecipe
from .reading.scaling import sparse_scaling
from .rows import Array
from .storage.model import Model

OPSET, IR_VERSION = 17, 8  # old enough for every onnxruntime since 2022
MOST_BYTES = 2**31 - 2**20  # a protocol buffer ends at 2 GB
LABEL_TYPES = {"b": np.bool_, "i": np.int64, "u": np.uint64, "f": np.float64}  # others are text


def write_onnx(path: str | os.PathLike[str], model: Model) -> None:
    """Write a model as an ONNX file; until it is complete and on disk, an old one stays.

    Parameters
    ----------
    path : str or path-like
        Where to.
    model : Model
        What ``storage.file.load_model`` gave, of rows of numbers.
    """
    content = onnx_of(model).SerializeToString()
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def onnx_of(model: Model) -> Any:
    """The graph from ``X``, rows in the type of the weights, to ``label`` and ``scores``.

    Labels and scores are those of ``Perceptron.predict`` and ``decision_function``: a score per
    class, or one alone for two classes. A tie goes to the same class.

    Parameters
    ----------
    model : Model
        What ``storage.file.load_model`` gave, of rows of numbers.
    """
    refuse_what_is_more_than_weights(model)
    onnx = imported_onnx()
    weights, biases = coefficients(model)
    classes = label_tensor(model.classes)
    constants = {"weights": weights, "bias": biases, "zero": biases[:1] * 0, "classes": classes}
    scaling = scaling_of(model.features, len(weights))
    constants |= scaling
    width = len(scaling.get("centre", weights))
    made = onnx.helper.make_model(
        onnx.helper.make_graph(
            [
                *scaling_nodes(scaling, weights.dtype),
                *nodes(weights.ndim == 1, model.parameters.get("ties"), "rows" if scaling else "X"),
            ],
            "perceptron",
            [value("X", weights.dtype, "rows", width)],
            [
                value("label", classes.dtype, "rows"),
                value("scores", weights.dtype, "rows", *weights.shape[1:]),
            ],
            [onnx.numpy_helper.from_array(array, name) for name, array in constants.items()],
        ),
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="rosenblatt",
        producer_version=__version__,
    )
    onnx.helper.set_model_props(made, {"columns": json.dumps(column_names(model.features))})
    return made


def scaling_of(features: dict[str, Any], width: int) -> dict[str, Array]:
    """What brings the columns of X to one size, in double precision; nothing if they stay."""
    recipe = FeatureRecipe(**recipe_of(features))
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


def scaling_nodes(scaling: dict[str, Array], dtype: "np.dtype[Any]") -> list[Any]:
    """The steps from X to rows of one size, in which gaps are filled and flagged."""
    if not scaling:
        return []
    onnx = imported_onnx()
    node, kind = onnx.helper.make_node, onnx.helper.np_dtype_to_tensor_dtype(dtype)
    steps = [
        node("Cast", ["X"], ["exact"], to=onnx.TensorProto.DOUBLE),
        node("IsNaN", ["X"], ["missing"]),
        node("Sub", ["exact", "centre"], ["centred"]),
        node("Mul", ["centred", "factor"], ["scaled"]),
        node("Where", ["missing", "filling", "scaled"], ["filled"]),
        node("Cast", ["filled"], ["numbers" if "flagged" in scaling else "rows"], to=kind),
    ]
    if "flagged" in scaling:
        steps += [
            node("Gather", ["missing", "flagged"], ["gaps"], axis=1),
            node("Cast", ["gaps"], ["flags"], to=kind),
            node("Concat", ["numbers", "flags"], ["rows"], axis=1),
        ]
    return steps


def nodes(two: bool, ties: str | None, rows: str) -> list[Any]:
    """The steps from rows to a label."""
    onnx = imported_onnx()
    node = onnx.helper.make_node
    scores = [
        node("MatMul", [rows, "weights"], ["products"]),
        node("Add", ["products", "bias"], ["scores"]),
    ]
    if two:
        beyond = "GreaterOrEqual" if ties == "positive" else "Greater"
        number = [
            node(beyond, ["scores", "zero"], ["positive"]),
            node("Cast", ["positive"], ["number"], to=onnx.TensorProto.INT64),
        ]
    else:
        number = [node("ArgMax", ["scores"], ["number"], axis=1, keepdims=0)]
    return [*scores, *number, node("Gather", ["classes", "number"], ["label"])]


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
    if Learner.of(model).votes:
        raise ValueError(
            'A vote of many weights cannot be exported; train with the solution "average", which '
            "predicts nearly the same."
        )
    recipe = recipe_of(model.features)
    if recipe.get("bits") is not None:
        hashed = [repr(name) for name, kind in recipe.get("columns") or () if kind != "number"]
        some = ", ".join(hashed[:3]) + (", …" if len(hashed) > 3 else "")
        raise ValueError(
            f"The model hashes {'the words of ' + some if hashed else 'names or products'}, and no "
            "operator of ONNX does that; train on columns of numbers, or predict with rosenblatt."
        )


def recipe_of(features: dict[str, Any]) -> dict[str, Any]:
    """How a file became rows; nothing for a model of matrices."""
    recipe = features.get("recipe")
    return recipe if isinstance(recipe, dict) else {}


def column_names(features: dict[str, Any]) -> list[str] | None:
    """The names of the columns of X, if they have any."""
    columns = recipe_of(features).get("columns")
    names = [name for name, _ in columns] if columns else features.get("names")
    return None if names is None else list(map(str, names))


def coefficients(model: Model) -> tuple[Array, Array]:
    """The weights, with a column per class if there are over two, and the biases."""
    weights, biases = Learner.of(model).coefficients()
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
