"""Features of the columns of numbers: their places, and their weights in the units of the file."""

from typing import Any

import numpy as np

from ..kernels.words import salt
from .arrow import table_scaling
from .recipe import FeatureRecipe
from .scaling import sparse_scaling


def in_file_units(
    features: dict[str, Any], coef: np.ndarray, bias: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Convert weights and biases so that they give the same scores on unscaled numbers.

    Parameters
    ----------
    features
        What ``features()`` of a reader gave.
    coef, bias
        Of a model that was trained on what the reader made.
    """
    recipe = FeatureRecipe(**features)
    if not recipe.scales:
        return coef, bias
    coef, bias = coef.astype(np.float64), bias.astype(np.float64)
    if recipe.rows != "table":
        scaling = sparse_scaling(recipe.scales)
        assert scaling is not None
        known = min(coef.shape[1], len(scaling.factors))
        coef[:, :known] *= scaling.factors[:known]
        return coef, bias
    table = table_scaling(recipe)
    names, mask = recipe.numeric(), (1 << (recipe.bits or 0)) - 1
    places = range(len(names)) if recipe.bits is None else [salt(name) & mask for name in names]
    for place, centre, factor in zip(places, table.centre, table.factor, strict=True):
        coef[:, place] *= factor
        bias -= coef[:, place] * centre
    return coef, bias
