"""
What can products of features do?
=================================

The textbook's way to learn XOR is to add the product of two features as a third. With products, a
perceptron also learns that *not* reverses a review, and finds exactly the weights that one would
choose by hand.
"""

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.ticker import PercentFormatter
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from rosenblatt import Perceptron


def combined(degree):
    """A perceptron on all products of up to ``degree`` features."""
    products = PolynomialFeatures(degree, interaction_only=True, include_bias=False)
    return make_pipeline(products, Perceptron(order="fixed", max_iter=1000))


words = ["excellent", "terrible", "not"]
reviews = np.array([[1, 0, 0], [0, 1, 0], [1, 0, 1], [0, 1, 1]])
good = [1, -1, -1, 1]
for degree in (1, 2):
    model = combined(degree).fit(reviews, good)
    print(f"products of up to {degree}: {model[-1].stop_reason_}, {model.score(reviews, good):.0%}")
for name, weight in zip(model[0].get_feature_names_out(words), model[-1].coef_[0], strict=True):
    print(f"  {name.replace(' ', ' and '):22} {weight:+.0f}")

# %%
# The parity of n features needs the product of all n. Pairs are enough for XOR, but not for three
# features.

figure, axis = plt.subplots(figsize=(6.4, 4), layout="constrained")
for bits, marker in zip((2, 3, 4), "osD", strict=True):
    corners = np.array(list(np.ndindex((2,) * bits)), float)
    odd = corners.sum(axis=1) % 2
    degrees = range(1, bits + 1)
    right = [combined(degree).fit(corners, odd).score(corners, odd) for degree in degrees]
    axis.plot(degrees, right, f"{marker}-", label=f"parity of {bits}")
    print(f"parity of {bits}: right with products of 1, 2 …: {right}")
axis.set_xticks([1, 2, 3, 4])
axis.yaxis.set_major_formatter(PercentFormatter(1))
axis.set(xlabel="degree: largest number of features in a product", ylabel="rows right at the end")
axis.legend(frameon=False)
