"""
Which rule for one pass?
========================

Data that can be read only once are learnt in one pass. Later rules learn more from each row: they
choose the step size (``PassiveAggressive``), keep a margin (``ALMA``, ``ROMMA``), or track the
confidence of each weight (``AROW``, ``SCW``, ``SecondOrderPerceptron``). The synthetic rows
resemble texts: of a thousand words, some are frequent and most are rare.
"""

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.ticker import PercentFormatter
from scipy.sparse import csr_array

from rosenblatt import (
    ALMA,
    AROW,
    ROMMA,
    SCW,
    PassiveAggressive,
    Perceptron,
    SecondOrderPerceptron,
    progressive,
)

rng = np.random.default_rng(0)
frequency = np.minimum(0.5, 8 / np.arange(1, 1001))
X = (rng.random((6000, 1000)) < frequency).astype(float)
X /= np.linalg.norm(X, axis=1, keepdims=True).clip(1)
scores = X @ rng.normal(size=1000)
y = scores > np.median(scores)
y ^= rng.random(6000) < 0.05  # one label in twenty is wrong
X = csr_array(X)

# %%
# Each row is predicted before it is learnt, so the error needs no test set.

rules = {
    "Perceptron": Perceptron(),
    "Perceptron, averaged": Perceptron(solution="average"),
    "PassiveAggressive": PassiveAggressive(),
    "ALMA": ALMA(),
    "ROMMA": ROMMA(),
    "SecondOrderPerceptron": SecondOrderPerceptron(),
    "AROW": AROW(),
    "SCW": SCW(),
}
seen = {name: progressive(rule, X, y, batch_size=20) for name, rule in rules.items()}
errors = {name: found.over(3000)[1] for name, found in seen.items()}
for name, error in sorted(errors.items(), key=lambda pair: pair[1]):
    print(f"{name:22} {error:.1%} of the last 3,000 rows wrong")

# %%
# The plain perceptron does poorly after one pass. Its average and the rules with confidences do
# better. :doc:`/measured` shows nine real data sets.

figure, axis = plt.subplots(figsize=(8, 4.6), layout="constrained")
window = 500
for number, (name, found) in enumerate(seen.items()):
    rows = window * np.arange(1, 6000 // window + 1)
    style = "--" if name.startswith("Perceptron") else "-"
    axis.plot(rows, found.over(window), style, color=f"C{number}", label=name)
axis.yaxis.set_major_formatter(PercentFormatter(1))
axis.set(xlabel="rows", ylabel=f"wrong before they were learnt, of {window}")
axis.legend(frameon=False, ncols=2)
