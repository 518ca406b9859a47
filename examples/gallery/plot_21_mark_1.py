"""
The Mark I perceptron
=====================

Rosenblatt's machine of 1960 had a retina of 400 photocells, 512 association units and 8 response
units (Hay, Lynch & Smith 1960). Each association unit was wired at random to some cells, some with
a plus and some with a minus sign, and fired if their sum exceeded a threshold. This wiring was not
trained. What the machine learnt were the weights from association units to response units, turned
by motors: the perceptron rule. This is the same machine in a few lines, and it learns shapes.
"""

import numpy as np
from matplotlib import pyplot as plt

from rosenblatt import Perceptron

SIDE, UNITS, WIRES = 20, 512, 20  # 20 × 20 cells; wires per unit, half of each sign
SHAPES = "square", "circle", "triangle", "cross"
rows, columns = np.mgrid[:SIDE, :SIDE]


def draw(shape, random):
    """One picture: a shape at a random place and of a random size, with some wrong cells."""
    size, (a, b) = random.uniform(3.5, 6.5), random.uniform(7, 12, 2)
    down, across = rows - a, columns - b
    inside = {
        "square": np.maximum(abs(down), abs(across)) < 0.85 * size,
        "circle": np.hypot(down, across) < size,
        "triangle": (down < 0.8 * size) & (2 * abs(across) < down + size),
        "cross": (np.minimum(abs(down), abs(across)) < 0.3 * size)
        & (np.maximum(abs(down), abs(across)) < size),
    }[shape]
    return inside ^ (random.random((SIDE, SIDE)) < 0.02)


def show(count, seed):
    """So many pictures with their shapes, one row of 400 cells each."""
    random = np.random.default_rng(seed)
    names = random.choice(SHAPES, count)
    return np.array([draw(name, random).ravel() for name in names], float), names


# %%
# The plugboard: every association unit looks at 20 random cells. The threshold is such that a unit
# fires for about a third of the pictures.

random = np.random.default_rng(1960)
wiring = np.zeros((SIDE * SIDE, UNITS))
for unit in range(UNITS):
    cells = random.choice(SIDE * SIDE, WIRES, replace=False)
    wiring[cells, unit] = np.repeat([1, -1], WIRES // 2)
threshold = 1.0


def associate(pictures):
    """Which association units fire, as 0 and 1."""
    return (pictures @ wiring > threshold).astype(float)


pictures, names = show(2000, seed=1)
new_pictures, new_names = show(1000, seed=2)
fired, new_fired = associate(pictures), associate(new_pictures)
print(f"an association unit fires for {fired.mean():.0%} of the pictures")

# %%
# Teaching: one pass over the pictures, each shown once, with one response unit per shape.

shown = [20, 50, 100, 200, 500, 1000, 2000]
curves = {"400 cells": (pictures, new_pictures), "512 association units": (fired, new_fired)}
errors = {name: [] for name in curves}
for name, (seen, unseen) in curves.items():
    machine = Perceptron(multi_class="ovr")
    before = 0
    for count in shown:
        machine.partial_fit(seen[before:count], names[before:count], classes=SHAPES)
        errors[name].append(1 - machine.score(unseen, new_names))
        before = count
    print(f"{name}: {errors[name][-1]:.1%} of new pictures wrong after one pass")

taught = {
    name: Perceptron(multi_class="ovr", solution="average", max_iter=30, random_state=0).fit(
        seen, names
    )
    for name, (seen, _) in curves.items()
}
for name, machine in taught.items():
    wrong = 1 - machine.score(curves[name][1], new_names)
    print(f"{name}: {wrong:.1%} wrong after 30 passes, averaged")

# %%
# Top: pictures on the retina. Below: the cells that one association unit looks at, what the
# "circle" response sees through all of them (weights times wiring), and errors on new pictures.

figure = plt.figure(figsize=(9.5, 6), layout="constrained")
top, bottom = figure.subfigures(2, 1, height_ratios=[2, 3])
for axis, name in zip(top.subplots(1, 6), [*SHAPES, "circle", "cross"], strict=True):
    axis.imshow(draw(name, random), cmap="Greys")
    axis.set(title=name, xticks=[], yticks=[])
wire, response, learning = bottom.subplots(1, 3, width_ratios=[2, 2, 3])
wire.imshow(wiring[:, 0].reshape(SIDE, SIDE), cmap="RdBu")
wire.set(title="wires of one unit", xticks=[], yticks=[])
machine = taught["512 association units"]
circle = wiring @ machine.coef_[list(machine.classes_).index("circle")]
response.imshow(
    circle.reshape(SIDE, SIDE), cmap="RdBu", vmin=-abs(circle).max(), vmax=abs(circle).max()
)
response.set(title="what “circle” looks for", xticks=[], yticks=[])
for name, curve in errors.items():
    learning.plot(shown, curve, "o-", label=name)
learning.set(
    xscale="log", xlabel="pictures shown once", title="error on new pictures", ylim=(0, None)
)
learning.legend(frameon=False)
