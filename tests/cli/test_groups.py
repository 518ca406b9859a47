"""Options that belong together travel together."""

import inspect
from dataclasses import dataclass
from typing import Annotated

import typer

from rosenblatt.cli.groups import grouped


@dataclass
class Colours:
    paper: Annotated[str, typer.Option(help="Of the paper.")] = "white"
    ink: str = "black"


def test_a_group_becomes_an_option_for_each_field():
    said = []

    @grouped
    def write(text: str, colours: Colours) -> None:
        """Write."""
        said.append((text, colours))

    assert list(inspect.signature(write).parameters) == ["text", "paper", "ink"]
    assert inspect.signature(write).parameters["ink"].default == "black"
    write(text="a", paper="blue", ink="red")
    assert said == [("a", Colours("blue", "red"))]
