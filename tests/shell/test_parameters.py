"""Parameters that --set takes: their names, their values, and refusals."""

import pytest

from rosenblatt.shell.commands import CommandError
from rosenblatt.shell.parameters import parse_settings, table_for_training


def test_values_have_the_types_of_python():
    words = ["C=1", "r=0.5", "order=fixed", "scale=none", "budget=None", "aggressive=False"]
    words += ["ngrams=1-2", "fit-intercept=true"]
    table = {**table_for_training(), "budget": table_for_training()["bits"]}
    assert parse_settings(words, table) == {
        "C": 1,
        "r": 0.5,
        "order": "fixed",
        "scale": "none",
        "budget": None,
        "aggressive": False,
        "ngrams": "1-2",
        "fit_intercept": True,
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["margin"], "--set margin must be NAME=VALUE."),
        (["margn=1"], "There is no parameter margn to set. Did you mean margin?"),
        (["max_iter=3"], "max_iter is set by --epochs."),
        (["rule=pa"], "rule is set by --rule."),
        (["C=1", "C=2"], "--set C is given twice; leave one out."),
    ],
)
def test_other_words_are_refused(words, said):
    with pytest.raises(CommandError) as refusal:
        parse_settings(words, table_for_training())
    assert str(refusal.value) == said
