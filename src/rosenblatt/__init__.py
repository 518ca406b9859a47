"""The perceptron, from the textbook page to files larger than memory."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .estimators.family import ALMA, AROW, ROMMA, SCW, PassiveAggressive, SecondOrderPerceptron
    from .estimators.features import Features
    from .estimators.kernel import KernelPerceptron
    from .estimators.network import PerceptronNetwork
    from .estimators.perceptron import Perceptron
    from .estimators.pipeline import load, save, train
    from .estimators.progressive import Progressive, progressive
    from .estimators.sequence import SequencePerceptron
    from .estimators.steps import Step, steps
    from .reading.batches import Batch
    from .reading.reader import Reader, read
    from .theory.bounds import MistakeBounds, Report, mistake_bounds, report
    from .theory.certificates import (
        Inseparable,
        Separable,
        Undecided,
        load_certificate,
        save_certificate,
    )
    from .theory.margins import MaxMargin, margin, margins, max_margin, radius, training_error
    from .theory.separability import separability
    from .training.history import Epoch

__version__ = "0.2.0"

_ROOMS = {
    "estimators.family": [
        "ALMA",
        "AROW",
        "ROMMA",
        "SCW",
        "PassiveAggressive",
        "SecondOrderPerceptron",
    ],
    "estimators.perceptron": ["Perceptron"],
    "estimators.progressive": ["Progressive", "progressive"],
    "estimators.steps": ["Step", "steps"],
    "estimators.kernel": ["KernelPerceptron"],
    "estimators.features": ["Features"],
    "estimators.network": ["PerceptronNetwork"],
    "estimators.pipeline": ["load", "save", "train"],
    "reading.batches": ["Batch"],
    "reading.reader": ["Reader", "read"],
    "estimators.sequence": ["SequencePerceptron"],
    "theory.bounds": ["MistakeBounds", "Report", "mistake_bounds", "report"],
    "theory.certificates": [
        "Inseparable",
        "Separable",
        "Undecided",
        "load_certificate",
        "save_certificate",
    ],
    "theory.margins": [
        "MaxMargin",
        "margin",
        "margins",
        "max_margin",
        "radius",
        "training_error",
    ],
    "theory.separability": ["separability"],
    "training.history": ["Epoch"],
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [
    "ALMA",
    "AROW",
    "ROMMA",
    "SCW",
    "Batch",
    "Epoch",
    "Features",
    "Inseparable",
    "KernelPerceptron",
    "MaxMargin",
    "MistakeBounds",
    "PassiveAggressive",
    "Perceptron",
    "PerceptronNetwork",
    "Progressive",
    "Reader",
    "Report",
    "SecondOrderPerceptron",
    "Separable",
    "SequencePerceptron",
    "Step",
    "Undecided",
    "__version__",
    "load",
    "load_certificate",
    "margin",
    "margins",
    "max_margin",
    "mistake_bounds",
    "progressive",
    "radius",
    "read",
    "report",
    "save",
    "save_certificate",
    "separability",
    "steps",
    "train",
    "training_error",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that the command line starts at once."""
    if name == "plots":  # a room that needs matplotlib
        return import_module(".plots", __name__)
    if name not in _ROOM_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_ROOM_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
