"""Bodies become examples, with the text that is kept of each; what is broken is named."""

import json

import pytest

from rosenblatt.service.requests import (
    BadExampleError,
    RequestError,
    cut_texts,
    make_texts,
    parse_json,
    parse_values,
)

ROWS = [{"a": 1, "b": 'x, "y"'}, {"a": -2.5e3, "b": None}, {"b": "ü\n"}]


def values(body, kind="application/json", most=10):
    return parse_values(body if isinstance(body, bytes) else body.encode(), kind, most)


def test_json_is_one_object_or_a_list_of_them():
    assert values(json.dumps(ROWS[0])) == [ROWS[0]]
    for indent in (None, 2):
        found = values(json.dumps(ROWS, indent=indent))
        assert found == ROWS
        assert [*map(json.loads, make_texts(found))] == ROWS


def test_the_text_that_is_kept_says_the_same():
    body = b' [ {"a" : 1.50, "b": 123456789012345678901234567890, "c": -0.0, "a": 2, "d": 0.1} ] '
    (value,) = found = values(body)
    (text,) = make_texts(found)
    assert text == '{"a":2,"b":123456789012345678901234567890,"c":-0.0,"d":0.1}'
    assert repr(parse_json(text)) == repr(value)


def test_the_text_of_a_body_is_one_line_for_each_row():
    body = json.dumps(ROWS, indent=2, ensure_ascii=False).encode()
    found = cut_texts(body)
    assert [*map(json.loads, found)] == ROWS
    assert not [text for text in found if "\n" in text]
    assert [*map(json.loads, cut_texts(json.dumps(ROWS[0], indent=1).encode()))] == ROWS[:1]


def test_json_may_be_sent_as_curl_does():
    for kind in ("application/x-www-form-urlencoded", "application/json; charset=utf-8", ""):
        assert values(json.dumps(ROWS), kind) == ROWS


@pytest.mark.parametrize(
    ("body", "row", "sentence"),
    [
        ("", None, "invalid JSON .Input data was truncated"),
        ("[]", None, "no rows"),
        ("[{}, 3]", 2, "expected an object"),
        ('["a"]', 1, "expected an object"),
        ('[{"a": 1}, {"a": }]', None, "byte 17"),
        ('[{"a": 1} {"a": 2}]', None, "invalid JSON"),
        ('{"a": 1} x', None, "invalid JSON"),
        ('[{"a": 1}] x', None, "invalid JSON"),
        ('[{"a": NaN}]', None, "invalid JSON"),
        ('{"a": -Infinity}', None, "invalid JSON"),
        ("[" * 100_000, None, "nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", None, "out of range"),
        ('{"a": "\\ud800"}', None, "invalid JSON"),
        (b'{"a": "\xff"}', None, "not UTF-8"),
    ],
)
def test_what_is_malformed_is_named(body, row, sentence):
    with pytest.raises(BadExampleError, match=sentence) as error:
        values(body)
    assert error.value.row == row


def test_too_many_rows_and_other_kinds_are_refused():
    with pytest.raises(RequestError, match="at most 2 rows"):
        values("[{},{},{}]", most=2)
    for kind in ("text/html", "text/plain", "application/x-ndjson", "multipart/form-data; b=x"):
        with pytest.raises(RequestError, match="send application/json"):
            values("{}", kind)
