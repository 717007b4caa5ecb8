"""Each student's own numbers: from a Generator to the numbers of one question."""

import numpy as np


def q1(rng):
    """Six values, and which of the six keys are real: one or two at the front are padding. The last value
    lies above or below all other real ones.
    """
    filled = int(rng.integers(1, 3))
    values = rng.permutation(np.arange(4, 17))[:6] / 2
    values[:filled] = rng.choice([30.0, 40.0, 50.0])
    values[-1] = rng.choice([0.5, 1.0, 10.0, 12.0, 14.0])
    return values, np.arange(6) >= filled


def q2(rng):
    """The lengths of three source texts and of three target texts: all six different, and no text is a single
    token.
    """
    lengths = rng.permutation(np.arange(2, 9))[:6]
    return lengths[:3], lengths[3:]


def q3(rng):
    """A mask for six tokens, in which each may look at itself, and a token. Some tokens may look at it, some
    at those, and some at those in turn.
    """
    tokens = rng.permutation(6)
    steps = np.empty(6, dtype=int)
    steps[tokens] = [
        0,
        *([1, 1, 2, 3, 3], [1, 2, 2, 3, 3], [1, 1, 2, 2, 3], [1, 2, 3, 3, 3])[rng.integers(4)],
    ]
    mask = (rng.random((6, 6)) < 0.4) & (steps[:, None] <= steps + 1) | np.eye(6, dtype=bool)
    for token in range(6):  # at least one look that takes a step, and one that goes far
        before = np.flatnonzero(steps == steps[token] - 1)
        mask[token, rng.choice(before) if before.size else rng.choice(np.flatnonzero(steps == 3))] = True
    return mask.astype(int), int(tokens[0])
