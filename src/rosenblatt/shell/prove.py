"""Proofs that two classes can be separated, or that they cannot."""

import shlex
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .commands import CommandError, command, option
from .data import DATA, SetOptions, check_output, read_two_classes
from .format import count
from .output import print_lines

if TYPE_CHECKING:
    from ..theory.certificates import Inseparable, Separable
    from ..theory.coq import Proof


SHOWN = 8  # rows of a proof
proof_option = partial(option, group="Proof")


@dataclass
class ProofOptions(SetOptions):
    """Where a proof is written, and what is asked."""

    certificate: Path | None = proof_option("Write the proof to FILE, as JSON.")
    coq: Path | None = proof_option("Write the proof to FILE, which coqc checks.")
    plain: Path | None = proof_option(
        "Write rows.txt and proof.txt to FOLDER, for the checker rosenblatt-check of proofs/.",
        "FOLDER",
    )
    origin: bool = proof_option("Consider only planes through the origin.", default=False)
    run: bool = proof_option(
        "Prove by a run of the perceptron; --coq and --plain write its log.",
        default=False,
        excludes="certificate check",
    )
    check: Path | None = proof_option(
        "Check the proof in FILE (JSON) against the data, in exact arithmetic."
    )


@command(DATA)
def prove(data: str, given: ProofOptions) -> None:
    """Prove that a plane separates two classes, or that no plane does.

    Exit status: 0 if it is proved that one does, else 1; with --check 0 if the proof holds, else 1.

    Examples
    --------
    rosenblatt prove iris --positive-class setosa
    rosenblatt prove xor --certificate proof.json
    rosenblatt prove xor --check proof.json
    """
    from ..theory.certificates import Inseparable, Separable, save_certificate
    from ..theory.coq import log_run, to_proof
    from ..theory.problem import check_problem
    from ..theory.separability import separability

    for output in (given.certificate, given.coq):
        check_output(output, data)
    if given.plain is not None and given.plain.exists() and not given.plain.is_dir():
        raise CommandError(f"{given.plain} is a file; name a folder for rows.txt and proof.txt.")
    X, y = read_two_classes(data, given)
    if given.check is not None:
        check_proof(data, given.check, X, y)
    print(f"{data}: {count(X.shape[0], 'row')}, {count(X.shape[1], 'feature')}")
    if given.run:
        log = log_run(X, y, fit_intercept=not given.origin)
        did = "separates the rows" if log.separates else "does not separate the rows"
        print(f"A run of {count(len(log.rows), 'mistake')} {did} (checked exactly).")
        write_proof(log, X, y, given)
        raise click.exceptions.Exit(0 if log.separates else 1)
    found = separability(X, y, fit_intercept=not given.origin)
    if isinstance(found, Separable):
        print_lines(describe_separable(X, y, found))
    elif isinstance(found, Inseparable):
        print_lines(describe_inseparable(y, given.positive_class, found))
    else:
        print(f"Undecided: a proof is out of reach; no margin can exceed {found.upper:.3g}.")
        raise click.exceptions.Exit(1)
    if given.certificate is not None:
        save_certificate(found, given.certificate)
        print(f"The proof is in {given.certificate}; check it with --check {given.certificate}.")
    if given.coq is not None or given.plain is not None:
        write_proof(to_proof(found, check_problem(X, y, not given.origin)), X, y, given)
    raise click.exceptions.Exit(0 if isinstance(found, Separable) else 1)


def write_proof(proof: "Proof", X: Any, y: Any, given: ProofOptions) -> None:
    """Write a proof to the files that were named."""
    from ..theory.coq import write_coq, write_plain

    if given.coq is not None:
        write_coq(proof, X, y, given.coq)
        print(f"The proof is in {given.coq}; check it with: coqc {shlex.quote(str(given.coq))}")
    if given.plain is not None:
        files = shlex.join(map(str, write_plain(proof, X, y, given.plain)))
        print(f"Rows and proof are in {given.plain}; check them with: rosenblatt-check {files}")


def check_proof(data: str, file: Path, X: Any, y: Any) -> None:
    """Check a proof against the data, and end with status 0 if it holds, else 1."""
    from ..theory.certificates import load_certificate

    proof = load_certificate(file)
    holds, claim = proof.verify(X, y), type(proof).__name__.lower()
    print(f"{file} {'proves' if holds else 'does not prove'} that {data} is {claim}.")
    raise click.exceptions.Exit(0 if holds else 1)


def describe_separable(X: Any, y: Any, found: "Separable") -> list[str]:
    """What it means that a hyperplane was found."""
    import numpy as np

    from ..theory.bounds import mistake_bounds
    from ..theory.margins import max_margin

    lines = ["Separable: a hyperplane has every row strictly on its side (checked exactly)."]
    if len(set(y.tolist())) == 2:
        widest = max_margin(X, y, fit_intercept=found.fit_intercept)
        attained = max(widest.attained, found.margin)
        lines.append(
            f"The margin is between {attained:.6g}, which is attained, and {widest.upper:.6g}, "
            "which none can exceed."
        )
        bounds = mistake_bounds(X, y, widest.weights, widest.bias)
        most = bounds.unit_step if found.fit_intercept else bounds.novikoff
        if np.isfinite(most):
            lines.append(
                f"A perceptron from zero makes at most {most:,.0f} mistakes, in any order."
            )
    return lines


def describe_inseparable(y: Any, positive: str | None, found: "Inseparable") -> list[str]:
    """Which rows clash, and how."""
    lines = ["Inseparable: the convex hulls of the classes meet (checked exactly)."]
    rows = count(len(found.support), "row")
    sums = "both sides balance" if found.fit_intercept else "they sum to zero"
    lines.append(f"With these weights of {rows}, {sums}:")
    for row, weight in list(zip(found.support, found.weights, strict=True))[:SHOWN]:
        exact = str(weight) if len(str(weight)) <= 20 else f"about {float(weight):.6g}"
        label = y[row] if positive is None else positive if y[row] else f"not {positive}"
        lines.append(f"  row {row + 1}, class {label}: {exact}")
    if len(found.support) > SHOWN:
        lines.append(f"  and {len(found.support) - SHOWN} more")
    return lines
