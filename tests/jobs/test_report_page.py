"""Reports as pages: escaped, complete for every kind of model, and rows matched with care."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from rosenblatt.data.targets import RowError
from rosenblatt.jobs.data import open_like
from rosenblatt.jobs.evaluate import evaluate
from rosenblatt.jobs.evaluation import Evaluation
from rosenblatt.jobs.files import train
from rosenblatt.jobs.report_page import find_records, make_page, write_report
from rosenblatt.learners.kinds import make_learner
from rosenblatt.reading.reader import read
from rosenblatt.training.plan import Request

ALONE = {"meta", "link", "br"}


class Checker(HTMLParser):
    """Checks that tags are closed in order."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in ALONE:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def check_page(page):
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    assert not re.search(r"<script|https?:|src=", page)


def test_names_are_escaped():
    found = Evaluation(np.array(["<b>", "&"]))
    found.add(np.array(["<b>", "&", "&"]), np.array([0, 1, 0]), np.array([-1.0, 2.0, -3.0]))
    page = make_page(found, ("<i>m", "d&d"), ["<u>"], (), {3: {"<x>": "<script>"}})
    check_page(page)
    assert "&lt;script&gt;" in page
    assert "&lt;i&gt;m on d&amp;d" in page


@pytest.mark.parametrize("classes", [1, 30])
def test_one_class_and_many_classes(classes):
    names = np.array([f"c{k}" for k in range(classes)])
    codes = np.arange(60) % classes
    found = Evaluation(names)
    scores = np.eye(classes)[codes] if classes > 1 else np.ones(60)
    found.add(names[codes], np.roll(codes, 1) if classes > 1 else codes, scores)
    page = make_page(found, ("m", "d"))
    check_page(page)
    assert ("ROC of the 8 most frequent classes" in page) == (classes > 1)


def test_label_sets(tmp_path):
    rows = [{"x": k % 5 - 2, "tags": "a;b" if k % 5 > 2 else "b"} for k in range(60)]
    model = train(read(rows, label="tags", labels_separator=";"), Request())
    learner, data = make_learner(model, "m"), read(rows, features=model.features["recipe"])
    write_report(tmp_path / "r.html", ("m", "d"), (model, learner, data), evaluate(learner, data))
    page = (tmp_path / "r.html").read_text()
    check_page(page)
    assert "Hamming loss" in page


LINES = ["size,note,kind", "1,a,no", "2,b,", "3,c,yes", '4,"d\nd",no', "5,e,yes"]


def test_rows_without_a_label_do_not_count(tmp_path):
    (tmp_path / "in.csv").write_text("\n".join(LINES))
    model = train(read(tmp_path / "in.csv", label="kind", ignore="note"), Request())
    reader = open_like(model, str(tmp_path / "in.csv"), labels=True)
    errors = [RowError(2, None, "yes", "no", 1.0), RowError(3, None, "no", "yes", 1.0)]
    found = find_records(reader, errors)
    assert {row: record["note"] for row, record in found.items()} == {2: "c", 3: "d\nd"}
    other = [RowError(2, None, "no", "yes", 1.0)]
    assert find_records(reader, other) == {}


def test_labels_that_are_numbers_are_matched():
    rows = [{"x": k, "y": k % 2} for k in range(8)]
    model = train(read(rows, label="y"), Request())
    reader = read(rows, features=model.features["recipe"])
    found = evaluate(make_learner(model, "m"), reader)
    assert len(find_records(reader, found.worst)) == len(found.worst) > 0


def test_numbers_have_figures_and_importances(tmp_path):
    rows = [{"x": k % 11, "z": k % 7, "price": 3.5 * (k % 11) - 0.25 * (k % 7)} for k in range(90)]
    model = train(read(rows, label="price"), Request(rule="pa-regression"))
    learner, data = make_learner(model, "m"), read(rows, features=model.features["recipe"])
    found = evaluate(learner, data)
    write_report(tmp_path / "r.html", ("m", "d"), (model, learner, data), found)
    page = (tmp_path / "r.html").read_text()
    check_page(page)
    assert "Mean absolute error" in page
    assert "MAE of the training median" in page
    assert "Importance of columns" in page
    assert "Rows with the largest errors" in page
    errors = [one.confidence for one in found.worst]
    assert errors == sorted(errors, reverse=True)
    assert len(find_records(data, found.worst)) == len(errors) == 20
    assert f"price: {float(found.worst[0].label)}" in page
