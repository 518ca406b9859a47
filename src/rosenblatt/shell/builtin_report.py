"""The report on a built-in data set: training error, separability, commands to try."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from ..jobs.evaluate import evaluate
from ..learners.linear import LinearLearner
from ..reading.reader import read
from .data import load_builtin
from .format import count, join_words

if TYPE_CHECKING:
    from ..storage.model import Model
    from ..theory.problem import Problem

EPOCHS = 100  # of the perceptron itself
WEIGHTS = {"average": "average of all weights", "last": "last weights", "pocket": "best weights"}


def describe(data: str, table: Any, model: "Model") -> tuple[dict[str, Any], list[str], list[str]]:
    """Return facts about a built-in set and its model, the same in sentences, and what to try.

    Whether planes separate the classes is about the columns of the table that the model learnt.
    """
    recipe = model.features["recipe"]
    score = evaluate(LinearLearner.from_model(model), read(table, features=recipe)).score
    kinds = dict(recipe["columns"])
    kept = [kinds.get(name, "ignore") != "ignore" for name in table.column_names[:-1]]
    rows = load_builtin(data)
    separable = separate_classes(list_problems(rows.X[:, kept], rows.class_of_each()))
    makes_columns = recipe["bits"] is not None  # of pairs, bins or categories
    suffix = "_without_new_columns" * makes_columns
    facts = {"training": score.as_dict(), f"separable{suffix}": separable}
    prefix = "Without the new columns: " * makes_columns
    text, weights = score.headline(model.facts["class_rows"]), model.parameters["solution"]
    lines = [f"Training {text} ({WEIGHTS[weights]}).", prefix + about_separable(separable)]
    return facts, lines, list_next_steps(data, separable)


def show_perceptron(data: str, validation: list[str]) -> list[str]:
    """Run the perceptron on each class against the others; what it did and what is proved."""
    from ..theory.bounds import rows_with_bias
    from ..theory.margins import solve_max_margin
    from ..theory.separability import start_perceptron

    rows, lines = load_builtin(data), dict[str, str]()
    X, problems = rows.X, list_problems(rows.X, rows.class_of_each())
    separable = separate_classes(problems)
    for name, problem in problems.items():
        run = start_perceptron(problem, 1.0, EPOCHS, "each").train()
        updates = count(sum(epoch.mistakes for epoch in run.epochs), "update")
        found = f"separated after {updates} in {count(len(run.epochs), 'epoch')}"
        if run.stop_reason != "separated":
            found = f"{updates} in {EPOCHS} epochs, {run.epochs[-1].mistakes} in the last"
        proved = "no plane separates it (proved exactly)"
        if separable[name]:
            lifted = problem._replace(X=rows_with_bias(X, 1.0), fit_intercept=False)
            margin = solve_max_margin(lifted, 1e-3).attained
            most = (lifted.X**2).sum(axis=1).max() / margin**2
            proved = f"every run ends after at most {most:,.0f} (proved)"
        elif separable[name] is None:
            proved = "whether a plane separates it is undecided"
        lines[name] = f"{found}; {proved}"
    wide = max(map(len, lines))
    title = f"{data}: {count(len(X), 'row')}, {count(X.shape[1], 'feature')}"
    against = ", each class against the others" if len(lines) > 1 else ""
    default = "A file is learnt by PassiveAggressive with averages unless --rule names another. "
    return [
        f"Perceptron (a mistake adds yx to w and y to b) on {title}{against}:",
        *(f"  {name:<{wide}}  {said}" for name, said in lines.items()),
        *(default + line for line in validation),
        *list_next_steps(data, separable),
    ]


def list_problems(X: Any, y: Any) -> "dict[str, Problem]":
    """Each class against the others, by name; of two classes, the second."""
    from ..theory.problem import Problem

    classes = np.unique(y)
    asked = classes[len(classes) == 2 :]
    return {str(name): Problem(X, np.where(y == name, 1.0, -1.0)) for name in asked}


def separate_classes(problems: "dict[str, Problem]") -> dict[str, bool | None]:
    """Whether a plane separates each class from the others."""
    from ..theory.certificates import Inseparable, Separable
    from ..theory.separability import decide

    answers = {Separable: True, Inseparable: False}
    return {name: answers.get(type(decide(problem))) for name, problem in problems.items()}


def about_separable(separable: dict[str, bool | None]) -> str:
    """Which classes a plane has alone on one side.

    >>> about_separable({"1": False})
    'No plane separates the two classes (proved exactly).'
    >>> about_separable({"a": True, "b": True})
    'A plane separates each class from the others (proved exactly).'
    >>> about_separable({"a": True, "b": False, "c": False, "d": None})
    'A plane separates a from the others, none separates b or c (proved exactly); d: undecided.'
    """
    can, cannot, open_ = ([n for n, a in separable.items() if a is b] for b in (True, False, None))
    if len(separable) == 1:
        if open_:
            return "Whether a plane separates the two classes is undecided."
        return f"{'A' if can else 'No'} plane separates the two classes (proved exactly)."
    parts = []
    if can:
        each = "each class" if not (cannot or open_) else join_words(can, "and")
        parts.append(f"A plane separates {each} from the others")
    if cannot:
        each = join_words(cannot, "or") if can or open_ else "any class from the others"
        parts.append(f"{'none' if can else 'No plane'} separates {each}")
    proved = f"{', '.join(parts)} (proved exactly)" if parts else ""
    undecided = f"{join_words(open_, 'and')}: undecided" if open_ else ""
    return f"{'; '.join(filter(None, [proved, undecided]))}."


def list_next_steps(data: str, separable: dict[str, bool | None]) -> list[str]:
    """Two commands to try, with what they show; the first is on a class that is not separable."""
    name = min(separable, key=lambda name: separable[name] is not False)
    alone = len(separable) == 1
    prove = f"rosenblatt prove {data}" + ("" if alone else f" --positive-class {name}")
    which = "which" if separable[name] else "why no"
    steps = {prove: f"{which} plane separates {'the classes' if alone else name}"}
    if find_spec("matplotlib") is not None:
        steps[f"rosenblatt plot {data} -o {data}.png"] = "a picture of what it learnt"
    else:
        steps["rosenblatt train YOUR.csv -o model"] = "the same with a table of yours"
    wide = max(map(len, steps))
    return ["Try next:", *(f"  {each:<{wide}}   {shows}" for each, shows in steps.items())]
