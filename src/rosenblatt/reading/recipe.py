"""The recipe of features, which a model stores to read other files in the same way."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, NamedTuple, TypedDict

import numpy as np

from ..data.splits import Fold
from ..parameters import InputError, Parameter, ParameterError, check_ranges, count
from ..parameters.tables import FEATURES, MOST_BINS, count_from_0, is_number_of_bins
from .dates import DateForm
from .notices import Notice
from .scaling import Scale, recipe_error, unpack_array
from .sources import file_error
from .spellings import Spelling

TEXT_BITS, OTHER_BITS = 20, 18  # unless stated
WORDS, CHARACTERS = (1, 2), (2, 4)  # of an n-gram, unless stated
COUNTS = ("raw", "binary", "sublinear")
OWN_GRAMS = re.compile(r"(.+):(c?)(\d+)(?:-(\d+))?", re.DOTALL)
MOST_PAIRS = 1 << 22  # of columns
MOST_COLUMNS = 16  # of a file, for each that the model has weights for
DIGITS = re.compile(r"-?\d+")


class Frequencies(TypedDict):
    """How many texts each n-gram is in, packed, and how many texts there are."""

    counts: str
    rows: Annotated[float, lambda rows: 0 <= rows < float("inf")]


def is_rising(edges: Sequence[float]) -> bool:
    """Whether edges between bins are finite and rise, and are not too many."""
    found = np.asarray(edges, np.float64)
    return bool(np.isfinite(found).all() and (np.diff(found) > 0).all() and len(found) < MOST_BINS)


class ColumnKind(NamedTuple):
    """The kind of a column, a notice about it, and how its dates or numbers are written."""

    kind: str
    notice: Notice | None = None
    form: DateForm | None = None  # of dates
    spelling: Spelling | None = None  # of numbers that are not written plainly


@dataclass(frozen=True)
class FeatureRecipe:
    """How features are made from a file; ``rows`` is svmlight, vw or table.

    The types are what a model file may hold.
    """

    rows: Annotated[str, ("", "svmlight", "vw", "table").__contains__] = ""
    label: str | int | bool | None = None
    label_kind: str | None = None
    columns: (
        Sequence[tuple[str, Annotated[str, ("number", "category", "date", "text").__contains__]]]
        | None
    ) = None
    text: Sequence[str] = ()
    ngrams: Sequence[int] | None = (1, 1)
    characters: bool = False
    bits: int | None = None
    pairs: bool = False
    first: int | None = None
    header: bool | None = None
    delimiter: Annotated[str, lambda letter: len(letter) == 1] | None = None
    encoding: str | None = None
    ignore: Sequence[str] = ()
    id: str | int | None = None
    dates: Mapping[str, DateForm] = field(default_factory=dict)
    spellings: Mapping[str, Spelling] = field(default_factory=dict)
    grams: Mapping[str, tuple[int, int, bool]] = field(default_factory=dict)
    counts: str = "raw"
    tfidf: bool | None = False  # None: if all rows can be read twice
    frequencies: Frequencies | None = None
    scale: str = "none"
    scales: Mapping[str, Scale | str] | None = None
    labels_separator: str | None = None  # or a row has one label
    bins: Annotated[int, is_number_of_bins] = 0
    edges: Mapping[str, Annotated[Sequence[float], is_rising]] | None = None
    numbers: bool | None = False  # whether labels are numbers to predict; None: if they look so

    @property
    def is_complete(self) -> bool:
        """Whether the statistics of all rows are known."""
        lacks_edges = self.bins > 0 and self.edges is None
        lacks_scales = self.scale != "none" and self.scales is None
        return not (lacks_scales or lacks_edges or self.lacks_frequencies)

    @property
    def lacks_frequencies(self) -> bool:
        """Whether the frequencies of n-grams have not been counted yet."""
        return self.weighs_rare and self.frequencies is None

    @property
    def weighs_rare(self) -> bool:
        """Whether tf-idf is used."""
        return bool(self.text) and self.tfidf is not False

    def numeric(self) -> list[str]:
        """Return the columns that are numbers or dates, in order."""
        return [name for name, kind in self.columns or () if kind in ("number", "date")]

    def date_form(self, name: str) -> DateForm:
        """Return the form of the dates of a column, and the parts that become features."""
        return DateForm(*self.dates[name])

    def spelling(self, name: str) -> Spelling | None:
        """Return how the numbers of a column are written, or None if plainly."""
        return Spelling(*self.spellings[name]) if name in self.spellings else None

    def resolve_ngrams(self, name: str) -> tuple[int, int, bool]:
        """Return the shortest and longest n-gram of a text column, and whether of characters."""
        if name in self.grams:
            shortest, longest, characters = self.grams[name]
            return int(shortest), int(longest), bool(characters)
        shortest, longest = self.ngrams or (CHARACTERS if self.characters else WORDS)
        return shortest, longest, self.characters

    def numbered_columns(self) -> list[str]:
        """Return the feature columns of a table without a header; none if they have names."""
        named = {*(name for name, _ in self.columns or ()), *self.ignore}
        named |= set() if self.id is None else {str(self.id)}
        return sorted(named, key=int) if all(map(DIGITS.fullmatch, named)) else []


Resolved = tuple[FeatureRecipe, dict[Notice, None]]
"""The recipe for a file, which may lack statistics of its rows, and what to note about it."""
ASKED = FeatureRecipe(ngrams=None, counts="binary", tfidf=None, scale="auto", numbers=None)
"""The recipe of a reader without options."""
OF_THE_FILE = ("label", "header", "encoding", "id")
"""What may be stated about another file for the same model."""


class ReaderOptions(NamedTuple):
    """Options of reading that do not change features."""

    batch_bytes: int
    dtype: np.dtype
    names: int
    label_needed: bool
    new: bool  # or features are made as before
    category: tuple[str, ...]
    skip_bad: int
    threads: int
    fold: Fold | None = None  # which rows are kept, if not all


def read_dtype(recipe: FeatureRecipe, options: ReaderOptions) -> np.dtype:
    """Return the data type of numbers as they are read.

    Numbers that will be scaled are read in double precision: a date of today has no minutes in
    single precision.
    """
    scaled = recipe.rows == "table" and recipe.scale != "none"
    return np.dtype(np.float64) if scaled else options.dtype


def load_recipe(features: dict[str, Any], asked: FeatureRecipe) -> FeatureRecipe:
    """Load the recipe that features() wrote, with what is stated about another file."""
    stated = {name: getattr(asked, name) for name in OF_THE_FILE}
    if replace(asked, **{name: getattr(ASKED, name) for name in OF_THE_FILE}) != ASKED:
        raise ParameterError(
            "features says how features are made; leave out text, category, bits and "
            "other options of features.",
            code="features-and-options",
        )
    try:
        recipe = FeatureRecipe(**features)
    except TypeError as error:
        raise recipe_error() from error
    return replace(recipe, **{name: value for name, value in stated.items() if value is not None})


def check_stored_recipe(features: Mapping[str, Any], width: int) -> None:
    """Refuse the recipe of a model file whose parts do not fit together, or the model's width."""
    recipe = FeatureRecipe(**features)
    kinds, bits, packed = dict(recipe.columns or ()), recipe.bits, []
    fitting = features.keys() == vars(recipe).keys()
    fitting &= bits is None or (0 < bits < 32 and 1 << bits == width)
    fitting &= {name for name in kinds if kinds[name] == "text"} == set(recipe.text)
    fitting &= {name for name in kinds if kinds[name] == "date"} <= set(recipe.dates)
    if recipe.scales and recipe.rows == "table":
        wanted = [recipe.scales.get(name, "") for name in recipe.numeric()]
        fitting &= all(not isinstance(each, str) and len(each) == 4 for each in wanted)
    elif recipe.scales:
        fitting &= isinstance(recipe.scales.get("factors"), str)
        packed += [recipe.scales["factors"]] if fitting else []
    packed += [recipe.frequencies["counts"]] if recipe.frequencies else []
    if recipe.rows == "table":
        fitting &= {*(recipe.edges or ())} <= {name for name in kinds if kinds[name] == "number"}
    if not fitting:
        raise InputError(
            "its recipe does not fit together, or not its weights", code="recipe-and-weights"
        )
    for letters in packed:
        unpack_array(str(letters), MOST_COLUMNS * max(width, 64))


FLOATS = np.float32, np.float64
RANGES = {
    **FEATURES,
    "labels_separator": Parameter(
        None,
        "one character or more",
        lambda value: value is None or (isinstance(value, str) and value != ""),
    ),
    "dtype": Parameter(np.float32, "float32 or float64", lambda kind: np.dtype(kind) in FLOATS),
    "threads": count(1),
    "skip_bad": count_from_0(),
    "batch_bytes": count(1),
}


def check_options(recipe: FeatureRecipe, options: ReaderOptions) -> None:
    """Refuse options out of range."""
    if recipe.label is True:
        raise ParameterError(
            "label=True is not a column; give its name or number, or False for none.",
            code="out-of-range",
        )
    check_ranges(vars(recipe) | options._asdict(), RANGES)
    refuse_several_numbers(recipe)
    for least, most, *_ in recipe.grams.values():
        check_grams(least, most)


def refuse_several_numbers(recipe: FeatureRecipe) -> None:
    """Refuse several labels in a row where these are to be numbers."""
    if recipe.numbers and recipe.labels_separator is not None:
        raise ParameterError(
            "numbers is for rows of one number each, and labels_separator for several "
            "labels; leave one out.",
            code="conflict",
        )


def check_grams(shortest: int, longest: int) -> None:
    """Refuse n-grams out of range."""
    check_ranges({"ngrams": (shortest, longest)}, {"ngrams": RANGES["ngrams"]})


def make_recipe(recipe: FeatureRecipe, rows: str, source: str, **changes: Any) -> FeatureRecipe:
    """Return the recipe for a kind of rows; refuse one made for another kind."""
    if recipe.rows not in ("", rows):
        what = f"holds {rows} rows; the model expects {recipe.rows} rows"
        raise file_error("other-format", source, what)
    return replace(recipe, rows=rows, **changes)


class ColumnNames:
    """The names of the columns of a table, and their places."""

    def __init__(self, names: Sequence[str], source: str) -> None:
        self.names, self.source = list(names), source
        self.numbers = {name: number for number, name in enumerate(self.names)}
        if len(self.numbers) < len(self.names):
            twice = next(name for name, count in Counter(self.names).items() if count > 1)
            what = f"has two columns that are called {twice!r}"
            raise file_error("same-names", source, what, column=twice)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.numbers

    def number(self, column: str | int) -> int:
        """Return the place of a column by its name or, if no column has that name, its number."""
        if isinstance(column, str):
            if column in self.numbers or column.strip() in self.numbers:
                return self.named(column)
            column = int(column) if DIGITS.fullmatch(column) else column
        if isinstance(column, int) and -len(self) <= column < len(self):
            return column % len(self)
        raise self.no_column_error(column)

    def named(self, name: str) -> int:
        """Return the place of a column by its name."""
        found = self.numbers.get(name, self.numbers.get(name.strip()))
        if found is None:
            raise self.no_column_error(name)
        return found

    def no_column_error(self, column: Any) -> InputError:
        """Return the error of a column that is not there."""
        there = ", ".join(name[:40] for name in self.names[:20]) + (", …" if len(self) > 20 else "")
        what = f"has no column {column!r}; there are: {there}"
        return file_error("no-column", self.source, what, column=column)

    def label(self, recipe: FeatureRecipe, needed: bool) -> int | None:
        """Return the place of the label, or None."""
        label = recipe.label
        if label is None or label is False or (label not in self.numbers and not needed):
            return None
        return self.number(label)

    def find_names(self, columns: Iterable[str | int]) -> list[str]:
        """Return the names of columns given by name or number."""
        return [self.names[self.number(column)] for column in columns]


def with_columns(
    recipe: FeatureRecipe, names: ColumnNames, kinds: Sequence[ColumnKind]
) -> FeatureRecipe:
    """Decide how each column is used, and whether features are hashed."""
    if recipe.columns is None:
        recipe = with_new_columns(recipe, names, kinds)
        grams = recipe.characters or recipe.ngrams is not None
        if not recipe.text and (grams or recipe.tfidf or recipe.counts != ASKED.counts):
            what = "ngrams and characters" if grams else "counts and tfidf"
            raise ParameterError(
                f"{what} are of text; name its column: text.", code="text-without-column"
            )
        if recipe.ngrams is None and not recipe.characters and has_text_label_sets(recipe):
            recipe = replace(recipe, ngrams=(1, 1))
    if not recipe.columns:
        raise file_error("no-columns", names.source, "has no columns to learn from")
    for name, _ in recipe.columns:
        names.named(name)
    if recipe.bins and not any(kind == "number" for _, kind in recipe.columns):
        raise ParameterError(
            f"{names.source} has no columns of numbers for bins={recipe.bins!r}; leave it out.",
            code="bins-without-numbers",
        )
    if recipe.pairs and count_pairs(recipe) > MOST_PAIRS:
        raise ParameterError(
            f"pairs=True would give each row {count_pairs(recipe):,} products of two of its "
            f"{len(recipe.columns):,} columns, but at most {MOST_PAIRS:,} are made; ignore "
            "some columns.",
            code="too-many-products",
        )
    dense = not (recipe.pairs or recipe.bins)
    if dense and all(kind == "number" for _, kind in recipe.columns):
        return replace(recipe, bits=None)
    many = recipe.text and not has_text_label_sets(recipe)
    return replace(recipe, bits=recipe.bits or (TEXT_BITS if many else OTHER_BITS))


def has_text_label_sets(recipe: FeatureRecipe) -> bool:
    """Whether rows are texts with any number of labels, each with its weights.

    Pairs of words would make the model large, and worse (docs/how-defaults-were-chosen.md).
    """
    return bool(recipe.text) and recipe.labels_separator is not None


def with_new_columns(
    recipe: FeatureRecipe, names: ColumnNames, kinds: Sequence[ColumnKind]
) -> FeatureRecipe:
    """Make the recipe of a new table."""
    found = dict(zip(names.names, kinds, strict=True))
    label = None if recipe.label is False else names.find_names([str(recipe.label)])[0]
    text, grams = text_columns(recipe.text, names)
    ignore = names.find_names(recipe.ignore)
    row_name = None if recipe.id is None else names.find_names([recipe.id])[0]
    uses = Counter([*{*text}, *{*ignore}, label, row_name])
    for name, times in uses.items():
        if name is not None and times > 1:
            raise ParameterError(
                f"The column {name!r} can be one of label, text, ignore and id only.",
                code="column-twice",
            )
    kept = {
        name: "text" if name in text else "number" if each.kind == "boolean" else each.kind
        for name, each in found.items()
        if each.kind and name not in (label, row_name, *ignore)
    }
    dates: dict[str, Any] = {name: found[name].form for name in kept if kept[name] == "date"}
    numbers = (name for name in kept if kept[name] == "number" and found[name].spelling)
    spellings: Any = {name: found[name].spelling for name in numbers}
    return replace(
        recipe,
        label=label,
        label_kind=None if label is None else label_kind(found[label], recipe),
        columns=list(kept.items()),
        text=[name for name in kept if kept[name] == "text"],
        grams=grams,
        dates=dates,
        spellings={**recipe.spellings, **spellings},
        ignore=ignore,
        id=row_name,
    )


def label_kind(found: ColumnKind, recipe: FeatureRecipe = ASKED) -> str:
    """Return how labels of a kind are read; empty if they cannot be."""
    if recipe.labels_separator is not None or (found.spelling and not recipe.numbers):
        return "category"
    kind = "number" if recipe.numbers and found.kind == "category" else found.kind
    return kind if kind in ("number", "boolean", "") else "category"


def text_columns(stated: Sequence[str], names: ColumnNames) -> tuple[list[str], dict[str, Any]]:
    """Return the names of text columns, and the n-grams that some state: "title:1-2"."""
    found, grams = [], {}
    for name in stated:
        own = None if name in names else OWN_GRAMS.fullmatch(str(name))
        column = names.find_names([own[1] if own else name])[0]
        found.append(column)
        if own:
            shortest, longest = int(own[3]), int(own[4] or own[3])
            check_grams(shortest, longest)
            grams[column] = [shortest, longest, bool(own[2])]
    return found, grams


def collect_notices(
    recipe: FeatureRecipe, asked: FeatureRecipe, names: ColumnNames, kinds: Sequence[ColumnKind]
) -> dict[Notice, None]:
    """Collect the notices of columns that are used as they were found, and not as was asked."""
    stated, _ = text_columns(asked.text, names)
    kept = {str(name): kind for name, kind in recipe.columns or () if name not in stated}
    pairs = zip(names.names, kinds, strict=True)
    return {one.notice: None for name, one in pairs if one.notice and kept.get(name) == one.kind}


def count_pairs(recipe: FeatureRecipe) -> int:
    """Return how many pairs of columns each row of a table has, at least."""
    binned = sum(kind == "number" for _, kind in recipe.columns or ()) if recipe.bins else 0
    features = len(recipe.columns or ()) + binned
    return features * (features - 1) // 2
