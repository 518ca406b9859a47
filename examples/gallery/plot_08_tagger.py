"""
A part-of-speech tagger
=======================

``SequencePerceptron`` tags whole sentences. It finds the best sequence of tags; if that is wrong,
it adds the features of the right sequence and subtracts those of the predicted one (Collins 2002).
The data are two hundred sentences from a small synthetic grammar, in which *saw* is a noun or a
verb, and *light* a noun or an adjective.
"""

import numpy as np
from matplotlib import pyplot as plt

from rosenblatt import SequencePerceptron

rng = np.random.default_rng(0)
WORDS = {
    "DET": ["the", "a", "every"],
    "ADJ": ["old", "light", "green"],
    "NOUN": ["man", "saw", "duck", "light", "boat"],
    "VERB": ["saw", "took", "lit", "sees"],
    "ADP": ["with", "near"],
}


def phrase():
    return ["DET", *["ADJ"] * rng.integers(2), "NOUN"]


def sentence():
    tags = [*phrase(), "VERB", *phrase()]
    tags += ["ADP", *phrase()] if rng.random() < 0.5 else []
    return [str(rng.choice(WORDS[tag])) for tag in tags], tags


sentences, tags = zip(*(sentence() for _ in range(300)), strict=True)
tagger = SequencePerceptron(random_state=0).fit(sentences[:200], tags[:200])
print(f"{tagger.score(sentences[200:], tags[200:]):.1%} of the tokens of 100 other sentences")
asked = "every light saw saw a light duck".split()
print(*tagger.predict([asked])[0])

# %%
# ``explain`` lists the features that decide between each tag and the next best one.

for word, (tag, other, features) in zip(asked, tagger.explain(asked, top=2), strict=True):
    print(f"{word:6} {tag:5} not {other:5} {features}")

# %%
# In each epoch, fewer sentences have a wrong tag.

figure, axis = plt.subplots(figsize=(8, 3.6), layout="constrained")
errors = [epoch.errors for epoch in tagger.history_]
axis.bar(range(1, len(errors) + 1), errors, color="#0072B2", width=0.6)
_ = axis.set(xlabel="epoch", ylabel="sentences with a wrong tag")
