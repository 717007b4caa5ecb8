"""The MLP (feed-forward network): how one token thinks by itself."""

from typing import Annotated, NamedTuple

from plainformer.activations import gelu_tanh, silu
from plainformer.linear import linear
from plainformer.shapes import Array, shaped


class MLP(NamedTuple):
    """Parameters of the plain MLP: up to width F, back down to width E."""

    up: Annotated[Array, "(E, F)"]
    up_bias: Annotated[Array, "(F)"]
    down: Annotated[Array, "(F, E)"]
    down_bias: Annotated[Array, "(E)"]


class SwiGLU(NamedTuple):
    """Parameters of the gated MLP: gate and up side by side, then down. No biases."""

    gate: Annotated[Array, "(E, F)"]
    up: Annotated[Array, "(E, F)"]
    down: Annotated[Array, "(F, E)"]


@shaped("(..., E), MLP -> (..., E)")
def mlp(x, params, activation=gelu_tanh):
    """Expand, bend, contract: ``activation(x @ up + up_bias) @ down + down_bias`` (Vaswani et al. 2017,
    equation 2).

    Raises TypeError if ``activation`` is no function.
    """
    if not callable(activation):
        raise TypeError(f"mlp: activation must be a function, got {type(activation).__name__}")
    hidden = activation(linear(x, params.up, params.up_bias))
    return linear(hidden, params.down, params.down_bias)


@shaped("(..., E), SwiGLU -> (..., E)")
def swiglu(x, params):
    """Scale each hidden number by a learned gate: ``(silu(x @ gate) * (x @ up)) @ down`` (Shazeer 2020,
    equation 6).
    """
    return linear(silu(linear(x, params.gate)) * linear(x, params.up), params.down)
