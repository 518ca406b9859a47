"""When do Winnow and the p-norm perceptron pay among a million columns? Mistakes of one pass.

python benchmarks/columns.py
python benchmarks/columns.py --quick    # to see that it runs

Three rules share the sum θ of yx over their mistakes; w is θ, sinh(ηθ) or sign(θ)|θ|^(p-1), as on
the page of the gallery about many columns. First, sparse rows of ones among 10^6 columns: s of them
are active, three of which are from k relevant columns, each for or against the label. Then dense
rows of signs, whose label is the majority of k columns: mistakes by the number d of columns.
"""

import math

import numpy as np
from measure import parser, table

ETA = 0.1
LINKS = {
    "perceptron": lambda theta, d: theta,
    "balanced Winnow": lambda theta, d: np.sinh(ETA * theta),
    "p-norm": lambda theta, d: np.sign(theta) * np.abs(theta) ** (2 * math.log(d) - 1),
}
VOTES = 3  # relevant columns that are active in a sparse row


def dense_mistakes(d, k, seed, rows=1000):
    """The mistakes of each rule on rows of signs; only one row is in memory."""
    rng = np.random.default_rng([seed, d, k])
    sums = {name: np.zeros(d, np.float32) for name in LINKS}
    weights = {name: np.zeros(d) for name in LINKS}
    counts = dict.fromkeys(LINKS, 0)
    for _ in range(rows):
        bits = np.unpackbits(np.frombuffer(rng.bytes((d + 7) // 8), np.uint8), count=d)
        x = 2 * bits.astype(np.float32) - 1
        y = np.sign(x[:k].sum())
        for name, link in LINKS.items():
            if y * (weights[name] @ x) <= 0:
                sums[name] += y * x
                weights[name] = link(sums[name].astype(np.float64), d)
                counts[name] += 1
    return list(counts.values())


def sparse_mistakes(d, active, k, seed, rows):
    """The mistakes of each rule on rows of ones; a mistake changes the active columns only."""
    rng = np.random.default_rng([seed, active, k])
    signs = np.where(np.arange(k) % 2, 1, -1)
    sums = {name: np.zeros(d) for name in LINKS}
    weights = {name: np.zeros(d) for name in LINKS}
    counts = dict.fromkeys(LINKS, 0)
    for _ in range(rows):
        relevant = rng.choice(k, VOTES, replace=False)
        columns = np.concatenate([relevant, rng.integers(k, d, active - VOTES)])
        y = np.sign(signs[relevant].sum())
        for name, link in LINKS.items():
            if y * weights[name][columns].sum() <= 0:
                sums[name][columns] += y
                weights[name][columns] = link(sums[name][columns], d)
                counts[name] += 1
    return list(counts.values())


def compare_dense(quick):
    """Print the mistakes by the number of columns."""
    sizes = (10, 100, 1000) if quick else (10, 30, 100, 1000, 10_000, 100_000, 1_000_000)
    for k in (3, 9):
        lines = [("dense rows of signs", *LINKS)]
        for d in sizes:
            draws = range(1 if quick or d > 10_000 else 3)  # a million columns take long
            means = np.mean([dense_mistakes(d, k, seed) for seed in draws], axis=0)
            lines.append((f"{k} of {d:,} columns", *(f"{mean:.0f}" for mean in means)))
        table(*lines)
        print(flush=True)


def compare_sparse(quick):
    """Print the mistakes by the numbers of active and of relevant columns."""
    d, rows = 10_000 if quick else 1_000_000, 500 if quick else 5_000
    lines = [(f"{rows:,} sparse rows of {d:,} columns", *LINKS)]
    for active in (30, 300) if quick else (30, 100, 300, 1000):
        for k in (5, 20) if quick else (5, 10, 20, 50, 100, 200, 500, 1000):
            found = sparse_mistakes(d, active, k, 0, rows)
            lines.append((f"{active} active, {k} relevant", *map(str, found)))
    table(*lines)
    print(flush=True)


def main() -> None:
    chosen = parser(__doc__ or "").parse_args()
    compare_sparse(chosen.quick)
    compare_dense(chosen.quick)


if __name__ == "__main__":
    main()
