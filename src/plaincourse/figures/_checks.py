"""What the figures take, and the errors for what they do not."""

import numpy as np

from plaincourse.numerals import real
from plainformer.settings import whole

LARGEST = 1e100  # Matplotlib's own sums overflow long before the largest float


def numbers(values, name):
    """An array of floats, with infinities and without NaN."""
    array = real(values, truth=True)
    if array is None:
        raise TypeError(f"{name} must be numbers of one regular shape, got {type(values).__name__}")
    if np.isnan(array).any():
        raise ValueError(f"{name} must not hold NaN")
    if (np.abs(array[np.isfinite(array)]) > LARGEST).any():
        raise ValueError(f"{name} must be numbers of at most {LARGEST:g} in size")
    return array


def finite(values, name, length=None):
    """A list of finite numbers as an array."""
    array = numbers(values, name)
    if array.ndim != 1 or not array.size or not np.isfinite(array).all():
        raise ValueError(f"{name} must be a list of finite numbers, at least one, got shape {array.shape}")
    same_length(array, length, name)
    return array


def same_length(labels, length, name):
    if labels is not None and length is not None and len(labels) != length:
        raise ValueError(f"{name} must have {length} entries, got {len(labels)}")


def listed(values, name):
    try:
        return list(values)
    except TypeError:
        raise TypeError(f"{name} must be a list, got {type(values).__name__}") from None


def labels(texts, length, name):
    """A list of labels, one for each row or column, or None."""
    if texts is None:
        return None
    texts = listed(texts, name)
    same_length(texts, length, name)
    return texts


def positions(function, name, places, length):
    return [whole(function, name, place, 0, length - 1) for place in listed(places, name)]


def few(series, name, most):
    """ValueError unless it is a dict of a few series, with names that a legend can show."""
    if not isinstance(series, dict) or not 1 <= len(series) <= most:
        found = len(series) if isinstance(series, dict) else type(series).__name__
        raise ValueError(f"{name} must be a dict of 1 to {most} named series, got {found}")
    for key in series:
        if not isinstance(key, str) or key.startswith("_"):  # Matplotlib leaves such names out of the legend
            raise ValueError(f"{name} must have names that are text and do not begin with _, got {key!r}")


def point(given):
    """A point as (x, y), its text, and a list with the place where the text begins, if that is given."""
    try:
        x, y, text, *place = given
        where, *place = [finite(pair, "points", 2) for pair in ((x, y), *place)]
        if len(place) > 1:
            raise ValueError
    except (TypeError, ValueError):
        raise ValueError(
            f"points must be (x, y, text) or (x, y, text, (x, y)) with finite numbers, got {given!r}"
        ) from None
    return where, text, place


def step(given):
    """A step as the texts of its boxes, one or more, and the shape beside the arrow."""
    if isinstance(given, list | tuple) and len(given) == 2:
        texts, shape = given
        texts = [texts] if isinstance(texts, str) else texts
        if isinstance(texts, list | tuple) and texts and all(isinstance(text, str) for text in texts):
            return list(texts), shape
    raise ValueError(f"steps must be (text, shape) pairs, got {given!r}")


def span(pair, count):
    """The first and the last position of a residual path."""
    try:
        first, last = positions("flow", "residuals", pair, count)
        if first > last:
            raise ValueError
    except (TypeError, ValueError):
        raise ValueError(
            f"residuals must be (first, last) positions among {count} steps, got {pair!r}"
        ) from None
    return first, last
