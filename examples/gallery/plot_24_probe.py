"""
A linear probe on embeddings
============================

A pretrained network turns texts or images into vectors; a linear model on top of them, a probe,
names the class. Online rules fit this last layer in a fraction of the time of a solver. Here 150
classes of unit vectors stand in for the embeddings of a network.
"""

import time

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.ticker import PercentFormatter
from sklearn.linear_model import LogisticRegression, Perceptron as Peer

from rosenblatt import AROW, PassiveAggressive, Perceptron

rng = np.random.default_rng(0)
classes, width, rows = 150, 128, 6000
centres = rng.standard_normal((classes, width))
y = rng.integers(0, classes, rows)
noise = rng.standard_normal((rows, width)) @ rng.standard_normal((width, width))
X = centres[y] + 0.3 * noise  # embeddings of a class scatter more in some directions
X = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
seen, unseen = slice(0, 4000), slice(4000, None)

# %%
# Each model is fitted twice, since the first call of ours may compile.

models = {
    "Perceptron, averaged": Perceptron(solution="average", max_iter=10, random_state=0),
    "PassiveAggressive, averaged": PassiveAggressive(
        solution="average", max_iter=10, random_state=0
    ),
    "AROW": AROW(max_iter=5, random_state=0),
    "scikit-learn's Perceptron": Peer(random_state=0),
    "LogisticRegression": LogisticRegression(C=100, max_iter=200),
}
found = {}
for name, model in models.items():
    model.fit(X[:600], y[:600])
    begin = time.process_time()
    model.fit(X[seen], y[seen])
    seconds = time.process_time() - begin
    found[name] = seconds, 1 - model.score(X[unseen], y[unseen])
    print(f"{name:28} {found[name][1]:6.1%} of unseen rows wrong")

# %%
# Lower is better, and so is further left: the axis of time is logarithmic.

figure, axis = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
for number, (name, (seconds, error)) in enumerate(found.items()):
    ours = "scikit" not in name and "Logistic" not in name
    axis.plot(seconds, error, "o" if ours else "s", color=f"C{number}", markersize=9, label=name)
axis.set_xscale("log")
axis.yaxis.set_major_formatter(PercentFormatter(1))
axis.set(xlabel="processor seconds of training", ylabel="unseen rows wrong", ylim=0)
axis.legend(frameon=False)
