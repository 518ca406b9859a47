"""The parameters of networks; standard library only."""

from collections.abc import Mapping

from ..parameters import tables as table

PARAMETERS: Mapping[str, table.Parameter] = {
    "growth": table.choice("upstart", "tiling", "tower", "pyramid", help="How units are added"),
    "unit": table.choice("pocket", "thermal", help="How a unit learns"),
    "lift": table.choice("auto", "sphere", "none", help="Whether rows get one column more"),
    "max_units": table.count(100, "Largest number of units"),
    "patience": table.count(10, "Units without fewer errors before growing ends"),
    "max_iter": table.count(100, "Largest number of epochs of a unit"),
    "early_stopping": table.flag(False, "Keep the units with the fewest errors on held-out rows"),
    "random_state": table.RANDOM_STATE,
}
