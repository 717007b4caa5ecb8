import numpy as np
import pytest
import torch
import torch.nn.functional as F
from against_torch import Case, against_pytorch
from hypothesis import given
from hypothesis import strategies as st
from shape_calls import ENGINES, calls, convert, to_numpy

from plainformer.normalization import dropout, layer_norm, rms_norm

on_both_engines = pytest.mark.parametrize("engine", ENGINES)


def layer_norm_scale(x, gain, bias):
    """Centring costs an epsilon of the largest number; dividing by the deviation makes that larger."""
    width = x.shape[-1]
    deviation = (x.var(-1, correction=0, keepdim=True) + 1e-5).sqrt()
    return x.abs().amax(-1, keepdim=True) / deviation * (1 + width**0.5) * gain.abs() + bias.abs()


@against_pytorch(
    Case(
        layer_norm, lambda x, gain, bias: F.layer_norm(x, gain.shape, gain, bias, eps=1e-5), layer_norm_scale
    ),
    Case(rms_norm, lambda x, gain: F.rms_norm(x, gain.shape, gain, eps=1e-5)),
)
def test_against_pytorch(case, check):
    check(case)


@pytest.mark.parametrize("eps", [1e-12, 1e-6, 1e-3, 1])
def test_eps_against_pytorch(eps):
    torch.manual_seed(0)
    x, gain, bias = torch.randn(4, 5, dtype=torch.float64) * 1e-2, *torch.randn(2, 5, dtype=torch.float64)
    torch.testing.assert_close(
        layer_norm(x, gain, bias, eps), F.layer_norm(x, (5,), gain, bias, eps), rtol=1e-12, atol=1e-13
    )
    torch.testing.assert_close(rms_norm(x, gain, eps), F.rms_norm(x, (5,), gain, eps), rtol=1e-12, atol=1e-13)


@on_both_engines
@pytest.mark.parametrize(
    "x, expected",
    [
        ([1.0, 0, 0, 0], [1.73200462, -0.57733487, -0.57733487, -0.57733487]),  # the variance divides by n
        ([1e-3, -1e-3], [0.30151134, -0.30151134]),  # eps stands inside the root
        ([7.0, 7, 7, 7], [0, 0, 0, 0]),
        ([7, 7, 7, 7], [0, 0, 0, 0]),
    ],
)
def test_layer_norm_values(x, expected, engine):
    row = convert(np.array(x), engine)
    ones, zeros = convert(np.ones(len(x)), engine), convert(np.zeros(len(x)), engine)
    with np.errstate(all="raise"):
        result = layer_norm(row, ones, zeros, eps=1e-5)
    np.testing.assert_allclose(to_numpy(result), expected, rtol=0, atol=6e-9)


@on_both_engines
def test_rms_norm_values(engine):
    x = convert(np.array([1e-3, 2e-3, 2e-3, 4e-3]), engine)
    with np.errstate(all="raise"):
        result = rms_norm(x, convert(np.ones(4), engine), eps=1e-5)
    np.testing.assert_allclose(
        to_numpy(result), [0.24806947, 0.49613894, 0.49613894, 0.99227788], rtol=0, atol=6e-9
    )


@on_both_engines
@given(value=st.floats(-1e6, 1e6), width=st.integers(1, 9))
def test_a_flat_row_gives_the_bias(value, width, engine):
    bias = np.arange(width) / 8
    x, gain, offset = (convert(y, engine) for y in (np.full((2, width), value), np.ones(width), bias))
    rounding = 8 * np.finfo(float).eps * abs(value) / np.sqrt(1e-5)
    np.testing.assert_allclose(
        to_numpy(layer_norm(x, gain, offset)), np.stack([bias, bias]), rtol=0, atol=rounding
    )


@given(calls(layer_norm))
def test_layer_norm_has_mean_0_and_variance_1_before_the_gain(call):
    x, gain, bias = call.arguments()
    rows = layer_norm(x, np.ones_like(gain), np.zeros_like(bias))
    variance = x.var(axis=-1)
    tolerance = 64 * np.finfo(float).eps * np.abs(x).max() / np.sqrt(1e-5)
    np.testing.assert_allclose(rows.mean(axis=-1), 0, atol=tolerance)
    np.testing.assert_allclose(rows.var(axis=-1), variance / (variance + 1e-5), rtol=1e-9, atol=tolerance)


@pytest.mark.parametrize(
    "eps", [-1e-5, np.nan, np.inf, "1e-5", None, True, 1j, np.array(1e-5), torch.tensor(1e-5)]
)
def test_a_wrong_eps_is_named(eps):
    with pytest.raises(ValueError, match="layer_norm: eps must be a finite number, at least 0, got"):
        layer_norm(np.ones(3), np.ones(3), np.ones(3), eps=eps)
    with pytest.raises(ValueError, match="rms_norm: eps must be a finite number, at least 0, got"):
        rms_norm(np.ones(3), np.ones(3), eps=eps)


@on_both_engines
def test_a_numpy_setting_does_not_change_the_precision(engine):
    x = convert(np.ones(3), engine, "float32")
    for result in (
        layer_norm(x, x, x, np.float64(1e-5)),
        rms_norm(x, x, np.float64(1e-5)),
        dropout(x, np.float64(0.5), np.random.default_rng(0)),
    ):
        assert result.dtype == x.dtype


@on_both_engines
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_squares_do_not_overflow_half_precision(engine, dtype):
    if engine == "numpy" and dtype == "bfloat16":
        return  # NumPy has none
    x = convert(np.array([3e4, -3e4, 6e4, 1e4]), engine, dtype)
    ones, zeros = (convert(y, engine, dtype) for y in (np.ones(4), np.zeros(4)))
    exact = torch.tensor(to_numpy(x))
    step = torch.finfo(getattr(torch, dtype)).eps
    np.testing.assert_allclose(to_numpy(rms_norm(x, ones)), F.rms_norm(exact, (4,)), rtol=step)
    np.testing.assert_allclose(
        to_numpy(layer_norm(x, ones, zeros)), F.layer_norm(exact, (4,)), rtol=step, atol=1e-6
    )


# Dropout


@on_both_engines
@given(rate=st.floats(0.01, 0.99), seed=st.integers(0, 1000))
def test_dropout_keeps_a_number_scaled_or_zeroes_it(engine, rate, seed):
    x = np.random.default_rng(seed).normal(size=(3, 5))
    result = to_numpy(dropout(convert(x, engine), rate, np.random.default_rng(seed)))
    dropped = result == 0
    np.testing.assert_allclose(result, np.where(dropped, 0, x / (1 - rate)), rtol=1e-14)
    np.testing.assert_array_equal(result, dropout(x, rate, np.random.default_rng(seed)))


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_dropout_keeps_the_mean_and_drops_at_the_rate(rate):
    draws = 100_000
    result = dropout(np.ones(draws), rate, np.random.default_rng(0))
    error = 4 * np.sqrt(rate * (1 - rate) / draws)  # four standard errors
    assert abs((result == 0).mean() - rate) < error
    assert abs(result.mean() - 1) < error / (1 - rate)


@on_both_engines
def test_dropout_at_rate_0_is_the_identity_and_draws_nothing(engine):
    rng = np.random.default_rng(0)
    x = convert(np.array([1.5, -2.0, 0.0]), engine)
    np.testing.assert_array_equal(to_numpy(dropout(x, 0, rng)), to_numpy(x))
    assert rng.random() == np.random.default_rng(0).random()


def test_dropout_uses_and_moves_the_generator():
    rng = np.random.default_rng(0)
    first, second = dropout(np.ones(100), 0.5, rng), dropout(np.ones(100), 0.5, rng)
    assert (first != second).any()


@pytest.mark.parametrize("rate", [-0.1, 1, 1.0, 1.5, np.nan, np.inf, "0.5", None, True])
def test_a_wrong_rate_is_named(rate):
    with pytest.raises(
        ValueError, match="dropout: rate must be a finite number, at least 0 and less than 1, got"
    ):
        dropout(np.ones(3), rate, np.random.default_rng(0))


@pytest.mark.parametrize("rng", [None, 0, np.random, np.random.RandomState(0), torch.Generator()])
@pytest.mark.parametrize("rate", [0, 0.5])
def test_a_wrong_generator_is_named(rate, rng):
    with pytest.raises(TypeError, match="dropout: rng must be a numpy.random.Generator, got"):
        dropout(np.ones(3), rate, rng)
