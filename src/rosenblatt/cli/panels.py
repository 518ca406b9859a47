"""Commands of click whose options are fields of dataclasses, listed in panels.

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

from ..parameters import ANY_RULE, SHELL_NAMES, Parameter

TYPES: dict[type, Any] = {int: click.INT, float: click.FLOAT, str: click.STRING}
NO_BREAK, NO_BREAK_HYPHEN = "\N{NO-BREAK SPACE}", "\N{NON-BREAKING HYPHEN}"
EVERYTHING = "rosenblatt.help_all"  # set in a context that lists all options
METAVARS: dict[type, str] = {int: "N", float: "NUMBER", str: "NAME"}


class CommandError(ValueError):
    """A command cannot do what its options ask for; ``code`` is a short name of the reason."""

    def __init__(self, sentence: str, code: str) -> None:
        super().__init__(sentence)
        self.code = code


class PanelOption(click.Option):
    """An option that is listed in a panel of the help.

    ``also`` are spellings that are accepted and not listed, such as a parameter's name in Python.
    ``more`` returns a sentence to add to the help, found when the help is shown.
    """

    def __init__(
        self,
        flags: Sequence[str],
        *arguments: Any,
        panel: str = "Options",
        also: Sequence[str] = (),
        more: Callable[[], str] = str,
        **given: Any,
    ) -> None:
        super().__init__([*flags, *also], *arguments, **given)
        self.panel, self.also, self.more = panel, also, more

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the spellings to list, and the help; a flag is off unless its help says more."""
        every, self.opts = self.opts, [each for each in self.opts if each not in self.also]
        try:
            record = super().get_help_record(ctx)
        finally:
            self.opts = every
        if record is None:
            return None
        return record[0], record[1].removesuffix(f" [default:{NO_BREAK}off]") + self.more()

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
    """A command whose help lists arguments, options by panel, and examples.

    The options of ``further`` panels are only named, unless ``--help-all`` asks for them.
    """

    examples: Sequence[str] = ()
    further: Sequence[str] = ()

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the arguments and options, with ``--help-all`` if it has something to add."""
        found = super().get_params(ctx)
        if not self.further:
            return found
        *others, help_option = found
        described = click.Option(
            ["--help-all"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            help="Show all options and exit.",
            callback=self.show_everything,
        )
        return [*others, help_option, described]

    def show_everything(self, ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
        """Print the help with the options of all panels, and stop."""
        if wanted:
            ctx.meta[EVERYTHING] = True
            click.echo(ctx.get_help())
            ctx.exit()

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the arguments and the panels of options."""
        panels: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        for parameter in self.get_params(ctx):
            kind = "Arguments" if isinstance(parameter, click.Argument) else "Options"
            name, text = parameter.get_help_record(ctx) or ("", "")
            if name:
                unbroken = text.replace("-", NO_BREAK_HYPHEN)
                panels.setdefault(getattr(parameter, "panel", kind), []).append((name, unbroken))
        if self.further and EVERYTHING not in ctx.meta:
            named = {panel: panels.pop(panel) for panel in self.further}
            flags = {
                panel: [next(word for word in name.split() if word[:2] == "--") for name, _ in own]
                for panel, own in named.items()
            }
            panels["More options (see --help-all)"] = [
                (panel, " ".join(own).replace("-", NO_BREAK_HYPHEN)) for panel, own in flags.items()
            ]
        for panel, records in panels.items():
            if records:
                with formatter.section(panel):
                    formatter.write_dl(records, col_max=24)
        formatter.buffer = [
            text.replace(NO_BREAK, " ").replace(NO_BREAK_HYPHEN, "-") for text in formatter.buffer
        ]

    def format_arguments(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write nothing: click 8.5 asks for it, and older versions do not."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples:
                    formatter.write(f"{' ' * formatter.current_indent}{line}\n")


def option(
    *flags: str, help: str, default: Any = None, shown: str | None = None, **given: Any
) -> Any:
    """Declare a field of a dataclass that is an option of a command.

    Parameters
    ----------
    *flags
        Its spellings; ``--`` and the name of the field unless given.
    help
        A sentence with the quantity and its unit or range.
    default
        The value of the field if the option is not given.
    shown
        The default in words, if it is not the value itself.
    **given
        Arguments of ``PanelOption``.
    """
    about = {"flags": flags, "help": help, "shown": shown, **given}
    return field(default=default, metadata={"option": about})


def options_by_name(options: Iterable[PanelOption]) -> Any:
    """Declare a field that takes the values of several options in a dict."""
    return field(default_factory=dict, metadata={"options": list(options)})


def with_default(help: str, default: Any, shown: str | None = None) -> str:
    """A sentence with the default at its end.

    >>> [with_default("Epochs.", value).replace(NO_BREAK, " ") for value in (10, False, 0.5)]
    ['Epochs. [default: 10]', 'Epochs. [default: off]', 'Epochs. [default: 0.5]']
    """
    if shown is None:
        known = default is None or isinstance(default, bool)
        words = {None: "none", False: "off", True: "on"}
        shown = words[default] if known else str(default).removesuffix(".0")
    return f"{help} [default:{NO_BREAK}{shown}]"


def parameter_option(name: str, parameter: Parameter, panel: str, help: str = "") -> PanelOption:
    """Make the option of a parameter of the tables; its help is the table's unless given."""
    shell = SHELL_NAMES.get(name, name)
    flag = find_flag(shell)
    text = help or with_default(sentence(parameter), parameter.default)
    if parameter.type is bool:
        flags = f"{flag}/--no-{flag[2:]}" if parameter.default else flag
        return PanelOption([flags, shell], panel=panel, help=text, is_flag=True, default=None)
    kind = click.Choice(parameter.choices) if parameter.choices else TYPES[parameter.type]
    metavar = METAVARS[parameter.type]
    return PanelOption([flag, shell], panel=panel, help=text, type=kind, metavar=metavar)


def find_flag(name: str) -> str:
    """The option of a name.

    >>> find_flag("max_iter")
    '--max-iter'
    """
    return "--" + name.replace("_", "-")


def sentence(parameter: Parameter) -> str:
    """The help of a parameter as a sentence that names its choices."""
    named = all(word in parameter.help for word in parameter.choices)
    return f"{parameter.help}." if named else f"{parameter.help}: {', '.join(parameter.choices)}."


def command(
    *arguments: click.Argument, examples: Sequence[str] = (), further: Sequence[str] = ()
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
            name, callback=callback, params=[*arguments, *options], help=function.__doc__
        )
        made.examples, made.further = examples, further
        return made

    return make


def make_options(kind: Any) -> Iterable[PanelOption]:
    """An option for each field of a dataclass."""
    hints = get_type_hints(kind)
    for each in fields(kind):
        if "options" in each.metadata:
            yield from each.metadata["options"]
        elif "option" in each.metadata:
            yield make_option(each.name, hints[each.name], each.default, each.metadata["option"])


def make_option(name: str, hint: Any, default: Any, about: dict[str, Any]) -> PanelOption:
    """The option of a field, by its type."""
    given = dict(about)
    flags = given.pop("flags") or (find_flag(name),)
    python = {shell: name for name, shell in SHELL_NAMES.items() if shell not in ANY_RULE}
    given.setdefault("also", [find_flag(python[name])] if name in python else [])
    text, shown = given.pop("help"), given.pop("shown")
    required = given.get("required", False)
    given["help"] = f"{text} [required]" if required else with_default(text, default, shown)
    kinds = [each for each in get_args(hint) if each is not NoneType] or [hint]
    kind = kinds[0]
    if kind is bool:
        given |= {"is_flag": True, "default": None}
    elif get_origin(kind) is list:
        given |= {"multiple": True, "type": click.STRING}
    elif kind is Path:
        given.setdefault("type", click.Path(path_type=Path))
    else:
        given.setdefault("type", TYPES[kind])
    metavar = "FILE" if kind is Path else METAVARS.get(kind, "NAME")
    given.setdefault("metavar", None if kind is bool else metavar)
    return PanelOption([*flags, name], **given)


def pack(kind: Any, given: dict[str, Any]) -> Any:
    """A dataclass of the options that were written on the command line."""
    context = click.get_current_context()

    def is_stated(name: str) -> bool:
        return context.get_parameter_source(name) is ParameterSource.COMMANDLINE

    values: dict[str, Any] = {}
    for each in fields(kind):
        if "options" in each.metadata:
            names = [str(one.name) for one in each.metadata["options"]]
            values[each.name] = {name: given[name] for name in names if is_stated(name)}
        elif is_stated(each.name):
            value = given[each.name]
            values[each.name] = list(value) if isinstance(value, tuple) else value
    return kind(**values)
