"""
Train on a raw table
====================

``Features`` encodes numbers of different scales, missing values, words, dates and text, and reports
the type of each column. It is a scikit-learn transformer, so it works in pipelines and
cross-validation.
"""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import rosenblatt
from rosenblatt import Features, Perceptron
from rosenblatt.training.report import Listener

rng = np.random.default_rng(1)
n = 1200
words = "answer quick delay refund again order parcel today lost happy call thanks".split()
table = pd.DataFrame(
    {
        "age": rng.integers(18, 80, n).astype(float),
        "income": rng.lognormal(10, 0.5, n),
        "city": rng.choice(["Lagos", "Lima", "Leeds"], n),
        "joined": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1500, n), "D"),
        "note": [" ".join(rng.choice(words, 6)) for _ in range(n)],
    }
)
leaves = (
    0.04 * (50 - table["age"])
    + 1.2 * (table["city"] == "Leeds")
    + 1.5 * table["note"].str.contains("refund")
    + rng.logistic(size=n)
    > 1
)
table.loc[rng.random(n) < 0.1, "age"] = np.nan  # one in ten is not known
print(table.head(3).to_string())

# %%
# No column is encoded, imputed or scaled by hand.

model = make_pipeline(
    Features(ngrams=(1, 1)), Perceptron(solution="average", max_iter=10, random_state=0)
)
model.fit(table, leaves)
for name, kind in model[0].recipe_["columns"]:
    print(f"{name:7} {kind}")
print(f"right in cross-validation: {cross_val_score(model, table, leaves).mean():.1%}")
print(f"always the larger class:   {max(leaves.mean(), 1 - leaves.mean()):.1%}")

# %%
# The largest weights with the names of their features. ``rosenblatt.train`` does the same in one
# call, from a table with labels, and stores the feature names.

trained = rosenblatt.train(
    table.assign(leaves=leaves), label="leaves", ngrams=(1, 1), listener=Listener()
)
names, weights = trained[0].get_feature_names_out(), trained[-1].coef_[0]
largest = np.argsort(-np.abs(weights))[:14][::-1]
figure, axis = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
colours = np.where(weights[largest] > 0, "#D55E00", "#0072B2")
axis.barh([str(names[k]) for k in largest], weights[largest], color=colours)
_ = axis.set(xlabel="weight (positive: leaves)")
