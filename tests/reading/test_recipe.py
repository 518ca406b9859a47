"""How features are made, and made again from another file."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from ..reference import hash_bytes
from .samples import NUMBERS, PEOPLE, VW, category, number, product, read, refused, whole


def test_what_cannot_be_asked_for(write):
    path = write("data.csv", NUMBERS)
    for wrong in (
        {"ngrams": (2, 1)},
        {"bits": 40},
        {"first": 2},
        {"dtype": np.int32},
        {"batch_bytes": 0},
        {"scale": "big"},
        {"threads": 0},
        {"features": {"what": 1}},
    ):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            read(path, **wrong)


@pytest.mark.parametrize("text", [NUMBERS, PEOPLE])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_features_are_made_again_from_columns_in_another_order(write, text, kind):
    frame = pd.read_csv(io.StringIO(text))
    options = {"text": ["text"], "pairs": True} if text is PEOPLE else {}
    reader = read(write("one.csv", text), **options)
    features = json.loads(json.dumps(reader.features()))
    expected = whole(reader)

    other = frame[frame.columns[::-1]].assign(extra="words, and more", more=1)
    other = other.to_csv(index=False) if kind == "csv" else other
    again = read(write("other." + kind, other), features=features)
    assert whole(again) == expected
    assert json.loads(json.dumps(again.features())) == features

    unlabelled = frame.drop(columns=features["label"])
    unlabelled = unlabelled.to_csv(index=False) if kind == "csv" else unlabelled
    path = write("unlabelled." + kind, unlabelled)
    assert whole(read(path, features=features)) == ([None] * 200, *expected[1:])
    with refused("no-column"):
        read(path, features=features, label=features["label"])
    assert whole(read(write("one.csv", text), features=features, label=False))[0] == [None] * 200
    with refused("no-column"):
        read(write("few.csv", "y,a\n1,2\n"), features=features)


def test_features_of_lines_are_made_again():
    zero = read(io.BytesIO(b"1 0:1 1:1\n"), format="svm").features()
    assert whole(read(io.BytesIO(b"1 1:1\n"), format="svm", features=zero))[2] == [[(1, 1)]]
    vw = read(io.BytesIO(VW), format="vw", bits=5, pairs=True)
    assert whole(read(io.BytesIO(VW), format="vw", features=vw.features())) == whole(vw)
    with refused("other-format"):
        read(io.BytesIO(VW), format="vw", features=zero)
    assert whole(read(io.BytesIO(VW), format="vw", label=False))[0] == [None] * 200


def test_products_are_the_naive_ones(monkeypatch):
    monkeypatch.setattr("rosenblatt.reading.parser.MOST_PRODUCTS", 20)
    text = b"n,c,d,y\n" + b"2,red,up,1\n3,,down,0\n,blue,,1\n" * 3
    reader = read(io.BytesIO(text), format="csv", pairs=True, names=99)
    n, up, down = number("n"), category("d", "up"), category("d", "down")
    red, blue = category("c", "red"), category("c", "blue")
    products = (
        (product(n, red), 2),
        (product(*sorted((n, up))), 2),
        (product(*sorted((red, up))), 1),
    )
    first = [(n, 2), (red, 1), (up, 1), *products]
    expected = [first, [(n, 3), (down, 1), (product(*sorted((n, down))), 3)], [(blue, 1)]] * 3
    assert whole(reader) == ([1, 0, 1] * 3, [], expected)
    assert reader.names[product(n, red)] == "n × c=red"

    line = b"1 |a x y |b z\n"
    space_a, space_b, mask = hash_bytes(b"a"), hash_bytes(b"b"), 2**18 - 1
    x, y = hash_bytes(b"x", space_a) & mask, hash_bytes(b"y", space_a) & mask
    z = hash_bytes(b"z", space_b) & mask
    products = [(product(*sorted(pair)), 1) for pair in ((x, y), (x, z), (y, z))]
    _, _, (row,) = whole(read(io.BytesIO(line), format="vw", pairs=True))
    assert row == [(i, 1) for i in (x, y, z)] + products


def test_pairs_of_a_table_of_numbers_are_hashed():
    a, b = number("a"), number("b")
    _, _, rows = whole(read(io.BytesIO(b"a,b,y\n2,3,1\n0,1,0\n"), format="csv", pairs=True))
    assert rows == [[(a, 2), (b, 3), (product(*sorted((a, b))), 6)], [(b, 1)]]


def test_products_have_bounds(monkeypatch):
    monkeypatch.setattr("rosenblatt.reading.parser.MOST_PRODUCTS", 1)
    line = b"1 |a " + b" ".join(b"f%d" % i for i in range(20)) + b"\n"
    with refused("too-many-products"):
        list(read(io.BytesIO(line), format="vw", pairs=True))


def test_features_are_made_as_before_and_not_otherwise(write):
    features = read(write("data.csv", NUMBERS)).features()
    with refused("features-and-options"):
        read(write("data.csv", NUMBERS), features=features, pairs=True)
    assert whole(read(write("data.csv", NUMBERS), features=features, text=[]))[2]


def test_a_string_is_one_name(write):
    reader = read(write("p.csv", PEOPLE), text="text")
    assert [kind for _, kind in reader.columns] == ["number", "category", "text"]
