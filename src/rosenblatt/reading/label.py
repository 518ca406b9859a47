"""Which column of a table is the label: by its name, its place and its first cells."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ..parameters import InputError
from .notices import Notice, list_words, make_notice
from .recipe import ColumnNames, FeatureRecipe
from .sources import file_error
from .spellings import LEADING_ZEROS, PLAIN, find_spelling

LABEL_NAMES = ("label", "class", "target", "y")
FIRST_ROWS = 2_000  # that are looked at
FEW_ROWS = 20  # and fewer prove nothing
FEW_OF_CLASS = 10  # rows; more classes of numbers with fewer rows each are measurements
STRAY = 0.01  # of the cells of numbers may be words
FEW_CLASSES = 30  # different numbers with decimals may be classes, and more are measurements
FRACTION = re.compile(r"[-+]?\d*\.\d*[1-9]\d*(e[-+]?\d+)?", re.IGNORECASE)
ORDERED = re.compile("stars?$|rating|grade|severity|level|quality|satisfaction|priority", re.I)
WHOLE = re.compile(r"\s*\d+(\.0*)?\s*")
MOST_RANKS = 11  # from 0 to 10

FirstCells = Callable[[int], Sequence[Any]]
"""Returns the first cells of a column by its place; None where one is missing."""


def with_label(
    recipe: FeatureRecipe, names: ColumnNames, cells: FirstCells, tolerated: int = 0
) -> tuple[FeatureRecipe, dict[Notice, None]]:
    """Return the recipe of a new table with the name of its label, and what to note about it.

    Without a stated label it is the first column that holds classes among those with a usual name
    and the last one, else one with a usual name that holds numbers. ``tolerated`` rows may be
    broken.
    """
    if recipe.columns is not None or recipe.label is False:
        return recipe, {}
    if not len(names):
        raise file_error("no-columns", names.source, "has no columns to learn from")
    stated, written = recipe.label is not None, cells
    cells = lru_cache(lambda place: write_plain_numbers(written(place)))
    usual = find_usual_labels(names.names) if recipe.label is None else [names.number(recipe.label)]
    places = usual if stated else list(dict.fromkeys([*usual, len(names) - 1]))
    if recipe.labels_separator is not None:
        return replace(recipe, label=names.names[places[0]], numbers=False), {}
    good = [place for place in places if recipe.numbers or holds_classes(cells(place))]
    if not good and not stated and not (usual and holds_numbers(cells(usual[0]), tolerated)):
        raise no_label_error(names, places[0], cells)
    place = good[0] if good else places[0]
    label = names.names[place]
    recipe, notices = with_numbers(replace(recipe, label=label), cells(place), tolerated)
    if recipe.numbers:
        recipe, note = with_label_spelling(recipe, written(place))
        notices |= note
    elif alike := find_alike(cells(place)):
        notices[make_notice("label-alike", name=label, words=list_words(alike))] = None
    if good and place != places[0]:
        notices[make_notice("label-other", name=label, other=names.names[places[0]])] = None
    near = [other for other in good[1:] if other in usual]
    if not usual and not stated and looks_like_label(names, cells, place):
        near += [0]
    if near:
        notices[make_notice("label-near", name=label, other=names.names[near[0]])] = None
    return recipe, notices


def with_numbers(
    recipe: FeatureRecipe, cells: Sequence[Any], tolerated: int = 0
) -> tuple[FeatureRecipe, dict[Notice, None]]:
    """Return a recipe that says whether the label is numbers, by its first cells, and a note."""
    known = {*map(str, cells)} - {"None"}
    numbers, notes = holds_numbers(cells, tolerated), list[str]()
    rare = len(known) > FEW_CLASSES and len(cells) < FEW_OF_CLASS * len(known)
    classes = holds_classes(cells) and not (numbers and rare)
    if recipe.numbers is None:
        recipe = replace(recipe, numbers=numbers and not classes)
        notes = ["label-numbers"] if recipe.numbers else notes
        notes = ["label-classes"] if classes and numbers and len(known) > FEW_CLASSES else notes
        notes = ["label-order"] if classes and has_order(recipe.label, known) else notes
    if not recipe.numbers and not classes:
        notes = ["label-values"]
    about = {"name": recipe.label or "label", "values": len(known)}
    return recipe, {make_notice(code, **about): None for code in notes}


def has_order(name: Any, labels: set[str]) -> bool:
    """Whether labels look like ranks: whole numbers in a row, in a column of stars or grades.

    >>> has_order("Stars", {"1", "2", "3"}), has_order("digit", {"1", "2", "3"})
    (True, False)
    """
    if not ORDERED.search(str(name)) or not all(WHOLE.fullmatch(label) for label in labels):
        return False
    ranks = {int(float(label)) for label in labels}
    return 3 <= len(ranks) == max(ranks) - min(ranks) + 1 <= MOST_RANKS


def list_known(cells: Sequence[Any]) -> list[str]:
    """Return the cells that are not missing, as strings."""
    return [str(cell).strip() for cell in cells if cell is not None]


def write_plain_numbers(cells: Sequence[Any]) -> Sequence[Any]:
    """Write cells such as $1,234.50 as plain numbers, if all of them are written in one way.

    >>> write_plain_numbers(["$1,234.50", None, "$7"]), write_plain_numbers(["$7", "seven"])
    (['1234.5', None, '7'], ['$7', 'seven'])
    """
    spelling = find_spelling(list_known(cells))
    if spelling is None:
        return cells
    return [
        None if cell is None else f"{spelling.number(str(cell).strip()):.15g}" for cell in cells
    ]


def with_label_spelling(
    recipe: FeatureRecipe, cells: Sequence[Any]
) -> tuple[FeatureRecipe, dict[Notice, None]]:
    """Return a recipe that says how the numbers of the label are written, and a note of it."""
    known = list_known(cells)
    spelling = find_spelling(known)
    if spelling is None:
        return recipe, {}
    label, cell = str(recipe.label), known[0]
    note = make_notice("numbers-label", name=label, cell=cell, number=spelling.number(cell))
    return replace(recipe, spellings={**recipe.spellings, label: spelling}), {note: None}


def find_alike(cells: Sequence[Any]) -> list[str]:
    """Find the first labels that differ only in case or blanks; none if there are none.

    >>> find_alike(["no", "yes", "No", "no"]), find_alike(["a", "b"])
    (['no', 'No'], [])
    """
    spelled: dict[str, list[str]] = {}
    for word in dict.fromkeys(list_known(cells)):
        spelled.setdefault("".join(word.split()).casefold(), []).append(word)
    return next((words for words in spelled.values() if len(words) > 1), [])


def holds_numbers(cells: Sequence[Any], tolerated: int = 0) -> bool:
    """Whether cells are numbers: neither truth values nor codes such as 0012.

    A few words among many numbers are slips, and so are as many words as rows may be broken.

    >>> holds_numbers(["1", "2.5e3", None]), holds_numbers(["1", "a"]), holds_numbers([True])
    (True, False, False)
    >>> holds_numbers([*map(str, range(30)), "a"]), holds_numbers(["1", "02"])
    (True, False)
    """
    known = [cell for cell in cells if cell is not None]
    texts = ["" if isinstance(cell, bool) else str(cell).strip() for cell in known]
    if any(re.match(LEADING_ZEROS, text) for text in texts):
        return False
    words = sum(PLAIN.fullmatch(text) is None for text in texts)
    slips = max(1, STRAY * len(texts)) if len(texts) > FEW_ROWS else 0
    return len(texts) > 2 * words and words <= max(slips, tolerated)


def find_usual_labels(names: Sequence[str]) -> list[int]:
    """Return the places of columns with a usual name of a label, the most usual first.

    >>> find_usual_labels(["x", "y", "Label"])
    [2, 1]
    """
    lower = [name.lower() for name in names]
    return [lower.index(name) for name in LABEL_NAMES if name in lower]


def no_label_error(names: ColumnNames, place: int, cells: FirstCells) -> InputError:
    """Return the error of a table whose label cannot be guessed, with the columns it could be."""
    found = [name for j, name in enumerate(names.names) if holds_classes(cells(j))]
    others = f" It could be one of: {', '.join(found[:10])}." if found else ""
    name = names.names[place]
    what = f"has no label: {name!r} holds too many different values to be classes.{others} Use "
    if holds_numbers(cells(place)):
        what += f"label={name!r} to learn numbers, or another column"
    else:
        what += f"label={found[0]!r}" if len(found) == 1 else "label to choose one"
    return file_error("no-label-column", names.source, what, column=names.names[place])


def holds_classes(cells: Sequence[Any]) -> bool:
    """Whether cells may be classes: they repeat, and are not many numbers with decimals.

    >>> holds_classes(["a", "b"] * 20), holds_classes(range(40)), holds_classes([None] * 99)
    (True, False, True)
    >>> holds_classes([j % 40 / 8 for j in range(900)]), holds_classes([2.5, 3.7, 1.9, 4.1])
    (False, False)
    """
    known = [str(cell).strip() for cell in cells if cell is not None]
    distinct = {*known}
    if any(isinstance(cell, list) for cell in cells):
        return True
    if len(known) < FEW_ROWS:
        return len(distinct) < max(len(known), 3) or not all(map(FRACTION.fullmatch, known))
    if 2 * len(distinct) > len(known):
        return False
    return len(distinct) <= FEW_CLASSES or not any(map(FRACTION.fullmatch, distinct))


def looks_like_label(names: ColumnNames, cells: FirstCells, last: int) -> bool:
    """Whether the first column may be the label, though the last one is taken.

    It has far fewer classes, or its classes are words in a table of numbers without a header.
    """
    first = cells(0)
    if has_fewer_classes(first, cells(last)):
        return True
    if names.names[0] != "0" or not 2 <= len({*map(str, first)}) <= FEW_CLASSES:
        return False
    words = len(first) >= FEW_ROWS and not any(map(PLAIN.fullmatch, list_known(first)))
    return words and all(holds_numbers(cells(place)) for place in (1, last))


def has_fewer_classes(cells: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether a column has a few classes, and less than half as many as another one."""
    distinct, more = ({*map(str, each)} - {"None"} for each in (cells, others))
    return (
        len(cells) >= FEW_ROWS
        and 2 <= len(distinct) <= FEW_CLASSES
        and 2 * len(distinct) < len(more)
    )
