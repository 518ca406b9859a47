"""The perceptron, from the textbook page to files larger than memory."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .classifiers import Perceptron, Step, steps
    from .training import Epoch

__version__ = "0.1.0"

_ROOMS = {
    "Epoch": "training",
    "Perceptron": "classifiers",
    "Step": "classifiers",
    "steps": "classifiers",
}

__all__ = ["Epoch", "Perceptron", "Step", "__version__", "steps"]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that the command line starts at once."""
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_ROOMS[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
