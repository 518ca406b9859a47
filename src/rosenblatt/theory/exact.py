"""Linear systems and linear programs in whole numbers: a float is a whole number over 2ⁿ."""

import math
from fractions import Fraction
from typing import NamedTuple

from .problem import Problem

MOST_WORK = 1e9  # about what half a minute can do


class OutOfReachError(ArithmeticError):
    """The numbers became too long."""


class Effort:
    """What exact arithmetic has cost so far, in operations on words."""

    def __init__(self, most: float = MOST_WORK) -> None:
        self.left = most

    def spend(self, operations: int, bits: int) -> None:
        """Count operations on numbers of so many bits."""
        self.left -= operations * (10 + (bits / 30) ** 1.6)  # Karatsuba's multiplication
        if self.left < 0:
            raise OutOfReachError


class WholeRows(NamedTuple):
    """The rows y[x, 1] as whole numbers: each row and each column times a factor."""

    lines: list[list[int]]
    """One per column that is not zero everywhere."""
    columns: list[int]
    """Their numbers; that of the bias is the number of columns of X."""
    row_factors: list[Fraction]
    column_factors: list[Fraction]


def whole_rows(problem: Problem, rows: list[int]) -> WholeRows:
    """Rows with as few bits as they can have: their own size does not matter, nor a column's."""
    parts = []
    for i in rows:
        sign = int(problem.signs[i])
        bias = [(problem.X.shape[1], Fraction(sign))] if problem.fit_intercept else []
        parts.append(dict([*((j, sign * value) for j, value in problem.entries(i)), *bias]))
    row_factors = [whole(list(part.values())) for part in parts]
    columns = sorted(set().union(*parts))
    lines, column_factors = [], []
    for j in columns:
        line = [part.get(j, 0) * factor for part, factor in zip(parts, row_factors, strict=True)]
        factor = whole(line)
        lines.append([int(value * factor) for value in line])
        column_factors.append(factor)
    return WholeRows(lines, columns, row_factors, column_factors)


def whole(values: list[Fraction]) -> Fraction:
    """The factor that makes numbers whole and leaves them no common factor."""
    common = math.lcm(*(value.denominator for value in values))
    return Fraction(common, math.gcd(*(int(value * common) for value in values)) or 1)


class Tableau:
    """Rows of whole numbers over one denominator; a pivot leaves no fraction (Bareiss 1968)."""

    def __init__(self, rows: list[list[int]], effort: Effort) -> None:
        self.rows, self.denominator, self.effort = rows, 1, effort

    def pivot(self, r: int, c: int) -> None:
        """Make column c a unit vector, with its 1 in row r."""
        head, old = self.rows[r], self.denominator
        new = head[c]
        self.effort.spend(len(self.rows) * len(head), max(new.bit_length(), old.bit_length()))
        for k, row in enumerate(self.rows):
            if k != r:
                factor = row[c]
                self.rows[k] = [
                    (new * a - factor * b) // old for a, b in zip(row, head, strict=True)
                ]
        self.denominator = new


def null_combination(rows: WholeRows, effort: Effort) -> list[Fraction] | None:
    """The only λ with Σ λ row = 0 and Σ λ = 1, or None."""
    unknowns = len(rows.row_factors)
    tableau = Tableau([[*line, 0] for line in rows.lines] + [[1] * unknowns + [1]], effort)
    for c in range(unknowns):
        below = range(c, len(tableau.rows))
        chosen = min(
            (r for r in below if tableau.rows[r][c]),
            key=lambda r: abs(tableau.rows[r][c]),
            default=None,
        )
        if chosen is None:
            return None
        tableau.rows[c], tableau.rows[chosen] = tableau.rows[chosen], tableau.rows[c]
        tableau.pivot(c, c)
    if any(row[-1] for row in tableau.rows[unknowns:]):
        return None
    return shares(rows, [row[-1] for row in tableau.rows[:unknowns]])


def shares(rows: WholeRows, weights: list[int]) -> list[Fraction]:
    """Weights of the whole rows as weights of the rows, which sum to 1."""
    scaled = [weight * f for weight, f in zip(weights, rows.row_factors, strict=True)]
    total = sum(scaled)
    return [value / total for value in scaled]


def alternative(
    rows: WholeRows, effort: Effort
) -> tuple[list[Fraction] | None, dict[int, Fraction]]:
    """Either λ ≥ 0 with Σ λ row = 0 and Σ λ = 1, or a plane v with v·row > 0 (Gordan 1873).

    Phase one of the simplex method with Bland's rule.
    """
    height, unknowns = len(rows.lines) + 1, len(rows.row_factors)
    table = [
        [*line, *(int(r == c) for c in range(height)), int(r == height - 1)]
        for r, line in enumerate([*rows.lines, [1] * unknowns])
    ]
    cost = [-sum(column) for column in zip(*table, strict=True)]
    cost[unknowns : unknowns + height] = [0] * height
    tableau = Tableau([*table, cost], effort)
    basis = [unknowns + r for r in range(height)]
    while True:
        *table, cost = tableau.rows
        entering = next((c for c in range(unknowns) if cost[c] < 0), None)
        if entering is None:
            break
        leaving = min(
            (r for r in range(height) if table[r][entering] > 0),
            key=lambda r: (Fraction(table[r][-1], table[r][entering]), basis[r]),
        )
        tableau.pivot(leaving, entering)
        basis[leaving] = entering
    if cost[-1] == 0:
        values = {variable: row[-1] for variable, row in zip(basis, table, strict=True)}
        return shares(rows, [values.get(k, 0) for k in range(unknowns)]), {}
    slopes = [value - tableau.denominator for value in cost[unknowns : unknowns + height - 1]]
    plane = [value * factor for value, factor in zip(slopes, rows.column_factors, strict=True)]
    largest = max(map(abs, plane), default=Fraction(1))
    return None, {j: value / largest for j, value in zip(rows.columns, plane, strict=True)}
