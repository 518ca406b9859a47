"""A whole file as arrays: gathered in memory, or memory-mapped from a cache beside the file."""

import json
import os
import re
import zlib
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib import format as npy

from . import __version__
from .disk import replacing_folder
from .kernels.algebra import Rows
from .readers import CACHE, Batch, Reader
from .rows import check_structure, joined, n_rows, read_only, rows_between

FORMAT = 1
HASHED_AT_ONCE = 16 << 20  # bytes
WILD = re.compile(r"[*?\[\]]")  # in a pattern


class Whole(NamedTuple):
    """All rows of a file as one batch, and what the reader found out on the way."""

    batch: Batch
    names: Mapping[int, str]
    notices: list[str]
    bad: int


def gathered(reader: Reader, batches: Iterable[Batch]) -> Whole:
    """All batches of a reader, in memory."""
    parts = list(batches)
    if not parts:
        raise no_rows(reader)
    return Whole(one_batch(parts), reader.names, reader.notices, reader.bad)


def no_rows(reader: Reader) -> ValueError:
    """What to say of a file without rows."""
    return ValueError(f"There are no rows to learn from in {reader.source.name}.")


def one_batch(parts: list[Batch]) -> Batch:
    """Several batches as one."""
    labels = None if parts[0].labels is None else np.concatenate([part.labels for part in parts])
    return Batch(
        joined([part.rows for part in parts]),
        labels,
        weights_of(parts),
        max(part.width for part in parts),
        parts[-1].bytes_read,
        parts[-1].lines,
    )


def part_of(batch: Batch, first: int, stop: int) -> Batch:
    """The rows first to stop of a batch, without copying their values."""
    some = slice(first, stop)
    labels = None if batch.labels is None else batch.labels[some]
    weights = None if batch.weights is None else batch.weights[some]
    rows = rows_between(batch.rows, first, stop)
    return batch._replace(rows=rows, labels=labels, weights=weights)


def weights_of(batches: list[Batch]) -> np.ndarray | None:
    """The weights of rows, or None when all are 1."""
    if all(batch.weights is None for batch in batches):
        return None
    parts = [
        np.ones(n_rows(batch.rows)) if batch.weights is None else batch.weights for batch in batches
    ]
    return np.concatenate(parts)


# The cache: a folder with an array per file, and what it was made of in about.json


def cached(reader: Reader, batches: Iterable[Batch]) -> Whole:
    """All rows of a reader from the cache beside its source, which is made anew when it is stale.

    Parameters
    ----------
    reader
        Of a file, a folder or a pattern.
    batches
        What the reader gives; gone through only if the cache has to be made.
    """
    place = place_of(reader)
    origin = origin_of(reader)
    found = fresh(place, reader, origin)
    if found is not None:
        return found
    with ThreadPoolExecutor(1) as second:
        sums = second.submit(checksums, reader)
        with replacing_folder(place) as folder:
            about = written(folder, reader, batches)
            if origin_of(reader) != origin:
                raise ValueError(f"{reader.source.name} changed while it was read; try again.")
            about |= {"origin": origin, "checksums": sums.result(), "reading": reading_of(reader)}
            (folder / "about.json").write_text(json.dumps(about))
            return opened(folder)  # before another run can put its own in this place


def place_of(reader: Reader) -> Path:
    """Where the cache of a source is."""
    if reader.size is None:
        raise ValueError(f"{reader.source.name} has no place beside it for a cache; use a file.")
    path = Path(reader.source.name)
    folder = next((above for above in path.parents if not WILD.search(str(above))), path)
    name = WILD.sub("_", "_".join(path.relative_to(folder).parts))
    place = folder / (name + CACHE)
    if place.exists() and not (place / "about.json").is_file():
        raise ValueError(f"{place} is not a cache of rosenblatt; move it away.")
    return place


def origin_of(reader: Reader) -> list[list[Any]]:
    """The name, size and time of each file of a source."""
    found = [(file, os.stat(file)) for file in reader.source.files]
    return [[os.path.basename(file), stat.st_size, stat.st_mtime_ns] for file, stat in found]


def checksums(reader: Reader) -> list[int]:
    """The CRC-32 of each file of a source: against accidents, at the speed of memory."""
    return [checksum(file) for file in reader.source.files]


def checksum(path: str) -> int:
    """The CRC-32 of a file."""
    result, room = 0, memoryview(bytearray(HASHED_AT_ONCE))
    with open(path, "rb", buffering=0) as file:
        while count := file.readinto(room):
            result = zlib.crc32(room[:count], result)
    return result


def reading_of(reader: Reader) -> dict[str, Any]:
    """All that decides which rows a source becomes."""
    options = reader.form.options
    return {
        "format": FORMAT,
        "version": __version__,
        "rows": reader.format,
        "recipe": json.loads(json.dumps(reader.features())),
        "dtype": options.dtype.str,
        "names": options.names,
        "skip_bad": reader.skip_bad,
    }


def fresh(place: Path, reader: Reader, origin: list[list[Any]]) -> Whole | None:
    """A cache that was made in this way, of files of these names, sizes, times and bytes."""
    try:
        text = (place / "about.json").read_text()
        about = json.loads(text)
        alike = about["origin"] == origin and about["reading"] == reading_of(reader)
        if alike and about["checksums"] == checksums(reader):
            whole = opened(place)
            if (place / "about.json").read_text() == text:  # else another run put its own here
                return whole
    except (OSError, ValueError, LookupError, TypeError):
        pass  # a damaged cache is as good as none
    return None


def written(folder: Path, reader: Reader, batches: Iterable[Batch]) -> dict[str, Any]:
    """Write the arrays of all batches, and tell what else is to be known of them."""
    words: dict[str, int] = {}
    values, width, read, lines = 0, 0, 0, 0
    with Columns(folder) as columns:
        for batch in batches:
            rows = batch.rows
            columns.append("values", rows.values)
            if rows.indices is not None:
                columns.append("indices", rows.indices)
                columns.append("ends", rows.starts[1:] + np.uint64(values))
                values += len(rows.values)
            if batch.labels is not None:
                columns.append("labels", numbers_of(batch.labels, words))
            if batch.weights is not None:
                columns.append("weights", batch.weights)
            width, read, lines = max(width, batch.width), batch.bytes_read, batch.lines
    if not columns.files:
        raise no_rows(reader)
    return {
        "width": width,
        "bytes_read": read,
        "lines": lines,
        "words": list(words),
        "names": list(reader.names.items()),
        "notices": reader.notices,
        "bad": reader.bad,
    }


def numbers_of(labels: np.ndarray, words: dict[str, int]) -> np.ndarray:
    """Labels that are numbers, or the numbers of those that are words."""
    if labels.dtype.kind in "biuf":
        return labels
    return np.array([words.setdefault(str(word), len(words)) for word in labels], np.uint32)


class Columns:
    """Arrays on disk that grow; the length of each is written into its header at the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: dict[str, Any] = {}
        self.lengths: dict[str, int] = {}
        self.types: dict[str, np.dtype[Any]] = {}

    def append(self, name: str, array: np.ndarray) -> None:
        """Write more numbers at the end of an array."""
        if name not in self.files:
            self.files[name] = (self.folder / f"{name}.npy").open("wb")
            self.lengths[name], self.types[name] = 0, array.dtype
            self.write_header(name)
        self.files[name].write(np.ascontiguousarray(array, self.types[name]).data)
        self.lengths[name] += len(array)

    def write_header(self, name: str) -> None:
        """Write the type and the length; NumPy leaves room for the longest that there can be."""
        form = {"descr": self.types[name].str, "fortran_order": False}
        npy.write_array_header_1_0(self.files[name], {**form, "shape": (self.lengths[name],)})

    def __enter__(self) -> "Columns":
        return self

    def __exit__(self, kind: Any, *rest: object) -> None:
        for name, file in self.files.items():
            with file:
                if kind is None:
                    file.seek(0)
                    self.write_header(name)
                    file.flush()
                    os.fsync(file.fileno())


def opened(place: Path) -> Whole:
    """A cache as it lies on disk; what kernels trust is checked."""
    about = json.loads((place / "about.json").read_text())
    arrays = {file.stem: mapped(file) for file in place.glob("*.npy")}
    rows, width = rows_in(arrays, about["width"]), int(about["width"])
    count, labels = n_rows(rows), arrays.get("labels")
    if labels is not None and about["words"]:
        labels = np.array(about["words"], object)[labels]
    for column in labels, arrays.get("weights"):
        if column is not None and len(column) != count:
            raise ValueError("The columns of the cache differ in length.")
    batch = Batch(
        rows, labels, arrays.get("weights"), width, int(about["bytes_read"]), int(about["lines"])
    )
    names = {int(column): str(name) for column, name in about["names"]}
    return Whole(batch, names, list(about["notices"]), int(about["bad"]))


def mapped(path: Path) -> np.ndarray:
    """An array as it lies on disk, read when it is used."""
    return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


class Sparse(NamedTuple):
    """What scipy calls the parts of a CSR matrix."""

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    shape: tuple[int, int]


def rows_in(arrays: dict[str, np.ndarray], width: int) -> Rows:
    """The rows of a cache, after a look at whether every number points inside."""
    values = arrays["values"]
    if "indices" not in arrays:
        if width < 1 or len(values) % width:
            raise ValueError("The cache ends within a row.")
        return Rows(values, None, read_only(np.array([width], np.uint64)))
    starts = np.concatenate([np.zeros(1, np.uint64), arrays["ends"]])
    check_structure(Sparse(values, arrays["indices"], starts, (len(starts) - 1, width)))
    return Rows(values, arrays["indices"], read_only(starts))
