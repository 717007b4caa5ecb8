"""What keeps many layers standing: normalization of each row, and dropout in training."""

import functools
from typing import Annotated, NamedTuple

from plainformer.engines import array_namespace, on_engine_of
from plainformer.settings import generator, number
from plainformer.shapes import Array, shaped


class LayerNorm(NamedTuple):
    """Parameters of a layer norm."""

    gain: Annotated[Array, "(E)"]
    bias: Annotated[Array, "(E)"]


@shaped("(..., E), (E), (E) -> (..., E)", eps=number)
def layer_norm(x, gain, bias, eps=1e-5):
    """Shift each row to mean 0, scale it to variance 1, and apply the learned gain and bias (Ba et al. 2016).

    The variance divides by E, not E - 1, and eps stands inside the root. A flat row gives the bias (eps = 0
    would make it 0/0).
    """
    xp = array_namespace(x)
    centered = x - xp.mean(x, axis=-1, keepdims=True)
    variance = xp.mean(centered * centered, axis=-1, keepdims=True)
    return centered / xp.sqrt(variance + eps) * gain + bias


@shaped("(..., E), (E) -> (..., E)", eps=number)
def rms_norm(x, gain, eps=1e-5):
    """Divide each row by its root mean square, then apply the learned gain (Zhang and Sennrich 2019)."""
    xp = array_namespace(x)
    mean_square = xp.mean(x * x, axis=-1, keepdims=True)
    return x / xp.sqrt(mean_square + eps) * gain


@shaped("(...) -> (...)", rate=functools.partial(number, high=1, below=True), rng=generator)
def dropout(x, rate, rng):
    """Zero each number with probability ``rate``, divide the rest by 1 - rate: the mean stays.

    Srivastava et al. 2014. For training only; in inference the rate is 0 and x passes unchanged. ``rng`` is a
    ``numpy.random.Generator``. Raises ValueError unless 0 ≤ rate < 1, TypeError for another kind of ``rng``.
    """
    if rate == 0:
        return x
    xp = array_namespace(x)
    keep = on_engine_of(x, rng.random(tuple(x.shape)) >= rate)
    return xp.where(keep, x / (1 - rate), xp.zeros_like(x))
