"""
A spam filter in ten lines
==========================

``rosenblatt.train`` takes raw tables: a list of dicts, as here, a data frame or a file name. A
column of sentences becomes tf-idf features of words. The model takes the same kind of dicts.
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
    """Twelve random words: 50 % neutral, 40 % of this kind, 10 % of the other kind."""
    other = "ham" if kind == "spam" else "spam"
    pools = rng.choice(["both", kind, other], 12, p=[0.5, 0.4, 0.1])
    return {"text": " ".join(rng.choice(WORDS[pool]) for pool in pools), "label": str(kind)}


messages = [message(kind) for kind in rng.choice(["spam", "ham"], 800)]
print("{label}: {text}".format(**messages[0]))
model = rosenblatt.train(messages[:400], text=["text"], ngrams=(1, 1), label="label")
right = model.predict(messages[400:]) == [each["label"] for each in messages[400:]]
print(f"{right.mean():.1%} of 400 other messages are right")
unseen = [{"text": "free cash, click now"}, {"text": "the report for the meeting on monday"}]
for each, label, score in zip(
    unseen, model.predict(unseen), model.decision_function(unseen), strict=True
):
    print(f"{score:+.2f} {label:4} {each['text']}")

# %%
# The largest weights with the names of their features. Positive weights indicate spam.

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
_ = axis.set(xlabel=f"weight (positive: {classifier.classes_[1]})")
