"""The MLP (feed-forward network): how one token thinks by itself."""

from typing import Annotated, NamedTuple

from plainformer.activations import gelu_tanh, silu
from plainformer.linear import Linear, linear
from plainformer.settings import callback
from plainformer.shapes import Array, shaped


class MLP(NamedTuple):
    """Parameters of the plain MLP: up to width F, back down to width E."""

    up: Annotated[Linear, "(E, F)"]
    down: Annotated[Linear, "(F, E)"]


class SwiGLU(NamedTuple):
    """Parameters of the gated MLP: gate and up side by side, then down. No biases."""

    gate: Annotated[Array, "(E, F)"]
    up: Annotated[Array, "(E, F)"]
    down: Annotated[Array, "(F, E)"]


@shaped("(..., E), MLP -> (..., E)", activation=callback)
def mlp(x, params, activation=gelu_tanh):
    """Expand, bend, contract: ``activation(x @ up + up_bias) @ down + down_bias``.

    Vaswani et al. 2017, equation 2. Raises TypeError if ``activation`` is no function.
    """
    hidden = activation(linear(x, *params.up))  # (..., F)
    return linear(hidden, *params.down)


@shaped("(..., E), SwiGLU -> (..., E)")
def swiglu(x, params):
    """Scale each hidden number by a learned gate: ``(silu(x @ gate) * (x @ up)) @ down`` (Shazeer 2020)."""
    return (silu(x @ params.gate) * (x @ params.up)) @ params.down
