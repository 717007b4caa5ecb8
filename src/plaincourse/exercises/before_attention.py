"""Exercises of the chapter on what came before attention."""

import math

import numpy as np

from plainformer.networks import RNN, conv2d, rnn

from . import Exercise

# ---- a filter


def convolved(image, weights):
    """The reference: conv2d with one channel in and one out."""
    return conv2d(image[:, :, None], weights[:, :, None, None])[:, :, 0]


def image_cases(rng):
    """Images and filters that are not square, with filters that a flip or a turn changes."""
    sizes = [((4, 4), (2, 2)), ((5, 7), (2, 3)), ((6, 5), (3, 2))]
    return [(rng.normal(size=image), rng.normal(size=weights)) for image, weights in sizes]


CONV = Exercise("before-attention-conv", "Sliding a filter", convolved, image_cases)

CONV.mistake(
    "flipped",
    "You flipped the filter, as a convolution in mathematics does. Here it is laid on as it is.",
    lambda image, weights: convolved(image, weights[::-1, ::-1]),
)


@CONV.mistake(
    "padded",
    "Your result is as large as the image: your filter hangs over the edge. It has to stay inside.",
)
def padded(image, weights):
    rows, columns = weights.shape
    return convolved(np.pad(image, ((0, rows - 1), (0, columns - 1))), weights)


CONV.mistake(
    "last place forgotten",
    "Your result lacks the last row and column. The filter has I − U + 1 places, not I − U.",
    lambda image, weights: convolved(image, weights)[:-1, :-1],
)


@CONV.mistake(
    "in jumps",
    "Your filter moves by its own size. It should move by one pixel, so that its places overlap.",
)
def in_jumps(image, weights):
    return convolved(image, weights)[:: weights.shape[0], :: weights.shape[1]]


CONV.mistake(
    "mean",
    "You took the mean of the products. Add them up.",
    lambda image, weights: convolved(image, weights) / weights.size,
)
CONV.mistake(
    "turned result",
    "Your rows and columns are exchanged: i counts the rows.",
    lambda image, weights: convolved(image, weights).T,
)


# ---- a recurrent network


def states(x, W_x, W_h, b):
    params = RNN(np.array([[W_x]]), np.array([[W_h]]), np.array([b]))
    return rnn(np.asarray(x)[:, None], np.zeros(1), params)[:, 0]


def text_cases(rng):
    """The chapter's three words, and longer texts with a bias."""
    cases = [(np.array([1.0, 0.0, 0.0]), 0.5, 0.8, 0.1)]
    return cases + [(rng.normal(size=length), *rng.uniform(0.3, 0.9, size=3)) for length in (2, 6)]


def read(step, first=0.0):
    """A network with another step, from another first state."""

    def answer(x, W_x, W_h, b):
        state, found = first, []
        for number in x:
            state = step(number, state, W_x, W_h, b)
            found.append(state)
        return np.array(found)

    return answer


READING = Exercise("before-attention-rnn", "Reading step by step", states, text_cases)

READING.mistake(
    "no memory",
    "Each of your states starts from 0 again. Use the state of the word before.",
    read(lambda number, state, W_x, W_h, b: np.tanh(W_x * number + b)),
)
READING.mistake(
    "bias forgotten",
    "The bias b is missing in the sum.",
    read(lambda number, state, W_x, W_h, b: np.tanh(W_x * number + W_h * state)),
)
READING.mistake(
    "no bend",
    "You added up, but did not bend. Take tanh of the sum.",
    read(lambda number, state, W_x, W_h, b: W_x * number + W_h * state + b),
)
READING.mistake(
    "weights exchanged",
    "You multiplied the word by W_h and the state by W_x. It is the other way round.",
    read(lambda number, state, W_x, W_h, b: np.tanh(W_h * number + W_x * state + b)),
)
READING.mistake(
    "state outside",
    "You added the old state after the bend. It belongs into the sum that is bent.",
    read(lambda number, state, W_x, W_h, b: np.tanh(W_x * number + b) + W_h * state),
)
READING.mistake(
    "first state 1",
    "Your state starts at 1. Before the first word it is 0.",
    read(lambda number, state, W_x, W_h, b: np.tanh(W_x * number + W_h * state + b), first=1.0),
)


@READING.mistake("only the last", "This is the last state. Return all of them, one for each word.")
def only_the_last(x, W_x, W_h, b):
    return states(x, W_x, W_h, b)[-1]


@READING.mistake(
    "states before",
    "You collected each state before its word was read. Append it after the step.",
)
def states_before(x, W_x, W_h, b):
    return np.concatenate([[0.0], states(x, W_x, W_h, b)[:-1]])


# ---- layers between two words


def layers(T, k):
    return math.ceil((T - 1) / (k - 1))


def length_cases(rng):
    """The chapter's two, one that divides evenly, one that does not, a filter of two, one wider than the
    text.
    """
    return [(8, 3), (16, 3), (13, 5), (10, 3), (7, 2), (12, 4), (3, 5), (30, 8)]


PATH = Exercise("before-attention-path", "How many layers", layers, length_cases)

PATH.mistake(
    "rounded down",
    "You rounded down. If a part of the way is left, it takes one more layer.",
    lambda T, k: (T - 1) // (k - 1),
)
PATH.mistake(
    "k rows a layer",
    "You divided by k. A row sees itself and k − 1 before it, so each layer reaches k − 1 rows farther.",
    lambda T, k: math.ceil((T - 1) / k),
)
PATH.mistake(
    "T for the distance",
    "You divided T. Between the first and the last of T rows lie T − 1 steps.",
    lambda T, k: math.ceil(T / (k - 1)),
)
PATH.mistake(
    "T over k",
    "You divided T by k. The distance is T − 1, and each layer reaches k − 1 rows farther.",
    lambda T, k: math.ceil(T / k),
)
PATH.mistake(
    "T over k, not rounded",
    "You divided T by k. The distance is T − 1, each layer reaches k − 1 rows farther, and a part of a layer"
    " counts as a whole one.",
    lambda T, k: T / k,
)
PATH.mistake(
    "rounded to the nearest",
    "You rounded to the nearest whole number. If a part of the way is left, however small, it takes one more"
    " layer: round up.",
    lambda T, k: round((T - 1) / (k - 1)),
)
PATH.mistake("not rounded", "There are no parts of a layer: round up.", lambda T, k: (T - 1) / (k - 1))
PATH.mistake(
    "one at a time",
    "You count the steps of an RNN. A filter of k reaches k − 1 rows in one layer.",
    lambda T, k: T - 1,
)
