"""Each student's own numbers: from a Generator to the numbers of one question."""

import numpy as np


def q1(rng):
    """Layers, query heads, key/value heads, width of a head, bytes a number, texts, and a memory that is an
    odd number of bytes.
    """
    layers, groups, shared, texts = (
        int(rng.integers(low, high)) for low, high in ((3, 9), (1, 5), (2, 5), (2, 6))
    )
    width, each = int(rng.choice([4, 8, 10, 20])), int(rng.choice([2, 4]))
    memory = 2 * int(rng.integers(250_000, 1_000_000)) + 1
    return layers, groups * shared, groups, width, each, texts, memory


def q2(rng):
    """Powers of the scores for two queries and four keys, and four values, of which the last is much larger
    than the others. The second query must see a difference between all four and the first two.
    """
    while True:
        powers = rng.integers(1, 6, size=(2, 4))
        values = np.append(rng.permutation([1, 2, 3, 4])[:3], rng.integers(8, 13))
        two, four = (np.average(values[:seen], weights=powers[1, :seen]) for seen in (2, 4))
        if abs(two - four) >= 0.2:
            return powers, values


def q3(rng):
    """A small Llama: query heads, key/value heads, width of a head, hidden width, layers, words; and a
    position.
    """
    groups, shared, width = int(rng.integers(1, 3)), int(rng.integers(2, 4)), int(rng.choice([2, 4]))
    hidden, layers, words = (
        2 * int(rng.integers(6, 13)),
        int(rng.integers(2, 6)),
        10 * int(rng.integers(2, 10)),
    )
    return groups * shared, groups, width, hidden, layers, words, int(rng.integers(3, 11))
