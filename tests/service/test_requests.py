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


def values(body, kind="application/json", most=10, of_lines=False):
    body = body if isinstance(body, bytes) else body.encode()
    return parse_values(body, kind, most, of_lines)


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


def test_lines_of_json():
    body = "\n".join(map(json.dumps, ROWS)) + "\n\n"
    for kind in ("application/x-ndjson", "application/jsonl; charset=utf-8"):
        assert values(body, kind) == ROWS
    assert values(json.dumps(ROWS), "application/x-www-form-urlencoded") == ROWS  # of curl -d


def test_lines_of_text_are_for_models_of_lines():
    assert values("1 | a b\n\n0 | c\r\n", "text/plain", of_lines=True) == ["1 | a b", "0 | c"]
    assert values('["1 | a"]', of_lines=True) == ["1 | a"]
    with pytest.raises(RequestError, match="send application/json"):
        values("1 | a", "text/plain")


@pytest.mark.parametrize(
    ("body", "kind", "row", "sentence"),
    [
        ("", "application/json", None, "invalid JSON .Input data was truncated"),
        ("[]", "application/json", None, "no rows"),
        ("[{}, 3]", "application/json", 2, "expected an object"),
        ('["a"]', "application/json", 1, "expected an object"),
        ('[{"a": 1}, {"a": }]', "application/json", None, "byte 17"),
        ('[{"a": 1} {"a": 2}]', "application/json", None, "invalid JSON"),
        ('{"a": 1} x', "application/json", None, "invalid JSON"),
        ('[{"a": 1}] x', "application/json", None, "invalid JSON"),
        ('[{"a": NaN}]', "application/json", None, "invalid JSON"),
        ('{"a": -Infinity}', "application/json", None, "invalid JSON"),
        ("[" * 100_000, "application/json", None, "nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "application/json", None, "out of range"),
        ('{"a": "\\ud800"}', "application/json", None, "invalid JSON"),
        (b'{"a": "\xff"}', "application/json", None, "not UTF-8 .byte 8"),
        ('{"a": 1}\n{"a"\n', "application/x-ndjson", 2, "invalid JSON"),
        ('{"a": 1} {"a": 2}\n', "application/x-ndjson", 1, "trailing characters .byte 10"),
    ],
)
def test_what_is_malformed_is_named(body, kind, row, sentence):
    with pytest.raises(BadExampleError, match=sentence) as error:
        values(body, kind)
    assert error.value.row == row


def test_too_many_rows_and_other_kinds_are_refused():
    with pytest.raises(RequestError, match="at most 2 rows"):
        values("[{},{},{}]", most=2)
    for kind in ("text/html", "application/xml", "multipart/form-data; boundary=x"):
        with pytest.raises(RequestError):
            values("{}", kind)
    with pytest.raises(RequestError, match="UTF-8"):
        values("{}", "application/json; charset=latin-1")
