"""Assignment 5: positions."""

import numpy as np

from plaincourse.exercises import Exercise, Property, the_value
from plainformer.positions import relative_bias, rope, sinusoidal
from plaingrader.questions import variants

mine = variants("07_positions")


# ---- q1: another order


def reordered(rows, order):
    return rows[order]


Q1 = Exercise(
    "q1",
    "Another order",
    answer="q1",
    reference=reordered,
    cases=the_value(2, mine.q1),
    tolerance=1e-6,
    by_hand=True,
)

Q1.mistake(
    "the other way round",
    "You sent row i to place order[i]. The token that now stands at place i is the old token order[i].",
    lambda rows, order: rows[np.argsort(order)],
)
Q1.mistake(
    "unchanged",
    "You left the rows where they were. Each token takes its row along to its new place.",
    lambda rows, order: rows,
)


# ---- q2: a token and its waves


def with_waves(token, position):
    return token + sinusoidal(position + 1, 4)[position]


def waves(angles, first=np.sin, second=np.cos):
    """A row of waves from the angles of its pairs."""
    return np.stack([first(angles), second(angles)], axis=-1).reshape(-1)


def pair_angles(position, base=10000.0):
    return position * np.array([1, base**-0.5])


Q2 = Exercise(
    "q2",
    "A token and its waves",
    answer="q2",
    reference=with_waves,
    cases=the_value(3, mine.q2),
    tolerance=3e-4,
    by_hand=True,
)

Q2.mistake(
    "degrees",
    "Your calculator counts in degrees. The angles are radians.",
    lambda token, position: token + waves(np.radians(pair_angles(position))),
)
Q2.mistake(
    "positions from 1",
    "This is the row of the position before. Positions count from 0, so row t belongs to the angle t.",
    lambda token, position: token + waves(pair_angles(position - 1)),
)
Q2.mistake(
    "cosine first",
    "Sine and cosine are exchanged: in each pair the sine comes first.",
    lambda token, position: token + waves(pair_angles(position), np.cos, np.sin),
)
Q2.mistake(
    "sines first, cosines after",
    "You put both sines first. Sine and cosine of a pair stand side by side.",
    lambda token, position: token + waves(pair_angles(position))[[0, 2, 1, 3]],
)
Q2.mistake(
    "waves alone",
    "This is the row of the position. It is added to the token.",
    lambda token, position: waves(pair_angles(position)),
)
Q2.mistake(
    "one speed",
    "Both your pairs turn by 1 a position. The second one turns by a hundredth.",
    lambda token, position: token + waves(np.array([position, position])),
)
Q2.mistake(
    "factor 2 missing",
    "Your second pair turns by a tenth a position. The exponent is −2i / E, where i counts the pairs from 0.",
    lambda token, position: token + waves(pair_angles(position, 100.0)),
)


# ---- q3: a turned query, in halves


def turned_in_halves(query, position):
    return rope(query[None] * 1.0, [position], base=100.0, pairing="halves")[0]


def turned_by(angles, partners=((0, 2), (1, 3)), minus=-1):
    """The query turned by other angles, or with other partners."""

    def answer(query, position):
        out = np.zeros(4)
        for angle, (a, b) in zip(angles(position), partners, strict=True):
            out[a] = query[a] * np.cos(angle) + minus * query[b] * np.sin(angle)
            out[b] = query[a] * np.sin(angle) + query[b] * np.cos(angle)
        return out

    return answer


def hundredths(position):
    return pair_angles(position, 100.0)


Q3 = Exercise(
    "q3",
    "A query turned in halves",
    answer="q3",
    reference=turned_in_halves,
    cases=the_value(3, mine.q3),
    tolerance=3e-4,
    by_hand=True,
)

Q3.mistake(
    "neighbours",
    "You paired neighbours. In halves, the first number goes with the third and the second with the fourth.",
    turned_by(hundredths, ((0, 1), (2, 3))),
)
Q3.mistake(
    "backwards",
    "You turned the other way: a cos − b sin first, then a sin + b cos.",
    turned_by(lambda position: -hundredths(position)),
)
Q3.mistake("no minus", "The first number of each pair is a cos minus b sin.", turned_by(hundredths, minus=1))
Q3.mistake(
    "degrees",
    "Your calculator counts in degrees. The angles are radians.",
    turned_by(lambda position: np.radians(hundredths(position))),
)
Q3.mistake(
    "one speed",
    "You turned both pairs by the same angle. Pair i turns by base^(−2i/D) a position.",
    turned_by(lambda position: hundredths(position)[[0, 0]]),
)
Q3.mistake(
    "another base",
    "Your second pair turns by a hundredth a position, as with the base 10,000. Here the base is 100.",
    turned_by(pair_angles),
)


# ---- q4: scores after a slip


def at_distances(scores, distances):
    return scores[np.asarray(distances) + 5]


def slipped_scores(scores, length, start):
    keys = np.append(np.arange(length), [start, start + 1])
    return at_distances(scores, start + 1 - keys)


def scores_between(query, new_keys, sign=1):
    """The scores if the last query and the two new keys stood elsewhere."""

    def answer(scores, length, start):
        keys = np.append(np.arange(length), new_keys(length, start))
        return at_distances(scores, sign * (query(length, start) - keys))

    return answer


Q4 = Exercise(
    "q4",
    "Scores after a slip",
    answer="q4",
    reference=slipped_scores,
    cases=the_value(3, mine.q4),
    tolerance=1e-6,
    by_hand=True,
)

Q4.mistake(
    "no slip",
    "These are the scores of a program without the mistake. Here the two new tokens stand at start and start"
    " + 1.",
    scores_between(lambda n, start: n + 1, lambda n, start: [n, n + 1]),
)
Q4.mistake(
    "the first of the two",
    "You let the first of the two new tokens ask. The last one stands one place on.",
    scores_between(lambda n, start: start, lambda n, start: [start, start + 1]),
)
Q4.mistake(
    "new keys in their right places",
    "You moved the query alone. The new keys are turned by the same wrong positions.",
    scores_between(lambda n, start: start + 1, lambda n, start: [n, n + 1]),
)
Q4.mistake(
    "distance turned over",
    "You took the key's position minus the query's. The distance counts how far the key lies back.",
    scores_between(lambda n, start: start + 1, lambda n, start: [start, start + 1], -1),
)


# ---- q5: a straight line for every head


def line_bias(heads, queries, keys):
    slopes = 2.0 ** (-8 * np.arange(1, heads + 1) / heads)
    return relative_bias(-slopes[:, None] * np.arange(keys), queries, keys)


def lines(
    slope=lambda h, heads: 2.0 ** (-8 * (h + 1) / heads),
    offset=True,
    back=lambda places: np.maximum(places, 0),
    sign=-1,
):
    """The bias with something else in place of one of its parts."""

    def answer(heads, queries, keys):
        places = np.arange(queries)[:, None] + offset * (keys - queries) - np.arange(keys)
        return sign * slope(np.arange(heads), heads)[:, None, None] * back(places)

    return answer


def square_sizes(rng):
    few, many = int(rng.integers(2, 5)), int(rng.integers(5, 8))
    return [(few, few + 1, few + 1), (many, 3, 3)]


def last_sizes(rng):
    heads = int(rng.integers(3, 7))
    return [(heads, 2, int(rng.integers(7, 10))), (2, 3, int(rng.integers(5, 8))), (heads + 1, 1, 4)]


Q5 = Exercise(
    "q5",
    "A straight line for every head",
    answer="line_bias",
    reference=line_bias,
    cases=(
        Property("as many queries as keys", 2, square_sizes),
        Property("queries at the end", 2, last_sizes),
    ),
    tolerance=1e-9,
)

Q5.mistake(
    "plus for minus",
    "Your bias rewards what is far back. It should take away from it.",
    lines(sign=1),
)
Q5.mistake(
    "heads from 0",
    "Your first head has the slope 1. Here the heads count from 1.",
    lines(slope=lambda h, heads: 2.0 ** (-8 * h / heads)),
)
Q5.mistake(
    "halved from head to head",
    "Your slope is halved from each head to the next, whatever their number. With H heads the exponent is"
    " −8h / H.",
    lines(slope=lambda h, heads: 2.0 ** -(h + 1.0)),
)
Q5.mistake(
    "no offset",
    "Your queries stand at the beginning of the text. They are its last positions.",
    lines(offset=False),
)
Q5.mistake(
    "a bonus for later keys",
    "Keys after the query get a positive number. They should get 0.",
    lines(back=lambda places: places),
)
Q5.mistake(
    "later keys as earlier ones",
    "Keys after the query get as much as keys before it. They should get 0.",
    lines(back=np.abs),
)
Q5.mistake(
    "turned",
    "You have one row a key. It should be one row a query: shape (heads, queries, keys).",
    lambda heads, queries, keys: line_bias(heads, queries, keys).swapaxes(1, 2),
)


# ---- q6: where has it been turned?


def nearest(x, turned, candidates, **how):
    """For each row the position, among those from 0 on, after whose turn it lies nearest to what was
    found.
    """
    all_turns = rope(np.repeat(x[:, None], len(candidates), axis=1), candidates, **how)
    return np.argmin(np.square(all_turns - turned[:, None]).sum(axis=-1), axis=1)


def find_positions(x, turned, length):
    return nearest(x, turned, np.arange(length))


def turned_rows(rng, positions, width, length):
    x = rng.normal(size=(len(positions), width))
    return x, rope(x, positions), length


def small_positions(rng):
    return [
        turned_rows(rng, rng.permutation([1, 2, 3]), 4, 4),
        turned_rows(rng, [3, 1, *rng.integers(0, 4, size=3)], 6, 4),
    ]


def later_pieces(rng):
    start = int(rng.integers(8, 14))
    return [
        turned_rows(rng, np.arange(start, start + 4), 6, 20),
        turned_rows(rng, np.append([0, 1, 2, 3, 4], [4, 5]), 8, 9),
    ]


def any_positions(rng):
    return [turned_rows(rng, rng.integers(4, 50, size=size), width, 50) for size, width in ((3, 4), (7, 6))]


Q6 = Exercise(
    "q6",
    "Where has it been turned?",
    answer="find_positions",
    reference=find_positions,
    cases=(
        Property("positions up to 3", 1, small_positions),
        Property("pieces of a text", 1, later_pieces),
        Property("any positions", 2, any_positions),
    ),
)

Q6.mistake(
    "counted",
    "You count the rows. The positions have to be found from what the turn did to each row.",
    lambda x, turned, length: np.arange(len(x)),
)
Q6.mistake(
    "from 1",
    "All your positions are one too high: they count from 0, and a row at position 0 is not turned.",
    lambda x, turned, length: find_positions(x, turned, length) + 1,
)


@Q6.mistake(
    "full turns forgotten",
    "Right up to 3. Farther on, the first pair has been round: its angle alone does not tell how often.",
)
def angle_of_first_pair(x, turned, length):
    """The angle alone, which does not tell how often the pair has been round."""
    dot = x[:, 0] * turned[:, 0] + x[:, 1] * turned[:, 1]
    across = x[:, 0] * turned[:, 1] - x[:, 1] * turned[:, 0]
    return np.rint(np.arctan2(across, dot)).astype(int)


@Q6.mistake("halves", "You turn the rows in halves. Here the pairs are neighbours.")
def found_as_halves(x, turned, length):
    return nearest(x, turned, np.arange(length), pairing="halves")


@Q6.mistake(
    "backwards",
    "You turn the other way: the found row is the row before, turned forwards by its position.",
)
def found_backwards(x, turned, length):
    return nearest(x, turned, -np.arange(length))


Q6.mistake(
    "from the first row",
    "You count from the first row's position. Give the positions themselves.",
    lambda x, turned, length: find_positions(x, turned, length) - find_positions(x, turned, length)[0],
)


# ---- q7: mend the cache


def broken_scores_with_cache(query, key, cached):
    before, T, D = len(cached), *query.shape
    keys = np.concatenate([cached, key])
    turned_keys = rope(keys, np.arange(before + T))
    turned_query = rope(query, np.arange(T))
    return turned_query @ turned_keys.T / np.sqrt(D)


def scores_with(query_start, key_start, twice=False):
    """The scores if queries and new keys start at other positions."""

    def answer(query, key, cached):
        before, T = len(cached), len(query)
        old = rope(cached, np.arange(before)) if twice else cached
        keys = np.concatenate([old, rope(key, key_start(before) + np.arange(T))])
        return rope(query, query_start(before) + np.arange(T)) @ keys.T / np.sqrt(query.shape[1])

    return answer


def following(before):
    return before


def from_zero(before):
    return 0


def one_low(before):
    return before - 1


scores_with_cache = scores_with(following, following)


def cached_case(rng, before, T, D):
    query, key, old = rng.normal(size=(T, D)), rng.normal(size=(T, D)), rng.normal(size=(before, D))
    return query, key, rope(old, np.arange(before))


Q7 = Exercise(
    "q7",
    "Scores with a cache, mended",
    answer="scores_with_cache",
    reference=lambda query, key, cached: scores_with_cache(query, key, cached),
    cases=(
        Property("after one token", 1, lambda rng: [cached_case(rng, 1, 2, 4), cached_case(rng, 1, 3, 6)]),
        Property(
            "after several tokens",
            3,
            lambda rng: [cached_case(rng, 3, 2, 4), cached_case(rng, 5, 1, 6), cached_case(rng, 4, 3, 8)],
        ),
    ),
    handed_out=broken_scores_with_cache,
)

Q7.mistake(
    "turned twice",
    "The queries stand right now. The cached keys are still turned a second time: they were turned when they"
    " were new.",
    scores_with(following, following, True),
)
Q7.mistake(
    "queries start again",
    "The cached keys are left alone now. The queries still count from 0: they stand behind the cached"
    " tokens.",
    scores_with(from_zero, following),
)
Q7.mistake(
    "everything new starts again",
    "Queries and new keys count from 0. Both stand behind the cached tokens.",
    scores_with(from_zero, from_zero),
)
Q7.mistake(
    "new keys start again",
    "The queries stand right. The new keys count from 0, and belong behind the cached ones as well.",
    scores_with(following, from_zero),
)
Q7.mistake(
    "one too low",
    "Your new tokens are one too low. After C tokens, at 0 to C − 1, the next one stands at C.",
    scores_with(one_low, one_low),
)
