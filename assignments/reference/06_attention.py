"""Assignment 4: attention."""

import math

import numpy as np

from plaincourse.exercises import Exercise, Property, the_value
from plainformer.activations import softmax
from plainformer.attention import attend_heads, attention, causal_mask, merge_heads
from plaingrader.questions import variants

mine = variants("06_attention")


# ---- q1: one row of attention


def one_row(query, keys, values):
    return attention(query[None] * 1.0, keys * 1.0, values * 1.0)[0]


def mixed_by(weigh, divisor=2):
    """One row whose weights are made from the divided scores in another way."""
    return lambda query, keys, values: weigh(keys @ query / divisor) @ values


Q1 = Exercise(
    "q1",
    "One row of attention",
    answer="q1",
    reference=one_row,
    cases=the_value(3, mine.q1),
    tolerance=3e-4,
    by_hand=True,
)

Q1.mistake(
    "not divided by the root",
    "You took softmax of the dot products themselves. Divide them by the root of the width first.",
    mixed_by(softmax, 1),
)
Q1.mistake(
    "divided by the width",
    "You divided the dot products by the width, 4. Divide by its root.",
    mixed_by(softmax, 4),
)
Q1.mistake(
    "shares instead of softmax",
    "You divided each score by the sum of the scores. Softmax takes e to the power of each first.",
    mixed_by(lambda s: s / s.sum()),
)
Q1.mistake(
    "scores as weights",
    "You mixed the values by the scores. Softmax makes weights from them first.",
    mixed_by(lambda s: s),
)
Q1.mistake(
    "sum forgotten",
    "You mixed by the powers of e. Divide them by their sum first, so that the weights add up to 1.",
    mixed_by(np.exp),
)
Q1.mistake(
    "sum forgotten, largest score subtracted",
    "You subtracted the largest score, which is fine, and mixed by the powers of e. Divide them by their sum"
    " first.",
    mixed_by(lambda s: np.exp(s - s.max())),
)


# ---- q2: a longer query


def longer(weights, factor):
    return softmax(factor * np.log(weights))


Q2 = Exercise(
    "q2",
    "A longer query",
    answer="q2",
    reference=longer,
    cases=the_value(2, mine.q2),
    tolerance=3e-4,
    by_hand=True,
)

Q2.mistake(
    "weights multiplied",
    "You multiplied the weights. What is multiplied are the scores, and the new weights add up to 1 again.",
    lambda w, factor: factor * w,
)
Q2.mistake(
    "not divided",
    "These are the right proportions. Divide them by their sum, so that they add up to 1.",
    lambda w, factor: w**factor,
)
Q2.mistake(
    "unchanged",
    "You left the weights as they were. Softmax forgets a number added to all scores, but not a factor.",
    lambda w, factor: w,
)
Q2.mistake(
    "softmax of the weights",
    "You took softmax of the multiplied weights. The scores are multiplied: their powers of e are what the"
    " weights come from.",
    lambda w, factor: softmax(factor * w),
)
Q2.mistake(
    "root instead of power",
    "Your weights became more even, as with a shorter query. A longer one makes them more uneven.",
    lambda w, factor: softmax(np.log(w) / factor),
)


# ---- q3: counting shapes


def counted(T, heads, groups, width, head):
    return counts(T, heads, groups, width, head)


def counts(T, heads, groups, width, head, tables=None, shared=None, matrices=2, divide=None, reads=None):
    """The five numbers, some of them counted in another way."""
    E, shared = heads * width, shared or groups
    parameters = matrices * E * E + 2 * E * shared * width
    reads = head // (heads // groups) if reads is None else reads
    return np.array(
        [T * shared * width, tables or heads * T * T, parameters, divide or math.sqrt(width), reads]
    )


Q3 = Exercise(
    "q3", "Counting shapes", answer="q3", reference=counted, cases=the_value(3, mine.q3), by_hand=True
)

Q3.mistake(
    "every head its own keys",
    "You gave each query head keys and values of its own. There are only G of each, and their matrices are"
    " narrower for it.",
    lambda T, H, G, D, head: counts(T, H, G, D, head, shared=H),
)
Q3.mistake(
    "one table of weights",
    "You counted one table of weights. Each query head makes its own.",
    lambda T, H, G, D, head: counts(T, H, G, D, head, tables=T * T),
)
Q3.mistake(
    "a table for each key/value head",
    "You counted one table of weights for each key/value head. Heads that share keys still ask with queries"
    " of their own.",
    lambda T, H, G, D, head: counts(T, H, G, D, head, tables=G * T * T),
)
Q3.mistake(
    "output matrix forgotten",
    "There is a fourth matrix: it mixes what the heads have read.",
    lambda T, H, G, D, head: counts(T, H, G, D, head, matrices=1),
)
Q3.mistake(
    "root of the token's width",
    "You divide by the root of E. Each head divides by the root of its own width.",
    lambda T, H, G, D, head: counts(T, H, G, D, head, divide=math.sqrt(H * D)),
)
Q3.mistake(
    "in turns",
    "You let the heads take turns. Neighbours share a key/value head.",
    lambda T, H, G, D, head: counts(T, H, G, D, head, reads=head % G),
)


# ---- q4: scores with a cap


def capped(scores, cap):
    return cap * np.tanh(scores / cap)


def scores_of(q, k):
    return q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])


def capped_attention(q, k, v, cap, mask):
    return softmax(np.where(mask, capped(scores_of(q, k), cap), -np.inf)) @ v


def with_bend(bend):
    """The function with another bend of the scores."""
    return lambda q, k, v, cap, mask: (
        softmax(np.where(mask, bend(scores_of(q, k), cap, q.shape[-1]), -np.inf)) @ v
    )


def capped_case(rng, T, S, D, E, mask, leading=()):
    q, k, v = (
        rng.normal(size=(*leading, T, D)),
        rng.normal(size=(*leading, S, D)),
        rng.normal(size=(*leading, S, E)),
    )
    q *= 6 / np.abs(scores_of(q, k)).max()  # the largest score is 6, far beyond the cap
    return q, k, v, float(rng.integers(5, 9)) / 4, mask


def everything(rng):
    return [
        capped_case(rng, 3, 4, 5, 2, np.ones((3, 4), dtype=bool)),
        capped_case(rng, 2, 5, 3, 4, np.ones((2, 5), dtype=bool)),
    ]


def hidden(rng):
    return [capped_case(rng, 4, 4, 3, 2, causal_mask(4)), capped_case(rng, 2, 5, 3, 4, causal_mask(2, 5))]


Q4 = Exercise(
    "q4",
    "Scores with a cap",
    answer="capped_attention",
    reference=capped_attention,
    cases=(
        Property("every key may be looked at", 1, everything),
        Property("hidden keys", 2, hidden),
        Property(
            "leading axes",
            1,
            lambda rng: [
                capped_case(rng, 3, 3, 4, 5, causal_mask(3), (2,)),
                capped_case(rng, 2, 4, 3, 5, causal_mask(2, 4), (3, 2)),
            ],
        ),
    ),
)


@Q4.mistake(
    "masked before the cap",
    "You hid scores and then capped them: −∞ became −cap, and the hidden keys have weight again. Hide them"
    " just before softmax.",
)
def masked_before_the_cap(q, k, v, cap, mask):
    return softmax(capped(np.where(mask, scores_of(q, k), -np.inf), cap)) @ v


Q4.mistake(
    "no cap",
    "This is plain attention. The scores are bent by cap · tanh(score / cap) first.",
    with_bend(lambda scores, cap, D: scores),
)
Q4.mistake(
    "cut off",
    "You cut the scores off at ±cap, so that all beyond are equal. Bend them with tanh instead: a larger"
    " score stays larger.",
    with_bend(lambda scores, cap, D: np.clip(scores, -cap, cap)),
)
Q4.mistake(
    "between −1 and 1",
    "Your scores end up between −1 and 1. Multiply by the cap again after tanh.",
    with_bend(lambda scores, cap, D: np.tanh(scores / cap)),
)
Q4.mistake(
    "capped before dividing",
    "You capped the dot products. Divide them by the root of D first, then cap.",
    with_bend(lambda scores, cap, D: capped(scores * math.sqrt(D), cap) / math.sqrt(D)),
)
Q4.mistake(
    "not divided by the root",
    "The dot products are not divided by the root of D.",
    with_bend(lambda scores, cap, D: capped(scores * math.sqrt(D), cap)),
)


@Q4.mistake(
    "masked after softmax",
    "You set weights to 0 after softmax, so that the rest of a row no longer adds up to 1. Hide the scores,"
    " before softmax.",
)
def masked_after_softmax(q, k, v, cap, mask):
    return softmax(capped(scores_of(q, k), cap)) * mask @ v


Q4.mistake(
    "hidden scores 0",
    "You set the hidden scores to 0. Softmax gives a score of 0 weight, too: only −∞ gets none.",
    lambda q, k, v, cap, mask: softmax(np.where(mask, capped(scores_of(q, k), cap), 0.0)) @ v,
)
Q4.mistake(
    "mask turned round",
    "You hid the keys that a query may look at. True means: may look.",
    lambda q, k, v, cap, mask: capped_attention(q, k, v, cap, ~mask),
)


# ---- q5: two parts


def join_parts(z1, log1, z2, log2):
    weights = softmax(np.stack([log1, log2]), axis=0)[..., None]
    return weights[0] * z1 + weights[1] * z2


def joined_by(weigh):
    """The parts mixed by other shares."""

    def answer(z1, log1, z2, log2):
        first, second = weigh(log1, log2)
        return first[..., None] * z1 + second[..., None] * z2

    return answer


def powers(log1, log2):
    first, second = np.exp(log1), np.exp(log2)
    return first / (first + second), second / (first + second)


def one_maximum(log1, log2):
    top = max(log1.max(), log2.max())
    return powers(log1 - top, log2 - top)


def two_parts(rng, leading, E, shift=0.0):
    z1, z2 = rng.normal(size=(2, *leading, E))
    log1 = rng.uniform(0.5, 1.5, size=leading)
    log2 = log1 + rng.uniform(0.4, 1.2, size=leading) * rng.choice([-1, 1], size=leading)
    return z1, log1 + shift, z2, log2 + shift


def large_parts(rng):
    shift = 1000.0 * np.array([1, -2, 2, -1])
    return [two_parts(rng, (4,), 3, shift)]


Q5 = Exercise(
    "q5",
    "Read in two parts",
    answer="join_parts",
    reference=join_parts,
    cases=(
        Property("one text", 2, lambda rng: [two_parts(rng, (3,), 4), two_parts(rng, (5,), 2)]),
        Property("large scores", 1, large_parts),
        Property("leading axes", 1, lambda rng: [two_parts(rng, (2, 3), 5), two_parts(rng, (3, 2, 4), 5)]),
    ),
)

Q5.mistake(
    "plain average",
    "You gave each part a half. The part with the larger sum of powers counts for more.",
    joined_by(lambda a, b: (0 * a + 0.5, 0 * b + 0.5)),
)
Q5.mistake(
    "added",
    "You added the two. Each was made with weights that add up to 1, so together they must be mixed, not"
    " added.",
    joined_by(lambda a, b: (0 * a + 1, 0 * b + 1)),
)
Q5.mistake(
    "shares of the logarithms",
    "You weighed by the logarithms. What has to be compared are the sums of powers, e to the power of log1"
    " and log2.",
    joined_by(lambda a, b: (a / (a + b), b / (a + b))),
)
Q5.mistake(
    "exchanged",
    "Your two shares are exchanged: z1 gets the share of the second part.",
    joined_by(lambda a, b: powers(a, b)[::-1]),
)
Q5.mistake(
    "sum forgotten",
    "Your two shares do not add up to 1. Divide them by their sum.",
    joined_by(lambda a, b: (np.exp(a), np.exp(b))),
)
Q5.mistake(
    "overflow",
    "Right for small scores. For large ones np.exp gives inf or 0: subtract the same number from log1 and"
    " log2 first.",
    joined_by(powers),
)
Q5.mistake(
    "one maximum for all",
    "You subtract one number for all queries. Where both logarithms lie far below it, both powers become 0:"
    " choose it for each query.",
    joined_by(one_maximum),
)
Q5.mistake(
    "the larger part only",
    "You take the part with the larger sum and drop the other. Both count.",
    joined_by(lambda a, b: ((a > b) * 1.0, (a <= b) * 1.0)),
)


# ---- q6: mend the groups


def broken_grouped_attention(q, k, v):
    heads, T, D = q.shape
    k = np.tile(k, (heads // len(k), 1, 1))
    v = np.tile(v, (heads // len(v), 1, 1))
    scores = q @ k.swapaxes(1, 2) / np.sqrt(D)
    return (softmax(scores) @ v).reshape(T, heads * D)


def grouped_attention(q, k, v):
    return attend_heads(q, k, v)


def grouped(
    copied=lambda x, times: np.repeat(x, times, axis=0),
    merged=merge_heads,
    scale=lambda heads, D: math.sqrt(D),
):
    """The function with another step."""

    def answer(q, k, v):
        heads, _, D = q.shape
        k, v = copied(k, heads // len(k)), copied(v, heads // len(v))
        return merged(softmax(q @ k.swapaxes(1, 2) / scale(heads, D)) @ v)

    return answer


def tiled(x, times):
    return np.tile(x, (times, 1, 1))


def reshaped(x):
    return x.reshape(x.shape[1], -1)


def heads_case(rng, H, G, T, S, D):
    return rng.normal(size=(H, T, D)), rng.normal(size=(G, S, D)), rng.normal(size=(G, S, D))


Q6 = Exercise(
    "q6",
    "Grouped heads, mended",
    answer="grouped_attention",
    reference=grouped_attention,
    cases=(
        Property(
            "as many key/value heads as query heads",
            2,
            lambda rng: [heads_case(rng, 3, 3, 2, 5, 4), heads_case(rng, 2, 2, 3, 4, 5)],
        ),
        Property(
            "fewer key/value heads",
            2,
            lambda rng: [
                heads_case(rng, 4, 2, 3, 5, 6),
                heads_case(rng, 6, 2, 4, 3, 5),
                heads_case(rng, 6, 3, 5, 4, 2),
            ],
        ),
    ),
    refuse=("plainformer.attention.attend_heads", "torch.nn.functional.scaled_dot_product_attention"),
    handed_out=broken_grouped_attention,
)

Q6.mistake(
    "heads in turns",
    "The merge is mended. The heads still take turns, 0, 1, 0, 1: neighbours should share, 0, 0, 1, 1.",
    grouped(copied=tiled),
)
Q6.mistake(
    "plain reshape at the end",
    "Neighbours share now. The result still mixes up its rows: bring the positions in front of the heads"
    " before the reshape.",
    grouped(merged=reshaped),
)
Q6.mistake(
    "columns in turns",
    "The rows belong to the right tokens, but the heads alternate column by column. Each head's D numbers"
    " stay side by side.",
    grouped(merged=lambda x: x.transpose(1, 2, 0).reshape(x.shape[1], -1)),
)
Q6.mistake(
    "root of the whole width",
    "Each head divides by the root of its own width D, as it did. That was no mistake.",
    grouped(scale=lambda heads, D: math.sqrt(heads * D)),
)
