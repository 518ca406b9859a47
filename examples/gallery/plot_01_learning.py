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
from rosenblatt.plots import LearningAnimation

X, y = make_blobs(60, centers=[[-1, 0], [2, 2]], cluster_std=0.8, random_state=4)
for step in steps(X, y, order="fixed"):
    print(f"row {step.row:2}, label {step.label}: w becomes {step.new_weights[0].round(2)}")

# %%
# The first updates and the last. The doubly ringed row caused the update, and the dashed line is
# the boundary before it. The arrow is the weight vector, which is orthogonal to the boundary and
# points to the positive side. Circled rows are now misclassified.

learning = LearningAnimation.from_data(X, y, order="fixed")
moments = [1, 2, 3, len(learning.frames) - 1]
figure, axes = plt.subplots(2, 2, figsize=(11, 9), layout="constrained")
for axis, moment in zip(axes.flat, moments, strict=True):
    learning.plot(axis, frame=moment, legend=False)

# %%
# The same as an animation. ``learning.save("learning.gif")`` writes it to a file.

learning
