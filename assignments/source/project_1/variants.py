"""Each student's own numbers: from a Generator to the numbers of one question."""

import numpy as np

ROWS = (
    (1, 1, 3, 5),
    (1, 1, 7, 7),
    (1, 3, 3, 9),
    (1, 5, 5, 7),
    (3, 3, 9, 1),
    (2, 2, 6, 10),
)  # friendly under a root mean square


def signed(rng, row):
    """The numbers of a row in another order, with other signs."""
    return rng.permutation(row) * rng.choice([-1.0, 1.0], size=4)


def q1(rng):
    """A query, two keys and two gains: the gains matter to both products, and neither product is 0."""
    while True:
        rows = rng.integers(0, len(ROWS), size=3)
        query, *keys = (signed(rng, ROWS[row]) for row in rows)
        query_gain, key_gain = rng.choice([0.5, 1.0, 2.0], size=(2, 4))
        keys = np.array(keys)
        plain, gained = keys @ query, (keys * key_gain) @ (query * query_gain)
        if np.all(plain) and np.all(gained) and np.all(plain != gained):
            return query, keys, query_gain, key_gain


def q2(rng):
    """Settings of a small model: vocabulary, layers, E, F, H, G, D, with E unlike H·D and unlike other widths
    that would give a count twice.
    """
    while True:
        groups, shared, head_width = (
            int(rng.integers(2, 4)),
            int(rng.integers(2, 4)),
            int(rng.choice([4, 6, 8, 10])),
        )
        heads = groups * shared
        width, hidden = int(rng.choice([10, 20, 30, 40, 50])), int(rng.choice([60, 70, 80, 90, 110]))
        if width not in (heads * head_width, (2 * heads - groups) * head_width) and hidden != 2 * (
            heads * head_width - width
        ):
            return (
                int(rng.integers(11, 80)),
                int(rng.integers(2, 7)),
                width,
                hidden,
                heads,
                groups,
                head_width,
            )
