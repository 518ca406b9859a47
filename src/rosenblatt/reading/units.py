"""Features of the columns of numbers: their places, and their weights in the units of the file."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..kernels.words import salt
from ..parameters import ParameterError
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
    places = number_features(recipe).values()
    for place, centre, factor in zip(places, table.centre, table.factor, strict=True):
        coef[:, place] *= factor
        bias -= coef[:, place] * centre
    return coef, bias


def number_features(recipe: FeatureRecipe) -> dict[str, int]:
    """The place of the feature of each column of numbers or dates of a table, by its name."""
    names = recipe.numeric()
    if recipe.bits is None:
        return {name: place for place, name in enumerate(names)}
    mask = (1 << recipe.bits) - 1
    return {name: salt(name) & mask for name in names}


def find_numbers(recipe: FeatureRecipe, columns: Sequence[Any]) -> tuple[int, ...]:
    """The places of the features of some columns of numbers, stated as in the file."""
    if recipe.rows == "table":
        kinds = dict(recipe.columns or ())
        known = {name: n for name, n in number_features(recipe).items() if kinds[name] == "number"}
    else:
        plain = recipe.rows == "svmlight" and recipe.bits is None
        numbers = [int(one) for one in map(str, columns) if one.isdecimal()] if plain else []
        known = {str(n): n - (recipe.first or 0) for n in numbers if n >= (recipe.first or 0)}
    for name in map(str, columns):
        if name not in known:
            raise ParameterError(
                f"{{positive?}} states the column {name!r}, which is not a column of numbers "
                f"that has one feature{'; these are ' if known else ''}{', '.join([*known][:20])}.",
                code="positive-column",
            )
    crossed = {name for pair in recipe.cross for name in str(pair).split(",")}
    more = {"bins": recipe.bins, "pairs": recipe.pairs, "cross": crossed & {*map(str, columns)}}
    for option, used in more.items():
        if used:
            raise ParameterError(
                f"{{{option}?}} makes features of the columns of {{positive?}} whose weights take "
                "any sign; leave one out.",
                code="positive-derived",
            )
    return tuple(known[str(name)] for name in columns)
