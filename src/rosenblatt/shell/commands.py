"""Commands of click whose options are the fields of a dataclass, listed in groups.

A function takes arguments and a dataclass; ``command`` makes every field of it an option.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, fields, is_dataclass
from inspect import cleandoc
from pathlib import Path
from textwrap import indent
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import click

TYPES: dict[type, tuple[Any, str]] = {
    int: (click.INT, "N"),
    float: (click.FLOAT, "NUMBER"),
    str: (click.STRING, "NAME"),
    Path: (click.Path(path_type=Path), "FILE"),
}
"""The type of click and the word in the help, by the type of a field."""


class CommandError(ValueError):
    """A command cannot do what its options ask for."""

    code = "option"


class GroupedOption(click.Option):
    """An option that is listed in a group of the help, and may need or exclude others."""

    def __init__(self, *arguments: Any, **given: Any) -> None:
        self.group = given.pop("group", "Options")
        self.needs, self.excludes = (given.pop(name, "").split() for name in ("needs", "excludes"))
        super().__init__(*arguments, **given)

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
    """A command whose help lists arguments, groups of options, and examples."""

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
        """Write the examples as they are."""
        formatter.write(self.epilog or "")


def option(help: str, metavar: str | None = None, default: Any = None, **given: Any) -> Any:
    """Declare a field of a dataclass that is an option of a command.

    Parameters
    ----------
    help
        A phrase with the quantity and its unit or range.
    metavar
        The word for its value, if it is not that of its type.
    default
        The value of the field if the option is not given.
    **given
        ``flags`` are its spellings if they are not ``--`` and the name of the field, and ``shown``
        is the default in words if it is not the value itself. The rest are arguments of
        ``GroupedOption``; its ``needs`` and ``excludes`` are names of other options.
    """
    return field(default=default, metadata={"help": help, "metavar": metavar, **given})


def command(*arguments: click.Argument) -> Callable[[Callable[..., None]], GroupedCommand]:
    """Make a command of a function that takes the arguments, and a dataclass of the options.

    The docstring of the function is the help; its section of examples is the end.
    """

    def make(function: Callable[..., None]) -> GroupedCommand:
        hints: dict[str, Any] = get_type_hints(function)
        ((name, kind),) = [each for each in hints.items() if is_dataclass(each[1])]
        options = list(make_options(kind))
        text, _, examples = cleandoc(str(function.__doc__)).partition("Examples\n--------\n")

        def callback(**given: Any) -> None:
            check_together(options, given)
            packed = {str(each.name): given.pop(str(each.name)) for each in options}
            function(**given, **{name: kind(**packed)})

        return GroupedCommand(
            function.__name__,
            callback=callback,
            params=[*arguments, *options],
            help=text,
            epilog=f"\nExamples:\n{indent(examples, '  ')}\n",
            context_settings={"max_content_width": 100},
        )

    return make


def make_options(kind: Any) -> Iterator[GroupedOption]:
    """An option for each field of a dataclass, by its type."""
    hints = get_type_hints(kind)
    for each in fields(kind):
        given, hint = dict(each.metadata), hints[each.name]
        flags = given.pop("flags", [f"--{each.name.replace('_', '-')}"])
        shown = given.pop("shown", each.default)
        if shown not in (None, False, ()):
            given["help"] += f" [default: {shown}]"
        kinds = [one for one in get_args(hint) if one not in (NoneType, ...)] or [hint]
        if kinds[0] is bool:
            given |= {"is_flag": True, "metavar": None}
        else:
            usual, word = TYPES[kinds[0]]
            given = {"type": usual, "multiple": get_origin(hint) is tuple, **given}
            given["metavar"] = given["metavar"] or word
        if not given.get("required"):  # a default, even None, would be a value of it
            given["default"] = each.default
        yield GroupedOption([*flags, each.name], **given)


def check_together(options: Sequence[GroupedOption], given: Mapping[str, Any]) -> None:
    """Refuse options without one that they need, and beside one that they exclude."""
    names = {one.name: one.opts[0] for one in options}
    there = {name for name in names if given[name] not in (None, ()) and given[name] is not False}
    for one in options:
        for name in one.needs if one.name in there else ():
            if name not in there:
                raise CommandError(f"{one.opts[0]} needs {names[name]}; add it.")
        for name in one.excludes if one.name in there else ():
            if name in there:
                both = f"{one.opts[0]} and {names[name]}"
                raise CommandError(f"{both} exclude each other; leave one out.")
