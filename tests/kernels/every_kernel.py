"""Run every kernel on a little data, and print what each model has learned as JSON.

Without the compiler, also list the functions of ``kernels/`` that were not called.
"""

import ast
import json
import sys
import threading
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

import rosenblatt
from rosenblatt import (
    Features,
    KernelPerceptron,
    PerceptronNetwork,
    SequencePerceptron,
    kernels,
    train,
)
from rosenblatt.data.rows import view_rows
from rosenblatt.kernels import compiling
from rosenblatt.parameters import RULE_NAMES
from rosenblatt.reading import delimited
from rosenblatt.sequence.jobs import SentenceFile

SENTENCES = [["Der", "alte", "Baum"], ["Ein", "Baum", "steht", "2-mal"], ["Alt"]]
TAGS = [["D", "A", "N"], ["D", "N", "V", "A"], ["A"]]
TEXTS = ["a long word", "café, Äpfel_3", "", "word a", "1 2 12", "ab ab\tab"] * 5
FILES = {
    "some.svm": "1 1:0.5 3:-1.25e-3 # comment\n-1 qid:3 2:12345678901234567890123e-20\n",
    "some.vw": "1 2.0 'tag |a:2 x:3 y |b z 7:0.1\n-1 |a y:1e3\n",
    "some.csv": "a,b,c,label\n" + "1,2.5,x,0\n?,1e-3,y,1\n3,0.30000000000000004,x,1\n" * 4,
    "sets.svm": "1,4 1:0.5\n4 2:1\n1 1:2\n" * 3,
    "sets.vw": "1,4 | a\n4 | b\n1 | a c\n" * 3,
    "numbers.csv": "a,b,label\n" + '1,2.5,0\n,"7",1\n3, 4 ,1\n3e-324,9.5,0\n' * 4,
    "text.csv": "text,label\n" + "a fine day,1\na cold night,0\na fine night,1\n" * 4,
}
TREE = "".join(
    "\t".join([*word.split(), *"______"]) + "\n"
    for word in ("1 Der der DET", "2-3 am _ _", "2 Baum Baum NOUN")
)
TAGGED = {"some.conllu": f"# a comment\n{TREE}\n" * 2, "some.tagged": "Der/DET Baum/NOUN\n" * 3}
TAGGED["some.conll"] = "-DOCSTART- O\n\n# a = comment\nDer DET\nBaum NOUN\n\n" * 2
X, LABELS = np.round(4 * np.random.default_rng(0).normal(size=(30, 3))), np.arange(30) % 3


def learn():
    """Yield a name and some numbers for each model."""
    yield from learn_rows()
    yield from learn_more_rows()
    yield from learn_sentences()
    yield from learn_files()


def learn_rows():
    """Yield the weights of every rule, dense and sparse, with two and with three classes."""
    for name, rows, y in product(RULE_NAMES, (X, csr_array(X)), (LABELS, LABELS == 0)):
        model = getattr(rosenblatt, name)(solution="average", max_iter=2, random_state=0)
        yield f"{name} {type(rows).__name__} {y.dtype}", model.fit(rows, y).coef_
        if name == "Perceptron":
            yield f"scores {type(rows).__name__} {y.dtype}", model.decision_function(rows)
    for name, rows in product(("PassiveAggressiveRegressor", "Adaline"), (X, csr_array(X))):
        model = getattr(rosenblatt, name)(solution="average", max_iter=2, random_state=0)
        yield f"{name} {type(rows).__name__}", model.fit(rows, LABELS).coef_


def learn_more_rows():
    """Yield what other solutions, options and models learn."""
    for y in (LABELS, LABELS == 0):
        model = rosenblatt.Perceptron(order="batch", max_iter=2).fit(X, y)
        yield f"batch {y.dtype}", model._learner.scores(view_rows(X), 3)
        model = rosenblatt.Perceptron(order="worst", intercept_step="radius", max_iter=2)
        yield f"worst {y.dtype}", model.fit(X, y).decision_function(csr_array(X))
    for many, options in product(
        ("ovr", "argmax"), ({"solution": "vote"}, {"solution": "average"}, {"budget": 5})
    ):
        model = KernelPerceptron(multi_class=many, max_iter=2, random_state=0, **options)
        yield f"kernel {many} {options}", model.fit(X, LABELS).decision_function(X)
    network = PerceptronNetwork(unit="thermal", max_units=2, max_iter=3, random_state=0)
    yield "network", network.fit(X, LABELS == 0).decision_function(X)


def learn_sentences():
    """Yield what taggers learn from sentences and files of them."""
    for solution in ("last", "average"):
        model = SequencePerceptron(solution=solution, max_iter=3, random_state=0)
        found = model.fit(SENTENCES, TAGS).predict(SENTENCES)
        yield f"tags {solution}", ["DANV".index(t) for tags in found for t in tags]
        yield f"moves {solution}", model._learner.coefficients().transitions
    for name, text in TAGGED.items():
        Path(name).write_text(text)
        model = train(name, max_iter=2)
        filled = b"".join(SentenceFile(name).predict(model._learner))
        yield name, list(filled)


def learn_files():
    """Yield what is learned from texts and files."""
    table = pd.DataFrame({"text": TEXTS, "kind": list("xyx zx") * 5, "size": X[:, 0]})
    for options in ({}, {"characters": True, "ngrams": (2, 3)}, {"pairs": True}):
        rows = Features(text=["text"], **options).fit_transform(table)
        yield f"features {options}", [rows.nnz, *np.sort(rows.data)]
    for name, text in FILES.items():
        Path(name).write_text(text)
        delimited.LEAST_BYTES = 0
        model = train(name, max_iter=2, **{"text": ["text"]} if name == "text.csv" else {})
        weights = (model[-1] if hasattr(model, "steps") else model).coef_
        yield name, np.sort(weights[weights != 0])


def find_functions(path):
    """Yield the names of a module's functions that are not generators of machine code."""
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            arguments = {argument.arg for argument in node.args.args}
            chosen = [ast.unparse(each) for each in node.decorator_list] == ["by_kind"]
            if arguments.isdisjoint({"context", "builder"}) and not chosen:
                yield f"{path.stem}.{node.name}"


if __name__ == "__main__":
    codes = set()

    def note_call(frame, event, _):
        """Note the code that is called."""
        codes.add(frame.f_code)

    if compiling.MODE == "python":
        sys.setprofile(note_call)
        threading.setprofile(note_call)
    found = {name: np.asarray(numbers, float).ravel().tolist() for name, numbers in learn()}
    sys.setprofile(None)
    folder = Path(kernels.__file__).parent
    called = {f"{Path(code.co_filename).stem}.{code.co_name}" for code in codes}
    paths = [*folder.glob("*.py"), *folder.parent.glob("*/kernels/*.py")]
    paths += [folder.parent / "network/kernels.py"]
    names = {name for path in paths for name in find_functions(path)}
    print(json.dumps({"found": found, "not called": sorted(names - called)}))
