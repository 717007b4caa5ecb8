"""Each student's own numbers: from a Generator to the numbers of one question."""

import numpy as np

WHOLE = [-3, -2, -1, 1, 2, 3]


def q1(rng):
    """Three tokens, a square table, a bias, the place of the row and of two columns: numbers that no mix-up
    of rows and columns leaves alone.
    """
    while True:
        rows, weight = rng.choice(WHOLE, size=(3, 4)) / 2, rng.integers(-4, 5, size=(4, 4)) / 2
        bias = rng.choice([-1.5, -1.0, -0.5, 0.5, 1.0, 1.5], size=4)
        t, places = int(rng.integers(1, 3)), np.sort(rng.choice([1, 2, 3], size=2, replace=False))
        j, k = map(int, places)
        tries = [
            row @ table[:, at]
            for row in rows[t - 1 : t + 1]
            for table in (weight, weight.T)
            for at in (places - 1, places)
        ]
        tries += [weight[:, places].sum(axis=0)]
        if distinct([attempt + shift for attempt in tries for shift in (0, bias[places], bias[places - 1])]):
            return rows, weight, bias, t, j, k


def q2(rng):
    """Four different lengths, such that the order of two products matters."""
    while True:
        t, e, f, g = map(int, rng.choice(np.arange(2, 13), size=4, replace=False))
        if abs(1 / e + 1 / g - 1 / t - 1 / f) > 1e-9:
            return t, e, f, g


def q6(rng):
    """A row, a table of whole numbers from three to two, and a first number for another row: no row of the
    table is a multiple of another.
    """
    x = rng.choice(WHOLE, size=3)
    first = int(rng.choice([first for first in WHOLE if 2 <= abs(first - x[0]) <= 3]))
    while True:
        tables = rng.choice(WHOLE, size=(200, 3, 2))
        one, two, three = tables[:, 0], tables[:, 1], tables[:, 2]
        fit = (
            (area(two, three) == 1)
            & (area(one, three) > 0)
            & (area(one, three) < 5)
            & (area(one, two) > 0)
            & (area(one, two) < 5)
        )
        if fit.any():
            return x.astype(float), tables[fit][0].astype(float), first


def area(one, other):
    """The area between two pairs of numbers, for many pairs at once: 0 if one is a multiple of the other."""
    return np.abs(one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0])


def distinct(results):
    """Whether no two of these arrays are equal."""
    return len({(result + 0.0).tobytes() for result in results}) == len(results)
