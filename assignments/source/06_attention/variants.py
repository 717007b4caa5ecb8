"""Each student's own numbers: from a Generator to the numbers of one question."""

import numpy as np


def q1(rng):
    """A query, three keys whose dot products with it are three different small numbers, and three values that
    make a proper triangle.
    """
    query = np.append(rng.choice([-2, -1, 1, 2], size=3), rng.choice([-1, 1]))
    dots = rng.permutation([(-1, 1, 3), (-2, 1, 4), (-1, 2, 4), (-2, 2, 3)][rng.integers(4)])
    keys = rng.integers(-2, 3, size=(3, 4))
    keys[:, 3] = (dots - keys[:, :3] @ query[:3]) * query[3]
    while True:
        values = np.stack([rng.integers(1, 8, size=3), rng.integers(-4, 5, size=3)], axis=1)
        (a, b), (c, d) = values[1:] - values[0]
        if abs(a * d - b * c) >= 12:
            return query, keys, values


def q2(rng):
    """Four different weights, in twentieths, and how many times as long the query becomes."""
    while True:
        parts = rng.integers(1, 11, size=4)
        if parts.sum() == 20 and len(set(parts)) == 4 and parts.max() >= 8:
            return parts / 20, int(rng.integers(2, 4))


def q3(rng):
    """Tokens T, query heads H, key/value heads G, the width D of a head, and one of the query heads, counted
    from 0.
    """
    groups, times = int(rng.integers(2, 5)), int(rng.integers(2, 5))
    head = int(rng.integers(groups, groups * times - 1))
    while head // times == head % groups:
        head = int(rng.integers(1, groups * times - 1))
    return int(rng.integers(5, 20)), groups * times, groups, int(rng.choice([4, 16])), head
