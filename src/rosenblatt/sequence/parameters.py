"""The parameters of taggers; standard library only."""

from collections.abc import Mapping

from ..parameters.tables import (
    RANDOM_STATE,
    VERBOSE,
    Parameter,
    anything,
    choice,
    count,
    non_negative,
)

PARAMETERS: Mapping[str, Parameter] = {
    "features": anything(None, "Feature templates"),
    "constraints": choice("auto", "none", help="Whether tags of chunks must follow their scheme"),
    "margin": non_negative(
        1.0, "Lead ≥ 0 of the right tags, per wrong tag, below which a sentence causes an update"
    ),
    "solution": choice("average", "last", help="Weights to predict with"),
    "order": choice("each", "once", "fixed", help="Order of the sentences"),
    "max_iter": count(10, "Largest number of epochs"),
    "random_state": RANDOM_STATE,
    "verbose": VERBOSE,
}
