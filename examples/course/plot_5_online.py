"""
Lesson 5: Online learning, margins and XOR
==========================================

**Goal.** Understand learning one row at a time, why the order of rows matters, what a margin is and
how it bounds the mistakes, and what a single perceptron cannot learn. Based on document 004 of
docs/textbook.md.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from rosenblatt import KernelPerceptron, Perceptron, PerceptronNetwork, margin, max_margin
from rosenblatt.plots import CertificateDisplay

# %%
# Online and error-driven
# -----------------------
#
# The algorithm sees one row at a time and changes nothing while it is right. Here are training and
# prediction in a few lines. The test y·a ≤ 0 is true if the activation a is 0 or has the wrong
# sign.


def train(X, y, most, order=None):
    w, b, mistakes = np.zeros(X.shape[1]), 0.0, []
    for epoch in range(most):
        mistakes.append(0)
        rows = range(len(X)) if order is None else order(epoch)
        for i in rows:
            if y[i] * (w @ X[i] + b) <= 0:
                w, b = w + y[i] * X[i], b + y[i]
                mistakes[-1] += 1
        if not mistakes[-1]:
            break
    return w, b, mistakes


def predict(w, b, x):
    return np.sign(w @ x + b)


rng = np.random.default_rng(0)
X = rng.normal(size=(1000, 10))
plane = rng.normal(size=10)
distance = X @ plane / np.linalg.norm(plane)
X, y = X[np.abs(distance) > 0.1], np.sign(distance[np.abs(distance) > 0.1])
w, b, mistakes = train(X, y, 100)
model = Perceptron(order="fixed", max_iter=100).fit(X, y)
print("mistakes in each pass:", mistakes)
print("the same weights:", np.array_equal(w, model.coef_[0]), " row 0:", predict(w, b, X[0]), y[0])

# %%
# The order of the rows
# ---------------------
#
# If all positive rows come first, the model predicts positive after a few of them and learns
# nothing more until the negative rows begin. A permutation helps.

rows = rng.normal(size=(5000, 20))
rows /= np.linalg.norm(rows, axis=1, keepdims=True)
far = rows @ np.ones(20) / np.sqrt(20)
ordered = np.vstack([rows[far > 0.02][:500], rows[far < -0.02][:500]])
signs = np.repeat([1, -1], 500)
permuted = np.random.default_rng(1)
runs = {
    "all positives first": train(ordered, signs, 500)[2],
    "a new permutation each pass": train(
        ordered, signs, 500, lambda epoch: permuted.permutation(1000)
    )[2],
}
figure, axis = plt.subplots(figsize=(7, 3.4), layout="constrained")
for name, counts in runs.items():
    axis.plot(np.arange(1, len(counts) + 1), counts, ".-", label=f"{name}: {len(counts)} passes")
axis.set(xlabel="pass", ylabel="mistakes", xscale="log")
axis.legend(frameon=False)

# %%
# The margin
# ----------
#
# The margin of a separating plane is the distance to the nearest row. The margin of the data is the
# largest margin of any plane. If no row is longer than 1 and there is no bias, the perceptron makes
# at most 1/γ² mistakes.

unit = X / np.linalg.norm(X, axis=1).max()
best = max_margin(unit, y, fit_intercept=False)
learnt = Perceptron(fit_intercept=False, random_state=0, max_iter=1000).fit(unit, y)
print(f"margin of the data {best.attained:.4f}, of the learnt plane ", end="")
print(f"{margin(unit, y, learnt.coef_[0]):.4f}")
print(f"{learnt.n_mistakes_} mistakes, at most {1 / best.attained**2:,.0f}")

# %%
# What a single perceptron cannot learn
# -------------------------------------
#
# XOR: the corners of a square, with equal labels on each diagonal. The convex hulls of the two
# classes intersect in the middle, which proves that no line separates them.

corners, odd = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([-1, 1, 1, -1])
CertificateDisplay.from_data(corners, odd).plot()
print(Perceptron(max_iter=1000).fit(corners, odd).stop_reason_, "after 1,000 passes")

# %%
# Try it
# ------
#
# .. lab:: The order of the rows
#
#    data=500-then-500&gap=0.05&order=fixed&compare=on&t=9999

# %%
# Exercises
# ---------
#
# 1. By how much does an update raise y·a for its row? Is the row right afterwards?
# 2. Train on two equal rows with different labels. What happens to the weights, and why does
#    training not end?
# 3. Does doubling w and b change predictions? Is w·x + b still a distance?
# 4. A review has the features *excellent*, *terrible* and *not*, and *not* reverses the other two.
#    Why can a perceptron not learn this? Which products of features make it possible, and with
#    which weights?
# 5. Name two more ways to learn XOR and try them.
# 6. Draw 60 rows with 40 features that are all noise, and random labels. Train one pass and 100
#    passes. How many training rows are wrong, and how many new ones? When would you stop?

# %%
# Answers
# -------
#
# **1.** By ‖x‖² + 1, so at least by 1. The row is right afterwards if −y·a was less than that.
#
# **2.** One row undoes the update of the other, so w and b repeat for ever. No feature
# distinguishes the rows, so no classifier can be right on both.

same = Perceptron(order="fixed", max_iter=50).fit([[1.0, 2.0], [1.0, 2.0]], [1, -1])
print(f"{same.stop_reason_}: {same.n_mistakes_} mistakes")
print(f"w = {same.coef_[0]}, b = {same.intercept_[0]}")

# %%
# **3.** No prediction changes. But w·x + b is a distance only if ‖w‖ = 1; otherwise divide by ‖w‖.

print("the same predictions:", np.array_equal(np.sign(X @ w + b), np.sign(X @ (2 * w) + 2 * b)))

# %%
# **4.** It is the XOR of *excellent* and *not*. The products *excellent and not* and *terrible and
# not* make it learnable:

words = ["excellent", "terrible", "not"]
reviews, good = [[1, 0, 0], [0, 1, 0], [1, 0, 1], [0, 1, 1]], [1, -1, -1, 1]
products = PolynomialFeatures(2, interaction_only=True, include_bias=False)
reader = make_pipeline(products, Perceptron(order="fixed")).fit(reviews, good)
for name, weight in zip(products.get_feature_names_out(words), reader[-1].coef_[0], strict=True):
    print(f"{name:20} {weight:+.0f}")

# %%
# **5.** A kernel, which uses the products without computing them, and a network, in which one unit
# corrects the mistakes of another.

for model in KernelPerceptron("poly", degree=2, gamma=1), PerceptronNetwork(random_state=0):
    right = model.fit(corners, odd).score(corners, odd)
    print(f"{type(model).__name__:17} {right:.0%} of the corners are right")

# %%
# **6.** After 100 passes every training row is right, and new rows are still a coin toss: with so
# many columns for the rows there is always a plane. Errors on held-out rows tell when to stop.

noise, coins = rng.normal(size=(60, 40)), rng.choice([-1, 1], 60)
new, new_coins = rng.normal(size=(1000, 40)), rng.choice([-1, 1], 1000)
for passes in (1, 100):
    memory = Perceptron(max_iter=passes, random_state=0).fit(noise, coins)
    print(f"{passes:3} passes: {1 - memory.score(noise, coins):.0%} of the training rows wrong,",
          f"{1 - memory.score(new, new_coins):.0%} of new rows")  # fmt: skip
