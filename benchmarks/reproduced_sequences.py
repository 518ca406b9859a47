"""Do published experiments with taggers come out the same? One table per paper, ours beside theirs.

python benchmarks/reproduced_sequences.py --table NAME --data FOLDER

NAME is tagging (Collins 2002) or all. Cells are as in
reproduced.py; the data are others, so that no miss is marked.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from measure import table
from reproduced import cell, percent, run_tables
from sequences import read

from rosenblatt import SequencePerceptron
from rosenblatt.sequence.evaluation import evaluate_tags

EPOCHS = 10


def evaluate(model: SequencePerceptron, X: Any, y: Any) -> Any:
    """Compare the tags of sentences with the right ones."""
    found, wanted = ([tag for tags in each for tag in tags] for each in (model.predict(X), y))
    starts = np.cumsum([0, *map(len, y)])[:-1]
    return evaluate_tags(found, wanted, starts, np.ones(len(found), bool))


# Collins (2002): averages, and features that occur often enough


def keep_noun_phrases(tags: list[str]) -> list[str]:
    """The chunks of noun phrases alone."""
    return [tag if tag.endswith("-NP") else "O" for tag in tags]


def list_chunk_features(sentence: list[Any]) -> list[list[str]]:
    """Words and tags around each token, in ones, twos and threes."""
    words = ["*", "*", *(token[0] for token in sentence), "*", "*"]
    tags = ["*", "*", *(token[1] for token in sentence), "*", "*"]
    found = []
    for i in range(2, len(words) - 2):
        w, t = words[i - 2 : i + 3], tags[i - 2 : i + 3]
        names = [f"w{k}={w[k]}" for k in range(5)] + [f"t{k}={t[k]}" for k in range(5)]
        names += [f"w{k}{k + 1}={w[k]} {w[k + 1]}" for k in (1, 2)]
        names += [f"t{k}{k + 1}={t[k]} {t[k + 1]}" for k in range(4)]
        names += [f"t{k}{k + 2}={t[k]} {t[k + 1]} {t[k + 2]}" for k in range(3)]
        found.append(names)
    return found


def list_word_features(sentence: list[str]) -> list[list[str]]:
    """Words around each token, and its first and last letters and shape (Ratnaparkhi 1996)."""
    words = ["*", "*", *sentence, "*", "*"]
    found = []
    for i in range(2, len(words) - 2):
        word = words[i]
        names = [f"w{k}={words[i + k]}" for k in (-2, -1, 0, 1, 2)]
        for size in (1, 2, 3, 4):
            names += [f"first{size}={word[:size]}", f"last{size}={word[-size:]}"]
        names += ["digit"] if any(map(str.isdigit, word)) else []
        names += ["capital"] if word != word.lower() else []
        found.append([*names, "hyphen"] if "-" in word else names)
    return found


def drop_rare(train: Any, other: Any, least: int) -> tuple[Any, Any]:
    """Features that occur often enough in the training sentences."""
    counts = Counter(name for sentence in train for names in sentence for name in names)
    return tuple(
        [[[n for n in names if counts[n] >= least] for names in sentence] for sentence in part]
        for part in (train, other)
    )  # type: ignore[return-value]


COLLINS = {  # error on tags and F of noun phrases on the paper's development sets
    ("average", 1): (2.93, 93.53),
    ("last", 1): (3.68, 93.04),
    ("average", 5): (3.03, 93.33),
    ("last", 5): (4.04, 91.88),
}


def tagging(folder: Path, quick: bool) -> None:
    """Errors on held-out tags and F of noun phrases, with averages and cut-offs or without."""
    tree, chunks, most = folder / "ud_en_ewt", folder / "conll2000", 40 if quick else None
    trees = [read(tree / f"en_ewt-ud-{part}.conllu", 1, 3) for part in ("train", "dev")]
    phrases = [read(chunks / f"{part}.txt", 0, 2, (1,)) for part in ("train", "test")]
    features = {"tags": list_word_features, "phrases": list_chunk_features}
    lines = [("", "UD EWT, error on tags, %", "CoNLL-2000, F of noun phrases")]
    for (solution, least), published in COLLINS.items():
        cells = []
        pairs = (("tags", trees), ("phrases", phrases))
        for (name, parts), theirs in zip(pairs, published, strict=True):
            (X, y), (X_test, y_test) = ((a[:most], b[:most]) for a, b in parts)
            if name == "phrases":
                y, y_test = (list(map(keep_noun_phrases, each)) for each in (y, y_test))
            made = ([features[name](s) for s in each] for each in (X, X_test))
            train, test = drop_rare(*made, least)
            figures = []
            for seed in range(1 if quick else 2):
                model = SequencePerceptron(
                    margin=0.0, solution=solution, max_iter=EPOCHS, random_state=seed
                ).fit(train, y)
                found = evaluate(model, test, y_test)
                right = found.accuracy if name == "tags" else found.chunks["NP"].f1
                figures.append(percent(1 - right if name == "tags" else right))
            cells.append(f"{cell(figures, digits=2)} [{theirs}]")
        which = "all features" if least == 1 else f"features that occur {least} times or more"
        lines.append((f"{solution}, {which}", *cells))
    table(*lines)


TABLES = {"tagging": tagging}

if __name__ == "__main__":
    run_tables(__doc__, TABLES, made=False)
