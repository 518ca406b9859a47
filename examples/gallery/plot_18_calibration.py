"""
From scores to probabilities
============================

A score tells how far a row is from the boundary, not how probable its class is. ``calibrate=True``
fits a map from scores to probabilities.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.calibration import calibration_curve

from rosenblatt import Perceptron

rng = np.random.default_rng(0)
X = rng.normal(size=(20_000, 20))
chance = 1 / (1 + np.exp(-X @ rng.normal(scale=0.4, size=20)))
y = rng.random(len(X)) < chance  # the label is drawn, with a chance that depends on the row
X, y, unseen, answers = X[:10_000], y[:10_000], X[10_000:], y[10_000:]
model = Perceptron(solution="average", calibrate=True, max_iter=5, random_state=0).fit(X, y)
predicted = model.predict_proba(unseen)[:, 1]

# %%
# About 70 % of the rows with a predicted probability of 70 % should be positive. A sigmoid of the
# raw score is nearly always close to 0 or 1.

bare = 1 / (1 + np.exp(-np.clip(model.decision_function(unseen), -500, 500)))
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for chances, name, colour in (
    (bare, "sigmoid of the raw score", "#D55E00"),
    (predicted, "calibrated", "#0072B2"),
):
    happened, said = calibration_curve(answers, chances, n_bins=10)
    axes[0].plot(said, happened, "o-", color=colour, label=name)
    axes[1].hist(chances, 20, range=(0, 1), histtype="step", color=colour, linewidth=1.6)
    print(f"{name:26} mean squared error {np.mean((chances - answers) ** 2):.3f}")
axes[0].plot([0, 1], [0, 1], ":", color="0.5")
axes[0].set(xlabel="predicted probability", ylabel="observed frequency", aspect="equal")
axes[0].legend(frameon=False)
_ = axes[1].set(xlabel="predicted probability", ylabel="rows")
