"""Displays and animations of what the engine did; matplotlib is needed only here."""

from importlib.util import find_spec

if find_spec("matplotlib") is None:
    raise ImportError("Plots need matplotlib: pip install 'rosenblatt[plots]'.")

from .animation import LearningAnimation
from .boundary import BoundaryDisplay
from .certificate import CertificateDisplay
from .display import MOVING, STILL, get_ending
from .importances import ImportanceDisplay
from .lattice import LatticeDisplay
from .orders import OrderDisplay
from .progress import ProgressDisplay
from .progressive import ProgressiveDisplay
from .projection import ProjectionDisplay
from .saving import save_plot

__all__ = [
    "MOVING",
    "STILL",
    "BoundaryDisplay",
    "CertificateDisplay",
    "ImportanceDisplay",
    "LatticeDisplay",
    "LearningAnimation",
    "OrderDisplay",
    "ProgressDisplay",
    "ProgressiveDisplay",
    "ProjectionDisplay",
    "get_ending",
    "save_plot",
]
