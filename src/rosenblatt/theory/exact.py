"""Exact linear systems and linear programs in integers: a float is an integer over 2ⁿ."""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..data.rows import Array
from .problem import Problem, to_integers

MOST_WORK = 3e9  # operations: about half a minute


class OutOfReachError(ArithmeticError):
    """The exact computation would take too long."""


class Effort:
    """A budget of operations on machine words for exact arithmetic."""

    def __init__(self, most: float = MOST_WORK) -> None:
        self.left = most

    def spend(self, operations: int, bits: int) -> None:
        """Count operations on numbers with ``bits`` bits; raise OutOfReachError over the budget."""
        self.left -= operations * (10 + (bits / 30) ** 1.6)  # Karatsuba's multiplication
        if self.left < 0:
            raise OutOfReachError


class IntegerRows(NamedTuple):
    """The rows y[x, 1] as integers: each row times a factor, each column over a divisor.

    ``lines`` has one line per column that is not zero everywhere, and ``columns`` their numbers;
    the bias has the number of columns of X.
    """

    lines: Array
    columns: list[int]
    factors: list[Fraction]
    divisors: list[int]


def to_integer_rows(problem: Problem, rows: list[int], effort: Effort) -> IntegerRows:
    """Scale rows and columns to integers with as few bits as possible."""
    places, columns, numbers, powers = problem.entries_of(np.array(rows, np.intp))
    used, lines = np.unique(columns, return_inverse=True)
    effort.spend(len(rows) * len(used), 1)
    least = np.full(len(rows), 5000)
    np.minimum.at(least, places, powers)
    A = np.zeros((len(used), len(rows)), object)
    signs = problem.signs[rows].astype(int)
    A[lines, places] = signs[places] * (numbers << (powers - least[places]).astype(object))
    common = np.array([math.gcd(*line) or 1 for line in A.T], object)
    A //= common
    divisors = [math.gcd(*line) for line in A]
    A //= np.array(divisors, object)[:, None]
    pairs = zip(least.tolist(), common.tolist(), strict=True)
    factors = [Fraction(2) ** -power / divisor for power, divisor in pairs]
    return IntegerRows(A, used.tolist(), factors, divisors)


DIGIT = 24  # bits
PRIME = 2**DIGIT - 3  # products of two digits, divided by it, are floored correctly in a float


def solve_null_combination(
    problem: Problem, chosen: list[int], effort: Effort
) -> list[Fraction] | None:
    """Solve Σ λ y[x, 1] = 0, Σ λ = 1 for a unique λ ≥ 0; None if there is none.

    The solution is found digit by digit modulo powers of a prime (Dixon 1982, Numerische Mathematik
    40). The caller checks it.
    """
    rows, unknowns = to_integer_rows(problem, chosen, effort), len(chosen)
    A = np.vstack([rows.lines, np.ones((1, unknowns), object)])
    effort.spend(A.size * unknowns // 16, 1)
    _, picked = eliminate((A % PRIME).astype(np.float64), unknowns)
    if len(picked) < unknowns or len(A) - 1 not in picked:
        return None
    A, right = A[picked], np.equal(picked, len(A) - 1).astype(object)
    table = np.hstack([(A % PRIME).astype(np.float64), np.eye(unknowns)])
    table, order = eliminate(table, unknowns)
    longest = sum(math.isqrt(sum(value * value for value in line)).bit_length() for line in A.T)
    count = 2 * longest // DIGIT + 1  # by Hadamard's bound on determinants
    effort.spend(4 * unknowns, DIGIT * count)
    digits = find_digits(A, table[order, unknowns:], right, count, effort)
    weights = find_numerators(join_digits(digits), PRIME**count, PRIME ** (count // 2 + 4))
    return None if min(weights) < 0 < max(weights) else to_shares(rows, weights)


def modulo(numbers: Array) -> Array:
    """Return whole numbers below 2⁴⁸, which are floats, modulo the prime."""
    return np.asarray(numbers - PRIME * np.floor(numbers / PRIME))


def eliminate(table: Array, unknowns: int) -> tuple[Array, list[int]]:
    """Make the first columns of a table unit vectors modulo the prime.

    Returns the table and the rows of the ones.
    """
    chosen: list[int] = []
    table, free = table.copy(), np.ones(len(table), bool)
    for c in range(unknowns):
        r = int(np.argmax(free & (table[:, c] != 0)))
        if not (free[r] and table[r, c]):
            break
        table[r] = modulo(table[r] * pow(int(table[r, c]), -1, PRIME))
        factors = table[:, c].copy()
        factors[r] = 0.0
        table = modulo(table - factors[:, None] * table[r])
        chosen.append(r)
        free[r] = False
    return table, chosen


def find_digits(A: Array, inverse: Array, right: Array, count: int, effort: Effort) -> Array:
    """Solve A x = right modulo a power of the prime; return the digits of x, the lowest first.

    Products of matrices and digits are computed in floats: of parts of numbers with so few bits
    that their sums are exact.
    """
    unknowns = len(A)
    bits = 53 - DIGIT - unknowns.bit_length()
    parts, left, signs = [], np.abs(A), np.sign(A)
    while left.any():
        parts.append((signs * (left & (2**bits - 1))).astype(np.float64))
        left = left >> bits
    words, halves = np.vstack(parts), np.vstack(np.divmod(inverse, 2.0**12))
    effort.spend(count * (words.size + halves.size) // 64, 1)
    digits = np.zeros((count, unknowns))
    for digit in digits:
        high, low = (halves @ (right % PRIME).astype(np.float64)).reshape(2, -1)
        digit[:] = modulo(2.0**12 * modulo(high) + low)
        products = (words @ digit).reshape(-1, unknowns).astype(np.int64).astype(object)
        for number, product in enumerate(products):
            right = right - (product << bits * number)
        right //= PRIME
    return digits


def join_digits(digits: Array) -> list[int]:
    """Return the numbers with these digits, the lowest first."""
    numbers, base = digits.astype(np.int64).astype(object), PRIME
    while len(numbers) > 1:
        if len(numbers) % 2:
            numbers = np.vstack([numbers, 0 * numbers[:1]])
        numbers, base = numbers[::2] + base * numbers[1::2], base**2
    return list(numbers[0])


def find_numerators(residues: list[int], modulus: int, part: int) -> list[int]:
    """Find integers in the ratios of the smallest fractions with these residues.

    ``part`` divides the modulus and is larger than the numerators: once the denominator is known,
    they are computed modulo ``part``.
    """
    most, denominator = math.isqrt(modulus // 2), 1
    found: list[int] = []
    for residue in residues:
        value = residue % part * (denominator % part) % part
        value -= part * (value > part // 2)
        if abs(value) > most:
            old, value, factor, last = modulus, residue * denominator % modulus, 0, 1
            while value > most:  # Euclid's algorithm, until the numerator is short
                quotient = old // value
                old, value = value, old - quotient * value
                factor, last = last, factor - quotient * last
            denominator *= last
            found = [last * other for other in found]
        found.append(value)
    return found


def to_shares(rows: IntegerRows, weights: list[int]) -> list[Fraction]:
    """Convert weights of integer rows to weights of the original rows that sum to 1."""
    factors, _ = to_integers(rows.factors)
    scaled = [weight * factor for weight, factor in zip(weights, factors, strict=True)]
    total = sum(scaled)
    return [Fraction(value, total) for value in scaled]


def solve_alternative(
    problem: Problem, chosen: list[int], effort: Effort
) -> tuple[list[Fraction] | None, dict[int, Fraction]]:
    """Find λ ≥ 0 with Σ λ y[x, 1] = 0 and Σ λ = 1, or else a plane that separates the rows.

    Exactly one of them exists (Gordan 1873). Phase one of the simplex method with Bland's rule.
    """
    rows, unknowns = to_integer_rows(problem, chosen, effort), len(chosen)
    height = len(rows.lines) + 1
    effort.spend(height * (unknowns + height), 1)
    table = [
        [*line, *(int(r == c) for c in range(height)), int(r == height - 1)]
        for r, line in enumerate([*rows.lines.tolist(), [1] * unknowns])
    ]
    cost = [-sum(column) for column in zip(*table, strict=True)]
    cost[unknowns : unknowns + height] = [0] * height
    table, basis, denominator = [*table, cost], [unknowns + r for r in range(height)], 1
    while (entering := next((c for c in range(unknowns) if table[-1][c] < 0), None)) is not None:
        leaving = min(
            (r for r in range(height) if table[r][entering] > 0),
            key=lambda r: (Fraction(table[r][-1], table[r][entering]), basis[r]),
        )
        pivot(table, leaving, entering, denominator, effort)
        denominator, basis[leaving] = table[leaving][entering], entering
    cost = table.pop()
    if cost[-1] == 0:
        values = {variable: row[-1] for variable, row in zip(basis, table, strict=True)}
        return to_shares(rows, [values.get(k, 0) for k in range(unknowns)]), {}
    slopes = [value - denominator for value in cost[unknowns : unknowns + height - 1]]
    plane = [Fraction(value, divisor) for value, divisor in zip(slopes, rows.divisors, strict=True)]
    largest = max(map(abs, plane))
    return None, {j: value / largest for j, value in zip(rows.columns, plane, strict=True)}


def pivot(table: list[list[int]], r: int, c: int, denominator: int, effort: Effort) -> None:
    """Make column c a unit vector with its 1 in row r, in integers only (Bareiss 1968)."""
    head = table[r]
    effort.spend(len(table) * len(head), max(head[c].bit_length(), denominator.bit_length()))
    for k, row in enumerate(table):
        if k != r:
            factor = row[c]
            table[k] = [
                (head[c] * a - factor * b) // denominator for a, b in zip(row, head, strict=True)
            ]
