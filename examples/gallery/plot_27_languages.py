"""
The language of a sentence
==========================

Short sequences of letters tell languages apart: "ção" is Portuguese, "ción" is Spanish. The
sentences here are the messages of Sphinx in thirteen languages. All translations of a message are
in the same part, so that no sentence to test on, in any language, says what a training one does.
"""

import gettext
import os
import re
from pathlib import Path

import numpy as np
import sphinx.locale
from matplotlib import pyplot as plt

import rosenblatt

LANGUAGES = "ca en es et fr gl id pl pt_BR sk sq sv tr".split()
LOCALES = Path(sphinx.locale.__file__).parent
NO_WORDS = re.compile(r"%(\(\w+\))?[-\d.]*\w|\{.*?\}|[:`<]\S*|\S*[._/\\]\S*|[^\w\s'-]|\d")
"""Places to fill in, roles, names of files and options: the same in all languages."""


def read_messages(language):
    """Pairs of an English message and its translation."""
    with (LOCALES / language / "LC_MESSAGES" / "sphinx.mo").open("rb") as file:
        translations = gettext.GNUTranslations(file)
    for message, text in vars(translations)["_catalog"].items():
        if message and isinstance(message, str) and text != message:
            yield message, text


def clean(text):
    """The words of a message, in small letters."""
    return " ".join(NO_WORDS.sub(" ", text).lower().split())


rows = {}
for language in LANGUAGES:
    for message, text in read_messages("sv" if language == "en" else language):
        words = clean(message if language == "en" else text)
        if len(words.split()) >= 3:
            rows.setdefault(words, []).append((clean(message), language))
rows = [
    {"message": found[0][0], "text": words, "language": found[0][1]}
    for words, found in rows.items()
    if len({language for _, language in found}) == 1  # not left in English, nor the same in two
]
messages = sorted({row["message"] for row in rows})
tested = set(np.random.default_rng(0).permutation(messages)[: len(messages) // 3].tolist())
train = [row for row in rows if row["message"] not in tested]
test = [row for row in rows if row["message"] in tested]
assert not {row["text"] for row in train} & {row["text"] for row in test}
print(f"{len(train):,} sentences to learn from, {len(test):,} others; {len(LANGUAGES)} languages")

model = rosenblatt.train(
    train, label="language", text=["text:c1-4"], ignore=["message"], bits=16, tune=False
)
labels = np.array([row["language"] for row in test])
predicted = model.predict(test)
print(f"{np.mean(predicted == labels):.1%} of the other sentences are right")
for text in ("la pàgina següent", "la página siguiente", "a páxina seguinte", "a página seguinte"):
    print(f"{model.predict([{'text': text}])[0]:5} {text}")

# %%
# A file of the model can have a largest size. It keeps the largest weights, in 8 bits.

sizes = {"whole": None} | {f"{size} kB": f"{size}kB" for size in (300, 150, 100, 80)}
rights = []
for name, size in sizes.items():
    rosenblatt.save(model, "languages", size=size)
    rights.append(np.mean(rosenblatt.load("languages").predict(test) == labels))
    print(f"{name:6} {os.path.getsize('languages') / 1000:6,.0f} kB: {rights[-1]:.1%} right")
os.remove("languages")

# %%
# Most sentences that are wrong are of related languages. What is wrong in Albanian (sq) is not:
# these sentences are Portuguese, and stand in the wrong file of Sphinx.

for row, language in zip(test, predicted, strict=True):
    if row["language"] == "sq" != language:
        print(f"{language:5} {row['text'][:70]}")

confusion = np.zeros((len(LANGUAGES), len(LANGUAGES)), int)
places = {language: place for place, language in enumerate(LANGUAGES)}
for language, other in zip(labels, predicted, strict=True):
    confusion[places[language], places[other]] += language != other
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.imshow(confusion, cmap="Blues")
left.set_xticks(range(len(LANGUAGES)), LANGUAGES, rotation=90)
left.set_yticks(range(len(LANGUAGES)), LANGUAGES)
left.set(xlabel="predicted", ylabel="language", title="Sentences that are wrong")
for (row, column), count in np.ndenumerate(confusion):
    if count:
        left.text(column, row, count, ha="center", va="center", fontsize=8, color="#D55E00")
right.plot(list(sizes), 100 * np.array(rights), "o-", color="#0072B2")
_ = right.set(ylabel="sentences that are right in %", title="The size of the model file")
