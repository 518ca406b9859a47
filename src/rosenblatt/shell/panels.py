"""Commands of click whose options are fields of dataclasses, listed in groups.

A function takes arguments and dataclasses; ``command`` makes every field of these an option. Only
what was written on the command line is passed on, so that the defaults of the dataclasses hold.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, fields, is_dataclass
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import click
from click.core import ParameterSource

TYPES: dict[type, tuple[Any, str]] = {
    int: (click.INT, "N"),
    float: (click.FLOAT, "NUMBER"),
    str: (click.STRING, "NAME"),
    Path: (click.Path(path_type=Path), "FILE"),
}
"""The type of click and the word in the help, by the type of a field."""


class CommandError(ValueError):
    """A command cannot do what its options ask for; ``code`` is a short name of the reason."""

    def __init__(self, sentence: str, code: str) -> None:
        super().__init__(sentence)
        self.code = code


class PanelOption(click.Option):
    """An option that is listed in a group of the help."""

    def __init__(self, *arguments: Any, panel: str = "Options", **given: Any) -> None:
        super().__init__(*arguments, **given)
        self.panel = panel

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Nothing: the help itself has the range and the default."""
        return {}


class DescribedArgument(click.Argument):
    """An argument with a line of help."""

    def __init__(self, name: str, help: str, **given: Any) -> None:
        super().__init__([name], **given)
        self.description = help

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        """Return its name and its help."""
        return self.make_metavar(ctx), self.description


class PanelCommand(click.Command):
    """A command whose help lists arguments, groups of options, examples, and more at its end."""

    examples: Sequence[str] = ()
    more: Callable[[], str] = str

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the arguments and the groups of options."""
        panels: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        for parameter in self.get_params(ctx):
            kind = "Arguments" if isinstance(parameter, click.Argument) else "Options"
            record = parameter.get_help_record(ctx)
            if record is not None:
                panels.setdefault(getattr(parameter, "panel", kind), []).append(record)
        for panel, records in panels.items():
            if records:
                with formatter.section(panel):
                    formatter.write_dl(records, col_max=24)

    def format_arguments(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write nothing: click 8.5 asks for it, and older versions do not."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, and what follows them."""
        if self.examples:
            with formatter.section("Examples"):
                formatter.write("".join(f"  {each}\n" for each in self.examples))
        formatter.write(self.more())


def option(
    *flags: str, help: str, default: Any = None, shown: str | None = None, **given: Any
) -> Any:
    """Declare a field of a dataclass that is an option of a command.

    Parameters
    ----------
    *flags
        Its spellings; ``--`` and the name of the field unless given.
    help
        A phrase with the quantity and its unit or range.
    default
        The value of the field if the option is not given.
    shown
        The default in words, if it is not the value itself.
    **given
        Arguments of ``PanelOption``.
    """
    about = {"flags": flags, "help": help, "shown": shown, **given}
    return field(default=default, metadata={"option": about})


def command(
    *arguments: click.Argument,
    examples: Sequence[str] = (),
    more: Callable[[], str] = str,
) -> Callable[[Callable[..., None]], PanelCommand]:
    """Make a command of a function, its arguments and the dataclasses that it takes."""

    def make(function: Callable[..., None]) -> PanelCommand:
        hints = get_type_hints(function)
        groups = {name: kind for name, kind in hints.items() if is_dataclass(kind)}

        def callback(**given: Any) -> None:
            names = {argument.name for argument in arguments}
            packed = {name: pack(kind, given) for name, kind in groups.items()}
            function(**{name: given[name] for name in given if name in names}, **packed)

        options = [each for kind in groups.values() for each in make_options(kind)]
        name = function.__name__.replace("_", "-")
        made = PanelCommand(
            name,
            callback=callback,
            params=[*arguments, *options],
            help=function.__doc__,
            context_settings={"max_content_width": 100},
        )
        made.examples, made.more = examples, more
        return made

    return make


def make_options(kind: Any) -> Iterable[PanelOption]:
    """An option for each field of a dataclass."""
    hints = get_type_hints(kind)
    for each in fields(kind):
        if "option" in each.metadata:
            yield make_option(each.name, hints[each.name], each.default, each.metadata["option"])


def make_option(name: str, hint: Any, default: Any, about: dict[str, Any]) -> PanelOption:
    """The option of a field, by its type."""
    given = dict(about)
    flags = given.pop("flags") or (f"--{name.replace('_', '-')}",)
    kinds = [each for each in get_args(hint) if each is not NoneType] or [hint]
    kind = kinds[0]
    shown = given.pop("shown")
    if shown is None and default is not None and default is not False:
        shown = str(default)
    if given.get("required"):
        given["help"] += " [required]"
    elif shown is not None:
        given["help"] += f" [default: {shown}]"
    if kind is bool:
        return PanelOption([*flags, name], is_flag=True, default=None, **given)
    if get_origin(kind) is list:
        given["multiple"], kind = True, str
    usual, word = TYPES[kind]
    return PanelOption([*flags, name], **{"type": usual, "metavar": word, **given})


def pack(kind: Any, given: dict[str, Any]) -> Any:
    """A dataclass of the options that were written on the command line."""
    context = click.get_current_context()
    values: dict[str, Any] = {}
    for each in fields(kind):
        if context.get_parameter_source(each.name) is ParameterSource.COMMANDLINE:
            value = given[each.name]
            values[each.name] = list(value) if isinstance(value, tuple) else value
    return kind(**values)
