"""From logits to a word: temperature, then top-k, then top-p, then softmax, then a draw. NumPy only.

Each filter maps logits to logits of the same order and length; -inf means dropped. All arithmetic is in
float64, since single precision is too coarse for probabilities that must sum to 1.
"""

import numpy as np

from plainformer.activations import softmax
from plainformer.settings import generator, number, token_ids, whole
from plainformer.shapes import shaped


def as_scores(function, logits):
    """The logits as float64; an error if they cannot be scores of words."""
    if not isinstance(logits, np.ndarray):
        raise TypeError(f"{function}: logits must be a NumPy array, got {type(logits).__name__}")
    if logits.shape[-1] == 0:
        raise ValueError(f"{function}: logits have V = 0: there is no word to choose")
    if np.isnan(logits).any() or (logits == np.inf).any():
        raise ValueError(f"{function}: logits must not hold NaN or +inf")
    if (logits == -np.inf).all(axis=-1).any():
        raise ValueError(f"{function}: every logit of a row is -inf: there is no word left to choose")
    return logits.astype(np.float64)


def keep_largest(logits, count):
    """Keep the ``count`` largest logits of each row (one number, or one a row); of equal logits the lower id
    stays.
    """
    order = np.argsort(-logits, axis=-1, kind="stable")
    rank = np.argsort(order, axis=-1)
    return np.where(rank < np.expand_dims(count, -1), logits, -np.inf)


@shaped("(..., V) -> (..., V)", half=False)
def apply_temperature(logits, temperature):
    """Divide the logits by the temperature: below 1 the gaps between them grow, above 1 they shrink.

    Temperature 0 is the limit: only the largest logit stays. Raises ValueError if it is negative, infinite or
    NaN.
    """
    logits = as_scores("apply_temperature", logits)
    temperature = number("apply_temperature", "temperature", temperature)
    if temperature == 0:
        return keep_largest(logits, 1)
    top = np.max(logits, axis=-1, keepdims=True)
    with np.errstate(over="ignore"):
        # Where the largest quotient would overflow, all logits are lowered first: that changes no gap.
        base = np.where(np.isfinite(top / temperature), 0, top)
        return (logits - base) / temperature


@shaped("(..., V) -> (..., V)", half=False)
def top_k(logits, k):
    """Keep the k largest logits of each row, exactly k of them (ties: the lowest id); k ≥ V changes nothing.

    Raises ValueError unless k is a whole number of at least 1.
    """
    return keep_largest(as_scores("top_k", logits), whole("top_k", "k", k))


@shaped("(..., V) -> (..., V)", half=False)
def top_p(logits, p):
    """Keep the smallest set of words, likeliest first, whose probabilities reach p (the nucleus: Holtzman et
    al. 2019).

    The word that reaches p belongs to the set, so the set is never empty; p = 1 keeps all.
    Raises ValueError unless 0 < p ≤ 1.
    """
    logits = as_scores("top_p", logits)
    p = number("top_p", "p", p, high=1, above=True)
    if p == 1:
        return logits
    reached = np.cumsum(-np.sort(-softmax(logits), axis=-1), axis=-1)
    # A sum that is p but for rounding has reached it: 0.5 + 0.3 counts as 0.8.
    return keep_largest(logits, 1 + np.sum(reached < p - 1e-12, axis=-1))


@shaped("(..., V) -> (..., V)", half=False)
def drop(logits, ids):
    """Drop the words of these ids, a list: they get the logit -inf, and are never drawn.

    Raises ValueError for an id that is not from 0 to V - 1.
    """
    logits = as_scores("drop", logits)
    logits[..., token_ids("drop", "ids", ids, logits.shape[-1])] = -np.inf
    return logits


def filtered(logits, temperature, k, p):
    """The logits after temperature, top-k and top-p, in this order; None for k or p leaves that step out."""
    logits = apply_temperature(logits, temperature)
    logits = logits if k is None else top_k(logits, k)
    return logits if p is None else top_p(logits, p)


@shaped("(..., V) -> (..., V)", half=False)
def probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    """The distribution that ``sample`` draws from: temperature, then top-k, then top-p, then softmax."""
    return softmax(filtered(logits, temperature, top_k, top_p))


@shaped("(..., V) -> (...)", half=False)
def sample(logits, rng, temperature=1.0, top_k=None, top_p=None):
    """Draw one word id for each row: an int for a single row, else an array of ints.

    ``rng`` is a ``numpy.random.Generator``. Settings as in ``probabilities``; TypeError for another kind of
    ``rng``.
    """
    generator("sample", "rng", rng)
    rows = probabilities(logits, temperature, top_k, top_p)
    ids = [rng.choice(row.size, p=row / row.sum()) for row in rows.reshape(-1, rows.shape[-1])]
    return int(ids[0]) if rows.ndim == 1 else np.array(ids, dtype=int).reshape(rows.shape[:-1])
