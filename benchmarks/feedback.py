"""How much is lost if predictions are only judged right or wrong? Progressive error on three sets.

python benchmarks/feedback.py
python benchmarks/feedback.py --quick    # to see that it runs

Each row is predicted once, in a random order, and then learnt. A line is a share of exploration.
The columns are shares of wrong predictions: of a perceptron with all labels; of the Banditron that
predicts with its last and its averaged weights; and of SOBA (Beygelzimer, Orabona & Zhang 2017)
with its full matrix over all weights, and with the diagonal. SOBA is written in NumPy here: the
package does not have it. Figures are means over several orders.
"""

import numpy as np
from measure import parser, table
from sklearn.datasets import load_digits, make_classification
from sklearn.preprocessing import StandardScaler

from rosenblatt import Banditron, Perceptron

EXPLORATIONS = (0.05, 0.1, 0.2)
LARGEST_MATRIX = 1000  # weights


def sets(folder, quick):
    """Rows and labels by the name of their set."""
    rows = 1000 if quick else 20_000
    X, y = load_digits(return_X_y=True)
    yield "digits, four times", np.tile(X, (1 if quick else 4, 1)), np.tile(y, 1 if quick else 4)
    letters = folder / "letter" / "letter-recognition.data"
    if letters.exists():
        cells = np.loadtxt(letters, delimiter=",", dtype=str)[:rows]
        yield "letter", cells[:, 1:].astype(float), np.unique(cells[:, 0], return_inverse=True)[1]
    else:
        print(f"{letters} is missing; the set is left out.")
    more = {"n_informative": 15, "n_classes": 5, "n_clusters_per_class": 1, "class_sep": 1.5}
    X, y = make_classification(rows, 40, flip_y=0.05, random_state=0, **more)
    yield "made, five classes, 5 % noise", X, y


def soba(X, y, classes, exploration, seed, full):
    """Which predictions of SOBA are wrong; the matrix of all weights is full or diagonal."""
    chance, width = np.random.default_rng(seed), X.shape[1]
    W, sums, total, wrong = np.zeros((classes, width)), np.zeros((classes, width)), 0.0, []
    inverse = np.eye(W.size) if full else np.ones((classes, width))
    for x, label in zip(X, y, strict=True):
        scores = W @ x
        best = int(scores.argmax())
        drawn = int(chance.integers(classes)) if chance.random() < exploration else best
        wrong.append(drawn != label)
        if wrong[-1]:
            continue
        p = (1 - exploration) * (drawn == best) + exploration / classes
        rival = int(np.where(np.arange(classes) == drawn, -np.inf, scores).argmax())
        z = np.zeros((classes, width))
        z[rival], z[drawn] = x, -x
        moved = inverse @ z.ravel() if full else (inverse * z).ravel()
        size, lead = z.ravel() @ moved / p, (scores[rival] - scores[drawn]) / p
        gain = (p * lead**2 + 2 * lead) / (1 + size)
        if total + gain >= 0:
            total += gain
            sums -= z / p
            if full:
                inverse -= np.outer(moved, moved) / (p * (1 + size))
                W = (inverse @ sums.ravel()).reshape(W.shape)
            else:
                inverse = 1 / (1 / inverse + z**2 / p)
                W = inverse * sums
    return float(np.mean(wrong))


def measure(name, X, y, repeats):
    """One table: shares of wrong predictions by exploration."""
    classes, found = int(y.max()) + 1, {}
    X = StandardScaler().fit_transform(X)
    X = np.column_stack([X, np.full(len(X), np.sqrt(X.shape[1] / 8))])  # the bias
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    for seed in range(repeats):
        order = np.random.default_rng(seed).permutation(len(y))
        A, b = X[order], y[order]
        given = {"order": "fixed", "max_iter": 1, "fit_intercept": False}
        told = Perceptron(**given).fit(A, b).history_[0].errors / len(b)
        for share in EXPLORATIONS:
            errors = [told]
            for solution in ("last", "average"):
                model = Banditron(share, solution=solution, fit_intercept=False, random_state=seed)
                errors.append(model.fit(A, b).history_[0].errors / len(b))
            for full in (True, False):
                small = not full or A.shape[1] * classes <= LARGEST_MATRIX
                errors.append(soba(A, b, classes, share, seed, full) if small else np.nan)
            found.setdefault(share, []).append(errors)
    print(f"\n{name}: {len(y):,} rows, {X.shape[1] - 1} columns, {classes} classes")
    heads = ("all labels", "Banditron, last", "average", "SOBA, full", "diagonal")
    lines = [(f"{a:.0%}", *(f"{e:.1%}" for e in np.mean(found[a], axis=0))) for a in EXPLORATIONS]
    table(("exploration", *heads), *lines)


def main() -> None:
    chosen = parser(__doc__ or "").parse_args()
    for name, X, y in sets(chosen.data, chosen.quick):
        measure(name, X.astype(float), y, 1 if chosen.quick else 2)


if __name__ == "__main__":
    main()
