"""Exercises of the real model's chapter. None of them needs the model."""

import numpy as np

from plainformer.activations import softmax
from plainformer.normalization import rms_norm

from . import Exercise

# ---- how alike two vectors are


def cosine(a, b):
    """The dot product of two vectors of length 1 that point where a and b point."""
    return a @ b / (np.linalg.norm(a) * np.linalg.norm(b))


def cosine_cases(rng):
    """Vectors that are alike, opposite, square, and of very different lengths."""
    a = rng.normal(size=5)
    long = 100 * rng.normal(size=3)
    return [
        (a, a + 0.3 * rng.normal(size=5)),
        (a, -2 * a + 0.1 * rng.normal(size=5)),
        (long, 0.01 * rng.normal(size=3) + 0.002),
        (np.array([3.0, 4.0]), np.array([4.0, -3.0]) + 0.5 * rng.random(2)),
    ]


COSINE = Exercise("real-model-cosine", "How alike", cosine, cosine_cases)

COSINE.mistake(
    "dot product alone",
    "That is the dot product. Divide it by both lengths, so that only the directions count.",
    lambda a, b: a @ b,
)
COSINE.mistake(
    "one length",
    "You divide by the length of one vector. Divide by the length of the other as well.",
    lambda a, b: a @ b / np.linalg.norm(a),
)
COSINE.mistake(
    "lengths squared",
    "You divide by the squared lengths. A length is the root of the sum of the squares.",
    lambda a, b: a @ b / ((a @ a) * (b @ b)),
)
COSINE.mistake(
    "sign lost",
    "The sign is lost. Vectors that point in opposite directions have a cosine of −1.",
    lambda a, b: np.abs(cosine(a, b)),
)
COSINE.mistake(
    "distance",
    "That is 1 minus the cosine, a distance. Return the cosine itself: 1 for the same direction.",
    lambda a, b: 1 - cosine(a, b),
)
COSINE.mistake(
    "means subtracted",
    "You subtract the means first; that is the correlation. The cosine takes the numbers as they are.",
    lambda a, b: cosine(a - a.mean(), b - b.mean()),
)


# ---- which key/value head serves a query head


def serving_heads(heads, groups):
    """Neighbouring query heads share a key/value head."""
    return np.arange(heads) // (heads // groups)


def serving_cases(rng):
    """SmolLM2's numbers; other ratios, among them more heads in a group than groups. Every head alone, or one
    for all, tells little.
    """
    return [(9, 3), (8, 2), (6, 3), (12, 2), (4, 2)]


SERVING = Exercise("real-model-serving", "Which key head serves", serving_heads, serving_cases)

SERVING.mistake(
    "dealt like cards",
    "You dealt the heads out like cards, i % G. Neighbours share: heads 0, 1, 2 of SmolLM2 all read"
    " key/value head 0.",
    lambda heads, groups: np.arange(heads) % groups,
)
SERVING.mistake(
    "divided by the groups",
    "You divide by the number of key/value heads. Divide by the number of query heads that share one, H / G.",
    lambda heads, groups: np.arange(heads) // groups,
)
SERVING.mistake(
    "counted from 1",
    "The heads are counted from 0, as rows of an array are. Yours begin with 1.",
    lambda heads, groups: serving_heads(heads, groups) + 1,
)
SERVING.mistake(
    "backwards",
    "The groups are right and in the wrong order: query head 0 reads key/value head 0.",
    lambda heads, groups: serving_heads(heads, groups)[::-1].copy(),
)


# ---- the lens


def lens_probabilities(row, gain, head, eps):
    """What the model would say if it stopped here: final norm, output projection, softmax."""
    return softmax(rms_norm(row, gain, eps) @ head)


def lens_cases(rng):
    """Rows of small and of large numbers; an eps that counts for the small one, and another."""
    scales_and_eps = [(0.1, 1e-2), (1.0, 1e-3), (20.0, 1e-2)]
    return [
        (scale * rng.normal(size=6), rng.uniform(0.5, 3.0, size=6), rng.normal(size=(6, 9)), eps)
        for scale, eps in scales_and_eps
    ]


LENS = Exercise("real-model-lens", "The lens", lens_probabilities, lens_cases)


@LENS.mistake(
    "final norm forgotten",
    "The final norm is missing. The output projection has learnt to read rows that went through it.",
)
def without_norm(row, gain, head, eps):
    return softmax(row @ head)


@LENS.mistake("gain alone", "You multiply by the gains, and do not divide by the root of the mean square.")
def gain_alone(row, gain, head, eps):
    return softmax((row * gain) @ head)


@LENS.mistake("gain forgotten", "The norm's gains are missing: multiply each number of the row by its own.")
def without_gain(row, gain, head, eps):
    return softmax(rms_norm(row, np.ones_like(gain), eps) @ head)


@LENS.mistake("eps forgotten", "The eps is missing under the root. It counts where the numbers are small.")
def without_eps(row, gain, head, eps):
    return softmax(rms_norm(row, gain, 0.0) @ head)


@LENS.mistake("sum of squares", "You divide by the root of the sum of the squares. RMSNorm takes their mean.")
def sum_of_squares(row, gain, head, eps):
    return softmax((row / np.sqrt((row**2).sum() + eps) * gain) @ head)


@LENS.mistake("no softmax", "Those are the logits. Softmax makes probabilities of them.")
def logits_alone(row, gain, head, eps):
    return rms_norm(row, gain, eps) @ head


@LENS.mistake("mean subtracted", "You subtract the mean, as LayerNorm does. RMSNorm does not.")
def centred(row, gain, head, eps):
    return lens_probabilities(row - row.mean(), gain, head, eps)


# ---- a word's place in the ranking


def rank_of(logits, word):
    """One more than the number of words with a larger logit."""
    return np.array((logits > logits[word]).sum() + 1)


def rank_cases(rng):
    """The first, the last, and some in between, each among logits of its own."""
    rows = rng.normal(size=(5, 8))
    return [
        (logits, int(np.argsort(-logits)[place])) for logits, place in zip(rows, (0, 7, 2, 3, 5), strict=True)
    ]


RANK = Exercise("real-model-rank", "The place of a word", rank_of, rank_cases)

RANK.mistake(
    "counted from 0",
    "You count the words that are ahead. The likeliest word has place 1.",
    lambda logits, word: rank_of(logits, word) - 1,
)
RANK.mistake(
    "from the bottom",
    "You count from the bottom. Place 1 belongs to the largest logit.",
    lambda logits, word: np.array((logits < logits[word]).sum() + 1),
)
RANK.mistake(
    "word at that place",
    "You return the id of the word that stands at a place. Wanted is the place of the word: argsort gives"
    " ids by place.",
    lambda logits, word: np.array(np.argsort(-logits)[word] + 1),
)
