"""The report on a built-in data set: runs of the perceptron, what is proved, commands to try."""

from importlib.util import find_spec

import numpy as np

from .data import load_builtin
from .format import count

EPOCHS = 100  # of the perceptron


def show_perceptron(data: str, validation: list[str]) -> list[str]:
    """Run the perceptron on each class against the others; what it did and what is proved.

    ``validation`` has the error of the default rule.
    """
    from ..theory.bounds import rows_with_bias
    from ..theory.certificates import Inseparable, Separable
    from ..theory.margins import solve_max_margin
    from ..theory.problem import Problem
    from ..theory.separability import decide, start_perceptron

    rows, lines, separable = load_builtin(data), dict[str, str](), dict[str, bool]()
    y = rows.class_of_each()
    classes = np.unique(y)
    for name in classes[len(classes) == 2 :].tolist():
        problem = Problem(rows.X, np.where(y == name, 1.0, -1.0))
        run = start_perceptron(problem, 1.0, EPOCHS, "each").train()
        updates = count(sum(epoch.mistakes for epoch in run.epochs), "update")
        found = f"separated after {updates} in {count(len(run.epochs), 'epoch')}"
        if run.stop_reason != "separated":
            found = f"{updates} in {EPOCHS} epochs, {run.epochs[-1].mistakes} in the last"
        answer, proved = decide(problem), "whether a plane separates it is undecided"
        separable[str(name)] = isinstance(answer, Separable)
        if isinstance(answer, Separable):
            lifted = problem._replace(X=rows_with_bias(rows.X, 1.0), fit_intercept=False)
            margin = solve_max_margin(lifted, 1e-3).attained
            most = (lifted.X**2).sum(axis=1).max() / margin**2
            proved = f"every run ends after at most {most:,.0f} (proved)"
        elif isinstance(answer, Inseparable):
            proved = "no plane separates it (proved exactly)"
        lines[str(name)] = f"{found}; {proved}"
    wide = max(map(len, lines))
    title = f"{data}: {count(len(rows.X), 'row')}, {count(rows.X.shape[1], 'feature')}"
    against = ", each class against the others" if len(lines) > 1 else ""
    default = "A file is learnt by PassiveAggressive with averages unless --rule names another. "
    return [
        f"Perceptron (a mistake adds yx to w and y to b) on {title}{against}:",
        *(f"  {name:<{wide}}  {said}" for name, said in lines.items()),
        *(default + line for line in validation),
        *list_next_steps(data, separable),
    ]


def list_next_steps(data: str, separable: dict[str, bool]) -> list[str]:
    """Two commands to try, with what they show; the first is on a class that is not separable."""
    name = min(separable, key=lambda name: separable[name])
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
