"""How well and how fast are sequences tagged, next to python-crfsuite?

pip install --group peers && python benchmarks/sequences.py --data FOLDER

Seconds are of the processor. Every figure is of the test part, which nothing was chosen by.
"""

import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measure import options, table

from rosenblatt import SequencePerceptron
from rosenblatt.sequence.evaluation import evaluate_tags


def read(path: Path, word: int, tag: int, further: tuple[int, ...] = ()) -> tuple[Any, Any]:
    """Sentences and tags of a file of columns; words alone are strings."""
    X, y, tokens, tags = [], [], [], []
    tree = path.suffix == ".conllu"
    for line in [*path.read_text("utf-8").splitlines(), ""]:
        cells = line.split("\t") if tree else line.split()
        if not line.strip():
            if tokens:
                X.append(tokens)
                y.append(tags)
            tokens, tags = [], []
        elif not (tree and (line[0] == "#" or "-" in cells[0] or "." in cells[0])):
            others = tuple(cells[k] for k in further)
            tokens.append((cells[word], *others) if further else cells[word])
            tags.append(cells[tag])
    return X, y


def crfsuite_features(sentence: list[Any]) -> list[dict[str, Any]]:
    """What sklearn-crfsuite's tutorial makes of a sentence."""
    tokens = [token if isinstance(token, tuple) else (token,) for token in sentence]
    return [token_features(tokens, i) for i in range(len(tokens))]


def token_features(tokens: list[tuple[str, ...]], i: int) -> dict[str, Any]:
    """The tutorial's features of a token: of the word, its neighbours, and their tags if any."""
    word, *pos = tokens[i]
    features: dict[str, Any] = {
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-3:]": word[-3:],
        "word[-2:]": word[-2:],
        "word.isupper()": word.isupper(),
        "word.istitle()": word.istitle(),
        "word.isdigit()": word.isdigit(),
    }
    if pos:
        features |= {"postag": pos[0], "postag[:2]": pos[0][:2]}
    for name, k in (("-1", i - 1), ("+1", i + 1)):
        if 0 <= k < len(tokens):
            other, *its_pos = tokens[k]
            features |= {
                f"{name}:word.lower()": other.lower(),
                f"{name}:word.istitle()": other.istitle(),
                f"{name}:word.isupper()": other.isupper(),
            }
            if its_pos:
                features |= {f"{name}:postag": its_pos[0], f"{name}:postag[:2]": its_pos[0][:2]}
        else:
            features["BOS" if k < 0 else "EOS"] = True
    return features


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    """What a function gives, and the seconds of the processor that it took."""
    start = time.process_time()
    found = run()
    return found, time.process_time() - start


class Crfsuite:
    """python-crfsuite, fed with the tutorial's features as its users do."""

    def __init__(self, pycrfsuite: Any, algorithm: str, **parameters: Any) -> None:
        self.module, self.algorithm, self.parameters = pycrfsuite, algorithm, parameters

    def fit(self, X: Any, y: Any) -> "Crfsuite":
        """Train, by way of a file."""
        trainer = self.module.Trainer(self.algorithm, verbose=False)
        trainer.set_params(self.parameters)
        for sentence, tags in zip(X, y, strict=True):
            trainer.append(sentence, tags)
        trainer.train("crfsuite.model")
        self.tagger = self.module.Tagger()
        self.tagger.open("crfsuite.model")
        Path("crfsuite.model").unlink()
        return self

    def predict(self, X: Any) -> Any:
        """The tags of each sentence."""
        return [self.tagger.tag(sentence) for sentence in X]


def row(name: str, model: Any, train: Any, test: Any, features: Any) -> tuple[str, ...]:
    """Fit and predict, from sentences to tags; return the figures."""
    (X, y), (unseen, wanted) = train, test

    def made(sentences: Any) -> Any:
        return sentences if features is None else [features(s) for s in sentences]

    _, fit = timed(lambda: model.fit(made(X), y))
    found, tagging = timed(lambda: model.predict(made(unseen)))
    flat = [[tag for tags in some for tag in tags] for some in (found, wanted)]
    starts = [0]
    for tags in wanted:
        starts.append(starts[-1] + len(tags))
    known = np.ones(len(flat[0]), bool)
    score = evaluate_tags(*flat, np.array(starts), known)
    chunks = "" if score.chunks is None else f"{100 * score.chunks[''].f1:.2f}"
    speed = f"{len(flat[0]) / tagging:,.0f}"
    return name, f"{score.accuracy:.2%}", chunks, f"{fit:.1f} s", speed


def peers() -> dict[str, Any]:
    """python-crfsuite's averaged perceptron and L-BFGS, if it is there."""
    try:
        import pycrfsuite
    except ImportError:
        print("python-crfsuite is not installed: pip install --group peers", file=sys.stderr)
        return {}
    lbfgs = {"c1": 0.1, "c2": 0.1, "max_iterations": 100}
    return {
        "python-crfsuite, ap": Crfsuite(pycrfsuite, "ap", max_iterations=10),
        "python-crfsuite, L-BFGS": Crfsuite(pycrfsuite, "lbfgs", **lbfgs),
    }


def main() -> None:
    given = options(__doc__.splitlines()[0])
    trees, chunks = given.data / "ud_en_ewt", given.data / "conll2000"
    if not trees.exists():
        print(f"Skipped: there is no {trees}; name the folder with --data.")
        return
    files = [trees / f"en_ewt-ud-{part}.conllu" for part in ("train", "test")]
    sets = {
        "UPOS, UD English EWT": [read(path, 1, 3) for path in files],
        "XPOS, UD English EWT": [read(path, 1, 4) for path in files],
        "chunks, CoNLL-2000": [
            read(chunks / name, 0, 2, (1,)) for name in ("train.txt", "test.txt")
        ],
    }
    if given.quick:
        sets = {name: [(X[:300], y[:300]) for X, y in parts] for name, parts in sets.items()}
    for name, (train, test) in sets.items():
        SequencePerceptron(max_iter=1).fit(train[0][:20], train[1][:20]).predict(test[0][:2])
        lines = [("", "accuracy", "chunk F1", "fit", "tokens/s")]
        lines.append(row("default", SequencePerceptron(random_state=0), train, test, None))
        same = SequencePerceptron(random_state=0)
        same.fit([crfsuite_features(s) for s in train[0][:20]], train[1][:20])
        lines.append(row("the tutorial's features", same, train, test, crfsuite_features))
        for label, model in peers().items():
            if name.startswith("XPOS") and "L-BFGS" in label:
                continue  # which takes minutes with this many tags
            lines.append(row(label, model, train, test, crfsuite_features))
        print(f"\n{name}")
        table(*lines)
    print(
        f"\nAt most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:,.0f} MB of memory."
    )


if __name__ == "__main__":
    main()
