"""Chunks written as tags, and found again."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rosenblatt.parameters import defaults
from rosenblatt.sequence.parameters import PARAMETERS
from rosenblatt.sequence.schemes import find_tag_set, split_chunk_tags


def scheme_of(names, codes, starts):
    found = find_tag_set(defaults(PARAMETERS), np.array(names), codes, starts)
    return found.scheme and (found, found.inside(codes, starts))


CHUNKS = st.lists(
    st.lists(st.tuples(st.sampled_from(["", "NP", "VP"]), st.integers(1, 3)), max_size=6),
    min_size=1,
    max_size=6,
)


def tag_names(sentence, scheme):
    """The tags of chunks (kind, length), in a scheme; those without a kind are outside."""
    tags, before = [], ""
    for kind, length in sentence:
        if not kind:
            tags += ["O"] * length
        elif scheme == "IOB1":
            tags += [("B-" if before == kind else "I-") + kind, *["I-" + kind] * (length - 1)]
        elif scheme == "IOB2":
            tags += ["B-" + kind, *["I-" + kind] * (length - 1)]
        else:
            first, inside, last, single = scheme
            middle = [f"{inside}-{kind}"] * (length - 2)
            several = [f"{first}-{kind}", *middle, f"{last}-{kind}"]
            tags += [f"{single}-{kind}"] if length == 1 else several
        before = kind
    return tags


@pytest.mark.parametrize("scheme", ["IOB1", "IOB2", "BIES", "BILU"])
@given(sentences=CHUNKS)
@settings(deadline=None, max_examples=60)
def test_schemes_are_recognised_and_written_back(scheme, sentences):
    tagged = [tag_names(sentence, scheme) for sentence in sentences]
    flat = [tag for tags in tagged for tag in tags]
    if not any("-" in tag for tag in flat):
        return
    names = sorted(set(flat))
    codes = np.array([names.index(tag) for tag in flat])
    starts = np.concatenate([[0], np.cumsum([len(tags) for tags in tagged])])
    found = scheme_of(names, codes, starts)
    assert found is not None
    known, inner = found
    assert known.outside(inner, starts).tolist() == codes.tolist()
    expected = [tag for sentence in sentences for tag in tag_names(sentence, "BIES")]
    assert [known.names[code] for code in inner] == expected
    moves, last = known.forbidden()
    for first, end in pairwise(starts):
        path = [len(known.names), *inner[first:end]]
        assert not any(moves[p, t] for p, t in pairwise(path))
        assert first == end or not last[path[-1]]


def test_other_tags_are_no_chunks():
    assert split_chunk_tags(["NOUN", "O"]) is None
    assert split_chunk_tags(["B-NP", "I_NP", "O"]) is None
    assert split_chunk_tags(["O"]) is None
    tags = ["B-A", "I-B", "O"]  # IOB2 has no I-B after B-A, and IOB1 no B-A after O
    assert scheme_of(tags, np.array([0, 1, 2, 0]), np.array([0, 4])) is None


def test_few_odd_tags_are_read_as_conlleval_does(caplog):
    tags = ["B-A", "I-A", "O"]
    codes = np.array([0, 1, 2] * 100 + [1, 1, 2])  # the last chunk begins with I
    scheme, inner = scheme_of(tags, codes, np.array([0, 303]))
    assert scheme.scheme == "IOB2"
    assert [scheme.names[code] for code in inner[-3:]] == ["B-A", "E-A", "O"]
    assert "1 tags violate the scheme IOB2" in caplog.text
