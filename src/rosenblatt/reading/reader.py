"""The reader, which reads a source in batches as often as asked."""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from ..data.labels import tidy
from ..data.results import count
from ..data.rows import n_rows, read_only
from ..data.splits import Fold, Split
from ..parameters import InputError, ParameterError
from .batches import Batch, GrowingRows, get_labels, join_batches, without_rows
from .columnar import COLUMNAR, profile_columnar
from .delimited import profile_text
from .fasttext import profile_fasttext
from .formats import DELIMITERS, TEXTS, detect_format, format_from_name
from .jsonlines import profile_json
from .lines import LineProfile, SvmlightParser, VowpalWabbitParser
from .notices import Notice, make_notice
from .parser import Parser, Profile
from .recipe import ASKED, FeatureRecipe, ReaderOptions, check_options, load_recipe
from .sources import Location, Source
from .statistics import find_on_the_way, learnt_rows, next_statistics
from .tables import TableSource, open_source
from .threads import Piece, cores, parse_in_order
from .vocabulary import FeatureNames

LINES = ("svmlight", "vw")
TABLES = (*DELIMITERS, "jsonl", "fasttext", *COLUMNAR)
FORMATS_OF_OPTIONS = {
    "header": tuple(DELIMITERS),
    "encoding": TEXTS,
    "first": ("svmlight",),
    **dict.fromkeys(("label", "category", "ignore", "id", "bins", "text"), TABLES),
    **dict.fromkeys(("ngrams", "characters", "counts", "tfidf"), TABLES),
}
"""The formats that an option is for, where these are not all."""
BATCH_BYTES = 4 << 20  # they and their rows stay near the processor
UNSCALED = 1 << 28  # bytes of numbers that wait for their scales; more are read again
Report = Callable[[Batch], None]
Result = TypeVar("Result")


def read(
    path: Any,
    *,
    format: str | None = None,  # noqa: A002
    label: str | int | bool | None = None,
    labels_separator: str | None = None,
    numbers: bool | None = None,
    category: Sequence[str] = (),
    text: Sequence[str] = (),
    ngrams: tuple[int, int] | None = None,
    characters: bool = False,
    counts: str = "binary",
    tfidf: bool | None = None,
    bits: int | None = None,
    pairs: bool = False,
    bins: int = 0,
    scale: str = "auto",
    header: bool | None = None,
    encoding: str | None = None,
    ignore: Sequence[str] = (),
    id: str | int | None = None,  # noqa: A002
    first: int | None = None,
    features: dict[str, Any] | None = None,
    skip_bad: int = 0,
    batch_bytes: int = BATCH_BYTES,
    dtype: Any = np.float32,
    names: int = 0,
    threads: int | None = None,
) -> "Reader":
    """Read a file, a folder, a pattern, ``"-"`` (standard input) or a table in batches.

    Parameters
    ----------
    path : str, path-like, open binary file, data frame, Arrow table, list of dicts or array
        A file is svmlight, VW, fastText, CSV, TSV, JSON lines, Parquet or Arrow, also compressed
        (gzip, bzip2, xz, zstd or lz4). A folder, a pattern and a list of path-like objects are
        several files of one format.
    format : str or None, default=None
        Its format, where neither the name nor the content tells.
    label : str, int, False or None, default=None
        The label's column, by name or number (from 0; -1 is the last), or False for none. Without
        it: the one called label, else class, target or y, else the last; a column that holds no
        classes is not taken. Rows without a label are left out, and ``notices`` count them.
    labels_separator : str or None, default=None
        What divides the labels of a row that may have several, or none. In svmlight it is a comma,
        and need not be stated where the first rows have some.
    numbers : bool or None, default=None
        Whether the labels are numbers to predict, and not classes. None: if nearly all are
        different numbers, or many have decimals.
    category : str or sequence of str, default=()
        Columns of words, the label's too, where the first rows look like numbers.
    text : str or sequence of str, default=()
        Columns that become hashed n-grams, each row's of length 1. ``"title:1-2"`` and
        ``"title:c2-4"`` say which n-grams of words or characters.
    ngrams : tuple of int or None, default=None
        The least and the most words in an n-gram: (1, 2) unless stated; of characters (2, 4).
    characters : bool, default=False
        Whether n-grams are of characters.
    counts : {"raw", "binary", "sublinear"}, default="binary"
        How often an n-gram is in a text: as it is, 1, or 1 and its logarithm.
    tfidf : bool or None, default=None
        Whether rare n-grams weigh more, by the texts of all rows that they are in; None does so
        where all rows can be read twice.
    bits : int or None, default=None
        Hashed features get 2^bits columns: 18 unless stated, or 20 with text.
    pairs : bool, default=False
        Whether to add the products of every two features of a row.
    bins : int, default=0
        Number of quantile bins of each column of numbers, 2 to 255; each bin is one more feature,
        so that a column may count in steps. 0 for no bins.
    scale : {"auto", "none", "standard", "maxabs"}, default="auto"
        How numbers are brought to one size: less their mean and by their standard deviation
        ("standard"), or by the largest; "auto" is standard for tables, and maxabs for svmlight and
        Vowpal Wabbit if the sizes of columns differ widely.
    header : bool or None, default=None
        Whether the first row of a CSV or TSV file holds names; None finds out.
    encoding : str or None, default=None
        Of the text of a CSV or TSV file, if that is not UTF-8.
    ignore : str or sequence of str, default=()
        Columns that are no features.
    id : str, int or None, default=None
        A column that names the rows, for ``Batch.ids``; it is no feature.
    first : {0, 1, None}, default=None
        The first index of svmlight; None finds out.
    features : dict or None, default=None
        What ``features()`` of another reader gave, to make features in the same way.
    skip_bad : int, default=0
        How many broken rows to leave out.
    batch_bytes : int, default=4194304
        About how many bytes become one batch.
    dtype : data type, default=float32
        Of the values; float32 or float64.
    names : int, default=0
        How many names of hashed features to keep.
    threads : int or None, default=None
        How many threads parse, each a batch at a time: as many as there are cores unless stated.
        The rows and their order are the same with any number.

    Returns
    -------
    Reader
        Goes through the rows in batches, as often as asked.

    See Also
    --------
    Features : The same as a transformer.
    train : From rows to a model.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> rows = [{"size": 3, "kind": "a"}, {"size": 1, "kind": "b"}]
    >>> model = Perceptron()
    >>> for batch in read(rows, label="kind"):
    ...     _ = model.partial_fit(batch.X, batch.y, classes=["a", "b"])
    >>> model.n_mistakes_
    2
    """
    given = {name: value for name, value in locals().items() if name in vars(ASKED)}
    given |= {name: as_tuple(given[name]) for name in ("text", "ignore")}
    flags = "characters", "pairs", "tfidf"
    given |= {name: given[name] == 1 for name in flags if given[name] in (0, 1)}
    if label in as_tuple(category):  # stated to be words
        given["numbers"] = False
    asked = replace(ASKED, **given)
    recipe = asked if features is None else load_recipe(features, asked)
    new = features is None
    needed = new or label is not None
    threads = cores() if threads is None else threads
    kept = np.dtype(dtype), names, needed, new, as_tuple(category), skip_bad, threads
    options = ReaderOptions(batch_bytes, *kept)
    check_options(recipe, options)
    source = open_source(path, recipe.encoding)
    is_table = isinstance(source, TableSource)
    if is_table and format is not None:
        raise ParameterError("format is about files; a table has none.", code="format-of-table")
    kind = "arrow" if is_table else detect_format(source, format, recipe.rows)
    if kind not in LINES or recipe.rows != "table":  # else refused as other rows
        refuse_options_of_others(kind, asked, options)
    return Reader(source, kind, look(source, kind, recipe, options), recipe, options)


def as_tuple(names: Sequence[str] | str | int) -> tuple[Any, ...]:
    """Return names or numbers of columns as a tuple; a single one is allowed."""
    return (names,) if isinstance(names, str | int) else tuple(names)


def look(source: Source, kind: str, recipe: FeatureRecipe, options: ReaderOptions) -> Profile:
    """Look at the head of a source of a format."""
    if kind in COLUMNAR:
        return profile_columnar(source, kind, recipe, options)
    source.select(lambda name: format_from_name(name) == kind)
    if kind in DELIMITERS:
        return profile_text(source, DELIMITERS[kind], recipe, options)
    if kind == "jsonl":
        return profile_json(source, recipe, options)
    if kind == "fasttext":
        return profile_fasttext(source)
    if kind == "svmlight":
        return LineProfile(source, SvmlightParser, look=True)
    return LineProfile(source, VowpalWabbitParser, look=options.new and source.rereadable)


def refuse_options_of_others(kind: str, recipe: FeatureRecipe, options: ReaderOptions) -> None:
    """Raise ParameterError for options that have no meaning for a format."""
    stated = {**vars(recipe), "category": options.category}
    for name, formats in FORMATS_OF_OPTIONS.items():
        is_off = stated[name] is False and name != "header"
        is_usual = is_off or stated[name] == getattr(ASKED, name, ())
        if kind not in formats and not is_usual:
            raise ParameterError(
                f"{name} is for {', '.join(formats)}, but the data are {kind}; leave it out.",
                code="option-of-format",
            )
    if kind in LINES and recipe.labels_separator not in (None, ","):
        raise ParameterError(
            f'Commas divide the labels of a line of {kind}; use labels_separator=",".',
            code="separator-of-format",
        )


class Reader:
    """Reads a source in batches, as often as asked.

    ``read`` makes one; going through it yields each ``Batch``. While and after a pass ``bad``
    counts the rows left out, ``notices`` hold what a person might not expect, and
    ``names`` gives the names of features by column.

    Parameters
    ----------
    source : Source
        Where bytes or tables come from.
    format : str
        What they are.
    profile : Profile
        What its head shows.
    requested : FeatureRecipe
        How features are to be made, as far as that is stated.
    options : ReaderOptions
        Options that do not change features.

    Attributes
    ----------
    format : str
        The format of the source.
    size : int or None
        Bytes, where known.
    hashed : bool
        Whether features got their columns by a hash.
    bits : int or None
        Then there are 2^bits columns.
    columns : list of tuple
        The names and kinds of a table's features.

    See Also
    --------
    read : Makes a reader.
    Batch : What it yields.

    Examples
    --------
    >>> reader = read([{"size": 3, "kind": "a"}, {"size": 1, "kind": "b"}], scale="none")
    >>> [batch.y.tolist() for batch in reader], reader.columns
    ([['a', 'b']], [('size', 'number')])
    """

    def __init__(
        self,
        source: Source,
        format: str,  # noqa: A002
        profile: Profile,
        requested: FeatureRecipe,
        options: ReaderOptions,
    ) -> None:
        self.format, self.size, self.source = format, source.size, source
        self.profile, self.requested, self.options = profile, requested, options
        recipe, notices = profile.resolve(requested, options)
        self.recipe = self.detected = recipe  # before and after all rows are measured
        self.bits, self.columns, self.hashed = recipe.bits, recipe.columns, recipe.bits is not None
        self.skip_bad, self.split = options.skip_bad, Split()
        self.noted = dict(notices)
        self.location = self.begin()
        self.made: Parser | None = None
        self.kept: list[Piece] | None = None  # decoded cells
        if requested.bits is not None and not self.hashed:
            self.add_notice("bits")
        if recipe.is_complete:  # one that does not fit is refused
            self.parser_for(recipe)

    @property
    def parser(self) -> Parser:
        """What makes rows by the present recipe; it is made when it is needed.

        :meta private:
        """
        return self.parser_for(self.recipe)

    def parser_for(self, recipe: FeatureRecipe) -> Parser:
        """Return the parser for a recipe: the present one, or another.

        :meta private:
        """
        if recipe is self.recipe and self.made is not None:
            return self.made
        parser = self.profile.parser(self.source, recipe, self.options, self.profile)
        parser.kept, parser.notices = self.kept, self.noted
        self.made = parser if recipe is self.recipe else self.made
        return parser

    def __iter__(self) -> Iterator[Batch]:
        self.complete_recipe()
        return self.as_read()

    def each(self, use: Callable[[Batch], Result]) -> Iterator[tuple[Batch, Result]]:
        """Yield every batch with the result of a function, which runs in the parsing threads.

        The function gets a batch before the lines and columns before it are counted.

        :meta private:
        """
        self.complete_recipe()
        return parse_in_order(self.parser, self.begin(), self.options.threads, use)

    def as_read(self) -> Iterator[Batch]:
        """Yield the batches before their numbers are scaled.

        :meta private:
        """
        return self.parser.batches(self.begin(), self.options.threads)

    def begin(self) -> Location:
        """Begin a new pass; return its ``Location``, which counts lines and skipped rows.

        :meta private:
        """
        self.location = self.locate()
        return self.location

    def locate(self) -> Location:
        """The beginning of the source.

        :meta private:
        """
        unit = "row" if self.format in COLUMNAR else "line"
        return Location(self.source.name, self.skip_bad, unit)

    def measure(self, recipe: FeatureRecipe) -> Iterator[Batch]:
        """Yield all rows by a recipe, only to measure them.

        :meta private:
        """
        return self.parser_for(recipe).aside().batches(self.locate(), self.options.threads)

    def add_notice(self, code: str, **values: Any) -> None:
        """Add a notice, unless it is there.

        :meta private:
        """
        self.noted[make_notice(code, **values)] = None

    def complete_recipe(self, report: Callable[[Batch], None] | None = None) -> None:
        """Read all rows once to complete the recipe, if need be; call ``report`` with each batch.

        :meta private:
        """
        while not self.recipe.is_complete:
            statistics = next_statistics(self)
            if statistics.seen is not None:
                for batch in statistics.batches():
                    statistics.add(batch)
                    if report is not None:
                        report(batch)
            self.adopt(statistics.result())

    def adopt(self, recipe: FeatureRecipe) -> None:
        """Continue with a recipe that statistics of all rows have completed.

        :meta private:
        """
        before, self.made, self.recipe = self.made, None, recipe
        if before is not None and recipe.rows == "vw":  # names were met on the way
            self.parser.vocabulary = before.vocabulary

    def first_rows(self) -> Iterator[Batch]:
        """Return the rows at the head of the source, which stay to be read.

        :meta private:
        """
        self.complete_recipe()
        return self.parser.first_rows()

    def mean_square(self) -> float:
        """Compute the mean squared length of the rows at the head of the source.

        :meta private:
        """
        parts = list(learnt_rows(self.first_rows(), self.split))
        values = (part.values.astype(np.float64) for part in parts)
        return sum(float(some @ some) for some in values) / max(sum(map(n_rows, parts)), 1)

    def hold_out(self, split: Split) -> None:
        """Leave held-out rows out of scales, frequencies and the bias step.

        :meta private:
        """
        if split != self.split and self.recipe is not self.detected:
            self.adopt(self.detected)  # it was measured with other rows
        self.split = split

    def keep_fold(self, fold: Fold) -> None:
        """Read only the rows of a fold, or all others, as if the source had no more.

        :meta private:
        """
        self.options = self.options._replace(fold=fold)
        self.adopt(self.recipe)

    def vary(self, **options: Any) -> "Reader":
        """Return a reader of the same rows with other features; the source is not looked at again.

        Options are those of ``read``: bins, bits, characters, counts, ngrams, pairs, tfidf, or
        text, whose columns are added to those stated.

        :meta private:
        """
        if "text" in options:
            options["text"] = (*self.requested.text, *as_tuple(options["text"]))
        requested = replace(self.requested, **options)
        check_options(requested, self.options)
        refuse_options_of_others(self.format, requested, self.options)
        other = Reader(self.source, self.format, self.profile, requested, self.options)
        other.split, other.kept, other.made = self.split, self.kept, None
        return other

    def keep_cells(self, part: Source | None = None) -> "Reader":
        """Decode all rows, or those of a part of the source, once; return their reader.

        It and what ``vary`` makes of it go through the cells in memory. A part of a file of text
        begins as the file does, with its header; a part of a table is a table.

        :meta private:
        """
        other = self.vary()
        if part is not None:
            other.source, other.size, other.split = part, part.size, Split()
            other.options = self.options._replace(fold=None)
        other.kept = other.parser.decode_pieces()
        other.made = None
        return other

    def adopt_features(self, features: dict[str, Any]) -> bool:
        """Take over the statistics of stored features if they match; return whether they do.

        :meta private:
        """
        names = ("scales", "frequencies", "edges")
        measured: dict[str, Any] = {name: features.get(name) for name in names}
        recipe = replace(self.detected, **measured)
        alike = json.dumps(asdict(recipe), sort_keys=True) == json.dumps(features, sort_keys=True)
        if alike and self.recipe != recipe:
            self.adopt(recipe)
        return alike

    @property
    def has_numbers(self) -> bool:
        """Whether labels are numbers to predict."""
        return bool(self.recipe.numbers)

    @property
    def multilabel(self) -> bool:
        """Whether a row may have any number of labels."""
        return self.recipe.labels_separator is not None

    @property
    def rereadable(self) -> bool:
        """Whether there can be another pass."""
        return self.source.rereadable

    @property
    def one_pass_statistics(self) -> bool:
        """Whether one pass can both read the rows into memory and compute their statistics.

        :meta private:
        """
        return self.recipe.rows == "table" and find_on_the_way(self) is not None

    @property
    def bad(self) -> int:
        """How many broken rows were left out in the last pass."""
        return self.location.bad

    @property
    def notices(self) -> list[Notice]:
        """What a person might not expect, and how many rows had no label in the last pass."""
        rows = self.location.unlabelled
        missing = [make_notice("label-missing", rows=count(rows, "row"))] if rows else []
        return [*self.noted, *missing]

    @property
    def names(self) -> Mapping[int, str]:
        """The names of the features that are known, by column."""
        return FeatureNames(dict(self.parser.vocabulary.known))

    def features(self) -> dict[str, Any]:
        """How the features were made, for ``read(path, features=…)``; it can be written as JSON.

        Returns
        -------
        dict
            The recipe.
        """
        self.complete_recipe()
        return asdict(self.recipe)


class OutgrownError(Exception):
    """The rows of a source take more memory than they may."""


def read_whole(
    reader: Reader, begin: Callable[[], Report] = lambda: lambda batch: None, most: float = math.inf
) -> Batch:
    """Read all batches into memory as one; raise OutgrownError if rows take over ``most`` bytes.

    Dense and sparse rows and those of one text are measured and scaled here, so that the file is
    parsed once. Rows that outgrow memory are measured to the end. So are large ones that take less
    when they are scaled, and these are read again, into their scaled form. Each pass calls what
    ``begin`` returns with its batches.
    """
    statistics, rows, parts = find_on_the_way(reader), GrowingRows(), list[Batch]()
    if statistics is None:
        reader.complete_recipe()
    size, wide, again, keeps, report = 0, 1.0, False, True, begin()
    for batch in reader.as_read():
        report(batch)
        if statistics is not None:
            statistics.add(batch)
        arrays = (array for array in (*batch.rows, batch.labels) if array is not None)
        size += sum(array.nbytes for array in arrays)
        wide = batch.rows.values.itemsize / reader.options.dtype.itemsize
        share = min(1.0, batch.bytes_read / max(reader.size or 0, 1))
        again = wide > 1 and reader.rereadable
        keeps &= size <= (min(UNSCALED * share, most * wide) if again else most)
        if keeps:
            rows.add(batch.rows)
            parts.append(without_rows(batch))
        elif statistics is None:
            raise OutgrownError
        else:
            rows, parts = GrowingRows(), []
    if not size:
        raise no_rows_error(reader)
    if statistics is not None:
        met = reader.parser.vocabulary
        reader.adopt(statistics.result())
        reader.complete_recipe()
        if reader.hashed:
            reader.parser.vocabulary = met
    if not keeps:
        if not again or size / wide > most:
            raise OutgrownError
        return read_whole(reader, begin, most)
    whole = rows.finish()
    if statistics is not None:
        return join_batches(parts, statistics.finish(reader.parser, whole))
    return join_batches(parts, whole._replace(values=read_only(whole.values)))


def read_matrix(reader: Reader) -> tuple[Any, Any]:
    """Read a whole file as an array or a CSR matrix, and its labels."""
    batch = read_whole(reader)
    return batch.X, tidy(get_labels(batch))


def no_rows_error(reader: Reader) -> InputError:
    """Return the error of a file without rows."""
    name, unlabelled = reader.source.name, reader.location.unlabelled
    why = f": none of its {count(unlabelled, 'row')} has a label" if unlabelled else ""
    return InputError(f"There are no rows to learn from in {name}{why}.", code="no-rows", file=name)


class Peeked:
    """The batches of a reader; the first one is available before the pass."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.begun: Iterator[Batch] | None = iter(reader)
        first = next(self.begun, None)
        if first is None:
            raise no_rows_error(reader)
        self.first: Batch = first

    def __iter__(self) -> Iterator[Batch]:
        begun, self.begun = self.begun, None
        return iter(self.reader) if begun is None else chain([self.first], begun)
