"""Does the order of the rows matter? 500 positive rows, then 500 negative ones."""

import numpy as np

from rosenblatt import Perceptron

SEEDS = range(20)


def positives_then_negatives(seed, features=20, gap=0.02):
    """Unit rows, at least a gap away from a random plane."""
    random = np.random.default_rng(seed)
    X, plane = random.normal(size=(5000, features)), random.normal(size=features)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    distances = X @ plane / np.linalg.norm(plane)
    X = np.vstack([X[distances > gap][:500], X[distances < -gap][:500]])
    return X, np.repeat([1, -1], 500)


def to_the_end(order, seed):
    """Epochs and mistakes until the rows are separated, mistakes and accuracy of one epoch."""
    X, y = positives_then_negatives(seed)
    model = Perceptron(order=order, random_state=seed, max_iter=10_000).fit(X, y)
    one_epoch = Perceptron(order=order, random_state=seed, max_iter=1).fit(X, y)
    assert model.stop_reason_ == "separated"
    return model.n_iter_, model.n_mistakes_, one_epoch.n_mistakes_, one_epoch.score(X, y)


results = {
    order: np.array([to_the_end(order, seed) for seed in SEEDS])
    for order in ("fixed", "once", "each")
}

print(f"500 positive rows, then 500 negative ones; means over {len(SEEDS)} seeds\n")
print("         to separation      one epoch only")
print("order  epochs  mistakes  mistakes  accuracy")
for order, result in results.items():
    epochs, mistakes, first_mistakes, accuracy = result.mean(axis=0)
    print(f"{order:<5} {epochs:7.1f} {mistakes:9.1f} {first_mistakes:9.1f} {accuracy:9.1%}")

once, each = results["once"][:, 0], results["each"][:, 0]
change = (each - once) / once.mean()
mean, error = change.mean(), change.std(ddof=1) / np.sqrt(len(change))
print(
    f"\nA new permutation each epoch took {abs(mean):.0%} {'more' if mean > 0 else 'fewer'} epochs "
    f"than one kept (± {error:.0%}): the claimed saving of 20 % is "
    f"{'within' if abs(mean + 0.2) < 2 * error else 'outside'} two standard errors."
)
