"""Assignment 5: before attention."""

import math

import numpy as np

from plaincourse.exercises import Exercise, Property
from plainformer.activations import relu
from plainformer.networks import RNN, conv2d, rnn
from plaingrader.questions import variants

mine = variants("05_before_attention")


# ---- q1: a filter with a bias and a bend


def filtered(image, weights):
    return conv2d(image[:, :, None], weights[:, :, None, None])[:, :, 0]


def filter_layer(image, weights, bias):
    return relu(filtered(image, weights) + bias)


Q1 = Exercise(
    "q1",
    "A filter with a bias and a bend",
    answer="q1",
    reference=filter_layer,
    cases=(Property("the values", 3, lambda rng: [mine.q1(rng)]),),
    tolerance=1e-6,
    by_hand=True,
)

Q1.mistake(
    "flipped",
    "You flipped the filter. Here it is laid on as it is.",
    lambda image, weights, bias: filter_layer(image, weights[::-1, ::-1], bias),
)
Q1.mistake(
    "no bend",
    "A negative sum becomes 0. Yours are still negative.",
    lambda image, weights, bias: filtered(image, weights) + bias,
)
Q1.mistake(
    "no bias",
    "The bias is added to every sum, before the bend.",
    lambda image, weights, bias: filter_layer(image, weights, 0),
)
Q1.mistake(
    "bias after the bend",
    "You bent first and added the bias then. It is part of the sum that is bent.",
    lambda image, weights, bias: filter_layer(image, weights, 0) + bias,
)
Q1.mistake(
    "in jumps",
    "The filter moves on by one pixel at a time, so its places overlap.",
    lambda image, weights, bias: filter_layer(image, weights, bias)[::2, ::2],
)


# ---- q2: a filter with gaps


def spread(weights, gap):
    rows, columns = weights.shape
    wide = np.zeros((gap * (rows - 1) + 1, gap * (columns - 1) + 1))
    wide[::gap, ::gap] = weights
    return wide


def gap_filter(image, weights, gap):
    return filtered(image, spread(weights, gap))


def image_and_filter(rng, image, weights, gap):
    return rng.normal(size=image), rng.normal(size=weights), gap


Q2 = Exercise(
    "q2",
    "A filter with gaps",
    answer="gap_filter",
    reference=gap_filter,
    cases=(
        Property("gap 1", 1, lambda rng: [image_and_filter(rng, (5, 6), (2, 3), 1)]),
        Property(
            "wider gaps",
            3,
            lambda rng: [
                image_and_filter(rng, (8, 7), (3, 2), 2),
                image_and_filter(rng, (9, 11), (2, 3), 3),
            ],
        ),
    ),
    refuse=("torch.nn.functional.conv2d", "torch.conv2d", "torch.nn.Conv2d"),
)

Q2.mistake(
    "gap ignored",
    "Your filter is laid on without gaps.",
    lambda image, weights, gap: filtered(image, weights),
)
Q2.mistake(
    "in jumps",
    "You moved the filter in jumps. It moves by one pixel; what is spread are its own numbers.",
    lambda image, weights, gap: filtered(image, weights)[::gap, ::gap],
)
Q2.mistake(
    "a thinner image",
    "You left out rows and columns of the image first. The filter starts at every pixel where it fits.",
    lambda image, weights, gap: filtered(image[::gap, ::gap], weights),
)
Q2.mistake(
    "flipped",
    "You flipped the filter. Here it is laid on as it is.",
    lambda image, weights, gap: gap_filter(image, weights[::-1, ::-1], gap),
)
Q2.mistake(
    "gaps too wide",
    "Your gaps are one pixel too wide: with gap 1, the numbers lie side by side.",
    lambda image, weights, gap: gap_filter(image, weights, gap + 1),
)
Q2.mistake(
    "last place forgotten",
    "The last row and column of the result are missing.",
    lambda image, weights, gap: gap_filter(image, weights, gap)[:-1, :-1],
)


# ---- q3: the slope of the second state to the first word


def two_states(W_x, W_h, x1, x2):
    h1, h2 = rnn(np.array([[x1], [x2]]), np.zeros(1), RNN(np.array([[W_x]]), np.array([[W_h]]), np.zeros(1)))[
        :, 0
    ]
    return np.array([h1, h2, (1 - h2**2) * W_h * (1 - h1**2) * W_x])


def slope_variant(slope):
    """The right states, with another slope."""

    def answer(W_x, W_h, x1, x2):
        h1, h2, _ = two_states(W_x, W_h, x1, x2)
        return np.array([h1, h2, slope(W_x, W_h, h1, h2)])

    return answer


Q3 = Exercise(
    "q3",
    "How much the first word still matters",
    answer="q3",
    reference=two_states,
    cases=(Property("the values", 4, lambda rng: [mine.q3(rng)]),),
    tolerance=2e-4,
    by_hand=True,
)


@Q3.mistake("no memory", "The second state starts from nothing. The first state enters its sum.")
def without_memory(W_x, W_h, x1, x2):
    h1, h2 = math.tanh(W_x * x1), math.tanh(W_x * x2)
    return np.array([h1, h2, (1 - h2**2) * W_h * (1 - h1**2) * W_x])


Q3.mistake(
    "last bend forgotten",
    "The states are right. On the way back you also pass the bend of the second step.",
    slope_variant(lambda W_x, W_h, h1, h2: W_h * (1 - h1**2) * W_x),
)
Q3.mistake(
    "first bend forgotten",
    "The states are right. On the way back you also pass the bend of the first step.",
    slope_variant(lambda W_x, W_h, h1, h2: (1 - h2**2) * W_h * W_x),
)
Q3.mistake(
    "1 − h for 1 − h²",
    "The states are right. The slope of tanh is 1 less the square of the state.",
    slope_variant(lambda W_x, W_h, h1, h2: (1 - h2) * W_h * (1 - h1) * W_x),
)
Q3.mistake(
    "the way in forgotten",
    "The states are right. The word itself came in through a weight.",
    slope_variant(lambda W_x, W_h, h1, h2: (1 - h2**2) * W_h * (1 - h1**2)),
)
Q3.mistake(
    "the first state's slope",
    "The states are right. This is how much the first state moves. Follow it on to the second.",
    slope_variant(lambda W_x, W_h, h1, h2: (1 - h1**2) * W_x),
)


# ---- q4: reading both ways


def both_ways(x, forward, backward):
    there = rnn(x, np.zeros(forward.bias.shape), forward)
    back = rnn(x[::-1], np.zeros(backward.bias.shape), backward)[::-1]
    return np.concatenate([there, back], axis=1)


def read(x, params):
    """All states, from top to bottom: what rnn gives, without its checks, for there are many cases to try."""
    state, states = np.zeros(len(params.bias)), []
    for row in x:
        state = np.tanh(row @ params.input + state @ params.recurrent + params.bias)
        states.append(state)
    return np.array(states)


def side_by_side(*parts):
    return np.concatenate(parts, axis=1)


def text(rng, length, width, forward, backward):
    tables = [
        RNN(rng.normal(size=(width, size)), rng.normal(size=(size, size)), rng.normal(size=size))
        for size in (forward, backward)
    ]
    return rng.normal(size=(length, width)), *tables


Q4 = Exercise(
    "q4",
    "Reading both ways",
    answer="both_ways",
    reference=both_ways,
    cases=(
        Property("a text of one word", 1, lambda rng: [text(rng, 1, 3, 2, 4)]),
        Property("longer texts", 3, lambda rng: [text(rng, 4, 3, 2, 5), text(rng, 6, 2, 4, 3)]),
    ),
    refuse=("torch.nn.RNN",),
)


@Q4.mistake(
    "in the order of reading",
    "Your second half begins with the state of the last word. Put each state into the row of its own word.",
)
def in_reading_order(x, forward, backward):
    return side_by_side(read(x, forward), read(x[::-1], backward))


@Q4.mistake(
    "forward twice",
    "The second network reads in the same direction as the first. It begins at the last word.",
)
def forward_twice(x, forward, backward):
    return side_by_side(read(x, forward), read(x, backward))


@Q4.mistake("halves exchanged", "The two halves have changed places: the forward states come first.")
def exchanged(x, forward, backward):
    return side_by_side(read(x[::-1], backward)[::-1], read(x, forward))


@Q4.mistake("the same tables", "You used the tables of forward for both. The second network has its own.")
def same_tables(x, forward, backward):
    return side_by_side(read(x, forward), read(x[::-1], forward)[::-1])


# ---- q5: what three forms cost


def costs(T, E, k):
    return np.array([(T * E) ** 2 + T * E, k * E * E + E, 2 * E * E + E, math.ceil((T - 1) / (k - 1))])


Q5 = Exercise(
    "q5",
    "What three forms cost",
    answer="q5",
    reference=costs,
    cases=(Property("the numbers", 2, lambda rng: [mine.q5(rng)]),),
    tolerance=1e-6,
    by_hand=True,
)

Q5.mistake(
    "no biases",
    "The tables are right. Each form also has one bias for each number that it puts out.",
    lambda T, E, k: costs(T, E, k) - [T * E, E, E, 0],
)
Q5.mistake(
    "a bias for every word",
    "The same bias serves all words in the CNN and in the RNN, as the same tables do.",
    lambda T, E, k: costs(T, E, k) + [0, T * E - E, T * E - E, 0],
)
Q5.mistake(
    "width forgotten",
    "In the DNN, each word is E numbers: all T · E numbers in meet all T · E numbers out.",
    lambda T, E, k: np.array([T * T + T, *costs(T, E, k)[1:]]),
)
Q5.mistake(
    "k rows a layer",
    "A layer sees the row itself and k − 1 rows before it, so it reaches k − 1 rows farther.",
    lambda T, E, k: np.array([*costs(T, E, k)[:3], math.ceil((T - 1) / k)]),
)
