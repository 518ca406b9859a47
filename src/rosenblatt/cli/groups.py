"""Options that belong together travel together: a command takes dataclasses of them."""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields, is_dataclass
from functools import partial, wraps
from pathlib import Path
from typing import Any, get_type_hints

from typer.core import TyperCommand, TyperGroup


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


# Typer would have pydantic look at every value, whose start takes longer than that of a command.


class LightCommand(TyperCommand):
    """A command that takes words, paths and what was not given as they are."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the words of a command line."""
        take_lightly(self.get_params(ctx))
        return super().parse_args(ctx, args)


class LightGroup(TyperGroup):
    """A group of commands that does so, too."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the words of a command line."""
        take_lightly(self.get_params(ctx))
        return super().parse_args(ctx, args)


def take_lightly(parameters: Iterable[Any]) -> None:
    """Have parameters take a value as it is, if that is right, else as Typer does."""
    for parameter in parameters:
        usual = parameter.process_value
        if not isinstance(usual, partial):
            parameter.process_value = partial(process, parameter, usual)


def process(parameter: Any, usual: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:
    """What a value of a parameter becomes."""
    kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    if isinstance(value, str) and kind in (str, Path):
        value = kind(value)
    elif value is not parameter.default or parameter.required:
        return usual(context, value)
    return value if parameter.callback is None else parameter.callback(context, parameter, value)


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
