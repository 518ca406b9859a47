"""Which rule predicts each next row of a stream best, as far as its first rows tell."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..learners.linear import LinearLearner, TrainingRows
from ..parameters import ANY_RULE, FOLLOWING, parameters_for_files
from ..training.report import Note

if TYPE_CHECKING:
    from .files import FileTraining

FIRST_ROWS = 10_000


def follow(
    training: "FileTraining", begin: Callable[["FileTraining"], LinearLearner], rows: TrainingRows
) -> None:
    """Let a training take the rule that has fewer of the first rows wrong, and say so.

    AROW grows calm with every row, which is best where rows come in no order. Where neighbours are
    alike, a rule that goes by its last rows does better, for as long as it goes on learning.
    """
    rows = rows._replace(everything=rows.everything[:FIRST_ROWS])
    shared = {name: training.parameters[name] for name in ANY_RULE}
    ways = {rule: parameters_for_files(rule, **shared) for rule in FOLLOWING}
    wrong = {}
    for training.rule, training.parameters in ways.items():
        wrong[training.estimator] = begin(training).learn(rows).errors
    usual, other = wrong
    if wrong[usual] <= wrong[other]:
        training.rule, training.parameters = next(iter(ways.items()))
        return
    n_rows = max(len(rows.everything), 1)
    sentence = (
        f"Neighbouring rows are alike: {other} is wrong in {wrong[other] / n_rows:.1%} of the "
        f"first {n_rows:,} rows, each before it is learnt, {usual} in {wrong[usual] / n_rows:.1%}, "
        f"so {other} is taken. For rows that come much later {usual} may be better."
    )
    training.listener.note(Note(sentence, "stream-rule"))
