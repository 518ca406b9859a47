"""``train --form``: the algorithm of a page of the textbook, update by update."""

import csv
import io
from collections.abc import Iterator
from dataclasses import fields
from math import comb
from typing import TYPE_CHECKING, Any

from ..parameters import Parameter
from ..parameters.conflicts import check_ranges
from ..parameters.tables import count as whole, flag
from .commands import CommandError
from .data import Drawable, SetOptions, print_note, read_rows
from .format import count, join_words, plain

if TYPE_CHECKING:
    from ..theory.forms import FormRun, FormUpdate
    from .train import TrainOptions

FORMS = "000", "001", "002", "002-listing", "003", "003-offset", "004"
SETTINGS = {
    "start": Parameter(None, help="Initial weights and last the bias, with commas", type=str),
    "exact": flag(False, "Compute in fractions"),
    "degree": whole(1, "Add products of up to this number of columns"),
}
"""What ``--set`` takes with ``--form``, beside the parameters of the perceptron."""
TAKEN = {"form", "verbose", "label", "format", "no_header", "epochs", "seed", "set", "json"}


def train_by_form(data: str, options: "TrainOptions") -> None:
    """Train on each class against the others (of two, on the second), and print the runs."""
    from ..theory.forms import FORMS as TITLES, train_form
    from .report import print_event, print_line

    usual = {each.name: each.default for each in fields(options)}
    others = [name for name in usual.keys() - TAKEN if getattr(options, name) != usual[name]]
    if others:
        name = min(others).replace("_", "-")
        raise CommandError(f"--form shows a page's algorithm; leave --{name} out.")
    given = dict(options.settings)
    rows = read_numbers(data, options)
    check_ranges(given, {name: SETTINGS[name] for name in SETTINGS.keys() & given.keys()})
    X, names = add_products(rows, given.pop("degree", 1))
    if "start" in given:
        given["start"] = [float(number) for number in str(given["start"]).split(",")]
    if options.epochs is not None:
        given["max_iter"] = options.epochs
    labels = rows.name_labels()
    if not options.json:
        print_line(f"Form {options.form}: {TITLES[str(options.form)].title}.")
        print_line(f"{data}: {count(X.shape[0], 'row')}, {names}")
    for label, name in list(labels.items())[len(labels) == 2 :]:
        signs = [1 if each == label else -1 for each in rows.y.tolist()]
        run = train_form(X, signs, str(options.form), random_state=options.seed, **given)
        if options.json:
            for update in run.updates if options.verbose else ():
                print_event("update", positive=name, **update._asdict())
            facts = run._asdict() | {"updates": len(run.updates)}
            print_event("run", positive=name, **facts)
            continue
        for line in describe_updates(run.updates) if options.verbose else ():
            print_line(line)
        print_line(describe_run(run, "" if len(labels) <= 2 else f"{name}: "))


def read_numbers(data: str, options: "TrainOptions") -> Drawable:
    """The rows of a file as they are written; a file of labels alone has rows of no columns."""
    import numpy as np

    given = SetOptions(options.label, None, options.format, options.no_header)
    try:
        return read_rows(data, given, exact=True)
    except ValueError as error:
        if getattr(error, "code", "") != "one-column" or data == "-":
            raise
    labels = read_labels(data, options.no_header)
    try:
        y = np.array(labels, np.int64)
    except ValueError:
        y = np.array(labels)
    return Drawable(np.zeros((len(labels), 0)), y, {})


def read_labels(data: str, no_header: bool) -> list[str]:
    """The cells of a file with one column, whose first may be its name."""
    from ..reading.sources import Source
    from ..reading.spellings import is_number

    with Source(data).open() as stream, io.TextIOWrapper(stream, "utf-8-sig") as lines:
        first, *labels = [row[0].strip() for row in csv.reader(lines) if row]
    if no_header or first in labels or is_number(first):
        labels = [first, *labels]
    print_note(f"The only column of {data} is taken as the labels ({count(len(labels), 'row')}).")
    return labels


def add_products(rows: Drawable, degree: int) -> tuple[Any, str]:
    """Add the products of up to ``degree`` different columns; also say how many there are."""
    from ..theory.forms import MOST_NUMBERS

    X, width = rows.X, rows.X.shape[1]
    names = {1: "column", 2: "pair", 3: "triple"}
    counts = {k: comb(width, k) for k in range(1, degree + 1)}
    listed = [count(n, names.get(k, "product")) + f" of {k}" * (k > 3) for k, n in counts.items()]
    total = sum(counts.values())
    said = f"{join_words(listed, 'and')}: {count(total, 'feature')}" if degree > 1 else listed[0]
    if total * X.shape[0] > MOST_NUMBERS:
        raise CommandError(
            f"{said} of {count(X.shape[0], 'row')}, but a form takes at most {MOST_NUMBERS:,} "
            "numbers; choose a lower degree or fewer rows."
        )
    if degree == 1:
        return X, said
    from sklearn.preprocessing import PolynomialFeatures

    products = PolynomialFeatures(degree, interaction_only=True, include_bias=False)
    return products.fit_transform(X), said


def describe_updates(updates: "tuple[FormUpdate, ...]") -> Iterator[str]:
    """A line for each update."""
    for each in updates:
        yield (
            f"epoch {each.epoch}  row {each.row + 1}  y = {each.sign:+}  activation "
            f"{spell(each.activation)}  →  w = ({', '.join(map(spell, each.weights))})  "
            f"b = {spell(each.bias)}"
        )


def describe_run(run: "FormRun", name: str) -> str:
    """How a run ended."""
    updates, epochs = count(len(run.updates), "update"), count(run.epochs, "epoch")
    ended = "ended without a mistake" if run.stop_reason == "separated" else "stopped"
    weights = f"w = ({', '.join(map(spell, run.weights))})" if len(run.weights) <= 8 else "w hidden"
    return (
        f"{name}{ended} after {updates} in {epochs}; {count(run.errors, 'row')} wrong; {weights}, "
        f"b = {spell(run.bias)}"
    )


def spell(number: Any) -> str:
    """A number in few digits, or an exact fraction."""
    return str(number) if hasattr(number, "numerator") else plain(float(number))
