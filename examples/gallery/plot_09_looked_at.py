"""
What did the model look at?
===========================

A score is the bias and the sum of weight times feature, so each feature's share can be told. Of
pictures, weights and shares are pictures, too.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits

from rosenblatt import Perceptron

digits = load_digits()
X, y = digits.data / 16, digits.target
model = Perceptron(solution="average", max_iter=20, random_state=0).fit(X[:1200], y[:1200])
print(f"{model.score(X[1200:], y[1200:]):.1%} of the unseen digits are right")

# %%
# The weights of each class: ink on blue speaks for it, ink on red against it.

figure, axes = plt.subplots(2, 5, figsize=(9, 4.2), layout="constrained")
limit = np.abs(model.coef_).max()
for axis, weights, name in zip(axes.flat, model.coef_, model.classes_, strict=True):
    axis.imshow(weights.reshape(8, 8), cmap="RdBu", vmin=-limit, vmax=limit)
    axis.set(xticks=[], yticks=[], title=name)

# %%
# One digit that is wrong, and why: what each pixel said for the answer that was given, less what
# it said for the right one. Blue pixels misled it.

wrong = 1200 + np.flatnonzero(model.predict(X[1200:]) != y[1200:])[0]
given, right = model.predict(X[[wrong]])[0], y[wrong]
shares = (model.coef_[given] - model.coef_[right]) * X[wrong]
figure, axes = plt.subplots(1, 2, figsize=(7, 3.4), layout="constrained")
axes[0].imshow(X[wrong].reshape(8, 8), cmap="Greys")
axes[0].set(xticks=[], yticks=[], title=f"a {right}, taken for a {given}")
limit = np.abs(shares).max()
image = axes[1].imshow(shares.reshape(8, 8), cmap="RdBu", vmin=-limit, vmax=limit)
axes[1].set(xticks=[], yticks=[], title=f"for {given} (blue) or for {right} (red)")
figure.colorbar(image)
