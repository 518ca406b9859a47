"""Proofs that two classes can be separated, or that they cannot."""

import shlex
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .data import DATA, SetOptions, check_output, two_classes
from .panels import DescribedArgument, command, option

if TYPE_CHECKING:
    from ..theory.certificates import Inseparable, Separable


proof_option = partial(option, panel="Proof")


@dataclass
class ProofOptions:
    """What is proved, and where the proof goes."""

    certificate: Path | None = proof_option(help="Write the proof to FILE, as JSON.")
    origin: bool = proof_option(help="Consider only planes through the origin.", default=False)


@command(
    DATA,
    examples=[
        "rosenblatt prove iris --positive setosa",
        "rosenblatt prove xor --certificate proof.json",
    ],
)
def prove(data: str, proof: ProofOptions, given: SetOptions) -> None:
    """Prove that a plane separates two classes, or that no plane does.

    Exit status: 0 separable, 1 inseparable, 3 undecided.
    """
    from ..theory.certificates import Inseparable, Separable, save_certificate
    from ..theory.separability import separability

    certificate = proof.certificate
    check_output(certificate, data)
    X, y = two_classes(data, given)
    found = separability(X, y, fit_intercept=not proof.origin)
    print(f"{data}: {X.shape[0]} rows, {X.shape[1]} features")
    if isinstance(found, Separable):
        print(about_separable(X, y, found))
    elif isinstance(found, Inseparable):
        print(about_inseparable(y, given.positive, found))
    else:
        print(f"Undecided: a proof is out of reach; no margin can exceed {found.upper:.3g}.")
        raise click.exceptions.Exit(3)
    if certificate is not None:
        save_certificate(found, certificate)
        command = shlex.join(["rosenblatt", "verify", data, str(certificate), *given.words()])
        print(f"The proof is in {certificate}; check it with: {command}")
    raise click.exceptions.Exit(0 if isinstance(found, Separable) else 1)


@command(
    DATA,
    DescribedArgument("file", "A certificate written by prove.", type=click.Path(path_type=Path)),
    examples=["rosenblatt verify xor proof.json"],
)
def verify(data: str, file: Path, given: SetOptions) -> None:
    """Check a certificate against the data, in exact arithmetic.

    Exit status: 0 if it holds, 1 if it does not.
    """
    from ..theory.certificates import load_certificate

    X, y = two_classes(data, given)
    proof = load_certificate(file)
    claim = type(proof).__name__.lower()
    holds = proof.verify(X, y)
    print(f"{file} {'proves' if holds else 'does not prove'} that {data} is {claim}.")
    raise click.exceptions.Exit(0 if holds else 1)


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
