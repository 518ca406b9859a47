"""
Train on several machines
=========================

Each machine trains on its own rows, and the weights are mixed after each epoch (McDonald, Hall &
Mann 2010). ``cluster.fit`` does this on a Dask cluster, here with two threads in this process. One
partition gives exactly the result of ``fit``.
"""

import dask.array as da
import numpy as np
from distributed import Client
from matplotlib import pyplot as plt
from matplotlib.ticker import PercentFormatter

from rosenblatt import AROW, Perceptron, cluster as many

rng = np.random.default_rng(0)
X = (rng.random((4000, 600)) < np.minimum(0.5, 8 / np.arange(1, 601))).astype(np.float32)
X /= np.linalg.norm(X, axis=1, keepdims=True).clip(1)  # as texts: few words are frequent
scores = X @ rng.normal(size=600)
y = (scores > np.median(scores)) ^ (rng.random(4000) < 0.05)
X, y, unseen, answers = X[:3000], y[:3000], X[3000:], y[3000:]
client = Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0")

# %%
# The error on unseen rows after 1, 2, 4 and 8 epochs, with one partition and with twelve.

epochs = [1, 2, 4, 8]
figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained")
ways = {"Perceptron": (Perceptron, "average"), "AROW": (AROW, "last")}
for name, (rule, solution) in ways.items():
    for parts, style in ((1, "-"), (12, "--")):
        rows = da.from_array(X, chunks=(len(X) // parts, X.shape[1]))
        labels = da.from_array(y, chunks=len(y) // parts)
        errors = []
        for n in epochs:
            model = rule(solution=solution, max_iter=n, random_state=0)
            errors.append(1 - many.fit(model, rows, labels).score(unseen, answers))
        label = f"{name}, {parts} partition{'s' * (parts > 1)}"
        colour = "#0072B2" if name == "Perceptron" else "#D55E00"
        axis.plot(epochs, errors, f"o{style}", color=colour, label=label)
        print(f"{label:26}", " ".join(f"{error:.1%}" for error in errors))
axis.set_xscale("log", base=2)
axis.set_xticks(epochs, epochs)
axis.yaxis.set_major_formatter(PercentFormatter(1))
axis.set(xlabel="epochs", ylabel="unseen rows wrong")
axis.legend(frameon=False)

# %%
# With one partition the weights equal those of ``fit``, bit for bit.

whole = da.from_array(X, chunks=X.shape), da.from_array(y, chunks=len(y))
alone = Perceptron(max_iter=3, random_state=0).fit(X, y)
mixed = many.fit(Perceptron(max_iter=3, random_state=0), *whole)
print("equal:", np.array_equal(alone.coef_, mixed.coef_))
client.close()
