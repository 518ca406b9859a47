"""Proofs that two classes can be separated, or that they cannot."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .data import Data, SetOptions, check_output, two_classes
from .groups import grouped

if TYPE_CHECKING:
    from ..theory.certificates import Inseparable, Separable


@grouped
def prove(
    data: Data,
    given: SetOptions,
    certificate: Annotated[
        Path | None, typer.Option(help="Write the proof to this JSON file.", show_default=False)
    ] = None,
    origin: Annotated[
        bool, typer.Option("--origin", help="Only planes through the origin.")
    ] = False,
) -> None:
    """Decide whether two classes can be separated, and prove it.

    Exit status 0: separable. 1: not. 3: undecided.
    """
    from ..theory.certificates import Inseparable, Separable, save_certificate
    from ..theory.separability import separability

    check_output(certificate, data)
    X, y = two_classes(data, given)
    found = separability(X, y, fit_intercept=not origin)
    print(f"{data}: {X.shape[0]} rows, {X.shape[1]} features")
    if isinstance(found, Separable):
        print(about_separable(X, y, found))
    elif isinstance(found, Inseparable):
        print(about_inseparable(y, given.positive, found))
    else:
        print(f"Undecided: a proof is out of reach; no margin can exceed {found.upper:.3g}.")
        raise typer.Exit(3)
    if certificate is not None:
        save_certificate(found, certificate)
        command = shlex.join(["rosenblatt", "verify", data, str(certificate), *given.words()])
        print(f"The proof is in {certificate}; check it with: {command}")
    raise typer.Exit(0 if isinstance(found, Separable) else 1)


@grouped
def verify(
    data: Data,
    file: Annotated[Path, typer.Argument(help="A certificate from prove.", show_default=False)],
    given: SetOptions,
) -> None:
    """Check a certificate against the data, in exact arithmetic and from scratch.

    Exit status 0: it holds. 1: it does not.
    """
    from ..theory.certificates import load_certificate

    X, y = two_classes(data, given)
    proof = load_certificate(file)
    claim = type(proof).__name__.lower()
    holds = proof.verify(X, y)
    print(f"{file} {'proves' if holds else 'does not prove'} that {data} is {claim}.")
    raise typer.Exit(0 if holds else 1)


def about_separable(X: Any, y: Any, found: "Separable") -> str:
    """What it means that a hyperplane was found."""
    from ..theory.bounds import mistake_bounds
    from ..theory.margins import max_margin

    lines = ["Separable: a hyperplane has every row strictly on its side (checked exactly)."]
    if len(set(y.tolist())) == 2:
        widest = max_margin(X, y, fit_intercept=found.fit_intercept)
        bounds = mistake_bounds(X, y, widest.weights, widest.bias)
        most = bounds.unit_step if found.fit_intercept else bounds.novikoff
        lines += [
            f"The margin is between {widest.attained:.6g}, which is attained, and "
            f"{widest.upper:.6g}, which none can exceed.",
            f"A perceptron from zero makes at most {most:,.0f} mistakes, in any order.",
        ]
    return "\n".join(lines)


def about_inseparable(y: Any, positive: str | None, found: "Inseparable", shown: int = 8) -> str:
    """Which rows clash, and how."""
    lines = ["Inseparable: the convex hulls of the classes meet (checked exactly)."]
    if found.fit_intercept:
        lines.append(f"{len(found.support)} rows clash; with these weights both sides balance:")
    else:
        lines.append(f"{len(found.support)} rows clash; with these weights they sum to zero:")
    for row, weight in list(zip(found.support, found.weights, strict=True))[:shown]:
        exact = str(weight) if len(str(weight)) <= 20 else f"about {float(weight):.6g}"
        label = y[row] if positive is None else positive if y[row] else f"not {positive}"
        lines.append(f"  row {row + 1}, class {label}: {exact}")
    if len(found.support) > shown:
        lines.append(f"  and {len(found.support) - shown} more")
    return "\n".join(lines)
