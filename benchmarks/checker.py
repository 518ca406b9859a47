"""How long does the checker that is extracted from the Coq proofs take?

python benchmarks/checker.py
"""

import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from measure import options, table
from separability import one_flipped

from rosenblatt import separability
from rosenblatt.theory.coq import to_proof, write_plain
from rosenblatt.theory.problem import check_problem

PROOFS = Path(__file__).parents[1] / "proofs"


def gap(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal rows that a hyperplane separates."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(n, d)), rng.normal(size=d)
    X += np.outer(np.sign(X @ w) * 0.1, w / np.linalg.norm(w))
    return X, np.sign(X @ w)


def seconds(*command: object) -> float:
    """The processor time of a program that must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main() -> None:
    given = options(__doc__.partition("\n")[0])
    if shutil.which("coqc") is None or shutil.which("ocamlfind") is None:
        sys.exit(print("Coq is not installed; there is nothing to measure."))
    n = 2_000 if given.quick else 100_000
    rows = [("rows x 20", "certificate", "processor time", "asked")]
    with tempfile.TemporaryDirectory() as folder:
        built = shutil.copytree(PROOFS, Path(folder) / "proofs")
        subprocess.run(["make", "--silent", "--directory", built], check=True)
        X, y = gap(n, 20)
        for labels in (y, one_flipped(X, y)):
            verdict = separability(X, labels)
            proof = to_proof(verdict, check_problem(X, labels))
            files = write_plain(proof, X, labels, Path(folder) / "plain")
            spent = seconds(built / "rosenblatt-check", *files)
            rows.append((f"{n:,}", type(verdict).__name__, f"{spent:.1f} s", "60 s"))
    table(*rows)


if __name__ == "__main__":
    main()
