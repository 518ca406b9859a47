import pytest

from rosenblatt.sequence.templates import format_template, make_default_templates, parse_template

COLUMNS = ("word", "pos")


@pytest.mark.parametrize(
    "text",
    ["bias", "word[-1]", "suffix3[0]", "pos[0]|pos[1]", "prefix2(pos)[2]", "lexicon[-1]|word[0]"],
)
def test_templates_are_written_as_they_are_read(text):
    assert format_template(parse_template(text, COLUMNS)) == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("word", "cannot be parsed"),
        ("word[x]", "cannot be parsed"),
        ("lemma[0]", "neither a column"),
        ("suffix[0]", "neither a column"),
        ("lower3[0]", "neither a column"),
        ("lower(lemma)[0]", "neither a column"),
        ("word[101]", "over 100 tokens"),
        ("word[0]||pos[0]", "cannot be parsed"),
    ],
)
def test_what_is_no_template_is_named(text, words):
    with pytest.raises(ValueError, match=words):
        parse_template(text, COLUMNS)


def test_usual_templates_are_read_back():
    for columns in (("word",), ("form", "pos", "column2")):
        for template in make_default_templates(columns):
            assert parse_template(format_template(template), columns) == template
