"""Notices: what a reader did to a file that a person might not expect."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..data.results import count

SENTENCES = {
    "queries": "The query numbers (qid) are not used.",
    "bases": "The base predictions after the importance are not used.",
    "bits": "The columns are numbers and not hashed: bits is not used.",
    "labels": "Rows may have several labels: each label is trained as a separate problem.",
    "label-other": "The label is {name!r}: the column {other!r} has one value, or too many "
    "different ones to be classes. Use label to choose a column.",
    "label-guessed": "The label is taken to be {name!r}; the next guess is {other!r}. Use label to "
    "choose it.",
    "label-separated": "Cells of the label {name!r} look like several labels each: {values:,} "
    "different ones in the first rows. Use labels_separator={separator!r} to learn each label.",
    "label-values": "The label {name!r} holds too many different values to be classes: "
    "{values:,} in the first rows. Each is learnt as a class. Use label to choose another column, "
    "or labels_separator where a cell has several labels.",
    "label-numbers": "The label {name!r} is learnt as numbers: {values:,} different ones in the "
    "first rows. Use numbers=False to learn classes.",
    "label-classes": "The label {name!r} is learnt as classes: {values:,} different numbers in the "
    "first rows. Use numbers=True to learn numbers.",
    "label-order": "The labels of {name!r} may have an order. Use ordinal to learn ranks, which "
    "makes errors smaller, if not always fewer.",
    "label-alike": "Labels of {name!r} differ only in case or blanks ({words}) and are different "
    "classes; write them in one way if they are not.",
    "label-na": "The label {name!r} is missing where it is {word!r}.",
    "label-missing": "{rows} without a label left out.",
    "missing-zero": "Missing numbers count as 0.",
    "missing-mean": "Missing numbers count as the mean of their column.",
    "missing-flag": "An extra feature marks the missing numbers of {names}.",
    "index": "The index of the data frame ({names}) is not used; make it a column to learn from "
    "it.",
    "column": "The column {name!r} is not used: it has neither numbers, strings nor dates.",
    "words-slips": "The column {name!r} is taken as numbers, though a few of its first {cells:,} "
    "cells are not ({words}); rows with such cells are broken.",
    "words-category": "The column {name!r} has words among its numbers ({words}) and is taken as a "
    "category.",
    "words-dates": "The column {name!r} has dates, and cells that are not dates of the same form "
    "({words}), and is taken as a category; write these like the others, or leave them empty, to "
    "have it taken as dates.",
    "numbers": "The column {name!r} is taken as numbers: {cell!r} is read as {number:.12g}.",
    "numbers-label": "The label {name!r} is read as plain numbers: {cell!r} is {number:.12g}.",
    "numbers-mixed": "The column {name!r} has numbers that are written in several ways ({words}) "
    "and is taken as a category; write them in one way to have it taken as numbers.",
    "codes-zeros": "The column {name!r} has leading zeros ({cell!r}) and is taken as a category; "
    "write its numbers without them to have it taken as numbers.",
    "words-short": "The column {name!r} has mostly different cells of a few words and is taken as "
    "a category; use text to learn its words, text={name}:c1-5 for its characters, or ignore.",
    "dates": "The column {name!r} is taken as dates{form}: {parts}, and the time as a number.",
    "text": "The column {name!r} is taken as text: most cells differ and have several words.",
    "header": "The first row is taken as names and left out; the model knows columns by number.",
    "delimiter": "The cells are divided by {delimiter!r}.",
    "scale-first-rows": "Numbers are scaled by the first {rows:,} rows, as a pipe is read once.",
    "scale-maxabs": "The sizes of columns differ widely, so each is divided by its largest number.",
}
"""What notices say, by code; what is before the hyphen is their kind."""


class Notice(NamedTuple):
    """Something that a reader ignored or decided: a code for programs, a sentence for people."""

    code: str
    sentence: str
    column: str = ""  # that it is about

    @property
    def kind(self) -> str:
        """What the notice is about: the code up to its hyphen."""
        return self.code.partition("-")[0]

    def __str__(self) -> str:
        return self.sentence


def make_notice(code: str, **values: Any) -> Notice:
    """Fill in the sentence of a notice.

    >>> str(make_notice("delimiter", delimiter=";"))
    "The cells are divided by ';'."
    """
    return Notice(code, SENTENCES[code].format(**values), str(values.get("name", "")))


def list_words(words: Sequence[str], most: int = 3) -> str:
    """Quote the first few words, and show that there are more.

    >>> list_words(["a", "b", "c", "d"])
    "'a', 'b', 'c', …"
    """
    shown = ", ".join(repr(word[:40]) for word in words[:most])
    return shown + (", …" if len(words) > most else "")


def left_out(bad: int) -> str:
    """Say how many broken rows were left out.

    >>> left_out(1)
    '1 broken row left out.'
    """
    return f"{count(bad, 'broken row')} left out."
