"""Options that belong together travel together: a command takes dataclasses of them."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameters that are dataclasses become an option for each field."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters = []
    for parameter in inspect.signature(command).parameters.values():
        kind = groups.get(parameter.name)
        if kind is None:
            annotation = hints[parameter.name]
            parameters.append(parameter.replace(annotation=annotation, kind=KEYWORD))
        else:
            parameters += options_of(kind)

    @wraps(command)
    def flat(**given: Any) -> None:
        packed = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)})  # type: ignore[operator]
            for name, kind in groups.items()
        }
        command(**given, **packed)

    flat.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return flat


KEYWORD = inspect.Parameter.KEYWORD_ONLY


def options_of(kind: Any) -> list[inspect.Parameter]:
    """A parameter for each field of a dataclass."""
    hints = get_type_hints(kind, include_extras=True)
    found = []
    for field in fields(kind):
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        name, hint = field.name, hints[field.name]
        found.append(inspect.Parameter(name, KEYWORD, default=default, annotation=hint))
    return found
