"""Errors about parameters, written for Python or for the shell.

A message is a template. ``{order}`` stands for a parameter with its value, ``{order="each"}`` for
the parameter with another value, and ``{order?}`` for its name alone. Python shows
``order="each"``, the shell ``--order each``.
"""

import re
from collections.abc import Callable
from typing import Any

TOKEN = re.compile(r'\{(\w+)(\?|=(?:"(\w+)"|(\w+)))?\}')
NAME_ONLY = object()
"""In place of a value: render the name of the parameter alone."""
SHELL_NAMES = {
    "max_iter": "epochs",
    "random_state": "seed",
    "n_iter_no_change": "early_stopping",
    "calibrate": "probabilities",
    "intercept_step": "bias_step",
}
"""Parameters that have another name in the shell."""


class ParameterError(ValueError):
    """A parameter is out of range, or does not go with another one.

    Parameters
    ----------
    template
        The message, with parameters in braces.
    code
        A short name of the error that stays the same when the message changes.
    **values
        Parameters by name; those that the message mentions are kept.

    Attributes
    ----------
    code : str
        The short name.
    values : dict
        The parameters that the message mentions.
    """

    def __init__(self, template: str, /, *, code: str = "parameter", **values: Any) -> None:
        mentioned = {token[1] for token in TOKEN.finditer(template)}
        self.template, self.code = template, code
        self.values = {name: values[name] for name in values if name in mentioned}
        super().__init__(self.render(in_python))

    def render(self, spell: Callable[[str, Any], str]) -> str:
        """Return the message; ``spell(name, value)`` writes a parameter, or its name alone."""

        def replace(token: re.Match[str]) -> str:
            name, kind, word, literal = token.groups()
            if kind is None:
                return spell(name, self.values[name]) if name in self.values else token[0]
            return spell(name, NAME_ONLY if kind == "?" else word or literal)

        return TOKEN.sub(replace, self.template)

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuild_error, (type(self), self.template, self.code, self.values)


def rebuild_error(
    kind: type[ParameterError], template: str, code: str, values: dict[str, Any]
) -> ParameterError:
    """Unpickle an error."""
    return kind(template, code=code, **values)


def in_python(name: str, value: Any) -> str:
    """Write a parameter as in Python.

    >>> in_python("order", "each"), in_python("early_stopping", True)
    ('order="each"', 'early_stopping=True')
    """
    if value is NAME_ONLY:
        return name
    literal = isinstance(value, str) and value not in ("True", "False", "None")
    return f'{name}="{value}"' if literal else f"{name}={value}"
