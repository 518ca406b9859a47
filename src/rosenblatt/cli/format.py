"""Results in words, for people to read."""

import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from .numbers import about_numbers, plain, summarize_numbers
from .ranking import about_ranking, summarize_ranking

if TYPE_CHECKING:
    from ..data.targets import Score
    from ..jobs.evaluation import ChunkScore, ClassScore, Evaluation
    from ..jobs.folds import CrossValidation
    from ..reading.recipe import FeatureRecipe
    from ..storage.model import Model

WIDTH = 80  # columns of a terminal
LISTED = 8  # names in a line, unless all are asked for
SCALES = {
    "auto": "mean 0, deviation 1",
    "standard": "mean 0, deviation 1",
    "maxabs": "largest size 1",
    "robust": "median 0, quartiles 1 apart",
    "none": "as they are",
}


def count(number: int, thing: str) -> str:
    """A number with its noun: "1 row", "2 rows", "2 classes"."""
    ending = "es" if thing.endswith("s") else "s"
    return f"{number:,} {thing}{'' if number == 1 else ending}"


def fold(line: str, stream: TextIO | None = None) -> str:
    """Break a line between words where a terminal would break it within one.

    ``stream`` is standard output unless another one is given. Options go on below the first one.
    """
    stream = stream or sys.stdout
    if not stream.isatty():
        return line
    width, place = shutil.get_terminal_size().columns, line.find("  --") + 2
    indent = place if 2 < place < width // 2 else 2
    return textwrap.fill(
        line, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )


def errors(score: "Score") -> str:
    """An error in words; of ranks also their mean difference, and of several labels F1."""
    said = f"error {score.error:.2%}: {score.errors:,} of {count(score.rows, 'row')}"
    ranks = getattr(score, "rank_error", None)
    if ranks is not None:
        return f"rank error {ranks:.4f}; {said}"
    if score.micro_f1 is None:
        return said
    return f"{said} without exactly their labels; micro F1 {score.micro_f1:.4f}"


def summarize_evaluation(found: Any) -> str:
    """The errors of a model on a file in a line; of tags also unknown words and chunks."""
    if hasattr(found, "begin_sum"):
        return summarize_other(found.as_dict())
    if not hasattr(found, "tokens"):
        return errors(found.score)
    wrong = found.tokens - found.right
    text = f"accuracy {found.accuracy:.2%}: {wrong:,} of {count(found.tokens, 'token')} wrong"
    if found.unknown:
        share = found.unknown_right / found.unknown
        text += f"; of {count(found.unknown, 'unknown word')} {share:.2%} right"
    if found.chunks is not None:
        text += f"; chunk F1 {100 * found.chunks[''].f1:.2f}"
    return text


def about_stated_metric(found: Any, metric: str) -> str:
    """The metric that settings or epochs were chosen by, as the end of a line; "" for the error."""
    names = {"auc": "roc_auc", "average-precision": "average_precision", "log-loss": "log_loss"}
    names |= {"f1": "macro_f1", "balanced": "balanced_accuracy"}
    value = found.figures().get(names.get(metric)) if hasattr(found, "confusion") else None
    if value is None:
        return ""
    two = metric == "average-precision" and len(found.classes) == 2
    about = {"metric": metric} | ({"positive_class": found.positive_class} if two else {})
    return f"; {name_metric(about)} {value:.4f}"


def summarize_other(score: Mapping[str, Any]) -> str:
    """The figures of a model that does not predict classes."""
    return summarize_numbers(score) if "mae" in score else summarize_ranking(score)


def summarize_run(
    stop_reason: str,
    updates: int,
    last: int | None,
    epochs: int,
    seconds: float,
    made: str,
    stopped_by: str = "error no longer fell",
) -> str:
    """How a run went, in a line; ``made`` is "mistake", or "update" where right rows caused some.

    ``stopped_by`` names the metric of held-out rows that ended it.

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
        "no_updates": " The last epoch made no update: the rows that are wrong are tolerated.",
        "no_improvement": f" The held-out {stopped_by}; kept the best weights.",
        "max_iter": "",
        "within_epsilon": " Every number is within epsilon.",
        "ordered": " All pairs are in order.",
    }
    in_last = "" if last is None or epochs == 1 else f", {last:,} in the last epoch"
    done = f"Trained {passes} in {seconds:.3f} s: {count(updates, made)}{in_last}."
    return done + reasons.get(stop_reason, f" Stopped: {stop_reason}.")


def about_folds(found: "CrossValidation", spread: bool) -> list[str]:
    """The errors of a cross-validation, and the spread of all figures if it is wanted."""
    score: Any = found.score
    numbers = hasattr(score, "of_median")
    other = hasattr(score, "begin_sum")
    summary = summarize_other(score.as_dict()) if other else errors(score)
    lines = [f"Cross-validation with {len(found.folds)} folds: {summary}."]
    if not spread:
        return lines
    lines.append(f"{'':<22}{'mean':>10}{'deviation':>11}{'least':>10}{'largest':>10}")
    for name, one in found.figures().items():
        form = ".2%" if name == "error" else ".4f"
        cells = (plain(value) if numbers else f"{value:{form}}" for value in one)
        sizes = (10, 11, 10, 10)
        shown = "".join(f"{cell:>{size}}" for cell, size in zip(cells, sizes, strict=True))
        lines.append(f"{name.replace('_', ' '):<22}{shown}")
    undefined = ", ".join(found.list_undefined()).replace("_", " ")
    return (
        [*lines, f"Some folds lack a class and do not define: {undefined}."] if undefined else lines
    )


def tabulate(found: Any, most: int = 20) -> list[str]:
    """Precision, recall and F1 of each class, label, tag or chunk; figures; confused classes."""
    if hasattr(found, "begin_sum"):
        return []
    if hasattr(found, "tokens"):
        lines = tabulate_classes(found.by_tag, "tag", "tokens")
        return lines if found.chunks is None else [*lines, *tabulate_chunks(found.chunks)]
    classes = found.by_class()
    label_sets = hasattr(found, "hamming_loss")
    lines = tabulate_classes(classes, "label" if label_sets else "class")
    lines = lines if len(classes) <= most else []
    over = "" if lines else f" over {count(len(classes), 'label' if label_sets else 'class')}"
    if label_sets:
        return [
            *lines,
            f"Micro F1 {found.micro_f1:.4f}, macro F1 {found.macro_f1:.4f} over "
            f"{count(len(classes), 'label')}; Hamming loss {found.hamming_loss:.4f}.",
            *about_areas(found),
        ]
    return [
        *lines,
        *about_ranks(found),
        f"Macro F1 {found.macro_f1:.4f}{over}, balanced accuracy {found.balanced_accuracy:.4f}, "
        f"Matthews correlation {found.matthews_correlation:.4f}.".replace(" nan", " –"),
        *about_areas(found),
        *about_probabilities(found),
        *confusion(found, [str(one.label) for one in classes]),
    ]


def about_ranks(found: Any) -> list[str]:
    """The mean difference of ranks beside that of the best single rank, if labels are ranks."""
    if not hasattr(found, "rank_figures") or None in found.rank_figures().values():
        return []
    own, median, kappa = found.rank_figures().values()
    return [
        f"Rank error {own:.4f} (the median rank for all: {median:.4f}), quadratic kappa "
        f"{kappa:.4f}."
    ]


def about_areas(found: Any) -> list[str]:
    """The areas under the ROC and precision-recall curves, if they are defined."""
    figures = found.figures()
    if figures["roc_auc"] is None:
        return []
    classes = found.classes
    alone = len(classes) == 2 and not hasattr(found, "hamming_loss")
    which = f"of {clip(found.positive_class)}" if alone else "mean of one against the rest"
    about = "" if found.scores.exact else "; from a histogram of the scores"
    return [
        f"ROC AUC {figures['roc_auc']:.4f}, average precision "
        f"{figures['average_precision']:.4f} ({which}{about})."
    ]


def about_probabilities(found: "Evaluation") -> list[str]:
    """The losses of probabilities, if the model gives some."""
    if found.log_loss is None:
        return []
    return [
        f"Log loss {found.log_loss:.4f}, Brier score {found.brier_score:.4f}, calibration error "
        f"{found.calibration.error:.4f}."
    ]


def about_coverage(found: Any) -> list[str]:
    """The measured coverage of prediction sets or intervals, and their mean size."""
    one = found.coverage
    size = "mean width" if hasattr(found, "of_median") else "mean set size"
    return [f"Coverage {one.asked:g}: measured {one.measured:.4f}, {size} {plain(one.size)}."]


def tabulate_curves(found: Any) -> list[str]:
    """Precision and recall at thresholds, and the calibration curve, where there are any."""
    lines = []
    thresholds = found.thresholds() if hasattr(found, "thresholds") else []
    if thresholds:
        what = "score" if found.chances is None else "probability"
        lines += [
            f"{clip(found.positive_class)} predicted above a {what}:",
            f"{what + ' above':>17} predicted precision  recall  false pos.      F1   error",
            *(
                f"{one.threshold:17.4g} {one.predicted:9.2%} {one.precision:9.2%} "
                f"{one.recall:7.2%} {one.false_positive_rate:11.2%} {one.f1:7.4f} {one.error:7.2%}"
                for one in thresholds
            ),
        ]
    curve = found.calibration_curve() if hasattr(found, "calibration_curve") else []
    if curve:
        lines += [
            f"{'probability':>17} {'rows':>11} {'mean':>9} {'observed':>9}",
            *(
                f"{one.low:11.1f} – {one.high:.1f} {one.rows:11,d} {one.predicted:9.2%} "
                f"{one.observed:9.2%}  {'█' * round(20 * one.observed)}"
                for one in curve
            ),
        ]
    return [line.replace("nan%", "–   ").rstrip() for line in lines]


def clip(name: str, most: int = 30) -> str:
    """A name that may be long, with an ellipsis after its first letters.

    >>> clip("a" * 40, 5), clip("short")
    ('aaaa…', 'short')
    """
    return name if len(name) <= most else f"{name[: most - 1]}…"


def tabulate_chunks(chunks: "dict[str, ChunkScore]") -> list[str]:
    """Precision, recall and F1 of chunks by kind, and of all."""
    from ..jobs.evaluation import ClassScore

    scores = [
        ClassScore(kind or "all", one.precision, one.recall, one.f1, one.wanted)
        for kind, one in chunks.items()
    ]
    return tabulate_classes(scores, "chunk", "chunks")


def tabulate_classes(classes: list["ClassScore"], heading: str, counted: str = "rows") -> list[str]:
    """A table of precision, recall, F1 and the number of rows."""
    names = [clip(str(one.label)) for one in classes]
    wide = max(map(len, [*names, heading]))
    lines = [f"{heading:<{wide}}  precision  recall      F1{counted:>12}"]
    for name, one in zip(names, classes, strict=True):
        numbers = f"{one.precision:9.2%}{one.recall:8.2%}{one.f1:8.4f}{one.rows:12,d}"
        lines.append(f"{name:<{wide}}  {numbers}")
    return lines


def confusion(evaluation: "Evaluation", names: list[str], most: int = 10) -> list[str]:
    """Which classes are taken for which: as a table, or the most frequent if it were too wide."""
    counts = evaluation.confusion.tolist()
    names = [clip(name) for name in names]
    lines = list(zip([*names, "not known"], counts, strict=True))
    lines = lines if sum(counts[-1]) else lines[:-1]
    wide = max(len(name) for name, _ in [*lines, ("rows of", [])])
    cells = [max(len(name), len(f"{max(map(max, counts)):,}")) for name in names]
    if len(names) > most or wide + sum(cells) + 2 * len(cells) > WIDTH:
        return list_confusions(lines, names, most)
    head = "  ".join(f"{name:>{size}}" for name, size in zip(names, cells, strict=True))
    text = [f"{'rows of':<{wide}}  predicted as", f"{'':<{wide}}  {head}"]
    for name, row in lines:
        numbers = "  ".join(f"{n:>{size},d}" for n, size in zip(row, cells, strict=True))
        text.append(f"{name:<{wide}}  {numbers}")
    return text


def list_confusions(lines: list[tuple[str, list[int]]], names: list[str], most: int) -> list[str]:
    """The pairs of classes that are most often taken for each other."""
    wrong = [
        (n, name, names[k])
        for place, (name, row) in enumerate(lines)
        for k, n in enumerate(row)
        if n and k != place
    ]
    wrong = sorted(wrong, key=lambda one: -one[0])[:most]
    found = [f"  {n:9,d}  {name} as {other}" for n, name, other in wrong]
    return ["Most frequent confusions (rows, class, predicted as):", *found] if found else []


# Models


def count_updates(model: "Model") -> tuple[int, str]:
    """The updates of a training; they are mistakes unless some rows were right and too near."""
    updates = sum(state.mistakes for state in model.states)
    right = updates == sum(epoch.errors for epoch in model.history) and model.target != "numbers"
    return updates, "mistake" if right else "update"


def count_features(model: "Model") -> int:
    """The number of features of a linear model or a tagger."""
    state = model.states[0]
    return len(state.emissions if "sentences" in model.facts else state.weights)


def about_metric(model: "Model") -> str:
    """The metric of early stopping, and that it no longer became better."""
    from ..training.scoring import METRICS, SCORES

    if model.target in SCORES:
        return f"{SCORES[model.target]} no longer rose"
    metric = METRICS[model.parameters.get("metric", "error")]
    return f"{metric.title} no longer {'rose' if metric.more_is_better else 'fell'}"


def about_result(name: str, model: "Model", seconds: float) -> list[str]:
    """How a training went, the size of its data, and its classes or tags."""
    facts, features = model.facts, f"{count_features(model):,} features"
    last = model.history[-1].mistakes if model.history else None
    updates, made = count_updates(model)
    epochs = len(model.history)
    run = facts["stop_reason"], updates, last, epochs, seconds, made
    lines = [summarize_run(*run, stopped_by=about_metric(model))]
    if "sentences" in facts:
        size = f"{count(facts['sentences'], 'sentence')}, {count(facts['tokens'], 'token')}"
        tags, scheme = count(len(model.classes), "tag"), model.features["scheme"]
        chunks = "" if scheme is None else f" (chunks in {scheme[0]})"
        return [*lines, f"{name}: {size}, {tags}{chunks}, {features}"]
    classes = about_target(model)
    lines.append(f"{name}: {count(facts['rows'], 'row')}, {features}, {classes}")
    if "training_score" in facts:
        lines.append(f"On the training rows: {summarize_other(facts['training_score'])}.")
    lines.append(f"Rule {model.estimator}, solution {model.parameters['solution']}.")
    return lines


def as_result(
    name: str, model: "Model", seconds: float, tested: Any, output: Path | None
) -> dict[str, Any]:
    """The result of a training as an object."""
    from ..reading.recipe import FeatureRecipe

    facts = model.facts
    found: dict[str, Any] = {
        "data": name,
        "model": None if output is None else str(output),
        "features": count_features(model),
        "classes": model.classes.tolist(),
        "stop_reason": facts["stop_reason"],
        "epochs": len(model.history),
        "mistakes": count_updates(model)[0],
        "seconds": round(seconds, 6),
    }
    if "sentences" in facts:
        scheme = model.features["scheme"]
        found |= {name: facts[name] for name in ("sentences", "tokens")}
        return found | {"scheme": scheme and scheme[0], "test": tested and tested.as_dict()}
    recipe = FeatureRecipe(**model.features.get("recipe", {}))
    return found | {
        "rows": facts["rows"],
        "label": recipe.label,
        "class_rows": facts.get("class_rows"),
        "columns": list_columns(recipe),
        "held_out": facts.get("held_out"),
        "asked": facts.get("asked"),
        **({"feedback": facts["feedback"]} if "feedback" in facts else {}),
        "test": tested and getattr(tested, "score", tested).as_dict(),
        **({"numbers": facts["numbers"]} if "numbers" in facts else {}),
        **({"training": facts["training_score"]} if "training_score" in facts else {}),
    }


def about_labels(asked: Mapping[str, int]) -> str:
    """A sentence on the labels that were asked for, and on the errors meanwhile.

    >>> about_labels({"rows": 4000, "labels": 400, "errors": 90})
    'Asked for 400 of 4,000 labels (10.0%); 2.25% of the rows were predicted wrong meanwhile.'
    """
    rows, labels, errors = asked["rows"], asked["labels"], asked["errors"]
    wrong = f"{errors / rows:.2%} of the rows were predicted wrong meanwhile"
    return f"Asked for {labels:,} of {rows:,} labels ({labels / rows:.1%}); {wrong}."


def about_feedback(judged: Mapping[str, Any]) -> str:
    """A sentence on the drawn predictions that were wrong, and on those of full information.

    >>> about_feedback({"rows": 4000, "errors": 900, "full_errors": 300})
    '22.50% of 4,000 predictions were wrong; a perceptron with all labels: 7.50%.'
    """
    rows, full = judged["rows"], judged["full_errors"]
    wrong = f"{judged['errors'] / rows:.2%} of {rows:,} predictions were wrong"
    if full is None:
        return f"{wrong}."
    return f"{wrong}; a perceptron with all labels: {full / rows:.2%}."


def join_names(names: Iterable[Any], most: int | None = LISTED) -> str:
    """Names with commas between them; of many, the first and how many more there are.

    >>> join_names("abc"), join_names(range(60), most=3)
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
    if recipe.has_groups:
        kinds = {"group": [str(recipe.group)], **kinds}
    return kinds | ({"ignored": left_out} if left_out else {})


def about_columns(recipe: "FeatureRecipe", most: int | None = LISTED) -> list[str]:
    """What was done to the columns of a table, in a few lines."""
    words = {
        "number": f"Numbers ({SCALES[recipe.scale]})",
        "category": "Categories",
        "text": f"Text ({about_text(recipe)})",
        "date": "Dates (their parts, and the time as a number)",
        "ignored": "Not used",
        "group": "Groups",
    }
    found = list_columns(recipe)
    lines = [f"{words[kind]}: {join_names(found[kind], most)}" for kind in words if kind in found]
    if not isinstance(recipe.label, str):
        return lines
    if recipe.labels_separator is None:
        what = " (numbers)" if recipe.numbers else " (relevance)" if recipe.has_groups else ""
        return [f"Label: {recipe.label}{what}", *lines]
    return [
        f"Labels: {recipe.label} (any number, with {recipe.labels_separator!r} between)",
        *lines,
    ]


def about_margin(parameters: Mapping[str, Any]) -> list[str]:
    """The margin and the class weights that texts get by default, if there are texts."""
    if not parameters["margin"]:
        return []
    weights = ", classes of equal weight" * (parameters.get("class_weight") == "balanced")
    return [f"Texts: margin {parameters['margin']:g}{weights} (turn off with --margin 0)."]


def about_text(recipe: "FeatureRecipe") -> str:
    """What becomes of texts."""
    said = []
    for shortest, longest, characters in dict.fromkeys(map(recipe.resolve_ngrams, recipe.text)):
        of = "character" if characters else "word"
        size = f"{shortest}-{longest}" if longest > shortest else str(longest)
        said.append(f"{size} {of}{'s' if longest > 1 else ''}")
    return ", ".join([*said, f"{recipe.counts} counts", *["tf-idf"] * recipe.weighs_rare])


def about_target(model: "Model", most: int | None = LISTED) -> str:
    """The classes or the numbers that a model predicts."""
    if model.target == "numbers":
        return about_numbers(model)
    if model.target == "ranking":
        return about_ranking(model)
    return f"{len(model.classes)} {list_kinds(model)}: {about_classes(model, most)}"


def held_out_line(facts: Mapping[str, Any]) -> str:
    """The errors on held-out rows in words."""
    from ..data.targets import RankScore, Score

    score = facts["held_out"]
    if "errors" not in score:
        return summarize_other(score)
    said = errors((RankScore if "distance" in score else Score)(**score))
    figure = facts.get("held_out_figure")
    return f"{said}; {name_metric(figure)} {figure['value']:.4f}" if figure else said


def name_metric(facts: Mapping[str, Any]) -> str:
    """The name of a metric in a sentence, with the class that it is about."""
    from ..training.scoring import METRICS

    of = f" (of {clip(facts['positive_class'])})" if "positive_class" in facts else ""
    return METRICS[facts.get("metric", "error")].title + of


def list_kinds(model: "Model") -> str:
    """What the classes of a model are called: labels, where a row may have several; or ranks."""
    return "labels" if model.is_multilabel else model.target


def join_words(names: list[str], last: str) -> str:
    """Names in a row.

    >>> join_words(["a"], "and"), join_words(["a", "b", "c"], "or")
    ('a', 'a, b or c')
    """
    return f" {last} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def about_classes(model: "Model", most: int | None = LISTED) -> str:
    """The classes of a model, and how many rows each had in training, the largest first.

    Ranks stay in their order.
    """
    rows = model.facts.get("class_rows") or []
    names = [str(name) for name in model.classes.tolist()]
    if len(rows) != len(names):
        return join_names(map(clip, names), most)
    pairs = list(zip(rows, names, strict=True))
    if model.target != "ranks":
        pairs.sort(key=lambda pair: -pair[0])
    return join_names((f"{clip(name)} ({n:,})" for n, name in pairs), most)
