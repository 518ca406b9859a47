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
        lines = [line for command in list_commands() for line in told(command)]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def list_commands() -> list[Any]:
    """All commands of the program."""
    context = click.Context(program)
    return [program.get_command(context, name) for name in program.list_commands(context)]


def told(command: Any) -> Iterator[str]:
    """A command as reStructuredText."""
    name = f"{NAME} {command.name}"
    panels: dict[str, list[Any]] = {}
    for parameter in command.params:
        if not getattr(parameter, "hidden", False):
            panels.setdefault(panel_of(parameter), []).append(parameter)
    arguments = [shown(one) for one in panels.get("Arguments", [])]
    usage = " ".join([name, *arguments, *["[OPTIONS]"] * (len(panels) > bool(arguments))])
    yield from ("", name, "-" * len(name), "", f".. program:: {name}", "")
    yield from (".. code-block:: console", "", f"   $ {usage}", "")
    yield from about(command.help or "")
    if command.examples:
        yield from (".. code-block:: console", "", *(f"   $ {line}" for line in command.examples))
    for panel, parameters in panels.items():
        yield from ("", f".. rubric:: {panel}", "")
        for parameter in parameters:
            help_ = plain(getattr(parameter, "description", parameter.help) or "")
            yield from (f".. option:: {shown(parameter)}", "", f"   {help_}", "")


def about(text: str) -> Iterator[str]:
    """What a command is for."""
    yield from (f"{plain(' '.join(one.split()))}\n" for one in text.split("\n\n"))


def panel_of(parameter: Any) -> str:
    """The group in which a parameter is shown."""
    usual = "Options" if parameter.param_type_name == "option" else "Arguments"
    return getattr(parameter, "panel", usual)


def shown(parameter: Any) -> str:
    """An argument or an option as it is written."""
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
