"""
What trees and neighbours can do that a line cannot
===================================================

A textbook says that a perceptron is limited in a way in which decision trees and nearest neighbours
are not: its boundary is a line. Here are five methods side by side, on XOR, on two spirals, and on
two columns of two real tables. Kernels and networks of perceptrons lift the limit, too. On the
tables a line is about as good as anything else: the limit of a line is not the limit of the data.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import scale
from sklearn.tree import DecisionTreeClassifier

from rosenblatt import KernelPerceptron, Perceptron, PerceptronNetwork

random = np.random.default_rng(0)


def xor(n=300):
    X = random.uniform(-1, 1, (n, 2))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def spirals(n=300):
    kind, turn = random.integers(0, 2, n), random.uniform(0.4, 2.6, n) * np.pi
    X = np.column_stack([turn * np.cos(turn + np.pi * kind), turn * np.sin(turn + np.pi * kind)])
    return X / 5 + random.normal(0, 0.04, X.shape), kind


flowers, tumours = load_iris(), load_breast_cancer()
irises = scale(flowers.data[50:, 2:]), flowers.target[50:] - 1  # versicolor and virginica
sets = {
    "XOR": xor(),
    "spirals": spirals(),
    "iris": irises,
    "breast cancer": (scale(tumours.data[:, [0, 1]]), tumours.target),
}
methods = {
    "perceptron": Perceptron(solution="pocket", max_iter=200, random_state=0),
    "kernel (rbf)": KernelPerceptron("rbf", gamma=3, solution="average", max_iter=50),
    "network": PerceptronNetwork(max_units=30, random_state=0),
    "tree": DecisionTreeClassifier(random_state=0),
    "5 neighbours": KNeighborsClassifier(5),
}

# %%
# Each method learns from three quarters of the points and is tested on the others. The last line of
# each panel says how many of those are wrong.

figure, axes = plt.subplots(4, 5, figsize=(11, 8.5), layout="constrained")
print(f"{'':14}", *(f"{name:>13}" for name in methods))
for line, (name, (X, y)) in zip(axes, sets.items(), strict=True):
    lesson, test, labels, answers = train_test_split(X, y, test_size=0.25, random_state=0)
    low, high = X.min(axis=0) - 0.2, X.max(axis=0) + 0.2
    grid = np.meshgrid(np.linspace(low[0], high[0], 120), np.linspace(low[1], high[1], 120))
    places, errors = np.column_stack([axis.ravel() for axis in grid]), []
    for axis, (method, model) in zip(line, methods.items(), strict=True):
        model.fit(lesson, labels)
        errors.append(np.mean(model.predict(test) != answers))
        regions = model.predict(places).reshape(grid[0].shape)
        axis.contourf(*grid, regions, levels=[-0.5, 0.5, 1.5], colors=["#f4d9c6", "#cfe2f3"])
        for kind, colour, marker in ((0, "#d55e00", "o"), (1, "#0072b2", "s")):
            axis.scatter(*test[answers == kind].T, s=8, color=colour, marker=marker)
        axis.set(xticks=[], yticks=[], xlabel=f"{errors[-1]:.0%} wrong")
        axis.set_title(method if name == "XOR" else "", fontsize="medium")
    line[0].set_ylabel(name)
    print(f"{name:14}", *(f"{error:>13.1%}" for error in errors))
