"""Assignment 9: sampling."""

import numpy as np

from plaincourse.exercises import Exercise, Property, the_value
from plainformer.activations import softmax
from plainformer.sampling import probabilities, top_k, top_p
from plaingrader.questions import variants

mine = variants("11_sampling")


# ---- q1: from a row to probabilities


def distribution(x, columns, temperature):
    return softmax(x @ columns / temperature)


Q1 = Exercise(
    "q1",
    "From a row to probabilities",
    answer="q1",
    reference=distribution,
    cases=the_value(3, mine.q1),
    tolerance=1e-3,
    by_hand=True,
)

Q1.mistake(
    "no temperature",
    "These are the probabilities at temperature 1. Divide the scores by the temperature before you raise e"
    " to them.",
    lambda x, columns, temperature: softmax(x @ columns),
)
Q1.mistake(
    "temperature multiplied",
    "You multiplied the scores by the temperature. Dividing does the opposite: a temperature below 1 opens"
    " the gaps.",
    lambda x, columns, temperature: softmax(x @ columns * temperature),
)
Q1.mistake(
    "temperature last",
    "You divided the probabilities by the temperature, and they do not sum to 1 any more. It divides the"
    " scores.",
    lambda x, columns, temperature: softmax(x @ columns) / temperature,
)
Q1.mistake(
    "not divided",
    "You have e to each score. Divide each by their sum.",
    lambda x, columns, temperature: np.exp(x @ columns / temperature),
)


# ---- q2: which temperature


def other_temperature(second, third, wanted):
    temperature = np.log(second) / np.log(wanted)
    return np.array([temperature, third ** (1 / temperature)])


Q2 = Exercise(
    "q2",
    "Which temperature",
    answer="q2",
    reference=other_temperature,
    cases=the_value(3, mine.q2),
    tolerance=1e-3,
    by_hand=True,
)

Q2.mistake(
    "turned over",
    "Your temperature is one over the right one. A higher temperature brings the words closer together.",
    lambda second, third, wanted: (
        other_temperature(second, third, wanted) * [0, 1] + [np.log(wanted) / np.log(second), 0]
    ),
)
Q2.mistake(
    "both turned over",
    "Your temperature is one over the right one, and the third word followed it. A higher temperature brings"
    " words closer together.",
    lambda second, third, wanted: np.array(
        [np.log(wanted) / np.log(second), third ** (np.log(second) / np.log(wanted))]
    ),
)
Q2.mistake(
    "factors divided",
    "You divided one factor by the other. The temperature divides the gap between the logits: the logarithm"
    " of the factor.",
    lambda second, third, wanted: np.array([second / wanted, third * wanted / second]),
)
Q2.mistake(
    "third factor divided",
    "The temperature is right. It does not divide the third word's factor itself: take its logarithm, divide"
    " that, and go back.",
    lambda second, third, wanted: (
        other_temperature(second, third, wanted) * [1, 0] + [0, third * np.log(wanted) / np.log(second)]
    ),
)
Q2.mistake(
    "third factor left",
    "The temperature is right. It changes every gap, so the third word's factor changes as well.",
    lambda second, third, wanted: other_temperature(second, third, wanted) * [1, 0] + [0, third],
)


# ---- q3: two orders


def both_orders(shares, k, p):
    scores = np.log(shares)
    return softmax(np.array([top_p(top_k(scores, k), p), top_k(top_p(scores, p), k)]))


def cut(shares, k, p, crossing=1):
    """Top-p on shares as they are, whatever they sum to, and then top-k: which words stay."""
    rank = np.argsort(np.argsort(-shares))
    count = int(np.sum(np.cumsum(-np.sort(-shares)) < p)) + crossing
    return (rank < count) & (rank < k)


def stay(shares, words):
    return np.where(words, shares, 0) / np.sum(shares[words])


Q3 = Exercise(
    "q3",
    "Two orders",
    answer="q3",
    reference=both_orders,
    cases=the_value(4, mine.q3),
    tolerance=1e-3,
    by_hand=True,
)

Q3.mistake(
    "the two exchanged",
    "Both rows occur, in the other order. After top-k the shares that are left have grown.",
    lambda shares, k, p: both_orders(shares, k, p)[::-1],
)


@Q3.mistake(
    "shares after top-k not renewed",
    "Your top-p saw the same shares in both orders. When top-k acts first, top-p sees shares that were"
    " divided by their new sum.",
)
def never_renormalized(shares, k, p):
    return np.array([stay(shares, cut(shares, k, p))] * 2)


@Q3.mistake(
    "crossing word dropped",
    "You stopped before the word with which the sum reaches p. That word stays, too.",
)
def crossing_word_dropped(shares, k, p):
    after_k = stay(shares, cut(shares, k, 1.0))
    return np.array([stay(shares, cut(after_k, k, p, 0)), stay(shares, cut(shares, k, p, 0))])


Q3.mistake(
    "not divided at the end",
    "The right words stay. Their shares must sum to 1 in each row: divide by the sum once more.",
    lambda shares, k, p: np.where(both_orders(shares, k, p) > 0, shares, 0),
)


# ---- q4: min-p


def min_p(logits, least):
    shares = softmax(logits)
    return softmax(np.where(shares >= least * shares.max(axis=-1, keepdims=True), logits, -np.inf))


def divided(shares, kept):
    shares = np.where(kept, shares, 0.0)
    return shares / shares.sum(axis=-1, keepdims=True)


def min_p_by(kept):
    """The function that keeps other words: a rule (logits, shares, least)."""
    return lambda logits, least: divided(softmax(logits), kept(logits, softmax(logits), least))


def scores_around(rng, shift, size=6):
    """One row: the best word, two that stay, others that do not. None lies near the edge of 0.45, 0.5 or 0.9
    times the best.
    """
    ratios = np.concatenate([[1.0], rng.uniform(0.6, 0.75, size=2), rng.uniform(0.1, 0.3, size=size - 3)])
    return rng.permutation(np.log(ratios)) + shift


Q4 = Exercise(
    "q4",
    "As good as a share of the best",
    answer="min_p",
    reference=min_p,
    cases=(
        Property(
            "one row", 2, lambda rng: [(scores_around(rng, 5.0), 0.5), (scores_around(rng, -3.0, 5), 0.9)]
        ),
        Property(
            "many rows at once",
            1,
            lambda rng: [(np.stack([scores_around(rng, shift) for shift in (1.0, -9.0, 4.0)]), 0.5)],
        ),
        Property("very large scores", 1, lambda rng: [(scores_around(rng, 2000.0), 0.45)]),
    ),
    refuse=("transformers.MinPLogitsWarper",),
)

Q4.mistake(
    "against a fixed share",
    "You compare each probability with `least` itself. The bar is `least` times the best word's probability.",
    min_p_by(lambda logits, shares, least: shares >= least),
)
Q4.mistake(
    "logits compared",
    "You compare logits. Only their gaps mean something, so a share of the best logit means nothing: compare"
    " probabilities.",
    min_p_by(lambda logits, shares, least: logits >= least * logits.max(axis=-1, keepdims=True)),
)


@Q4.mistake("not divided again", "The right words stay. Their probabilities must sum to 1 again.")
def min_p_not_divided(logits, least):
    shares = softmax(logits)
    return np.where(shares >= least * shares.max(axis=-1, keepdims=True), shares, 0.0)


@Q4.mistake(
    "zero for −∞",
    "You gave the dropped words the score 0, and e to 0 is 1: they come back. Their probability is to be 0.",
)
def min_p_zeros(logits, least):
    shares = softmax(logits)
    return softmax(np.where(shares >= least * shares.max(axis=-1, keepdims=True), logits, 0.0))


Q4.mistake(
    "best of all rows",
    "You measure every row by the best score of all rows. Each row has a best word of its own.",
    lambda logits, least: divided(softmax(logits), np.exp(logits - logits.max()) >= least),
)


@Q4.mistake(
    "overflow",
    "Right for ordinary scores, but e to 2000 is infinite. Only gaps count: subtract the row's largest score"
    " first.",
)
def min_p_overflowing(logits, least):
    powers = np.exp(logits)
    return divided(powers, powers >= least * powers.max(axis=-1, keepdims=True))


Q4.mistake(
    "top-p",
    "You collect words until their sum reaches `least`. That is top-p: here each word is measured against"
    " the best one.",
    lambda logits, least: softmax(top_p(logits, least)),
)


# ---- q5: a draw without adding up


def gumbel_draw(logits, uniform, temperature):
    if temperature == 0:
        return np.argmax(logits, axis=-1)
    return np.argmax(logits / temperature - np.log(-np.log(uniform)), axis=-1)


def draw_by(rule):
    """The function with another thing to take the largest of: a rule (logits, uniform, temperature)."""
    return lambda logits, uniform, temperature: np.argmax(
        rule(logits, uniform, np.float64(temperature)), axis=-1
    )


def gumbel(uniform):
    return -np.log(-np.log(uniform))


def many_rows(rng, shape, temperature):
    return rng.normal(size=shape) * 1.5, rng.uniform(0.001, 0.999, size=shape), temperature


Q5 = Exercise(
    "q5",
    "A draw without adding up",
    answer="gumbel_draw",
    reference=gumbel_draw,
    cases=(
        Property(
            "many draws", 3, lambda rng: [many_rows(rng, (300, 6), 0.5), many_rows(rng, (20, 15, 5), 2.0)]
        ),
        Property("temperature 0", 1, lambda rng: [many_rows(rng, (50, 7), 0)]),
    ),
)

Q5.mistake(
    "temperature on both",
    "You divide the sum by the temperature, so the largest stays the largest. The temperature divides the"
    " scores alone.",
    draw_by(lambda logits, uniform, temperature: (logits + gumbel(uniform)) / temperature),
)
Q5.mistake(
    "one logarithm",
    "Your noise takes one logarithm. It takes two, each with a minus sign before it.",
    draw_by(lambda logits, uniform, temperature: logits / temperature - np.log(uniform)),
)
Q5.mistake(
    "minus the noise",
    "You subtract the noise. It is not the same on both sides of its middle, so the sign matters: add it.",
    draw_by(lambda logits, uniform, temperature: logits / temperature - gumbel(uniform)),
)
Q5.mistake(
    "noise on probabilities",
    "You add the noise to probabilities. It belongs to the scores, before any softmax.",
    draw_by(lambda logits, uniform, temperature: softmax(logits / temperature) + gumbel(uniform)),
)
Q5.mistake(
    "temperature multiplied",
    "You multiply the scores by the temperature. Divide: a high temperature makes the noise count for more.",
    draw_by(lambda logits, uniform, temperature: logits * temperature + gumbel(uniform)),
)
Q5.mistake(
    "division by zero",
    "Right for every temperature but 0, where you divide by it. There the draw is the best word: take the"
    " largest score without noise.",
    draw_by(lambda logits, uniform, temperature: logits / temperature + gumbel(uniform)),
)
Q5.mistake(
    "no draw",
    "You take the best word always, as at temperature 0. Add the noise.",
    draw_by(lambda logits, uniform, temperature: logits),
)


# ---- q6: mend the repetition penalty


def penalize(logits, seen, penalty):
    result, ids = logits.copy(), np.unique(seen)
    result[ids] = np.where(logits[ids] > 0, logits[ids] / penalty, logits[ids] * penalty)
    return result


def broken_penalty(logits, seen, penalty):
    result = logits.copy()
    result[seen] /= penalty
    return result


def seen_words(rng, size, negative=False):
    """Scores none of which is near 0, seen words of both signs, one of them seen twice; not all words are
    seen.
    """
    signs = np.where(np.arange(size) % 2, -1, 1) if not negative else -np.ones(size)
    seen = np.concatenate([rng.permutation(size - 1)[: size - 3], [0, 1, 0]])  # 0 and 1 are of both signs
    return signs * rng.uniform(0.5, 4, size=size), rng.permutation(seen), float(rng.choice([1.2, 1.5, 2.0]))


Q6 = Exercise(
    "q6",
    "The penalty that rewards, mended",
    answer="penalize",
    reference=penalize,
    cases=(
        Property("scores of both signs", 2, lambda rng: [seen_words(rng, 7), seen_words(rng, 9)]),
        Property("negative scores only", 1, lambda rng: [seen_words(rng, 8, negative=True)]),
    ),
    refuse=("transformers.RepetitionPenaltyLogitsProcessor",),
    handed_out=broken_penalty,
)


@Q6.mistake(
    "multiplied always",
    "A positive score that is multiplied grows, so the word gets likelier. Only a negative one may be.",
)
def multiplied(logits, seen, penalty):
    result = logits.copy()
    result[seen] *= penalty
    return result


@Q6.mistake(
    "signs exchanged",
    "You divide the negative scores and multiply the positive ones. Both make the word likelier.",
)
def signs_exchanged(logits, seen, penalty):
    result = logits.copy()
    result[seen] = np.where(logits[seen] > 0, logits[seen] * penalty, logits[seen] / penalty)
    return result


@Q6.mistake(
    "subtracted",
    "You subtract the penalty. The question asks for a factor: divide or multiply by it.",
)
def subtracted(logits, seen, penalty):
    result = logits.copy()
    result[seen] -= penalty
    return result


@Q6.mistake(
    "once for each time",
    "A word that was seen twice is penalized twice in your result. Whether it was seen counts, not how"
    " often.",
)
def each_time(logits, seen, penalty):
    result = logits.copy()
    for word in seen:
        result[word] = result[word] / penalty if result[word] > 0 else result[word] * penalty
    return result


@Q6.mistake("every word", "You penalize all words. Only those in `seen` are.")
def every_word(logits, seen, penalty):
    return penalize(logits, np.arange(len(logits)), penalty)


# ---- q7: between how many words


def effective_words(logits, temperature):
    return np.exp(entropy(probabilities(logits, temperature)))


def entropy(shares):
    return -np.sum(shares * np.log(np.where(shares > 0, shares, 1.0)), axis=-1)


def with_dropped(rng, shape):
    """Scores with some words dropped from each row."""
    logits = rng.normal(size=shape) * 2
    return np.where(rng.permuted(np.broadcast_to(np.arange(shape[-1]) < 2, shape), axis=-1), -np.inf, logits)


Q7 = Exercise(
    "q7",
    "Between how many words",
    answer="effective_words",
    reference=effective_words,
    cases=(
        Property("one row", 1, lambda rng: [(rng.normal(size=6), 0.5), (rng.normal(size=5) * 2, 2.0)]),
        Property(
            "many rows at once",
            1,
            lambda rng: [(rng.normal(size=(3, 4)) * 2, 1.5), (rng.normal(size=(2, 3, 5)), 0.7)],
        ),
        Property(
            "dropped words",
            1,
            lambda rng: [(with_dropped(rng, (6,)), 0.8), (with_dropped(rng, (4, 5)), 1.3)],
        ),
    ),
)

Q7.mistake(
    "entropy itself",
    "This is the entropy. Raise e to it, and ten equally likely words give 10.",
    lambda logits, temperature: entropy(probabilities(logits, temperature)),
)
Q7.mistake(
    "two to the power",
    "You took the natural logarithm and raised 2 to the result. Logarithm and power must have the same base.",
    lambda logits, temperature: 2 ** entropy(probabilities(logits, temperature)),
)
Q7.mistake(
    "minus forgotten",
    "Your number is below 1. The logarithm of a share is negative: the entropy has a minus sign.",
    lambda logits, temperature: np.exp(-entropy(probabilities(logits, temperature))),
)
Q7.mistake(
    "no temperature",
    "These are the numbers at temperature 1. Divide the scores by the temperature first.",
    lambda logits, temperature: effective_words(logits, 1.0),
)
Q7.mistake(
    "whole array",
    "You add up over all rows. Each row has a number of its own.",
    lambda logits, temperature: np.full(
        logits.shape[:-1], np.exp(np.sum(entropy(probabilities(logits, temperature))))
    ),
)
Q7.mistake(
    "zero times minus infinity",
    "Right while no word is dropped. A dropped word has share 0, and its logarithm is −∞: it adds nothing,"
    " so leave it out of the sum.",
    lambda logits, temperature: (
        effective_words(logits, temperature) + np.where(np.isinf(logits).any(axis=-1), np.nan, 0.0)
    ),
)
Q7.mistake(
    "sum of squares",
    "You took one over the sum of the squared shares. That counts words, too, in another way: the question"
    " asks for the entropy.",
    lambda logits, temperature: 1 / np.sum(probabilities(logits, temperature) ** 2, axis=-1),
)
