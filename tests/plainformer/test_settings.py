from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch

from plainformer.settings import generator, number, token_ids, whole


@pytest.mark.parametrize("value", [1, 5, np.int8(5), np.uint64(7), torch.tensor(3)])
def test_whole_gives_an_int(value):
    result = whole("f", "k", value)
    assert type(result) is int and result == value


@pytest.mark.parametrize(
    "value", [0, -1, np.int64(-3), True, np.True_, 1.0, np.float64(2), "1", None, [1], np.nan, 1j]
)
def test_whole_refuses(value):
    with pytest.raises(ValueError, match="^f: k must be a whole number of at least 1, got "):
        whole("f", "k", value)


def test_whole_has_bounds():
    assert whole("f", "k", 0, 0) == 0 and whole("f", "k", 7, 0, 7) == 7
    for value in (-1, 8, False, 0.0, -0.0):
        with pytest.raises(ValueError, match=f"^f: k must be a whole number from 0 to 7, got {value}$"):
            whole("f", "k", value, 0, 7)
    with pytest.raises(ValueError, match="^f: k must be a whole number of at least 0, got -1$"):
        whole("f", "k", -1, 0)


@pytest.mark.parametrize(
    "values",
    [
        [3, 1],
        (3, 1),
        np.array([3, 1], "uint8"),
        torch.tensor([3, 1]),
        iter([3, 1]),
        range(3, -1, -2),
        [np.int64(3), torch.tensor(1)],
    ],
)
def test_token_ids_are_a_list_of_ints(values):
    ids = token_ids("f", "prompt", values)
    assert ids == [3, 1] and all(type(token) is int for token in ids)


@pytest.mark.parametrize(
    "values, place, got",
    [
        ([1.9, 2.2], 0, "1.9"),
        ("12", 0, "'1'"),
        ([1, True], 1, "True"),
        (np.array([2.0]), 0, "2.0"),
        (np.array([[1, 2]]), 0, r"\[1, 2\]"),
        (torch.tensor([[1], [2]]), 0, r"\[1\]"),
        (torch.tensor([True]), 0, "True"),
        ([4, -1], 1, "-1"),
        ([None], 0, "None"),
    ],
)
def test_what_is_no_token_id_is_named(values, place, got):
    with pytest.raises(
        ValueError, match=rf"^f: prompt\[{place}\] must be a whole number of at least 0, got {got}$"
    ):
        token_ids("f", "prompt", values)


@pytest.mark.parametrize(
    "values, got", [(None, "None"), (5, "5"), (np.array(5), r"array\(5\)"), (torch.tensor(5), r"tensor\(5\)")]
)
def test_what_is_no_list_of_token_ids_is_named(values, got):
    with pytest.raises(TypeError, match=f"^f: prompt must be a list of token ids, got {got}$"):
        token_ids("f", "prompt", values)


def test_token_ids_end_before_the_vocabulary():
    assert token_ids("f", "ids", [6], 7) == [6]
    with pytest.raises(ValueError, match=r"^f: ids\[1\] must be a whole number from 0 to 6, got 7$"):
        token_ids("f", "ids", [0, 7], 7)


@pytest.mark.parametrize("value", [0, 1, 0.5, np.float32(0.25), np.int64(1), Fraction(1, 3), 1e-320])
def test_number_gives_a_float(value):
    result = number("f", "p", value)
    assert type(result) is float and result == float(value)


@pytest.mark.parametrize(
    "value",
    [
        -1e-300,
        -1,
        np.nan,
        np.inf,
        -np.inf,
        10**400,
        True,
        "1",
        None,
        [0.5],
        1j,
        Decimal("0.5"),
        np.array(0.5),
        torch.tensor(0.5),
    ],
)
def test_number_refuses(value):
    with pytest.raises(ValueError, match="^f: p must be a finite number, at least 0, got "):
        number("f", "p", value)


@pytest.mark.parametrize(
    "options, legal, wrong, bounds",
    [
        ({"high": 1}, [0, 1], [-0.1, 1.1], "at least 0 and at most 1"),
        ({"high": 1, "above": True}, [1e-300, 1], [0, 1.1], "greater than 0 and at most 1"),
        ({"high": 1, "below": True}, [0, 0.999], [1, -1], "at least 0 and less than 1"),
        ({"low": 2}, [2, 1e300], [1.9], "at least 2"),
    ],
)
def test_number_has_bounds(options, legal, wrong, bounds):
    for value in legal:
        assert number("f", "p", value, **options) == value
    for value in wrong:
        with pytest.raises(ValueError, match=f"^f: p must be a finite number, {bounds}, got {value}$"):
            number("f", "p", value, **options)


def test_generator_refuses_what_is_none():
    generator("f", "rng", np.random.default_rng(0))
    with pytest.raises(TypeError, match="^f: rng must be a numpy.random.Generator, got int$"):
        generator("f", "rng", 0)
