"""Each student's own numbers: from a Generator to the numbers of one question."""

import numpy as np

ROWS = ((0, 6, 8, 9, 12), (0, 3, 7, 9, 11), (0, 2, 4, 8, 11), (0, 3, 4, 6, 12))  # with a friendly root
STREAMS = ((1, 1, 7, 7), (1, 3, 3, 9), (1, 5, 5, 7), (2, 4, 4, 8))  # too
NORMED = (  # mean 0, variance 1
    (-1.9, -0.1, 0.5, 0.7, 0.8), (-1.7, -0.5, 0.4, 0.7, 1.1), (-1.6, -0.7, 0.5, 0.7, 1.1),
    (-1.6, -0.5, 0.1, 0.7, 1.3), (-1.6, -0.3, 0.1, 0.3, 1.5), (-1.5, -0.9, 0.7, 0.8, 0.9),
    (-1.5, -0.8, 0.3, 0.9, 1.1), (-1.5, -0.7, 0.1, 0.9, 1.2),
)  # fmt: skip


def q1(rng):
    """A row, a gain and a bias."""
    while True:
        x = rng.permutation(ROWS[rng.integers(len(ROWS))]) * rng.choice([-1.0, 1.0]) + rng.integers(-9, 10)
        if x.sum():
            gain, bias = (
                rng.choice([-2.0, -1.0, -0.5, 0.5, 2.0, 4.0], size=5),
                rng.choice([-1.7, -0.7, -0.3, 0.3, 0.7, 1.3], size=5),
            )
            return x, gain, bias


def q2(rng):
    """A token of the residual stream."""
    while True:
        x = rng.permutation(STREAMS[rng.integers(len(STREAMS))]) * rng.choice([-1.0, 1.0], size=4)
        if x.sum() and x[0] + x[2] != x[1] + x[3]:
            return (x,)


def q3(rng):
    """A normed row, and the first two numbers of the row that it was."""
    normed = rng.permutation(NORMED[rng.integers(len(NORMED))]) * rng.choice([-1.0, 1.0])
    first = rng.integers(-9, 9) + 0.25
    return normed, np.array([first, first + rng.choice([5, 10, 20]) * (normed[1] - normed[0])])
