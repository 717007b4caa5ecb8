import math
from fractions import Fraction

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from against_torch import Case, against_pytorch, close
from hypothesis import given
from hypothesis import strategies as st
from shape_calls import ENGINES, calls, convert, to_numpy

from plainformer.activations import gelu, gelu_tanh, relu, sigmoid, silu, softmax

ELEMENTWISE = [relu, sigmoid, silu, gelu, gelu_tanh]
FAR = 1e30  # a magnitude that float32 holds, and its cube does not
MAGNITUDES = np.array(
    [0, 1e-300, 1e-30, 1e-3, 0.5, 1, 3, 6, 20, 30, 31, 88, 104, 709, 746, 1e4, 1e13, 1e30, 1e38]
)


def last_axis(x):
    return F.softmax(x, dim=-1)


@against_pytorch(
    Case(relu, F.relu, bound=FAR),
    Case(sigmoid, torch.sigmoid, bound=FAR),
    Case(silu, F.silu, bound=FAR),
    # 1 + erf(x) and 1 + tanh(x) cancel for negative x.
    Case(gelu, F.gelu, torch.abs, bound=FAR),
    Case(gelu_tanh, lambda x: F.gelu(x, approximate="tanh"), torch.abs, bound=FAR),
    Case(softmax, last_axis, torch.ones_like, bound=FAR),
)
def test_against_pytorch(case, check):
    check(case)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", [*ELEMENTWISE, softmax], ids=lambda f: f.__name__)
def test_no_magnitude_overflows(function, dtype, engine):
    for x in (MAGNITUDES, -MAGNITUDES):
        result = to_numpy(function(convert(x, engine, dtype)))
        assert np.isfinite(result).all()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("function", [relu, silu, gelu, gelu_tanh], ids=lambda f: f.__name__)
def test_far_from_zero_all_are_relu(function, engine):
    x = np.array([-1e300, -1e38, -1e13, -1e4, 1e4, 1e13, 1e38, 1e300])
    np.testing.assert_array_equal(to_numpy(function(convert(x, engine))), np.maximum(x, 0))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("function", [*ELEMENTWISE, softmax], ids=lambda f: f.__name__)
def test_nan_is_not_swallowed(function, engine):
    with np.errstate(invalid="ignore"):
        result = function(convert(np.array([np.nan]), engine))
    assert np.isnan(to_numpy(result)).all()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "function, expected",
    [
        (gelu, [-0.00404969, -0.04550026, -0.15865525, 0.84134475, 1.95449974, 2.99595031]),
        (gelu_tanh, [-0.00363739, -0.04540231, -0.15880801, 0.84119199, 1.95459769, 2.99636261]),
    ],
    ids=["exact", "tanh"],
)
def test_the_two_forms_of_gelu(function, expected, engine):
    with np.errstate(all="raise"):
        result = function(convert(np.array([-3.0, -2, -1, 1, 2, 3]), engine))
    np.testing.assert_allclose(to_numpy(result), expected, rtol=0, atol=6e-9)


def test_gelu_is_x_times_the_normal_distribution_function():
    for x in (-4.0, -1.0, 0.0, 0.3, 2.5):
        assert gelu(np.array([x]))[0] == pytest.approx(x * (1 + math.erf(x / math.sqrt(2))) / 2, rel=1e-14)


def test_relu_is_flat_at_zero():
    x = torch.zeros(1, requires_grad=True)
    relu(x).backward()
    assert x.grad == 0


# softmax


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "scores, expected",
    [
        ([1000, 1001], [0.26894142, 0.73105858]),
        ([-1001, -1000], [0.26894142, 0.73105858]),
        ([1, 2, 3], [0.09003057, 0.24472847, 0.66524096]),
        ([-np.inf, 0, 0], [0, 0.5, 0.5]),
        ([-np.inf, -np.inf], [0, 0]),
        ([-20000.0, -np.inf], [1, 0]),
        ([7], [1]),
    ],
)
def test_softmax_values(scores, expected, engine):
    x = np.array(scores)
    with np.errstate(all="raise"):
        result = softmax(convert(x, engine))
    np.testing.assert_allclose(to_numpy(result), expected, rtol=0, atol=1e-7 if engine == "torch" else 6e-9)
    np.testing.assert_array_equal(x, scores)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("axis", range(-3, 3))
@given(data=st.data())
def test_softmax_along_every_axis(engine, axis, data):
    size = st.integers(1, 4)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    x = 5 * rng.normal(size=(data.draw(size), data.draw(size), data.draw(size)))
    result = to_numpy(softmax(convert(x, engine), axis=axis))
    close(result, F.softmax(torch.tensor(x), dim=axis), 1e-12, 1e-300)
    np.testing.assert_allclose(result.sum(axis=axis), 1, rtol=1e-14)


def test_softmax_of_a_square_sums_rows_not_columns():
    x = np.random.default_rng(0).normal(size=(3, 3))
    np.testing.assert_allclose(softmax(x).sum(axis=1), 1)
    assert np.abs(softmax(x).sum(axis=0) - 1).max() > 0.1


@given(calls(softmax, bound=50.0))
def test_softmax_does_not_care_about_a_constant(call):
    (x,) = call.arguments()
    np.testing.assert_allclose(softmax(x + 37), softmax(x), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("engine", ENGINES)
def test_softmax_of_nothing(engine):
    assert softmax(convert(np.ones((2, 0)), engine)).shape == (2, 0)
    assert softmax(convert(np.ones((0, 2)), engine)).shape == (0, 2)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("axis", [0.5, 1.0, "1", None, (0, 1), Fraction(1), True, np.True_])
def test_softmax_names_a_wrong_axis(axis, engine):
    with pytest.raises(ValueError, match="softmax: axis must be a whole number, the place of an axis, got"):
        softmax(convert(np.ones((2, 2)), engine), axis=axis)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("axis", [2, -3])
def test_softmax_takes_no_axis_that_is_not_there(axis, engine):
    with pytest.raises(IndexError, match="out of (bounds|range)"):
        softmax(convert(np.ones((2, 2)), engine), axis=axis)


@pytest.mark.parametrize("engine", ENGINES)
def test_softmax_takes_an_axis_from_numpy(engine):
    x = convert(np.array([[1.0, 2.0], [4.0, 3.0]]), engine)
    np.testing.assert_array_equal(to_numpy(softmax(x, np.int64(0))), to_numpy(softmax(x, 0)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sigmoid_is_right_to_the_last_digits_far_out(dtype):
    z = np.array([-80, -40, -20, -5, 5, 20], dtype)
    expected = torch.sigmoid(torch.tensor(z)).numpy()
    assert np.max(np.abs(sigmoid(z) / expected - 1)) < 8 * np.finfo(dtype).eps
    assert silu(np.array([-1e30], dtype)) == 0
