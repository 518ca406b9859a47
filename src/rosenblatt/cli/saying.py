"""Results in words."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..evaluation import Evaluation, Score


def count(number: int, thing: str) -> str:
    """So many things: "1 row", "2 rows"."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def errors(score: "Score") -> str:
    """An error in words."""
    return f"error {score.error:.2%}: {score.errors:,} of {count(score.rows, 'row')}"


def why(stop_reason: str, mistakes: int, epochs: int, seconds: float) -> str:
    """What a run has shown, in a line."""
    passes = count(epochs, "epoch")
    reasons = {
        "separated": "a pass without mistakes",
        "max_iter": f"{passes} {'is' if epochs == 1 else 'are'} over",
        "no_improvement": "the held-out rows gained no more, and the best weights were taken",
    }
    found = "Separated" if stop_reason == "separated" else "Not separated"
    done = f"{count(mistakes, 'mistake')} in {passes} ({seconds:.3f} s)"
    return f"{found} after {done}: {reasons.get(stop_reason, stop_reason)}."


def table(evaluation: "Evaluation", most: int = 20) -> list[str]:
    """How well each class is found, and which are taken for which."""
    classes = evaluation.by_class()
    if len(classes) > most:
        return [f"Macro F1 {evaluation.macro_f1:.4f} over {len(classes)} classes."]
    names = [str(one.label) for one in classes]
    wide = max(map(len, [*names, "class"]))
    lines = [f"{'class':<{wide}}  precision  recall      F1        rows"]
    for name, one in zip(names, classes, strict=True):
        numbers = f"{one.precision:9.2%}{one.recall:8.2%}{one.f1:8.4f}{one.rows:12,d}"
        lines.append(f"{name:<{wide}}  {numbers}")
    area = evaluation.roc_auc
    lines.append(
        f"Macro F1 {evaluation.macro_f1:.4f}" + ("." if area is None else f", ROC AUC {area:.4f}.")
    )
    return lines + confusion(evaluation, names)


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
