"""
Lesson 4: The training error and the offset
===========================================

**Goal.** Define the training error, train with and without an offset, and see that the offset is
one more coordinate. Based on document 003 of docs/textbook.md.

The training error Eₙ(θ) is the share of rows with y θ·x ≤ 0. A row on the boundary counts as an
error, because its label is uncertain.
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
# Make T passes over the rows in their order. Since θ starts at 0, the first row is a mistake for
# either label. After the update it is right: y (0 + y x)·x = ‖x‖² > 0.


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
# Both classes lie in the same direction from the origin, so no line through it separates them,
# after any number of passes. An offset helps.


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
# Left: without an offset. Right: with an offset.

origin = Perceptron(order="fixed", fit_intercept=False, max_iter=50).fit(X, y)
figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
for axis, fitted in zip(axes, (origin, model), strict=True):
    BoundaryDisplay.from_estimator(fitted, X, y).plot(axis)

# %%
# An offset is one more coordinate
# --------------------------------
#
# θ·x + θ₀ = [θ, θ₀]·[x, 1]. So the form with an offset equals the form through the origin on rows
# with a 1 at the end, bit for bit.

longer = np.column_stack([X, np.ones(len(X))])
print("the same weights:", np.array_equal(perceptron(longer, y, 50), [*theta, theta_0]))

# %%
# Later rows undo earlier ones
# ----------------------------
#
# An update for one row can break another. The error after each pass goes up and down before it
# reaches 0.

measured = Perceptron(order="fixed", measure=True, max_iter=50).fit(X, y)
for epoch in measured.history_:
    print(f"pass {epoch.epoch}: training error {epoch.errors / len(X):.2f}")

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
# 1. One published version tests y θ·x ≤ 0 without θ₀, but updates θ₀. What goes wrong?
# 2. Move all rows by (10, 10). Does training with an offset still end? How many more mistakes does
#    it make?
# 3. Append a 10 instead of a 1 to each row. Why is training faster now?
# 4. Show that passes after one without mistakes change nothing.

# %%
# Answers
# -------
#
# **1.** θ₀ is updated but never used. The algorithm learns the boundary through the origin, and
# returns an offset that no test has used.


def slip(X, y, T):
    theta, theta_0 = np.zeros(X.shape[1]), 0.0
    for _ in range(T):
        for x_i, y_i in zip(X, y, strict=True):
            if y_i * (theta @ x_i) <= 0:
                theta, theta_0 = theta + y_i * x_i, theta_0 + y_i
    return theta, theta_0


print("as printed:", error(*slip(X, y, 50)), " with the offset in the test:", error(theta, theta_0))

# %%
# **2.** It ends. But the rows are now long and all in one direction, so the bound (R/γ)² and the
# number of mistakes grow.

far = Perceptron(order="fixed", max_iter=100_000).fit(X + 10, y)
print(model.n_mistakes_, "mistakes, and", far.n_mistakes_, "after the move:", far.stop_reason_)

# %%
# **3.** A mistake now moves the offset by 10 · 10 = 100 times as much, and the offset had lagged
# behind. ``intercept_step=100`` has the same effect.

tens = Perceptron(order="fixed", max_iter=100_000, intercept_step=100).fit(X + 10, y)
print("after the move, with larger steps of the bias:", tens.n_mistakes_)

# %%
# **4.** Only mistakes change θ, and a pass without mistakes has none. The next pass starts with the
# same θ and the same rows, so it makes no mistakes either. The library stops there.

longest = perceptron_with_offset(X, y, 500)[0]
print("the same weights:", np.array_equal(perceptron_with_offset(X, y, 50)[0], longest))
