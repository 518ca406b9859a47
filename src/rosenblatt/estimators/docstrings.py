"""Parameters and attributes that classes share, described once."""

import inspect
import re
from collections.abc import Callable
from itertools import starmap
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)
SECTION = re.compile(r"^(Parameters|Attributes)\n-+\n((?:\S.*\n(?: .*\n)+)+)\n*", re.MULTILINE)
ENTRY = re.compile(r"^(\w.*?) : .*\n(?: .*\n)+", re.MULTILINE)
DEFAULT = re.compile(r"(?<=default=).+$", re.MULTILINE)


def described_as(other: type) -> Callable[[Class], Class]:
    """Describe what a class has in common with another one as that one does.

    The docstring of the class says what is its own or different. What it does not mention is added
    from the other's docstring, parameters in the order of the signature and with their defaults.
    """

    def describe(cls: Class) -> Class:
        if cls.__doc__ and other.__doc__:  # there are none under python -OO
            parameters, attributes = entries(other.__doc__)
            own, own_attributes = entries(cls.__doc__)
            described = {
                name: own.get(name) or with_default(parameters[name], given.default)
                for name, given in inspect.signature(cls).parameters.items()
            }
            sections = {"Parameters": described, "Attributes": {**attributes, **own_attributes}}
            before, *_, after = SECTION.split(inspect.cleandoc(cls.__doc__))
            cls.__doc__ = before + "".join(starmap(written, sections.items())) + after + "\n"
        return cls

    return describe


def entries(docstring: str) -> tuple[dict[str, str], dict[str, str]]:
    """What is said of each parameter and of each attribute."""
    found: dict[str, dict[str, str]] = {"Parameters": {}, "Attributes": {}}
    for section in SECTION.finditer(inspect.cleandoc(docstring) + "\n"):
        for entry in ENTRY.finditer(section[2]):
            found[section[1]] |= dict.fromkeys(entry[1].split(", "), entry[0])
    return found["Parameters"], found["Attributes"]


def with_default(entry: str, default: Any) -> str:
    """The description of a parameter with another default."""
    spelt = f'"{default}"' if isinstance(default, str) else repr(default)
    return DEFAULT.sub(spelt, entry, count=1)


def written(section: str, described: dict[str, str]) -> str:
    """A section of a docstring; what describes several names comes once."""
    return f"{section}\n{'-' * len(section)}\n{''.join(dict.fromkeys(described.values()))}\n"
