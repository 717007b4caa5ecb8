import numpy as np
import pytest
import torch
import torch.nn.functional as F
from against_torch import Case, against_pytorch
from shape_calls import ENGINES, convert, to_numpy

from plainformer.networks import GRU, LSTM, RNN, conv2d, gru_step, lstm_step, rnn, rnn_step

on_both_engines = pytest.mark.parametrize("engine", ENGINES)


def torch_conv2d(image, filters, bias=None):
    """PyTorch has the channels first."""
    channels_first = image.reshape(-1, *image.shape[-3:]).permute(0, 3, 1, 2)
    result = F.conv2d(channels_first, filters.permute(3, 2, 0, 1), bias).permute(0, 2, 3, 1)
    return result.reshape(*image.shape[:-3], *result.shape[1:])


def together(*rows):
    """PyTorch's cells know one leading axis: all others are laid into it. Returns them and how to undo it."""
    leading = np.broadcast_shapes(*(x.shape[:-1] for x in rows))
    flat = [x.expand(*leading, x.shape[-1]).reshape(-1, x.shape[-1]) for x in rows]
    return flat, lambda x: x.reshape(*leading, x.shape[-1])


def torch_rnn_step(x, state, p):
    (x, state), back = together(x, state)
    return back(torch.rnn_tanh_cell(x, state, p.input.mT, p.recurrent.mT, p.bias, torch.zeros_like(p.bias)))


def torch_lstm_step(x, state, cell, p):
    (x, state, cell), back = together(x, state, cell)
    both = torch.lstm_cell(x, (state, cell), p.input.mT, p.recurrent.mT, p.bias, torch.zeros_like(p.bias))
    return tuple(map(back, both))


def torch_gru_step(x, state, p):
    (x, state), back = together(x, state)
    return back(torch.gru_cell(x, state, p.input.mT, p.recurrent.mT, p.bias, p.recurrent_bias))


def torch_rnn(x, state, p):
    """The whole module, with our weights put in."""
    leading = np.broadcast_shapes(x.shape[:-2], state.shape[:-1])
    x = x.expand(*leading, *x.shape[-2:])
    state = state.expand(*leading, state.shape[-1])
    module = torch.nn.RNN(x.shape[-1], state.shape[-1], batch_first=True, dtype=x.dtype)
    weights = {
        "weight_ih_l0": p.input.mT,
        "weight_hh_l0": p.recurrent.mT,
        "bias_ih_l0": p.bias,
        "bias_hh_l0": torch.zeros_like(p.bias),
    }
    flat = x.reshape(-1, *x.shape[-2:]), state.reshape(1, -1, state.shape[-1])
    return torch.func.functional_call(module, weights, flat)[0].reshape(*x.shape[:-1], -1)


def step_scale(x, state, *rest):
    p = rest[-1]
    biases = p.bias.abs().amax() + (p.recurrent_bias.abs().amax() if isinstance(p, GRU) else 0)
    cell = rest[0].abs().amax() if isinstance(p, LSTM) else 0
    sums = (x.abs() @ p.input.abs()).amax() + (state.abs() @ p.recurrent.abs()).amax() + biases
    return (1 + sums) * (1 + state.abs().amax()) + cell


def rnn_scale(x, state, p):
    return step_scale(x, state, p) * (1 + p.recurrent.abs().sum(0).amax()) ** x.shape[-2]


@against_pytorch(
    Case(
        conv2d,
        torch_conv2d,
        lambda image, filters, bias=None: torch_conv2d(
            image.abs(), filters.abs(), None if bias is None else bias.abs()
        ),
    ),
    Case(rnn_step, torch_rnn_step, step_scale),
    Case(rnn, torch_rnn, rnn_scale, bound=1.0),
    Case(lstm_step, torch_lstm_step, step_scale),
    Case(gru_step, torch_gru_step, step_scale),
)
def test_against_pytorch(case, check):
    check(case)


# Convolution


@on_both_engines
def test_conv2d_is_the_sum_of_the_formula(engine):
    rng = np.random.default_rng(0)
    image, filters, bias = rng.normal(size=(5, 6, 3)), rng.normal(size=(2, 4, 3, 7)), rng.normal(size=7)
    result = conv2d(*(convert(x, engine) for x in (image, filters, bias)))
    for i, j, k in np.ndindex(4, 3, 7):
        total = bias[k] + sum(filters[u, v, c, k] * image[i + u, j + v, c] for u, v, c in np.ndindex(2, 4, 3))
        assert float(result[i, j, k]) == pytest.approx(total, rel=1e-12)


def test_conv2d_does_not_flip_the_filter():
    image, filters = np.zeros((3, 3, 1)), np.arange(4.0).reshape(2, 2, 1, 1)
    image[1, 1] = 1
    np.testing.assert_array_equal(conv2d(image, filters)[..., 0], [[3, 2], [1, 0]])


def test_conv2d_looks_the_same_everywhere():
    rng = np.random.default_rng(0)
    image, filters = rng.normal(size=(6, 6, 2)), rng.normal(size=(3, 2, 2, 4))
    moved = np.roll(image, (1, 2), axis=(0, 1))
    np.testing.assert_allclose(conv2d(moved, filters)[1:, 2:], conv2d(image, filters)[:-1, :-2], rtol=1e-12)


@pytest.mark.parametrize("size", [(4, 2), (2, 4), (9, 9), (0, 2), (2, 0), (0, 0), (0, 4)])
def test_a_filter_that_does_not_fit_into_the_image_is_named(size):
    with pytest.raises(
        ValueError,
        match="conv2d: filters have . rows and . columns, expected 1 to 3 and 1 to 3, as the image has",
    ):
        conv2d(np.ones((3, 3, 1)), np.ones((*size, 1, 1)))


# Recurrence


RNG = np.random.default_rng(1)


def numbers(*shape):
    return RNG.normal(size=shape)


@on_both_engines
def test_rnn_is_its_steps(engine):
    x, state, *rest = (
        convert(a, engine) for a in (numbers(2, 5, 3), numbers(4), numbers(3, 4), numbers(4, 4), numbers(4))
    )
    params = RNN(*rest)
    states = rnn(x, state, params)
    for t in range(5):
        state = rnn_step(x[:, t], state, params)
        np.testing.assert_array_equal(to_numpy(states[:, t]), to_numpy(state))


def test_rnn_needs_a_row():
    with pytest.raises(ValueError, match="rnn: x must hold at least one row, got T = 0"):
        rnn(np.ones((0, 3)), np.ones(4), RNN(np.ones((3, 4)), np.ones((4, 4)), np.ones(4)))


def test_an_open_lstm_keeps_its_cell_and_a_closed_one_forgets():
    gates = np.repeat([-50.0, 50, 0, 50], 4)  # nothing enters, all is kept, all shows
    keeping = LSTM(np.zeros((3, 16)), np.zeros((4, 16)), gates)
    forgetting = keeping._replace(bias=np.repeat([-50.0, -50, 0, 50], 4))
    cell = numbers(4)
    state, kept = lstm_step(numbers(3), numbers(4), cell, keeping)
    np.testing.assert_allclose(kept, cell, rtol=1e-12)
    np.testing.assert_allclose(state, np.tanh(cell), rtol=1e-12)
    np.testing.assert_allclose(lstm_step(numbers(3), numbers(4), cell, forgetting)[1], 0, atol=1e-12)


def test_the_update_gate_of_a_gru_keeps_the_state():
    params = GRU(np.zeros((3, 12)), numbers(4, 12) * 0, np.repeat([0.0, 50, 0], 4), numbers(12) * 0)
    state = numbers(4)
    np.testing.assert_allclose(gru_step(numbers(3), state, params), state, rtol=1e-12)


def test_a_wrong_number_of_gates_is_named():
    message = r"lstm_step: params.input has 4\*F = 13, but F = 4 in state: it must be 16"
    with pytest.raises(ValueError, match=message):
        lstm_step(np.ones(3), np.ones(4), np.ones(4), LSTM(np.ones((3, 13)), np.ones((4, 16)), np.ones(16)))
