"""Share descriptions of parameters and attributes between docstrings of classes."""

import inspect
import re
from collections.abc import Callable
from inspect import get_annotations
from itertools import starmap
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)
SECTION = re.compile(r"^(Parameters|Attributes)\n-+\n((?:\S.*\n(?: .*\n)+)+)\n*", re.MULTILINE)
ENTRY = re.compile(r"^(\w.*?) : .*\n(?: .*\n)+", re.MULTILINE)
DEFAULT = re.compile(r"(?<=default=).+$", re.MULTILINE)


def described_as(other: type) -> Callable[[Class], Class]:
    """Complete the docstring of a class with descriptions of another class.

    The docstring of the class describes what is new or different. Other parameters, and attributes
    that the class has, too, are added from the other class, in the order of the signature and with
    their own defaults.
    """

    def describe(cls: Class) -> Class:
        if cls.__doc__ and other.__doc__:  # there are none under python -OO
            parameters, attributes = parse_entries(other.__doc__)
            own, own_attributes = parse_entries(cls.__doc__)
            described = {
                name: own.get(name) or set_default(parameters[name], given.default)
                for name, given in inspect.signature(cls).parameters.items()
            }
            names = {name for kind in cls.__mro__ for name in {*vars(kind), *get_annotations(kind)}}
            shared = {name: attributes[name] for name in attributes if name in names}
            sections = {"Parameters": described, "Attributes": {**shared, **own_attributes}}
            before, *_, after = SECTION.split(inspect.cleandoc(cls.__doc__))
            cls.__doc__ = before + "".join(starmap(format_section, sections.items())) + after + "\n"
        return cls

    return describe


def parse_entries(docstring: str) -> tuple[dict[str, str], dict[str, str]]:
    """Parse the descriptions of parameters and of attributes by name."""
    found: dict[str, dict[str, str]] = {"Parameters": {}, "Attributes": {}}
    for section in SECTION.finditer(inspect.cleandoc(docstring) + "\n"):
        for entry in ENTRY.finditer(section[2]):
            found[section[1]] |= dict.fromkeys(entry[1].split(", "), entry[0])
    return found["Parameters"], found["Attributes"]


def set_default(entry: str, default: Any) -> str:
    """Replace the default in the description of a parameter."""
    spelt = f'"{default}"' if isinstance(default, str) else repr(default)
    return DEFAULT.sub(spelt, entry, count=1)


def format_section(section: str, described: dict[str, str]) -> str:
    """Format a section of a docstring; a description of several names comes once."""
    return f"{section}\n{'-' * len(section)}\n{''.join(dict.fromkeys(described.values()))}\n"
