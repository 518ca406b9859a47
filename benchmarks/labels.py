"""How many labels does a model need if it may ask for them? Error against the share asked for.

python benchmarks/labels.py
python benchmarks/labels.py --quick    # to see that it runs

Each row of a table is a share of labels; the columns are test errors of the second-order form
(AROW) and of the perceptron, which ask by selective sampling, and of the same rules with as many
labels of rows drawn at random. Models learn in one pass; figures are means over several orders.
"""

import numpy as np
import pandas
from measure import parser, table
from rules import adult, plain
from sets import read_texts
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.preprocessing import StandardScaler, normalize

from rosenblatt import AROW, Features, Perceptron, SecondOrderPerceptron
from rosenblatt.data.rows import view_rows
from rosenblatt.estimators.base import get_learner
from rosenblatt.learners.asking import choose_labels, learn_asked
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


# Cesa-Bianchi, Gentile & Zaniboni (2006) and Cavallanti, Cesa-Bianchi & Gentile (2011): one pass
# without a bias over rows of length 1, the error of every row before it may be learnt

SAMPLED = {
    "perceptron": Perceptron(fit_intercept=False),
    "second order": SecondOrderPerceptron(matrix="diagonal", fit_intercept=False),
}
CONSTANTS = (0.01, 0.03, 0.1, 0.3, 1.0)  # b


def sampled_sets(folder, quick):
    """Rows of length 1 and labels: a piece of RCV1, newsgroups about computers, and Adult."""
    if quick:
        X, y = load_digits(return_X_y=True)
        return {"digits": (normalize(X.astype(float)), y % 2 == 0)}
    made = {}
    X, y = plain(folder / "rcv1_vw_small/rcv1_small.dat")
    made["RCV1, a piece"] = X, y > 0
    texts, groups = read_texts(folder, "20newsgroups")
    X = Features(text=["text"], bits=18).fit_transform(pandas.DataFrame({"text": texts}))
    made["newsgroups, comp.*"] = X, np.char.startswith(groups.astype(str), "comp.")
    X, y = adult(folder / "a9a")[:2]
    made["Adult"] = X, y > 0
    return {name: (normalize(X), y) for name, (X, y) in made.items()}


def run_once(model, X, y, seed, ask):
    """The share of labels asked for and the error of one pass in a random order."""
    learner = get_learner(clone(model).partial_fit(X[:1], y[:1], classes=[False, True]))
    learner = LinearLearner.begin(
        learner.parameters, learner.classes, (X.shape[1], X.dtype), 0.0, rule=learner.rule
    )
    rows = TrainingRows.of(view_rows(X), y.astype(np.intp), None, X.shape[1])
    order = np.random.default_rng(seed).permutation(len(y)).astype(np.uint32)
    flags = learn_asked(learner, rows._replace(row_order=order), ask)
    return flags.asked.mean(), flags.wrong.mean()


def run_beside_random(model, X, y, seed, b):
    """One pass that asks with the probability b / (b + margin), and one with as many at random."""
    coins = np.random.default_rng([seed, 1])
    asked = run_once(model, X, y, seed, lambda row, margin: coins.random() < b / (b + margin))
    return asked, run_once(model, X, y, seed, lambda row, margin: coins.random() < asked[0])


def selective(folder, quick):
    """Errors of one pass against the share of labels that selective sampling asks for."""
    for name, (X, y) in sampled_sets(folder, quick).items():
        few = np.random.default_rng(0).permutation(len(y))[: 500 if quick else 5000]
        X, y, seeds = X[few], y[few], range(2 if quick else 3)
        X.sort_indices() if hasattr(X, "indptr") else None
        lines = [(f"{name}, {len(y):,} rows", "labels, %", "error, %", "at random, error, %")]
        for rule, model in SAMPLED.items():
            runs = [run_once(model, X, y, seed, lambda row, margin: True) for seed in seeds]
            lines.append((f"{rule}, all labels", "100", spread([error for _, error in runs]), ""))
            for b in CONSTANTS:
                pairs = [run_beside_random(model, X, y, seed, b) for seed in seeds]
                asked, drawn = zip(*pairs, strict=True)
                labels = f"{100 * np.mean([share for share, _ in asked]):.1f}"
                errors = (spread([error for _, error in each]) for each in (asked, drawn))
                lines.append((f"{rule}, b = {b:g}", labels, *errors))
        table(*lines)
        print()


def spread(shares):
    """Mean and half the range of shares, in per cent."""
    return f"{100 * np.mean(shares):.1f} ±{50 * np.ptp(shares):.1f}"


def main() -> None:
    chosen = parser(__doc__ or "").parse_args()
    for name, (X, y) in sets(chosen.quick).items():
        measure(name, X.astype(float), y, 1 if chosen.quick else 10)


if __name__ == "__main__":
    main()
