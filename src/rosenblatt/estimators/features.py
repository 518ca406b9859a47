"""Tables, dicts and texts as rows of numbers for a classifier."""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..data.rows import Array, view_rows
from ..reading.reader import Reader, read, read_whole
from ..reading.scaling import sparse_scaling
from ..reading.statistics import next_statistics
from ..reading.tables import TEXT, array_to_table, to_table
from .constructors import estimator

NAMES = 100_000  # largest number of hashed features whose names are kept
MOST_DENSE = 2**27  # numbers of a sparse result that set_output makes a data frame


@estimator
class Features(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Convert a table to rows of numbers: scale numbers, hash words and texts.

    The input is a data frame (pandas, polars), an Arrow table, an object with an Arrow stream
    (DuckDB), a list of dicts, a list of strings, an array or the path of a file. The result is a
    CSR matrix, or an array if all columns are numbers. ``rosenblatt train`` does the same to a
    file, and a model file holds the recipe.

    Parameters
    ----------
    text : str or sequence of str, default=()
        Columns of text, which become hashed n-grams. ``"title:1-2"`` and ``"title:c2-4"`` choose
        the n-grams of words or characters of one column. A list of strings is a column of text.
    category : str or sequence of str, default=()
        Columns of words that look like numbers.
    ngrams : tuple of int or None, default=None
        Shortest and longest n-gram; None means (1, 2) words or (2, 4) characters.
    characters : bool, default=False
        Whether n-grams consist of characters instead of words.
    counts : {"raw", "binary", "sublinear"}, default="binary"
        Value of an n-gram that occurs c times in a text: c, 1, or 1 + log c.
    tfidf : bool or None, default=None
        Whether rare n-grams get larger values; None means yes, unless the rows can be read only
        once.
    bits : int or None, default=None
        Hashed features get 2^bits columns; None means 18, or 20 with text.
    pairs : bool, default=False
        Whether to add the products of every two features of a row.
    bins : int, default=0
        Number of quantile bins of each column of numbers, 2 to 255; each bin is one more feature.
        0 for no bins.
    scale : {"auto", "none", "standard", "maxabs"}, default="auto"
        How numbers are scaled: "standard" subtracts the mean and divides by the standard deviation,
        "maxabs" divides by the largest magnitude. "auto" is
        "standard", except that columns that are mostly 0 stay sparse beside hashed features.
    ignore : str or sequence of str, default=()
        Columns to leave out.
    label : str, int, False or None, default=False
        The column of the label, which is left out: a name or number, None to detect it, False if
        there is none.
    compact : bool, default=False
        Whether to drop the columns that are 0 in all rows of ``fit``. Hashed features have 2^bits
        columns, most of them empty; estimators that are slow for many columns, and data frames,
        need this.

    Attributes
    ----------
    recipe_ : dict
        How features are made, as JSON values.
    n_features_out_ : int
        Number of columns of the result.
    columns_ : ndarray of shape (n_features_out,) or None
        With ``compact=True``, the columns that are kept.

    See Also
    --------
    train : Features and a classifier in one call.
    read : The same for files of any size, in batches.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> from sklearn.pipeline import make_pipeline
    >>> rows = [{"colour": "red", "size": 3}, {"colour": "blue", "size": 1}]
    >>> model = make_pipeline(Features(), Perceptron()).fit(rows, ["a", "b"])
    >>> model.predict([{"size": 2, "colour": "red"}]).tolist()
    ['a']
    >>> Features(compact=True).fit(rows).get_feature_names_out().tolist()
    ['colour=blue', 'colour=red', 'size']
    """

    text: Any = ()
    category: Any = ()
    ngrams: tuple[int, int] | None = None
    characters: bool = False
    counts: str = "binary"
    tfidf: bool | None = None
    bits: int | None = None
    pairs: bool = False
    bins: int = 0
    scale: str = "auto"
    ignore: Any = ()
    label: str | int | bool | None = False
    compact: bool = False

    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Detect the kinds of the columns and compute their statistics.

        Parameters
        ----------
        X : data frame, Arrow table, list of dicts, list of strings, array or path
            The table.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted transformer.
        """
        reader = self._open(X)
        reader.complete_recipe()
        width = reader.parser.width
        occurring: list[Any] = []
        if self.compact or reader.hashed or reader.format == "svmlight":  # only the rows tell
            for batch in reader:
                width = max(width, batch.width)
                occurring.append(find_columns(batch.X) if self.compact else [])
        self._keep(reader, width, occurring)
        return self

    def partial_fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Update the statistics of the columns with a batch of rows.

        The first batch decides the columns and their kinds. Scales and the
        frequencies of n-grams come from all batches so far, so that a later ``transform`` may give
        other values.

        Parameters
        ----------
        X : data frame, Arrow table, list of dicts, list of strings, array or path
            The rows.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted transformer.
        """
        if self.compact:
            raise ValueError("compact drops columns by all rows; use compact=False with batches.")
        statistics, names, least = deepcopy(getattr(self, "_statistics", None)), dict[int, str](), 0
        reader = self._open(X)
        if statistics is not None:
            unknown = dict.fromkeys(("scales", "frequencies", "edges"))
            recipe, table = self.recipe_ | unknown | {"tfidf": self.tfidf}, to_table(X)
            reader = read(X if table is None else table, features=recipe, label=False, names=NAMES)
            names, least = self.__dict__["_names"], self.__dict__["_width"]
        statistics = statistics or {}
        while not reader.recipe.is_complete:
            survey = next_statistics(reader)
            kind = type(survey).__name__
            vars(survey).update(statistics.get(kind, {}))
            if survey.seen is not None:
                for batch in survey.batches():
                    survey.add(batch)
                kept = ("seen", "rows", "texts")
                statistics[kind] = {name: getattr(survey, name, 0) for name in kept}
            reader.adopt(survey.result())
        width = max([least, reader.parser.width, *(batch.width for batch in reader)])
        self._keep(reader, width, [])
        self._names |= names
        self._statistics = statistics
        return self

    def fit_transform(self, X: Any, y: ArrayLike | None = None) -> Any:
        """Fit to a table and convert its rows, reading them once where possible.

        Parameters
        ----------
        X : data frame, Arrow table, list of dicts, list of strings, array or path
            The table.
        y : None
            Ignored.

        Returns
        -------
        csr_array or ndarray of shape (n_samples, n_features_out)
            The rows, in float32.
        """
        reader = self._open(X)
        matrix = to_writable(read_whole(reader).X)
        self._keep(reader, matrix.shape[1], [find_columns(matrix)] if self.compact else [])
        return self._finish(matrix)

    def transform(self, X: Any) -> Any:
        """Convert the rows of a table.

        Parameters
        ----------
        X : data frame, Arrow table, list of dicts, list of strings, array or path
            The table; its columns are found by name.

        Returns
        -------
        csr_array or ndarray of shape (n_samples, n_features_out)
            The rows, in float32.
        """
        check_is_fitted(self, "recipe_")
        if hasattr(X, "tocsr"):
            X = X.tocsr()
        if is_array(X) and self.recipe_["rows"] != "table":
            X = csr_array(np.asarray(X))
        if hasattr(X, "indptr"):
            if self.recipe_["bits"] is not None:  # only these features can have made it
                return self._check_width(X, self.n_features_out_)
            if self.recipe_["rows"] != "table":
                return self._finish(self._scale_sparse(X))
            X = X.toarray()
        if is_array(X):
            X = self._name_columns(np.asarray(X))
        table = to_table(X)
        if table is not None and not len(table):
            return self._finish(csr_array((0, self._width), dtype=np.float32))
        reader = read(X if table is None else table, features=self.recipe_, label=False)
        matrix = to_writable(read_whole(reader).X)
        if reader.format == "svmlight" and matrix.shape[1] < self._width:
            matrix.resize(matrix.shape[0], self._width)
        return self._finish(matrix[:, : self._width] if matrix.shape[1] > self._width else matrix)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns of the result.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str objects
            The names; ``#j`` if the name of column j is not known.
        """
        check_is_fitted(self, "recipe_")
        numbers = range(self._width) if self.columns_ is None else self.columns_.tolist()
        return np.array([self._names.get(j, f"#{j}") for j in numbers], object)

    @classmethod
    def from_recipe(cls, features: dict[str, Any], width: int) -> Self:
        """Make the features of a model file.

        :meta private:
        """
        recipe = features["recipe"]
        names = [name for name in cls._get_param_names() if name in recipe and name != "label"]
        made = cls(**{name: recipe[name] for name in names})
        made.recipe_, made.columns_ = recipe, None
        made._names = dict(map(tuple, features.get("largest", [])))
        made._width = made.n_features_out_ = width
        return made

    def to_recipe(self) -> dict[str, Any]:
        """Return the recipe and the names of columns for a model file.

        :meta private:
        """
        if self.columns_ is not None:
            raise ValueError(
                "A model file cannot hold Features(compact=True), which renumbers columns; fit the "
                "pipeline with compact=False, which predicts the same."
            )
        return {"recipe": self.recipe_, "largest": sorted(self._names.items())[:1000]}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.no_validation = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _open(self, X: Any) -> Reader:
        """Return a reader of a table."""
        if issparse(X):
            raise ValueError(
                "Features are fitted to tables, but X is sparse; scale it by scikit-learn's "
                "MaxAbsScaler, or give X.toarray()."
            )
        options, table = self.get_params(deep=False), to_table(X)
        del options["compact"]
        if table is not None and table.column_names == [TEXT] and not hasattr(X, "columns"):
            options["text"] = (TEXT,)  # a list of strings
        return read(X if table is None else table, **options, names=NAMES)

    def _keep(self, reader: Reader, width: int, occurring: list[Any]) -> None:
        """Set the fitted attributes, and warn of columns that were read in an unusual way."""
        self.__dict__.pop("_statistics", None)  # of earlier batches
        self.recipe_ = reader.features()
        for notice in reader.notices:
            if notice.kind == "column":
                warnings.warn(str(notice), stacklevel=3)
        self._names, self._width, self.columns_ = dict(reader.names), width, None
        if self.compact:
            self.columns_ = np.unique(np.concatenate(occurring)).astype(int)
        self.n_features_out_ = width if self.columns_ is None else len(self.columns_)

    def _finish(self, matrix: Any) -> Any:
        """Drop empty columns, and make the rows dense for data frames."""
        matrix = matrix if self.columns_ is None else matrix[:, self.columns_]
        output = getattr(self, "_sklearn_output_config", get_config())
        wanted = output.get("transform", output.get("transform_output", "default"))
        if wanted == "default" or not hasattr(matrix, "indptr"):
            return matrix
        rows, width = matrix.shape
        if rows * width > MOST_DENSE:
            raise ValueError(
                f"A data frame of {rows:,} rows and {width:,} columns is too large; use "
                'Features(compact=True), or set_output(transform="default").'
            )
        return matrix.toarray()

    def _check_width(self, X: Any, width: int) -> Any:
        """Check the number of columns of a sparse matrix."""
        if X.shape[1] != width:
            raise ValueError(
                f"The sparse X has {X.shape[1]} columns, but these features have {width}."
            )
        return X

    def _scale_sparse(self, X: Any) -> Any:
        """Scale sparse rows as those of an svmlight file are."""
        matrix = csr_array(self._check_width(X, self._width), dtype=np.float32)
        scaling = sparse_scaling(self.recipe_["scales"])
        if scaling is None:
            return matrix
        values = scaling.rows(view_rows(matrix)).values
        return csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)

    def _name_columns(self, X: Array) -> Any:
        """Return an array as a table with the names of the columns of ``fit``."""
        names = [name for name, _ in self.recipe_["columns"]]
        if X.shape[1] != len(names):
            raise ValueError(
                f"X has {X.shape[1]} columns, but these features are made of {len(names)}: "
                f"{', '.join(names[:10])}{', …' if len(names) > 10 else ''}."
            )
        return array_to_table(X).rename_columns(names)


def is_array(X: Any) -> bool:
    """Whether rows are an array with two dimensions, or lists."""
    if isinstance(X, np.ndarray):
        return X.ndim == 2
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], list | tuple)


def find_columns(matrix: Any) -> Array:
    """Return the numbers of the columns that are not 0 everywhere."""
    if not hasattr(matrix, "indptr"):
        return np.arange(matrix.shape[1])
    return np.unique(matrix.indices[matrix.data != 0])


def to_writable(matrix: Any) -> Any:
    """Return an array or CSR matrix that may be changed, with sorted columns in each row."""
    if not hasattr(matrix, "indptr"):
        view = matrix.view()
        try:
            view.flags.writeable = True  # the memory is NumPy's own
        except ValueError:
            return matrix.copy()
        return view
    parts = (to_writable(part) for part in (matrix.data, matrix.indices, matrix.indptr))
    own = csr_array(tuple(parts), shape=matrix.shape)
    own.sort_indices()
    return own
