"""Each student's own numbers: from a Generator to the numbers of one question."""

import numpy as np


def q1(rng):
    """Six shares in twentieths and a p: no share lies on a line, p alone would keep fewer words, and one word
    goes.
    """
    while True:
        shares = rng.multinomial(14, [0.3, 0.25, 0.2, 0.1, 0.1, 0.05]) + 1
        p = float(rng.choice([0.2, 0.25, 0.3]))
        line, alone = p * shares.max(), 20 * p
        apart = (
            np.all(np.abs(shares - line) > 0.1)
            and np.all(np.abs(shares - alone) > 0.1)
            and np.sum(shares == shares.max()) == 1
        )
        if (
            apart
            and np.sum(shares > alone) >= 2
            and np.any((shares > line) & (shares < alone))
            and np.any(shares < line)
        ):
            return rng.permutation(shares) / 20, p


def q2(rng):
    """Powers e^score of two new tokens at five positions, and a value for each position; the newest values
    stand out, so that each of them shows.
    """
    powers = rng.choice([1.0, 2.0, 4.0], size=(2, 5))
    powers[0, :2], powers[1, 3:] = rng.permutation([1.0, 4.0]), rng.permutation([1.0, 4.0])
    low = rng.choice(np.arange(-5.0, 6.0), size=2, replace=False)
    first, fourth, fifth = (
        low.max() + rng.integers(1, 4),
        low.min() - rng.integers(3, 9),
        low.max() + rng.integers(5, 12),
    )
    return powers, np.array([first, *low, fourth, fifth])


def q8(rng):
    """The seed of the numbers that draw the words."""
    return (int(rng.integers(1, 1_000_000)),)
