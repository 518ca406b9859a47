"""How much memory does fit need beside the data?

python benchmarks/memory.py
"""

import subprocess
import sys

from measure import options, table

SCRIPT = """
import resource, sys
import numpy as np, scipy.sparse as sp
from rosenblatt import Perceptron
kind, n = sys.argv[1], int(sys.argv[2])
small = np.eye(4, dtype=np.float32)
make = (lambda X: X) if kind == "dense" else sp.csr_matrix
Perceptron(max_iter=2, random_state=0).fit(make(small), [0, 1, 0, 1])
if kind == "dense":
    X = np.ones((n, 100), np.float32)
    X[:, 0] = np.arange(n) % 7
    data = X.nbytes
else:
    indices = np.tile(np.arange(50, dtype=np.int32) * 900, n)
    X = sp.csr_matrix(
        (np.ones(n * 50, np.float32), indices, np.arange(0, n * 50 + 1, 50, dtype=np.int32)),
        shape=(n, 47000),
    )
    data = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
y = np.arange(n) % 2
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
Perceptron(max_iter=2, random_state=0).fit(X, y)
extra = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
order = 4 * n
print(data, extra, order)
"""


def main() -> None:
    rows = 1_000_000 // (20 if options(__doc__).quick else 1)
    lines = [("X", "data", "extra at the peak", "beyond the order (asked: under 5%)")]
    for kind in ("dense", "CSR"):
        command = [sys.executable, "-c", SCRIPT, kind, str(rows)]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        data, extra, order = map(int, out.split())
        beyond = max(extra - order, 0) / data
        lines.append((kind, f"{data / 1e6:.0f} MB", f"{extra / 1e6:.1f} MB", f"{beyond:.1%}"))
    table(*lines)


if __name__ == "__main__":
    main()
