"""Exercises of the positions chapter."""

import numpy as np

from plainformer.positions import rope, sinusoidal

from . import Exercise

# ---- one pair at one position, with a pencil


def one_key(rng):
    return [(np.array([2.0, 1.0]), 2)]


def turned(key, position):
    return rope(key[None], [position])[0]


ONE_TURN = Exercise("positions-one-turn", "One turn", turned, one_key, tolerance=0.02, by_hand=True)

ONE_TURN.mistake(
    "turned backwards",
    "You turned by −2. The minus sign belongs to the first number: a cos − b sin.",
    lambda key, position: turned(key, -position),
)
ONE_TURN.mistake(
    "position 1",
    "You turned by 1. The angle is the position times the speed, 2 × 1.",
    lambda key, position: turned(key, 1),
)


@ONE_TURN.mistake(
    "sine and cosine exchanged",
    "You took the sine for the cosine and the other way round. cos 2 is the negative one.",
)
def cos_and_sin_exchanged(key, position):
    cos, sin = np.sin(position), np.cos(position)
    return np.array([key[0] * cos - key[1] * sin, key[0] * sin + key[1] * cos])


@ONE_TURN.mistake("two plus signs", "You added in both formulas. The first number is a cos − b sin.")
def without_minus(key, position):
    cos, sin = np.cos(position), np.sin(position)
    return np.array([key[0] * cos + key[1] * sin, key[0] * sin + key[1] * cos])


@ONE_TURN.mistake("a and b exchanged", "You turned [1, 2]. The key is [2, 1]: a is 2 and b is 1.")
def coordinates_exchanged(key, position):
    return turned(key[::-1], position)


ONE_TURN.mistake(
    "order exchanged",
    "The two numbers are right, in the wrong order. First a cos − b sin, then a sin + b cos.",
    lambda key, position: turned(key, position)[::-1],
)


@ONE_TURN.mistake(
    "degrees",
    "You turned by 2 degrees. The angle is 2 radians, more than a quarter turn: set the calculator to"
    " radians.",
)
def turned_by_degrees(key, position):
    return in_degrees(key[None], np.array([position]))[0]


# ---- the waves


def table_sizes(rng):
    """Lengths and widths that differ, with more than one pair."""
    return [(3, 4), (5, 8), (9, 6), (2, 2)]


def waves(speed=lambda i, width: 10000.0 ** (-2 * i / width), first=np.sin, second=np.cos, start=0):
    """The waves with something else in place of the paper's speed, order or first position."""

    def answer(length, width):
        angles = np.arange(start, start + length)[:, None] * speed(np.arange(width // 2), width)
        return np.stack([first(angles), second(angles)], axis=-1).reshape(length, width)

    return answer


SINUSOIDAL = Exercise("positions-sinusoidal", "The waves", sinusoidal, table_sizes)


@SINUSOIDAL.mistake(
    "sines first, cosines after",
    "All numbers are right, but you put all sines first. Here sine and cosine of a pair stand side by side:"
    " columns 2i and 2i + 1.",
)
def in_two_halves(length, width):
    table = sinusoidal(length, width)
    return np.concatenate([table[:, 0::2], table[:, 1::2]], axis=1)


SINUSOIDAL.mistake(
    "cosine first",
    "Sine and cosine are exchanged. The sine goes into the even column, so row 0 begins 0, 1.",
    waves(first=np.cos, second=np.sin),
)
SINUSOIDAL.mistake(
    "factor 2 missing",
    "Your pairs turn too fast: the exponent is −2i / width, where i counts the pairs.",
    waves(speed=lambda i, width: 10000.0 ** (-i / width)),
)
SINUSOIDAL.mistake(
    "factor 2 twice",
    "Your pairs turn too slowly. The exponent is −2i / width, where i counts the pairs, not the columns.",
    waves(speed=lambda i, width: 10000.0 ** (-4 * i / width)),
)
SINUSOIDAL.mistake(
    "speeds upside down",
    "Your pairs turn faster and faster. The exponent needs its minus sign.",
    waves(speed=lambda i, width: 10000.0 ** (2 * i / width)),
)
SINUSOIDAL.mistake(
    "positions from 1",
    "Your first row belongs to position 1. Positions count from 0: row 0 holds zeros and ones.",
    waves(start=1),
)
SINUSOIDAL.mistake(
    "one speed",
    "All your pairs turn by 1 a position. Only pair 0 does: pair i turns by 10000 ** (−2i / width).",
    waves(speed=lambda i, width: np.ones(len(i))),
)


@SINUSOIDAL.mistake(
    "column for pair",
    "You took the number of the column for that of the pair. Columns 2i and 2i + 1 both belong to pair i and"
    " turn at one speed.",
)
def column_for_pair(length, width):
    """Column j turns by 10000 ** (−2j / width), so that sine and cosine of a pair have two speeds."""
    columns = np.arange(width)
    angles = np.arange(length)[:, None] * 10000.0 ** (-2 * columns / width)
    return np.where(columns % 2 == 0, np.sin(angles), np.cos(angles))


@SINUSOIDAL.mistake(
    "turned",
    "Your table has one column a position. It should have one row a position: shape (length, width).",
)
def turned_table(length, width):
    return sinusoidal(length, width).T


# ---- turning rows


def neighbours(x, positions):
    """What is asked for: rope with pairs of neighbours."""
    return rope(x, positions)


def row_cases(rng):
    """Positions that do not start at 0, and are not evenly spaced."""
    sizes = [(3, 4), (4, 8), (2, 6)]
    places = [np.array([0, 1, 2]), np.array([5, 6, 9, 20]), np.array([7, 3])]
    return [(rng.normal(size=size), place) for size, place in zip(sizes, places, strict=True)]


def angles_of(x, positions):
    return positions[:, None] * 10000.0 ** (-np.arange(0, x.shape[1], 2) / x.shape[1])


ROPE = Exercise("positions-rope", "Turning rows", neighbours, row_cases)

ROPE.mistake(
    "halves",
    "You pair the first half with the second. Here the pairs are neighbours: x[:, 0::2] with x[:, 1::2].",
    lambda x, positions: rope(x, positions, pairing="halves"),
)
ROPE.mistake(
    "turned backwards",
    "Your rows turn the other way. The first number is a cos − b sin, the second a sin + b cos.",
    lambda x, positions: rope(x, -positions),
)
ROPE.mistake(
    "positions not used",
    "You count the rows from 0, whatever the positions are. Use the ones that are given.",
    lambda x, positions: rope(x, np.arange(len(x))),
)


@ROPE.mistake(
    "a was overwritten",
    "The first numbers are right. For the second ones you used the new first number: keep the old a.",
)
def overwritten(x, positions):
    """The pair is turned in place: the second formula reads the new first number."""
    angles = angles_of(x, positions)
    out = x.copy()
    out[:, 0::2] = out[:, 0::2] * np.cos(angles) - out[:, 1::2] * np.sin(angles)
    out[:, 1::2] = out[:, 0::2] * np.sin(angles) + out[:, 1::2] * np.cos(angles)
    return out


@ROPE.mistake("one speed", "All your pairs turn by 1 a position. Pair i turns by 10000 ** (−2i / D).")
def same_speed(x, positions):
    """Every pair turned by 1 a position."""
    pairs = x.reshape(len(x), -1, 2)
    return np.stack([rope(pair, positions) for pair in np.moveaxis(pairs, 1, 0)], axis=1).reshape(x.shape)


ROPE.mistake(
    "factor 2 missing",
    "Your later pairs turn too fast: the exponent is −2i / D, where i counts the pairs.",
    lambda x, positions: rope(x, positions, base=100.0),
)


@ROPE.mistake(
    "waves added",
    "You added the waves to x. Here nothing is added: each pair of x is turned by its angle.",
)
def waves_added(x, positions):
    """The older way: the waves of the positions, added."""
    return x + sinusoidal(positions.max() + 1, x.shape[1])[positions]


ROPE.mistake(
    "positions added",
    "You added the positions to x. They say how far each pair turns: by the position times the speed of the"
    " pair.",
    lambda x, positions: x + positions[:, None],
)


@ROPE.mistake(
    "degrees",
    "You converted the angles from degrees. They are radians already, and NumPy's sine and cosine take"
    " radians.",
)
def in_degrees(x, positions):
    """The angle of each pair is converted before sine and cosine are taken."""
    angles, a, b = np.radians(angles_of(x, positions)), x[:, 0::2], x[:, 1::2]
    pairs = a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)
    return np.stack(pairs, axis=-1).reshape(x.shape)


# ---- where a piece starts


def offsets(lengths):
    return np.cumsum(lengths) - lengths


def piece_cases(rng):
    """The chapter's pieces, one piece, and longer ones."""
    return [
        (np.array([6, 1, 1, 1]),),
        (np.array([4]),),
        (np.array([2, 3, 5]),),
        (rng.integers(1, 9, size=6),),
    ]


OFFSETS = Exercise("positions-offsets", "Where a piece starts", offsets, piece_cases)

OFFSETS.mistake(
    "each from 0",
    "All your pieces start at 0. Only the first does: the next one goes on where it ended.",
    lambda lengths: np.zeros_like(lengths),
)
OFFSETS.mistake(
    "ends",
    "These are the positions after each piece. A piece starts where the one before it ended.",
    lambda lengths: np.cumsum(lengths),
)
OFFSETS.mistake(
    "last positions",
    "These are the positions of the last token of each piece. You are asked for the first: take away the"
    " whole length, not 1.",
    lambda lengths: np.cumsum(lengths) - 1,
)
OFFSETS.mistake(
    "off by one",
    "From the second piece on you are one too low. After 6 tokens, 0 to 5, the next position is 6.",
    lambda lengths: np.maximum(offsets(lengths) - 1, 0),
)
OFFSETS.mistake(
    "number of the piece",
    "You count the pieces. A piece may hold more than one token: add up the lengths.",
    lambda lengths: np.arange(len(lengths)),
)
OFFSETS.mistake(
    "length of the piece before",
    "Each of your starts is the length of the piece before it. Add up the lengths of all pieces before it.",
    lambda lengths: np.concatenate([[0], lengths[:-1]]),
)
