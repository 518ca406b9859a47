"""Which column is the label, what is noted about it, and rows without one."""

import io
import re

import numpy as np
import pandas as pd
import pytest

from rosenblatt.reading.label import count_cells, holds_classes

from .samples import notices, read, refused, whole

RANDOM = np.random.default_rng(0)
N = 300
FRAME = pd.DataFrame(
    {
        "id": np.arange(N),
        "kind": RANDOM.choice(["a", "b", "c"], N),
        "size": RANDOM.normal(size=N).round(3),
        "price": (RANDOM.normal(size=N) * 90 + 400).round(2),
    }
)


def forms(frame, write, name="t"):
    yield write(f"{name}.csv", frame.to_csv(index=False))
    yield write(f"{name}.parquet", frame)
    yield write(f"{name}.jsonl", frame.to_json(orient="records", lines=True))


def test_a_label_that_looks_like_a_measurement_is_refused_with_the_candidates(write):
    for path in forms(FRAME, write):
        with refused("no-label-column", column="price") as caught:
            read(path)
        assert "It could be one of: kind." in str(caught.value)
        assert "Use label='price' to learn numbers" in str(caught.value)
    for path in forms(FRAME[["size", "id"]], write):
        with refused("no-label-column", column="id"):
            read(path)


def test_a_stated_label_is_taken_and_its_values_are_noted(write):
    for path in forms(FRAME, write):
        reader = read(path, label="price", numbers=False)
        assert "label-values" in notices(reader)
        assert len(set(whole(reader)[0])) > 250
        assert "label-values" not in notices(read(path, label="kind"))


def test_a_stated_label_of_numbers_is_numbers(write):
    for path in forms(FRAME, write):
        reader = read(path, label="price")
        assert reader.has_numbers
        assert notices(reader)[0] == "label-numbers"
        assert not read(path, label="kind").has_numbers
        assert read(path, label="id").has_numbers
        assert not read(path, label="id", category="id").has_numbers


def test_a_usual_name_that_holds_numbers_is_taken_if_nothing_holds_classes(write):
    for path in forms(FRAME.rename(columns={"price": "target"})[["size", "target", "id"]], write):
        reader = read(path)
        assert (reader.features()["label"], reader.has_numbers) == ("target", True)


def test_many_classes_of_numbers_are_noted(write):
    many = pd.DataFrame({"size": np.arange(900) / 7, "age": np.arange(900) % 45})
    for path in forms(many, write):
        reader = read(path, label="age")
        assert (reader.has_numbers, notices(reader)) == (False, ["label-classes"])
        assert read(path, label="age", numbers=True).has_numbers


@pytest.mark.parametrize(("form", "line"), [("svmlight", "{} 1:3\n"), ("vw", "{} |a b\n")])
def test_lines_whose_labels_have_decimals_are_numbers(write, form, line):
    labels = [j % 40 / 8 for j in range(900)]
    for kind, given in ((True, labels), (False, range(900)), (False, [0.5, 1.5] * 300)):
        path = write("t.txt", "".join(line.format(label) for label in given))
        assert read(path, format=form).has_numbers is kind
        assert not read(path, format=form, numbers=False).has_numbers


def test_a_usual_name_that_holds_no_classes_gives_way_to_the_last_column(write):
    frame = FRAME.rename(columns={"price": "y"})[["size", "y", "kind"]]
    for path in forms(frame, write):
        reader = read(path)
        assert reader.features()["label"] == "kind"
        assert "label-other" in notices(reader)


@pytest.mark.parametrize("cells", [[None], ["same"]])
def test_an_empty_or_constant_column_is_not_the_label_because_of_its_name(write, cells):
    frame = FRAME[["size", "kind"]].assign(label=cells * N)
    for path in forms(frame, write):
        reader = read(path)
        assert reader.features()["label"] == "kind"
        assert notices(reader)[0] == "label-other"
        assert read(path, label="label").features()["label"] == "label"
    alone = write("t.csv", frame[["size", "label"]].to_csv(index=False))
    assert read(alone).features()["label"] == "label"


def test_another_column_that_may_be_the_label_is_noted(write):
    first = pd.DataFrame({"party": ["d", "r"] * 60, "n": range(120), "grade": [*range(8)] * 15})
    path = write("f.csv", first.to_csv(index=False))
    assert read(path).features()["label"] == "grade"
    assert notices(read(path))[:2] == ["label-order", "label-guessed"]
    assert "label-order" not in notices(read(path, numbers=False))
    assert "label-guessed" not in notices(read(path, label=-1))


@pytest.mark.parametrize(
    ("cells", "plausible"),
    [
        ([*range(10)], True),
        ([*range(30)], False),
        ([*range(15)] * 2, True),
        (["a"] * 90, True),
        ([f"{j % 40}.5" for j in range(200)], False),
        ([f"{j % 40}.0" for j in range(200)], True),
        ([f"{j % 8}.5" for j in range(200)], True),
        ([["u"], ["u", "v"]] * 30, True),
        ([2.5, 3.25, 7.125], False),
        ([2.5, 3.25, 2.5], True),
        ([2.5, 3.5], True),
        ([1.25, 2.5, 3.75, 1.25, 5.0, 6.0, 7.0], False),
        ([1.5, 2.5] * 6, True),
    ],
)
def test_what_may_be_classes(cells, plausible):
    assert holds_classes(count_cells(cells)) is plausible


@pytest.mark.parametrize("extra", [{}, {"colour": "red"}])
@pytest.mark.parametrize("label", [[1, 2], ["p", "n"], [True, False], [0.5, 1.5]])
def test_rows_without_a_label_are_left_out_and_counted(write, label, extra):
    y = pd.Series([label[j % 2] for j in range(N)], dtype=object)
    frame = FRAME[["size"]].assign(**extra, y=y.where(np.arange(N) % 3 > 0, None))
    known = frame[frame["y"].notna()].infer_objects().reset_index(drop=True)
    paths = forms(frame.infer_objects(), write), forms(known, write, "known")
    for path, rest in zip(*paths, strict=True):
        for threads, size in (1, 1 << 22), (3, 500):
            reader = read(path, threads=threads, batch_bytes=size)
            assert whole(reader) == whole(read(rest)), path
            assert notices(reader)[-1] == "label-missing"
            assert "100 rows without a label" in str(reader.notices[-1])
            assert reader.bad == 0


def test_words_that_mean_missing_are_no_labels(write):
    frame = pd.DataFrame({"a": range(60), "y": ["no", "yes", "No", "NA", "-", "None"] * 10})
    for path in forms(frame, write):
        reader = read(path)
        assert {*whole(reader)[0]} == {"no", "yes", "No", "-", "None"}
        noted = [one for one in reader.notices if one.kind == "label"]
        assert [one.code for one in noted] == ["label-alike", "label-na", "label-missing"]
        assert "'no', 'No'" in noted[0].sentence
        assert "'NA'" in noted[1].sentence


def test_a_missing_label_far_down_is_left_out_too():
    text = "a,y\n" + "1,0\n2,1\n" * 150_000 + "3,\n4,NA\n5,1\n"
    reader = read(io.BytesIO(text.encode()), format="csv")
    assert len(whole(reader)[0]) == 300_001
    assert reader.location.unlabelled == 2
    lines = b"1 |a b\n|a c\n0 |a d\n"
    assert whole(read(io.BytesIO(lines), format="vw"))[0] == [1, 0]


@pytest.mark.parametrize("row", ["{x},{y}", "{y},{x}", "{x},{y},{x}", '{x}," {y} "', "{w},{y}"])
def test_a_late_label_with_leading_zeros_is_not_merged(write, row):
    wanted = {"{y},{x}": 0}.get(row, 1)

    def line(j, y):  # long, so that few lines are more than the first megabyte
        return row.format(x=f"{j % 7}.{0:050}", y=y, w=f"w{j % 3:050}")

    rows = [line(j, j % 2) for j in range(24_000)] + [line(1, "01"), line(2, "1")]
    path = write("t.csv", "\n".join(rows))
    with refused("label-zeros", line=24_001, column=str(wanted)):
        whole(read(path, label=wanted, header=False))
    labels = whole(read(path, label=wanted, header=False, category=str(wanted)))[0]
    assert set(labels) == {"0", "1", "01"}


def test_a_label_such_as_0_5_has_no_leading_zeros(write):
    rows = "".join(f"{label},{k}\n" for k in range(50) for label in ("0", "0.5", "00.5", "0e1"))
    reader = read(write("data.csv", rows), label=0, header=False)
    assert {label for batch in reader for label in batch.y} == {0, 0.5}


@pytest.mark.parametrize("cell", ["${:,.2f}", "{:.2f} %", "€{:.0f}"])
def test_labels_that_are_not_written_plainly_are_numbers_as_in_other_columns(write, cell):
    frame = FRAME.assign(price=[cell.format(price) for price in FRAME.price])
    wanted = [float(re.sub("[$€% ,]", "", price)) for price in frame.price]
    for path in forms(frame, write):
        reader = read(path, label="price", numbers=None)
        assert reader.has_numbers, path
        assert whole(reader)[0] == wanted
        found = {notice.code: str(notice) for notice in reader.notices}
        assert found["numbers-label"] == (
            f"The label 'price' is read as plain numbers: {frame.price[0]!r} is {wanted[0]:.12g}."
        )
        assert whole(read(path, label="price", numbers=True))[0] == wanted
        classes = read(path, label="price", numbers=False)
        assert (classes.has_numbers, whole(classes)[0][0]) == (False, frame.price[0])


def test_a_price_among_labels_of_prices_that_is_no_number_is_a_broken_row(write):
    lines = [f'{k % 7},a,"${k * 37:,}"\n' for k in range(2_500)]
    path = write("prices.csv", "".join(["size,kind,price\n", *lines, "5,b,on request\n"]))
    with refused("not-a-number", column="price", line=2_502) as caught:
        whole(read(path, label="price"))
    assert "'on request' is not a number" in str(caught.value)


def test_a_first_column_of_words_beside_numbers_without_names_is_noted(write):
    letters = [f"{'ABCDE'[k % 5]},{k % 7},{k % 4}\n" for k in range(60)]
    reader = read(write("letters.csv", "".join(letters)))
    assert (reader.features()["label"], notices(reader)[0]) == ("2", "label-guessed")
    assert "label-guessed" not in notices(read(write("t.csv", "".join(letters)), label=2))


def test_the_only_column_that_may_be_the_label_is_taken(write):
    lines = "".join(f"{'ab'[k % 2]},text {k}\n" for k in range(40))
    reader = read(write("sms.csv", lines))
    assert (reader.features()["label"], notices(reader)[0]) == ("0", "label-other")


def test_a_word_among_labels_of_numbers_is_a_broken_row(write):
    price = FRAME["price"].astype(str)
    frame = FRAME[["kind", "size"]].assign(price=price.where(FRAME["id"] != 200, "unknown"))
    for path in (*forms(frame, write), *forms(frame.drop(columns="kind"), write, "numbers")):
        reader = read(path, label="price", skip_bad=1)
        assert reader.has_numbers, path
        assert whole(reader)[0] == [*price.drop(200).astype(float)]
        assert reader.bad == 1
        with refused("not-a-number", column="price") as caught:
            whole(read(path, label="price"))
        assert "the label holds numbers; correct the cell" in str(caught.value)
    words = frame.assign(price=price.where(FRAME["id"] % 20 > 0, "unknown"))
    for path in forms(words, write):
        assert not read(path, label="price", skip_bad=10).has_numbers


def test_labels_with_leading_zeros_are_classes_unless_numbers_are_stated(write):
    frame = FRAME[["size"]].assign(code=[f"{j % 200:04d}" for j in range(N)])
    for path in (*forms(frame, write), *forms(frame.assign(kind="a"), write, "words")):
        reader = read(path, label="code")
        assert not reader.has_numbers
        assert whole(reader)[0][:2] == ["0000", "0001"]
        assert whole(read(path, label="code", numbers=True))[0][:2] == [0.0, 1.0], path


@pytest.mark.parametrize("more", [{}, {"kind": "a"}])
def test_a_large_label_may_be_a_number_and_is_no_class(write, more):
    frame = FRAME[["size"]].assign(**more, price=FRAME["price"].astype(str))
    frame.loc[9, "price"] = "1e38"
    path = write("t.csv", frame.to_csv(index=False))
    assert max(whole(read(path, label="price"))[0]) == 1e38
    with refused("label-too-large") as caught:
        whole(read(path, label="price", numbers=False))
    assert "name classes by words" in str(caught.value)
    path = write("t.csv", frame.to_csv(index=False).replace("1e38", "1e39"))
    with refused("label-too-large") as caught:
        whole(read(path, label="price"))
    assert "above 3.4e+38; divide all labels" in str(caught.value)


def test_numbers_exclude_label_sets(write):
    with refused("conflict"):
        read(write("t.csv", "a,y\n1,2\n3,4\n"), numbers=True, labels_separator=";")
    with refused("conflict"):
        read(write("t.parquet", pd.DataFrame({"a": [1, 2], "y": [[1], [2, 3]]})), numbers=True)
    with refused("several-labels"):
        whole(read(write("t.svm", "1,2 1:3\n2 1:4\n"), numbers=True))


def test_an_empty_file_among_several_is_named(write):
    write("some-1.csv", "a,y\n1,u\n2,v\n")
    path = write("some-2.csv", "")
    with refused("empty", file=str(path)):
        whole(read(str(path).replace("some-2", "some-*")))


@pytest.mark.parametrize("last", ["", "k"], ids=["empty", "constant"])
def test_a_column_that_tells_nothing_apart_is_not_the_label(write, last):
    path = write("t.csv", "a,kind,c\n" + "".join(f"{k},{'xy'[k % 2]},{last}\n" for k in range(60)))
    assert read(path).recipe.label == "kind"
    sorted_rows = "".join(f"{k % 7},{'xy'[k // 3000]}\n" for k in range(6000))
    assert read(write("s.csv", "a,kind\n" + sorted_rows)).recipe.label == "kind"


def test_the_runner_up_of_a_guessed_label_is_named(write):
    frame = FRAME.assign(colour=FRAME["kind"])[["kind", "size", "colour"]]
    for path in forms(frame, write):
        found = {one.code: str(one) for one in read(path).notices}
        assert "'colour'; the next guess is 'kind'" in found["label-guessed"]
        assert "label-guessed" not in notices(read(path, label="colour"))
    named = frame.rename(columns={"colour": "label"})
    assert "label-guessed" not in notices(read(write("n.csv", named.to_csv(index=False))))


@pytest.mark.parametrize(
    ("labels", "code"),
    [
        ([f"{'abc'[k % 3]}|{'defg'[k % 4]}" for k in range(N)], "label-separated"),
        ([f"city {k % 140}" for k in range(N)], "label-values"),
        ([f"city {k % 20}" for k in range(N)], None),
        ([f"{k % 12}/{k % 20}" for k in range(N)], "label-values"),
    ],
    ids=["sets", "many", "few", "numbers"],
)
def test_a_label_of_very_many_classes_gets_a_sentence(write, labels, code):
    reader = read(write("t.csv", FRAME[["size"]].assign(label=labels).to_csv(index=False)))
    assert notices(reader) == ([] if code is None else [code])
    if code == "label-separated":
        assert "Use labels_separator='|'" in str(reader.notices[0])


def test_a_label_of_different_sets_names_the_separator(write):
    labels = [";".join("abcdefgh"[j] for j in range(8) if k >> j & 1) for k in range(1, 256)]
    with refused("no-label-column") as caught:
        read(write("t.csv", FRAME[["size"]][:255].assign(tags=labels).to_csv(index=False)))
    assert "label='tags' and labels_separator=';'" in str(caught.value)
