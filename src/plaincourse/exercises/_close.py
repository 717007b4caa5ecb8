"""Whether results are equal within a tolerance. NumPy's isclose does the same and takes more than twice as
long, and the tests compare millions.
"""

import numpy as np


def near(one, other, tolerance):
    """For each place of two arrays of one shape, whether they are equal within the tolerance, relative and
    absolute; NaN equals NaN.
    """
    one, other = one.astype(float, copy=False), other.astype(float, copy=False)
    with np.errstate(all="ignore"):
        gap = np.abs(one - other)
        within = (gap <= tolerance + tolerance * np.abs(other)) & (gap < np.inf)
        if within.all() or gap.max() < np.inf:  # no infinity and no NaN among them
            return within
        return within | (one == other) | (one != one) & (other != other)


def close(one, other, tolerance):
    """Whether two results are equal: numbers of the same shape, no broadcasting."""
    comparable = one.shape == other.shape and one.dtype.kind in "biuf" and other.dtype.kind in "biuf"
    return comparable and bool(near(one, other, tolerance).all())


def matches(got, wanted, tolerance):
    """Whether two lists of results are equal, case by case. It stops at the first that is not."""
    return all(close(one, other, tolerance) for one, other in zip(got, wanted, strict=True))
