"""Run every kernel on a little data, and print what each model has learned as JSON."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

import rosenblatt
from rosenblatt import Features, KernelPerceptron, PerceptronNetwork, SequencePerceptron, train
from rosenblatt.parameters import RULE_NAMES

SENTENCES = [["Der", "alte", "Baum"], ["Ein", "Baum", "steht", "2-mal"], ["Alt"]]
TAGS = [["D", "A", "N"], ["D", "N", "V", "A"], ["A"]]
TEXTS = ["a long word", "café, Äpfel_3", "", "word a", "1 2 12", "ab ab\tab"] * 5
FILES = {
    "some.svm": "1 1:0.5 3:-1.25e-3 # comment\n-1 qid:3 2:12345678901234567890123e-20\n",
    "some.vw": "1 2.0 'tag |a:2 x:3 y |b z 7:0.1\n-1 |a y:1e3\n",
    "some.csv": "a,b,c,label\n" + "1,2.5,x,0\n?,1e-3,y,1\n3,0.30000000000000004,x,1\n" * 4,
}
X, LABELS = np.round(4 * np.random.default_rng(0).normal(size=(30, 3))), np.arange(30) % 3


def learn():
    """Yield a name and some numbers for each model."""
    for name, rows, y in product(RULE_NAMES, (X, csr_array(X)), (LABELS, LABELS == 0)):
        model = getattr(rosenblatt, name)(solution="average", max_iter=2, random_state=0)
        yield f"{name} {type(rows).__name__} {y.dtype}", model.fit(rows, y).coef_
    for name, rows in product(("PassiveAggressiveRegressor", "Adaline"), (X, csr_array(X))):
        model = getattr(rosenblatt, name)(solution="average", max_iter=2, random_state=0)
        yield f"{name} {type(rows).__name__}", model.fit(rows, LABELS).coef_
    model = rosenblatt.Perceptron(solution="vote", max_iter=2, random_state=0)
    yield "vote", model.fit(X, LABELS).decision_function(X)
    for rows, y in product((X, csr_array(X)), (LABELS, LABELS == 0)):
        tolerant = rosenblatt.Perceptron(slack=1.0, max_iter=3, random_state=0)
        yield f"tolerant {type(rows).__name__} {y.dtype}", tolerant.fit(rows, y).coef_
    for rows in (X, csr_array(X)):
        positive = rosenblatt.PassiveAggressive(positive=True, max_iter=2, random_state=0)
        yield f"positive {type(rows).__name__}", positive.fit(rows, LABELS == 0).coef_
        positive = rosenblatt.Adaline(positive=[1], max_iter=2, random_state=0)
        yield f"positive numbers {type(rows).__name__}", positive.fit(rows, LABELS).coef_
    full = rosenblatt.SecondOrderPerceptron(matrix="full", max_iter=2, random_state=0)
    yield "full matrix", full.fit(X, LABELS == 0).coef_
    for many, options in product(
        ("ovr", "argmax"), ({"solution": "vote"}, {"solution": "average"}, {"budget": 5})
    ):
        model = KernelPerceptron(multi_class=many, max_iter=2, random_state=0, **options)
        yield f"kernel {many} {options}", model.fit(X, LABELS).decision_function(X)
    network = PerceptronNetwork(unit="thermal", max_units=2, max_iter=3, random_state=0)
    yield "network", network.fit(X, LABELS == 0).decision_function(X)
    for markov, search, rule in product((1, 2), ("viterbi", "greedy"), ("perceptron", "pa")):
        model = SequencePerceptron(markov, search=search, rule=rule, max_iter=3, random_state=0)
        found = model.fit(SENTENCES, TAGS).predict(SENTENCES)
        yield f"tags {markov} {search} {rule}", ["DANV".index(t) for tags in found for t in tags]
    table = pd.DataFrame({"text": TEXTS, "kind": list("xyx zx") * 5, "size": X[:, 0]})
    for options in ({}, {"characters": True, "ngrams": (2, 3)}, {"pairs": True}):
        rows = Features(text=["text"], **options).fit_transform(table)
        yield f"features {options}", [rows.nnz, *np.sort(rows.data)]
    for name, text in FILES.items():
        Path(name).write_text(text)
        model = train(name, max_iter=2)
        weights = (model[-1] if hasattr(model, "steps") else model).coef_
        yield name, np.sort(weights[weights != 0])


if __name__ == "__main__":
    found = {name: np.asarray(numbers, float).ravel().tolist() for name, numbers in learn()}
    print(json.dumps(found))
