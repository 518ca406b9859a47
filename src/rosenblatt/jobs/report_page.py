"""An evaluation as one HTML page: figures, curves, confusion, importances, errors to look at."""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Any, NamedTuple

import numpy as np

from .. import __version__
from ..data.targets import NumberScore, RowError
from ..disk import replace_file
from ..kernels.lines import MISSING
from ..reading.reader import Reader
from ..reading.records import read_records
from ..storage.model import Model
from .charts import Axis, Series, draw_chart
from .curves import Column, Curve, precision_recall_curve, roc_curve
from .evaluation import Evaluation, LabelSetEvaluation, SequenceEvaluation
from .importances import Importance, rank_columns

TITLES = {
    "rank_error": "Rank error",
    "median_rank_error": "Rank error of the median rank",
    "quadratic_kappa": "Quadratic kappa",
    "error": "Error",
    "log_loss": "Log loss",
    "brier_score": "Brier score",
    "roc_auc": "ROC AUC",
    "average_precision": "Average precision",
    "macro_f1": "Macro F1",
    "micro_f1": "Micro F1",
    "balanced_accuracy": "Balanced accuracy",
    "matthews_correlation": "Matthews correlation",
    "hamming_loss": "Hamming loss",
    "accuracy": "Accuracy",
    "mae": "Mean absolute error",
    "rmse": "Root mean squared error",
    "r2": "R²",
    "median_mae": "MAE of the training median",
    "mean_rmse": "RMSE of the training mean",
    "ndcg_at_10": "NDCG@10",
    "ndcg": "NDCG",
    "auc": "AUC",
}
MOST_CURVES = 8  # classes in one chart
MOST_CLASSES = 20  # in a table of confusion
MOST_COLUMNS = 25  # in the table of importances
MOST_LETTERS = 300  # of a cell
POINTS = np.linspace(0.01, 0.99, 99)
Cell = str | int | float | None


class ReportParts(NamedTuple):
    """What a page shows besides the evaluation.

    Attributes
    ----------
    model, data
        The names of both files.
    facts
        What the model is and how it was trained, in lines.
    importances
        The most important columns.
    records
        The rows of the worst errors by number, as the file writes them.
    """

    model: str
    data: str
    facts: Sequence[str] = ()
    importances: Sequence[Importance] = ()
    records: Mapping[int, Mapping[str, Any]] = {}


def make_page(found: Any, parts: ReportParts) -> str:
    """Return an evaluation as a self-contained HTML page: styles inline, no scripts."""
    sections = [section("Figures", list_figures(found))]
    if isinstance(found, Evaluation | LabelSetEvaluation):
        sections += [section("Curves", draw_curves(found)), *tabulate_all(found)]
    elif isinstance(found, SequenceEvaluation):
        sections.append(section("Tags", tabulate_classes(found.by_tag, "Tag", "Tokens")))
    if parts.importances:
        sections.append(section("Importance of columns", draw_importances(parts.importances)))
    if isinstance(found, Evaluation | NumberScore) and found.worst:
        sections.append(section("Errors to look at", tabulate_errors(found, parts.records)))
    if parts.facts:
        lines = "<br>".join(map(escape, parts.facts))
        sections.append(section("The model", f"<p>{lines}</p>"))
    page = Template(files(__package__).joinpath("report.html").read_text("utf-8"))
    return page.substitute(
        title=escape(f"{parts.model} on {parts.data}"),
        subtitle=escape(summarize(found)),
        sections="\n".join(filter(None, sections)),
        version=__version__,
    )


def write_report(
    path: str | os.PathLike[str],
    names: tuple[str, str],
    parts: tuple[Model, Any, Any],
    found: Any,
    facts: Sequence[str] = (),
) -> None:
    """Write an evaluation as an HTML page, which is replaced only when the new one is complete.

    Parameters
    ----------
    path
        The file to write.
    names
        What the model and the data are called.
    parts
        The model, its learner, and the file that it was evaluated on.
    found
        The evaluation.
    facts
        What the model is and how it was trained, in lines.
    """
    model, learner, opened = parts
    ranked: list[Importance] = []
    if learner.kind == "linear":
        ranked = rank_columns(model, learner.coefficients()[0], most=MOST_COLUMNS)
    known = isinstance(opened, Reader) and isinstance(found, Evaluation | NumberScore)
    records = find_records(opened, found.worst) if known else {}
    page = make_page(found, ReportParts(*names, facts, ranked, records))
    with replace_file(path) as temporary:
        temporary.write_text(page, encoding="utf-8")


def summarize(found: Any) -> str:
    """The number of rows and errors in a sentence."""
    if isinstance(found, SequenceEvaluation):
        return f"{found.tokens - found.right:,} of {found.tokens:,} tokens have a wrong tag."
    if not isinstance(found, Evaluation | LabelSetEvaluation):
        return f"Evaluated on {found.rows:,} rows."
    score = found.score
    return f"{score.errors:,} of {score.rows:,} rows are wrong."


def section(title: str, content: str) -> str:
    """A titled part of the page; nothing without content."""
    return f"<section><h2>{escape(title)}</h2>\n{content}\n</section>" if content else ""


def table(head: Sequence[str], rows: Iterable[Sequence[Cell]], kind: str = "") -> str:
    """A table; numbers stand at the right."""
    rows = list(rows)
    numeric = [bool(rows) and isinstance(cell, int | float) for cell in rows[0]] if rows else []
    mark = [" class='n'" if number else "" for number in numeric] or [""] * len(head)
    heads = "".join(f"<th{m}>{escape(name)}</th>" for name, m in zip(head, mark, strict=True))
    body = "".join(
        "<tr>"
        + "".join(f"<td{m}>{text(cell)}</td>" for cell, m in zip(row, mark, strict=True))
        + "</tr>"
        for row in rows
    )
    return f"<table class='{kind}'><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def text(cell: Cell) -> str:
    """The text of a cell; strings that are HTML already begin with a tag."""
    if cell is None or (isinstance(cell, float) and np.isnan(cell)):
        return "–"
    if isinstance(cell, str):
        return cell if isinstance(cell, Markup) else escape(cell)
    whole = isinstance(cell, int) or (math.isfinite(cell) and abs(cell) >= 1000)
    return f"{cell:,.0f}" if whole else f"{cell:.4f}"


class Markup(str):
    """A string that is HTML."""

    __slots__ = ()


# Sections


def list_figures(found: Any) -> str:
    """The figures of all rows."""
    if isinstance(found, SequenceEvaluation):
        figures: dict[str, Any] = {"accuracy": found.accuracy}
        if found.chunks is not None:
            figures["macro_f1"] = found.chunks[""].f1
    else:
        figures = found.as_dict() if isinstance(found, NumberScore) else found.figures()
        figures.pop("rows", None)
    shown = {name: value for name, value in figures.items() if value is not None}
    items = "".join(
        f"<div><dt>{TITLES.get(name, name.replace('_', ' ').capitalize())}</dt>"
        f"<dd>{value:.2%}</dd></div>"
        if name in ("error", "accuracy")
        else f"<div><dt>{TITLES.get(name, name.replace('_', ' ').capitalize())}</dt>"
        f"<dd>{text(value)}</dd></div>"
        for name, value in shown.items()
    )
    binned = hasattr(found, "scores") and not found.scores.exact
    note = "<p class='note'>Areas and curves come from a histogram of the scores.</p>"
    return f"<dl>{items}</dl>{note if binned else ''}"


def draw_curves(found: Evaluation | LabelSetEvaluation) -> str:
    """The ROC, precision-recall, threshold and calibration curves that there are."""
    columns = found.scores.columns()
    names = [str(name) for name in found.classes.tolist()]
    if len(columns) == 1 and len(names) == 2 and isinstance(found, Evaluation):
        names = [found.positive_class]
    drawn = [
        (name, column)
        for name, column in zip(names if columns else (), columns, strict=True)
        if column.positive.any() and not column.positive.all()
    ]
    drawn = sorted(drawn, key=lambda one: -count_positive(one[1]))[:MOST_CURVES]
    ranks = {name: column.ranks() for name, column in drawn}
    charts = []
    if ranks:
        roc = [Series(name, roc_curve(each)) for name, each in ranks.items()]
        precision = [Series(name, precision_recall_curve(each)) for name, each in ranks.items()]
        diagonal = Curve(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
        rates = Axis("false positive rate"), Axis("true positive rate")
        charts.append(draw_chart("ROC", roc, rates, diagonal))
        axes = Axis("recall"), Axis("precision")
        charts.append(draw_chart("Precision and recall", precision, axes))
    if isinstance(found, Evaluation):
        charts += draw_thresholds(found, columns) + draw_calibration(found)
    some = len(drawn) < len(columns)
    note = f"<p class='note'>Curves of the {len(drawn)} most frequent classes.</p>" if some else ""
    return f"{note}<div class='charts'>{''.join(charts)}</div>" if charts else ""


def count_positive(column: Column) -> float:
    """The number of rows of the class."""
    each = column.positive if column.weights is None else column.positive * column.weights
    return float(each.sum())


def draw_thresholds(found: Evaluation, columns: Sequence[Column]) -> list[str]:
    """Precision, recall and F1 over the threshold, of two classes."""
    if len(columns) != 1:
        return []
    name = shorten(found.positive_class)
    points, axis = POINTS, Axis(f"probability above which {name} is predicted")
    if found.chances is None:
        low, high = (float(end) for end in (columns[0].scores.min(), columns[0].scores.max()))
        points = np.linspace(low, high, 99)
        axis = Axis(f"score above which {name} is predicted", low, high)
    rows = found.thresholds(points)
    series = []
    for name in ("precision", "recall", "f1"):
        values = np.array([getattr(row, name) for row in rows])
        known = ~np.isnan(values)
        series.append(Series(name.replace("f1", "F1"), Curve(points[known], values[known])))
    return [draw_chart("Thresholds", series, (axis, Axis("")))]


def draw_calibration(found: Evaluation) -> list[str]:
    """Observed shares over predicted probabilities."""
    bins = found.calibration_curve()
    if not bins:
        return []
    x, y = (np.array([getattr(one, name) for one in bins]) for name in ("predicted", "observed"))
    two = len(found.classes) == 2
    of = shorten(found.positive_class) if two else "the predicted class"
    axes = Axis(f"probability of {of}"), Axis("share of rows that are of it")
    diagonal = Curve(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    title = f"Calibration (error {found.calibration.error:.4f})"
    return [draw_chart(title, [Series("", Curve(x, y), dots=True)], axes, diagonal)]


def tabulate_all(found: Evaluation | LabelSetEvaluation) -> list[str]:
    """The tables of classes, confusion and thresholds."""
    if isinstance(found, LabelSetEvaluation):
        return [section("Labels", tabulate_classes(found.by_class(), "Label"))]
    sections = [
        section("Confusion", tabulate_confusion(found)),
        section("Classes", tabulate_classes(found.by_class(), "Class")),
    ]
    rows = found.thresholds()
    if rows:
        what = "Score" if found.chances is None else "Probability"
        what = f"{what} of {shorten(found.positive_class)} above"
        head = [what, "Predicted", "Precision", "Recall", "False positive rate", "F1", "Error"]
        sections.append(section("Thresholds", table(head, rows)))
    return sections


def tabulate_classes(scores: Sequence[Any], heading: str, counted: str = "Rows") -> str:
    """Precision, recall and F1 of each class."""
    rows = [(str(one.label), one.precision, one.recall, one.f1, one.rows) for one in scores]
    return table([heading, "Precision", "Recall", "F1", counted], rows)


def tabulate_confusion(found: Evaluation) -> str:
    """Rows by class and predicted class, darker where there are more."""
    names = [str(name) for name in found.classes.tolist()]
    counts = found.confusion if found.unknown else found.confusion[:-1]
    lines = [*names, "not known"][: len(counts)]
    if len(names) > MOST_CLASSES:
        wrong = [
            (lines[i], names[j], int(counts[i, j]))
            for i, j in zip(*np.nonzero(counts), strict=True)
            if i != j
        ]
        wrong = sorted(wrong, key=lambda one: -one[2])[:MOST_CLASSES]
        return table(["Rows of", "Predicted as", "Rows"], wrong)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    head = "".join(f"<th class='n'>{escape(name)}</th>" for name in names)
    body = "".join(
        f"<tr><th>{escape(line)}</th>"
        + "".join(
            f"<td style='background:rgba(0,130,200,{0.6 * share:.2f})'>{int(count):,}</td>"
            for count, share in zip(row, dark, strict=True)
        )
        + "</tr>"
        for line, row, dark in zip(lines, counts, shares, strict=True)
    )
    note = "<p class='note'>Rows of a class (left) by predicted class (top).</p>"
    return f"{note}<table class='matrix'><tr><th></th>{head}</tr>{body}</table>"


def draw_importances(found: Sequence[Importance]) -> str:
    """Columns with a bar for weight × deviation."""
    most = max((one.importance or 0.0) for one in found) or 1.0
    shares = [100 * (one.importance or 0.0) / most for one in found]
    bars = [Markup(f"<div class='bar' style='width:{share:.1f}%'></div>") for share in shares]
    rows = [
        (one.name, one.importance, max(one.weights, key=abs), bar)
        for one, bar in zip(found, bars, strict=True)
    ]
    note = (
        "<p class='note'>The largest weight times the standard deviation of the column: how much "
        "the score changes if the column changes by one deviation.</p>"
    )
    return note + table(["Column", "Importance", "Largest weight", ""], rows, "bars")


def tabulate_errors(
    found: Evaluation | NumberScore, records: Mapping[int, Mapping[str, Any]]
) -> str:
    """The worst rows, with their cells if these are known."""
    if isinstance(found, NumberScore):
        sure, worst = "Error", "rows with the largest errors"
    else:
        sure = "Score" if found.chances is None else "Probability"
        worst = "wrong rows that the model was most sure about"
    named = any(one.id is not None for one in found.worst)
    head = ["Row", *(["Id"] if named else []), "Label", "Predicted", sure]
    heads = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = []
    for one in found.worst:
        cells = one.row, *([one.id] if named else []), one.label, one.predicted, one.confidence
        body.append("<tr>" + "".join(f"<td>{text(cell)}</td>" for cell in cells) + "</tr>")
        if one.row in records:
            shown = show_cells(records[one.row])
            body.append(f"<tr class='cells'><td colspan='{len(cells)}'>{shown}</td></tr>")
    note = f"<p class='note'>The {worst}.</p>"
    return f"{note}<table class='errors'><tr>{heads}</tr>{''.join(body)}</table>"


def show_cells(record: Mapping[str, Any]) -> str:
    """The cells of a row with their names; long ones are cut."""
    cells = (
        f"<b>{escape(str(name))}</b> {escape(shorten(str(value)))}"
        for name, value in record.items()
        if value not in (None, "")
    )
    return " · ".join(cells)


def shorten(cell: str) -> str:
    """A cell, cut if it is long."""
    return cell if len(cell) <= MOST_LETTERS else f"{cell[:MOST_LETTERS]}…"


def find_records(reader: Reader, errors: Sequence[RowError]) -> dict[int, dict[str, Any]]:
    """Return the rows of errors as their file writes them, by number; empty if it has no cells.

    Rows without a label are not counted. If a label is not the expected one, the rows cannot be
    matched, and the result is empty.
    """
    label, wanted = reader.parser.recipe.label, {one.row: one.label for one in errors}
    if not isinstance(label, str) or not reader.rereadable or not wanted:
        return {}
    found, number = dict[int, dict[str, Any]](), 0
    for record in read_records(reader):
        value = record.get(label)
        missing = value is None or str(value).strip() == ""
        if missing or (reader.parser.recipe.label_kind == "number" and str(value) in MISSING):
            continue
        number += 1
        if number in wanted:
            if not is_same_label(value, wanted[number]):
                return {}
            found[number] = record
            if len(found) == len(wanted):
                break
    return found


def is_same_label(cell: Any, label: str) -> bool:
    """Whether a cell holds a label: the same text, or the same number."""
    written = str(cell).strip()
    if written == label.strip():
        return True
    try:
        return float(written) == float(label)
    except ValueError:
        return False
