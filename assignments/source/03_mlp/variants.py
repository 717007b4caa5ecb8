"""Each student's own numbers: from a Generator to the numbers of one question."""

import numpy as np


def q1(rng):
    """A token and two small tables of quarters and halves, such that the bend stops some of the hidden numbers, not all."""
    while True:
        x = rng.integers(-4, 5, size=3) / 2
        up = rng.integers(-4, 5, size=(3, 4)) / 2
        down = rng.integers(-4, 5, size=(4, 2)) / 2
        hidden = x @ up
        result, straight = np.maximum(hidden, 0) @ down, hidden @ down
        fit = np.all(x) and np.all(hidden) and np.sum(hidden > 0) in (2, 3) and np.all(result)
        if fit and np.all(straight != result) and np.any(straight < 0):
            return x, up, down
