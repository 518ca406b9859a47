"""Fast online linear models: the perceptron, PA, AROW, SCW and friends."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .parameters import CLASS_RULES, FEEDBACK_RULES, NUMBER_RULES, RANK_RULES, RANKING_RULES

if TYPE_CHECKING:
    from .estimators.evaluation import (
        compare as compare,
        cross_validate as cross_validate,
        evaluate as evaluate,
        importances as importances,
        save_report as save_report,
    )
    from .estimators.family import *  # noqa: F403
    from .estimators.features import Features as Features
    from .estimators.feedback import Banditron as Banditron
    from .estimators.kernel import KernelPerceptron as KernelPerceptron
    from .estimators.network import PerceptronNetwork as PerceptronNetwork
    from .estimators.perceptron import Perceptron as Perceptron
    from .estimators.pipeline import (
        Pipeline as Pipeline,
        load as load,
        save as save,
        train as train,
    )
    from .estimators.progressive import Progressive as Progressive, progressive as progressive
    from .estimators.rankers import (
        PassiveAggressiveRanker as PassiveAggressiveRanker,
        PerceptronRanker as PerceptronRanker,
    )
    from .estimators.ranks import PRank as PRank
    from .estimators.registration import register_rule as register_rule
    from .estimators.regressors import (
        Adaline as Adaline,
        PassiveAggressiveRegressor as PassiveAggressiveRegressor,
    )
    from .estimators.sequence import SequencePerceptron as SequencePerceptron
    from .estimators.steps import Step as Step, steps as steps
    from .reading.batches import Batch as Batch
    from .reading.reader import Reader as Reader, read as read
    from .service.client import Client as Client, ServiceError as ServiceError
    from .theory.bounds import (
        MistakeBounds as MistakeBounds,
        Report as Report,
        mistake_bounds as mistake_bounds,
        report as report,
    )
    from .theory.certificates import (
        Inseparable as Inseparable,
        Separable as Separable,
        Undecided as Undecided,
        load_certificate as load_certificate,
        save_certificate as save_certificate,
    )
    from .theory.margins import (
        MaxMargin as MaxMargin,
        margin as margin,
        margins as margins,
        max_margin as max_margin,
        normalize_weights as normalize_weights,
        radius as radius,
        training_error as training_error,
    )
    from .theory.separability import separability as separability
    from .training.history import Epoch as Epoch

__version__ = "0.3.0"

_ROOMS = {
    "estimators.evaluation": "compare cross_validate evaluate importances save_report",
    "estimators.family": " ".join(entry.estimator for entry in CLASS_RULES.values()),
    "estimators.features": "Features",
    "estimators.feedback": " ".join(entry.estimator for entry in FEEDBACK_RULES.values()),
    "estimators.kernel": "KernelPerceptron",
    "estimators.network": "PerceptronNetwork",
    "estimators.perceptron": "Perceptron",
    "estimators.pipeline": "Pipeline load save train",
    "estimators.progressive": "Progressive progressive",
    "estimators.rankers": " ".join(entry.estimator for entry in RANKING_RULES.values()),
    "estimators.ranks": " ".join(entry.estimator for entry in RANK_RULES.values()),
    "estimators.registration": "register_rule",
    "estimators.regressors": " ".join(entry.estimator for entry in NUMBER_RULES.values()),
    "estimators.sequence": "SequencePerceptron",
    "estimators.steps": "Step steps",
    "reading.batches": "Batch",
    "reading.reader": "Reader read",
    "service.client": "Client ServiceError",
    "theory.bounds": "MistakeBounds Report mistake_bounds report",
    "theory.certificates": "Inseparable Separable Undecided load_certificate save_certificate",
    "theory.margins": "MaxMargin margin margins max_margin normalize_weights radius training_error",
    "theory.separability": "separability",
    "training.history": "Epoch",
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names.split()}

if not TYPE_CHECKING:  # in the order of ruff: names in capitals first
    __all__ = sorted([*_ROOM_OF, "__version__"], key=lambda name: (not name.isupper(), name))


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that the command line starts quickly."""
    if name in ("lab", "plots"):  # a module that can be called, and one that needs matplotlib
        return import_module(f".{name}", __name__)
    if name not in _ROOM_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_ROOM_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(_ROOM_OF))
