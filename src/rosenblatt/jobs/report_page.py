"""An evaluation as one HTML page: figures, curves, tables, importances, errors to look at."""

import os
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from .. import __version__
from ..data.results import (
    SHARES,
    Result,
    Table,
    capitalize,
    clip,
    format_cell,
    is_defined,
    name_figure,
)
from ..data.targets import RowError
from ..disk import replace_file
from ..kernels.lines import MISSING
from ..reading.reader import Reader
from ..reading.records import read_records
from ..reading.values import MISSING_LABELS
from ..storage.model import Model
from .charts import draw_chart
from .importances import Importance, rank_columns

MOST_COLUMNS = 25  # in the table of importances
MOST_LETTERS = 300  # of a cell
LONG = "s"  # the format of words that are not cut
NO_RECORDS: Mapping[int, Mapping[str, Any]] = {}


def make_page(
    found: Result,
    names: tuple[str, str],
    facts: Sequence[str] = (),
    importances: Sequence[Importance] = (),
    records: Mapping[int, Mapping[str, Any]] = NO_RECORDS,
) -> str:
    """Return an evaluation as a self-contained HTML page: styles inline, no scripts.

    Parameters
    ----------
    found
        The evaluation.
    names
        What the model and the data are called.
    facts
        What the model is and how it was trained, in lines.
    importances
        The most important columns.
    records
        The rows of the worst errors by number, as the file writes them.
    """
    charts = "".join(map(draw_chart, found.charts()))
    tables = [
        *found.tables(),
        tabulate_importances(importances),
        tabulate_errors(found.worst_title, found.worst, records),
    ]
    sections = [
        section("Figures", list_figures(found)),
        section("Curves", charts and f"<div class='charts'>{charts}</div>"),
        *(section(one.title, draw_table(one)) for one in tables if one.rows),
        section("The model", "<br>".join(map(escape, facts))),
    ]
    page = Template(files(__package__).joinpath("report.html").read_text("utf-8"))
    return page.substitute(
        title=escape(" on ".join(names)),
        subtitle=escape(f"{capitalize(found.headline())}."),
        sections="\n".join(filter(None, sections)),
        version=__version__,
    )


def write_report(
    path: str | os.PathLike[str],
    names: tuple[str, str],
    parts: tuple[Model, Any, Any],
    found: Result,
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
    records = find_records(opened, found.worst) if isinstance(opened, Reader) else {}
    page = make_page(found, names, facts, ranked, records)
    with replace_file(path) as temporary:
        temporary.write_text(page, encoding="utf-8")


def section(title: str, content: str) -> str:
    """A titled part of the page; nothing without content."""
    return f"<section><h2>{escape(title)}</h2>\n{content}\n</section>" if content else ""


def list_figures(found: Result) -> str:
    """The figures of all rows, and how to read them."""
    figures = {name: value for name, value in found.figures().items() if is_defined(value)}
    items = "".join(
        f"<div><dt>{capitalize(name_figure(name))}</dt>"
        f"<dd>{format_cell(value, choose_format(name, value))}</dd></div>"
        for name, value in figures.items()
    )
    notes = "".join(f"<p class='note'>{escape(note)}</p>" for note in found.notes())
    return f"<dl>{items}</dl>{notes}"


def choose_format(name: str, value: Any) -> str:
    """The format of a figure: shares are in per cent, and large numbers have no fractions."""
    return ".2%" if name in SHARES else ",.0f" if abs(value) >= 1000 else ".4f"


def draw_table(table: Table) -> str:
    """A table; numbers stand at the right."""
    marks = ["" if form in ("", LONG) else " class='n'" for form in table.columns.values()]
    heads = "".join(
        f"<th{mark}>{escape(capitalize(name_figure(name)))}</th>"
        for name, mark in zip(table.columns, marks, strict=True)
    )
    body = ""
    for row, texts in zip(table.rows, table.texts(), strict=True):
        total = sum(row[1:]) if table.shaded else 0
        shades = [
            f" style='background:rgba(0,130,200,{0.6 * cell / total:.2f})'"
            if total and number
            else ""
            for number, cell in enumerate(row)
        ]
        cells = zip(marks, shades, texts, strict=True)
        drawn = (f"<td{mark}{shade}>{escape(text)}</td>" for mark, shade, text in cells)
        body += f"<tr>{''.join(drawn)}</tr>"
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def tabulate_importances(found: Sequence[Importance]) -> Table:
    """Columns with their importance: how much the score changes if one changes by its deviation."""
    columns = {"column": LONG, "importance": ".4f", "largest_weight": ".4f"}
    rows = [(one.name, one.importance, max(one.weights, key=abs)) for one in found]
    title = "Importance of columns: largest weight × standard deviation"
    return Table("importances", title, columns, rows)


def tabulate_errors(
    title: str, worst: Sequence[RowError], records: Mapping[int, Mapping[str, Any]]
) -> Table:
    """The worst rows, with their cells if these are known."""
    confidence = choose_format("", max((one.confidence for one in worst), default=0.0))
    columns = {"row": ",d", "id": "", "label": "", "predicted": "", "confidence": confidence}
    rows: list[Any] = [(*one, join_cells(records.get(one.row, {}))) for one in worst]
    if all(one.id is None for one in worst):
        columns.pop("id")
        rows = [(row, *rest) for row, _, *rest in rows]
    return Table("worst", title, columns | {"cells": LONG}, rows)


def join_cells(record: Mapping[str, Any]) -> str:
    """The cells of a row with their names; long ones are cut."""
    known = {name: str(value) for name, value in record.items() if value not in (None, "")}
    return " · ".join(f"{name}: {clip(cell, MOST_LETTERS)}" for name, cell in known.items())


def find_records(reader: Reader, errors: Sequence[RowError]) -> dict[int, dict[str, Any]]:
    """Return the rows of errors as their file writes them, by number; empty if it has no cells.

    Rows without a label are not counted. If a label is not the expected one, the rows cannot be
    matched, and the result is empty.
    """
    label, wanted = reader.recipe.label, {one.row: one.label for one in errors}
    if not isinstance(label, str) or not reader.rereadable or not wanted:
        return {}
    found, number = dict[int, dict[str, Any]](), 0
    unlabelled = MISSING if reader.recipe.label_kind == "number" else MISSING_LABELS
    for record in read_records(reader):
        value = record.get(label)
        if value is None or str(value).strip() in unlabelled:
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
