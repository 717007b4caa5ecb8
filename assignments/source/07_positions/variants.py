"""Each student's own numbers: from a Generator to the numbers of one question."""

import numpy as np


def q1(rng):
    """The output rows of five tokens, all different, and a new order that is not undone by doing it again."""
    rows = rng.permutation(np.arange(-9, 10))[:10].reshape(5, 2) / 2
    while True:
        order = rng.permutation(5)
        if np.sum(order == np.arange(5)) <= 1 and np.any(order[order] != np.arange(5)):
            return rows, order


def q2(rng):
    """A token of four numbers, none of them 0, and its position, between 2 and 40. At 14 two of the waves are
    nearly equal.
    """
    return rng.choice([-2, -1.5, -1, -0.5, 0.5, 1, 1.5, 2], size=4), int(
        rng.choice([t for t in range(2, 41) if t != 14])
    )


def q3(rng):
    """A query of four different numbers, none of them 0, and its position, between 2 and 12."""
    return rng.permutation([-4, -3, -2, -1, 1, 2, 3, 4])[:4], int(rng.integers(2, 13))


def q4(rng):
    """Twelve different scores, for the distances −5 to 6, the length of a prompt, and the position at which a
    second piece starts by mistake.
    """
    length = int(rng.integers(4, 6))
    return rng.permutation(np.arange(-10, 15))[:12] / 2, length, int(rng.integers(0, length))
