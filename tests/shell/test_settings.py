"""Settings that were tried are named with their figures, in plain digits."""

from rosenblatt.shell.settings import about_choice, about_online, about_tuning

PRICES = {"value": 106_230.4, "spread": 1_234.5, "rule": "pa-regression", "C": 0.5}
TUNING = {"tried": 3, "rows": 500, "folds": 5, "usual": PRICES, "best": [PRICES]}


def test_figures_of_prices_have_no_exponent():
    facts = {"metric": "absolute-error", **TUNING}
    assert about_tuning(facts) == [
        "Tuning: 3 settings by mean absolute error, 5 folds of 500 rows; ± standard error.",
        "  106230 ± 1230  --rule pa-regression --set C=0.5  (chosen, default)",
    ]
    best = {"error": 250_123.7, "rule": "pa-regression"}
    online = {"tried": 3, "rows": 500, "error": 250_123.7, "alarms": [], "best": [best]}
    first, second = about_online(online)
    assert first.startswith("Online: mean absolute error 250120 of 500 rows")
    assert second.split()[0] == "250120"


def test_a_choice_that_has_not_the_best_figure_is_explained():
    cheap, other = ({**PRICES, "value": value, "C": 2.0} for value in (90_000.0, 110_000.0))
    why = "The chosen setting is the simplest within one standard error of the best."
    for metric, one, expected in [
        ("absolute-error", cheap, True),
        ("absolute-error", other, False),
        ("auc", cheap, False),
        ("auc", other, True),
    ]:
        facts = {"metric": metric, **TUNING, "best": [PRICES, one]}
        assert (why in about_tuning(facts)) == expected, (metric, one)


def test_average_precision_names_its_class():
    facts = {"metric": "average-precision", "positive_class": "fraud", **TUNING}
    assert "3 settings by average precision (of fraud), 5 folds" in about_tuning(facts)[0]
    assert "cross-validated average precision (of fraud) " in about_choice(facts)
