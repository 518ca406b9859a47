"""Taggers with too many tags are refused."""

import pytest

from rosenblatt import SequencePerceptron
from rosenblatt.parameters import ParameterError


def test_a_tagger_of_too_many_tags_is_refused():
    words = [[f"w{i}" for i in range(4200)]]
    with pytest.raises(ParameterError, match="4,200 tags would need") as found:
        SequencePerceptron().fit(words, words)
    assert found.value.code == "too-many-tags"
