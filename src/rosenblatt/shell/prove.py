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

if TYPE_CHECKING:
    from ..theory.certificates import Inseparable, Separable
    from ..theory.coq import Proof


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
        excludes="certificate",
    )
    epochs: int = proof_option("Largest number of epochs with --run.", default=100)
    check: Path | None = proof_option(
        "Check the proof in FILE (JSON) against the data, in exact arithmetic."
    )

    def write(self, proof: "Proof", X: Any, y: Any) -> None:
        """Write a proof to the files that were named."""
        from ..theory.coq import write_coq, write_plain

        if self.coq is not None:
            write_coq(proof, X, y, self.coq)
            print(f"The proof is in {self.coq}; check it with: coqc {shlex.quote(str(self.coq))}")
        if self.plain is not None:
            files = shlex.join(map(str, write_plain(proof, X, y, self.plain)))
            print(f"Rows and proof are in {self.plain}; check them with: rosenblatt-check {files}")


@command(
    DATA,
    examples=[
        "rosenblatt prove iris --positive-class setosa",
        "rosenblatt prove xor --certificate proof.json",
        "rosenblatt prove xor --check proof.json",
    ],
)
def prove(data: str, given: ProofOptions) -> None:
    """Prove that a plane separates two classes, or that no plane does.

    Exit status: 0 if it is proved that one does, else 1; with --check 0 if the proof holds, else 1.
    """
    from ..theory.certificates import Inseparable, Separable, save_certificate
    from ..theory.coq import to_proof
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
        prove_by_run(X, y, given)
    found = separability(X, y, fit_intercept=not given.origin)
    if isinstance(found, Separable):
        print(about_separable(X, y, found))
    elif isinstance(found, Inseparable):
        print(about_inseparable(y, given.positive_class, found))
    else:
        print(f"Undecided: a proof is out of reach; no margin can exceed {found.upper:.3g}.")
        raise click.exceptions.Exit(1)
    if given.certificate is not None:
        save_certificate(found, given.certificate)
        words = ["rosenblatt", "prove", data, "--check", str(given.certificate), *given.words()]
        print(f"The proof is in {given.certificate}; check it with: {shlex.join(words)}")
    if given.coq is not None or given.plain is not None:
        given.write(to_proof(found, check_problem(X, y, not given.origin)), X, y)
    raise click.exceptions.Exit(0 if isinstance(found, Separable) else 1)


def prove_by_run(X: Any, y: Any, options: ProofOptions) -> None:
    """Run the perceptron, print what its log proves, and end with the exit status of ``prove``."""
    from ..theory.coq import log_run

    log = log_run(X, y, fit_intercept=not options.origin, max_iter=options.epochs)
    mistakes = count(len(log.rows), "mistake")
    if log.separates:
        print(f"Separable: the run separated the rows after {mistakes} (checked exactly).")
    else:
        print(f"Undecided: the run made {mistakes} in {count(options.epochs, 'epoch')}.")
    options.write(log, X, y)
    raise click.exceptions.Exit(0 if log.separates else 1)


def check_proof(data: str, file: Path, X: Any, y: Any) -> None:
    """Check a proof against the data, and end with status 0 if it holds, else 1."""
    from ..theory.certificates import load_certificate

    proof = load_certificate(file)
    holds, claim = proof.verify(X, y), type(proof).__name__.lower()
    print(f"{file} {'proves' if holds else 'does not prove'} that {data} is {claim}.")
    raise click.exceptions.Exit(0 if holds else 1)


def about_separable(X: Any, y: Any, found: "Separable") -> str:
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
    return "\n".join(lines)


def about_inseparable(y: Any, positive: str | None, found: "Inseparable", shown: int = 8) -> str:
    """Which rows clash, and how."""
    lines = ["Inseparable: the convex hulls of the classes meet (checked exactly)."]
    rows = count(len(found.support), "row")
    sums = "both sides balance" if found.fit_intercept else "they sum to zero"
    lines.append(f"With these weights of {rows}, {sums}:")
    for row, weight in list(zip(found.support, found.weights, strict=True))[:shown]:
        exact = str(weight) if len(str(weight)) <= 20 else f"about {float(weight):.6g}"
        label = y[row] if positive is None else positive if y[row] else f"not {positive}"
        lines.append(f"  row {row + 1}, class {label}: {exact}")
    if len(found.support) > shown:
        lines.append(f"  and {len(found.support) - shown} more")
    return "\n".join(lines)
