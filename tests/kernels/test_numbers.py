"""Decimals are rounded once, to the nearest float."""

from fractions import Fraction

import numpy as np
from hypothesis import example, given, settings, strategies as st

from rosenblatt.kernels import lines, numbers

from .texts import svmlight


def nearest(decimal, dtype):
    """The float nearest to a decimal, of two the even one; beyond the largest comes infinity."""
    exact = abs(Fraction(decimal))
    largest = Fraction(float(np.finfo(dtype).max))
    with np.errstate(over="ignore"):
        near = dtype(float(min(exact, largest)))
        floats = {near, np.nextafter(near, dtype(0)), np.nextafter(near, dtype(np.inf))}

    def distance(x):
        unit = largest - Fraction(float(np.nextafter(np.finfo(dtype).max, dtype(0))))
        value = Fraction(float(x)) if np.isfinite(x) else largest + unit
        return abs(value - exact), x.view(f"u{x.itemsize}") % 2

    return -min(floats, key=distance) if decimal[0] == "-" else min(floats, key=distance)


def check_number(decimal):
    for dtype in np.float32, np.float64:
        expected = nearest(decimal, dtype)
        _, rows, end = svmlight(b"0 0:" + decimal.encode() + b"\n", dtype)
        if np.isinf(expected):
            assert (end.error, end.where) == (lines.VALUE_TOO_LARGE, 4)
        else:
            assert end.error == 0
            assert rows == [[(0, float(expected))]]
            assert np.signbit(rows[0][0][1]) == (decimal[0] == "-")


@st.composite
def decimals(draw):
    whole = draw(st.text("0123456789", max_size=draw(st.sampled_from([1, 8, 20, 100]))))
    part = draw(st.none() | st.text("0123456789", max_size=draw(st.sampled_from([3, 18, 100]))))
    if not whole and not part:
        whole = "7"
    exponents = st.integers(-30, 30) | st.integers(-400, 330)
    exponent = draw(st.none() | st.builds("{}{:+d}".format, st.sampled_from("eE"), exponents))
    point = "" if part is None else "." + part
    return draw(st.sampled_from(["", "-", "+"])) + whole + point + (exponent or "")


@settings(max_examples=400)
@given(decimals())
@example("16777217")
@example("16777217.0000000000000000000000000000000001")
@example("340282356779733661637539395458142568447.9")
@example("340282356779733661637539395458142568448")
@example("7.006492321624085354618e-46")
@example("2.4703282292062327208e-324")
@example("2.4703282292062327209e-324")
@example("2.2250738585072011e-308")
@example("1.7976931348623158e308")
@example("1.7976931348623159e308")
@example("0." + "0" * 400 + "1e401")
@example("1" + "0" * 400 + "e-400")
@example("25e-0000000000000001")
@example("123456789012345678")
@example("12345678.1234567890")
def test_decimals_are_rounded_once(decimal):
    check_number(decimal)


@given(st.integers(0, 0x7FEFFFFFFFFFFFFF), st.booleans())
def test_the_middle_between_two_floats_goes_to_the_even_one(bits, short):
    if short:
        bits %= 0x7F7FFFFF
    unsigned, dtype = (np.uint32, np.float32) if short else (np.uint64, np.float64)
    low, high = unsigned(bits).view(dtype), unsigned(bits + 1).view(dtype)
    middle = (Fraction(float(low)) + Fraction(float(high))) / 2
    places = 1100
    digits = f"{middle.numerator * 10**places // middle.denominator:0{places + 1}d}"
    exact = digits[:-places] + "." + digits[-places:]
    check_number(exact)
    check_number(exact + "1")
    check_number(f"{int(digits) - 1}e-{places}")


def test_every_power_of_ten_is_rounded_down_to_64_bits():
    for e in range(numbers.LEAST, numbers.MOST + 1):
        P, q = numbers.power_of_ten(e)
        assert P.bit_length() == 64
        assert 0 <= Fraction(10) ** e - P * Fraction(2) ** q < Fraction(2) ** q


def test_an_interrupt_while_python_rounds_leaves_no_wrong_number(monkeypatch):
    def interrupted(text, single):
        raise KeyboardInterrupt

    monkeypatch.setattr(numbers, "nearest_float", interrupted)
    assert svmlight(b"0 0:16777217.0000000001\n", np.float32)[2].error == lines.VALUE_TOO_LARGE
