"""Are certificates and logs of runs accepted by the proved checker, and wrong ones refused?

Certificates of rows of wild sizes go to ``rosenblatt-check`` together with mutants of them. What it
says must be what exact arithmetic in Python says, which is written here without the package.

    make --directory proofs evidence

checks 1,000 certificates with 1,000 mutants each; the tests do the same with fewer.
"""

import argparse
import random
import subprocess
import sys
import tempfile
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import numpy as np
from scipy import sparse

from rosenblatt.theory.certificates import Undecided
from rosenblatt.theory.coq import Clash, Plane, RunLog, format_plain, format_row, log_run, to_proof
from rosenblatt.theory.exact import Effort
from rosenblatt.theory.problem import check_problem
from rosenblatt.theory.separability import decide

from .conftest import CASES, ORIGIN

# Rows


def make_problems(seed):
    """Yield rows, labels and whether there is a bias: the cases of the tests, then random ones."""
    for cases, fit_intercept in ((CASES, True), (CASES, False), (ORIGIN, False), (ORIGIN, True)):
        for X, y, _ in cases.values():
            yield np.asarray(X, float), y, fit_intercept
    rng = np.random.default_rng(seed)
    while True:
        n, d = int(rng.integers(1, 60)), int(rng.integers(1, 8))
        X = rng.normal(size=(n, d))
        shape = rng.integers(6)
        if shape == 0:
            X = np.round(3 * X)
        elif shape == 1:
            X = np.round(X, 1)
        elif shape == 2:
            X = X * 10.0 ** rng.integers(-150, 150, size=d)
        elif shape == 3:
            X = X * 10.0 ** rng.integers(-100, 100, size=(n, 1))
        elif shape == 4:
            X = X[rng.integers(0, n, size=n)]
        y = X @ rng.normal(size=d) + rng.normal() > 0
        if rng.random() < 0.5:
            y = y ^ (rng.random(n) < 0.2)
        yield X, y, bool(rng.random() < 0.7)


def make_proofs(seed):
    """Yield rows, signs and what is proved of them: a plane, a clash, and in between a run."""
    for number, (X, y, fit_intercept) in enumerate(make_problems(seed)):
        problem = check_problem(sparse.csr_matrix(X) if number % 7 == 0 else X, y, fit_intercept)
        verdict = decide(problem, Effort(3e7))
        if not isinstance(verdict, Undecided):
            yield X, problem.signs, to_proof(verdict, problem)
        powers = np.log10(np.abs(X[X != 0]))
        if number % 5 == 0 and np.all(np.abs(powers) < 20):  # a replay is slow in long numbers
            with suppress(ValueError):  # floating point rounded, which a log refuses
                yield X, problem.signs, log_run(X, y, fit_intercept=fit_intercept, max_iter=3)


# What is true, in exact arithmetic


class Truth:
    """Decides claims about rows, as integers over a power of two that is common to all."""

    def __init__(self, X, signs):
        values = [[Fraction(value) for value in row] for row in X.tolist()]
        self.unit = max((value.denominator for row in values for value in row), default=1)
        self.rows = [[int(value * self.unit) for value in row] for row in values]
        self.signs = [int(sign) for sign in signs]

    def holds(self, proof):
        """Whether a proof is one."""
        if isinstance(proof, Plane):
            return all(margin > 0 for margin in self.margins(proof.weights, proof.bias))
        return self.balances(proof) if isinstance(proof, Clash) else self.is_run(proof)

    def margins(self, weights, bias):
        for sign, row in zip(self.signs, self.rows, strict=True):
            terms = (w * x for w, x in zip(weights, row, strict=False))
            yield sign * (sum(terms) + bias * self.unit)

    def balances(self, proof):
        """Whether the signed rows times their multipliers sum to zero."""
        multipliers = dict(proof.multipliers)
        if min(multipliers.values(), default=0) < 0 or not any(multipliers.values()):
            return False
        signed = {i: self.signs[i] * value for i, value in multipliers.items()}
        columns = range(len(self.rows[0]))
        sums = [sum(value * self.rows[i][j] for i, value in signed.items()) for j in columns]
        return not any(sums) and not (proof.fit_intercept and sum(signed.values()))

    def is_run(self, proof):
        """Whether each row of a log was a mistake."""
        weights, bias = [0] * len(self.rows[0]), Fraction(0)
        for i in proof.rows:
            activation = sum(w * x for w, x in zip(weights, self.rows[i], strict=True))
            if self.signs[i] * (activation + bias * self.unit**2) > 0:
                return False
            weights = [w + self.signs[i] * x for w, x in zip(weights, self.rows[i], strict=True)]
            bias += self.signs[i] * proof.fit_intercept
        return True


# Mutants


def mutate(proof, n, rng):
    """A proof with one thing changed; it may still hold."""
    if isinstance(proof, Plane):
        numbers = change([proof.bias, *proof.weights], rng)
        return proof._replace(bias=numbers[0], weights=tuple(numbers[1:]), mistakes=None)
    if isinstance(proof, RunLog):
        return proof._replace(rows=tuple(change_log(list(proof.rows), n, rng)))
    rows = [i for i, _ in proof.multipliers]
    values = [value for _, value in proof.multipliers]
    if rng.random() < 0.3:
        rows[rng.randrange(len(rows))] = rng.randrange(n)
    else:
        values = change(values, rng)
    return proof._replace(multipliers=tuple(dict(zip(rows, values, strict=True)).items()))


def change(numbers, rng):
    """Integers, one or two of which are changed."""
    numbers, i, j = list(numbers), rng.randrange(len(numbers)), rng.randrange(len(numbers))
    kind = rng.randrange(6)
    if kind == 0:
        numbers[i] += rng.choice((-1, 1))
    elif kind == 1:
        numbers[i] = -numbers[i]
    elif kind == 2:
        numbers[i], numbers[j] = numbers[j], numbers[i]
    elif kind == 3:
        numbers[i] = 0
    elif kind == 4:
        numbers[i] += rng.randrange(-abs(numbers[i]) - 2, abs(numbers[i]) + 3)
    else:
        numbers = [3 * number for number in numbers]  # of these, each is as good as the original
        numbers[i] += rng.choice((0, 1))
    return numbers


def change_log(rows, n, rng):
    """The rows of a log with one more, one less, another one or two swapped."""
    i = rng.randrange(len(rows) + 1)
    kind = rng.randrange(4) if rows else 0
    if kind == 0:
        rows.insert(i, rng.randrange(n))
    elif kind == 1:
        rows.pop(i - 1)
    elif kind == 2:
        rows[i - 1] = rng.randrange(n)
    else:
        j = rng.randrange(len(rows))
        rows[i - 1], rows[j] = rows[j], rows[i - 1]
    return rows


def mutate_rows(X, signs, rng):
    """Rows with one label or one number changed by the least that a double can change."""
    X, signs = X.copy(), signs.copy()
    i = rng.randrange(len(X))
    if not X.shape[1] or rng.random() < 0.5:
        signs[i] = -signs[i]
    else:
        j = rng.randrange(X.shape[1])
        X[i, j] = np.nextafter(X[i, j], rng.choice((-np.inf, np.inf)))
    return X, signs


# The comparison


def check(checker, folder, X, signs, proofs):
    """Which of some proofs the proved checker accepts."""
    rows, file = folder / "rows.txt", folder / "proof.txt"
    rows.write_text(
        "".join(f"{format_row(*pair)}\n" for pair in zip(signs, X.tolist(), strict=True))
    )
    file.write_text("".join(format_plain(proof).partition("\n")[0] + "\n" for proof in proofs))
    done = subprocess.run([checker, rows, file], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    words = [line.split()[1] for line in done.stdout.splitlines()]
    assert len(words) == len(proofs)
    return [word == "proved:" for word in words]


def compare(checker, certificates, mutants, seed=0):
    """Count what is accepted; a difference from exact arithmetic is an AssertionError."""
    rng, counts = random.Random(seed), {}
    with tempfile.TemporaryDirectory() as folder:
        for number, (X, signs, proof) in enumerate(make_proofs(seed)):
            if number == certificates:
                return counts
            count = counts.setdefault(type(proof).__name__, dict.fromkeys(WORDS, 0))
            truth = Truth(X, signs)
            tried = [proof, *(mutate(proof, len(X), rng) for _ in range(mutants))]
            accepted = check(checker, Path(folder), X, signs, tried)
            assert accepted[0], (X, signs, proof)
            assert accepted == [truth.holds(one) for one in tried], (X, signs, tried)
            for _ in range(1 + mutants // 20):
                changed = mutate_rows(X, signs, rng)
                answer = check(checker, Path(folder), *changed, [proof])
                assert answer == [Truth(*changed).holds(proof)], (*changed, proof)
                accepted += answer
            count["certificates"] += 1
            count["mutants"] += len(accepted) - 1
            count["mutants still true"] += sum(accepted) - 1
            if sys.stdout.isatty():
                print(f"\r{number + 1} of {certificates}", end="", flush=True)
    raise AssertionError("there are always more problems")


WORDS = ("certificates", "mutants", "mutants still true")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checker", type=Path)
    parser.add_argument("--certificates", type=int, default=1000)
    parser.add_argument("--mutants", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    found = compare(given.checker.resolve(), given.certificates, given.mutants, given.seed)
    for kind, counted in found.items():
        print(f"{kind}: " + ", ".join(f"{counted[word]:,} {word}" for word in WORDS))
    print("Each answer is that of exact arithmetic.")
