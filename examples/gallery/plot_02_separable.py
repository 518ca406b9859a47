"""
Is my data separable?
=====================

A perceptron stops if, and only if, a plane separates the classes. A run that has not stopped may
still do so in the next epoch, so waiting is no answer. ``separability`` gives one: a plane, or
rows of both classes whose mixtures coincide, which no plane can part. Either is checked in exact
arithmetic.
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
# The same in a plane. On the left the nearest points of the two hulls are twice the largest margin
# apart. On the right one mixture of the circled rows of one class is a mixture of those of the
# other (the star), and a plane that has each class on its side would have the star on both.

apart = flowers.target < 2
versus = flowers.target > 0
figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
for axis, chosen in zip(axes, (apart, versus), strict=True):
    X, y = flowers.data[chosen][:, 2:], flowers.target_names[flowers.target[chosen]]
    names = np.array(flowers.feature_names)[2:]
    CertificateDisplay.from_data(X, y, feature_names=names).plot(axis)
