"""Every rule learns today what it learnt before: to the bit where processors are of one kind."""

import json

import pytest
from llvmlite import binding

from .golden import PATH, outcome, trainings

KEPT = json.loads(PATH.read_text("utf-8"))
SAME_PROCESSOR = KEPT["cpu"] == binding.get_host_cpu_name()


@pytest.mark.parametrize("rows", ["dense", "sparse"])
def test_weights_are_those_of_earlier_versions(rows):
    changed = []
    for name, model, given in trainings():
        if rows in name:
            before, now = KEPT["trainings"][name], outcome(model.fit(**given))
            close = {**now, "norm": pytest.approx(before["norm"], rel=1e-3), "hash": before["hash"]}
            if now != before and (SAME_PROCESSOR or before != close):
                changed.append(name)
    assert not changed
