"""What labels are is decided by targets: fewer and fewer places compare the names of targets."""

import re
from pathlib import Path

import rosenblatt

COMPARES = re.compile(r"target(?:_kind)?\b[^=\n]{0,3}(?:==|!=)\s*\"|target not in \(")
MOST = 47  # outside data/targets.py; lower it whenever it falls
FREE = {"data", "estimators", "kernels", "learners", "parameters", "storage", "training"}


def test_few_places_compare_the_name_of_a_target_and_the_lower_folders_none():
    root, found = Path(rosenblatt.__file__).parent, []
    for path in sorted(root.rglob("*.py")):
        found += [path.relative_to(root)] * len(COMPARES.findall(path.read_text("utf-8")))
    assert not {place.parts[0] for place in found} & FREE
    assert len(found) <= MOST
