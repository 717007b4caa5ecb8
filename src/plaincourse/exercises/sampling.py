"""Exercises of the sampling chapter."""

import numpy as np

from plainformer.activations import softmax
from plainformer.sampling import top_k, top_p

from . import Exercise

# ---- temperature, then softmax, with a pencil


def distribution(logits, temperature):
    """Probabilities of the logits at a temperature."""
    return softmax(logits / temperature)


def temperature_cases(rng):
    """Logits whose exponentials are easy: log 1, log 2 and log 4, at temperature 0.5."""
    return [(np.log([1.0, 2.0, 4.0]), 0.5)]


TEMPERATURE = Exercise(
    "sampling-by-hand",
    "Temperature, then softmax",
    distribution,
    temperature_cases,
    tolerance=4e-3,
    by_hand=True,
)

TEMPERATURE.mistake(
    "no temperature",
    "These are the probabilities at temperature 1. Divide the logits by 0.5 first.",
    lambda logits, temperature: softmax(logits),
)
TEMPERATURE.mistake(
    "temperature multiplied",
    "You multiplied by 0.5, which flattens. Dividing by 0.5 makes every gap twice as large.",
    lambda logits, temperature: softmax(logits * temperature),
)
TEMPERATURE.mistake(
    "temperature after softmax",
    "You divided the probabilities. They then no longer sum to 1: the temperature divides the logits, before"
    " softmax.",
    lambda logits, temperature: softmax(logits) / temperature,
)
TEMPERATURE.mistake(
    "in percent",
    "These are the probabilities in percent. Write them so that they sum to 1: divide each by 100.",
    lambda logits, temperature: 100 * distribution(logits, temperature),
)
TEMPERATURE.mistake(
    "order turned",
    "The numbers are right, in the wrong order. The first word has the smallest logit, so its probability is"
    " the smallest.",
    lambda logits, temperature: distribution(logits, temperature)[::-1],
)
TEMPERATURE.mistake(
    "not normalized",
    "The exponentials are right, but they do not sum to 1 yet. Divide each by their sum.",
    lambda logits, temperature: np.exp(logits / temperature),
)


# ---- which of temperature and top-p comes first, with a pencil


def kept_words(logits, temperature, p):
    """How many words stay when the temperature acts before top-p, and when it acts after."""
    return np.isfinite([top_p(logits / temperature, p), top_p(logits, p)]).sum(axis=-1)


def order_cases(rng):
    """Three logits whose first word reaches p alone at the temperature, but not without it."""
    return [(np.array([3.0, 2.0, 1.0]), 0.5, 0.8)]


ORDER = Exercise("sampling-order", "Which filter first?", kept_words, order_cases, by_hand=True)

ORDER.mistake(
    "the two exchanged",
    "Both numbers occur, in the other order. A temperature below 1 makes the first word stronger, so fewer"
    " words reach 0.8.",
    lambda logits, temperature, p: kept_words(logits, temperature, p)[::-1],
)
ORDER.mistake(
    "temperature first, both times",
    "The first number is right. When top-p acts first, it sees the shares at temperature 1: compute them"
    " again without dividing.",
    lambda logits, temperature, p: kept_words(logits / temperature, 1.0, p),
)
ORDER.mistake(
    "temperature forgotten",
    "The second number is right. For the first, divide the logits by 0.5 before you look at the shares.",
    lambda logits, temperature, p: kept_words(logits, 1.0, p),
)


@ORDER.mistake(
    "crossing word dropped",
    "You stopped before the word with which the sum reaches 0.8. It stays too: otherwise no word might be"
    " left.",
)
def kept_before_the_crossing_word(logits, temperature, p):
    first, after = (np.cumsum(softmax(scores)) for scores in (logits / temperature, logits))
    return np.array([np.sum(first <= p), np.sum(after <= p)])


# ---- softmax that does not overflow


def softmax_cases(rng):
    """Ordinary rows, a batch that is not square, logits that overflow exp, and rows that lie far apart."""
    return [
        (rng.normal(size=4),),
        (rng.normal(size=(2, 3)),),
        (rng.normal(size=5) + 1000.0,),
        (rng.normal(size=3) - 1000.0,),
        (np.array([[1000.0, 0.0, -1000.0], [-1000.0, -1001.0, -1002.0]]),),
    ]


def softmax_rows(logits):
    """The right answer, on the last axis."""
    return softmax(logits)


def softmax_along(axis):
    def answer(logits):
        exponentials = np.exp(logits - logits.max(axis=axis, keepdims=True))
        return exponentials / exponentials.sum(axis=axis, keepdims=True)

    return answer


def less(shift):
    def answer(logits):
        exponentials = np.exp(logits - shift(logits))
        return exponentials / exponentials.sum(axis=-1, keepdims=True)

    return answer


SOFTMAX = Exercise("sampling-softmax", "A softmax that does not overflow", softmax_rows, softmax_cases)


@SOFTMAX.mistake(
    "overflow",
    "Right for small logits, but exp(1000) is infinite and exp(−1000) is 0. Subtract the row's largest logit"
    " first: only differences matter.",
)
def overflowing(logits):
    exponentials = np.exp(logits)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


SOFTMAX.mistake(
    "wrong axis",
    "The columns sum to 1, and the rows should. Use axis=-1 with keepdims=True.",
    softmax_along(0),
)
SOFTMAX.mistake(
    "whole array",
    "A batch is normalized as one: all its numbers together sum to 1. Each row should, so give the maximum"
    " and the sum axis=-1.",
    softmax_along(None),
)
SOFTMAX.mistake(
    "one sum for all rows, nothing subtracted",
    "Two things. np.exp overflows unless you subtract each row's largest logit first. And each row needs a"
    " sum of its own: axis=-1 with keepdims=True.",
    lambda logits: np.exp(logits) / np.exp(logits).sum(),
)
SOFTMAX.mistake(
    "one maximum for all rows",
    "You subtract the largest logit of the whole batch, and in a row far below it every exp becomes 0. Each"
    " row has its own largest logit.",
    less(lambda logits: logits.max()),
)
SOFTMAX.mistake(
    "the mean subtracted",
    "You subtract the mean. The largest logit may still lie far above it and overflow: subtract the largest"
    " one.",
    less(lambda logits: logits.mean(axis=-1, keepdims=True)),
)


# ---- top-k and top-p


def top_k_cases(rng):
    """Shuffled logits, and ties at the edge, where "all that reach the k-th value" keeps too many."""
    return [
        (rng.permutation(np.arange(6.0)), 2),
        (rng.normal(size=8), 3),
        (np.array([1.0, 3.0, 2.0, 2.0, 2.0, 0.0]), 3),
        (np.zeros(4), 1),
        (rng.normal(size=3), 5),
    ]


TOP_K = Exercise("sampling-top-k", "Exactly k words", top_k, top_k_cases)


@TOP_K.mistake(
    "too many at a tie",
    "You keep every logit that reaches the k-th largest. When several are equal there, that is more than k:"
    " keep those with the lowest ids.",
)
def above_threshold(logits, k):
    edge = np.sort(logits)[::-1][min(k, logits.size) - 1]
    return np.where(logits >= edge, logits, -np.inf)


@TOP_K.mistake(
    "ties to the highest id",
    "The number kept is right. Of equal logits, though, keep those with the lowest ids: a stable sort of"
    " −logits does it.",
)
def last_of_ties(logits, k):
    return top_k(logits[::-1], k)[::-1]


@TOP_K.mistake(
    "order lost",
    "The right logits stay, but sorted. A word's id is its position, so put each logit back where it was.",
)
def sorted_away(logits, k):
    return np.sort(top_k(logits, k))[::-1]


@TOP_K.mistake(
    "zero instead of −∞",
    "You dropped words by setting their logits to 0. A logit of 0 still gets a share, as exp(0) = 1: use"
    " −np.inf.",
)
def zeros_instead(logits, k):
    return np.where(np.isinf(top_k(logits, k)), 0.0, logits)


def top_p_cases(rng):
    """Distributions out of order, and one whose likeliest word alone reaches p."""
    return [
        (np.log([0.4, 0.3, 0.2, 0.1]), 0.8),
        (np.log([0.1, 0.2, 0.7]), 0.5),
        (np.log(rng.dirichlet(np.ones(6))), 0.8),
        (rng.normal(size=8) * 2, 0.95),
    ]


TOP_P = Exercise("sampling-top-p", "The smallest set that reaches p", top_p, top_p_cases)


@TOP_P.mistake(
    "crossing word dropped",
    "You stop before the word that takes the sum to p. It belongs to the set: otherwise a word likelier than"
    " p leaves nothing at all.",
)
def without_the_crossing_word(logits, p):
    kept = [i for i in np.argsort(-logits) if softmax(logits)[logits >= logits[i]].sum() <= p]
    return np.where(np.isin(np.arange(logits.size), kept), logits, -np.inf)


@TOP_P.mistake("not sorted", "You add up the words in the order of the vocabulary. Start from the likeliest.")
def in_vocabulary_order(logits, p):
    before = np.cumsum(softmax(logits)) - softmax(logits)
    return np.where(before < p, logits, -np.inf)


@TOP_P.mistake(
    "least likely first",
    "You start from the least likely word. argsort puts the smallest first: sort the negative numbers, or"
    " turn the order round.",
)
def from_the_least_likely(logits, p):
    order = np.argsort(logits)
    before = np.cumsum(softmax(logits)[order]) - softmax(logits)[order]
    return np.where(np.isin(np.arange(logits.size), order[before < p]), logits, -np.inf)


TOP_P.mistake(
    "shares in place of logits",
    "The right words stay, but with their shares. Return their logits: softmax comes after the filter.",
    lambda logits, p: np.where(np.isfinite(top_p(logits, p)), softmax(logits), -np.inf),
)


@TOP_P.mistake(
    "each word against p",
    "You compare each probability with p by itself. It is their sum, from the likeliest down, that must"
    " reach p.",
)
def each_above_p(logits, p):
    return np.where(softmax(logits) >= p, logits, -np.inf)


@TOP_P.mistake(
    "sum of logits",
    "You added up logits. They are not shares of anything: take softmax first, then the cumulative sum.",
)
def on_logits(logits, p):
    order = np.argsort(-logits)
    before = np.cumsum(logits[order]) - logits[order]
    return np.where(np.isin(np.arange(logits.size), order[before < p]), logits, -np.inf)
