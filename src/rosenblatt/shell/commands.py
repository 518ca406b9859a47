"""Commands of click whose options are fields of dataclasses, listed in groups.

A function takes arguments and dataclasses; ``command`` makes every field of these an option.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, fields, is_dataclass
from pathlib import Path
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

    def __init__(
        self,
        *arguments: Any,
        group: str = "Options",
        needs: str = "",
        excludes: str = "",
        **given: Any,
    ) -> None:
        super().__init__(*arguments, **given)
        self.group, self.needs, self.excludes = group, needs.split(), excludes.split()

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
        Arguments of ``GroupedOption``: ``needs`` and ``excludes`` are names of other options.
    """
    about = {"help": help, "metavar": metavar, "flags": flags, "shown": shown, **given}
    return field(default=default, metadata=about)


def command(
    *arguments: click.Argument, examples: Sequence[str] = (), end: Callable[[], str] = str
) -> Callable[[Callable[..., None]], GroupedCommand]:
    """Make a command of a function, its arguments and the dataclasses that it takes.

    The help ends with examples, and with what ``end`` returns.
    """
    listed = "".join(f"  {each}\n" for each in examples)

    def make(function: Callable[..., None]) -> GroupedCommand:
        hints = get_type_hints(function)
        groups: dict[str, Any] = {n: kind for n, kind in hints.items() if is_dataclass(kind)}
        options = [each for kind in groups.values() for each in make_options(kind)]

        def callback(**given: Any) -> None:
            check_together(options, given)
            packed = {
                name: kind(**{each.name: given[each.name] for each in fields(kind)})
                for name, kind in groups.items()
            }
            function(**{each.name: given[each.name] for each in arguments if each.name}, **packed)

        made = GroupedCommand(
            function.__name__.replace("_", "-"),
            callback=callback,
            params=[*arguments, *options],
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
        given = dict(each.metadata)
        flags = given.pop("flags") or (f"--{each.name.replace('_', '-')}",)
        shown, default = given.pop("shown"), each.default
        if shown is None and default not in (None, False, ()):
            shown = str(default)
        if shown is not None:
            given["help"] += f" [default: {shown}]"
        hint = hints[each.name]
        kinds = [one for one in get_args(hint) if one not in (NoneType, ...)] or [hint]
        if kinds[0] is bool:
            given |= {"is_flag": True, "metavar": None}
        else:
            given["multiple"] = get_origin(hint) is tuple
            usual, word = TYPES[kinds[0]]
            given = {"type": usual, **given, "metavar": given["metavar"] or word}
        yield GroupedOption([*flags, each.name], default=default, **given)


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
                raise CommandError(
                    f"{one.opts[0]} and {names[name]} exclude each other; leave one out."
                )
