"""Figures of tags; chunks are counted as conlleval counts them."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rosenblatt.sequence.evaluation import evaluate_tags

TAGS = st.sampled_from(["O", "B-A", "I-A", "B-B", "I-B"])


def conlleval(sentences):
    """Counts of chunks found, wanted and right, by the loop of conlleval 1.5 for IOB tags."""
    found = wanted = right = 0
    for sentence in sentences:
        inside, before = False, (("O", ""), ("O", ""))
        for pair in [*sentence, ("O", "O")]:
            tags = tuple((tag[0], tag[2:]) for tag in pair)
            ends = [end_of_chunk(*before[k], *tags[k]) for k in (0, 1)]
            starts = [start_of_chunk(*before[k], *tags[k]) for k in (0, 1)]
            if inside:
                if ends[0] and ends[1] and before[0][1] == before[1][1]:
                    inside, right = False, right + 1
                elif ends[0] != ends[1] or tags[0][1] != tags[1][1]:
                    inside = False
            if starts[0] and starts[1] and tags[0][1] == tags[1][1]:
                inside = True
            found, wanted, before = found + starts[0], wanted + starts[1], tags
    return found, wanted, right


def end_of_chunk(letter_before, kind_before, letter, kind):
    if letter_before == "O":
        return False
    return letter in "BO" or kind != kind_before


def start_of_chunk(letter_before, kind_before, letter, kind):
    if letter == "O":
        return False
    return letter == "B" or letter_before == "O" or kind != kind_before


@given(
    sentences=st.lists(
        st.lists(st.tuples(TAGS, TAGS), min_size=1, max_size=9), min_size=1, max_size=4
    )
)
@settings(deadline=None)
def test_chunks_are_those_of_conlleval(sentences):
    found = [one for sentence in sentences for one, _ in sentence]
    wanted = [other for sentence in sentences for _, other in sentence]
    starts = np.cumsum([0, *map(len, sentences)])
    result = evaluate_tags(found, wanted, starts, np.ones(len(found), bool))
    if result.chunks is None:
        assert {*found, *wanted} == {"O"}
    else:
        assert result.chunks[""][4:] == conlleval(sentences)
        kinds = [result.chunks[kind][4:] for kind in result.chunks if kind]
        assert result.chunks[""][4:] == tuple(map(sum, zip(*kinds, strict=True)))


def test_tokens_tags_and_unknown_words():
    found, wanted = ["A", "A", "B", "B"], ["A", "B", "B", "C"]
    known = np.array([True, False, False, True])
    result = evaluate_tags(found, wanted, np.array([0, 4]), known)
    assert (result.tokens, result.right, result.unknown_words, result.unknown_right) == (4, 2, 2, 1)
    assert result.accuracy == 0.5
    assert result.chunks is None
    scores = {one.label: one for one in result.by_tag}
    assert scores["A"].precision == 0.5
    assert scores["A"].recall == 1
    assert scores["B"].f1 == 0.5
    assert scores["C"].f1 == 0
    assert result.as_dict()["unknown_errors"] == 1


def test_precision_recall_and_f1_of_chunks():
    result = evaluate_tags(["B-X", "O"], ["B-X", "B-X"], np.array([0, 2]), np.ones(2, bool))
    score = result.chunks[""]
    assert (score.precision, score.recall) == (1, 0.5)
    assert score.f1 == pytest.approx(2 / 3)
    assert result.as_dict()["chunks"][0]["right"] == 1
