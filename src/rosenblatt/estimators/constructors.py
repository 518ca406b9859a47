"""Constructors of estimators, made from annotated class attributes."""

import inspect
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field,))
def estimator(cls: type[T]) -> type[T]:
    """Make the annotated attributes of a class keyword parameters of its constructor.

    The parameters of the class itself come before those of its bases in the signature. Parameters
    alone may be annotated: annotate what ``fit`` sets in a base class without this decorator.
    """
    made: Any = dataclass(eq=False, repr=False, match_args=False, kw_only=True)(cls)
    for name in vars(made).keys() & {each.name for each in fields(made)}:
        delattr(made, name)  # an attribute of the class would be documented as one of the model
    signature = inspect.signature(made.__init__)
    inherited = {
        each.name for base in made.__bases__ if is_dataclass(base) for each in fields(base)
    }
    ordered = sorted(
        signature.parameters.values(), key=lambda each: (each.kind, each.name in inherited)
    )
    made.__init__.__signature__ = signature.replace(parameters=ordered)
    made_class: type[T] = made
    return made_class


def positional(default: Any) -> Any:
    """Declare a parameter that may also be given by position."""
    return field(default=default, kw_only=False)
