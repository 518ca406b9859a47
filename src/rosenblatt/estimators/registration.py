"""Register update rules of other packages, and the classes that learn by them."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ..parameters import RULE_NAMES, Parameter, ParameterError, RuleEntry, add_entry
from ..slices import find_by_estimator
from ..training.rules import RULES, UpdateRule
from .linear_base import LinearEstimator

Class = TypeVar("Class", bound=type[LinearEstimator])
REGISTERED: dict[str, Any] = {}
"""Classes of rules of other packages, by name."""


def register_rule(
    rule: UpdateRule, own: Mapping[str, Parameter], *, tuned: bool = False
) -> Callable[[Class], Class]:
    """Register an update rule with the class that learns by it.

    The rule is then known by its name to ``train``, ``load`` and all others, as those of the
    package are. An installed package that declares the class as an entry point of the group
    ``rosenblatt.rules``, under the name of the rule, is imported where the rule is named.

    Parameters
    ----------
    rule : UpdateRule
        The name, and the class of the settings, which says what an update is.
    own : dict of Parameter
        The parameters that the class has besides those of all rules, by name. Each becomes an
        option of the shell.
    tuned : bool, default=False
        Whether ``tune=True`` tries the rule when none is stated.

    Returns
    -------
    callable
        A decorator for the class, above ``@estimator``.

    See Also
    --------
    train : Trains a model by a rule.

    Examples
    --------
    >>> from rosenblatt.estimators.constructors import estimator
    >>> from rosenblatt.estimators.linear import LinearClassifier
    >>> from rosenblatt.training.rules import PERCEPTRON
    >>> @register_rule(PERCEPTRON, {})
    ... @estimator
    ... class Perceptron(LinearClassifier):
    ...     ...
    Traceback (most recent call last):
        ...
    rosenblatt.parameters.errors.ParameterError: The rule perceptron or the class Perceptron exists
    already; choose other names.
    """

    def register(cls: Class) -> Class:
        name = cls.__name__
        before = REGISTERED.get(name)
        again = before is not None and before._rule.name == rule.name
        if not again and (rule.name in RULES or name in RULE_NAMES or find_by_estimator(name)):
            raise ParameterError(
                f"The rule {rule.name} or the class {name} exists already; choose other names.",
                code="rule-taken",
            )
        entry = RuleEntry(name, tuned, rule.target, "", **own)
        check_constructor(cls, entry)
        add_entry(rule.name, entry)
        RULES[rule.name] = rule
        cls._parameters, cls._rule = entry.parameters, RULES[rule.name]
        REGISTERED[name] = cls
        return cls

    return register


def check_constructor(cls: type, entry: RuleEntry) -> None:
    """Refuse a class whose parameters or their defaults are not those of its rule."""
    given = {each.name: each.default for each in inspect.signature(cls).parameters.values()}
    wanted = {name: each.default for name, each in entry.parameters.items()}
    for name in sorted(given.keys() | wanted.keys()):
        missing = inspect.Parameter.empty
        if given.get(name, missing) != wanted.get(name, missing):
            raise ParameterError(
                f"The parameter {name} of {entry.estimator} differs from that of its rule; declare "
                "it in both with the same default, and decorate the class with @estimator.",
                code="rule-class",
            )
