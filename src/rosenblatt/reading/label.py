"""Which column of a table is the label: by its name, its place and its first cells."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ..parameters import InputError
from .notices import list_words, make_notice
from .recipe import ColumnNames, FeatureRecipe, Resolved
from .sources import file_error
from .spellings import LEADING_ZEROS, PLAIN, Spelling, find_spelling
from .values import clean

LABEL_NAMES = ("label", "class", "target", "y")
FIRST_ROWS = 2_000  # that are looked at
FEW_ROWS = 20  # and fewer prove nothing
FEW_OF_CLASS = 10  # rows; more classes of numbers with fewer rows each are measurements
STRAY = 0.01  # of the cells of numbers may be words
FEW_CLASSES, FEW_DECIMALS = 30, 10  # more different numbers, or decimals, are measurements
MOST_GUESSES = 10  # columns at the end that may be the label instead
SEPARATORS = (";", "|", ",", "/")
FRACTION = re.compile(r"[-+]?\d*\.\d*[1-9]\d*(e[-+]?\d+)?", re.IGNORECASE)
ORDERED = re.compile("stars?$|rating|grade|severity|level|quality|satisfaction|priority", re.I)
WHOLE = re.compile(r"\d+(\.0*)?")
MOST_RANKS = 11  # from 0 to 10


class FirstCells(NamedTuple):
    """What the first cells of a column hold.

    ``counts`` are of the cells that are not missing, without blanks around them; numbers are
    written plainly. ``spelling`` says how they are written in the file, and ``first`` is one.
    """

    counts: Counter[str]
    spelling: Spelling | None
    first: str
    rows: int
    has_lists: bool


def count_cells(values: Iterable[Any]) -> FirstCells:
    """Count the first cells of a column.

    >>> count_cells(["$1,234.50", None, "$7"]).counts
    Counter({'1234.5': 1, '7': 1})
    """
    values = list(values)
    has_lists, counts = any(isinstance(value, list | dict) for value in values), Counter[str]()
    for value, count in Counter(map(str, values) if has_lists else values).items():
        if (known := clean(value)) is not None:
            counts[str(known)] += count
    spelling, first = find_spelling(list(counts)), next(iter(counts), "")
    if spelling is not None and spelling.unit.isalpha():
        spelling = None  # "5 stars" is a class
    if spelling is not None:
        plain = Counter[str]()
        for cell, count in counts.items():
            plain[f"{spelling.number(cell):.15g}"] += count
        counts = plain
    return FirstCells(counts, spelling, first, len(values), has_lists)


def with_label(
    recipe: FeatureRecipe, names: ColumnNames, cells: Callable[[int], FirstCells]
) -> Resolved:
    """Return the recipe of a new table with the name of its label, and what to note about it.

    Without a stated label it is the first column that holds classes among those with a usual name
    and the last one whose cells differ, else one with a usual name that holds numbers. A column
    that is empty, or has one value in all rows, is not the label because of its name.
    """
    if recipe.columns is not None or recipe.label is False:
        return recipe, {}
    if not len(names):
        raise file_error("no-columns", names.source, "has no columns to learn from")
    stated, label = recipe.label is not None, recipe.label
    usual = find_usual_labels(names.names) if label is None else [names.number(label)]
    last, named = len(names) - 1, usual
    if label is None and recipe.numbers is None:
        usual = [j for j in usual if tells_rows_apart(cells(j)) or cells(j).rows < FEW_ROWS]
    if not usual:
        last = next((j for j in range(last, -1, -1) if tells_rows_apart(cells(j))), last)
    if named and not usual and not holds_classes(cells(last)):
        usual = named
    places = usual if stated else list(dict.fromkeys([*usual, last]))
    if recipe.labels_separator is not None:
        return replace(recipe, label=names.names[places[0]], numbers=False), {}
    good = [place for place in places if recipe.numbers or holds_classes(cells(place))]
    if not (good or named or holds_numbers(cells(last))):  # the only column of classes is taken
        alone = [j for j in range(last) if holds_classes(cells(j)) and len(cells(j).counts) > 1]
        good = alone if len(alone) == 1 else []
    if not good and not stated and not (usual and holds_numbers(cells(usual[0]))):
        raise no_label_error(names, places[0], cells)
    place = good[0] if good else places[0]
    label = names.names[place]
    recipe, codes = with_numbers(replace(recipe, label=label), cells(place))
    separator = None if recipe.numbers else find_separator(cells(place))
    codes = codes if separator is None else ["label-separated"]
    about = {"name": label, "values": len(cells(place).counts), "separator": separator}
    notices = [make_notice(code, **about) for code in codes]
    spelling, cell = cells(place).spelling, cells(place).first
    if recipe.numbers and spelling is not None:
        recipe = replace(recipe, spellings={**recipe.spellings, label: spelling})
        number = spelling.number(cell)
        notices += [make_notice("numbers-label", name=label, cell=cell, number=number)]
    alike = [] if recipe.numbers else find_alike(cells(place).counts)
    if alike:
        notices += [make_notice("label-alike", name=label, words=list_words(alike))]
    if good and place != (first := (named or places)[0]):
        notices += [make_notice("label-other", name=label, other=names.names[first])]
    others = [other for other in good[1:] if other in usual]
    others += [] if usual else find_runners_up(cells, place, last)
    if others:
        notices += [make_notice("label-guessed", name=label, other=names.names[others[0]])]
    return recipe, dict.fromkeys(notices)


def find_runners_up(cells: Callable[[int], FirstCells], place: int, last: int) -> list[int]:
    """Find the columns that may be the label instead: the first one, or one of the last.

    The first one comes first if it has far fewer classes than the label.
    """
    near = [*range(last, max(last - MOST_GUESSES, 0), -1)]
    fewer = 2 * len(cells(0).counts) < len(cells(place).counts)
    others = [0, *near] if fewer else [*near, 0]
    others = [other for other in others if other != place and cells(place).rows >= FEW_ROWS]
    return [j for j in others if len(cells(j).counts) > 1 and holds_classes(cells(j))]


def find_separator(cells: FirstCells) -> str | None:
    """Return what divides cells that hold several labels: their parts repeat, as words do.

    >>> find_separator(count_cells(["a|b", "b|c", "a|c", "a|b|c", "c|b", "b|a", "c", "a", "b"]))
    '|'
    """
    for separator in SEPARATORS:
        divided = sum(n for cell, n in cells.counts.items() if separator in cell)
        parts = {part.strip() for cell in cells.counts for part in cell.split(separator)}
        words = any(PLAIN.fullmatch(part) is None for part in parts)
        repeated = 4 * len(parts) <= 3 * len(cells.counts)
        if 5 * divided > cells.counts.total() and repeated and words:
            return separator
    return None


def tells_rows_apart(cells: FirstCells) -> bool:
    """Whether cells differ, or may do so below the first rows: a file may be sorted."""
    return len(cells.counts) > 1 or cells.rows >= FIRST_ROWS


def with_numbers(recipe: FeatureRecipe, cells: FirstCells) -> tuple[FeatureRecipe, list[str]]:
    """Return a recipe that says whether the label is numbers, and the codes of notices."""
    different, notes = len(cells.counts), list[str]()
    numbers = holds_numbers(cells)
    rare = different > FEW_CLASSES and cells.rows < FEW_OF_CLASS * different
    classes = holds_classes(cells) and not (numbers and rare)
    if recipe.numbers is None:
        recipe = replace(recipe, numbers=numbers and not classes)
        notes = ["label-numbers"] if recipe.numbers else notes
        notes = ["label-classes"] if classes and numbers and different > FEW_CLASSES else notes
        notes = ["label-values"] if classes and rare and not numbers else notes
        notes = ["label-order"] if classes and has_order(recipe.label, [*cells.counts]) else notes
    return recipe, notes if recipe.numbers or classes else ["label-values"]


def has_order(name: Any, labels: Sequence[str]) -> bool:
    """Whether labels look like ranks: whole numbers in a row, in a column of stars or grades.

    >>> has_order("Stars", ["1", "2", "3"]), has_order("digit", ["1", "2", "3"])
    (True, False)
    """
    if not ORDERED.search(str(name)) or not all(map(WHOLE.fullmatch, labels)):
        return False
    ranks = {int(float(label)) for label in labels}
    return 3 <= len(ranks) == max(ranks) - min(ranks) + 1 <= MOST_RANKS


def find_alike(labels: Iterable[str]) -> list[str]:
    """Find the first labels that differ only in case or blanks; none if there are none.

    >>> find_alike(["no", "yes", "No"]), find_alike(["a", "b"])
    (['no', 'No'], [])
    """
    spelled: dict[str, list[str]] = {}
    for word in labels:
        spelled.setdefault("".join(word.split()).casefold(), []).append(word)
    return next((words for words in spelled.values() if len(words) > 1), [])


def holds_numbers(cells: FirstCells) -> bool:
    """Whether cells are numbers: neither truth values nor codes such as 0012.

    A few words among many numbers are slips.

    >>> [holds_numbers(count_cells(cells)) for cells in (["1", "2.5e3", None], ["1", "a"], [True])]
    [True, False, False]
    >>> [holds_numbers(count_cells(cells)) for cells in ([*range(30), "a"], ["1", "02"])]
    [True, False]
    """
    if any(re.match(LEADING_ZEROS, cell) for cell in cells.counts):
        return False
    known = cells.counts.total()
    words = sum(n for cell, n in cells.counts.items() if PLAIN.fullmatch(cell) is None)
    slips = max(1, STRAY * known) if known > FEW_ROWS else 0
    return known > 2 * words and words <= slips


def find_usual_labels(names: Sequence[str]) -> list[int]:
    """Return the places of columns with a usual name of a label, the most usual first.

    >>> find_usual_labels(["x", "y", "Label"])
    [2, 1]
    """
    lower = [name.lower() for name in names]
    return [lower.index(name) for name in LABEL_NAMES if name in lower]


def no_label_error(
    names: ColumnNames, place: int, cells: Callable[[int], FirstCells]
) -> InputError:
    """Return the error of a table whose label cannot be guessed, with the columns it could be."""
    found = [name for j, name in enumerate(names.names) if holds_classes(cells(j))]
    others = f" It could be one of: {', '.join(found[:10])}." if found else ""
    name = names.names[place]
    what = f"has no label: {name!r} holds too many different values to be classes.{others} Use "
    separator = find_separator(cells(place))
    if separator is not None:
        what += f"label={name!r} and labels_separator={separator!r} to learn each of its labels"
    elif holds_numbers(cells(place)):
        what += f"label={name!r} to learn numbers, or another column"
    else:
        what += "label to choose one"
    return file_error("no-label-column", names.source, what, column=name)


def holds_classes(cells: FirstCells) -> bool:
    """Whether cells may be classes: they repeat, and are not many numbers with decimals.

    >>> [holds_classes(count_cells(cells)) for cells in (["a", "b"] * 20, range(40), [None] * 99)]
    [True, False, True]
    >>> holds_classes(count_cells(j % 40 / 8 for j in range(900)))
    False
    >>> holds_classes(count_cells([2.5, 3.7, 1.9, 4.1]))
    False
    """
    known, different = cells.counts.total(), len(cells.counts)
    if cells.has_lists:
        return True
    if known >= FEW_ROWS and 2 * different > known:
        return False
    fractions = sum(FRACTION.fullmatch(cell) is not None for cell in cells.counts)
    if known >= FEW_ROWS:
        return different <= FEW_DECIMALS or not fractions
    numbers = 2 * different > known > 3 and all(map(PLAIN.fullmatch, cells.counts))
    return not (fractions == different >= max(known, 3) or (fractions and numbers))
