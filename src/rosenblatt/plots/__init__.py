"""Displays and animations of what the engine did; matplotlib is needed only here."""

from importlib.util import find_spec
from typing import Any

if find_spec("matplotlib") is None:
    raise ImportError("Plots need matplotlib: pip install 'rosenblatt[plots]'.")

from ..slices import list_names, load
from .animation import LearningAnimation
from .boundary import BoundaryDisplay, ProjectionDisplay
from .certificate import CertificateDisplay
from .display import MOVING, STILL, get_ending
from .importances import ImportanceDisplay
from .progress import OrderDisplay, ProgressDisplay, ProgressiveDisplay
from .saving import save_plot

__all__ = [
    "MOVING",
    "STILL",
    "BoundaryDisplay",
    "CertificateDisplay",
    "ImportanceDisplay",
    "LearningAnimation",
    "OrderDisplay",
    "ProgressDisplay",
    "ProgressiveDisplay",
    "ProjectionDisplay",
    "get_ending",
    "save_plot",
]
OF_SLICES = {
    name.partition(".")[2]: module
    for name, module in list_names().items()
    if name.startswith("plots.")
}
__all__ += list(OF_SLICES)


def __getattr__(name: str) -> Any:
    """Import a display of a slice when it is first used."""
    if name not in OF_SLICES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return load(f"{OF_SLICES[name]}:{name}")
