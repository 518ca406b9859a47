"""Do published experiments with taggers come out the same? One table per paper, ours beside theirs.

python benchmarks/reproduced_sequences.py --table NAME --data FOLDER

NAME is tagging (Collins 2002), mixing (McDonald, Hall & Mann 2010) or all. Cells are as in
reproduced.py; the data are others, so that no miss is marked.
"""

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from measure import table
from reproduced import Figures, cell, percent, run_tables
from sequences import read

from rosenblatt import SequencePerceptron
from rosenblatt.jobs.evaluation import evaluate_tags

EPOCHS, SHARDS = 10, 10


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


# McDonald, Hall & Mann (2010): ten shards

MIXING = {  # F of named entities, CoNLL-2003: last, averaged
    "serial, all data": (85.8, 88.2),
    "serial, one shard": (75.3, 76.6),
    "mixed once": (81.5, 81.6),
    "mixed every epoch": (87.9, 88.1),
}


class Shards(NamedTuple):
    """Sentences and tags, cut into shards by a seed."""

    X: Any
    y: Any
    cuts: list[np.ndarray]
    seed: int

    def gather(self, rows: np.ndarray) -> tuple[list[Any], list[Any]]:
        """Some sentences and their tags."""
        return [self.X[i] for i in rows], [self.y[i] for i in rows]

    def spread(self, repeats: int) -> list[Any]:
        """Dask bags with a partition per shard, whose sentences come again in other orders."""
        from dask import bag

        parts = []
        for cut in self.cuts:
            rngs = (np.random.default_rng([self.seed, k]) for k in range(repeats))
            parts.append(self.gather(np.concatenate([rng.permutation(cut) for rng in rngs])))
        return [
            bag.concat([bag.from_sequence(part[k], npartitions=1) for part in parts])
            for k in (0, 1)
        ]

    def train(self, way: str, solution: str, client: Any) -> SequencePerceptron:
        """A tagger, trained in one of four ways."""
        from rosenblatt.cluster import fit

        given: dict[str, Any] = {"margin": 0.0, "solution": solution, "random_state": self.seed}
        model = SequencePerceptron(max_iter=EPOCHS, **given)
        if way == "serial, all data":
            return model.fit(self.X, self.y)
        if way == "serial, one shard":
            return model.fit(*self.gather(self.cuts[0]))
        if way == "mixed every epoch":
            return fit(model, *self.spread(1), client=client)
        once = SequencePerceptron(max_iter=1, order="fixed", **given)
        return fit(once, *self.spread(EPOCHS), client=client)


def mixing(folder: Path, quick: bool) -> None:
    """F of all chunks: one machine, one shard, and two ways to mix ten shards."""
    from distributed import Client

    chunks, most = folder / "conll2000", 60 if quick else None
    (X, y), (X_test, y_test) = (
        tuple(each[:most] for each in read(chunks / f"{part}.txt", 0, 2, (1,)))
        for part in ("train", "test")
    )
    found: dict[tuple[str, str], Figures] = {}
    solutions = ("last", "average")
    here = {"processes": False, "n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with Client(**here) as client:
        for seed in range(1 if quick else 2):
            order = np.random.default_rng(seed).permutation(len(y))
            shards = Shards(X, y, np.array_split(order, SHARDS), seed)
            for way in MIXING:
                for solution in solutions:
                    model = shards.train(way, solution, client)
                    f1 = evaluate(model, X_test, y_test).chunks[""].f1
                    found.setdefault((way, solution), []).append(percent(f1))
    lines = [("F of chunks, CoNLL-2000 [of names, CoNLL-2003]", *solutions)]
    for way, published in MIXING.items():
        cells = (
            f"{cell(found[way, solution])} [{theirs}]"
            for solution, theirs in zip(solutions, published, strict=True)
        )
        lines.append((way, *cells))
    table(*lines)


TABLES = {"tagging": tagging, "mixing": mixing}

if __name__ == "__main__":
    run_tables(__doc__, TABLES, made=False)
