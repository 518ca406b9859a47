"""
Lesson 3: The mistake bound and the dual form
=============================================

**Goal.** Prove that training ends, count how often each row was a mistake, and see that the
algorithm needs only dot products between rows. Based on document 002 of docs/textbook.md.

This lesson moves the bias by R², where R is the length of the longest row: if y(w·x + b) ≤ 0, then
w ← w + η y x and b ← b + η y R².
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_iris, make_circles

from rosenblatt import KernelPerceptron, Perceptron, max_margin, steps

flowers = load_iris()
X, y = flowers.data[:100], np.where(flowers.target[:100] == 1, 1, -1)
R = np.linalg.norm(X, axis=1).max()


def primal(X, y, eta=1.0):
    """Train until a pass makes no mistake; return weights, bias and number of updates."""
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
# The two figures of the document
# -------------------------------
#
# The document uses the sepals only, and the first 99 rows: on the left its data, on the right the
# line that it finds, from w = (1, 1) and b = 1 with η = 0.1. Its code counts rows on the boundary
# as correct and moves the bias by η y.

sepals, kinds = X[:99, :2], y[:99]
line = Perceptron(ties="correct", order="fixed", eta0=0.1, max_iter=1000)
line.fit(sepals, kinds, coef_init=[1, 1], intercept_init=1)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.5), sharey=True, layout="constrained")
for axis in axes:
    for kind, colour in ((-1, "#0072B2"), (1, "#E69F00")):
        axis.plot(*sepals[kinds == kind].T, "o", color=colour, label=f"class {int(kind > 0)}")
    axis.set(xlabel="sepal length", ylabel="sepal width")
    axis.legend()
ends = np.array([sepals[:, 0].min(), sepals[:, 0].max()])
slope, offset = line.coef_[0], line.intercept_[0]
axes[1].plot(ends, -(slope[0] * ends + offset) / slope[1], color="black")
axes[1].set_ylim(1.8, 4.6)
print(
    line.stop_reason_, "after", line.n_iter_, "passes: w =", slope.round(2), "b =", round(offset, 2)
)

# %%
# Why training ends
# -----------------
#
# Novikoff's theorem: if some plane with ‖w*‖ = 1 has every row on its own side at a distance of at
# least γ, there are at most (2R/γ)² mistakes.
#
# Each mistake adds at least γ to the component of w along w*, so this component grows like the
# number of mistakes. Each mistake adds at most a constant to ‖w‖², so the length grows like the
# square root of the number. A component cannot be longer than the vector.

best = max_margin(X, y)
most = (2 * R / best.attained) ** 2
print(f"margin {best.attained:.3f}, R {R:.2f}: {k} mistakes, at most {most:.0f}")

# %%
# The dual form
# -------------
#
# w is a sum of rows: w = Σ αᵢ yᵢ xᵢ, where αᵢ counts the mistakes on row i. We can store the counts
# instead of w, and w·x becomes Σ αⱼ yⱼ ⟨xⱼ, x⟩. The algorithm then needs the rows only through the
# Gram matrix of their dot products.


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
_ = axis.set(xlabel="row", ylabel="mistakes on it")

# %%
# Use it with a kernel
# --------------------
#
# Any function that is a dot product in some space can replace ⟨x, x′⟩. With (1 + ⟨x, x′⟩)² the
# space has the squares and products of the columns, and a line there is a circle here.

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
# 1. Does η change the result if w and b start at 0? What if they start at 1?
# 2. Count the mistakes on each row with ``steps`` and compare them with α.
# 3. How many passes does the line of the document's figure take, and why is a run in exact
#    arithmetic shorter?
# 4. Replace a row by one with the same direction and three times the length. What happens to the
#    bound?

# %%
# Answers
# -------
#
# **1.** From 0, η scales everything and changes no sign (up to rounding, see lesson 1). From 1 it
# matters: with a small η it takes long to overcome the initial weights.

for eta in (1.0, 0.5):
    print(f"from zero, η = {eta}: {primal(X, y, eta)[2]} mistakes")
for eta in (1.0, 0.01):
    started = Perceptron(order="fixed", eta0=eta)
    started.fit(X, y, coef_init=np.ones(4), intercept_init=1)
    print(f"from ones, η = {eta}: {started.n_mistakes_} mistakes")

# %%
# **2.** They are the same.

counts = np.zeros(len(X), int)
for step in steps(X, y, order="fixed", intercept_step="radius"):
    counts[step.row] += 1
print("the same counts:", np.array_equal(counts, alpha))

# %%
# **3.** 702 in floating point. In exact arithmetic some rows lie exactly on the boundary, and it
# takes 686 passes: 0.1 is not a binary fraction.

print(line.n_iter_, "passes")

# %%
# **4.** Through the origin, the distance of the row triples, and the margin of the data cannot
# shrink. R may triple, so the bound may become nine times as large. One long row weakens the
# theorem and slows training. That is a reason to scale rows.
