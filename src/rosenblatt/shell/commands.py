"""Commands of click whose options are fields of dataclasses, listed in groups.

A function takes arguments and dataclasses; ``command`` makes every field of these an option. Only
what was written on the command line is passed on, so that the defaults of the dataclasses hold.
"""

from collections.abc import Callable, Iterator, Sequence
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


class GroupedOption(click.Option):
    """An option that is listed in a group of the help."""

    def __init__(self, *arguments: Any, group: str = "Options", **given: Any) -> None:
        super().__init__(*arguments, **given)
        self.group = group

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Nothing: the help itself has the range and the default."""
        return {}


class DescribedArgument(click.Argument):
    """An argument with a line of help."""

    group = "Arguments"

    def __init__(self, name: str, help: str, **given: Any) -> None:
        super().__init__([name], **given)
        self.description = help

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        """Return its name and its help."""
        return self.make_metavar(ctx), self.description


class GroupedCommand(click.Command):
    """A command whose help lists arguments, groups of options, examples, and more at its end."""

    end: Callable[[], str] = str

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the arguments and the groups of options; ``--help`` is in the last one."""
        groups: dict[str, list[tuple[str, str]]] = {}
        group = "Options"
        for parameter in self.get_params(ctx):
            group = getattr(parameter, "group", group)
            record = parameter.get_help_record(ctx)
            if record is not None:
                groups.setdefault(group, []).append(record)
        for group, records in groups.items():
            with formatter.section(group):
                formatter.write_dl(records, col_max=24)

    def format_arguments(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write nothing: click 8.5 asks for it, and older versions do not."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples and the end as they are."""
        formatter.write(f"{self.epilog}{self.end()}")


def option(
    help: str,
    metavar: str | None = None,
    default: Any = None,
    *,
    flags: Sequence[str] = (),
    shown: str | None = None,
    **given: Any,
) -> Any:
    """Declare a field of a dataclass that is an option of a command.

    Parameters
    ----------
    help
        A phrase with the quantity and its unit or range.
    metavar
        The word for its value, if it is not that of its type.
    default
        The value of the field if the option is not given.
    flags
        Its spellings; ``--`` and the name of the field unless given.
    shown
        The default in words, if it is not the value itself.
    **given
        Arguments of ``GroupedOption``.
    """
    about = {"help": help, "flags": flags, "shown": shown, **given}
    return field(default=default, metadata={"option": about, "metavar": metavar})


def command(
    *arguments: click.Argument, examples: Sequence[str] = (), end: Callable[[], str] = str
) -> Callable[[Callable[..., None]], GroupedCommand]:
    """Make a command of a function, its arguments and the dataclasses that it takes.

    The help ends with examples, and with what ``end`` returns.
    """
    listed = "".join(f"  {each}\n" for each in examples)

    def make(function: Callable[..., None]) -> GroupedCommand:
        hints = get_type_hints(function)
        groups = {name: kind for name, kind in hints.items() if is_dataclass(kind)}

        def callback(**given: Any) -> None:
            packed = {name: pack(kind, given) for name, kind in groups.items()}
            function(**{each.name: given[each.name] for each in arguments if each.name}, **packed)

        made = GroupedCommand(
            function.__name__.replace("_", "-"),
            callback=callback,
            params=[*arguments, *(each for kind in groups.values() for each in make_options(kind))],
            help=function.__doc__,
            epilog=f"\nExamples:\n{listed}" if examples else "",
            context_settings={"max_content_width": 100},
        )
        made.end = end
        return made

    return make


def make_options(kind: Any) -> Iterator[GroupedOption]:
    """An option for each field of a dataclass, by its type."""
    hints = get_type_hints(kind)
    for each in fields(kind):
        if "option" in each.metadata:
            given = dict(each.metadata["option"])
            flags = given.pop("flags") or (f"--{each.name.replace('_', '-')}",)
            shown, default = given.pop("shown"), each.default
            if shown is None and default is not None and default is not False:
                shown = str(default)
            if shown is not None:
                given["help"] += f" [default: {shown}]"
            hint = hints[each.name]
            kinds = [one for one in get_args(hint) if one is not NoneType] or [hint]
            if kinds[0] is bool:
                given |= {"is_flag": True, "default": None}
            else:
                given["multiple"] = get_origin(kinds[0]) is list
                usual, word = TYPES[str if given["multiple"] else kinds[0]]
                given = {"type": usual, "metavar": each.metadata["metavar"] or word, **given}
            yield GroupedOption([*flags, each.name], **given)


def pack(kind: Any, given: dict[str, Any]) -> Any:
    """A dataclass of the options that were written on the command line."""
    context = click.get_current_context()
    values: dict[str, Any] = {}
    for each in fields(kind):
        if context.get_parameter_source(each.name) is ParameterSource.COMMANDLINE:
            value = given[each.name]
            values[each.name] = list(value) if isinstance(value, tuple) else value
    return kind(**values)
