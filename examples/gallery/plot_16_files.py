"""
Files larger than memory
========================

``read`` yields batches of a file, or of a folder of Parquet files, in constant memory, and
``train`` learns from the stream. The size of the batches does not change the model, not even by a
bit.
"""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from matplotlib import pyplot as plt
from matplotlib.ticker import PercentFormatter

import rosenblatt
from rosenblatt import AROW, read

# Eight files, as a job that runs every hour might leave them.
folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
plane = rng.normal(size=100)
for hour in range(8):
    X = rng.normal(size=(5_000, 100)).astype(np.float32)
    y = X @ plane + rng.normal(size=len(X)) > 0
    columns = {f"x{k}": X[:, k] for k in range(100)}
    pq.write_table(pa.table(columns | {"label": y}), folder / f"{hour}.parquet")
size = sum(path.stat().st_size for path in folder.iterdir())
print(f"{len(list(folder.iterdir()))} files, {size / 1e6:.0f} MB")

# %%
# One pass over all files, with a tenth of the rows held out for testing.

model = rosenblatt.train(folder, max_iter=1, holdout=0.1, scale="none")
held_out = model.file_facts_["facts"]["held_out"]
print(
    f"{held_out['errors'] / held_out['rows']:.2%} of {held_out['rows']:,} held-out rows are wrong"
)

# %%
# The same by hand: read batches, predict each one, then learn it with ``partial_fit``.

errors, rows, classifier = [], [], AROW()
for batch in read(folder, scale="none", batch_bytes=2**18):
    X, y = batch.X, batch.y
    if rows:
        errors.append(np.mean(classifier.predict(X) != y))
    classifier.partial_fit(X, y, classes=[False, True])
    rows.append(len(y))
print(f"{len(rows)} batches of about {rows[0]:,} rows")

figure, axis = plt.subplots(figsize=(7, 3.8), layout="constrained")
axis.plot(np.cumsum(rows)[1:], errors, ".-", color="#0072B2")
axis.yaxis.set_major_formatter(PercentFormatter(1))
_ = axis.set(xlabel="rows learnt before", ylabel="error on the next batch", ylim=(0, None))
