"""Each student's own numbers: from a Generator to the numbers of one question."""

import numpy as np


def q1(rng):
    """A small image, a filter that a flip changes, and a bias of halves, such that the bend stops some
    places, not all.
    """
    weights, bias = rng.choice([-2, -1, 1, 2], size=(2, 2)), float(rng.choice([-1.5, -0.5, 0.5, 1.5]))
    while True:
        image = rng.integers(0, 4, size=(3, 4))
        laid, flipped = (
            [np.vdot(one, image[i : i + 2, j : j + 2]) for i in range(2) for j in range(3)]
            for one in (weights, weights[::-1, ::-1])
        )
        fit = (
            min(laid) < -1 and sum(total < 0 for total in laid) <= 3 and sum(total > 1 for total in laid) >= 2
        )
        if fit and np.any(np.maximum(laid, 2) != np.maximum(flipped, 2)):
            return image.astype(float), weights.astype(float), bias
        if rng.random() < 0.1:  # some filters fit no image
            weights = rng.choice([-2, -1, 1, 2], size=(2, 2))


def q3(rng):
    """Two weights below 1 and two words of the same sign: no state is near 0, and none near 1."""
    first = rng.integers(8, 13) / 10
    second = first + rng.integers(0, 3) / 5
    sign = int(rng.choice([-1, 1]))
    return (
        float(rng.choice([0.4, 0.5, 0.6])),
        float(rng.choice([0.5, 0.6, 0.7, 0.8, 0.9])),
        round(sign * first, 1),
        round(sign * second, 1),
    )


def q5(rng):
    """The length of a text, the width of its rows, and the rows of a filter; the text is long for the
    filter.
    """
    k = int(rng.choice([3, 4]))
    return k * (k - 1) + int(rng.integers(1, 10)), int(rng.integers(2, 7)), k
