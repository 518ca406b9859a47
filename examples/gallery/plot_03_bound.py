"""
How many mistakes can a perceptron make?
========================================

Novikoff's theorem: if rows of length at most R can be separated with a margin γ, the perceptron
makes at most (R/γ)² mistakes, in any order. The bound depends neither on the number of rows nor on
the number of columns.
"""

import numpy as np
from matplotlib import pyplot as plt

from rosenblatt import Perceptron, max_margin, mistake_bounds
from rosenblatt.plots import ProgressDisplay


def two_sides(gap, n=300, seed=0):
    """Points of a disc on both sides of a line through the origin, none nearer than the gap."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (100 * n, 2))
    distance = X @ [0.6, 0.8]
    X = X[(np.abs(distance) > gap) & (np.linalg.norm(X, axis=1) < 1)][:n]
    return X, np.sign(X @ [0.6, 0.8])


X, y = two_sides(gap=0.02)
model = Perceptron(fit_intercept=False, random_state=0, max_iter=1000).fit(X, y)
best = max_margin(X, y, fit_intercept=False)
bounds = mistake_bounds(X, y, best.weights)
print(f"{model.stop_reason_} after {model.n_mistakes_} mistakes; at most {bounds.novikoff:,.0f}")

# %%
# Why training ends: every mistake adds at least γ to the component of w along the best direction,
# and at most R² to its squared length. The two curves meet at (R/γ)².

_ = ProgressDisplay.from_data(X, y, fit_intercept=False, random_state=0, max_iter=1000).plot()

# %%
# A smaller margin means more mistakes. The bound is for the worst case; real runs stay below it.

margins, made, allowed = [], [], []
for gap in np.geomspace(0.005, 0.3, 9):
    X, y = two_sides(gap, n=2000)
    best = max_margin(X, y, fit_intercept=False)
    runs = [
        Perceptron(fit_intercept=False, random_state=seed, max_iter=5000).fit(X, y).n_mistakes_
        for seed in range(10)
    ]
    margins.append(best.attained)
    made.append(np.mean(runs))
    allowed.append(mistake_bounds(X, y, best.weights).novikoff)
figure, axis = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
axis.loglog(margins, allowed, "--", color="#555555", label="at most, $(R/\\gamma)^2$")
axis.loglog(margins, made, "o-", color="#0072B2", label="made, mean of ten runs")
axis.set(xlabel="largest margin $\\gamma$ of the rows", ylabel="mistakes")
axis.legend(frameon=False)
