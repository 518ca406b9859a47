"""
Lesson 1: Learning as going downhill
====================================

**Aim.** See the perceptron as stochastic gradient descent on a loss, and know what that loss does
and does not tell. After the lecture notes that docs/textbook.md calls document 000.

**The problem.** Two classes of points are given, with labels +1 and −1. We look for a line (in more
dimensions a plane) that has each class on its own side, so that it can label points to come.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_iris

from rosenblatt import Perceptron

flowers = load_iris()
X = flowers.data[:100, [0, 2]]  # length of sepals and of petals: setosa, then versicolor
y = np.where(flowers.target[:100] == 1, 1, -1)

# %%
# A boundary in one vector
# ------------------------
#
# A line is where w₁x₁ + w₂x₂ + w₀ = 0. With a 1 put at the end of each row, x̄ = [x₁, x₂, 1], it
# is w·x̄ = 0, and the label that we predict is the sign of w·x̄. On the line itself this form says
# +1.

extended = np.column_stack([X, np.ones(len(X))])


def predict(w, rows):
    return np.where(rows @ w >= 0, 1, -1)


guess = np.array([1.0, -1.0, -2.0])
print("rows that a first guess gets wrong:", np.sum(predict(guess, extended) != y))

# %%
# Two losses
# ----------
#
# J₁ counts the mistakes. It is what we care about, but it is flat nearly everywhere: a small
# change of w changes nothing, so it cannot tell which way to go. J adds up how far on the wrong
# side the mistakes are, −y w·x̄ for each, and does have a slope.


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
# The rule
# --------
#
# The slope of −y w·x̄ is −y x̄. One step downhill, for one mistake, with step η:
#
# .. math:: w \leftarrow w + η\, y\, \bar x
#
# That is the whole algorithm: go through the rows in random order, and do this for each mistake.


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
# The library has this form as ``ties="positive"``, and with ``measure=True`` both losses at the
# end of each epoch.

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
# 1. After one update on row x̄, by how much has y w·x̄ grown? Why can the row still be wrong?
# 2. At w = 0, what are J₁ and J? What does that say about stopping when J is 0?
# 3. Does the learning rate η change which rows become mistakes, if w starts at 0? Try 1 and 0.25.
# 4. Where does the loss J end if w is multiplied by 8? And J₁?

# %%
# Answers
# -------
#
# **1.** By η‖x̄‖², which is at least η because of the 1 in x̄. If y w·x̄ was more negative than
# that, the row is still wrong, and will be met again.

x, label, w = extended[60], y[60], np.array([-3.0, -3.0, 0.0])
print("before", label * (w @ x), "after", label * ((w + label * x) @ x), "grown by", x @ x)

# %%
# **2.** Every negative row is wrong, because 0 counts as +1, and J is 0 all the same. So J = 0
# does not mean that nothing is wrong, and the rule stops by counting mistakes.

print("at w = 0:", losses(np.zeros(3)))

# %%
# **3.** No. All weights are η times those of η = 1, and a sign does not change by a positive
# factor.

one, quarter = learn(extended, y, 100, eta=1.0), learn(extended, y, 100, eta=0.25)
print(one[1] == quarter[1], np.allclose(one[0], 4 * quarter[0]))

# %%
# **4.** J is eight times as large, J₁ is what it was: the length of w does not matter for
# predictions.

print(losses(guess), losses(8 * guess))
