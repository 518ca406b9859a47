"""Any bytes as a file of every format: rows that do not depend on the batches, or one sentence.

``python tests/fuzz/fuzz_reading.py -max_total_time=60`` (needs the extra ``fuzz``).
"""

import io
import itertools
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import atheris
import numpy as np

with atheris.instrument_imports(include=["rosenblatt.reading"]):
    from rosenblatt.reading.reader import read

FORMATS = ["svmlight", "vw", "csv", "tsv", "parquet", "arrow"]
OPTIONS = [
    {},
    {"text": ["text"], "ngrams": (1, 2)},
    {"text": [0], "ngrams": (2, 3), "characters": True},
    {"pairs": True, "bits": 5, "names": 3},
    {"pairs": True, "names": 99},
    {"label": False},
    {"label": 0, "header": True, "dtype": np.float64},
    {"header": False, "first": 1},
]
SEEDS = [
    b"1 qid:7 1:0.5 3:-2e3 # why\n-1.5 2:1e-9\n",
    b"1 2 'tag |a:0.5 x:1e-2 y |b 12 z:3\n-1 |word another\r\n",
    b'a,b,y\n1,2.50,NA\n-3e-7, "4" ,\n',
    b'text,a,b,y\n"He said ""no"",\nthen",red,2,yes\nleft,,3,no\n',
    b"\xef\xbb\xbfa\ttext\ty\r\n1\thello\t1\r\n",
]


def whole(data, kind, **options):
    """All rows of a file and their labels, as text: NaN is equal to itself then."""
    rows, labels = [], []
    for batch in read(io.BytesIO(data), format=kind, **options):
        values, indices, starts = batch.rows
        if indices is None:
            rows += values.reshape(-1, batch.width).tolist()
        else:
            assert starts[-1] == len(values) == len(indices)
            assert not len(indices) or indices.max() < batch.width
            pairs = list(zip(indices.tolist(), values.tolist(), strict=True))
            rows += [pairs[i:j] for i, j in itertools.pairwise(starts.tolist())]
        labels += [] if batch.labels is None else batch.labels.tolist()
    assert len(labels) in (0, len(rows))
    return repr((rows, labels))


def test_one_input(data):
    """Read it in one batch and in small ones."""
    choose = atheris.FuzzedDataProvider(data)
    kind = FORMATS[choose.ConsumeIntInRange(0, len(FORMATS) - 1)]
    options = dict(OPTIONS[choose.ConsumeIntInRange(0, len(OPTIONS) - 1)])
    options["skip_bad"] = choose.ConsumeIntInRange(0, 3)
    small = choose.ConsumeIntInRange(1, 60)
    text = choose.ConsumeBytes(400)
    try:
        rows = whole(text, kind, **options)
    except ValueError as error:
        assert str(error).endswith("."), error
        return
    assert whole(text, kind, batch_bytes=small, **options) == rows, text


def seeds(folder):
    """Write something to start from for each format and option."""
    for number, text in enumerate(SEEDS):
        for option in range(len(OPTIONS)):
            choices = bytes([17, 1, option, number])
            Path(folder, f"{number}-{option}").write_bytes(text + choices)


if __name__ == "__main__":
    warnings.simplefilter("error")
    with TemporaryDirectory() as folder:
        seeds(folder)
        atheris.Setup([*sys.argv, folder], test_one_input)
        atheris.Fuzz()
