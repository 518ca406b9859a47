"""
Lesson 4: Through the origin, and with an offset
================================================

**Aim.** Define the training error, learn with and without an offset, and see that the offset is one
more coordinate. After document 003 in docs/textbook.md.

The training error is the share of rows that are wrong. A row on the boundary counts as wrong, as we
cannot be sure of it: Eₙ(θ) is the share of rows with y θ·x ≤ 0.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import make_blobs

from rosenblatt import Perceptron
from rosenblatt.plots import BoundaryDisplay

X, y = make_blobs(60, centers=[[1, 1], [4, 3]], cluster_std=0.7, random_state=2)
y = np.where(y == 1, 1, -1)


def error(theta, theta_0=0.0):
    return np.mean(y * (X @ theta + theta_0) <= 0)


print("training error at zero:", error(np.zeros(2)))

# %%
# Through the origin
# ------------------
#
# T passes over the rows in their order. Since θ starts at 0, the first row is a mistake whatever
# its label, and after the update it is right: y (0 + y x)·x = ‖x‖² > 0.


def perceptron(X, y, T):
    theta = np.zeros(X.shape[1])
    for _ in range(T):
        for x_i, y_i in zip(X, y, strict=True):
            if y_i * (theta @ x_i) <= 0:
                theta = theta + y_i * x_i
    return theta


for T in (1, 5, 50):
    print(f"T = {T:2}: training error {error(perceptron(X, y, T)):.2f}")

# %%
# These classes lie in the same direction from the origin, and no line through it separates them,
# however many passes. An offset helps.


def perceptron_with_offset(X, y, T):
    theta, theta_0 = np.zeros(X.shape[1]), 0.0
    for _ in range(T):
        for x_i, y_i in zip(X, y, strict=True):
            if y_i * (theta @ x_i + theta_0) <= 0:
                theta, theta_0 = theta + y_i * x_i, theta_0 + y_i
    return theta, theta_0


theta, theta_0 = perceptron_with_offset(X, y, 50)
model = Perceptron(order="fixed", max_iter=50).fit(X, y)
print("by hand:    ", theta.round(3), theta_0, "error", error(theta, theta_0))
print("the library:", model.coef_[0].round(3), model.intercept_[0], model.stop_reason_)

# %%
# Left without, right with an offset.

origin = Perceptron(order="fixed", fit_intercept=False, max_iter=50).fit(X, y)
figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
for axis, fitted in zip(axes, (origin, model), strict=True):
    BoundaryDisplay.from_estimator(fitted, X, y).plot(axis)

# %%
# An offset is one more coordinate
# --------------------------------
#
# θ·x + θ₀ = [θ, θ₀]·[x, 1]. So the form with an offset is the one through the origin, on rows with
# a 1 at the end, to the last bit.

longer = np.column_stack([X, np.ones(len(X))])
print(np.array_equal(perceptron(longer, y, 50), [*theta, theta_0]))

# %%
# Later rows undo earlier ones
# ----------------------------
#
# An update for one row may break another. The error after each pass goes up and down before it is
# 0.

measured = Perceptron(order="fixed", measure=True, max_iter=50).fit(X, y)
print([round(epoch.errors / len(X), 2) for epoch in measured.history_])

# %%
# Try it
# ------
#
# .. lab:: With an offset, and through the origin
#
#    data=blobs&size=30&gap=0.3&order=fixed&compare=on&b.form=origin&b.order=fixed
#    &panel=space&t=9999

# %%
# Exercises
# ---------
#
# 1. A version in print tests y θ·x ≤ 0 without θ₀, and updates θ₀ all the same. What goes wrong?
# 2. Move all rows by (10, 10). Does the form with an offset still end? How many more mistakes does
#    it make?
# 3. Put a 10 instead of a 1 at the end of each row. Why is it faster now?
# 4. Show that T passes after a clean one change nothing.

# %%
# Answers
# -------
#
# **1.** θ₀ is changed and never used: it learns the boundary through the origin, and returns an
# offset that belongs to no test that was made.


def slip(X, y, T):
    theta, theta_0 = np.zeros(X.shape[1]), 0.0
    for _ in range(T):
        for x_i, y_i in zip(X, y, strict=True):
            if y_i * (theta @ x_i) <= 0:
                theta, theta_0 = theta + y_i * x_i, theta_0 + y_i
    return theta, theta_0


print("as printed:", error(*slip(X, y, 50)), " with the offset in the test:", error(theta, theta_0))

# %%
# **2.** It ends, but rows are long and all in one direction, so the bound (R/γ)² and the mistakes
# grow.

far = Perceptron(order="fixed", max_iter=100_000).fit(X + 10, y)
print(model.n_mistakes_, "mistakes, and", far.n_mistakes_, "after the move:", far.stop_reason_)

# %%
# **3.** A mistake now moves the offset by 10 · 10 in terms of the old one, and the offset had
# lagged behind. ``intercept_step=100`` says the same.

tens = Perceptron(order="fixed", max_iter=100_000, intercept_step=100).fit(X + 10, y)
print("after the move, with larger steps of the bias:", tens.n_mistakes_)

# %%
# **4.** A pass changes θ only at a mistake, and a clean pass has none; so the next one meets the
# same θ with the same rows, and is clean, too. The library stops there.

print(np.array_equal(perceptron_with_offset(X, y, 50)[0], perceptron_with_offset(X, y, 500)[0]))
