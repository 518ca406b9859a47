"""The report on a built-in data set: training error, separability, commands to try."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from .data import Drawable, load_builtin, open_source
from .format import count, join_words

if TYPE_CHECKING:
    from ..data.targets import Score
    from ..storage.model import Model
    from ..theory.problem import Problem

FOLDS = 5
EPOCHS = 100  # of the perceptron itself
WEIGHTS = {"average": "average of all weights", "last": "last weights", "pocket": "best weights"}


class Study:
    """Results about a built-in set besides the training.

    Attributes
    ----------
    separable
        Of each class (of two, the second): whether a plane separates it from the others, or None.
        Known once a model was reported on; it is about the columns that the model learnt.
    """

    separable: dict[str, bool | None]

    def __init__(self, data: str) -> None:
        self.data = data
        self.table = open_source(data)
        self.rows = load_builtin(data)

    def prove(self, model: "Model") -> bool:
        """Decide about the columns of a model; return whether it made new ones of them."""
        recipe = model.features["recipe"]
        kinds = dict(recipe["columns"])
        kept = [kinds.get(name, "ignore") != "ignore" for name in self.table.column_names[:-1]]
        self.separable = separable_classes(self.rows._replace(X=self.rows.X[:, kept]))
        return recipe["bits"] is not None  # of pairs, bins or categories

    def has_enough_rows(self) -> bool:
        """Whether every class has a row for each fold."""
        import numpy as np

        return bool(np.unique(self.rows.y, return_counts=True)[1].min() >= FOLDS)

    def say(self, model: "Model") -> None:
        """Print it as an object."""
        from .report import print_event

        training = compute_score(model, self.table).as_dict()
        name = "separable_without_new_columns" if self.prove(model) else "separable"
        print_event("found", training=training, **{name: self.separable})

    def lines(self, model: "Model") -> list[str]:
        """Return the results in sentences."""
        trained, weights = compute_score(model, self.table), WEIGHTS[model.parameters["solution"]]
        prefix = "Without the new columns: " if self.prove(model) else ""
        said = prefix + about_separable(self.separable)
        text = trained.headline(model.facts["class_rows"])
        return [f"Training {text} ({weights}).", said]

    def print_next_steps(self) -> None:
        """Print two commands to try."""
        from .report import print_line

        for line in list_next_steps(self.data, self.separable):
            print_line(line)

    def run_perceptron(self) -> list[str]:
        """Run the perceptron on each class against the others; what it did and what is proved."""
        from ..theory.bounds import radius_with_bias, rows_with_bias
        from ..theory.margins import radius, solve_max_margin
        from ..theory.separability import start_perceptron

        self.separable = separable_classes(self.rows)
        X, lines = self.rows.X, {}
        for name, problem in list_problems(self.rows).items():
            run = start_perceptron(problem, 1.0, EPOCHS, "each").train()
            updates = count(sum(epoch.mistakes for epoch in run.epochs), "update")
            found = f"separated after {updates} in {count(len(run.epochs), 'epoch')}"
            if run.stop_reason != "separated":
                found = f"{updates} in {EPOCHS} epochs, {run.epochs[-1].mistakes} in the last"
            lines[name] = f"{found}; no plane separates it (proved exactly)"
            if self.separable[name]:
                lifted = problem._replace(X=rows_with_bias(X, 1.0), fit_intercept=False)
                margin = solve_max_margin(lifted, 1e-3).attained
                most = (radius_with_bias(radius(X), 1.0) / margin) ** 2
                lines[name] = f"{found}; every run ends after at most {most:,.0f} (proved)"
            elif self.separable[name] is None:
                lines[name] = f"{found}; whether a plane separates it is undecided"
        wide = max(map(len, lines))
        title = f"{self.data}: {count(len(X), 'row')}, {count(X.shape[1], 'feature')}"
        against = ", each class against the others" if len(lines) > 1 else ""
        return [
            f"Perceptron (a mistake adds yx to w and y to b) on {title}{against}:",
            *(f"  {name:<{wide}}  {said}" for name, said in lines.items()),
        ]


def compute_score(model: "Model", table: Any) -> "Score":
    """How many rows of a table a model gets wrong."""
    from ..jobs.evaluate import evaluate
    from ..learners.linear import LinearLearner
    from ..reading.reader import read

    reader = read(table, features=model.features["recipe"])
    score: Score = evaluate(LinearLearner.from_model(model), reader).score
    return score


def separable_classes(rows: Drawable) -> dict[str, bool | None]:
    """Whether a plane separates each class from the others; of two, one is enough to ask."""
    from ..theory.certificates import Inseparable, Separable
    from ..theory.separability import decide

    answers = {Separable: True, Inseparable: False}
    problems = list_problems(rows)
    return {name: answers.get(type(decide(problem))) for name, problem in problems.items()}


def list_problems(rows: Drawable) -> "dict[str, Problem]":
    """Each class against the others, by name; of two classes, the second."""
    import numpy as np

    from ..theory.problem import Problem

    y = rows.class_of_each()
    classes = np.unique(y)
    asked = classes[len(classes) == 2 :]
    return {str(name): Problem(rows.X, np.where(y == name, 1.0, -1.0)) for name in asked}


def about_separable(separable: dict[str, bool | None]) -> str:
    """Which classes a plane has alone on one side.

    >>> about_separable({"1": False})
    'No plane separates the two classes (proved exactly).'
    >>> about_separable({"a": True, "b": True})
    'A plane separates each class from the others (proved exactly).'
    >>> about_separable({"a": True, "b": False, "c": False, "d": None})
    'A plane separates a from the others, none separates b or c (proved exactly); d: undecided.'
    """
    if len(separable) == 1:
        (answer,) = separable.values()
        if answer is None:
            return "Whether a plane separates the two classes is undecided."
        return f"{'A' if answer else 'No'} plane separates the two classes (proved exactly)."
    if set(separable.values()) in ({True}, {False}):
        which = "A plane separates each" if all(separable.values()) else "No plane separates any"
        return f"{which} class from the others (proved exactly)."
    can, cannot, open_ = ([n for n, a in separable.items() if a is b] for b in (True, False, None))
    text = f"A plane separates {join_words(can, 'and')} from the others" if can else ""
    if cannot:
        text += f"{', none' if text else 'No plane'} separates {join_words(cannot, 'or')}"
    text += " (proved exactly)" if text else ""
    if open_:
        text += f"{'; ' if text else ''}{join_words(open_, 'and')}: undecided"
    return text + "."


def list_next_steps(data: str, separable: dict[str, bool | None]) -> list[str]:
    """Two commands to try, with what they show; the first is on a class that is not separable."""
    name = min(separable, key=lambda name: separable[name] is not False)
    which = "which" if separable[name] else "why no"
    alone = len(separable) == 1
    prove = f"rosenblatt prove {data}" + ("" if alone else f" --positive-class {name}")
    commands = {prove: f"{which} plane separates {'the classes' if alone else name}"}
    if find_spec("matplotlib") is not None:
        commands[f"rosenblatt plot {data} -o {data}.png"] = "a picture of what it learnt"
    else:
        commands["rosenblatt train YOUR.csv -o model"] = "the same with a table of yours"
    wide = max(map(len, commands))
    return ["Try next:", *(f"  {each:<{wide}}   {shows}" for each, shows in commands.items())]
