"""
Last weights, average or pocket?
================================

If no plane separates the classes, the weights never converge, and the last weights depend on the
last mistakes. There are two alternatives: the ``average`` of all weights, and the ``pocket`` with
the best so far.
"""

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.ticker import PercentFormatter
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from rosenblatt import Perceptron

X, y = make_classification(
    2000, 20, n_informative=10, n_redundant=0, flip_y=0.15, class_sep=0.8, random_state=1
)
X, unseen, y, answers = train_test_split(X, y, test_size=0.5, random_state=0)

# %%
# The error on unseen rows after each epoch, over six seeds. Lines are means, and bands range from
# the best to the worst seed.

epochs, seeds = [1, 2, 4, 8], range(6)
figure, axis = plt.subplots(figsize=(7, 4.5), layout="constrained")
colours = {"last": "#D55E00", "pocket": "#E69F00", "average": "#0072B2"}
for solution, colour in colours.items():
    errors = [
        [
            1
            - Perceptron(solution=solution, max_iter=n, random_state=s)
            .fit(X, y)
            .score(unseen, answers)
            for s in seeds
        ]
        for n in epochs
    ]
    axis.plot(epochs, np.mean(errors, axis=1), "o-", color=colour, label=solution)
    axis.fill_between(
        epochs, np.min(errors, axis=1), np.max(errors, axis=1), color=colour, alpha=0.15
    )
    print(
        f"{solution:8} {np.mean(errors[-1]):.1%} of the unseen rows wrong after {epochs[-1]} epochs"
    )
axis.set_xscale("log", base=2)
axis.set_xticks(epochs, epochs)
axis.yaxis.set_major_formatter(PercentFormatter(1))
axis.set(xlabel="epochs", ylabel="unseen rows wrong")
axis.legend(frameon=False)

# %%
# An average predicts as fast as a single plane. A vote of all weights, which the dual form takes
# (``KernelPerceptron("linear", solution="vote")``), has nearly the same errors.
