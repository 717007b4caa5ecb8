"""Each student's own numbers: from a Generator to the numbers of one question."""

import numpy as np


def q1(rng):
    """Query heads, key/value heads, width of a head, hidden width, blocks and words of a small Llama."""
    groups, shared, width = int(rng.integers(1, 4)), int(rng.integers(2, 4)), int(rng.choice([2, 4]))
    hidden, blocks, words = (
        4 * int(rng.integers(4, 11)),
        int(rng.integers(2, 6)),
        10 * int(rng.integers(5, 21)),
    )
    return groups * shared, groups, width, hidden, blocks, words


def q2(rng):
    """A scale, a minimum, and four bytes whose eight halves are all different."""
    halves = rng.permutation(16)[:8]
    scale, minimum = float(rng.choice([0.25, 0.5, 0.75])), -float(rng.integers(3, 12)) / 8
    return scale, minimum, 16 * halves[:4] + halves[4:]


def q3(rng):
    """A row whose squares are kind to a root, gains, and an embedding of four words, far from symmetric."""
    while True:
        row = rng.permutation(
            [[1, 1, 3, 5], [1, 1, 7, 7], [1, 5, 5, 7], [1, 3, 3, 9], [2, 4, 4, 8]][rng.integers(5)]
        )
        row = row * rng.choice([-1, 1], size=4)
        gain, embedding = rng.integers(1, 5, size=4) / 2, rng.integers(-2, 3, size=(4, 4))
        ranks = np.linalg.matrix_rank(embedding), np.linalg.matrix_rank(embedding - embedding.T)
        if len(set(gain)) > 1 and ranks == (4, 4):
            return row, gain, embedding
