"""
Watch a perceptron learn
========================

A perceptron starts with zero weights and visits one row after the other. Only a mistake changes it:
the row is added to the weights or subtracted, and the boundary turns. ``steps`` yields each of
these updates, computed by the training code.
"""

from matplotlib import pyplot as plt
from sklearn.datasets import make_blobs

from rosenblatt import steps
from rosenblatt.plots import BoundaryDisplay

X, y = make_blobs(60, centers=[[-1, 0], [2, 2]], cluster_std=0.8, random_state=4)
updates = list(steps(X, y, order="fixed"))
for step in updates:
    print(f"row {step.row:2}, label {step.label}: w becomes {step.new_weights[0].round(2)}")

# %%
# The first updates and the last. The ringed row caused the update. The arrow is the weight vector,
# which is orthogonal to the boundary and points to the positive side. Circled rows are now
# misclassified.

figure, axes = plt.subplots(2, 2, figsize=(11, 9), layout="constrained")
for axis, step in zip(axes.flat, [*updates[:3], updates[-1]], strict=True):
    BoundaryDisplay.from_weights(step.new_weights, step.new_bias, X, y).plot(axis, legend=False)
    axis.plot(*X[step.row], "o", color="black", fillstyle="none", markersize=18)
    axis.set_title(f"after the mistake on row {step.row}", loc="left")

# %%
# ``rosenblatt lab`` shows the same as an animation.
