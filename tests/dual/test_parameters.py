"""Parameters of kernel perceptrons that do not go together."""

import pytest

from rosenblatt.dual.parameters import PARAMETERS, check_parameters
from rosenblatt.parameters import ParameterError, defaults


@pytest.mark.parametrize(
    ("code", "where", "parameters"),
    [
        ("normalize-vote", (), {"normalize": True, "solution": "vote"}),
        ("budget-rows", (), {"budget": 3, "solution": "vote"}),
        ("budget-rows", (), {"budget": 3, "normalize": True}),
        ("batch-kernel", ("batch",), {"kernel": "precomputed"}),
        ("batch-intercept-step", ("batch",), {"intercept_step": "radius"}),
        ("out-of-range", (), {"budget": 0}),
    ],
)
def test_what_does_not_go_together_is_refused_in_a_sentence(code, where, parameters):
    plain = defaults(PARAMETERS)
    check_parameters(plain, *where)
    with pytest.raises(ParameterError, match=r"\.$") as refusal:
        check_parameters(plain | parameters, *where)
    assert refusal.value.code == code
