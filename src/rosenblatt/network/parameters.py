"""The parameters of networks; standard library only."""

from collections.abc import Mapping

from ..parameters.tables import (
    EARLY_STOPPING,
    RANDOM_STATE,
    VALIDATION_FRACTION,
    VERBOSE,
    Parameter,
    choice,
    count,
    flag,
)

PARAMETERS: Mapping[str, Parameter] = {
    "growth": choice(
        "upstart", "upstart", "tiling", "tower", "pyramid", help="How units are added"
    ),
    "unit": choice("pocket", "pocket", "thermal", help="How a unit learns"),
    "lift": choice("auto", "auto", "sphere", "none", help="Whether rows get one column more"),
    "max_units": count(100, "Largest number of units"),
    "patience": count(10, "Units without fewer errors before growing ends"),
    "max_iter": count(100, "Largest number of epochs of a unit"),
    "early_stopping": EARLY_STOPPING,
    "validation_fraction": VALIDATION_FRACTION,
    "warm_start": flag(False, "Continue to grow the network that there is"),
    "random_state": RANDOM_STATE,
    "verbose": VERBOSE,
}
