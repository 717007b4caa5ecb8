from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch
from plainformer.settings import generator, number, whole


@pytest.mark.parametrize("value", [1, 5, np.int8(5), np.uint64(7), torch.tensor(3)])
def test_whole_gives_an_int(value):
    result = whole("f", "k", value)
    assert type(result) is int and result == value


@pytest.mark.parametrize("value", [0, -1, np.int64(-3), True, np.True_, 1.0, np.float64(2), "1", None, [1], np.nan, 1j])
def test_whole_refuses(value):
    with pytest.raises(ValueError, match="^f: k must be a whole number of at least 1, got "):
        whole("f", "k", value)


@pytest.mark.parametrize("value", [0, 1, 0.5, np.float32(0.25), np.int64(1), Fraction(1, 3), 1e-320])
def test_number_gives_a_float(value):
    result = number("f", "p", value)
    assert type(result) is float and result == float(value)


@pytest.mark.parametrize("value", [-1e-300, -1, np.nan, np.inf, -np.inf, 10**400, True, "1", None, [0.5], 1j, Decimal("0.5"),
                                   np.array(0.5), torch.tensor(0.5)])
def test_number_refuses(value):
    with pytest.raises(ValueError, match="^f: p must be a finite number, at least 0, got "):
        number("f", "p", value)


@pytest.mark.parametrize("options, legal, wrong, bounds", [
    ({"high": 1}, [0, 1], [-0.1, 1.1], "at least 0 and at most 1"),
    ({"high": 1, "above": True}, [1e-300, 1], [0, 1.1], "greater than 0 and at most 1"),
    ({"high": 1, "below": True}, [0, 0.999], [1, -1], "at least 0 and less than 1"),
    ({"low": 2}, [2, 1e300], [1.9], "at least 2"),
])
def test_number_has_bounds(options, legal, wrong, bounds):
    for value in legal:
        assert number("f", "p", value, **options) == value
    for value in wrong:
        with pytest.raises(ValueError, match=f"^f: p must be a finite number, {bounds}, got {value}$"):
            number("f", "p", value, **options)


def test_generator_refuses_what_is_none():
    generator("f", np.random.default_rng(0))
    with pytest.raises(TypeError, match="^f: rng must be a numpy.random.Generator, got int$"):
        generator("f", 0)
