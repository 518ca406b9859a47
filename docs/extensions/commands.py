"""The command line reference, made from what the program itself says with ``--help``."""

from collections.abc import Iterator
from typing import Any

import click
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from rosenblatt.shell.app import app as program

NAME = "rosenblatt"


class Commands(SphinxDirective):
    """A section for each command: what it does, its arguments, and its options by group."""

    def run(self) -> list[nodes.Node]:
        """Make the sections."""
        lines = [line for command in list_commands() for line in describe(command)]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def list_commands() -> list[Any]:
    """All commands of the program."""
    context = click.Context(program)
    return [program.get_command(context, name) for name in program.list_commands(context)]


def describe(command: Any) -> Iterator[str]:
    """A command as reStructuredText."""
    name = f"{NAME} {command.name}"
    groups: dict[str, list[Any]] = {}
    for parameter in command.params:
        groups.setdefault(parameter.group, []).append(parameter)
    arguments = [spell(one) for one in groups.get("Arguments", [])]
    usage = " ".join([name, *arguments, *["[OPTIONS]"] * (len(groups) > bool(arguments))])
    yield from ("", name, "-" * len(name), "", f".. program:: {name}", "")
    yield from (".. code-block:: console", "", f"   $ {usage}", "")
    yield from about(command.help or "")
    for group, parameters in groups.items():
        yield from ("", f".. rubric:: {group}", "")
        for parameter in parameters:
            help_ = plain(getattr(parameter, "description", None) or parameter.help)
            yield from (f".. option:: {spell(parameter)}", "", f"   {help_}", "")
    shown = [f"   {line}" for line in command.epilog.splitlines()]
    yield from ("", ".. code-block:: text", "", *shown, "")


def about(text: str) -> Iterator[str]:
    """What a command is for."""
    yield from (f"{plain(' '.join(one.split()))}\n" for one in text.split("\n\n"))


def spell(parameter: Any) -> str:
    """An argument or an option as it is written on the command line."""
    value = (parameter.metavar or parameter.name.upper()).strip("[]")
    if parameter.param_type_name == "argument":
        return value if parameter.required else f"[{value}]"
    names = [*parameter.opts, *parameter.secondary_opts]
    return ", ".join(names if parameter.is_flag else [f"{name} {value}" for name in names])


def plain(text: str) -> str:
    """Text in which nothing is markup."""
    return "".join("\\" + letter if letter in "*`_|\\<" else letter for letter in text)


def setup(app: Any) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
