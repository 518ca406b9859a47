"""Small model files: the largest weights, in 8 bits.

The model of a small file is a perceptron with the weights that the whole model predicts with. It
predicts and scores; when it learns on, it does so by the perceptron's rule.
"""

import math
import re
import zlib
from dataclasses import replace
from typing import Any

import numpy as np

from ..data.rows import Array
from ..data.targets import ClassTarget
from ..parameters import InputError, ParameterError, parameters_for_files
from ..reading.scaling import pack_array, unpack_array
from ..training.linear_state import LastWeights
from ..training.rules import LABELS
from ..training.state import require
from .model import Model

LEVELS = 127
LEAST_SIZE = 2_500  # bytes, less than any model takes
FACTORS, PLACES = "factors", "places"
SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(|[kKM])B?")
UNITS = {"": 1, "k": 1_000, "K": 1_000, "M": 1_000_000}
KEPT = ("multi_class", "random_state", "calibrate", "ties")
OF_THE_TRAINING = ("training", "recent_scores", "service")


def parse_size(size: int | str) -> int:
    """Return a number of bytes, given as such or as in "2MB"."""
    found = SIZE.fullmatch(str(size))
    if not found or not float(found[1]):
        raise ParameterError(
            f'size={size!r} must be a number of bytes, such as 500_000 or "2MB".',
            code="out-of-range",
        )
    return int(float(found[1]) * UNITS[found[2]])


def begin_small(model: Model) -> Model:
    """Return a perceptron with the weights to predict with, and coarse counts of n-grams."""
    if not model.is_linear or LABELS[model.target].target is not ClassTarget:
        raise InputError(
            f"A {model.estimator} cannot be made smaller; size is for linear models of classes.",
            code="model-not-small",
        )
    kept = {name: model.parameters[name] for name in KEPT if name in model.parameters}
    if len(model.states) > 1:  # which some rules have for any multi_class
        kept["multi_class"] = "ovr"
    step = model.facts.get("intercept_step", 1.0)
    usual = {"solution": "last", "order": "each", "margin": 0.0, "intercept_step": step}
    states = []
    for state in model.states:
        weights, bias = state.coefficients()
        counts = {"seen": state.seen, "mistakes": state.mistakes}
        states.append(LastWeights(weights=weights, bias=bias, **counts))
    facts = {name: one for name, one in model.facts.items() if name not in OF_THE_TRAINING}
    return model._replace(
        estimator="Perceptron",
        parameters=parameters_for_files(**kept, **usual),
        states=states,
        features=round_counts(model.features),
        facts=facts,
        checkpoint=None,
    )


def round_counts(features: dict[str, Any]) -> dict[str, Any]:
    """Return features with numbers of texts as powers of 2, which take less space."""
    recipe = features.get("recipe") or {}
    if not recipe.get("frequencies"):
        return features
    counts = unpack_array(recipe["frequencies"]["counts"])
    rounded = np.where(counts > 0, np.exp2(np.rint(np.log2(np.maximum(counts, 1)))), 0)
    found = {**recipe["frequencies"], "counts": pack_array(rounded, 9)}
    return {**features, "recipe": {**recipe, "frequencies": found}}


def keep_largest(model: Model, count: int) -> Model:
    """Return a model with at most ``count`` weights that are not 0."""
    sizes = np.concatenate([np.abs(state.weights).ravel() for state in model.states])
    if count >= len(sizes):
        return model
    least = np.partition(sizes, len(sizes) - count - 1)[len(sizes) - count - 1]
    largest = [np.abs(state.weights) > least for state in model.states]
    states = [
        replace(state, weights=np.where(kept, state.weights, state.weights.dtype.type(0)))
        for state, kept in zip(model.states, largest, strict=True)
    ]
    return model._replace(states=states)


def pack_weights(weights: Array) -> tuple[dict[str, Array], list[int]]:
    """Turn weights into numbers of 8 bits, their places, and a factor for each class.

    Steps from place to place are compressed, their low bytes first.
    """
    flat = weights.reshape(len(weights), -1)
    factors = np.abs(flat).max(axis=0) / flat.dtype.type(LEVELS)
    numbers = np.rint(flat / np.where(factors > 0, factors, 1)).astype(np.int8).ravel()
    places = np.flatnonzero(numbers)
    steps = np.diff(places, prepend=0).astype("<u4").view(np.uint8).reshape(-1, 4)
    packed = np.frombuffer(zlib.compress(steps.T.tobytes(), 9), np.uint8)
    arrays = {"weights": numbers[places], FACTORS: factors, PLACES: packed}
    return arrays, list(weights.shape)


def unpack_weights(arrays: dict[str, Array], shape: list[int]) -> None:
    """Put weights of full precision and their places for those of 8 bits."""
    numbers, factors, packed = arrays["weights"], arrays.pop(FACTORS), arrays[PLACES]
    length = 4 * len(numbers)
    data = zlib.decompressobj().decompress(packed.tobytes(), length + 1)
    require(len(data) == length and packed.dtype == np.uint8, "the places do not fit its weights")
    require(factors.shape == (math.prod(shape[1:]),), "its factors do not fit its weights")
    steps = np.frombuffer(data, np.uint8).reshape(4, -1).T.copy().view("<u4").ravel()
    places = np.cumsum(steps, dtype=np.uint64)
    require(not len(places) or places[-1] < math.prod(shape), "its places are out of range")
    arrays[PLACES] = places.astype(np.uint32)
    arrays["weights"] = numbers * factors[arrays[PLACES] % len(factors)]
