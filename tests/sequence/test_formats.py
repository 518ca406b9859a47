"""Files of sentences are read with their lines, and written back with other tags."""

import gzip

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rosenblatt.reading.sources import Source
from rosenblatt.sequence import formats
from rosenblatt.sequence.formats import Layout, read_pieces, read_tagged

TREE = """# text = I can't
1\tI\tI\tPRON\tPRP\t_\t2\tnsubj\t_\t_
2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\t_
2\tca\tcan\tAUX\tMD\t_\t0\troot\t_\t_
3\tn't\tnot\tPART\tRB\t_\t2\tadvmod\t_\t_
3.1\tgo\tgo\tVERB\tVB\t_\t_\t_\t_\t_

# text = Ja
1\tJa\tja\tINTJ\tUH\t_\t0\troot\t_\t_
"""
COLUMNS = "-DOCSTART- -X- O\n\nHe PRP B-NP\nwent VBD B-VP\r\n\n\n# NN B-NP\n"


def fill_tags(file, tags):
    names = sorted(set(tags))
    return formats.fill_tags(file, names, np.array([names.index(tag) for tag in tags]))


def whole(path, kind):
    return next(read_pieces(Source(path), kind, 1 << 20))


def find_layout(path, kind, label):
    return formats.find_layout(whole(path, kind), kind, label)


def read(path, layout, with_tags=True):
    piece, columns = whole(path, layout.format), ("word", "pos", "column2")
    return read_tagged(piece, layout, columns[: len(layout.fields)], with_tags)


def words(file):
    column = file.sentences.columns["word"]
    texts = column.strings.texts()
    return [texts[number] for number in column.types]


@pytest.mark.parametrize("label", ["upos", "xpos", "UPOS", "3"])
def test_trees_have_words_of_whole_numbers(tmp_path, label):
    path = tmp_path / "a.conllu"
    path.write_text(TREE)
    layout = find_layout(str(path), "conllu", label)
    file = read(path, layout)
    assert words(file) == ["I", "ca", "n't", "Ja"]
    assert file.sentences.starts.tolist() == [0, 3, 4]
    universal = ["PRON", "AUX", "PART", "INTJ"]
    assert file.tags.texts() == (["PRP", "MD", "RB", "UH"] if label == "xpos" else universal)
    assert fill_tags(file, file.tags.texts()) == TREE.encode()
    others = fill_tags(file, ["A", "BB", "C", "D"]).decode()
    assert others.splitlines()[1].split("\t")[layout.label] == "A"
    assert others.splitlines()[2].split("\t")[layout.label] == "_"
    assert others.splitlines()[3].split("\t")[layout.label] == "BB"


def test_columns(tmp_path):
    path = tmp_path / "a.conll.gz"
    path.write_bytes(gzip.compress(COLUMNS.encode()))
    layout = find_layout(str(path), "conll", None)
    assert layout == Layout("conll", (0, 1), 2)
    file = read(path, layout)
    assert words(file) == ["He", "went", "#"]
    assert file.sentences.starts.tolist() == [0, 2, 3]
    assert fill_tags(file, ["X", "Y", "Z"]) == COLUMNS.encode().replace(b"B-NP", b"X", 1).replace(
        b"B-VP", b"Y"
    ).replace(b"B-NP", b"Z")
    assert find_layout(str(path), "conll", "1") == Layout("conll", (0,), 1)


def test_comments_before_sentences_of_columns(tmp_path):
    path = tmp_path / "a.conll"
    text = "\ufeff# two words\n# id = 1\nHe PRP x B-NP\n# NN y I-NP\n\n# b\n# NN y B-NP\n"
    path.write_text(text)
    file = read(path, find_layout(str(path), "conll", None))
    assert words(file) == ["He", "#", "#"]
    assert file.sentences.starts.tolist() == [0, 2, 3]
    assert fill_tags(file, file.tags.texts()).decode() == text.removeprefix("\ufeff")


def test_a_column_of_tags_is_added_where_there_is_none(tmp_path):
    path = tmp_path / "a.conll"
    path.write_text("He PRP\nwent VBD\n\nI PRP")
    file = read(path, Layout("conll", (0, 1), 2), with_tags=False)
    assert fill_tags(file, ["A", "B", "C"]) == b"He PRP A\nwent VBD B\n\nI PRP C"


def test_words_with_their_tags(tmp_path):
    path = tmp_path / "a.tagged"
    path.write_text("1/2/NUM dog/NOUN\n\nJa/INTJ\n")
    layout = find_layout(str(path), "tagged", None)
    file = read(path, layout)
    assert words(file) == ["1/2", "dog", "Ja"]
    assert file.tags.texts() == ["NUM", "NOUN", "INTJ"]
    assert fill_tags(file, ["A", "B", "C"]) == b"1/2/A dog/B\n\nJa/C\n"
    text = tmp_path / "a.txt"
    text.write_text("a  dog\nJa")
    plain = read(text, Layout("text", (0,), 1), with_tags=False)
    assert fill_tags(plain, ["A", "B", "C"]) == b"a/A dog/B\nJa/C"


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("a b\nc\n", "conll", "line 2: 1 columns, where 2 are needed"),
        ("a\nb\n", "conll", "one column only"),
        ("1\ta\n", "conllu", "line 1: 2 columns, where 10 are needed"),
        ("a/A b\n", "tagged", "line 1: expected word/TAG, got 'b'"),
        ("a b\n", "text", "plain text"),
        ("a b\nc d e\n", "conll", "line 1: 2 columns, where 3 are needed"),
        ("\n", "conll", "has no tokens"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path, text, kind, words):
    path = tmp_path / "a"
    path.write_text(text)
    with pytest.raises(ValueError, match=words):
        read(path, find_layout(str(path), kind, None))


def test_other_refusals(tmp_path):
    path = tmp_path / "a.conll"
    path.write_bytes(b"a A\n\xff B\n")
    with pytest.raises(ValueError, match="line 2: the byte 0xff is not UTF-8; use the enc"):
        read(path, find_layout(str(path), "conll", None))
    with pytest.raises(ValueError, match="no column of tags 7; label may be numbers from 1 to 1"):
        find_layout(str(path), "conll", "7")
    with pytest.raises(ValueError, match="no column of tags pos; label may be lemma, upos"):
        find_layout(str(path), "conllu", "pos")


@pytest.mark.parametrize(
    ("text", "kind"),
    [(TREE, "conllu"), (COLUMNS, "conll"), (COLUMNS.replace("\n", "\r\n"), "conll")],
)
@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_pieces_are_whole_sentences(tmp_path, text, kind, size):
    path = tmp_path / "a"
    path.write_bytes(text.encode())
    pieces = list(read_pieces(Source(path), kind, size))
    assert b"".join(piece.data for piece in pieces) == text.encode()
    layout = find_layout(path, kind, None)
    found = [read_tagged(piece, layout, ("word", "pos"), with_tags=False) for piece in pieces]
    assert [word for file in found for word in words(file)] == words(read(path, layout))
    lengths = [np.diff(file.sentences.starts).tolist() for file in found]
    wanted = np.diff(read(path, layout).sentences.starts).tolist()
    assert [length for some in lengths for length in some] == wanted
    counts = np.cumsum([0, *(piece.data.count(b"\n") for piece in pieces)])
    assert [piece.lines_before for piece in pieces] == counts[:-1].tolist()


def test_an_error_in_a_later_piece_has_its_line(tmp_path):
    path = tmp_path / "a.conll"
    path.write_text("a A\n\n" * 20 + "b\n")
    *_, last = read_pieces(Source(path), "conll", 10)
    with pytest.raises(ValueError, match="line 41: 1 columns, where 2 are needed"):
        read_tagged(last, Layout("conll", (0,), 1), ("word",), with_tags=True)


@given(text=st.text(st.sampled_from("ab/é東 \t\n\r\u3000\xa0\x1c\u2009’"), max_size=30))
def test_blanks_are_those_of_python(text):
    words, starts = formats.split_words(text.encode())
    lines = [line.split() for line in text.split("\n")]
    assert words.texts() == [word for line in lines for word in line]
    assert np.diff(starts).tolist() == [len(line) for line in lines]
