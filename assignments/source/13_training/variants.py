"""Each student's own numbers: from a Generator to the numbers of one question."""

import numpy as np


def q1(rng):
    """Four ids of which no two neighbours are equal, and four rows of three different probabilities in
    hundredths.
    """
    ids = (rng.integers(3) + np.cumsum(rng.integers(1, 3, size=4))) % 3
    small, middle = rng.integers(5, 23, size=4), rng.integers(26, 37, size=4)
    rows = np.stack([small, middle, 100 - small - middle], axis=1)
    return ids, np.array([rng.permutation(row) for row in rows]) / 100


def q2(rng):
    """A row, a table, the id of a word that was not the likeliest, and a learning rate."""
    while True:
        x = rng.integers(2, 5, size=2) / 2 * rng.choice([-1, 1], size=2)
        W = rng.integers(-2, 3, size=(2, 3)) / 2
        came, rate = int(rng.integers(3)), float(rng.choice([0.1, 0.2, 0.25]))
        logits = x @ W
        if 1 <= np.ptp(logits) <= 3 and logits[came] < logits.max() and len(np.unique(logits)) == 3:
            return x, W, came, rate


def q3(rng):
    """How many subjects, objects and adverbs there are, and the chance of an adverb: never a fair coin."""
    subjects, objects, adverbs = (int(rng.integers(low, high)) for low, high in ((5, 11), (4, 10), (2, 7)))
    return subjects, objects, adverbs, float(rng.choice([1 / 8, 1 / 4, 3 / 4, 7 / 8]))


def q4(rng):
    """A weight, two slopes of which the second is at least twice as large, a learning rate and a decay."""
    while True:
        weight, second = (
            int(rng.integers(low, high)) * int(rng.choice([-1, 1])) for low, high in ((2, 7), (1, 7))
        )
        first = int(rng.choice([1, 3]) * rng.choice([-1, 1]))
        if abs(second) >= 2 * abs(first):
            return weight, first, second, float(rng.choice([0.2, 0.5])), float(rng.choice([0.3, 0.4]))
