"""The tour keeps its word, and in every generated set something happens."""

from itertools import islice, product

from .test_engine import pytestmark, run_cases  # noqa: F401

TWO_LINES = 154  # letters of a title and a text that fit two lines under the plane


def test_every_claim_of_the_tour_holds(tmp_path):
    (stops,) = run_cases([{"kind": "tour"}], tmp_path)
    assert len(stops) > 30
    assert [(stop["name"], stop["words"]) for stop in stops if not stop["holds"]] == []
    assert [stop["name"] for stop in stops if stop["length"] > TWO_LINES] == []
    pages = {page for stop in stops for page in stop["document"].split() if page.isdigit()}
    assert pages <= {"000", "001", "002", "003", "004"}


def test_exercises_are_not_done_at_their_start_and_their_solutions_are(tmp_path):
    (found,) = run_cases([{"kind": "exercises"}], tmp_path)
    assert len(found) >= 12
    assert {each["page"] for each in found} == {"000", "001", "002", "003", "004"}
    assert [each["text"] for each in found if each["start"] or not each["end"]] == []


SEEDS = range(20)


def test_blobs_take_several_updates_that_differ_from_seed_to_seed(tmp_path):
    shapes = ("blobs", "bias"), ("origin", "bias"), ("origin", "origin")
    states = [
        f"data={data}&form={form}&order={order}&gap={gap}&max_iter=1000"
        for (data, form), order, gap in product(shapes, ("fixed", "first"), (0.1, 0.2, 0.3, 0.5))
    ]
    cases = [{"kind": "runs", "address": f"{each}&seed={k}"} for each in states for k in SEEDS]
    found = iter(run_cases(cases, tmp_path))
    for state in states:
        runs = [run for (run,) in islice(found, len(SEEDS))]
        assert all(run["stopReason"] == "separated" for run in runs), state
        assert min(run["last"] for run in runs) >= 3, state
        assert len({run["last"] for run in runs}) > 2, state


def test_curved_sets_take_several_updates(tmp_path):
    states = product(("circles", "moons"), ("bias", "origin", "kernel", "lifted&third=square"))
    addresses = [f"data={data}&form={form}&seed={k}" for data, form in states for k in SEEDS]
    cases = [{"kind": "runs", "address": address} for address in addresses]
    for address, (found,) in zip(addresses, run_cases(cases, tmp_path), strict=True):
        assert found["last"] >= 3, address
