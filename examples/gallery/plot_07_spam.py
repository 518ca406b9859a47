"""
A spam filter in ten lines
==========================

``rosenblatt.train`` takes a table as it is: here a list of dicts, as well a data frame or the
name of a file. A column of sentences becomes words and pairs of words, rare ones heavier, and the
model that comes back takes the same dicts.
"""

import numpy as np
from matplotlib import pyplot as plt

import rosenblatt

rng = np.random.default_rng(0)
WORDS = {
    "spam": "free prize cash win click offer pills loan winner urgent".split(),
    "ham": "lunch meeting report monday thanks train dinner book call home".split(),
    "both": "the a you your is to for and we now please today this it".split(),
}


def message(kind):
    """Made-up words: half of any message, a third of its kind, the others of the other kind."""
    other = "ham" if kind == "spam" else "spam"
    pools = rng.choice(["both", kind, other], 12, p=[0.5, 0.4, 0.1])
    return {"text": " ".join(rng.choice(WORDS[pool]) for pool in pools), "label": str(kind)}


messages = [message(kind) for kind in rng.choice(["spam", "ham"], 800)]
print(messages[0])
model = rosenblatt.train(messages[:400], text=["text"], ngrams=(1, 1), label="label")
right = model.predict(messages[400:]) == [each["label"] for each in messages[400:]]
print(f"{right.mean():.1%} of 400 other messages are right")
unseen = [{"text": "free cash, click now"}, {"text": "the report for the meeting on monday"}]
print(model.predict(unseen))
print(model.decision_function(unseen).round(2))

# %%
# What speaks for spam, and what against: the largest weights, by the names of their features.

features, classifier = model[0], model[-1]
names = features.get_feature_names_out()
weights = classifier.coef_[0]
order = np.argsort(weights)
chosen = np.r_[order[:8], order[-8:]]
figure, axis = plt.subplots(figsize=(7, 4.6), layout="constrained")
axis.barh(
    [str(names[k]) for k in chosen],
    weights[chosen],
    color=np.where(weights[chosen] > 0, "#D55E00", "#0072B2"),
)
axis.set(xlabel=f"weight: right speaks for {classifier.classes_[1]}")
