"""
Lesson 3: A bound, and the dual form
====================================

**Aim.** Prove that learning ends, count how often each row was a mistake, and see that the
algorithm needs dot products between rows only. After document 002 in docs/textbook.md.

The form of this lesson moves the bias by R², where R is the length of the longest row:
if y(w·x + b) ≤ 0, then w ← w + η y x and b ← b + η y R².
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_iris, make_circles

from rosenblatt import KernelPerceptron, Perceptron, max_margin, steps

flowers = load_iris()
X, y = flowers.data[:100], np.where(flowers.target[:100] == 1, 1, -1)
R = np.linalg.norm(X, axis=1).max()


def primal(X, y, eta=1.0):
    """Weights, bias, and how many updates were made until a clean pass."""
    R2, w, b, k = np.max(np.sum(X * X, axis=1)), np.zeros(X.shape[1]), 0.0, 0
    while True:
        before = k
        for x_i, y_i in zip(X, y, strict=True):
            if y_i * (w @ x_i + b) <= 0:
                w, b, k = w + eta * y_i * x_i, b + eta * y_i * R2, k + 1
        if k == before:
            return w, b, k


w, b, k = primal(X, y)
model = Perceptron(order="fixed", intercept_step="radius").fit(X, y)
print("by hand:    ", w.round(2), round(b, 2), k)
print("the library:", model.coef_[0].round(2), model.intercept_.round(2), model.n_mistakes_)

# %%
# Why it ends
# -----------
#
# Novikoff's theorem. If some plane with ‖w*‖ = 1 leaves every row at least γ away on its own side,
# there are at most (2R/γ)² mistakes. Each mistake adds at least γ to the part of w along w*, so
# that part grows like the number of mistakes; and it adds at most a constant to ‖w‖², so the
# length grows like its root. A part cannot be longer than the whole.

best = max_margin(X, y)
most = (2 * R / best.attained) ** 2
print(f"margin {best.attained:.3f}, R {R:.2f}: {k} mistakes, at most {most:.0f}")

# %%
# The dual form
# -------------
#
# w is a sum of rows: w = Σ αᵢ yᵢ xᵢ, where αᵢ counts the mistakes on row i. So instead of w we may
# keep the counts, and w·x becomes Σ αⱼ yⱼ ⟨xⱼ, x⟩. Rows come in only through the Gram matrix of
# their dot products.


def dual(G, y):
    """The counts and the bias, from the Gram matrix alone."""
    alpha, b, R2 = np.zeros(len(y)), 0.0, G.diagonal().max()
    while True:
        mistakes = 0
        for i in range(len(y)):
            if y[i] * ((alpha * y) @ G[i] + b) <= 0:
                alpha[i], b, mistakes = alpha[i] + 1, b + y[i] * R2, mistakes + 1
        if not mistakes:
            return alpha, b


alpha, b_dual = dual(X @ X.T, y)
print("same weights:", np.allclose((alpha * y) @ X, w), " same bias:", np.isclose(b_dual, b))
print("rows that were ever a mistake:", np.flatnonzero(alpha), "in all", int(alpha.sum()))

figure, axis = plt.subplots(figsize=(7, 3), layout="constrained")
axis.bar(np.arange(len(alpha)), alpha, color=np.where(y > 0, "#0072B2", "#E69F00"))
axis.set(xlabel="row", ylabel="mistakes on it")

# %%
# What that is good for
# ---------------------
#
# Any function that is a dot product in some space may stand in for ⟨x, x′⟩. With (1 + ⟨x, x′⟩)²
# the space has the squares and products of the columns, and a line there is a circle here.

rings, inside = make_circles(200, factor=0.5, noise=0.05, random_state=0)
curved = KernelPerceptron("poly", degree=2, gamma=1, coef0=1).fit(rings, inside)
print(curved.stop_reason_, "with", len(curved.support_), "support rows of", len(rings))

# %%
# Try it
# ------
#
# .. lab:: α at each point, and the Gram matrix
#
#    data=origin&size=24&gap=0.1&form=origin&order=fixed&dual=on&panel=gram&t=9999

# %%
# Exercises
# ---------
#
# 1. Does η change the result, if w and b start at 0? And if they start at 1?
# 2. Count the mistakes on each row with ``steps`` and compare with α.
# 3. In the iris example with two columns, starting at w = (1, 1), b = 1 with η = 0.1, rows on the
#    boundary count as right. How many passes does it take? (The first 99 rows, sepal columns,
#    ``ties="correct"``.)
# 4. Replace a row by another of the same direction and three times the length. What happens to the
#    bound?

# %%
# Answers
# -------
#
# **1.** From 0 it scales everything and changes no sign. From 1 it matters: a small η takes long
# to overcome the start.

print([primal(X, y, eta)[2] for eta in (1.0, 0.5)])
started = [
    Perceptron(order="fixed", eta0=eta)
    .fit(X, y, coef_init=np.ones(4), intercept_init=1)
    .n_mistakes_
    for eta in (1.0, 0.01)
]
print("from ones:", started)

# %%
# **2.** They are the same.

counts = np.zeros(len(X), int)
for step in steps(X, y, order="fixed", intercept_step="radius"):
    counts[step.row] += 1
print(np.array_equal(counts, alpha))

# %%
# **3.** 702 in floating point. (In exact arithmetic some rows lie exactly on the boundary and it
# takes 686: 0.1 is no binary fraction.)

example = Perceptron(ties="correct", order="fixed", eta0=0.1, max_iter=1000)
example.fit(X[:99, :2], y[:99], coef_init=[1, 1], intercept_init=1)
print(example.n_iter_, example.coef_.round(2), example.intercept_.round(2))

# %%
# **4.** Through the origin, the row's own distance is three times what it was, and the margin of
# the data cannot shrink. R may be three times as long, so the bound may be nine times as large: one
# long row makes the theorem weak, and learning slow. That is a reason to scale rows.
