"""
Lesson 1: The perceptron as gradient descent
============================================

**Goal.** Understand the perceptron as stochastic gradient descent on a loss, and what that loss
does and does not tell you. Based on document 000 of docs/textbook.md.

**Problem.** Given two classes of points with labels +1 and −1, find a line (in more dimensions a
plane) with each class on its own side. The line can then label new points.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_iris

from rosenblatt import Perceptron, train_form

flowers = load_iris()
X = flowers.data[:100, [0, 2]]  # length of sepals and of petals: setosa, then versicolor
y = np.where(flowers.target[:100] == 1, 1, -1)

# %%
# A boundary in one vector
# ------------------------
#
# A line is the set where w₁x₁ + w₂x₂ + w₀ = 0. Append a 1 to each row, x̄ = [x₁, x₂, 1], and the
# line is w·x̄ = 0. The predicted label is the sign of w·x̄. On the line, this form predicts +1.

extended = np.column_stack([X, np.ones(len(X))])


def predict(w, rows):
    return np.where(rows @ w >= 0, 1, -1)


guess = np.array([1.0, -1.0, -2.0])
print("rows that a first guess gets wrong:", np.sum(predict(guess, extended) != y))

# %%
# Two losses
# ----------
#
# J₁ counts the mistakes. It is what we want to minimise, but it is flat nearly everywhere: a small
# change of w changes nothing, so J₁ does not show which way to go. J sums −y w·x̄ over the
# mistakes, how far they are on the wrong side. J has a slope.


def losses(w):
    wrong = predict(w, extended) != y
    return int(wrong.sum()), float(np.sum((-y * (extended @ w))[wrong]))


turns = np.linspace(0, 4, 400)
values = np.array([losses(np.array([-1.0, turn, -0.4])) for turn in turns])
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for axis, column, name in zip(axes, values.T, ["$J_1$: mistakes", "$J$: how wrong"], strict=True):
    axis.plot(turns, column, color="#0072B2")
    axis.set(xlabel="$w_2$, the others fixed", title=name)

# %%
# The update rule
# ---------------
#
# The gradient of −y w·x̄ is −y x̄. One step of gradient descent, for one mistake and step size η,
# is:
#
# .. math:: w \leftarrow w + η\, y\, \bar x
#
# That is the whole algorithm: visit the rows in random order, and update at each mistake.


def learn(rows, labels, epochs, seed=0, eta=1.0):
    """The weights, and the mistakes of each epoch."""
    rng, w, mistakes = np.random.default_rng(seed), np.zeros(rows.shape[1]), []
    for _ in range(epochs):
        mistakes.append(0)
        for i in rng.permutation(len(rows)):
            if (1 if w @ rows[i] >= 0 else -1) != labels[i]:
                w = w + eta * labels[i] * rows[i]
                mistakes[-1] += 1
        if mistakes[-1] == 0:
            break
    return w, mistakes


w, mistakes = learn(extended, y, 100)
print("weights", w.round(2), "mistakes in each epoch", mistakes)

# %%
# The library implements this form with ``ties="positive"``. ``measure=True`` adds both losses at
# the end of each epoch.

model = Perceptron(ties="positive", measure=True, random_state=0).fit(X, y)
for epoch in model.history_:
    print(f"epoch {epoch.epoch}: J1 = {epoch.errors:2}, J = {epoch.loss:.2f}")
print(model.stop_reason_, model.coef_.round(2), model.intercept_)

# %%
# Try it
# ------
#
# .. lab:: Step through the updates and watch J
#
#    data=blobs&size=40&gap=0.1&curve=loss&t=1

# %%
# Exercises
# ---------
#
# 1. By how much does y w·x̄ grow in one update on row x̄? Why can the row still be wrong?
# 2. What are J₁ and J at w = 0? What does that mean for stopping when J is 0?
# 3. If w starts at 0, does the learning rate η change which rows become mistakes? Try 1 and 0.25.
# 4. What happens to J and to J₁ if you multiply w by 8?
# 5. Gradient descent on J adds up all mistakes of the same weights before it moves
#    (``order="batch"``). Compare its passes and its mistakes with those of single updates. Does J
#    fall with every pass? Try η = 1 and a small η, on petals and on the two columns of sepals.

# %%
# Answers
# -------
#
# **1.** By η‖x̄‖², which is at least η because of the 1 in x̄. If y w·x̄ was more negative than
# that, the row is still wrong. A later epoch visits it again.

x, label, w = extended[60], y[60], np.array([-3.0, -3.0, 0.0])
print("before", label * (w @ x), "after", label * ((w + label * x) @ x), "grown by", x @ x)

# %%
# **2.** Every negative row is wrong, because 0 counts as +1, and yet J is 0. So J = 0 does not mean
# that no row is wrong, and the algorithm stops by counting mistakes.

print("at w = 0: J1 = {}, J = {}".format(*losses(np.zeros(3))))

# %%
# **3.** No. All weights are η times those for η = 1, and a positive factor does not change a sign.
# That is so in exact arithmetic, and for η = 0.25, a power of two. With η = 0.1 numbers are
# rounded, and rows that are exactly on the boundary fall to one side.

one, quarter = learn(extended, y, 100, eta=1.0), learn(extended, y, 100, eta=0.25)
print("equal mistakes:", one[1] == quarter[1])
print("four times the weights:", np.allclose(one[0], 4 * quarter[0]))
sepals = flowers.data[:99, :2]
for eta in (1.0, 0.1):
    print(f"sepals, η = {eta}:", len(train_form(sepals, y[:99], eta0=eta).updates), "updates")

# %%
# **4.** J is eight times as large, and J₁ does not change: the length of w does not affect
# predictions.

for name, weights in (("w", guess), ("8w", 8 * guess)):
    print("{:2}: J1 = {}, J = {:.1f}".format(name, *losses(weights)))

# %%
# **5.** A batch needs more passes here, because one update does the work of a whole pass of single
# ones. A smaller η helps J to fall, but no constant η is enough on all data: J is piecewise linear,
# and where a row changes sides a step of constant length goes too far.

for order in ("fixed", "batch"):
    trained = Perceptron(order=order, max_iter=10_000).fit(X, y)
    print(f"{order:6} {trained.n_iter_:3} passes, {trained.n_mistakes_:4} mistakes")
for name, rows in {"petals": X, "sepals": flowers.data[:100, :2]}.items():
    for rate in (1.0, 1e-3):
        slow = Perceptron(order="batch", eta0=rate, measure=True, max_iter=200)
        slow.fit(rows, y, coef_init=[[1.0, 1.0]], intercept_init=[1.0])
        rises = np.diff([epoch.loss for epoch in slow.history_]) > 0
        print(f"{name}, η = {rate}: J rises in {rises.sum()} of {len(rises)} passes")
