"""
Lesson 2: Thresholds and angles
===============================

**Goal.** Read the perceptron as a neuron with a threshold, turn the threshold into a weight, and
see each update as a rotation of the weight vector. Based on document 001 of docs/textbook.md.

A neuron computes the weighted sum of its inputs and fires if the sum exceeds a threshold θ: h(x) =
+1 if w·x > θ, else −1.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import make_blobs

from rosenblatt import Perceptron, steps

X, y = make_blobs(40, centers=[[-1, -0.5], [1.5, 2]], cluster_std=0.9, random_state=10)
y = np.where(y == 1, 1, -1)

# %%
# The threshold as a weight
# -------------------------
#
# w·x > θ is the same as w·x − θ > 0. So add an input that is always 1, with the weight b = −θ. The
# boundary w·x + b = 0 is orthogonal to w, at the distance −b/‖w‖ from the origin along w.

w, theta = np.array([2.0, 1.0]), 1.0
print(f"distance of the boundary from the origin: {theta / np.linalg.norm(w):.3f}")

# %%
# Find a mistake, correct it, repeat
# ----------------------------------


def learn(X, y, most=1000):
    """Correct the first mistake found; return the weights, the bias and the rows used."""
    w, b, used = np.zeros(X.shape[1]), 0.0, []
    for _ in range(most):
        wrong = np.flatnonzero(np.where(X @ w + b > 0, 1, -1) != y)
        if not len(wrong):
            break
        i = wrong[0]
        w, b = w + y[i] * X[i], b + y[i]
        used.append(int(i))
    return w, b, used


w, b, used = learn(X, y)
print("by hand:    ", w.round(3), b, used)
model = Perceptron(ties="negative", order="first").fit(X, y)
print("the library:", model.coef_[0].round(3), model.intercept_[0], model.n_mistakes_, "mistakes")

# %%
# What an update does to the angle
# --------------------------------
#
# The angle between w and x should be below 90° for a positive row and above 90° for a negative one.
# An update adds y x to w, so w turns towards a positive row and away from a negative one. ``steps``
# reports the cosine before and after each update.

turns = list(steps(X, y, order="first", ties="negative"))
for step in turns:
    change = f"{step.cosine:5.2f} to {step.new_cosine:5.2f}"
    print(f"row {step.row:2}  y = {step.label:+d}  cosine {change}")

# %%
# The rows, and the weight vector after each update (darker is later).

figure, axis = plt.subplots(figsize=(5.6, 5.2), layout="constrained")
axis.scatter(*X.T, c=np.where(y > 0, "#0072B2", "#E69F00"), s=25)
for number, step in enumerate(turns, start=1):
    direction = step.new_weights[0] / np.linalg.norm(step.new_weights[0])
    shade = 0.2 + 0.8 * number / len(turns)
    axis.annotate(
        "", 2.5 * direction, (0, 0), arrowprops={"arrowstyle": "->", "lw": 2, "alpha": shade}
    )
side = np.linspace(-4, 4, 2)
axis.plot(side, -(w[0] * side + b) / w[1], "--", color="0.3")
_ = axis.set(xlim=(-4.5, 4.5), ylim=(-4, 5), aspect="equal")

# %%
# Try it
# ------
#
# .. lab:: Watch the angle between w and x before and after each update
#
#    data=origin&size=24&gap=0.15&seed=2&form=origin&order=first&ties=negative&panel=vectors&t=2

# %%
# Exercises
# ---------
#
# 1. Why is the first cosine not a number?
# 2. Prove that the cosine grows after a mistake on a positive row. What is the exception?
# 3. Fix the threshold at θ = 0.75 and train only w (``intercept_step=0``). Does it still separate
#    rows that a line through the origin separates? Why?
# 4. Some texts write θ as the weight of a dummy input x₀ = −θ. What happens if the dummy is 0?

# %%
# Answers
# -------
#
# **1.** w is zero at the start, and a zero vector has no angle.
#
# **2.** Let c be the cosine of w and x before the mistake (without a bias c ≤ 0, but the proof does
# not need that), and t = ‖x‖/‖w‖. After it, the cosine is (c + t)/√(1 + 2ct + t²). Its derivative
# in t is (1 − c²)/(1 + 2ct + t²)^{3/2}, which is positive unless c = −1. In that case w and x point
# in opposite directions, and the cosine jumps from −1 to 1 only if x is longer than w.

c, t = -0.4, np.linspace(0, 3, 301)
cosine = (c + t) / np.sqrt(1 + 2 * c * t + t**2)
print("grows all the way:", np.all(np.diff(cosine) > 0))
print(f"from {cosine[0]:.2f} to {cosine[-1]:.2f}")

# %%
# **3.** Yes: each mistake adds to w, so w·x outgrows any fixed θ.

through_origin = X[np.abs(X @ [1, 1]) > 0.8]
labels = np.where(through_origin @ [1, 1] > 0, 1, -1)
fixed = Perceptron(ties="negative", order="first", intercept_step=0, max_iter=1000)
fixed.fit(through_origin, labels, intercept_init=-0.75)
print(fixed.stop_reason_, "with the bias", fixed.intercept_, "and w", fixed.coef_.round(2))

# %%
# **4.** Its weight is always multiplied by 0, so no bias is learnt. That is why the dummy is 1.
