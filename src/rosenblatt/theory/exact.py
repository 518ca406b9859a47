"""Exact linear systems and linear programs in integers: a float is an integer over 2ⁿ."""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..data.rows import Array
from .problem import Problem

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

    ``lines`` has one list per column that is not zero everywhere, and ``columns`` their numbers;
    the bias has the number of columns of X.
    """

    lines: list[list[int]]
    columns: list[int]
    factors: list[Fraction]
    divisors: list[int]


def to_integer_rows(problem: Problem, rows: list[int], effort: Effort) -> IntegerRows:
    """Scale rows and columns to integers with as few bits as possible."""
    columns: dict[int, dict[int, int]] = {}
    factors = []
    for k, i in enumerate(rows):
        bias = [(problem.X.shape[1], Fraction(1))] if problem.fit_intercept else []
        part = [*problem.entries(i), *bias]
        common = math.lcm(*(value.denominator for _, value in part))
        factor = Fraction(common, math.gcd(*(int(value * common) for _, value in part)) or 1)
        factors.append(factor)
        for j, value in part:
            columns.setdefault(j, {})[k] = int(factor * value) * int(problem.signs[i])
    effort.spend(len(rows) * len(columns), 1)
    divisors = [math.gcd(*column.values()) for column in columns.values()]
    lines = [
        [column.get(k, 0) // divisor for k in range(len(rows))]
        for column, divisor in zip(columns.values(), divisors, strict=True)
    ]
    return IntegerRows(lines, list(columns), factors, divisors)


PRIME = 2**31 - 1  # products of two digits fit an int64


def solve_null_combination(
    problem: Problem, chosen: list[int], effort: Effort
) -> list[Fraction] | None:
    """Solve Σ λ y[x, 1] = 0, Σ λ = 1 for a unique λ ≥ 0; None if there is none.

    The solution is found digit by digit modulo powers of a prime (Dixon 1982, Numerische Mathematik
    40). The caller checks it.
    """
    rows, unknowns = to_integer_rows(problem, chosen, effort), len(chosen)
    A = np.array([*rows.lines, [1] * unknowns], object)
    effort.spend(2 * A.size * unknowns, 1)
    _, picked = eliminate((A % PRIME).astype(np.int64), unknowns)
    if len(picked) < unknowns or len(A) - 1 not in picked:
        return None
    A, right = A[picked], np.equal(picked, len(A) - 1).astype(object)
    table = np.hstack([(A % PRIME).astype(np.int64), np.eye(unknowns, dtype=np.int64)])
    table, order = eliminate(table, unknowns)
    inverse = table[order, unknowns:]
    longest = sum(math.isqrt(sum(value * value for value in line)).bit_length() for line in A.T)
    digits = 2 * longest // 30 + 1  # by Hadamard's bound on determinants
    effort.spend(digits * A.size, int(abs(A).max()).bit_length())
    total, power, rest = np.zeros(unknowns, object), 1, right
    for _ in range(digits):
        digit = (inverse * (rest % PRIME).astype(np.int64) % PRIME).sum(axis=1) % PRIME
        digit = digit.astype(object)
        total, power = total + power * digit, power * PRIME
        rest = (rest - A @ digit) // PRIME
    weights = find_numerators(total.tolist(), power)
    return None if min(weights) < 0 < max(weights) else to_shares(rows, weights)


def eliminate(table: Array, unknowns: int) -> tuple[Array, list[int]]:
    """Make the first columns of a table unit vectors modulo the prime.

    Returns the table and the rows of the ones.
    """
    chosen: list[int] = []
    table = table.copy()
    for c in range(unknowns):
        free = np.setdiff1d(np.flatnonzero(table[:, c]), chosen)
        if not len(free):
            break
        r = int(free[0])
        table[r] = table[r] * pow(int(table[r, c]), -1, PRIME) % PRIME
        factors = table[:, c].copy()
        factors[r] = 0
        table = (table - factors[:, None] * table[r] % PRIME) % PRIME
        chosen.append(r)
    return table, chosen


def find_numerators(residues: list[int], modulus: int) -> list[int]:
    """Find integers in the ratios of the smallest fractions with these residues."""
    most, denominator = math.isqrt(modulus // 2), 1
    for residue in residues:
        old, new, factor, last = modulus, residue * denominator % modulus, 0, 1
        while new > most:  # Euclid's algorithm, until the numerator is short
            quotient = old // new
            old, new, factor, last = new, old - quotient * new, last, factor - quotient * last
        denominator = denominator * last % modulus
    signed = (residue * denominator % modulus for residue in residues)
    return [value - modulus if value > modulus // 2 else value for value in signed]


def to_shares(rows: IntegerRows, weights: list[int]) -> list[Fraction]:
    """Convert weights of integer rows to weights of the original rows that sum to 1."""
    scaled = [weight * factor for weight, factor in zip(weights, rows.factors, strict=True)]
    total = sum(scaled)
    return [value / total for value in scaled]


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
        for r, line in enumerate([*rows.lines, [1] * unknowns])
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
