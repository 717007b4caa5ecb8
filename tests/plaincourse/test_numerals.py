"""Numbers as people read them."""

from decimal import Decimal

import numpy as np
import pytest

from plaincourse.exercises import _words
from plaincourse.numerals import fixed, real, short


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.125, 2, "0.12"),
        (-1.5, 1, "−1.5"),
        (-0.001, 2, "0.00"),
        (-np.inf, 2, "−∞"),
        (Decimal("2.50"), 1, "2.5"),
        (-0.5, 0, "0"),
    ],
)
def test_a_fixed_number_has_its_decimals_and_a_true_minus(value, digits, text):
    assert fixed(value, digits) == text


def test_thousands_are_grouped_where_asked_for():
    assert fixed(2359296, 0, ",") == "2,359,296" and fixed(2359296, 0) == "2359296"


@pytest.mark.parametrize(
    ("value", "text"),
    [(2.0, "2"), (0.1 + 0.2, "0.3"), (-1e-9, "0"), (100.0, "100"), (-1234.5, "−1234.5"), (np.inf, "∞")],
)
def test_a_short_number_has_no_trailing_zeros(value, text):
    assert short(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.array([0.5, 1.25]), "[0.5, 1.25]"),
        (np.array([True, False]), "[True, False]"),
        (np.array([[124_439_808.0, -2e20]]), "[[124439808, −2.0000e+20]] of shape (1, 2)"),
        (np.array([np.nan, -np.inf]), "[nan, −∞]"),
        (1e-5, "0.00001"),
    ],
)
def test_messages_write_arrays_the_same_way(value, text):
    assert _words.short(value) == text


def test_what_is_no_number_is_none():
    assert real([1, 2.5]).tolist() == [1, 2.5] and real([True], truth=True).tolist() == [1]
    for value in (["1"], [True], [None], [[1], [1, 2]], np.ma.masked, [10**400]):
        assert real(value) is None
