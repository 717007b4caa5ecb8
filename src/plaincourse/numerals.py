"""How the course writes numbers for people, and what it takes for numbers."""

import math

import numpy as np


def fixed(value, digits, group=""):
    """A number with so many decimals, a true minus sign, never −0. group: what stands between thousands."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return signed(f"{value:{group}.{digits}f}")


def short(value, digits=3):
    """A number with at most so many decimals, without trailing zeros."""
    text = fixed(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text else text


def signed(text):
    """The text of a number with a true minus sign, and without one before zero."""
    return text.replace("-", "−") if any(digit in text for digit in "123456789") else text.lstrip("-")


def real(values, truth=False):
    """An array of floats, or None for what is not real numbers throughout: text and masked values are none,
    and True and False are none unless asked for.
    """
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, OverflowError, RuntimeError):  # the last from a tensor with gradients
        return None
    kinds = "iufb" if truth else "iuf"
    return array.astype(float) if array.dtype.kind in kinds and not np.ma.is_masked(values) else None
