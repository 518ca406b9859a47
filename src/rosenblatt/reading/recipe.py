"""How a file becomes features: what a model keeps of it, to read other files alike."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

LABEL_NAMES = ("label", "class", "target", "y")
TEXT_BITS, OTHER_BITS = 20, 18  # unless stated


@dataclass(frozen=True)
class FeatureRecipe:
    """How features are made of what a file holds; ``rows`` is svmlight, vw or table."""

    rows: str = ""
    label: str | int | bool | None = None
    label_kind: str | None = None
    columns: Sequence[Sequence[str]] | None = None
    text: Sequence[str] = ()
    ngrams: Sequence[int] = (1, 1)
    characters: bool = False
    bits: int | None = None
    cross: Sequence[str] = ()
    pairs: bool = False
    first: int | None = None


class ReaderOptions(NamedTuple):
    """What does not change how features are made."""

    batch_bytes: int
    dtype: np.dtype
    names: int
    label_needed: bool
    new: bool  # or features are made as before
    category: tuple[str, ...]
    header: bool | None

    def remedy(self, column: str) -> str:
        """What to do about a word in a column of numbers."""
        if not self.new:
            return ", which the model wants"
        return f"; if the column holds words, state category=[{column!r}]"


def recipe_of(features: dict[str, Any], asked: FeatureRecipe) -> FeatureRecipe:
    """The recipe that features() wrote, with the label that is asked for."""
    if replace(asked, label=None) != FeatureRecipe():
        raise ValueError(
            "features says how features are made; leave out text, ngrams, characters, bits, cross, "
            "pairs and first."
        )
    try:
        recipe = FeatureRecipe(**features)
    except TypeError as error:
        raise ValueError("features is not what features() of a reader gives.") from error
    return recipe if asked.label is None else replace(recipe, label=asked.label)


def check(recipe: FeatureRecipe, options: ReaderOptions) -> None:
    """Refuse what cannot be asked for."""
    if recipe.label is True:
        raise ValueError("label=True is no column; give its name or number, or False for none.")
    shortest, longest = recipe.ngrams
    if not 1 <= shortest <= longest:
        raise ValueError(f"ngrams=({shortest}, {longest}) must be 1 or more, the least first.")
    if not recipe.text and (recipe.characters or longest > 1):
        raise ValueError("ngrams and characters are of text; name its column with text.")
    if recipe.bits is not None and not 1 <= recipe.bits <= 31:
        raise ValueError(f"bits={recipe.bits} must be 1 to 31.")
    if recipe.first not in (None, 0, 1):
        raise ValueError(f"first={recipe.first} must be 0 or 1.")
    if options.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype={options.dtype} must be float32 or float64.")
    if options.batch_bytes < 1:
        raise ValueError(f"batch_bytes={options.batch_bytes} must be 1 or more.")


def recipe_for(recipe: FeatureRecipe, rows: str, source: str, **settled: Any) -> FeatureRecipe:
    """The recipe for a kind of rows, unless it was made for another."""
    if recipe.rows not in ("", rows):
        raise ValueError(f"{source} holds {rows} rows, not {recipe.rows} rows as before.")
    return replace(recipe, rows=rows, **settled)


def crossed_groups(recipe: FeatureRecipe, group: Callable[[str], int]) -> np.ndarray | None:
    """The pairs of groups to multiply: all features are group 0 if every pair is wanted."""
    if recipe.pairs:
        return np.zeros((1, 2), np.uint16)
    if not recipe.cross:
        return None
    names = [cross.split(",") for cross in recipe.cross]
    for cross, pair in zip(recipe.cross, names, strict=True):
        if len(pair) != 2:
            raise ValueError(f"cross={cross!r} must be two names with a comma between them.")
    return np.array([[group(name) for name in pair] for pair in names], np.uint16)


class ColumnNames:
    """The names of a table's columns, and where each of them is."""

    def __init__(self, names: Sequence[str], source: str) -> None:
        self.names, self.source = list(names), source
        self.numbers = {name: number for number, name in enumerate(self.names)}
        if len(self.numbers) < len(self.names):
            twice = next(name for name, count in Counter(self.names).items() if count > 1)
            raise ValueError(f"{source} has two columns that are called {twice!r}.")

    def __len__(self) -> int:
        return len(self.names)

    def number(self, column: str | int) -> int:
        """Where a column is, which may be called by its name or number."""
        if isinstance(column, str) and column in self.numbers:
            return self.numbers[column]
        if isinstance(column, int) and -len(self) <= column < len(self):
            return column % len(self)
        there = ", ".join(self.names[:20]) + (", …" if len(self) > 20 else "")
        raise ValueError(f"{self.source} has no column {column!r}; there are: {there}.")

    def label(self, recipe: FeatureRecipe, needed: bool) -> int | None:
        """Where the label is, if there is one."""
        label = recipe.label
        if label is None or label is False or (label not in self.numbers and not needed):
            return None
        return self.number(label)

    def kinds(self, kinds: Sequence[str], category: Sequence[str]) -> list[str]:
        """The kinds of the columns, with those that were stated."""
        words = {self.number(name) for name in category}
        return ["category" if j in words else kind for j, kind in enumerate(kinds)]


def with_columns(recipe: FeatureRecipe, names: ColumnNames, kinds: list[str]) -> FeatureRecipe:
    """Decide which column is the label and what becomes of the others."""
    if recipe.columns is None:
        number = None if recipe.label is False else label_number(recipe.label, names)
        text = {names.number(name) for name in recipe.text}
        columns = [
            (name, "text" if j in text else "number" if kind == "boolean" else kind)
            for j, (name, kind) in enumerate(zip(names.names, kinds, strict=True))
            if j != number and kind
        ]
        label = None if number is None else names.names[number]
        label_kind = None if number is None else kinds[number].replace("boolean", "category")
        recipe = replace(recipe, label=label, label_kind=label_kind, columns=columns)
    if not recipe.columns:
        raise ValueError(f"{names.source} has no columns to learn from.")
    for name, _ in recipe.columns:
        names.number(name)
    dense = not (recipe.cross or recipe.pairs)
    if dense and all(kind == "number" for _, kind in recipe.columns):
        return replace(recipe, bits=None)
    return replace(recipe, bits=recipe.bits or (TEXT_BITS if recipe.text else OTHER_BITS))


def label_number(wanted: str | int | None, names: ColumnNames) -> int:
    """Which column is the label: the one wanted, or with a usual name, or the last."""
    if wanted is not None:
        return names.number(wanted)
    usual = (j for j, name in enumerate(names.names) if name.lower() in LABEL_NAMES)
    return next(usual, len(names) - 1)
