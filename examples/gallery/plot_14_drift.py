"""
A stream with drift
===================

Every row is predicted before it is learnt. Halfway through the stream, the relation between rows
and labels changes. An average of all weights holds on to the old relation. In ``AdaGrad``, a decay
makes old gradients leave the step sizes.
"""

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.ticker import PercentFormatter

from rosenblatt import AdaGrad, Perceptron, progressive

rng = np.random.default_rng(0)
X = rng.normal(size=(8000, 10))
y = np.where(np.arange(8000) < 4000, X[:, 0] > 0, X[:, 1] > 0)
y ^= rng.random(8000) < 0.1  # every tenth label is wrong

models = {
    "last weights": Perceptron(),
    "average of all weights": Perceptron(solution="average"),
    "adaptive steps": AdaGrad(),
}
figure, axis = plt.subplots(figsize=(8, 4.2), layout="constrained")
for colour, (name, model) in zip(("#D55E00", "#0072B2", "#009E73"), models.items(), strict=True):
    seen = progressive(model, X, y, batch_size=20)
    axis.plot(200 * np.arange(1, 41), seen.over(200), color=colour, label=name)
    print(
        f"{name:24} {seen.error:.1%} of all rows wrong, {seen.over(1000)[-1]:.1%} of the last 1,000"
    )
axis.axvline(4000, color="0.5", linestyle=":")
axis.annotate("the rule changes", (4050, 0.52), color="0.3")
axis.yaxis.set_major_formatter(PercentFormatter(1))
axis.set(xlabel="rows", ylabel="wrong before they were learnt, of 200", ylim=(0, 0.58))
axis.legend(frameon=False, loc="upper left")

# %%
# Before the change the average is among the best, and after it the worst. The decay does well on
# both sides.
