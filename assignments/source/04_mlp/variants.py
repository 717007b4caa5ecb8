"""Each student's own numbers: from a Generator to the numbers of one question."""

import itertools

import numpy as np

UNEVEN = [gaps for gaps in itertools.permutations([1, 2, 3, 4], 3) if gaps[0] > 1]


def q1(rng):
    """A token and two small tables of quarters and halves, such that the bend stops some of the hidden
    numbers, not all.
    """
    while True:
        x = rng.integers(-4, 5, size=3) / 2
        up = rng.integers(-4, 5, size=(3, 4)) / 2
        down = rng.integers(-4, 5, size=(4, 2)) / 2
        hidden = x @ up
        result, straight = np.maximum(hidden, 0) @ down, hidden @ down
        fit = np.all(x) and np.all(hidden) and np.sum(hidden > 0) in (2, 3) and np.all(result)
        if fit and np.all(straight != result) and np.any(straight < 0):
            return x, up, down


def q5(rng):
    """Three places that lie unevenly, and heights over them: the curve turns round at the first place, and is
    nowhere level.
    """
    g1, g2, g3 = gaps = rng.choice(UNEVEN)
    while True:
        r1, r2, r3 = rises = rng.integers(-8, 9, size=3) / 2
        if (
            r1 * r2 < 0
            and r3
            and r2 * g3 != r3 * g2
            and r1 * g2**2 + r2 * g1**2
            and np.all(2 * rises % gaps == 0)
        ):
            return np.cumsum(gaps), np.cumsum(rises)


def q6(rng):
    """A token and three tables of halves: gate numbers and values of different size, none near 0; one gate
    number is negative, one positive.
    """
    while True:
        x = rng.choice([-2.0, -1.0, 1.0, 2.0], size=2)
        tables = rng.choice([-1.0, -0.5, 0.5, 1.0, 1.5], size=(100, 3, 2, 2))
        numbers = np.sort(np.abs((x @ tables[:, :2]).reshape(100, 4)), axis=1)
        signs = np.sign(x @ tables[:, 0])
        fit = (
            np.all(np.diff(numbers) > 0, axis=1)
            & (numbers[:, 0] >= 0.5)
            & (numbers[:, 3] <= 3)
            & (signs.sum(axis=1) == 0)
        )
        fit &= np.abs(np.linalg.det(tables[:, 2])) >= 0.5
        if fit.any():
            return x, *tables[fit][0]
