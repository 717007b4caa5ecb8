"""Each student's own numbers: from a Generator to the numbers of one question."""

import numpy as np

FILTERED = (  # shares in percent, k and p, none of which lies on an edge
    ((42, 26, 16, 10, 6), 3, 0.75), ((42, 28, 14, 10, 6), 3, 0.75), ((52, 22, 14, 8, 4), 3, 0.8),
    ((40, 30, 14, 10, 6), 3, 0.8), ((50, 22, 16, 8, 4), 3, 0.75), ((34, 30, 20, 10, 6), 3, 0.7),
    ((46, 30, 12, 8, 4), 3, 0.8), ((38, 28, 18, 12, 4), 3, 0.7), ((36, 22, 18, 14, 10), 4, 0.8),
    ((28, 24, 20, 16, 12), 4, 0.75), ((32, 26, 18, 14, 10), 4, 0.8), ((34, 24, 18, 14, 10), 4, 0.8),
    ((32, 24, 20, 14, 10), 4, 0.8), ((30, 26, 20, 14, 10), 4, 0.8),
)  # fmt: skip


def q1(rng):
    """A row, a column for each of four words, and a temperature."""
    while True:
        x, columns = (
            rng.choice([-2.0, -1.0, 1.0, 2.0], size=3),
            rng.integers(-2, 3, size=(3, 4)).astype(float),
        )
        scores = x @ columns
        if len(set(scores)) == 4 and np.ptp(scores) in (3, 4):
            return x, columns, float(rng.choice([0.5, 2.0]))


def q2(rng):
    """How many times as likely the first word is: as the second, as the third, and as the second at the other
    temperature.
    """
    while True:
        second, wanted = map(int, rng.integers(2, 11, size=2))
        third = second + int(rng.integers(1, 7))
        if (
            abs(second - wanted) > 1
            and {second, wanted} != {2, 4}
            and second**2 < wanted**5
            and wanted**2 < second**5
        ):
            return second, third, wanted


def q3(rng):
    """The shares of five words, k and p."""
    shares, k, p = FILTERED[rng.integers(len(FILTERED))]
    return rng.permutation(shares) / 100, k, p
