"""Results in words, for people to read."""

import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..data.targets import Score
    from ..jobs.evaluation import ClassScore, Evaluation, LabelSetEvaluation
    from ..reading.recipe import FeatureRecipe
    from ..storage.model import Model

LISTED = 8  # names in a line, unless all are asked for
SCALES = {
    "auto": "mean 0, deviation 1",
    "standard": "mean 0, deviation 1",
    "maxabs": "largest size 1",
    "robust": "median 0, quartiles 1 apart",
    "none": "as they are",
}


def count(number: int, thing: str) -> str:
    """A number with its noun: "1 row", "2 rows"."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def fold(line: str) -> str:
    """Break a line between words where a terminal would break it within one."""
    if not sys.stdout.isatty():
        return line
    width = shutil.get_terminal_size().columns
    return textwrap.fill(
        line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def errors(score: "Score") -> str:
    """An error in words; where rows may have several labels, what is wrong, and F1."""
    said = f"error {score.error:.2%}: {score.errors:,} of {count(score.rows, 'row')}"
    if score.micro_f1 is None:
        return said
    return f"{said} without exactly their labels; micro F1 {score.micro_f1:.4f}"


def summarize_run(
    stop_reason: str, updates: int, last: int | None, epochs: int, seconds: float, made: str
) -> str:
    """How a run went, in a line; ``made`` is "mistake", or "update" where right rows caused some.

    >>> summarize_run("separated", 5, 0, 2, 0.01, "mistake")
    'Separated the training data after 5 mistakes in 2 epochs (0.010 s).'
    >>> summarize_run("max_iter", 111, 8, 10, 0.016, "mistake")
    'Trained 10 epochs in 0.016 s: 111 mistakes, 8 in the last epoch.'
    """
    passes = count(epochs, "epoch")
    if stop_reason == "separated":
        return f"Separated the training data after {count(updates, made)} in {passes} " + (
            f"({seconds:.3f} s)."
        )
    reasons = {
        "zero_weights": " All weights are 0: every row ties, and ties count as right.",
        "no_improvement": " The held-out error no longer fell; kept the best weights.",
        "max_iter": "",
    }
    in_last = "" if last is None or epochs == 1 else f", {last:,} in the last epoch"
    done = f"Trained {passes} in {seconds:.3f} s: {count(updates, made)}{in_last}."
    return done + reasons.get(stop_reason, f" Stopped: {stop_reason}.")


def table(evaluation: "Evaluation", most: int = 20) -> list[str]:
    """How well each class is found, and which are taken for which."""
    classes = evaluation.by_class()
    if len(classes) > most:
        return [f"Macro F1 {evaluation.macro_f1:.4f} over {len(classes)} classes."]
    area = evaluation.roc_auc
    return [
        *by_class(classes, "class"),
        f"Macro F1 {evaluation.macro_f1:.4f}" + ("." if area is None else f", ROC AUC {area:.4f}."),
        *confusion(evaluation, [str(one.label) for one in classes]),
    ]


def table_of_labels(evaluation: "LabelSetEvaluation", most: int = 20) -> list[str]:
    """How well each label is found, and all of them together."""
    classes = evaluation.by_class()
    lines = by_class(classes, "label") if len(classes) <= most else []
    return [
        *lines,
        f"Micro F1 {evaluation.micro_f1:.4f}, macro F1 {evaluation.macro_f1:.4f} over "
        f"{count(len(classes), 'label')}; Hamming loss {evaluation.hamming_loss:.4f}.",
    ]


def by_class(classes: list["ClassScore"], heading: str) -> list[str]:
    """How well each class is found."""
    names = [str(one.label) for one in classes]
    wide = max(map(len, [*names, heading]))
    lines = [f"{heading:<{wide}}  precision  recall      F1        rows"]
    for name, one in zip(names, classes, strict=True):
        numbers = f"{one.precision:9.2%}{one.recall:8.2%}{one.f1:8.4f}{one.rows:12,d}"
        lines.append(f"{name:<{wide}}  {numbers}")
    return lines


def confusion(evaluation: "Evaluation", names: list[str], most: int = 10) -> list[str]:
    """Which classes are taken for which, if there are not too many."""
    if len(names) > most:
        return []
    counts = evaluation.confusion.tolist()
    lines = list(zip([*names, "not known"], counts, strict=True))
    lines = lines if sum(counts[-1]) else lines[:-1]
    wide = max(len(name) for name, _ in [*lines, ("rows of", [])])
    cells = [max(len(name), len(f"{max(map(max, counts)):,}")) for name in names]
    head = "  ".join(f"{name:>{size}}" for name, size in zip(names, cells, strict=True))
    text = [f"{'rows of':<{wide}}  predicted as", f"{'':<{wide}}  {head}"]
    for name, row in lines:
        numbers = "  ".join(f"{n:>{size},d}" for n, size in zip(row, cells, strict=True))
        text.append(f"{name:<{wide}}  {numbers}")
    return text


def listed(names: Iterable[Any], most: int | None = LISTED) -> str:
    """Names with commas between them; of many, the first and how many more there are.

    >>> listed("abc"), listed(range(60), most=3)
    ('a, b, c', '0, 1, 2 and 57 more')
    """
    names = [str(name) for name in names]
    shown = ", ".join(names[:most])
    more = 0 if most is None else len(names) - most
    return f"{shown} and {more:,} more" if more > 0 else shown


def list_columns(recipe: "FeatureRecipe") -> dict[str, list[str]]:
    """The columns of a table by what becomes of them."""
    kinds: dict[str, list[str]] = {}
    for name, kind in recipe.columns or ():
        kinds.setdefault(kind, []).append(name)
    left_out = [*recipe.ignore, *([str(recipe.id)] if recipe.id is not None else [])]
    return kinds | ({"ignored": left_out} if left_out else {})


def about_columns(recipe: "FeatureRecipe", most: int | None = LISTED) -> list[str]:
    """What was done to the columns of a table, in a few lines."""
    words = {
        "number": f"Numbers ({SCALES[recipe.scale]})",
        "category": "Categories",
        "text": f"Text ({about_text(recipe)})",
        "date": "Dates (their parts, and the time as a number)",
        "ignored": "Not used",
    }
    found = list_columns(recipe)
    lines = [f"{words[kind]}: {listed(found[kind], most)}" for kind in words if kind in found]
    if not isinstance(recipe.label, str):
        return lines
    if recipe.labels_separator is None:
        return [f"Label: {recipe.label}", *lines]
    return [
        f"Labels: {recipe.label} (any number, with {recipe.labels_separator!r} between)",
        *lines,
    ]


def about_margin(parameters: Mapping[str, Any]) -> list[str]:
    """The margin and the class weights that texts get by default, if there are texts."""
    if not parameters["margin"]:
        return []
    weights = ", classes of equal weight" * (parameters["class_weight"] == "balanced")
    return [f"Texts: margin {parameters['margin']:g}{weights} (turn off with --margin 0)."]


def about_tuning(facts: dict[str, Any], spell: Callable[[str, Any], str]) -> list[str]:
    """The settings that were tried and their errors, the best first."""
    splits = f", in {facts['splits']} splits" if facts["splits"] > 1 else ""
    rows, taken, usual = count(facts["held_out"], "row"), facts["best"][0], facts["usual"]
    lines = [f"Tuning: {facts['tried']} settings, {rows} held out{splits}."]
    for each in facts["best"] + ([] if usual in facts["best"] else [usual]):
        marks = ["chosen"] * (each == taken) + ["default"] * (each == usual)
        said = " ".join(spell(name, value) for name, value in each.items() if name != "error")
        lines.append(
            f"{each['error']:8.2%}  {said}{'  (' + ', '.join(marks) + ')' if marks else ''}"
        )
    return lines


def about_text(recipe: "FeatureRecipe") -> str:
    """What becomes of texts."""
    said = []
    for shortest, longest, characters in dict.fromkeys(map(recipe.resolve_ngrams, recipe.text)):
        of = "character" if characters else "word"
        size = f"{shortest}-{longest}" if longest > shortest else str(longest)
        said.append(f"{size} {of}{'s' if longest > 1 else ''}")
    return ", ".join([*said, f"{recipe.counts} counts", *["tf-idf"] * recipe.weighs_rare])


def list_kinds(model: "Model") -> str:
    """What the classes of a model are called: labels, where a row may have several."""
    return "labels" if model.is_multilabel else "classes"


def in_words(names: list[str], last: str) -> str:
    """Names in a row.

    >>> in_words(["a"], "and"), in_words(["a", "b", "c"], "or")
    ('a', 'a, b or c')
    """
    return f" {last} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def about_classes(model: "Model", most: int | None = LISTED) -> str:
    """The classes of a model, and how many rows each had in training, the largest first."""
    rows = model.facts.get("class_rows") or []
    names = [str(name) for name in model.classes.tolist()]
    if len(rows) != len(names):
        return listed(names, most)
    pairs = sorted(zip(rows, names, strict=True), key=lambda pair: -pair[0])
    return listed((f"{name} ({n:,})" for n, name in pairs), most)
