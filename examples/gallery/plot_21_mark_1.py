"""
The Mark I perceptron
=====================

Rosenblatt's machine of 1960 had a retina of 400 photocells, 512 association units and 8 response
units (Hay & Murray 1960). Each association unit was wired at random to some cells, some with
a plus and some with a minus sign, and fired if their sum exceeded a threshold. This wiring was not
trained. What the machine learnt were the weights from association units to response units, turned
by motors: the perceptron rule. This is the same machine in a few lines, and it learns shapes.

Half of the pictures are dark on light, the others light on dark. No weights of single cells tell
shapes apart then, because a picture and its negative need opposite ones. The association units make
the difference, although they are not trained.
"""

import numpy as np
from matplotlib import pyplot as plt

from rosenblatt import Perceptron

SIDE, UNITS, WIRES = 20, 512, 20  # 20 × 20 cells; wires per unit, half of each sign
SHAPES = "square", "circle", "triangle", "cross"
rows, columns = np.mgrid[:SIDE, :SIDE]


def draw(shape, random):
    """One picture: a shape of a random place, size and sign, with some wrong cells."""
    size, (a, b) = random.uniform(5, 7), random.uniform(8, 11, 2)
    down, across = rows - a, columns - b
    inside = {
        "square": np.maximum(abs(down), abs(across)) < 0.85 * size,
        "circle": np.hypot(down, across) < size,
        "triangle": (down < 0.8 * size) & (2 * abs(across) < down + size),
        "cross": (np.minimum(abs(down), abs(across)) < 0.3 * size)
        & (np.maximum(abs(down), abs(across)) < size),
    }[shape]
    light = random.random() < 0.5  # on dark, or dark on light
    return inside ^ light ^ (random.random((SIDE, SIDE)) < 0.02)


def show(count, seed):
    """Draw pictures with their shapes, one row of 400 cells each."""
    random = np.random.default_rng(seed)
    names = random.choice(SHAPES, count)
    return np.array([draw(name, random).ravel() for name in names], float), names


# %%
# The plugboard: every association unit looks at 20 random cells. The threshold is such that a unit
# fires for about a fifth of the pictures.

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
# Top: pictures on the retina. Below: the wires of one association unit (blue: plus, red: minus),
# and errors on new pictures. Guessing would be wrong in three of four cases.

figure = plt.figure(figsize=(9.5, 5.5), layout="constrained")
top, bottom = figure.subfigures(2, 1, height_ratios=[2, 3])
for axis, name in zip(top.subplots(1, 6), [*SHAPES, "circle", "cross"], strict=True):
    axis.imshow(draw(name, random), cmap="Greys")
    axis.set(title=name, xticks=[], yticks=[])
wire, learning = bottom.subplots(1, 2, width_ratios=[1, 2])
wire.imshow(wiring[:, 0].reshape(SIDE, SIDE), cmap="RdBu")
wire.set(title="wires of one unit", xticks=[], yticks=[])
for name, curve in errors.items():
    learning.plot(shown, 100 * np.array(curve), "o-", label=name)
learning.set(xscale="log", xlabel="pictures shown once", ylim=(0, None))
learning.set_title("% of new pictures wrong")
learning.legend(frameon=False)
