"""Each student's own numbers: from a Generator to the numbers of one question."""

import numpy as np


def q1(rng):
    """One example and a start: the miss is large, and no number is 1, so that no factor can be left out
    unseen.
    """
    while True:
        x, target = int(rng.choice([-4, -3, -2, 2, 3, 4])), int(rng.integers(-9, 10))
        w, b = map(float, rng.choice([-2.0, -1.5, -0.5, 0.5, 1.5, 2.0], size=2))
        if 2 <= abs(w * x + b - target) <= 6:
            return x, target, w, b, float(rng.choice([0.05, 0.1, 0.2]))


def q3(rng):
    """A network of two layers in which one hidden unit of three is off."""
    x = rng.choice([-3.0, -2.0, 2.0, 3.0], size=2, replace=False)
    second = rng.choice([-2.0, -1.5, -0.5, 0.5, 1.5, 2.0], size=3, replace=False)
    while True:
        first = rng.choice([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0], size=(2, 3))
        target, sums = int(rng.integers(-5, 6)), x @ first
        if np.all(sums) and np.sum(sums < 0) == 1 and 1 <= abs(np.maximum(sums, 0) @ second - target) <= 5:
            return x, first, second, target


def q5(rng):
    """An input, a start and a learning rate with which the miss changes its sign or shrinks, but does not
    vanish. The input is not 2, where 2x and x² are the same.
    """
    x, miss = float(rng.choice([-4, -3, -2, 3, 4])), float(rng.choice([-6, -5, -4, -3, 3, 4, 5, 6]))
    factor = float(rng.choice([-2.0, -1.5, -0.5, 0.5, 0.8]))
    w = float(rng.choice([-1.5, -0.5, 0.5, 1.5]))
    return x, w * x - miss, w, (1 - factor) / (2 * x * x)
