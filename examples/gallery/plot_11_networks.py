"""
Learn XOR with a network
========================

One perceptron draws one line, and no line separates XOR. ``PerceptronNetwork`` adds units until no
training row is wrong. Here the second unit switches the first off where it is wrongly on.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import make_moons

from rosenblatt import PerceptronNetwork

X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
network = PerceptronNetwork("upstart", random_state=0).fit(X, y)
for record in network.history_:
    print(f"with {record.epoch} units {record.errors} of 4 rows are wrong")

# %%
# Left: each unit is a line. Right: the same network on two moons. The rows are lifted to a sphere,
# so each unit is a circle.

colours = np.array(["#D55E00", "#0072B2"])


def draw(axis, network, X, y):
    """The plane as the network divides it."""
    low, high = X.min(axis=0) - 0.5, X.max(axis=0) + 0.5
    sides = [np.linspace(low[k], high[k], 300) for k in (0, 1)]
    grid = np.column_stack([part.ravel() for part in np.meshgrid(*sides)])
    answers = network.predict(grid).reshape(300, 300)
    axis.contourf(*sides, answers, levels=[-0.5, 0.5, 1.5], colors=colours, alpha=0.2)
    axis.scatter(
        *X.T, c=colours[y], s=90 if len(X) < 9 else 24, edgecolors="white", linewidths=0.5, zorder=3
    )
    axis.set_title(f"{network.n_units_} units, {network.score(X, y):.0%} right")


moons, half = make_moons(200, noise=0.1, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
draw(axes[0], network, X, y)
side = np.linspace(-0.5, 1.5, 2)
for number, unit in enumerate(network.units_, start=1):
    line = -(unit.weights[0] * side + unit.bias) / unit.weights[1]
    axes[0].plot(side, line, color="0.3", label=f"unit {number}", linestyle=["-", "--"][number - 1])
axes[0].set(xlim=(-0.5, 1.5), ylim=(-0.5, 1.5))
axes[0].legend(frameon=False)
draw(axes[1], PerceptronNetwork("upstart", random_state=0).fit(moons, half), moons, half)
