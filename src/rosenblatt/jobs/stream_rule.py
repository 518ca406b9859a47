"""Which rule predicts each next row of a stream best, as far as its first rows tell."""

from collections.abc import Callable

from ..learners.linear import LinearLearner, TrainingRows
from ..training.plan import Plan
from ..training.report import Listener, Note

FIRST_ROWS = 10_000


def choose_stream_rule(
    plans: list[Plan],
    begin: Callable[[Plan], LinearLearner],
    rows: TrainingRows,
    reporter: Listener,
) -> Plan:
    """Return the plan whose rule has the fewest of the first rows wrong; of equals, the first.

    AROW's updates become smaller with every row, which is best where rows come in no order. Where
    neighbouring rows are alike, a rule that depends on the last rows does better, as long as it
    continues to learn.
    """
    rows = rows._replace(row_order=rows.row_order[:FIRST_ROWS])
    wrong = [begin(plan).learn(rows).errors for plan in plans]
    usual, best = plans[0], plans[wrong.index(min(wrong))]
    if best is not usual:
        count = max(len(rows.row_order), 1)
        sentence = (
            f"Neighbouring rows are alike: {best.estimator} is wrong in {min(wrong) / count:.1%} "
            f"of the first {count:,} rows, each before it is learnt, {usual.estimator} in "
            f"{wrong[0] / count:.1%}, so {best.estimator} is taken. For rows that come much later "
            f"{usual.estimator} may be better."
        )
        reporter.note(Note(sentence, "stream-rule"))
    return best
