"""The linear map: what one weight matrix does to each row."""

from typing import Annotated, NamedTuple

from plainformer.shapes import Array, shaped


class Linear(NamedTuple):
    """Parameters of a linear map, with a bias or without: ``linear(x, *params)``."""

    weight: Annotated[Array, "(E, F)"]
    bias: Annotated[Array, "(F)?"] = None


@shaped("(..., E), (E, F), (F)? -> (..., F)")
def linear(x, weight, bias=None):
    """Map every row of width E to a row of width F: ``x @ weight + bias``.

    Output component j is the dot product of the row with column j of the weight. Rows do not see one another.
    """
    y = x @ weight
    return y if bias is None else y + bias
