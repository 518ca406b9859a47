"""Lines of tokens are found in bytes."""

import numpy as np

from rosenblatt.sequence.kernels.conll import TokenLines, read_token_lines


def read(text, tabs=False, trees=False, columns=0, wanted=(0, 1)):
    """The wanted fields of each token, the sentences, and what the kernel returns."""
    data, count = np.frombuffer(text, np.uint8), text.count(b"\n") + 1
    room = [np.zeros((len(wanted), count), np.int64) for _ in range(2)]
    out = TokenLines(*room, *(np.zeros(count, np.int64) for _ in range(2)))
    n, sentences, *found = read_token_lines(data, tabs, trees, columns, np.array(wanted), out)
    fields = [
        [text[begin:end] if begin >= 0 else None for begin, end in zip(*each, strict=True)]
        for each in zip(out.begins[:, :n].T.tolist(), out.ends[:, :n].T.tolist(), strict=True)
    ]
    return fields, out.sentences[:sentences].tolist(), found


def test_fields_are_found_by_their_number():
    fields, sentences, found = read(b"-DOCSTART- O\n\nU.N. NNP B\r\nsays V\n\n \nYes UH O")
    assert fields == [[b"U.N.", b"NNP"], [b"says", b"V"], [b"Yes", b"UH"]]
    assert sentences == [2, 3]
    assert found == [2, 3, 4]  # fewest and most fields, and the first line with the fewest


def test_trees_have_comments_and_words_that_are_split():
    text = b"# text = im Haus\n1-2\tim\t_\n1\tin\tADP\n2\tdem\tDET\n2.1\tx\tX\n3\tHaus\tNOUN\n"
    fields, sentences, _ = read(text, tabs=True, trees=True, wanted=(1, 2))
    assert fields == [[b"in", b"ADP"], [b"dem", b"DET"], [b"Haus", b"NOUN"]]
    assert sentences == [3]


def test_a_comment_has_other_columns_or_an_equals_sign():
    text = b"# a = b\n# x\n# N\nword V\n"
    fields, *_ = read(text, columns=2)
    assert fields == [[b"#", b"x"], [b"#", b"N"], [b"word", b"V"]]
    fields, *_ = read(b"# note\nword V O\n", columns=3)
    assert fields == [[b"word", b"V"]]
    fields, *_ = read(b"a b\nc\n", wanted=(1,))  # an absent field begins at -1
    assert fields == [[b"b"], [None]]
