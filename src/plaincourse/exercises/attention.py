"""Exercises of the attention chapter."""

import math

import numpy as np

from plainformer.activations import softmax
from plainformer.attention import attention, attention_weights, causal_mask, split_heads

from . import Exercise

# ---- the weights of two keys, with a pencil


def two_keys(rng):
    """One query and two keys whose scores are 4 and 2; the width is 4, so that its root is 2."""
    return [(np.array([1.0, 2.0, 0.0, 1.0]), np.array([[1.0, 1.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0]]))]


def weights_of(query, keys):
    return attention_weights(query[None], keys)[0]


def weights_divided_by(divisor):
    def answer(query, keys):
        return softmax(keys @ query / divisor)

    return answer


TWO_KEYS = Exercise("attention-two-keys", "Two keys", weights_of, two_keys, tolerance=4e-3, by_hand=True)

TWO_KEYS.mistake(
    "not divided by the root",
    "You took softmax of the dot products themselves, 4 and 2. Divide them by the root of the width, 2,"
    " first.",
    weights_divided_by(1),
)
TWO_KEYS.mistake(
    "divided by the width",
    "You divided the dot products by the width, 4. Divide by its root, 2.",
    weights_divided_by(4),
)


@TWO_KEYS.mistake(
    "shares instead of softmax",
    "You divided each score by the sum of the scores. Softmax takes e to the power of each score first.",
)
def shares(query, keys):
    scores = keys @ query
    return scores / scores.sum()


TWO_KEYS.mistake(
    "the wrong way round",
    "The two numbers are right, in the wrong order. The first key has the larger score, so the first weight"
    " is the larger one.",
    lambda query, keys: weights_of(query, keys)[::-1],
)
TWO_KEYS.mistake(
    "in percent",
    "These are the weights in percent. Write them so that they add up to 1: divide both by 100.",
    lambda query, keys: 100 * weights_of(query, keys),
)
TWO_KEYS.mistake(
    "scores, no weights",
    "These are the scores after dividing. Softmax makes weights from them, which add up to 1.",
    lambda query, keys: keys @ query / 2,
)
TWO_KEYS.mistake(
    "dot products, no weights",
    "These are the dot products. Two steps are still to do: divide by the root of the width, 2, then take"
    " softmax.",
    lambda query, keys: keys @ query,
)


@TWO_KEYS.mistake(
    "powers, not divided",
    "You took e to the power of each score, as softmax begins. Now divide both by their sum, so that they"
    " add up to 1.",
)
def exponentials(query, keys):
    return np.exp(keys @ query / 2)


TWO_KEYS.mistake(
    "powers, largest score subtracted, not divided",
    "You subtracted the larger score and took e to the power of each. Now divide both by their sum, so that"
    " they add up to 1.",
    lambda query, keys: exponentials(query, keys) / exponentials(query, keys).max(),
)


# ---- attention


def unmasked(q, k, v):
    """What is asked for: attention without a mask."""
    return attention(q, k, v)


ONE_SUM = (
    "You divide by one sum, that of the whole table. Each row has to add up to 1 by itself: use sum(axis=1,"
    " keepdims=True)."
)


def attention_cases(rng):
    """Sizes that differ from one another, and scores that overflow unless the largest is subtracted."""
    sizes = [(3, 4, 2, 5), (2, 5, 4, 3), (1, 3, 2, 4)]
    cases = [
        (rng.normal(size=(t, d)), rng.normal(size=(s, d)), rng.normal(size=(s, e))) for t, s, d, e in sizes
    ]
    large = 1000 + rng.random(size=(2, 4)), 1 + rng.random(size=(3, 4)), rng.normal(size=(3, 5))
    return [*cases, large]


def attention_with(scale, axis=-1):
    """Attention whose scores are divided by scale(query, value), with softmax along another axis if asked
    for.
    """

    def answer(query, key, value):
        return softmax(query @ key.T / scale(query, value), axis=axis) @ value

    return answer


def right_scale(query, value):
    return math.sqrt(query.shape[-1])


def divided_by_the_whole_sum(largest):
    """Attention whose weights add up to 1 over the whole table, after subtracting largest(scores)."""

    def answer(query, key, value):
        scores = query @ key.T / right_scale(query, value)
        powers = np.exp(scores - largest(scores))
        return powers / powers.sum() @ value

    return answer


FOUR_STEPS = Exercise("attention-function", "Four steps", unmasked, attention_cases)

FOUR_STEPS.mistake(
    "not divided",
    "The scores are not divided by √D, so the weights are too peaked. D is the width of a query.",
    attention_with(lambda query, value: 1.0),
)
FOUR_STEPS.mistake(
    "divided by D",
    "You divide the scores by D. Divide by its root.",
    attention_with(lambda query, value: query.shape[-1]),
)
FOUR_STEPS.mistake(
    "root of another width",
    "You divide by the root of the width of a value. It is the width of a query that counts: q.shape[1].",
    attention_with(lambda query, value: math.sqrt(value.shape[-1])),
)
FOUR_STEPS.mistake(
    "root of the number of queries",
    "You divide by the root of the number of queries, q.shape[0]. It is the width of a query that counts:"
    " q.shape[1].",
    attention_with(lambda query, value: math.sqrt(query.shape[0])),
)
FOUR_STEPS.mistake(
    "root of the number of keys",
    "You divide by the root of the number of keys. It is the width of a query that counts: q.shape[1].",
    attention_with(lambda query, value: math.sqrt(value.shape[0])),
)
FOUR_STEPS.mistake(
    "softmax over the queries",
    "Your softmax works down the columns, so each key's weights add up to 1. Each query's should: use axis=1"
    " with keepdims=True.",
    attention_with(right_scale, axis=0),
)


@FOUR_STEPS.mistake(
    "softmax forgotten",
    "You mix the values by the scores themselves. Softmax turns each row of scores into weights first.",
)
def without_softmax(query, key, value):
    return query @ key.T / right_scale(query, value) @ value


@FOUR_STEPS.mistake(
    "sum forgotten",
    "Your weights are positive and do not add up to 1. Divide each row by its sum.",
)
def not_divided_by_sum(query, key, value):
    scores = query @ key.T / right_scale(query, value)
    return np.exp(scores - scores.max(axis=-1, keepdims=True)) @ value


FOUR_STEPS.mistake("one sum for the whole table", ONE_SUM, divided_by_the_whole_sum(np.max))
FOUR_STEPS.mistake(
    "one sum for the whole table, each row's largest score subtracted",
    ONE_SUM,
    divided_by_the_whole_sum(lambda scores: scores.max(axis=-1, keepdims=True)),
)
FOUR_STEPS.mistake(
    "one sum for the whole table, no largest score subtracted",
    ONE_SUM,
    divided_by_the_whole_sum(lambda scores: 0),
)


@FOUR_STEPS.mistake(
    "overflow",
    "Right for small scores; for large ones np.exp overflows. Subtract each row's largest score first: the"
    " weights stay the same.",
)
def without_maximum(query, key, value):
    powers = np.exp(query @ key.T / right_scale(query, value))
    return powers / powers.sum(axis=-1, keepdims=True) @ value


@FOUR_STEPS.mistake(
    "weights only",
    "These are the attention weights, and they are right. The last step is still to do: mix the values by"
    " them.",
)
def weights_only(query, key, value):
    return attention_weights(query, key)


# ---- splitting into heads


def split_cases(rng):
    """Rows of whole numbers, in which each number tells where it came from."""
    sizes = [(2, 2, 2), (3, 2, 4), (5, 3, 2)]
    return [(np.arange(float(t * h * d)).reshape(t, h * d), h) for t, h, d in sizes]


SPLIT_HEADS = Exercise("attention-split-heads", "Cutting rows into heads", split_heads, split_cases)


@SPLIT_HEADS.mistake(
    "plain reshape",
    "The shape is right, but the first head holds several pieces of the same token. Cut into (T, H, D)"
    " first, then swap the first two axes.",
)
def only_reshaped(x, heads):
    return x.reshape(heads, x.shape[0], -1)


@SPLIT_HEADS.mistake(
    "positions first",
    "The rows are cut rightly, with shape (T, H, D). The heads must come first: swap the first two axes.",
)
def positions_first(x, heads):
    return x.reshape(x.shape[0], heads, -1)


@SPLIT_HEADS.mistake(
    "every other column",
    "Your heads take turns with the columns. Each head takes D columns that are neighbours.",
)
def every_other_column(x, heads):
    return np.stack([x[:, head::heads] for head in range(heads)])


@SPLIT_HEADS.mistake(
    "pieces turned",
    "Each head holds the right numbers with rows and columns swapped: the shape should be (H, T, D).",
)
def turned_pieces(x, heads):
    return split_heads(x, heads).transpose(0, 2, 1)


# ---- a causal mask for the last queries


def mask_cases(rng):
    """As many queries as keys, fewer, and a single one."""
    return [(3, 3), (2, 5), (1, 4), (4, 6)]


CAUSAL_MASK = Exercise("attention-causal-mask", "A mask for the last queries", causal_mask, mask_cases)


@CAUSAL_MASK.mistake(
    "no offset",
    "Your queries stand at the beginning of the text. They are its last positions: shift the triangle by"
    " keys − queries.",
)
def without_offset(queries, keys):
    return np.tril(np.ones((queries, keys), dtype=bool))


@CAUSAL_MASK.mistake(
    "not itself",
    "Your queries may look at what came before, but not at themselves. They may: use ≤, not <.",
)
def not_itself(queries, keys):
    return np.tril(np.ones((queries, keys), dtype=bool), k=keys - queries - 1)


@CAUSAL_MASK.mistake(
    "the future",
    "Your triangle is on the wrong side: each query looks at itself and at what comes later. It may look"
    " back only.",
)
def sees_the_future(queries, keys):
    return np.triu(np.ones((queries, keys), dtype=bool), k=keys - queries)


CAUSAL_MASK.mistake(
    "everything allowed",
    "Your mask is True everywhere. A query may not look at the positions after its own.",
    lambda queries, keys: np.ones((queries, keys), dtype=bool),
)


@CAUSAL_MASK.mistake(
    "one step too far",
    "Your queries may also look at the position just after their own. The last one allowed is their own.",
)
def one_step_too_far(queries, keys):
    return np.tril(np.ones((queries, keys), dtype=bool), k=keys - queries + 1)


CAUSAL_MASK.mistake(
    "hidden and allowed exchanged",
    "Your mask is True where a query may not look. Here, True means that it may.",
    lambda queries, keys: ~causal_mask(queries, keys),
)


@CAUSAL_MASK.mistake(
    "turned",
    "Your mask has one row a key. It should have one row a query: shape (queries, keys).",
)
def turned_mask(queries, keys):
    return causal_mask(queries, keys).T
