"""
Are my data separable?
======================

A perceptron stops if, and only if, a plane separates the classes. A run that has not stopped may
still do so in the next epoch, so waiting proves nothing. ``separability`` returns a proof, checked
in exact arithmetic: a separating plane, or rows of both classes with a common weighted mean, which
no plane can separate.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_iris

from rosenblatt import separability
from rosenblatt.plots import CertificateDisplay

flowers = load_iris()
for number, name in enumerate(flowers.target_names):
    found = separability(flowers.data, flowers.target == number)
    print(f"{name:10} against the others: {type(found).__name__}")

# %%
# The same in two dimensions. Left: the nearest points of the two convex hulls are twice the largest
# margin apart. Right: the star is a weighted mean of the circled rows of either class. A separating
# plane would have the star on both sides.

apart = flowers.target < 2
versus = flowers.target > 0
figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
for axis, chosen in zip(axes, (apart, versus), strict=True):
    X, y = flowers.data[chosen][:, 2:], flowers.target_names[flowers.target[chosen]]
    names = np.array(flowers.feature_names)[2:]
    CertificateDisplay.from_data(X, y, feature_names=names).plot(axis)
