"""Settings that were compared are named with their figures, in plain digits."""

from rosenblatt.shell.settings import about_choice, about_stream, about_tuning

PRICES = {"value": 106_230.4, "spread": 1_234.5, "other": 200_000.0, "bins": 8}
USUAL = {"value": 0.25, "spread": 0.125, "other": 0.5}
FACTS = {"tried": 3, "rows": 500, "folds": 5, "usual": USUAL, "baseline": 0.5}


def test_figures_of_prices_have_no_exponent():
    facts = {"metric": "absolute-error", **FACTS, "baseline": 300_000.0, "best": [PRICES]}
    assert about_tuning(facts) == [
        "Compared 3 settings in up to 5 folds of 500 rows: mean absolute error, RMSE (± standard "
        "error; baseline RMSE 300000)",
        "  106230 ± 1230   200000  --no-tune --set bins=8  (chosen)",
    ]
    best = {"error": 250_123.7, "rule": "pa-regression"}
    stream = {
        "tried": 3,
        "rows": 500,
        "error": 250_123.7,
        "alarms": [],
        "best": [best],
        "last_label": 9e5,
    }
    first, second = about_stream(stream)
    assert first.startswith("Stream: mean absolute error 250120 of 500 rows")
    assert second.split()[0] == "250120"


def test_options_can_be_pasted():
    texts = {**USUAL, "rule": "pa", "pairs": True, "max_iter": 5, "text": ["name:c1-5"]}
    lines = about_tuning({"metric": "error", **FACTS, "best": [USUAL, texts]})
    assert lines[0].endswith("(± standard error; baseline error 50.00%)")
    assert lines[1] == "  25.00% ± 12.50%  --no-tune (default)  (chosen)"
    assert lines[2].endswith("  --rule pa --set pairs=true --epochs 5 --text name:c1-5")


def test_average_precision_names_its_class():
    facts = {"metric": "average-precision", "positive_class": "fraud", **FACTS, "best": [USUAL]}
    assert ": average precision (of fraud), error (±" in about_tuning(facts)[0]
    assert "cross-validated average precision (of fraud) " in about_choice(facts)
