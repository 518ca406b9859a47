"""Where bytes come from: files, streams and pipes, whole, cut short or refused."""

import io
import os
import threading

import pytest

from .samples import (
    NUMBERS,
    SVMLIGHT,
    TINY,
    VW,
    compressed,
    piped,
    read,
    readers_threads,
    refused,
    whole,
)

PACKINGS = [".gz", ".zst", ".bz2", ".xz", ".lz4"]


@pytest.mark.parametrize("how", PACKINGS)
def test_a_compressed_file_is_known_by_its_name_and_read(write, how):
    path = write("data.svm" + how, compressed(SVMLIGHT, how))
    assert whole(read(path)) == whole(read(write("data.svm", SVMLIGHT)))
    assert read(path).format == "svmlight"


@pytest.mark.parametrize("how", PACKINGS)
def test_a_compressed_file_that_is_cut_short_is_told(write, how):
    data = compressed(SVMLIGHT * 10, how)
    with pytest.raises(ValueError, match=r"cut short|damaged"):
        list(read(write("short.svm" + how, data[:-9])))
    if how in (".zst", ".lz4"):
        return  # damage that keeps its form shows in the rows: not every writer adds a checksum
    broken = data[: len(data) // 2] + b"\xff" * 9 + data[len(data) // 2 + 9 :]
    with refused("damaged"):
        list(read(write("broken.svm" + how, broken)))


def test_files_that_cannot_be_read_are_told_in_a_sentence(write, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^There is no file .*nowhere.csv\.$"):
        read(tmp_path / "nowhere.csv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="There is no file in"):
        read(tmp_path / "empty")
    with refused("empty"):
        read(write("empty.svm", b""))
    with refused("no-rows"):
        read(write("header.csv", "a,b,label\n"), header=True)
    with refused("unknown-format"):
        read(write("data.txt", "some words\n"))
    with refused("out-of-range"):
        read(write("data.svm", SVMLIGHT), format="yaml")
    with refused("folder"):
        read(write("empty/data.txt", SVMLIGHT).parent)
    with pytest.raises(ValueError, match="no column 'z'; there are: a, b, label, c"):
        read(write("data.csv", NUMBERS), label="z")
    with refused("same-names", column="a"):
        read(write("twice.csv", "a,a,y\n1,2,3\n"))
    with refused("damaged"):
        read(write("data.bin", SVMLIGHT), format="parquet")


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("name", "how"), [("data.svm", ".gz"), ("data.vw", ""), ("p.csv", ".xz")])
def test_several_files_are_read_as_one(write, tmp_path, name, how, threads):
    data, ending = TINY[name], name.split(".")[1]
    header = data[: data.index(b"\n") + 1] if ending == "csv" else b""
    body = data[len(header) :]
    for part in "abc":
        own = body if part != "b" else body.rstrip(b"\n")  # the last row lacks its newline
        write(f"parts/{part}.{ending}{how}", compressed(b"\xef\xbb\xbf" + header + own, how))
    write("parts/README", b"no data")
    expected = whole(read(write(name, header + body * 3)))
    files = [tmp_path / f"parts/{part}.{ending}{how}" for part in "abc"]
    for path in tmp_path / "parts", tmp_path / f"parts/*.{ending}{how}", files:
        reader = read(path, threads=threads, batch_bytes=999)
        assert whole(reader) == expected
        sizes = (sum(map(os.path.getsize, each)) for each in (reader.source.files, files))
        assert {*sizes} == {reader.size}


def test_errors_name_the_file_and_its_line(write, tmp_path):
    write("1.csv", "a,y\n" + "1,0\n2,1\n" * 50)
    broken = write("2.csv", "a,y\n1,0\nx,1\n")
    with refused("not-a-number", file=str(broken), line=3, column="a"):
        list(read(tmp_path / "*.csv"))
    other = write("2.csv", "y,a\n0,1\n")
    with refused("other-columns", file=str(other)):
        list(read(tmp_path / "*.csv"))
    write("2.csv", "a,y\n")
    assert len(whole(read(tmp_path / "*.csv"))[0]) == 100
    write("h/1.csv", "1,2,0\n3,4,1\n")
    write("h/2.csv", "5,6,0\n")
    assert whole(read(tmp_path / "h" / "?.csv"))[2] == [[1, 2], [3, 4], [5, 6]]


def test_an_open_file_is_read_from_where_it_stands_and_left_open():
    file = io.BytesIO(b"junk" + SVMLIGHT)
    file.seek(4)
    reader = read(file, format="svm")
    assert whole(reader) == whole(reader)
    assert not file.closed
    with refused("text-mode"):
        read(io.StringIO("1 1:1"), format="svm")


@pytest.mark.parametrize("how", ["", ".gz", ".zst"])
@pytest.mark.parametrize("kind", ["svmlight", "csv"])
def test_a_pipe_is_read_once(kind, how):
    data = {"svmlight": SVMLIGHT, "csv": NUMBERS.encode()}[kind]
    with piped(compressed(data, how)) as pipe:
        reader = read(pipe, format=kind)
        assert whole(reader) == whole(read(io.BytesIO(data), format=kind))
        with refused("read-once"):
            list(reader)


def test_a_row_may_be_long_but_not_endless(write, monkeypatch):
    long = b"1 " + b" ".join(b"%d:1" % i for i in range(1, 200_000))
    _, _, (row, *_) = whole(read(write("long.svm", long + b"\n1 1:1"), batch_bytes=9))
    assert len(row) == 199_999
    for module in "sources", "delimited":
        monkeypatch.setattr(f"rosenblatt.reading.{module}.LONGEST_ROW", 1 << 20)
    with refused("row-too-long", line=2, column=1):
        list(read(write("endless.svm", b"1 1:1\n" + long * 2), batch_bytes=9))
    with refused("row-too-long"):
        list(read(write("open.csv", 'text,y\na,b\nc,d\n"never closed,' + "x\n" * 3_000_000)))


def test_what_the_system_refuses_is_told_in_a_sentence(write, monkeypatch):
    path = write("data.svm", SVMLIGHT)

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(PermissionError, match=r"^.*data.svm could not be read: .* denied\.$"):
        read(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("name", ["data.svm", "data.vw", "data.csv", "p.csv"])
def test_a_named_pipe_is_read_once(tmp_path, name):
    os.mkfifo(tmp_path / name)
    writer = threading.Thread(target=(tmp_path / name).write_bytes, args=(TINY[name],))
    writer.start()
    reader = read(tmp_path / name)
    assert reader.size is None
    expected = whole(read(io.BytesIO(TINY[name]), format=name.split(".")[1]))
    assert whole(reader) == expected
    writer.join()
    with refused("read-once"):
        list(reader)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="this system has no endless file")
@pytest.mark.parametrize("kind", ["svmlight", "vw", "csv", "parquet"])
def test_an_endless_file_is_refused(monkeypatch, kind):
    for module in "sources", "delimited":
        monkeypatch.setattr(f"rosenblatt.reading.{module}.LONGEST_ROW", 1 << 20)
    with refused("no-file" if kind == "parquet" else "row-too-long"):
        list(read("/dev/zero", format=kind))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("buffering", [-1, 0])
def test_a_pipe_that_nobody_writes_to_can_be_left(buffering):
    end, start = os.pipe()
    with open(end, "rb", buffering=buffering) as pipe, open(start, "wb", buffering=0) as writer:
        writer.write(VW)
        batches = iter(read(pipe, format="vw", batch_bytes=100))
        next(batches)
        leaving = threading.Thread(target=batches.close, daemon=True)
        leaving.start()
        leaving.join(30)
        assert not leaving.is_alive()
        assert not readers_threads()
