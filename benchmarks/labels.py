"""How many labels does a model need if it may ask for them? Error against the share asked for.

python benchmarks/labels.py
python benchmarks/labels.py --quick    # to see that it runs

Each row of a table is a share of labels; the columns are test errors of the second-order form
(AROW) and of the perceptron, which ask by selective sampling, and of the same rules with as many
labels of rows drawn at random. Models learn in one pass; figures are means over several orders.
"""

import numpy as np
from measure import parser, table
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.preprocessing import StandardScaler

from rosenblatt import AROW, Perceptron
from rosenblatt.data.rows import view_rows
from rosenblatt.estimators.base import get_learner
from rosenblatt.learners.asking import choose_labels
from rosenblatt.learners.linear import LinearLearner, TrainingRows

SHARES = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
RULES = {"arow": AROW, "perceptron": Perceptron}


def sets(quick):
    """Rows and labels by the name of their set."""
    made = {
        "breast cancer": load_breast_cancer(return_X_y=True),
        "digits, even or odd": load_digits(return_X_y=True),
        "made, 5 % noise": make_classification(
            1000 if quick else 8000, 40, n_informative=10, flip_y=0.1, random_state=0
        ),
    }
    X, y = made["digits, even or odd"]
    made["digits, even or odd"] = X, y % 2
    made["digits, ten classes"] = X, y
    return made


def learn(rule, X, y, budget, seed, asks):
    """The learner after one pass in which it asks for labels, or has those of random rows."""
    model = RULES[rule]().partial_fit(X[:1], y[:1], classes=np.unique(y))
    made, shape = get_learner(model), (X.shape[1], X.dtype)
    learner = LinearLearner.begin(made.parameters, made.classes, shape, rule=made.rule)
    rows = TrainingRows.of(view_rows(X), np.searchsorted(made.classes, y), None, X.shape[1])
    chance = np.random.default_rng(seed)
    order = chance.permutation(len(y)).astype(rows.row_order.dtype)
    if asks:
        flags = choose_labels(learner, rows._replace(row_order=order), budget, seed)
        return learner, int(flags.asked.sum())
    order = order[: round(budget * len(y))]
    learner.learn(rows._replace(row_order=order))
    return learner, len(order)


def measure(name, X, y, repeats):
    """One table: test errors by share, and the share that was used."""
    cells = [("labels", *(f"{rule}, {how}" for rule in RULES for how in ("asked", "random")))]
    for share in SHARES:
        errors = {}
        for seed in range(repeats):
            order = np.random.default_rng(1000 + seed).permutation(len(y))
            test, train = order[: len(y) // 3], order[len(y) // 3 :]
            scaler = StandardScaler().fit(X[train])
            A, B = scaler.transform(X[train]), scaler.transform(X[test])
            for rule in RULES:
                for asks in (True, False):
                    learner, _ = learn(rule, A, y[train], min(share, 0.999999), seed, asks)
                    scores = learner.scores(view_rows(B), B.shape[1])
                    wrong = learner.classes[learner.choose(scores)] != y[test]
                    errors.setdefault((rule, asks), []).append(wrong.mean())
        found = [f"{np.mean(errors[rule, asks]):.1%}" for rule in RULES for asks in (True, False)]
        cells.append((f"{share:.0%}", *found))
    print(f"\n{name}: {len(y):,} rows, {X.shape[1]} columns")
    table(*cells)


def main() -> None:
    chosen = parser(__doc__ or "").parse_args()
    for name, (X, y) in sets(chosen.quick).items():
        measure(name, X.astype(float), y, 1 if chosen.quick else 10)


if __name__ == "__main__":
    main()
