"""``train --form``: the algorithm of a page of the textbook, update by update."""

from dataclasses import fields
from math import comb
from typing import TYPE_CHECKING, Any

from ..parameters import Parameter
from ..parameters.conflicts import check_ranges
from ..parameters.tables import count as whole, flag
from .commands import CommandError
from .data import Drawable, SetOptions, read_rows
from .format import count, plain
from .output import print_lines, print_note

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
TAKEN = {"form", "verbose", "label", "format", "no_header", "epochs", "seed", "set"}


def train_by_form(data: str, options: "TrainOptions") -> None:
    """Train on each class against the others (of two, on the second), and print the runs."""
    from ..theory.forms import FORMS as TITLES, train_form

    for each in fields(options):
        if each.name not in TAKEN and getattr(options, each.name) != each.default:
            name = each.name.replace("_", "-")
            raise CommandError(f"--form shows a page's algorithm; leave --{name} out.")
    given, form = dict(options.settings), str(options.form)
    columns = SetOptions(options.label, None, options.format, options.no_header)
    try:
        rows = read_rows(data, columns, exact=True)
    except ValueError as error:
        if getattr(error, "code", "") != "one-column":
            raise
        rows = read_labels(data, options.no_header)
    check_ranges(given, {name: SETTINGS[name] for name in SETTINGS.keys() & given.keys()})
    if "start" in given:
        given["start"] = [float(number) for number in str(given["start"]).split(",")]
    if options.epochs is not None:
        given["max_iter"] = options.epochs
    X, names = add_products(rows.X, given.pop("degree", 1))
    size = f"{count(X.shape[0], 'row')}, {names}"
    print_lines([f"Form {form}: {TITLES[form].title}.", f"{data}: {size}"])
    labels = rows.list_labels()
    for label in labels[len(labels) == 2 :]:
        signs = [1 if each == label else -1 for each in rows.y.tolist()]
        run = train_form(X, signs, form, random_state=options.seed, **given)
        shown = run.updates if options.verbose else ()
        name = "" if len(labels) <= 2 else f"{label}: "
        print_lines([*map(describe_update, shown), name + describe_run(run)])


def read_labels(data: str, no_header: bool) -> Drawable:
    """Read a file of labels alone, perhaps below a name, as rows without columns."""
    import csv
    import io

    import numpy as np

    from ..reading.sources import Source
    from ..reading.spellings import is_number

    with Source(data).open() as stream, io.TextIOWrapper(stream, "utf-8-sig") as lines:
        labels = [row[0].strip() for row in csv.reader(lines) if row]
    if not (no_header or labels[0] in labels[1:] or is_number(labels[0])):
        del labels[0]
    print_note(f"The only column of {data} is taken as the labels ({count(len(labels), 'row')}).")
    try:
        y = np.array(labels, np.int64)
    except ValueError:
        y = np.array(labels)
    return Drawable(np.zeros((len(labels), 0)), y, {})


def add_products(X: Any, degree: int) -> tuple[Any, str]:
    """Add the products of up to ``degree`` different columns; also say how many there are."""
    from ..theory.forms import MOST_NUMBERS

    names = {1: "column", 2: "pair", 3: "triple"}
    counts = {k: comb(X.shape[1], k) for k in range(1, degree + 1)}
    listed = ", ".join(count(n, names.get(k, "larger product")) for k, n in counts.items())
    if sum(counts.values()) * X.shape[0] > MOST_NUMBERS:
        raise CommandError(
            f"{listed} of {count(X.shape[0], 'row')}, but a form takes at most {MOST_NUMBERS:,} "
            "numbers; choose a lower degree or fewer rows."
        )
    if degree == 1:
        return X, listed
    from sklearn.preprocessing import PolynomialFeatures

    products = PolynomialFeatures(degree, interaction_only=True, include_bias=False)
    return products.fit_transform(X), listed


def describe_update(update: "FormUpdate") -> str:
    """What an update compared with 0, and the weights after it."""
    return (
        f"epoch {update.epoch}  row {update.row + 1}  y = {update.sign:+}  activation "
        f"{spell(update.activation)}  →  w = ({', '.join(map(spell, update.weights))})  "
        f"b = {spell(update.bias)}"
    )


def describe_run(run: "FormRun") -> str:
    """How a run ended."""
    updates, epochs = count(len(run.updates), "update"), count(run.epochs, "epoch")
    ended = "ended without a mistake" if run.stop_reason == "separated" else "stopped"
    weights = f"w = ({', '.join(map(spell, run.weights))})" if len(run.weights) <= 8 else "w hidden"
    return (
        f"{ended} after {updates} in {epochs}; {count(run.errors, 'row')} wrong; {weights}, "
        f"b = {spell(run.bias)}"
    )


def spell(number: Any) -> str:
    """A number in few digits, or an exact fraction."""
    return str(number) if hasattr(number, "numerator") else plain(float(number))
