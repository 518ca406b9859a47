"""Parsed rows beside a file: a folder with an array per file, memory-mapped when read again."""

import json
import os
import re
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from numpy.lib import format as npy

from .. import __version__
from ..data.labels import LabelSets
from ..data.rows import check_structure, n_rows, read_only
from ..disk import replace_folder
from ..kernels.algebra import Rows
from ..parameters import InputError, ParameterError
from ..reading.batches import Batch
from ..reading.notices import Notice
from ..reading.reader import Reader, WholeFile, no_rows_error
from ..reading.sources import CACHE_ENDING

FORMAT = 5
HASHED_AT_ONCE = 16 << 20  # bytes
WILD = re.compile(r"[*?\[\]]")  # in a pattern


def read_cached(reader: Reader, report: Callable[[Batch], None] = lambda batch: None) -> WholeFile:
    """Read all rows from the cache beside a file; write it first if there is none of these rows.

    Parameters
    ----------
    reader
        Of a file, a folder or a pattern.
    report
        Receives each batch, if the cache has to be written.
    """
    path, origin = cache_path(reader), reader.source.origin
    found = find_cache(path, reader, origin)
    if found is not None:
        return found
    reader.complete_recipe(report)
    with ThreadPoolExecutor(1) as second:
        sums = second.submit(compute_checksums, reader)
        with replace_folder(path) as folder:
            about = write_arrays(folder, reader, report)
            if reader.source.origin != origin:
                name = reader.source.name
                raise InputError(
                    f"{name} changed while it was read; try again.", code="file-changed", file=name
                )
            about |= {
                "origin": origin,
                "checksums": sums.result(),
                "reading": describe_reading(reader),
            }
            about["features"] = reader.features()
            (folder / "about.json").write_text(json.dumps(about))
            return open_cache(folder)  # before another run can put its own in this place


def cache_path(reader: Reader) -> Path:
    """Return the path of the cache of a file."""
    if reader.size is None:
        raise ParameterError(
            f"{reader.source.name} is not a file, so {{cache?}} has no place beside it; leave it "
            "out.",
            code="cache-without-file",
        )
    source = Path(reader.source.name)
    folder = next((above for above in source.parents if not WILD.search(str(above))), source)
    name = WILD.sub("_", "_".join(source.relative_to(folder).parts))
    path = folder / (name + CACHE_ENDING)
    if path.exists() and not (path / "about.json").is_file():
        raise InputError(
            f"{path} is not a cache of rosenblatt; move it away.",
            code="not-a-cache",
            file=str(path),
        )
    return path


def compute_checksums(reader: Reader) -> list[int]:
    """Return the CRC-32 of each file of a reader: against accidents, at the speed of memory."""
    return [compute_checksum(file) for file in reader.source.files]


def compute_checksum(path: str) -> int:
    """Return the CRC-32 of a file."""
    result, buffer = 0, memoryview(bytearray(HASHED_AT_ONCE))
    with open(path, "rb", buffering=0) as file:
        while count := file.readinto(buffer):
            result = zlib.crc32(buffer[:count], result)
    return result


def describe_reading(reader: Reader) -> dict[str, Any]:
    """Return all that decides which rows a file becomes, as JSON values."""
    options = reader.options
    return {
        "format": FORMAT,
        "version": __version__,
        "rows": reader.format,
        "recipe": json.loads(json.dumps(asdict(reader.asked))),
        "dtype": options.dtype.str,
        "names": options.names,
        "skip_bad": reader.skip_bad,
        "held_out": [] if reader.asked.is_complete else list(reader.split),
    }


def find_cache(path: Path, reader: Reader, origin: Any) -> WholeFile | None:
    """Open the cache if it is valid, and give its statistics to the reader; None if it is not.

    It is valid if the options of the reader, the checksums and the ``origin`` are the same: the
    name, size and time of each file.
    """
    try:
        text = (path / "about.json").read_text()
        about = json.loads(text)
        alike = about["origin"] == origin and about["reading"] == describe_reading(reader)
        if alike and about["checksums"] == compute_checksums(reader):
            whole = open_cache(path)
            same = (path / "about.json").read_text() == text  # else another run put its own here
            if same and reader.adopt_features(about["features"]):
                return whole
    except (OSError, ValueError, LookupError, TypeError):
        pass  # a damaged cache is as good as none
    return None


def write_arrays(folder: Path, reader: Reader, report: Callable[[Batch], None]) -> dict[str, Any]:
    """Write the arrays of all batches; return what else the cache keeps of them."""
    words: dict[str, int] = {}
    values, width, read, lines, labels = 0, 0, 0, 0, 0
    with GrowingArrays(folder) as arrays:
        for batch in reader:
            report(batch)
            rows = batch.rows
            arrays.append("values", rows.values)
            if rows.indices is not None:
                arrays.append("indices", rows.indices)
                arrays.append("ends", rows.starts[1:] + np.uint64(values))
                values += len(rows.values)
            if isinstance(batch.labels, LabelSets):
                arrays.append("labels", number_values(batch.labels.values, words))
                arrays.append("label_ends", batch.labels.starts[1:] + labels)
                labels += len(batch.labels.values)
            elif batch.labels is not None:
                arrays.append("labels", number_values(batch.labels, words))
            for name in ("weights", "groups"):
                if getattr(batch, name) is not None:
                    arrays.append(name, getattr(batch, name))
            width, read, lines = max(width, batch.width), batch.bytes_read, batch.lines
    if not arrays.files:
        raise no_rows_error(reader)
    return {
        "width": width,
        "bytes_read": read,
        "lines": lines,
        "words": list(words),
        "names": list(reader.names.items()),
        "notices": reader.notices,
        "bad": reader.bad,
        "arrays": arrays.checksums,
    }


def number_values(labels: np.ndarray, words: dict[str, int]) -> np.ndarray:
    """Return labels as numbers; new words get the next number in ``words``."""
    if labels.dtype.kind in "biuf":
        return labels
    return np.array([words.setdefault(str(word), len(words)) for word in labels], np.uint32)


class GrowingArrays:
    """Writes arrays of unknown length to disk; their headers are completed at the end.

    ``checksums`` has the CRC-32 of the content of each.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: dict[str, Any] = {}
        self.lengths: dict[str, int] = {}
        self.types: dict[str, np.dtype[Any]] = {}
        self.checksums: dict[str, int] = {}

    def append(self, name: str, array: np.ndarray) -> None:
        """Append numbers to an array."""
        if name not in self.files:
            self.files[name] = (self.folder / f"{name}.npy").open("wb")
            self.lengths[name], self.types[name] = 0, array.dtype
            self.write_header(name)
        data = np.ascontiguousarray(array, self.types[name]).data
        self.files[name].write(data)
        self.checksums[name] = zlib.crc32(data, self.checksums.get(name, 0))
        self.lengths[name] += len(array)

    def write_header(self, name: str) -> None:
        """Write the type and the length of an array; NumPy leaves room for the longest length."""
        layout = {"descr": self.types[name].str, "fortran_order": False}
        npy.write_array_header_1_0(self.files[name], {**layout, "shape": (self.lengths[name],)})

    def __enter__(self) -> "GrowingArrays":
        return self

    def __exit__(self, kind: Any, *rest: object) -> None:
        for name, file in self.files.items():
            with file:
                if kind is None:
                    file.seek(0)
                    self.write_header(name)
                    file.flush()
                    os.fsync(file.fileno())


def open_cache(path: Path) -> WholeFile:
    """Map the arrays of a cache into memory, and check what kernels rely on."""
    about = json.loads((path / "about.json").read_text())
    arrays = {file.stem: map_array(file) for file in path.glob("*.npy")}
    if {name: zlib.crc32(array.data) for name, array in arrays.items()} != about["arrays"]:
        raise ValueError("The arrays of the cache are damaged.")
    rows, width = load_rows(arrays, about["width"]), int(about["width"])
    count, labels = n_rows(rows), cast(Any, arrays.get("labels"))
    if labels is not None and about["words"]:
        labels = np.array(about["words"], object)[labels]
    if labels is not None and "label_ends" in arrays:
        labels = read_label_sets(labels, arrays["label_ends"])
    for column in labels, arrays.get("weights"), arrays.get("groups"):
        if column is not None and len(column) != count:
            raise ValueError("The columns of the cache differ in length.")
    batch = Batch(
        rows, labels, arrays.get("weights"), width, int(about["bytes_read"]), int(about["lines"])
    )._replace(groups=arrays.get("groups"))
    names = {int(column): str(name) for column, name in about["names"]}
    notices = [Notice(str(code), str(sentence)) for code, sentence in about["notices"]]
    return WholeFile(batch, names, notices, int(about["bad"]))


def read_label_sets(labels: np.ndarray, ends: np.ndarray) -> LabelSets:
    """Return label sets; refuse ends that are out of range."""
    starts = np.append(0, ends)
    if np.any(np.diff(starts) < 0) or starts[-1] != len(labels):
        raise ValueError("The labels of the cache are damaged.")
    return LabelSets(labels, starts)


def map_array(path: Path) -> np.ndarray:
    """Map an array file into memory."""
    return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


def load_rows(arrays: dict[str, np.ndarray], width: int) -> Rows:
    """Return the rows of a cache; refuse columns and ends that are out of range."""
    values = arrays["values"]
    if "indices" not in arrays:
        if width < 1 or len(values) % width:
            raise ValueError("The cache ends within a row.")
        return Rows(values, None, read_only(np.array([width], np.uint64)))
    starts = np.concatenate([np.zeros(1, np.uint64), arrays["ends"]])
    indices = arrays["indices"]
    shape = len(starts) - 1, width
    check_structure(SimpleNamespace(data=values, indices=indices, indptr=starts, shape=shape))
    return Rows(values, indices, read_only(starts))
