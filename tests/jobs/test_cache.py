"""The cache beside a file: fresh or made anew, never believed when it is damaged."""

import json
import os
import shutil

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from rosenblatt.jobs import cache
from rosenblatt.jobs.cache import read_cached
from rosenblatt.reading.reader import read, read_whole
from rosenblatt.reading.sources import CACHE_ENDING

SVM = "".join(f"{k % 3} {k % 5 + 1}:{k / 8} 9:1\n" for k in range(100))
CSV = "a,b,y\n" + "".join(f"{k / 4},{k % 7},{k % 2}\n" for k in range(100))
WORDS = "text,y\n" + "".join(
    f"word{k % 9} and more,{'yes' if k % 2 else 'no'}\n" for k in range(50)
)
VW = "".join(f"{k % 2} {k % 3 + 1} |a x:{k} y\n" for k in range(100))
FILES = [
    ("rows.svm", SVM, {}),
    ("rows.csv", CSV, {}),
    ("rows.vw", VW, {}),
    ("rows.csv", WORDS, {"text": ["text"], "bits": 8, "names": 20}),
]


def make_reader(path, **options):
    return read(path, batch_bytes=300, **options)


def again(path, **options):
    """The cached rows, and whether the file was parsed for them."""
    parsed = []
    whole = read_cached(make_reader(path, **options), parsed.append)
    return whole, len(parsed) > 0


def assert_equal(one, other):
    for left, right in zip(one.batch.rows, other.batch.rows, strict=True):
        np.testing.assert_array_equal(left, right)
        assert left is None or left.dtype == right.dtype
        assert left is None or not right.flags.writeable
    np.testing.assert_array_equal(one.batch.labels, other.batch.labels)
    np.testing.assert_array_equal(one.batch.weights, other.batch.weights)
    assert one.batch.width == other.batch.width
    assert one[1:] == other[1:]


@pytest.mark.parametrize(("name", "text", "options"), FILES)
def test_a_cache_holds_what_the_reader_gives(tmp_path, name, text, options):
    path = tmp_path / name
    path.write_text(text)
    reader = make_reader(path, **options)
    whole = read_whole(reader)
    made, parsed = again(path, **options)
    assert parsed
    assert_equal(whole, made)
    found, parsed = again(path, **options)
    assert not parsed
    assert_equal(whole, found)


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text(SVM)
    again(path)
    assert not again(path)[1]
    return path


def test_another_size_is_stale(rows):
    with rows.open("a") as file:
        file.write("1 1:1\n")
    whole, parsed = again(rows)
    assert parsed
    assert len(whole.batch.labels) == 101
    assert not again(rows)[1]


def test_another_time_is_stale(rows):
    os.utime(rows, ns=(0, 10**15))
    assert again(rows)[1]


def test_other_bytes_are_stale_even_with_the_same_size_and_time(rows):
    stat = rows.stat()
    rows.write_text(SVM.replace("0 1:0.0", "2 1:0.0", 1))
    os.utime(rows, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    whole, parsed = again(rows)
    assert parsed
    assert whole.batch.labels[0] == 2


def test_another_way_of_reading_is_stale(rows):
    assert again(rows, dtype=np.float64)[1]
    assert again(rows, first=0)[1]
    assert again(rows, first=0, skip_bad=3)[1]


def test_another_release_is_stale(rows, monkeypatch):
    monkeypatch.setattr(cache, "__version__", "0.0.1")
    assert again(rows)[1]


def spoil(name, change):
    def spoilt(folder):
        file = folder / f"{name}.npy"
        array = np.load(file)
        np.save(file, change(array))

    return spoilt


@pytest.mark.parametrize(
    "harm",
    [
        spoil("indices", lambda a: a + np.uint32(1000)),
        spoil("ends", lambda a: a[::-1]),
        spoil("ends", lambda a: a * 2),
        spoil("labels", lambda a: a[:-1]),
        spoil("values", lambda a: a[:-1]),
        lambda folder: (folder / "values.npy").write_bytes(b"no array"),
        lambda folder: (folder / "values.npy").unlink(),
        lambda folder: os.truncate(folder / "values.npy", 200),
        lambda folder: (folder / "about.json").write_text("{}"),
        lambda folder: (folder / "about.json").write_text("["),
        lambda folder: change_about(folder, width="many"),
        lambda folder: change_about(folder, names=[["x", 3, 4]]),
    ],
)
def test_a_damaged_cache_is_made_anew(rows, harm):
    folder = rows.with_name(rows.name + CACHE_ENDING)
    harm(folder)
    whole, parsed = again(rows)
    assert parsed
    reader = make_reader(rows)
    assert_equal(read_whole(reader), whole)
    assert not again(rows)[1]


def change_about(folder, **changes):
    about = json.loads((folder / "about.json").read_text())
    (folder / "about.json").write_text(json.dumps(about | changes))


@pytest.mark.parametrize("name", ["labels", "values", "indices", "ends"])
def test_a_flipped_byte_is_noticed(rows, name):
    read_cached(make_reader(rows))
    path = next(rows.parent.glob(f"*{CACHE_ENDING}")) / f"{name}.npy"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    whole, parsed = again(rows)
    assert parsed
    np.testing.assert_array_equal(whole.batch.labels[:3], [0, 1, 2])


def test_what_is_not_ours_is_left_alone(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text(SVM)
    folder = path.with_name(path.name + CACHE_ENDING)
    folder.mkdir()
    (folder / "diary.txt").write_text("mine")
    with pytest.raises(ValueError, match="is not a cache of rosenblatt; move it away"):
        again(path)
    assert (folder / "diary.txt").read_text() == "mine"


def test_a_broken_file_leaves_no_cache_behind(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text(SVM + "1 1:x\n")
    with pytest.raises(ValueError, match="line 101"):
        again(path)
    assert [file.name for file in tmp_path.iterdir()] == ["rows.svm"]


def test_a_source_that_changes_meanwhile(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text(SVM)
    reader = make_reader(path)

    def meddle(batch):
        path.write_text(SVM + "1 1:1\n")

    with pytest.raises(ValueError, match="changed while it was read"):
        read_cached(reader, meddle)
    assert [file.name for file in tmp_path.iterdir()] == ["rows.svm"]


def test_a_pipe_has_no_place_for_a_cache(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text(SVM)
    with path.open("rb") as file, pytest.raises(ValueError, match="has no place beside it"):
        again(file, format="svm")


def test_a_folder_of_parquet_files(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    for k in range(3):
        table = pyarrow.table({"a": np.arange(10.0) + k, "y": [0, 1] * 5})
        parquet.write_table(table, folder / f"{k}.parquet")
    assert again(folder)[1]
    assert not again(folder)[1]
    assert not again(f"{folder}/")[1]
    assert again(f"{folder}/*.parquet")[1]
    shutil.copy(folder / "0.parquet", folder / "9.parquet")
    whole, parsed = again(folder)
    assert parsed
    assert len(whole.batch.labels) == 40


def test_a_pattern_of_folders(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "rows.svm").write_text(SVM)
    whole, parsed = again(tmp_path / "*" / "rows.svm")
    assert parsed
    assert (tmp_path / f"__rows.svm{CACHE_ENDING}" / "about.json").is_file()
    same, parsed = again(tmp_path / "*" / "rows.svm")
    assert not parsed
    assert_equal(whole, same)


@pytest.mark.parametrize(
    ("name", "text"),
    [("rows.svm", "1,4 1:1\n 2:1\n4 1:2\n" * 30), ("rows.csv", "x,y\n1,a;b\n2,\n3,b\n" * 1)],
)
def test_several_labels_are_kept(tmp_path, name, text):
    path, options = tmp_path / name, {} if name.endswith("svm") else {"labels_separator": ";"}
    path.write_text(text)
    wanted = list(read_whole(make_reader(path, **options)).batch.labels)
    for _ in range(2):
        whole, _ = again(path, **options)
        assert list(whole.batch.labels) == wanted
    with pytest.raises(ValueError, match="The labels of the cache are damaged"):
        cache.read_label_sets(np.arange(3), np.array([2, 1, 3]))


@pytest.mark.parametrize("made_before", [True, False])
def test_another_run_may_replace_the_cache_meanwhile(tmp_path, monkeypatch, made_before):
    path = tmp_path / "rows.vw"
    path.write_text(VW)
    wanted = read_whole(make_reader(path, bits=8))
    if made_before:
        again(path, bits=8)
    checksums = cache.compute_checksums

    def overtaken(reader):
        monkeypatch.setattr(cache, "compute_checksums", checksums)
        again(path, bits=9)
        return checksums(reader)

    monkeypatch.setattr(cache, "compute_checksums", overtaken)
    assert_equal(wanted, again(path, bits=8)[0])
    assert [file.name for file in tmp_path.iterdir() if file.suffix == ".part"] == []
