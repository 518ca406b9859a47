"""What every result of an evaluation says about itself, and the words for its figures."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

TITLES = {
    "average_precision": "average precision",
    "brier_score": "Brier score",
    "chunk_f1": "chunk F1",
    "f1": "F1",
    "hamming_loss": "Hamming loss",
    "macro_f1": "macro F1",
    "mae": "mean absolute error",
    "matthews_correlation": "Matthews correlation",
    "mean_rmse": "RMSE of the training mean",
    "median_mae": "MAE of the training median",
    "median_rank_error": "rank error of the median rank",
    "micro_f1": "micro F1",
    "r2": "R²",
    "rmse": "root mean squared error",
    "roc_auc": "ROC AUC",
}
"""The figures whose names are not written as their words."""


def name_figure(name: str) -> str:
    """Return the words for the name of a figure or a column.

    >>> name_figure("roc_auc"), name_figure("false_positive_rate")
    ('ROC AUC', 'false positive rate')
    """
    return TITLES.get(name, name.replace("_", " "))


def capitalize(words: str) -> str:
    """Return words with a capital letter first; other capitals stay."""
    return words[:1].upper() + words[1:]


def count(number: int, thing: str) -> str:
    """Return a number with its noun: "1 row", "2 rows", "2 classes"."""
    ending = "es" if thing.endswith("s") else "s"
    return f"{number:,} {thing}{'' if number == 1 else ending}"


def plain(value: float, digits: int = 5) -> str:
    """Return a number with some significant digits; a large one has no exponent.

    >>> plain(106230.4), plain(0.5), plain(16245.2)
    ('106230', '0.5', '16245')
    """
    return f"{float(f'{value:.{digits}g}'):.15g}"


def clip(name: str, most: int = 30) -> str:
    """Return a name that may be long, with an ellipsis after its first letters.

    >>> clip("a" * 40, 5), clip("short")
    ('aaaa…', 'short')
    """
    return name if len(name) <= most else f"{name[: most - 1]}…"


def is_defined(value: Any) -> bool:
    """Whether a value is neither None nor NaN."""
    return value is not None and not (isinstance(value, float) and math.isnan(value))


def defined(value: Any) -> Any:
    """Return a value, or None for NaN, which JSON does not have."""
    return value if is_defined(value) else None


def format_cell(value: Any, form: str) -> str:
    """Return the text of a cell; "–" for a figure that is not defined.

    >>> format_cell(0.25, ".1%"), format_cell(float("nan"), ".2f"), format_cell("yes", "")
    ('25.0%', '–', 'yes')
    """
    if not is_defined(value):
        return "–"
    return clip(str(value)) if not form else plain(value) if form == "g" else f"{value:{form}}"


class Table(NamedTuple):
    """Figures in rows and columns.

    Attributes
    ----------
    name
        Its key in JSON.
    title
        What it shows.
    columns
        The format of the cells of each column by its name: "" for words, "g" for five digits.
    rows
        The cells.
    """

    name: str
    title: str
    columns: Mapping[str, str]
    rows: Sequence[Sequence[Any]]

    def texts(self) -> list[list[str]]:
        """Return the cells as text."""
        forms = list(self.columns.values())
        return [list(map(format_cell, row, forms)) for row in self.rows]

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return the rows as JSON values."""
        return [dict(zip(self.columns, map(defined, row), strict=True)) for row in self.rows]


class Result(ABC):
    """The result of an evaluation, which the shell and JSON write alike.

    Attributes
    ----------
    in_headline
        The figures that ``headline`` has.
    metrics
        The names of figures by the names of metrics that a training may choose by.
    unknown, unknown_label, unknown_remark
        The number of rows with labels that the model does not know, one of these labels, and what
        becomes of the rows.
    full_stops
        The number of rows whose labels are classes without the full stop at their end.
    class_rows
        The rows of each class.
    positive_class, constant_class
        The one of two classes that some figures are about, and the one that all rows are predicted
        as although they have several.
    """

    in_headline: ClassVar[frozenset[str]] = frozenset()
    metrics: ClassVar[Mapping[str, str]] = {}
    unknown_remark: ClassVar[str] = "that the model does not know{example} count as errors"
    unknown: int = 0
    unknown_label: str | None = None
    full_stops: int = 0
    class_rows: Sequence[int] = ()
    positive_class: str | None = None
    constant_class: str | None = None

    @abstractmethod
    def headline(self) -> str:
        """Return the main figures in a line."""

    @abstractmethod
    def figures(self) -> Mapping[str, Any]:
        """Return the figures of all rows by name; None where one is not defined."""

    @abstractmethod
    def counts(self) -> dict[str, Any]:
        """Return what was counted, by name."""

    def tables(self) -> list[Table]:
        """Return figures by class, threshold and so on."""
        return []

    def notes(self) -> list[str]:
        """Return sentences that tell how to read the figures."""
        return []

    def __getitem__(self, name: str) -> Any:
        """Return a figure by its name."""
        return self.figures()[name]

    @property
    def score(self) -> Any:
        """The counts and sums that those of other rows can be added to."""
        return self

    def other_figures(self) -> dict[str, float]:
        """Return the defined figures that ``headline`` does not have."""
        figures = self.figures().items()
        return {k: v for k, v in figures if v is not None and k not in self.in_headline}

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as JSON values."""
        tables = {one.name: one.as_dicts() for one in self.tables()}
        figures = {name: defined(value) for name, value in self.figures().items()}
        return {**self.counts(), **figures, **tables}

    def __repr__(self) -> str:
        return describe(self, {**self.counts(), **self.figures()})


def describe(result: object, figures: Mapping[str, Any]) -> str:
    """Write a result as its class with some figures; those that are None are left out.

    >>> describe(1, {"rows": 3, "mae": 0.123456789, "log_loss": None})
    'int(rows=3, mae=0.12346)'
    """
    known = {name: value for name, value in figures.items() if value is not None}
    shown = (
        f"{name}={value:.5g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in known.items()
    )
    return f"{type(result).__name__}({', '.join(shown)})"
