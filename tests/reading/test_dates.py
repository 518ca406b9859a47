"""Dates become what linear models can use, from every format alike."""

import datetime
import io
import json

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest

from rosenblatt.reading.dates import CLOCK, ISO, detect_date_form
from rosenblatt.reading.reader import read

from .samples import category, number, refused, whole

DAYS = [datetime.datetime(2019, 12, 30) + datetime.timedelta(days=37 * k) for k in range(40)]
HOURS = [day + datetime.timedelta(hours=k % 24, minutes=7 * k % 60) for k, day in enumerate(DAYS)]


def naive(times, clock):
    """The features of a column called "when", by the standard library."""
    days = [(time - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1) for time in times]
    scaled = (np.array(days) - np.mean(days)) / np.std(days)
    rows = []
    for time, value in zip(times, scaled.tolist(), strict=True):
        parts = {"year": str(time.year), "month": str(time.month), "weekday": time.strftime("%A")}
        parts |= {"hour": str(time.hour)} if clock else {}
        row = {category(f"when {part}", word): 1 for part, word in parts.items()}
        rows.append({number("when"): value} | row)
    return rows


def check(rows, expected):
    rows = [dict(row) for row in rows]
    assert [set(row) for row in rows] == [set(row) for row in expected]
    found = [[row[column] for column in sorted(row)] for row in rows]
    wanted = [[row[column] for column in sorted(row)] for row in expected]
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


FORMS = {
    "%Y-%m-%d": "",
    "%m/%d/%Y": " (month/day/year)",
    "%d/%m/%Y": " (day/month/year)",
    "%d.%m.%Y": " (day.month.year)",
    "%d %b %Y": " (day month year)",
    "%b %d, %Y": " (month day, year)",
    "%a, %d %b %Y": " (weekday, day month year)",
}


@pytest.mark.parametrize("clock", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_dates_of_the_usual_forms_become_parts_and_a_number(form, clock):
    times = HOURS if clock else DAYS
    words = [time.strftime(form + (" %H:%M" if clock else "")) for time in times]
    frame = pd.DataFrame({"when": words, "y": np.arange(40) % 2})
    reader = read(io.BytesIO(frame.to_csv(index=False).encode()), format="csv", names=999)
    check(whole(reader)[2], naive(times, clock))
    parts = "year, month, weekday, hour" if clock else "year, month, weekday"
    assert [notice.kind for notice in reader.notices] == ["dates"]
    assert str(reader.notices[0]) == (
        f"The column 'when' is taken as dates{FORMS[form]}: {parts}, and the time as a number."
    )
    assert {"when in days", "when weekday=Monday", "when month=2"} <= {*reader.names.values()}


@pytest.mark.parametrize("clock", [False, True])
def test_every_format_gives_the_same_features(write, clock):
    times = HOURS if clock else DAYS
    frame = pd.DataFrame({"when": pd.to_datetime(times), "y": np.arange(40) % 2})
    exact = frame.assign(when=times if clock else [time.date() for time in times])
    zoned = frame.assign(when=frame["when"].dt.tz_localize("Europe/Berlin"))
    sources = {
        "csv": write("t.csv", frame.to_csv(index=False)),
        "tsv": write("t.tsv", frame.to_csv(index=False, sep="\t")),
        "zoned csv": write("z.csv", zoned.to_csv(index=False)),
        "parquet": write("t.parquet", frame),
        "zoned parquet": write("z.parquet", zoned),
        "arrow": write("t.arrow", frame),
        "frame": frame,
        "polars": polars.from_pandas(frame),
        "dicts": exact.to_dict("records"),
        "strings": frame.assign(when=frame["when"].astype(str)).to_dict("records"),
        "table": pa.table({"when": pa.array(times, pa.timestamp("ms")), "y": frame["y"]}),
    }
    readers = {name: read(source) for name, source in sources.items()}
    rows = {name: whole(reader)[2] for name, reader in readers.items()}
    check(rows["csv"], naive(times, clock))
    features = json.loads(json.dumps(readers["csv"].features()))
    for name, source in sources.items():
        assert rows[name] == rows["csv"], name
        assert whole(read(source, features=features))[2] == rows["csv"]
        notices = [str(notice) for notice in readers[name].notices]
        assert notices == [str(notice) for notice in readers["csv"].notices]


def test_missing_dates_are_in_the_middle_and_flagged(write):
    times = [None if k % 4 == 0 else day for k, day in enumerate(DAYS)]
    frame = pd.DataFrame({"when": pd.to_datetime(times), "y": np.arange(40) % 2})
    texts = frame.to_csv(index=False), frame.to_csv(index=False, na_rep=" ")
    sources = *(io.BytesIO(text.encode()) for text in texts), write("t.parquet", frame)
    for source in sources:
        reader = read(source, format=None if source is sources[-1] else "csv")
        rows = whole(reader)[2]
        gap = number("when is missing")
        assert [dict(row) for row in rows[::4]] == [{gap: 1}] * 10
        known = [time for time in times if time is not None]
        rest = [row for k, row in enumerate(rows) if k % 4]
        check(rest, naive(known, clock=False))
        kinds = [notice.kind for notice in reader.notices]
        assert kinds == ["dates", "missing", "missing"]


def test_times_of_the_day_have_hours_only(write):
    words = [time.strftime("%H:%M:%S") for time in HOURS]
    frame = pd.DataFrame({"at": words, "y": np.arange(40) % 2})
    exact = pa.table({"at": [time.time() for time in HOURS], "y": frame["y"]})
    first, second = read(io.BytesIO(frame.to_csv(index=False).encode())), read(exact)
    rows = whole(first)[2]
    assert rows == whole(second)[2]
    assert [set(dict(row)) for row in rows] == [
        {number("at"), category("at hour", str(time.hour))} for time in HOURS
    ]


@pytest.mark.parametrize(
    ("cells", "form"),
    [
        (["2020-01-01T10:00:00.123456789Z", "2020-01-01T10:00:00+02:00"], ISO),
        (["2020-01-01 10:00:00.5", "2020-01-02"], ISO),
        (["10:00", "23:59:59"], CLOCK),
        (["1/2/2020", "3/14/2020"], "%m/%d/%Y"),
        (["1/2/20", "3/14/99"], "%m/%d/%y"),
        (["26-Oct-12", "1-Jan-99"], "%d-%b-%y"),
        (["26-Oct-2012", "01-Jan-1999"], "%d-%b-%Y"),
        (["1:30 PM", "11:05 AM"], "%I:%M %p"),
        (["10/26/12 1:30 PM", "1/2/13 4:10 AM"], "%m/%d/%y %I:%M %p"),
        (["1/2/2020", "14/3/2020"], "%d/%m/%Y"),
        (["1/2/2020 23:59", "14/3/2020 00:00"], "%d/%m/%Y %H:%M"),
        (["2020-01-01", "soon"], None),
        (["12-15", "16-20"], None),
        (["1.5.2", "1.5.3"], None),
        (["3 apples", "4 pears"], None),
        ([], None),
        (["May 12, 2020"], "%b %d, %Y"),
    ],
)
def test_dates_are_told_by_their_looks(cells, form):
    assert detect_date_form(pa.array(cells, pa.string())) == form


def test_a_word_among_dates_is_a_broken_row(write):
    good = "".join(f"2020-01-{k + 1:02},{k % 2}\n" for k in range(20))
    features = read(write("t.csv", "when,y\n" + good)).features()
    bad = write("bad.csv", "when,y\n2020-01-01,1\n,0\nsoon,0\n")
    where = "bad.csv, line 4, column 'when': 'soon' is not a date."
    with pytest.raises(ValueError, match=where):
        list(read(bad, features=features))
    reader = read(bad, features=features, skip_bad=1)
    assert len(whole(reader)[2]) == 2
    for wrong in [17, "soon"]:
        with refused("not-a-date", column="when"):
            list(read([{"when": wrong}], features=features, label=False))
    numbers = read(write("n.csv", "a,y\n1,0\n2,1\n")).features()
    with refused("not-a-number", column="a"):
        list(read([{"a": DAYS[0]}], features=numbers, label=False))


def test_dates_as_labels_and_as_categories_are_words(write):
    frame = pd.DataFrame({"x": np.arange(40), "when": pd.to_datetime(DAYS[:2] * 20)})
    words = ["2019-12-30", "2020-02-05"] * 20
    for name, data in ("t.csv", frame.to_csv(index=False)), ("t.parquet", frame):
        assert whole(read(write(name, data)))[0] == words
    frame["y"] = [0, 1, 1, 0] * 10
    for name, data in ("t.csv", frame.to_csv(index=False)), ("t.parquet", frame):
        reader = read(write(name, data), category="when")
        assert [row[-1] for row in whole(reader)[2]] == [
            (category("when", day), 1) for day in words
        ]
        assert "dates" not in [notice.kind for notice in reader.notices]


@pytest.mark.parametrize(
    ("good", "odd"),
    [
        (["01/03/2023", "28/02/2023", "15/11/2022"], "30/02/2023"),
        (["2023-03-01", "2023-02-28", "2022-11-15"], "2023-02-30"),
        (["1.3.2023", "28.2.2023", "15.11.2022"], "31.4.2023"),
        (["1 Mar 2023", "28 Feb 2023", "15 Nov 2022"], "29 Feb 2023"),
        (["03/01/2023 10:00", "02/28/2023 11:30"], "02/29/2023 07:15"),
    ],
)
def test_a_day_that_does_not_exist_is_no_date(good, odd):
    assert detect_date_form(pa.array(good)) is not None
    assert detect_date_form(pa.array([*good, odd])) is None
    rows = [{"when": cell, "y": k % 2} for k, cell in enumerate([*good, odd])]
    reader = read(rows, label="y")
    assert reader.columns == [("when", "category")]
    (notice,) = reader.notices
    assert (notice.kind, odd in notice.sentence) == ("words", True)
    model = read([{"when": cell, "y": 0} for cell in good], label="y").features()
    with refused("not-a-date", line=1, column="when"):
        list(read([{"when": odd, "y": 1}], features=model))


@pytest.mark.parametrize("step", [1, 0.01])
@pytest.mark.parametrize("form", ["iso", "datetime", "csv"])
def test_times_within_a_minute_differ(write, step, form):
    start = datetime.datetime(2024, 5, 17, 8, 30)
    times = [start + k * datetime.timedelta(seconds=step) for k in range(60)]
    frame = pd.DataFrame({"when": times, "y": [int(k >= 30) for k in range(60)]})
    if form == "iso":
        frame["when"] = [time.isoformat() for time in times]
    reader = read(write("t.csv", frame.to_csv(index=False)) if form == "csv" else frame, label="y")
    values = [dict(row)[number("when")] for row in whole(reader)[2]]
    expected = (np.arange(60) - 29.5) / np.std(np.arange(60))
    np.testing.assert_allclose(values, expected, atol=1e-4)
