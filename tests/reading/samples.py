"""Small files of each format, and what they hold."""

import bz2
import gzip
import itertools
import lzma
import os
import threading
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pytest

from rosenblatt.data.labels import LabelSets
from rosenblatt.parameters import CodedError
from rosenblatt.reading import reader

from ..reference import hash_bytes, mix_bits


def read(path, **options):
    """A reader that leaves numbers as the file has them."""
    return reader.read(path, **({} if "features" in options else {"scale": "none"}) | options)


@contextmanager
def piped(data):
    """A pipe that gives some bytes."""
    end, start = os.pipe()
    writer = threading.Thread(target=lambda: (os.write(start, data), os.close(start)))
    writer.start()
    with open(end, "rb") as pipe:
        yield pipe
    writer.join()


def readers_threads():
    """The threads of readers that have not ended."""
    return [each for each in threading.enumerate() if each.name.startswith("rosenblatt")]


def notices(reader):
    """The codes of a reader's notices."""
    return [notice.code for notice in reader.notices]


@contextmanager
def refused(code, **where):
    """Expect an error of a code, at a line or a column."""
    with pytest.raises(CodedError) as caught:
        yield caught
    error = caught.value
    assert (error.code, {name: getattr(error, name) for name in where}) == (code, where)
    assert str(error).endswith(".")


SVMLIGHT = b"# made by hand\n" + b"".join(
    b"%d qid:%d 1:%d %d:0.5 # row %d\n" % (i % 3, i, i, 3 + i % 5, i) for i in range(200)
)


VW = b"".join(b"%d 2 'tag%d |a x%d:0.5 y |b %d\n" % (i % 2, i, i % 7, i) for i in range(200))


NUMBERS = "a,b,label,c\n" + "".join(f"{i},{i / 7:.5f},{i % 3},{-i}e-2\n" for i in range(200))


COLOURS = ["red", "", "dark blue"]


PEOPLE = "age,colour,text,y\n" + "".join(
    f'{i % 50},{COLOURS[i % 3]},"He said ""no {i % 9}"",\nthen left",{"AB"[i % 2]}\n'
    for i in range(200)
)


TINY = {"data.svm": SVMLIGHT, "data.vw": VW, "data.csv": NUMBERS.encode(), "p.csv": PEOPLE.encode()}


def labels_in(batch, count):
    """The labels of a batch as a list: of values, of sets, or of nothing."""
    if batch.labels is None:
        return [None] * count
    return list(batch.labels) if isinstance(batch.labels, LabelSets) else batch.labels.tolist()


def whole(reader):
    """All labels, weights and rows (as lists of column and value, or of values)."""
    labels, weights, rows = [], [], []
    lines = 0
    for batch in reader:
        values, indices, starts = batch.rows
        assert not values.flags.writeable
        assert batch.lines >= lines
        lines = batch.lines
        if indices is None:
            part = values.reshape(-1, int(starts[0])).tolist()
            assert batch.width == starts[0]
        else:
            assert indices.dtype == np.uint32
            assert not len(indices) or indices.max() < batch.width
            pairs = list(zip(indices.tolist(), values.tolist(), strict=True))
            part = [pairs[i:j] for i, j in itertools.pairwise(starts.tolist())]
        assert len(part) > 0
        rows += part
        labels += labels_in(batch, len(part))
        weights += [] if batch.weights is None else batch.weights.tolist()
    return labels, weights, rows


def compressed(data, how):
    if how == ".gz":
        half = len(data) // 2
        return gzip.compress(data[:half]) + gzip.compress(data[half:])  # two members
    if how in (".zst", ".lz4"):
        return pa.compress(data, {".zst": "zstd", ".lz4": "lz4"}[how], asbytes=True)
    return {".bz2": bz2.compress, ".xz": lzma.compress}.get(how, bytes)(data)


def number(name, bits=18):
    return hash_bytes(name.encode()) & (2**bits - 1)


def category(name, value, bits=18):
    return hash_bytes(value.encode(), hash_bytes(name.encode())) & (2**bits - 1)


def product(i, j, bits=18):
    return mix_bits(i << 32 | j) & (2**bits - 1)
