"""Displays and animations of what the engine did; matplotlib is needed only here."""

from importlib.util import find_spec

if find_spec("matplotlib") is None:
    raise ImportError("Plots need matplotlib: pip install 'rosenblatt[plots]'.")

from .animation import LearningAnimation
from .boundary import BoundaryDisplay, ProjectionDisplay
from .certificate import CertificateDisplay
from .display import MOVING, STILL, get_ending
from .importances import ImportanceDisplay
from .progress import OrderDisplay, ProgressDisplay
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
    "ProjectionDisplay",
    "get_ending",
    "save_plot",
]
