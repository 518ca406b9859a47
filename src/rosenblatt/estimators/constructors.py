"""Constructors of estimators, made from annotated class attributes."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from functools import wraps
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")
INSTEAD = {
    "alpha": "FTRL has the penalties l1 and l2",
    "average": 'use solution="average"',
    "n_iter_no_change": "use early_stopping=N",
    "n_jobs": "use joblib.parallel_config(n_jobs=N)",
    "penalty": "FTRL has the penalties l1 and l2",
    "shuffle": 'use order="fixed" for the order of the rows',
    "validation_fraction": "early_stopping=True holds a tenth out, or give X_val and y_val to fit",
}
"""What to use for parameters of scikit-learn's linear models that have another name here."""
RARE = ("ties", "intercept_step", "measure", "verbose", "multi_class", "metric")


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field,))
def estimator(cls: type[T]) -> type[T]:
    """Make the annotated attributes of a class keyword parameters of its constructor.

    The parameters of the class itself come before those of its bases in the signature, and rare
    ones last. Parameters alone may be annotated: annotate what ``fit`` sets in a base class without
    this decorator.
    """
    made: Any = dataclass(eq=False, repr=False, match_args=False, kw_only=True)(cls)
    for name in vars(made).keys() & {each.name for each in fields(made)}:
        delattr(made, name)  # an attribute of the class would be documented as one of the model
    signature = inspect.signature(made.__init__)
    inherited = {
        each.name for base in made.__bases__ if is_dataclass(base) for each in fields(base)
    }
    ordered = sorted(
        signature.parameters.values(),
        key=lambda each: (each.kind, each.name in RARE, each.name in inherited),
    )
    made.__init__ = explain_unknown(made.__init__)
    made.__init__.__signature__ = signature.replace(parameters=ordered)
    made_class: type[T] = made
    return made_class


def explain_unknown(construct: Callable[..., None]) -> Callable[..., None]:
    """Return a constructor that says what to use for parameters that others have."""

    @wraps(construct)
    def construct_or_explain(self: Any, *args: Any, **options: Any) -> None:
        try:
            construct(self, *args, **options)
        except TypeError as error:
            hints = [hint for name, hint in INSTEAD.items() if f"'{name}'" in str(error)]
            raise TypeError("; ".join([str(error), *hints])) from None

    return construct_or_explain


def positional(default: Any) -> Any:
    """Declare a parameter that may also be given by position."""
    return field(default=default, kw_only=False)
