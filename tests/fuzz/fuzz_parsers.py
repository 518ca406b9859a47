"""Any bytes through every kernel that reads text, as Python with watched bounds and as compiled.

``python tests/fuzz/fuzz_parsers.py -max_total_time=60`` (needs the extra ``fuzz``).
"""

import inspect
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import atheris
import interpreted
import numpy as np

from rosenblatt.kernels import cells, lines, words
from rosenblatt.kernels.lines import Cursor
from rosenblatt.kernels.words import CSRBuffer, Grams, Names

BITS = 6
MASK = np.uint64(2**BITS - 1)
plain = interpreted.interpreted()
for function in list(vars(plain).values()):
    if inspect.isfunction(function) and function.__module__ == "interpreted_kernels":
        atheris.instrument_func(function)


def block(rows, values, dtype):
    """Room for rows that nothing was written to."""
    starts = np.zeros(rows + 1, np.uint64)
    return CSRBuffer(np.full(values, 7, dtype), np.full(values, 7, np.uint32), starts)


def names(most):
    """Room for names."""
    indices, places = np.full(most, 7, np.uint32), np.full((2, most), 7, np.int64)
    return Names(np.zeros(2**BITS, np.uint8), indices, *places, np.zeros(1, np.int64))


def room_for_labels(rows, several, labels):
    """Room for one label of each row, or for so many labels and where they begin."""
    starts = np.zeros(rows + 1 if several else 0, np.int64)
    return np.full(labels if several else rows, 7.0), starts


def svmlight(choose, text):
    """Rows of svmlight, as many at a time as there is room for."""
    dtype, rows, values = choose.dtype(), choose.number(0, 4), choose.number(0, 9)
    rules = choose.number(0, 1), choose.number(1, 40), choose.flag(), choose.flag()
    stop, several, labels = choose.number(0, len(text)), choose.flag(), choose.number(0, 9)
    yield "svmlight", lambda: (
        text, stop, Cursor(), *room_for_labels(rows, several, labels),
        block(rows, values, dtype), *rules,
    )  # fmt: skip


def vowpal_wabbit(choose, text):
    """Rows of Vowpal Wabbit, with names."""
    dtype, rows, values, most = choose.dtype(), *(choose.number(0, 9) for _ in range(3))
    stop, several, labels = choose.number(0, len(text)), choose.flag(), choose.number(0, 9)
    yield "vowpal_wabbit", lambda: (
        text, stop, Cursor(), *room_for_labels(rows, several, labels), np.full(rows, 7.0),
        block(rows, values, dtype), MASK, names(most),
    )  # fmt: skip


def plain_cells(choose, text):
    """Rows of numbers, labels and words, some of which are passed over."""
    dtype, width, n_words = choose.dtype(), choose.number(0, 3), choose.number(0, 3)
    places = np.array([choose.number(-2, width + n_words - 1) for _ in range(choose.number(1, 5))])
    delimiter, rows = ord(choose.among(",\t;")), int(np.count_nonzero(text == 10))
    numbers, spans = np.full((rows, width), 7, dtype), np.full((rows, n_words, 2), 7, np.int32)
    yield "plain_cells", lambda: (
        text, delimiter, places, 9e9, np.full(rows, 7.0), numbers.copy(), spans.copy(),
    )  # fmt: skip


def row_ends(choose, text):
    """Where rows end, quotation marks considered."""
    delimiter, last = ord(choose.among(",\t")), choose.flag()
    yield "row_ends", lambda: (text, delimiter, last, np.full(len(text), 7))


def columns(choose, text):
    """Strings as n-grams and as categories, and their products."""
    dtype, most, shortest = choose.dtype(), choose.number(0, 9), choose.number(1, 3)
    cuts = sorted(choose.number(0, len(text)) for _ in range(choose.number(1, 6)))
    offsets, rows = np.array(cuts, np.int32), len(cuts) - 1
    longest, values = shortest + choose.number(0, 2), choose.number(0, 40)
    settings = longest, choose.flag(), choose.number(0, 2), choose.flag()
    weights = np.full(int(MASK) + 1 if choose.flag() else 0, 2, np.float32)
    weights.flags.writeable = False
    grams = Grams(shortest, *settings, np.uint64(choose.number(0, 99)), MASK, weights)
    trim = choose.flag()
    yield "text", lambda: (text, offsets, 0, 0, grams, block(rows, values, dtype), names(most))
    yield "categories", lambda: (
        text, offsets, 0, 0, grams.salt, MASK, trim, block(rows, values, dtype), names(most),
    )  # fmt: skip


def products(choose, text):
    """Products of every two features of a row."""
    cuts = sorted({0, *(choose.number(0, min(len(text), 12)) for _ in range(3))})
    starts, count = np.array(cuts, np.uint64), cuts[-1]
    values, indices = text[:count].astype(np.float32), text[:count].astype(np.uint32)
    sizes = np.diff(cuts)
    ends = np.append(0, np.cumsum(sizes * (sizes + 1) // 2)).astype(np.uint64)
    most, rows = choose.number(0, 9), CSRBuffer(values, indices, starts)
    yield "cross", lambda: (
        rows, MASK, block(len(sizes), int(ends[-1]), np.float32)._replace(starts=ends), names(most),
    )  # fmt: skip


KERNELS = [svmlight, vowpal_wabbit, row_ends, columns, products, plain_cells]


class Choice(atheris.FuzzedDataProvider):
    """What the fuzzer decides besides the text."""

    def number(self, least, most):
        return self.ConsumeIntInRange(least, most)

    def flag(self):
        return self.ConsumeBool()

    def among(self, things):
        return things[self.number(0, len(things) - 1)]

    def dtype(self):
        return self.among([np.float32, np.float64])


def flat(thing):
    """All numbers of arguments or answers, to the bit."""
    if isinstance(thing, tuple):
        return [number for part in thing for number in flat(part)]
    if isinstance(thing, np.ndarray):
        return [np.asarray(thing).tobytes()]
    return [None if thing is None else int(thing)]


def test_one_input(data):
    """Both forms of a kernel must leave and answer the same; stepping outside raises."""
    choose = Choice(data)
    kernel = choose.among(KERNELS)
    text_size = choose.number(0, 200)
    text = np.frombuffer(choose.ConsumeBytes(text_size) + b"\n", np.uint8)
    for name, arguments in kernel(choose, text):
        watched, given = arguments(), arguments()
        plain.forget()
        with np.errstate(all="ignore"):
            expected = getattr(plain, name)(*map(interpreted.guarded, watched))
        answer = (vars(words) | vars(lines) | vars(cells))[name](*given)
        assert flat((watched, expected)) == flat((given, answer)), (name, bytes(text), watched)


TEXTS = [
    b"1 qid:7 1:0.5 3:-2e3 # why\n-1.5 2:1e-9\n",
    b"1 2 'tag |a:0.5 x:1e-2 y |b 12 z:3\n-1 |word another\r\n",
    b'1,2.50,NA\n-3e-7, "4" ,\n' + ",".join(lines.MISSING).encode(),
    b'a,"b ""c"",\n",d\n',
    b"He said: no, never! caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac_1 ",
    b"\1\2\3\4\5\6\7",
    b'1,red\r\n"-2.5","dark, blue"\n NA ,\n',
]
NUMBERS = b"9007199254740993 0.30000000000000004 16777217.0000000001e-400 1.7976931348623159e308"


def seeds(folder):
    """Write something to start from for each kernel: the fuzzer's choices are the last bytes."""
    for number, text in enumerate(TEXTS):
        for chosen in b"\5" * 12, bytes(range(1, 20)), b"\xff" * 12:
            choices = chosen + bytes([min(len(text), 200), number])
            Path(folder, f"{number}-{chosen[0]}").write_bytes(text + choices)
    long = b"1 1:" + NUMBERS.replace(b" ", b"\n1 1:")
    Path(folder, "numbers").write_bytes(long + b"\xff" * 12 + bytes([len(long), 0]))


if __name__ == "__main__":
    warnings.simplefilter("error")
    with TemporaryDirectory() as folder:
        seeds(folder)
        atheris.Setup([*sys.argv, folder], test_one_input)
        atheris.Fuzz()
