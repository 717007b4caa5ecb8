"""The functions that bend: each acts on every number by itself, but softmax, which acts on a row."""

import math

import numpy as np
from array_api_compat import is_torch_array

from plainformer.engines import array_namespace
from plainformer.settings import axis_number
from plainformer.shapes import shaped


@shaped("(...) -> (...)")
def relu(x):
    """max(x, 0): negative numbers become 0 (Vaswani et al. 2017, section 3.3)."""
    xp = array_namespace(x)
    # Not xp.maximum: NaN must stay NaN, and the gradient at 0 must be 0, as everywhere, and not 1/2.
    return xp.where(x <= 0, xp.zeros_like(x), x)


@shaped("(...) -> (...)")
def sigmoid(x):
    """1 / (1 + e^-x), between 0 and 1: written ``e^x / (1 + e^x)``, with x kept where e^x does not
    overflow.
    """
    xp = array_namespace(x)
    e = xp.exp(xp.minimum(x, 0.999 * math.log(xp.finfo(x.dtype).max)))
    return e / (1 + e)


@shaped("(...) -> (...)")
def silu(x):
    """x · sigmoid(x), also called swish (Elfwing et al. 2017; Ramachandran et al. 2017)."""
    return x * sigmoid(x)


@shaped("(...) -> (...)")
def gelu(x):
    """x · Φ(x), where Φ is the normal distribution function (Hendrycks and Gimpel 2016): the exact form."""
    xp = array_namespace(x)
    erf = xp.erf if is_torch_array(x) else np.vectorize(math.erf, otypes=[x.dtype])
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


@shaped("(...) -> (...)")
def gelu_tanh(x):
    """The tanh approximation of ``gelu`` (Hendrycks and Gimpel 2016, section 2), with which GPT-2 was
    trained.
    """
    xp = array_namespace(x)
    z = xp.clip(x, -30, 30)  # tanh is ±1 long before, and the cube of a large number would overflow
    return 0.5 * x * (1 + xp.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z * z * z)))


@shaped("(...) -> (...)", axis=axis_number)
def softmax(x, axis=-1):
    """Turn scores into weights that are positive and sum to 1 along ``axis``: e^x over the sum of e^x.

    The maximum is subtracted first: the weights stay the same and nothing overflows. A score of -inf gets
    weight 0; where all scores are -inf, all weights are 0.
    """
    if 0 in x.shape:
        return x  # nothing to weigh
    xp = array_namespace(x)
    top = xp.max(x, axis=axis, keepdims=True)
    e = xp.exp(x - xp.maximum(top, float(xp.finfo(x.dtype).min)))  # where all is -inf: not -inf - (-inf)
    return e / xp.maximum(xp.sum(e, axis=axis, keepdims=True), 1.0)  # the maximum alone gives e^0 = 1
