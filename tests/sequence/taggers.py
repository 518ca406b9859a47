"""Small taggers of every kind, and what they learn.

``python -m tests.sequence.taggers`` prints ``golden.json``.
"""

import hashlib
import json
from pathlib import Path

import numpy as np

from rosenblatt import SequencePerceptron

FOLDER = Path(__file__).parent
GOLDEN = FOLDER / "golden.json"
WORDS = ["the", "The", "dog", "dogs", "runs", "ran", "a", ".", "Straße", "2024"]
CHUNKS = ["B-X", "I-X", "B-Y", "I-Y", "O"]
LEXICON = ["bias", "lower[0]", "suffix2[0]", "word[-1]", "word[1]|lower[0]", "lexicon[-1]"]


def sentences(seed, count=25, form="words", chunks=False):
    """Random sentences and tags: words, pairs of columns, or features with values."""
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 6, count)
    X = [[WORDS[k] for k in random.integers(0, len(WORDS), n)] for n in lengths]
    y = [["ABC"[(len(word) + k) % 3] for k, word in enumerate(x)] for x in X]
    if chunks:
        y = [["B-X", "I-X", "O", "B-Y", "I-Y"][: len(x)] for x in X]
    if form == "columns":
        X = [[(word, word[-1].upper()) for word in x] for x in X]
    if form == "features":
        X = [[{"w": word, "n": len(word) / 4, "up": word.istitle()} for word in x] for x in X]
    for k in range(0, count, 4):  # so that nothing is separable
        y[k] = y[k][::-1] if not chunks else ["O"] * len(y[k])
    return X, y


CASES = {
    "average": {},
    "last": {"solution": "last"},
    "lexicon": {"features": LEXICON, "margin": 0.5},
    "fixed": {"order": "fixed", "max_iter": 1},
    "once": {"order": "once"},
    "columns": {"form": "columns"},
    "features": {"form": "features"},
    "chunks": {"chunks": True},
    "chunks-free": {"chunks": True, "constraints": "none"},
}


def data_of(name, seed=0, count=25):
    """The sentences of a case."""
    given = CASES[name]
    return sentences(seed, count, given.get("form", "words"), given.get("chunks", False))


def untrained(name):
    """The estimator of a case."""
    own = {key: value for key, value in CASES[name].items() if key not in ("form", "chunks")}
    return SequencePerceptron(**{"max_iter": 4, "random_state": 3, **own})


def fitted(name):
    """A case, trained."""
    return untrained(name).fit(*data_of(name))


def learnt_in_batches(name):
    """A case that learnt from three batches."""
    X, y = data_of(name)
    classes, model = sorted({tag for tags in y for tag in tags}), untrained(name)
    for first in range(0, 25, 10):
        model.partial_fit(X[first : first + 10], y[first : first + 10], classes=classes)
    return model


def fingerprint(model, name, digits=3):
    """A hash of all that a tagger has learnt: its epochs, its answers, and its weights."""
    learner, (unseen, _) = model._learner, data_of(name, seed=1)
    features = [
        sorted(
            (feature, f"{weight:.{digits}f}")
            for feature, weight in learner.loudest_features(tag, 10**6)
        )
        for tag in range(len(learner.tags.names))
    ]
    moves = [f"{weight:.{digits}f}" for weight in learner.coefficients().transitions.tolist()]
    epochs = [
        (*epoch[:4], f"{epoch.loss:.{digits}f}", epoch.validation_score) for epoch in model.history_
    ]
    seen = [model.predict(unseen), features, moves, epochs, model.n_mistakes_, model.stop_reason_]
    return hashlib.sha256(json.dumps(seen).encode()).hexdigest()[:20]


def fingerprints(digits=3):
    """Those of all cases."""
    found = {name: fingerprint(fitted(name), name, digits) for name in CASES}
    for name in ("average", "last", "columns", "features", "chunks"):
        found[f"{name} in batches"] = fingerprint(learnt_in_batches(name), name, digits)
    return found


if __name__ == "__main__":
    print(json.dumps(fingerprints(), indent=2))
