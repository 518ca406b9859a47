"""Untrained models with stated labels and columns, for a service without a training file."""

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from ..data.labels import check_classes
from ..learners.linear import LinearLearner
from ..parameters import ParameterError
from ..reading.recipe import OTHER_BITS, TEXT_BITS, FeatureRecipe, check_grams
from ..reading.scaling import Scale
from ..storage.model import Model
from ..training.plan import DataProfile, Request, make_plan
from ..training.rules import RULES

GRAMS = re.compile(r"(c?)(\d+)(?:-(\d+))?")


class Column(NamedTuple):
    """A column: its kind, and of numbers the mean and spread, of texts the n-grams, if stated."""

    name: str
    kind: str
    scale: Scale = Scale()
    grams: tuple[int, int, bool] | None = None


def parse_column(stated: str) -> Column:
    """Parse the description of a column.

    >>> parse_column("height:number:170:10").scale
    Scale(centre=170.0, factor=0.1, filling=0.0, flagged=False)
    >>> parse_column("title:text:1-2").grams
    (1, 2, False)
    """
    name, *details = [part.strip() for part in stated.split(":")]
    with suppress(ValueError, ZeroDivisionError):
        match details or ["number"]:
            case ["number" | "category" | "text" as kind] if name:
                return Column(name, kind)
            case ["number", mean, spread] if name:
                scale = Scale(float(mean), 1 / float(spread))
                if math.isfinite(scale.centre) and 0 < scale.factor < math.inf:
                    return Column(name, "number", scale)
            case ["text", grams] if name and (found := GRAMS.fullmatch(grams)):
                least, most = int(found[2]), int(found[3] or found[2])
                check_grams(least, most)
                return Column(name, "text", grams=(least, most, bool(found[1])))
    raise ParameterError(
        f"features: {stated!r} is not NAME, NAME:number, NAME:number:MEAN:SPREAD, NAME:category, "
        "NAME:text or NAME:text:1-2.",
        code="column-syntax",
    )


def make_recipe(columns: Sequence[Column], label: str, numbers: bool, bits: int | None) -> Any:
    """Make the recipe of a table with stated columns.

    Without statistics of rows, numbers are taken as they are, or as their stated mean and spread
    say.
    """
    names = [column.name for column in columns]
    twice = [name for name in names if names.count(name) > 1]
    if twice or label in names:
        raise ParameterError(
            f"features names {twice[0] if twice else label!r} twice.", code="column-twice"
        )
    if bits is not None and not 1 <= bits <= 31:
        raise ParameterError(f"bits={bits!r} must be 1 to 31.", code="out-of-range")
    text = [column.name for column in columns if column.kind == "text"]
    dense = all(column.kind == "number" for column in columns)
    scaled = [column for column in columns if column.kind == "number" and column.scale != Scale()]
    scales: Any = {one.name: list(one.scale) for one in columns if one.kind == "number"}
    grams: Any = {one.name: list(one.grams) for one in columns if one.grams is not None}
    return asdict(
        FeatureRecipe(
            rows="table",
            label=label,
            label_kind="number" if numbers else "category",
            columns=[(column.name, column.kind) for column in columns],
            text=text,
            bits=None if dense else bits or (TEXT_BITS if text else OTHER_BITS),
            grams=grams,
            scale="standard" if scaled else "none",
            scales=scales if scaled else None,
        )
    )


def new_model(
    labels: Sequence[str],
    features: Sequence[str],
    label: str = "label",
    bits: int | None = None,
    rule: str | None = None,
    **given: Any,
) -> Model:
    """Make an untrained model.

    Parameters
    ----------
    labels
        All labels, as words; they are numbers if all look like such.
    features
        The columns: NAME, NAME:KIND, NAME:number:MEAN:SPREAD or NAME:text:N-GRAMS.
    label, bits
        The name of the label's column, and how many columns words and texts are hashed to.
    rule, **given
        What an example does to the weights, and the parameters of the estimator; what suits one
        pass over a file unless they are given.
    """
    numbers = all(is_number(word) for word in labels)
    classes = check_classes(labels, np.dtype(np.float64 if numbers else np.str_))
    recipe = make_recipe([parse_column(one) for one in features], label, numbers, bits)
    once = {"max_iter": 1, "order": "fixed", "intercept_step": 1.0}
    plan = make_plan(Request(rule, once | given), DataProfile(fits=False))
    width = len(recipe["columns"]) if recipe["bits"] is None else 1 << recipe["bits"]
    shape = width, np.dtype(np.float32)
    learner = LinearLearner.begin(plan.parameters, classes, shape, rule=RULES[plan.rule])
    learner.features = {"recipe": recipe, "format": "arrow", "largest": []}
    return learner.to_model({"stop_reason": "unfinished", "rows": 0, "plain": False}, [])


def is_number(word: str) -> bool:
    """Whether a label is a number."""
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False
