"""Bodies become examples, with the text that is kept of each; what is broken is named."""

import json

import pytest

from rosenblatt.service.requests import (
    BadExampleError,
    TooManyRowsError,
    UnknownTypeError,
    examples_in,
)

ROWS = [{"a": 1, "b": 'x, "y"'}, {"a": -2.5e3, "b": None}, {"b": "ü\n"}]


def values(body, kind="application/json", most=10, of_lines=False):
    body = body if isinstance(body, bytes) else body.encode()
    return [one.value for one in examples_in(body, kind, most, of_lines)]


def test_json_is_one_object_or_a_list_of_them():
    assert values(json.dumps(ROWS[0])) == [ROWS[0]]
    for indent in (None, 2):
        found = examples_in(json.dumps(ROWS, indent=indent).encode(), "application/json", 9, False)
        assert [one.value for one in found] == ROWS
        assert [json.loads(one.text) for one in found] == ROWS


def test_the_text_that_is_kept_is_the_text_that_came():
    (one,) = examples_in(b' [ {"a" : 1.50 } ] ', "application/json", 9, False)
    assert one.text == '{"a" : 1.50 }'


def test_lines_of_json():
    body = "\n".join(map(json.dumps, ROWS)) + "\n\n"
    for kind in ("application/x-ndjson", "application/jsonl; charset=utf-8"):
        assert values(body, kind) == ROWS


def test_csv_has_a_line_of_names_and_words():
    body = 'a,b\n1,"x, ""y"""\n\n-2.5e3,\n'
    assert values(body, "text/csv") == [{"a": "1", "b": 'x, "y"'}, {"a": "-2.5e3", "b": ""}]


def test_lines_of_text_are_for_models_of_lines():
    assert values("1 | a b\n\n0 | c\r\n", "text/plain", of_lines=True) == ["1 | a b", "0 | c"]
    assert values('["1 | a"]', of_lines=True) == ["1 | a"]
    with pytest.raises(UnknownTypeError, match="send application/json"):
        values("1 | a", "text/plain")


@pytest.mark.parametrize(
    ("body", "kind", "row", "sentence"),
    [
        ("", "application/json", None, "not JSON from line 1"),
        ("[]", "application/json", None, "no rows"),
        ("[{}, 3]", "application/json", 2, "not an object"),
        ('["a"]', "application/json", 1, "not an object"),
        ('[{"a": 1}, {"a": }]', "application/json", 2, "line 1, character 18"),
        ('[{"a": 1} {"a": 2}]', "application/json", 1, "not JSON"),
        ('{"a": 1} x', "application/json", None, "not JSON"),
        ('[{"a": 1}] x', "application/json", None, "not JSON"),
        ('[{"a": NaN}]', "application/json", 1, "no NaN"),
        ('{"a": -Infinity}', "application/json", None, "no -Infinity"),
        ("[" * 100_000, "application/json", 1, "nested"),
        ('{"a": ' + "9" * 5000 + "}", "application/json", None, "too many digits"),
        (b'{"a": "\xff"}', "application/json", None, "not UTF-8 .byte 8"),
        ('{"a": 1}\n{"a"\n', "application/x-ndjson", 2, "not JSON"),
        ('{"a": 1} {"a": 2}\n', "application/x-ndjson", 1, "follows"),
        ("a,b\n1,2\n1\n", "text/csv", 2, "1 cells"),
        ("a,a\n1,2\n", "text/csv", None, "twice"),
        ("a,b\n", "text/csv", None, "no rows"),
        ('a,b\n1,"2', "text/csv", 2, "malformed"),
    ],
)
def test_what_is_malformed_is_named(body, kind, row, sentence):
    with pytest.raises(BadExampleError, match=sentence) as error:
        values(body, kind)
    assert error.value.row == row


def test_too_many_rows_and_other_kinds_are_refused():
    with pytest.raises(TooManyRowsError, match="at most 2 rows"):
        values("[{},{},{}]", most=2)
    for kind in ("text/html", "application/xml", "multipart/form-data; boundary=x"):
        with pytest.raises(UnknownTypeError):
            values("{}", kind)
    with pytest.raises(UnknownTypeError, match="UTF-8"):
        values("{}", "application/json; charset=latin-1")
