"""Bounds on the error on new rows by the mistakes of a run, if rows are drawn independently.

Leave one out: a row that a run never got wrong can be left out without changing any update, and the
weights at the end are right on it. So of n rows at most the M mistaken ones can be wrong when they
are left out, and a run on n - 1 rows until nothing is wrong errs on a new row with a probability of
at most E[M]/n, and M ≤ (R/γ)² (Vapnik & Chervonenkis 1974; Freund & Schapire 1999, section 3). M/n
estimates that bound from above, without bias. For the vote after one pass over n - 1 rows Freund &
Schapire have twice the bound of one pass over n rows: E[2·((R + D)/γ)²]/n.

Online to batch: each row of a first pass tests weights that have not seen it. The mean error of all
weights of that pass on new rows exceeds the share M₁/n of its mistakes by √(ln(1/δ)/(2n)) with a
probability of at most δ: the inequality of Hoeffding and Azuma for differences in an interval of
length 1 (Cesa-Bianchi, Conconi & Gentile 2004). A vote of the same weights errs at most twice as
often as they do on average.
"""

from typing import Any, NamedTuple

import numpy as np

ONE_BY_ONE = "each", "once", "fixed"
"""The orders in which a first pass meets every row once."""


class Generalization(NamedTuple):
    """Bounds on the error on new rows, if all rows are drawn independently from one distribution.

    ``print`` shows those below 1.

    Attributes
    ----------
    rows : int
        n, the rows learnt from.
    left_out : float or None
        M/n for a run that separated the rows: its mean over draws of n rows bounds the error of the
        last weights of a run on n - 1 rows.
    online : float or None
        M₁/n + √(ln(1/δ)/(2n)): bounds the mean error of the weights of the first pass with
        probability 1 - δ; None for an order that does not meet every row once.
    delta : float
        δ.
    """

    rows: int
    left_out: float | None
    online: float | None
    delta: float = 0.05

    def __str__(self) -> str:
        lines = ["If rows are drawn independently from one distribution, errors on new rows:"]
        if self.left_out is not None and self.left_out < 1:
            lines.append(
                f"at most {self.left_out:.2g} is expected after separating {self.rows - 1} rows "
                "(leave one out; an estimate of the bound)"
            )
        if self.online is not None and self.online < 1:
            lines.append(
                f"at most {self.online:.2g} on average over the weights of the first pass, with "
                f"{1 - self.delta:.0%} confidence (online to batch)"
            )
        return "\n".join(lines) if len(lines) > 1 else ""


def generalization(model: Any, n_rows: int, delta: float = 0.05) -> Generalization:
    """Bound the error on new rows by the mistakes of a fitted perceptron on ``n_rows`` rows.

    A bound is None where it does not hold for the run; the second may fail with probability
    ``delta``. References: Freund & Schapire (1999), "Large margin classification using the
    perceptron algorithm", Machine Learning 37(3), 277-296; Cesa-Bianchi, Conconi & Gentile (2004),
    "On the generalization ability of on-line learning algorithms", IEEE Transactions on Information
    Theory 50(9), 2050-2057.
    """
    left_out = online = None
    if model.order in ONE_BY_ONE and model.history_:
        online = model.history_[0].mistakes / n_rows + float(
            np.sqrt(np.log(1 / delta) / 2 / n_rows)
        )
        if model.stop_reason_ == "separated":
            left_out = sum(epoch.mistakes for epoch in model.history_) / n_rows
    return Generalization(n_rows, left_out, online, delta)
