"""
Which features decided a prediction?
====================================

A score is the bias plus the sum of weight × feature, so each feature has a contribution. For
images, the weights and the contributions are images, too.
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
# The weights of each class. Ink on blue pixels raises the score of the class, and ink on red pixels
# lowers it.

figure, axes = plt.subplots(2, 5, figsize=(9, 4.2), layout="constrained")
limit = np.abs(model.coef_).max()
for axis, weights, name in zip(axes.flat, model.coef_, model.classes_, strict=True):
    axis.imshow(weights.reshape(8, 8), cmap="RdBu", vmin=-limit, vmax=limit)
    axis.set(xticks=[], yticks=[], title=name)

# %%
# A misclassified digit, and the contribution of each pixel to the predicted class minus that to the
# right class. Blue pixels caused the error.

wrong = 1200 + np.flatnonzero(model.predict(X[1200:]) != y[1200:])[0]
given, right = model.predict(X[[wrong]])[0], y[wrong]
shares = (model.coef_[given] - model.coef_[right]) * X[wrong]
figure, axes = plt.subplots(1, 2, figsize=(7, 3.4), layout="constrained")
axes[0].imshow(X[wrong].reshape(8, 8), cmap="Greys")
axes[0].set(xticks=[], yticks=[], title=f"a {right}, predicted as {given}")
limit = np.abs(shares).max()
image = axes[1].imshow(shares.reshape(8, 8), cmap="RdBu", vmin=-limit, vmax=limit)
axes[1].set(xticks=[], yticks=[], title=f"for {given} (blue) or for {right} (red)")
figure.colorbar(image)
