"""Plots of models, of their data and of training; matplotlib is needed only here."""

from importlib.util import find_spec

if find_spec("matplotlib") is None:
    raise ImportError("Plots need matplotlib: pip install 'rosenblatt[plots]'.")

from .boundary import BoundaryDisplay, ProjectionDisplay
from .certificate import CertificateDisplay
from .display import get_ending
from .importances import ImportanceDisplay
from .progress import OrderDisplay, ProgressDisplay
from .saving import save_plot

__all__ = [
    "BoundaryDisplay",
    "CertificateDisplay",
    "ImportanceDisplay",
    "OrderDisplay",
    "ProgressDisplay",
    "ProjectionDisplay",
    "get_ending",
    "save_plot",
]
