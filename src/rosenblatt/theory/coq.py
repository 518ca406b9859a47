"""Certificates and runs for the proof assistant Coq, and as text for the extracted checker.

The theory is in ``proofs/`` of the repository. Floats are integers times powers of two, so these
files hold exactly the rows in memory.
"""

import math
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..data.rows import to_dense
from ..disk import replace_file
from .certificates import Inseparable, Separable
from .margins import solve_max_margin
from .problem import Problem, check_problem, to_integers
from .separability import start_perceptron

MOST_NUMBERS = 50_000  # coqc reads about a thousand a second
MOST_MISTAKES = 5_000  # Coq writes the natural number n with n symbols
BITS = (16, 32, 53)  # of the weights; fewer bits are checked faster


class Plane(NamedTuple):
    """A separating hyperplane of integers, and a bound on the mistakes of a run.

    ``mistakes`` bounds every run whose bias moves by 1, or that has no bias if ``fit_intercept`` is
    false; None if it was not computed.
    """

    weights: tuple[int, ...]
    bias: int
    mistakes: int | None
    fit_intercept: bool = True


class Clash(NamedTuple):
    """Rows with positive integers, so that the sum of signed rows times integers is zero."""

    multipliers: tuple[tuple[int, int], ...]
    fit_intercept: bool = True


class RunLog(NamedTuple):
    """The rows on which a perceptron from zero made its mistakes, in order.

    A mistake moves the bias by 1, if there is one. ``separates`` tells whether the last weights
    separate the rows.
    """

    rows: tuple[int, ...]
    separates: bool
    fit_intercept: bool = True


Proof = Plane | Clash | RunLog


# From certificates to integers


def to_proof(verdict: Separable | Inseparable, problem: Problem) -> Plane | Clash:
    """Convert a certificate to integers; raise ValueError if it does not hold."""
    if not verdict.holds(problem):
        raise ValueError("The certificate does not hold for these rows, so it cannot be written.")
    if isinstance(verdict, Inseparable):
        weights = to_coprime(verdict.weights)
        pairs = zip(verdict.support, weights, strict=True)
        return Clash(tuple(sorted(pair for pair in pairs if pair[1])), verdict.fit_intercept)
    *w, b = find_short_plane(verdict, problem)
    plane = Plane(tuple(w), b, None, verdict.fit_intercept)
    counts = len(problem.signs) > 0 and math.prod(problem.X.shape) <= MOST_NUMBERS
    return plane._replace(mistakes=bound_mistakes(plane, problem)) if counts else plane


def to_coprime(values: tuple[Any, ...]) -> tuple[int, ...]:
    """Multiply numbers by the smallest positive number that makes all of them integers."""
    whole, _ = to_integers(values)
    divisor = math.gcd(*whole) or 1
    return tuple(value // divisor for value in whole)


def find_short_plane(found: Separable, problem: Problem) -> tuple[int, ...]:
    """Find weights and bias that separate with few bits, if possible those of the widest margin."""
    plane = found
    if len(set(problem.signs.tolist())) == 2:
        problem = problem._replace(fit_intercept=found.fit_intercept)
        plane = solve_max_margin(problem, 1e-3).plane
    numbers: tuple[Any, ...] = (*plane.weights, plane.bias)
    largest = max(map(abs, numbers))
    for bits in BITS if 0 < largest < np.inf else ():
        whole = tuple(round(Fraction(value) * 2**bits / Fraction(largest)) for value in numbers)
        *w, b = map(float, whole)
        if Separable(tuple(w), b, np.nan).separates(problem):
            return whole
    return to_coprime((*found.weights, found.bias))


def bound_mistakes(plane: Plane, problem: Problem) -> int:
    """Compute the bound of the convergence theorem on the mistakes of every run, rounded down.

    (R² + s)(‖u‖² + c²) / γ² for a bias c that moves by s: 1, or 0 without a bias.
    """
    rows = np.arange(len(problem.signs))
    least = min(Separable(plane.weights, plane.bias, np.nan).exact_margins(problem, rows))
    longest = max(sum(Fraction(value) ** 2 for value in x) for _, x in read_rows(problem))
    size = sum(value**2 for value in (*plane.weights, plane.bias))
    return math.floor((longest + plane.fit_intercept) * size / least**2)


# Runs


def log_run(X: Any, y: ArrayLike, *, fit_intercept: bool = True, max_iter: int = 100) -> RunLog:
    """Train a perceptron from zero in the order of the rows, and log its mistakes.

    The log is replayed in exact arithmetic; raises ValueError if rounding made an update that is
    not a mistake there.
    """
    problem = check_problem(X, y, fit_intercept)
    run = start_perceptron(problem, float(fit_intercept), max_iter, "fixed")
    rows = [int(i) for order, done in run.updates() for i in order[done.updates["position"]]]
    weights = np.zeros(problem.X.shape[1] + 1, object)
    for number, i in enumerate(rows, 1):
        x = to_dense(problem.X[[i]]).ravel().tolist()
        signed = int(problem.signs[i]) * np.array([*map(Fraction, [*x, fit_intercept])], object)
        if weights @ signed > 0:
            update = f"Update {number}, on row {i + 1}"
            raise ValueError(f"{update}, is not a mistake in exact arithmetic; round the rows.")
        weights = weights + signed
    *w, b = weights.tolist()
    separates = Separable(tuple(w), b, np.nan).separates(problem)
    return RunLog(tuple(rows), separates, fit_intercept)


# Files for Coq


def write_coq(proof: Proof, X: Any, y: ArrayLike, path: str | Path) -> None:
    """Write a Coq file with the theory, the rows, the proof and its statement."""
    text = format_coq(proof, check_problem(X, y))
    with replace_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def format_coq(proof: Proof, problem: Problem) -> str:
    """Format the text of a Coq file."""
    n, d = problem.X.shape
    instead = "write plain text for rosenblatt-check"
    if n * (d + 1) > MOST_NUMBERS:
        raise ValueError(f"{n:,} rows of {d:,} numbers are too many for a Coq file; {instead}.")
    if isinstance(proof, RunLog) and len(proof.rows) > MOST_MISTAKES:
        mistakes = f"{len(proof.rows):,} mistakes"
        raise ValueError(f"A run of {mistakes} is too long for a Coq file; {instead}.")
    rows = ";\n".join(
        f"  {'pos' if sign > 0 else 'neg'} [{'; '.join(map(format_float, x))}]"
        for sign, x in read_rows(problem)
    )
    further = () if isinstance(proof, Clash) else ("Convergence", "Logs")
    definitions, theorems = format_proof(proof, n)
    return (
        f"{read_theories('Separability', *further)}\n"
        "(** * The rows: y = +1 (pos) or -1 (neg), and x, where m*2^(e) is m times 2 to the e *)\n"
        "\n"
        f"Definition rows : list (example float) := [\n{rows}\n]%float.\n\n"
        f"(** * The certificate *)\n\n{definitions}\n(** * What is proved *)\n\n{theorems}"
    )


def read_theories(*names: str) -> str:
    """Read the definitions and proofs that a file needs, as one text."""
    here = Path(__file__).parent
    folder = here if (here / "Separability.v").exists() else here.parents[2] / "proofs"
    texts = [(folder / f"{name}.v").read_text("utf-8") for name in names]
    return re.sub(r"^From Rosenblatt .*\n", "", "\n".join(texts), flags=re.MULTILINE)


def read_rows(problem: Problem) -> Iterator[tuple[float, list[float]]]:
    """Yield the sign and the numbers of every row."""
    for i, sign in enumerate(problem.signs.tolist()):
        yield sign, to_dense(problem.X[[i]]).ravel().tolist()


def format_float(value: float) -> str:
    """Write a float as an integer, or as an integer times a power of two.

    >>> format_float(3.0), format_float(-0.75), format_float(2.0**70)
    ('3', '(-3)*2^(-2)', '1*2^(70)')
    """
    mantissa, denominator = value.as_integer_ratio()
    zeros = (mantissa & -mantissa).bit_length() - 1 if abs(mantissa) >= 2**53 else 0
    exponent = zeros + 1 - denominator.bit_length()
    power = f"*2^({exponent})" if exponent else ""
    return format_integer(mantissa >> zeros) + power


def format_integer(value: int) -> str:
    """Write an integer for Coq; in hexadecimal if it is too long for Python in decimal."""
    text = hex(abs(value)) if value.bit_length() > 10_000 else str(abs(value))
    return f"(-{text})" if value < 0 else text


def format_proof(proof: Proof, n: int) -> tuple[str, str]:
    """Write the numbers of a proof as definitions, and its theorems."""
    origin, step = "" if proof.fit_intercept else "_through_origin", int(proof.fit_intercept)
    if isinstance(proof, RunLog):
        also = " /\\ separates w b (map exact rows)" if proof.separates else ""
        log = "; ".join(map(str, proof.rows))
        return (
            f"Definition step : float := ({step})%float.\n"
            f"Definition log : list N := [{log}]%N. (* rows, counted from 0 *)\n"
        ), format_theorem(
            "the_log_is_a_run",
            f"exists w b, run (value step) 0 (map exact rows) w b {len(proof.rows)}{also}",
            f"({'separating_' * proof.separates}run_sound _ (fun e => e) step 0 rows log)",
        )
    if isinstance(proof, Clash):
        found = dict(proof.multipliers)
        numbers = "; ".join(format_integer(found.get(i, 0)) for i in range(n))
        return f"Definition multipliers : list Z := [{numbers}]%Z.\n", format_theorem(
            "no_hyperplane_separates_the_rows",
            f"~ separable{origin} (map exact rows)",
            f"(inseparable{origin}_sound _ (fun e => e) multipliers rows)",
        )
    weights = "; ".join(map(format_integer, proof.weights))
    bias = f"Definition bias : Z := {format_integer(proof.bias)}.\n"
    theorems = format_theorem(
        "a_hyperplane_separates_the_rows",
        f"separable{origin} (map exact rows)",
        f"(separable{origin}_sound _ (fun e => e) weights{' bias' * step} rows)",
    )
    if proof.mistakes is not None:
        most = proof.mistakes
        theorems += "\n" + format_theorem(
            "every_run_makes_few_mistakes",
            f"forall w b m, run {step} 0 (map exact rows) w b m -> (Z.of_nat m <= {most})%Z",
            f"(bound_sound _ (fun e => e) {step} 0 weights bias {most} rows)",
        )
    return f"Definition weights : list Z := [{weights}]%Z.\n{bias}", theorems


def format_theorem(name: str, claim: str, lemma: str) -> str:
    """Write a theorem that Coq's virtual machine checks, and print its assumptions."""
    proof = f"Proof. refine ({lemma} _). vm_cast_no_check (eq_refl true). Qed."
    return f"Theorem {name} :\n  {claim}.\n{proof}\nPrint Assumptions {name}.\n"


# Plain text for the checker that was extracted from the proofs


def write_plain(proof: Proof, X: Any, y: ArrayLike, folder: str | Path) -> tuple[Path, ...]:
    """Write rows and proof as text files for ``rosenblatt-check``; return their paths."""
    folder = Path(folder)
    folder.mkdir(exist_ok=True)
    rows = "".join(f"{format_row(*row)}\n" for row in read_rows(check_problem(X, y)))
    texts = {folder / "rows.txt": rows, folder / "proof.txt": format_plain(proof)}
    for path, text in texts.items():
        with replace_file(path) as temporary:
            temporary.write_text(text, encoding="ascii")
    return tuple(texts)


def format_row(sign: float, x: list[float]) -> str:
    """Write a row as text that reads back as the same doubles."""
    return " ".join([f"{sign:.0f}", *map(repr, x)])


def format_plain(proof: Proof) -> str:
    """Write a proof as text, one line per theorem."""
    if isinstance(proof, RunLog):
        numbers = int(proof.fit_intercept), 0, *(i + 1 for i in proof.rows)
        return " ".join(["run", *map(str, numbers)]) + "\n"
    if isinstance(proof, Clash):
        kind = "inseparable" if proof.fit_intercept else "inseparable-through-origin"
        return " ".join([kind, *(f"{i + 1}:{hex(value)}" for i, value in proof.multipliers)]) + "\n"
    plane = " ".join(map(hex, (proof.bias, *proof.weights)))
    text = f"separable {plane}\n"
    if proof.mistakes is not None and proof.mistakes < 2**62:
        text += f"bound {int(proof.fit_intercept)} 0 {proof.mistakes} {plane}\n"
    return text
