"""
Curved boundaries with kernels
==============================

A kernel compares rows as if products of their columns were columns, too, without computing them.
``KernelPerceptron`` is the dual form of the same algorithm. Its model consists of the rows that
were mistakes (ringed).
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import make_circles, make_moons

from rosenblatt import KernelPerceptron

sets = {
    "XOR": (np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])),
    "circles": make_circles(300, factor=0.5, noise=0.08, random_state=0),
    "moons": make_moons(300, noise=0.12, random_state=0),
}
kernels = {
    "polynomial of degree 3": KernelPerceptron("poly", gamma=1, random_state=0, max_iter=1000),
    "Gaussian": KernelPerceptron("rbf", gamma=3, random_state=0, max_iter=1000),
    "Gaussian, 15 support rows": KernelPerceptron("rbf", gamma=3, random_state=0, budget=15),
}


def draw(axis, model, X, y):
    """The two sides of the boundary, the rows, and a ring around each support row."""
    low, high = X.min(axis=0) - 0.4, X.max(axis=0) + 0.4
    across, up = np.meshgrid(*(np.linspace(low[k], high[k], 200) for k in (0, 1)))
    scores = model.decision_function(np.column_stack([across.ravel(), up.ravel()]))
    scores = scores.reshape(across.shape)
    axis.contourf(across, up, scores, [-np.inf, 0, np.inf], colors=["#dbe6f4", "#fbe3d0"])
    axis.contour(across, up, scores, [0], colors="#444444", linewidths=1)
    axis.scatter(*X.T, c=np.where(y == 1, "#d95f02", "#1f5fa8"), s=9)
    support = model.support_vectors_
    axis.scatter(*support.T, facecolors="none", edgecolors="#222222", s=34, linewidths=0.7)
    axis.set(xticks=[], yticks=[])


# %%
# The models in the last row keep at most 15 support rows. When the support is full, a new mistake
# is projected on it.

figure, axes = plt.subplots(3, 3, figsize=(8.4, 8.4), layout="constrained")
for line, (kernel, model) in zip(axes, kernels.items(), strict=True):
    line[0].set_ylabel(kernel)
    for axis, (name, (X, y)) in zip(line, sets.items(), strict=True):
        model.fit(X, y)
        draw(axis, model, X, y)
        axis.set_title(f"{name}: {model.score(X, y):.1%} right", fontsize=10)
        print(
            f"{name:8} {kernel:26} {model.stop_reason_:9} {model.n_iter_:4} epochs "
            f"{model.n_mistakes_:5} mistakes {len(model.support_):4} support rows"
        )
