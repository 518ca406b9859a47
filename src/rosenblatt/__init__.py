"""Fast online linear models: the perceptron, PA, AROW, SCW and friends."""

from typing import TYPE_CHECKING, Any

from .parameters import CLASS_RULES, NUMBER_RULES, RANK_RULES
from .slices import is_there, list_names, load as load_place

if TYPE_CHECKING:
    from .dual.estimator import KernelPerceptron as KernelPerceptron
    from .estimators.evaluation import (
        compare as compare,
        cross_validate as cross_validate,
        evaluate as evaluate,
        importances as importances,
    )
    from .estimators.family import *  # noqa: F403
    from .estimators.features import Features as Features
    from .estimators.perceptron import Perceptron as Perceptron
    from .estimators.pipeline import (
        Pipeline as Pipeline,
        load as load,
        save as save,
        train as train,
    )
    from .estimators.progressive import Progressive as Progressive, progressive as progressive
    from .estimators.ranks import PRank as PRank
    from .estimators.registration import register_rule as register_rule
    from .estimators.regressors import (
        Adaline as Adaline,
        PassiveAggressiveRegressor as PassiveAggressiveRegressor,
    )
    from .estimators.steps import Step as Step, steps as steps
    from .network.estimator import PerceptronNetwork as PerceptronNetwork
    from .reading.batches import Batch as Batch
    from .reading.reader import Reader as Reader, read as read
    from .sequence.estimator import SequencePerceptron as SequencePerceptron
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
    from .theory.forms import (
        FormRun as FormRun,
        FormUpdate as FormUpdate,
        train_form as train_form,
    )
    from .theory.margins import (
        Losses as Losses,
        MaxMargin as MaxMargin,
        losses as losses,
        margin as margin,
        margins as margins,
        max_margin as max_margin,
        normalize_weights as normalize_weights,
    )
    from .theory.problem import radius as radius
    from .theory.separability import separability as separability
    from .training.training import Epoch as Epoch

__version__ = "0.3.0"

_MODULES = {
    "estimators.evaluation": "compare cross_validate evaluate importances",
    "estimators.family": " ".join(entry.estimator for entry in CLASS_RULES.values()),
    "estimators.features": "Features",
    "estimators.perceptron": "Perceptron",
    "estimators.pipeline": "Pipeline load save train",
    "estimators.progressive": "Progressive progressive",
    "estimators.ranks": " ".join(entry.estimator for entry in RANK_RULES.values()),
    "estimators.registration": "register_rule",
    "estimators.regressors": " ".join(entry.estimator for entry in NUMBER_RULES.values()),
    "estimators.steps": "Step steps",
    "reading.batches": "Batch",
    "reading.reader": "Reader read",
    "training.training": "Epoch",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}
_MODULE_OF |= list_names()

if not TYPE_CHECKING:  # in the order of ruff: names in capitals first
    __all__ = sorted([*_MODULE_OF, "__version__"], key=lambda name: (not name.isupper(), name))


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that the command line starts quickly."""
    if name in ("lab", "plots") and is_there(name):  # one can be called, one needs matplotlib
        return load_place(name)
    if name == "PassiveAggressiveClassifier":  # scikit-learn's name, which it drops in 1.10
        name = "PassiveAggressive"
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = load_place(f"{_MODULE_OF[name]}:{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(_MODULE_OF))
