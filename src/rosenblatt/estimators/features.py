"""Tables, dicts and texts as rows for a classifier, at the speed of the readers."""

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..data.rows import Array, n_rows, to_matrix
from ..reading.reader import Reader, read, read_whole
from ..reading.tables import TEXT, array_to_table, to_table


class Features(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Make rows of numbers of a table: numbers of one size, words and texts hashed.

    It takes a data frame (pandas, polars), an Arrow table, a list of dicts, a list of strings, an
    array or the path of a file, and gives a CSR matrix, or an array when all columns are numbers.
    It is what ``rosenblatt train`` does to a file, and what a model file keeps.

    Parameters
    ----------
    text : str or sequence of str, default=()
        Columns that become hashed n-grams of words; a list of strings is such a column.
        ``"title:1-2"`` and ``"title:c2-4"`` say which n-grams of words or characters.
    category : str or sequence of str, default=()
        Columns of words that look like numbers.
    ngrams : tuple of int or None, default=None
        The least and the most words in an n-gram: (1, 2) unless stated; of characters (2, 4).
    characters : bool, default=False
        Whether n-grams are of characters.
    counts : {"raw", "binary", "sublinear"}, default="binary"
        How often an n-gram is in a text: as it is, 1, or 1 and its logarithm.
    tfidf : bool or None, default=None
        Whether rare n-grams weigh more; None does so unless the rows can be read only once.
    bits : int or None, default=None
        Hashed features get 2^bits columns: 18 unless stated, or 20 with text.
    cross : str or sequence of str, default=()
        ``"A,B"`` adds the products of the features of two columns.
    pairs : bool, default=False
        Whether to add the products of every two features of a row.
    scale : {"auto", "none", "standard", "maxabs", "robust"}, default="auto"
        How numbers are brought to one size, by statistics of the rows to fit; "auto" takes from
        each its column's mean and divides it by the standard deviation.
    ignore : str or sequence of str, default=()
        Columns that are no features.
    label : str, int, False or None, default=False
        A column that is no feature; the one that a file has, by name or number.

    Attributes
    ----------
    recipe_ : dict
        How features are made, as JSON values; a model file keeps it.
    n_features_out_ : int
        How many columns come out.

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
    """

    def __init__(
        self,
        *,
        text: Any = (),
        category: Any = (),
        ngrams: tuple[int, int] | None = None,
        characters: bool = False,
        counts: str = "binary",
        tfidf: bool | None = None,
        bits: int | None = None,
        cross: Any = (),
        pairs: bool = False,
        scale: str = "auto",
        ignore: Any = (),
        label: str | int | bool | None = False,
    ) -> None:
        self.text = text
        self.category = category
        self.ngrams = ngrams
        self.characters = characters
        self.counts = counts
        self.tfidf = tfidf
        self.bits = bits
        self.cross = cross
        self.pairs = pairs
        self.scale = scale
        self.ignore = ignore
        self.label = label

    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Find out what the columns hold.

        Parameters
        ----------
        X : data frame, Arrow table, list of dicts, list of strings, array or path
            The table.
        y : None
            Not used.

        Returns
        -------
        self
            The fitted features.
        """
        reader = self._reader(X)
        width = reader.parser.width
        if reader.hashed or reader.format == "svmlight":  # which all its rows tell
            width = max((batch.width for batch in reader), default=width)
        self._keep(reader, width)
        return self

    def fit_transform(self, X: Any, y: ArrayLike | None = None) -> Any:
        """Find out what the columns hold, and give their rows; they are read once if that will do.

        Parameters
        ----------
        X : data frame, Arrow table, list of dicts, list of strings, array or path
            The table.
        y : None
            Not used.

        Returns
        -------
        csr_array or ndarray
            A row for each row of the table.
        """
        reader = self._reader(X)
        batch = read_whole(reader).batch
        self._keep(reader, batch.width)
        return own_matrix(to_matrix(batch.rows, n_rows(batch.rows), batch.width))

    def transform(self, X: Any) -> Any:
        """The rows of a table, as a CSR matrix or an array.

        Parameters
        ----------
        X : data frame, Arrow table, list of dicts, list of strings, array or path
            The table; its columns are found by name.

        Returns
        -------
        csr_array or ndarray of shape (n_samples, n_columns)
            The rows, in float32.
        """
        check_is_fitted(self, "recipe_")
        if hasattr(X, "indptr"):
            return self._rows_already(X)
        if is_array(X):
            X = self._named(np.asarray(X))
            if hasattr(X, "indptr"):
                return X
        table = to_table(X)
        if table is not None and not len(table):
            return csr_array((0, self.n_features_out_), dtype=np.float32)
        reader = read(X if table is None else table, features=self.recipe_, label=False)
        batch = read_whole(reader).batch
        known = self.n_features_out_ if reader.format == "svmlight" else batch.width
        matrix = to_matrix(batch.rows, n_rows(batch.rows), max(batch.width, known))
        return own_matrix(matrix[:, :known] if matrix.shape[1] > known else matrix)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns, as far as they are known.

        Parameters
        ----------
        input_features : None
            Not used.

        Returns
        -------
        ndarray of str objects
            ``#j`` where the name of column j is not known.
        """
        check_is_fitted(self, "recipe_")
        names = self._names
        return np.array([names.get(j, f"#{j}") for j in range(self.n_features_out_)], object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.sparse = True
        tags.no_validation = True
        return tags

    def _reader(self, X: Any) -> Reader:
        """A reader of a table with the parameters of this."""
        options = self.get_params(deep=False)
        if only_texts(X):
            options["text"] = (TEXT,)
        return read(X, **options, names=NAMES)

    def _keep(self, reader: Reader, width: int) -> None:
        """Keep what a reader has found out, and warn of what might surprise."""
        self.recipe_ = reader.features()
        for notice in reader.notices:
            if notice.kind == "column":
                warnings.warn(str(notice), stacklevel=3)
        self._keep_names(dict(reader.names), width)

    def _rows_already(self, X: Any) -> Any:
        """A sparse matrix that has been made by these features."""
        if X.shape[1] != self.n_features_out_:
            raise ValueError(
                f"The sparse X has {X.shape[1]} columns, and these features make "
                f"{self.n_features_out_}."
            )
        return X

    def _named(self, X: Array) -> Any:
        """An array as the table that the features were made of, whose columns it lacks names of."""
        if self.recipe_["rows"] != "table":
            return self._rows_already(csr_array(X))
        names = [name for name, _ in self.recipe_["columns"]]
        if X.shape[1] != len(names):
            raise ValueError(
                f"X has {X.shape[1]} columns, and these features are made of {len(names)}: "
                f"{', '.join(names[:10])}{', …' if len(names) > 10 else ''}."
            )
        return array_to_table(X).rename_columns(names)

    def _keep_names(self, names: dict[int, str], width: int) -> None:
        """Keep what is known of the columns that come out."""
        self._names, self.n_features_out_ = names, width

    @classmethod
    def _restored(cls, features: dict[str, Any], width: int) -> Self:
        """The features that a model file holds."""
        recipe = features["recipe"]
        names = [name for name in cls._get_param_names() if name in recipe and name != "label"]
        own = {name: recipe[name] for name in names}
        restored = cls(**own)
        restored.recipe_ = recipe
        restored._keep_names(dict(map(tuple, features.get("largest", []))), width)
        return restored


def is_array(X: Any) -> bool:
    """Whether rows are an array, or lists of lists."""
    if isinstance(X, np.ndarray):
        return X.ndim == 2
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], list | tuple)


def own_matrix(matrix: Any) -> Any:
    """An array or CSR matrix that may be changed, the columns of each row in ascending order."""
    if not hasattr(matrix, "indptr"):
        return writable(matrix)
    parts = writable(matrix.data), writable(matrix.indices), writable(matrix.indptr)
    own = csr_array(parts, shape=matrix.shape)
    own.sort_indices()
    return own


def writable(array: Array) -> Array:
    """An array that may be changed: the same memory if it is numpy's own, else a copy."""
    view = array.view()
    try:
        view.flags.writeable = True
    except ValueError:
        return array.copy()
    return view


NAMES = 100_000  # of hashed features that are kept


def only_texts(X: Any) -> bool:
    """Whether rows are strings alone."""
    if hasattr(X, "columns"):
        return False
    table = to_table(X)
    return table is not None and table.column_names == [TEXT]
