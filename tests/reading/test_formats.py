"""What a file is: told by its name, its first bytes or its lines."""

import io

import pandas as pd
import pytest

from .samples import NUMBERS, SVMLIGHT, VW, notices, read, refused, whole


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (SVMLIGHT, "svmlight"),
        (b"+1 3:1 11:1 \n-1 5:1 7:1\n", "svmlight"),
        (b"1 3:1\n2 5:.5e-3\n3\n", "svmlight"),
        (VW, "vw"),
        (b"-1 |f 9:6.2e-02 14:0.5\n+1 2 'a|b:2 c\n0 |f 3\n", "vw"),
        (NUMBERS.encode(), "csv"),
        (b"a;b;y\n1;2;0\n", "csv"),
    ],
)
def test_the_lines_tell_where_the_name_does_not(write, data, kind):
    reader = read(write("data", data))
    assert reader.format == kind
    assert whole(reader) == whole(read(io.BytesIO(data), format=kind))
    assert read(write("data.csv.bak", data)).format == kind
    assert read(io.BytesIO(data)).format == kind


def test_parquet_and_arrow_are_known_by_their_marks(write):
    frame = pd.read_csv(io.StringIO(NUMBERS))
    expected = whole(read(io.BytesIO(NUMBERS.encode())))
    for kind in "parquet", "arrow":
        reader = read(write("bare", write("data." + kind, frame).read_bytes()))
        assert reader.format == kind
        assert whole(reader) == expected


@pytest.mark.parametrize("data", [b"one\ntwo words\n", b"\0\1\2", b"a b\nc d e\n", b"# 1\n"])
def test_what_tells_nothing_is_to_be_stated(write, data):
    with refused("unknown-format"):
        read(write("data", data))


def test_a_model_tells_what_its_rows_are():
    text = b"text,y\nsome words,1\nother words,0\n"
    features = read(io.BytesIO(text), text="text").features()
    assert len(whole(read(io.BytesIO(b"text\nsome words\n"), features=features))[2]) == 1
    zero = read(io.BytesIO(b"1 0:1 1:1\n")).features()
    assert whole(read(io.BytesIO(b"1:1\n"), features=zero, label=False))[2] == [[(1, 1)]]


def test_files_of_sentences_are_refused_with_the_format_to_state(write, tmp_path):
    write("s.conllu.gz", b"1\tdogs\tdog\tNOUN\n\n")
    with refused("format-not-rows") as caught:
        read(tmp_path / "s.conllu.[gx]z")
    assert "use format='conllu'" in str(caught.value)


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_delimiters_are_found(write, delimiter):
    expected = whole(read(io.BytesIO(NUMBERS.encode())))
    text = NUMBERS.replace(",", delimiter)
    for name in "data.csv", "data.tsv", "data":
        reader = read(write(name, text))
        assert whole(reader) == expected
        usual = delimiter == "\t" and name == "data.tsv"
        assert notices(reader) == ([] if usual else ["delimiter"])
    features = reader.features()
    more = text.split("\n", 3)[0] + "\n1,2,3,4\n".replace(",", delimiter)
    again = read(write("again", more), features=features)
    assert whole(again) == ([3], [], [[1, 2, 4]])


def test_delimiters_within_cells_are_not_found():
    text = "text,y\n" + "a; b; c,1\nd; e,0\n" * 5
    assert read(io.BytesIO(text.encode())).features()["delimiter"] == ","
    text = "text;y\n" + "a, b, c;1\nd, e;0\n" * 5
    assert read(io.BytesIO(text.encode()), format="csv").features()["delimiter"] == ";"
    text = "text,y\n" + "many words here,1\n" * 5 + "a broken, row,1\n"
    with refused("cell-count", line=7):
        list(read(io.BytesIO(text.encode()), format="csv"))


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "cp1252", "utf-8"])
def test_text_of_another_encoding(write, encoding):
    text = "Größe,y\nschön,1\nblöd,0\n"
    plain = read(write("plain.csv", text), names=9)
    reader = read(write("data.csv", text.encode(encoding)), encoding=encoding, names=9)
    assert whole(reader) == whole(plain)
    assert sorted(reader.names.values()) == ["Größe=blöd", "Größe=schön"]
    again = read(write("data.csv", text.encode(encoding)), features=reader.features())
    assert whole(again) == whole(plain)


def test_an_encoding_that_is_wrong_or_no_use_is_told(write, tmp_path):
    utf8 = write("data.csv", "c,y\nschön,1\nred,0\n" * 3)
    latin = write("latin.csv", ("c,y\n" + "schön,1\nred,0\n" * 3).encode("latin-1"))
    assert not read(latin, encoding="latin-1").notices
    for encoding in "hex", "martian":
        with refused("encoding"):
            read(utf8, encoding=encoding)
    with refused("encoding"):
        list(read(latin, encoding="ascii"))
    with refused("encoding"):
        read(write("wide.csv", "c,y\nred,1\n".encode("utf-16")))
    for encoding in "nope", "latin-1":
        with pytest.raises(ValueError, match="encoding"):
            read([{"x": 1, "y": 0}], label="y", encoding=encoding)


def test_an_unknown_format_is_told_with_those_of_sentences(write):
    for path in write("data.csv", "a,y\n1,0\n"), write("data.txt", "some words\n"):
        with pytest.raises(ValueError, match="sentences conllu, conll, tagged"):
            read(path, format="docx" if path.suffix == ".csv" else None)


def test_a_model_of_names_wants_names(write):
    path = write("data.csv", "a,b,y\n1,2,u\n3,4,v\n")
    model = read(path).features()
    with refused("no-column", column="a"):
        read(path, features=model, header=False)


def test_a_zip_archive_is_refused(write):
    with refused("zip"):
        read(write("data.csv.zip", b"PK\x03\x04" + NUMBERS.encode()))
