"""Exercises of the masks chapter."""

import numpy as np

from plainformer.activations import softmax
from plainformer.attention import causal_mask
from plainformer.seq2seq import padding_mask

from . import Exercise

# ---- one hidden token, with a pencil


def one_row(rng):
    return [(np.array([0.36, 0.44, 0.12, 0.08]), np.array([True, False, True, True]))]


def hide(weights, may_look):
    """The weights that softmax gives after the hidden score has become −∞."""
    return softmax(np.where(may_look, np.log(weights), -np.inf))


HIDE = Exercise("masks-hide", "Hide the fish", hide, one_row, tolerance=0.01, by_hand=True)


@HIDE.mistake(
    "not scaled up",
    "You struck out the hidden weight and left the others. They add up to 0.56: divide them by it.",
)
def not_scaled(weights, may_look):
    return weights * may_look


@HIDE.mistake(
    "shared equally",
    "You gave each of the others a third of the 0.44. They keep their proportions: divide each by 0.56.",
)
def shared_equally(weights, may_look):
    return np.where(may_look, weights + weights[~may_look].sum() / may_look.sum(), 0.0)


@HIDE.mistake(
    "softmax once more",
    "You took softmax of the weights. They are weights already: divide those that are left by their sum.",
)
def softmax_of_weights(weights, may_look):
    return softmax(np.where(may_look, weights, -np.inf))


HIDE.mistake(
    "another one hidden",
    "You hid the first token, cat. The second one, fish, is to be hidden.",
    lambda weights, may_look: hide(weights, may_look[[1, 0, 2, 3]]),
)
HIDE.mistake(
    "three weights",
    "These three are right. The hidden token keeps its place in the row, with weight 0.",
    lambda weights, may_look: hide(weights, may_look)[may_look],
)


# ---- a window


def window(length, width):
    places = np.arange(length)
    return causal_mask(length) & (places > places[:, None] - width)


def window_cases(rng):
    """Narrower than the text, as wide as it, wider, and a width of 1."""
    return [(6, 3), (4, 4), (3, 5), (5, 1), (7, 2)]


WINDOW = Exercise("masks-window", "A window", window, window_cases)


@WINDOW.mistake(
    "one too far",
    "Your window holds width + 1 tokens. With itself it should hold width: s > t − width, not ≥.",
)
def one_too_far(length, width):
    return window(length, width + 1)


@WINDOW.mistake(
    "both sides",
    "Your tokens also look at what comes later. They may look at themselves and back.",
)
def both_sides(length, width):
    return window(length, width) | window(length, width).T


@WINDOW.mistake("not itself", "Your tokens may not look at themselves. The window includes the token itself.")
def not_itself(length, width):
    return window(length, width) & ~np.eye(length, dtype=bool)


WINDOW.mistake(
    "no window",
    "This is the causal mask: it looks back without a limit. Hide what is width or more places back.",
    lambda length, width: causal_mask(length),
)
WINDOW.mistake(
    "ahead",
    "Your window lies after the token. It should end with it: exchange t and s.",
    lambda length, width: window(length, width).T,
)
WINDOW.mistake(
    "inverted",
    "Your True and False are exchanged. True means that the token may look there.",
    lambda length, width: ~window(length, width),
)


# ---- causal, with padding


def batch_mask(lengths, T):
    return causal_mask(T) & padding_mask(np.arange(T) < np.asarray(lengths)[:, None], T)


def batch_cases(rng):
    """Batches whose size, lengths and common length all differ."""
    return [(np.array([4, 2]), 4), (np.array([1, 5, 3]), 5), (np.array([2]), 3)]


BATCH = Exercise("masks-batch", "A padded batch of writers", batch_mask, batch_cases)


@BATCH.mistake(
    "padding only",
    "The padding is hidden, but your tokens see the future. Join the causal mask with &.",
)
def only_padding(lengths, T):
    return padding_mask(np.arange(T) < np.asarray(lengths)[:, None], T).copy()


@BATCH.mistake(
    "causal only",
    "Your masks are causal, and nothing hides the padding: every text gets the same mask.",
)
def only_causal(lengths, T):
    return np.stack([causal_mask(T)] * len(lengths))


@BATCH.mistake(
    "rows instead of columns",
    "You stop the padding from looking. Nobody should look at it: hide its columns, the keys.",
)
def queries_hidden(lengths, T):
    """Rows in place of columns: what the padding may look at is hidden, not the padding itself."""
    return causal_mask(T) & only_padding(lengths, T).transpose(0, 2, 1)


@BATCH.mistake(
    "or instead of and",
    "You allow what either mask allows. Both have to say yes: & in place of |.",
)
def either(lengths, T):
    return causal_mask(T) | only_padding(lengths, T)


@BATCH.mistake(
    "filled in front",
    "You hide the first places. These texts are filled up at the end: the first n keys are real.",
)
def filled_in_front(lengths, T):
    return causal_mask(T) & only_padding(lengths, T)[:, :, ::-1]


@BATCH.mistake(
    "one too many",
    "Your tokens see the first place of the padding. Places count from 0, so the real ones are those < n,"
    " not ≤ n.",
)
def one_key_too_many(lengths, T):
    return causal_mask(T) & padding_mask(np.arange(T) <= np.asarray(lengths)[:, None], T)


# ---- a question to read and an answer to write


def prefix_mask(question, length):
    return causal_mask(length) | (np.arange(length) < question)


def prefix_cases(rng):
    """Questions shorter and longer than the answer, and none."""
    return [(2, 5), (4, 6), (0, 3), (3, 4)]


PREFIX = Exercise("masks-prefix", "Read first, then write", prefix_mask, prefix_cases)

PREFIX.mistake(
    "causal only",
    "This is the causal mask. The tokens of the question may also look forwards, as far as the question"
    " goes.",
    lambda question, length: causal_mask(length),
)


@PREFIX.mistake(
    "the answer cannot see the question",
    "Your answer looks at itself only. It may look at the whole question as well.",
)
def question_alone(question, length):
    """The answer may not look at the question."""
    mask = causal_mask(length)
    mask[question:, :question] = False
    mask[:question, :question] = True
    return mask


@PREFIX.mistake(
    "the question sees the answer",
    "Your question looks at everything, also at the answer. Open its columns, not its rows.",
)
def rows_opened(question, length):
    mask = causal_mask(length)
    mask[:question] = True
    return mask


PREFIX.mistake(
    "all see all",
    "This is the full mask. The answer is written token by token: it may not look ahead.",
    lambda question, length: np.ones((length, length), dtype=bool),
)
