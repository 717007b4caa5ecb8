"""What came before attention: convolution, which sees a neighbourhood, and recurrence, which reads row after
row.

Axis letters of this module: I and J an image's rows and columns, U and V a filter's, C channels in, K
channels out; E the width of an input row, F the width of a state.
"""

from typing import Annotated, NamedTuple

from plainformer.activations import sigmoid
from plainformer.engines import array_namespace
from plainformer.linear import linear
from plainformer.shapes import Array, shaped


@shaped("(..., I, J, C), (U, V, C, K), (K)? -> (..., I-U+1, J-V+1, K)")
def conv2d(image, filters, bias=None):
    """Slide K small filters over an image: y[i, j, k] = bias[k] + Σ filters[u, v, c, k] · image[i+u, j+v, c].

    Deep learning calls it a convolution; without the flip of the filter it is a cross-correlation (LeCun et
    al. 1998). No padding: the filter stays inside. Raises ValueError for a filter that is empty or larger
    than the image.
    """
    rows, columns = image.shape[-3] - filters.shape[0] + 1, image.shape[-2] - filters.shape[1] + 1
    if rows < 1 or columns < 1 or 0 in filters.shape[:2]:
        facts = f"filters have {filters.shape[0]} rows and {filters.shape[1]} columns"
        raise ValueError(
            f"conv2d: {facts}, expected 1 to {image.shape[-3]} and 1 to {image.shape[-2]}, as the image has"
        )
    y = 0 if bias is None else bias
    for u in range(filters.shape[0]):
        for v in range(filters.shape[1]):
            y = y + image[..., u : u + rows, v : v + columns, :] @ filters[u, v]
    return y


class RNN(NamedTuple):
    """Parameters of a plain recurrent network."""

    input: Annotated[Array, "(E, F)"]
    recurrent: Annotated[Array, "(F, F)"]
    bias: Annotated[Array, "(F)"]


class LSTM(NamedTuple):
    """Parameters of a long short-term memory. Side by side: input gate, forget gate, candidate, output
    gate.
    """

    input: Annotated[Array, "(E, 4*F)"]
    recurrent: Annotated[Array, "(F, 4*F)"]
    bias: Annotated[Array, "(4*F)"]


class GRU(NamedTuple):
    """Parameters of a gated recurrent unit. Side by side: reset gate, update gate, candidate."""

    input: Annotated[Array, "(E, 3*F)"]
    recurrent: Annotated[Array, "(F, 3*F)"]
    bias: Annotated[Array, "(3*F)"]
    recurrent_bias: Annotated[Array, "(3*F)"]


@shaped("(..., E), (..., F), RNN -> (..., F)")
def rnn_step(x, state, params):
    """The next state, from a row and the state before: tanh(x @ input + state @ recurrent + bias) (Elman
    1990).
    """
    xp = array_namespace(x)
    return xp.tanh(linear(x, params.input, params.bias) + linear(state, params.recurrent))


@shaped("(..., T, E), (..., F), RNN -> (..., T, F)")
def rnn(x, state, params):
    """All T states of a recurrent network that reads x row by row, beginning with ``state``.

    Raises ValueError for no rows at all.
    """
    if x.shape[-2] == 0:
        raise ValueError("rnn: x must hold at least one row, got T = 0")
    xp = array_namespace(x)
    states = []
    for t in range(x.shape[-2]):
        state = rnn_step(x[..., t, :], state, params)
        states.append(state)
    return xp.stack(states, axis=-2)


@shaped("(..., E), (..., F), (..., F), LSTM -> (..., F), (..., F)")
def lstm_step(x, state, cell, params):
    """The next state and the next cell (Hochreiter and Schmidhuber 1997; with a forget gate, Gers et al.
    2000).

    The gates, numbers from 0 to 1, say how much of the old cell stays, how much of the candidate enters, and
    how much shows. The cell is added to, not multiplied by a matrix: so its gradient reaches far back.
    """
    xp = array_namespace(x)
    enter, keep, candidate, show = pieces(
        linear(x, params.input, params.bias) + linear(state, params.recurrent), 4
    )
    cell = sigmoid(keep) * cell + sigmoid(enter) * xp.tanh(candidate)
    return sigmoid(show) * xp.tanh(cell), cell


@shaped("(..., E), (..., F), GRU -> (..., F)")
def gru_step(x, state, params):
    """The next state: a blend of the old one and a candidate, by the update gate (Cho et al. 2014).

    The reset gate says how much of the old state the candidate sees. It acts after the recurrent map, as in
    PyTorch.
    """
    xp = array_namespace(x)
    reset, update, candidate = pieces(linear(x, params.input, params.bias), 3)
    old_reset, old_update, old_candidate = pieces(linear(state, params.recurrent, params.recurrent_bias), 3)
    new = xp.tanh(candidate + sigmoid(reset + old_reset) * old_candidate)
    keep = sigmoid(update + old_update)
    return keep * state + (1 - keep) * new


def pieces(x, count):
    """Cut each row into ``count`` pieces of equal width."""
    width = x.shape[-1] // count
    return [x[..., i * width : (i + 1) * width] for i in range(count)]
