"""Results are written by one loop, whatever was evaluated."""

import json

import pytest

from rosenblatt.data.results import Table
from rosenblatt.jobs.evaluate import evaluate
from rosenblatt.jobs.files import train
from rosenblatt.learners.kinds import make_learner
from rosenblatt.reading.reader import read
from rosenblatt.shell.format import MOST_LINES, list_result, list_rows, spell_setting
from rosenblatt.training.plan import Request

ROWS = [
    {"x": k % 5 - 2, "z": k % 3, "kind": "ab"[k % 5 > 2], "tags": "a;b" if k % 5 > 2 else "b"}
    for k in range(60)
]
TARGETS = {
    "classes": ({"label": "kind", "ignore": ["tags"]}, {}),
    "labels": ({"label": "tags", "labels_separator": ";", "ignore": ["kind"]}, {}),
    "numbers": ({"label": "x", "numbers": True, "ignore": ["kind", "tags"]}, {}),
    "ranks": ({"label": "z", "numbers": False, "ignore": ["kind", "tags"]}, {"ordinal": (0, 1, 2)}),
}


@pytest.mark.parametrize("target", TARGETS)
def test_every_figure_and_table_is_in_text_and_json(target):
    reading, stated = TARGETS[target]
    model = train(read(ROWS, **reading), Request(**stated))
    found = evaluate(make_learner(model, "m"), read(ROWS, features=model.features["recipe"]))
    text = "\n".join([found.headline(), *list_result(found)])
    assert max(map(len, text.splitlines())) <= 110
    told = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert (told["rows"], told.keys() >= found.figures().keys()) == (60, True)
    for table in found.tables():
        assert table.title in text or not table.rows
        assert table.name in told
    for value in found.other_figures().values():
        assert f"{value:.4f}" in text


def test_a_setting_is_written_as_train_takes_it():
    setting = {"ngrams": (1, 1), "pairs": True, "max_iter": 3, "text": ["a:1"], "value": 0.5}
    written = "--no-tune --set ngrams=1-1 --set pairs=true --epochs 3 --text a:1"
    assert spell_setting(setting) == written


def test_cells_are_aligned_and_not_markup():
    rows = [("[red]a", 0.5, 1200), ("b" * 200, float("nan"), 7)]
    table = Table("t", "T", {"label": "", "f1": ".4f", "rows": ",d"}, rows)
    head, first, second = list_rows(table)
    assert head.split() == ["label", "F1", "rows"]
    assert first.split() == ["[red]a", "0.5000", "1,200"]
    assert second.split() == ["b" * 29 + "…", "–", "7"]
    assert len(head) == len(first) == len(second) <= 80
    assert table.as_dicts()[1] == {"label": "b" * 200, "f1": None, "rows": 7}


def test_of_many_rows_the_first_are_written():
    table = Table("t", "T", {"label": ""}, [(k,) for k in range(MOST_LINES + 5)])
    assert len(list_rows(table)) == MOST_LINES + 2
    assert list_rows(table)[-1].startswith("… and 5 more")
