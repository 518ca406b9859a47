"""
Order rows within groups
========================

Offers compete on one day: only their order matters, and on some days all are better. Weights w
order two rows by the sign of w·(x − x′). So any classifier learns an order from differences of rows
of one day, and its weights give each row a score. Here days with large values have low prices.
"""

import numpy as np
from matplotlib import pyplot as plt

from rosenblatt import PassiveAggressive

rng = np.random.default_rng(0)
w, day, level = np.array([1, -1, 0.5]), np.repeat(np.arange(100), 12), rng.normal(size=(100, 3))
X = level[day] + rng.normal(size=(1200, 3))
price = (X - 2 * level[day]) @ w + 0.5 * rng.normal(size=1200)

i, j = np.nonzero((day[:, None] == day) & (price[:, None] > price))  # row i is to be before row j
known = day[i] < 80

# %%
# Half of the differences are turned around, so that there are two classes. A bias would cancel.

sign = rng.choice([1, -1], known.sum())
differences = sign[:, None] * (X[i] - X[j])[known]
pairs = PassiveAggressive(0.01, solution="average", fit_intercept=False).fit(differences, sign)
rows = PassiveAggressive(0.01, solution="average").fit(X[day < 80], (price > 0)[day < 80])

found = {}
for name, model in {"differences of rows": pairs, "single rows": rows}.items():
    score = X @ model.coef_[0]
    found[name] = np.mean(score[i] > score[j], where=~known)
    print(f"{name}: {found[name]:.1%} of the pairs of 20 other days in the right order")

_, axis = plt.subplots(figsize=(5, 2), layout="constrained")
axis.barh(list(found), list(found.values()), color="#0072B2")
_ = axis.set(xlim=(0, 1), xlabel="pairs in the right order")
