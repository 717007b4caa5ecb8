"""Each student's own numbers: from a Generator to the numbers of one question."""

import numpy as np


def q1(rng):
    """Tokens, heads, width and vocabulary."""
    heads = int(rng.integers(2, 6))
    return (
        int(rng.choice([6, 7, 9, 11, 13])),
        heads,
        heads * int(rng.choice([8, 10, 12, 16])),
        int(rng.integers(200, 1000)),
    )


def q2(rng):
    """Vocabulary, longest text, width, hidden width and blocks."""
    width = int(rng.choice([5, 6, 7, 8]))
    return int(rng.integers(30, 90)), int(rng.integers(10, 28)), width, 3 * width, int(rng.integers(2, 5))


def q3(rng):
    """Two tokens and the tables of an MLP."""
    rows = (
        rng.permutation([[1, 7], [7, 1]])
        * rng.choice([-1.0, 1.0], size=(2, 2))
        * rng.choice([1, 2], size=(2, 1))
    )
    while True:
        up = rng.choice([-2.0, -1.0, 1.0, 2.0], size=(2, 2))
        if up[0, 0] * up[1, 1] != up[0, 1] * up[1, 0]:  # the second column goes another way than the first
            break
    up = np.column_stack([up, -up[:, 0]])
    down = rng.choice([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0], size=(3, 2))
    return rows, up, down
