"""Assignment 1: networks."""

import math

import numpy as np

from plaincourse.exercises import Exercise, Property
from plainformer.activations import relu
from plainformer.linear import linear
from plainformer.networks import RNN, conv2d, rnn
from plaingrader.questions import variants

mine = variants("01_learning")


# ---- q1: one step for a weight and a bias


def one_step(x, target, w, b, rate):
    slope = 2 * (w * x + b - target)
    return np.array([w - rate * slope * x, b - rate * slope])


def step_variant(weight=lambda x, rate: 1, bias=lambda x, rate: 1):
    """The step with its two parts multiplied by these factors."""

    def answer(x, target, w, b, rate):
        step = one_step(x, target, w, b, rate) - [w, b]
        return step * [weight(x, rate), bias(x, rate)] + [w, b]

    return answer


Q1 = Exercise(
    "q1",
    "A weight and a bias, one step",
    answer="q1",
    reference=one_step,
    cases=(Property("the values", 3, lambda rng: [mine.q1(rng)]),),
    tolerance=1e-6,
    by_hand=True,
)

Q1.mistake(
    "uphill",
    "You went with the slopes. A step goes against them.",
    step_variant(lambda x, rate: -1, lambda x, rate: -1),
)
Q1.mistake(
    "factor 2 missing",
    "The slope of a square u² is 2u.",
    step_variant(lambda x, rate: 0.5, lambda x, rate: 0.5),
)
Q1.mistake(
    "x missing",
    "b is right. The weight is multiplied with x, so its slope is x times the slope of the miss.",
    step_variant(weight=lambda x, rate: 1 / x),
)
Q1.mistake(
    "x at the bias",
    "w is right. Nothing is multiplied with b: the miss changes as fast as b does.",
    step_variant(bias=lambda x, rate: x),
)
Q1.mistake(
    "no learning rate",
    "You took the whole slopes. The learning rate makes the step smaller.",
    step_variant(lambda x, rate: 1 / rate, lambda x, rate: 1 / rate),
)
Q1.mistake(
    "b left alone",
    "w is right. The bias is a parameter, too, and takes its own step.",
    step_variant(bias=lambda x, rate: 0),
)


@Q1.mistake("the slopes", "These are the slopes. What is asked for is w and b after the step.")
def slopes_alone(x, target, w, b, rate):
    return 2 * (w * x + b - target) * np.array([x, 1])


# ---- q2: mend gradient descent


def fit_line(x, y, rate, steps):
    w, b = 0.0, 0.0
    for _ in range(steps):
        miss = w * x + b - y
        w, b = w - rate * np.sum(2 * miss * x), b - rate * np.sum(2 * miss)
    return np.array([w, b])


def broken_fit_line(x, y, rate, steps):
    w, b = 0.0, 0.0
    for _ in range(steps):
        w = w - rate * np.sum(2 * (w * x + b - y) * x)
        b = b - rate * np.sum(2 * (w * x + b - y))
    return np.array([w, b])


def points(rng, count, steps):
    return rng.normal(size=count), rng.normal(size=count), float(rng.uniform(0.02, 0.06)), steps


Q2 = Exercise(
    "q2",
    "Gradient descent, mended",
    answer="fit_line",
    reference=fit_line,
    cases=(
        Property("one step", 1, lambda rng: [points(rng, 4, 1), points(rng, 3, 1)]),
        Property("several steps", 2, lambda rng: [points(rng, 5, 2), points(rng, 4, 7)]),
    ),
    handed_out=broken_fit_line,
)


@Q2.mistake(
    "the other order",
    "Now the slope of w sees a b that has moved already. Both slopes belong to the same place.",
)
def bias_first(x, y, rate, steps):
    w, b = 0.0, 0.0
    for _ in range(steps):
        b = b - rate * np.sum(2 * (w * x + b - y))
        w = w - rate * np.sum(2 * (w * x + b - y) * x)
    return np.array([w, b])


Q2.mistake(
    "mean for sum",
    "The loss is the sum of the squared misses, not their mean.",
    lambda x, y, rate, steps: fit_line(x, y, rate / len(x), steps),
)
Q2.mistake(
    "factor 2 missing",
    "The slope of a square u² is 2u.",
    lambda x, y, rate, steps: fit_line(x, y, rate / 2, steps),
)


@Q2.mistake(
    "one step only",
    "After the first step it stops, or begins again. Each step goes on from the last w and b.",
)
def start_again(x, y, rate, steps):
    return fit_line(x, y, rate, 1)


# ---- q3: slopes through a unit that is off


def slopes(x, first, second, target, gate=lambda sums: sums > 0, factor=2.0):
    sums = linear(x, first)
    miss = relu(sums) @ second - target
    return x[:, None] * (factor * miss * second * gate(sums))


def first_slopes(x, first, second, target):
    return slopes(x, first, second, target)


Q3 = Exercise(
    "q3",
    "Slopes through a unit that is off",
    answer="q3",
    reference=first_slopes,
    cases=(Property("the values", 4, lambda rng: [mine.q3(rng)]),),
    tolerance=1e-6,
    by_hand=True,
)

Q3.mistake(
    "the unit that is off learns",
    "One hidden sum is negative. ReLU switches its unit off, so its weights have the slope 0.",
    lambda x, first, second, target: slopes(x, first, second, target, gate=np.ones_like),
)
Q3.mistake(
    "factor 2 missing",
    "The slope of a square u² is 2u: all your slopes are half as large as they should be.",
    lambda x, first, second, target: slopes(x, first, second, target, factor=1.0),
)
Q3.mistake(
    "sign turned",
    "The miss is guess minus target. Your signs are all turned.",
    lambda x, first, second, target: -first_slopes(x, first, second, target),
)
Q3.mistake(
    "second layer forgotten",
    "On the way back, the slope of the answer is multiplied with the weight of each unit in second.",
    lambda x, first, second, target: first_slopes(x, first, second, target) / second,
)
Q3.mistake(
    "input forgotten",
    "Those are the slopes of the three sums. Each weight was multiplied with a number of x.",
    lambda x, first, second, target: first_slopes(x, first, second, target) / x[:, None],
)
Q3.mistake(
    "turned",
    "Your table is turned: give it the shape of first, one row for each number of x.",
    lambda x, first, second, target: first_slopes(x, first, second, target).T,
)


# ---- q4: a filter with a bias and a bend


def filtered(image, weights):
    return conv2d(image[:, :, None], weights[:, :, None, None])[:, :, 0]


def filter_layer(image, weights, bias):
    return relu(filtered(image, weights) + bias)


Q4 = Exercise(
    "q4",
    "A filter with a bias and a bend",
    answer="q4",
    reference=filter_layer,
    cases=(Property("the values", 3, lambda rng: [mine.q4(rng)]),),
    tolerance=1e-6,
    by_hand=True,
)

Q4.mistake(
    "flipped",
    "You flipped the filter. Here it is laid on as it is.",
    lambda image, weights, bias: filter_layer(image, weights[::-1, ::-1], bias),
)
Q4.mistake(
    "no bend",
    "A negative sum becomes 0. Yours are still negative.",
    lambda image, weights, bias: filtered(image, weights) + bias,
)
Q4.mistake(
    "no bias",
    "The bias is added to every sum, before the bend.",
    lambda image, weights, bias: filter_layer(image, weights, 0),
)
Q4.mistake(
    "bias after the bend",
    "You bent first and added the bias then. It is part of the sum that is bent.",
    lambda image, weights, bias: filter_layer(image, weights, 0) + bias,
)
Q4.mistake(
    "in jumps",
    "The filter moves on by one pixel at a time, so its places overlap.",
    lambda image, weights, bias: filter_layer(image, weights, bias)[::2, ::2],
)


# ---- q5: a filter with gaps


def spread(weights, gap):
    rows, columns = weights.shape
    wide = np.zeros((gap * (rows - 1) + 1, gap * (columns - 1) + 1))
    wide[::gap, ::gap] = weights
    return wide


def gap_filter(image, weights, gap):
    return filtered(image, spread(weights, gap))


def image_and_filter(rng, image, weights, gap):
    return rng.normal(size=image), rng.normal(size=weights), gap


Q5 = Exercise(
    "q5",
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

Q5.mistake(
    "gap ignored",
    "Your filter is laid on without gaps.",
    lambda image, weights, gap: filtered(image, weights),
)
Q5.mistake(
    "in jumps",
    "You moved the filter in jumps. It moves by one pixel; what is spread are its own numbers.",
    lambda image, weights, gap: filtered(image, weights)[::gap, ::gap],
)
Q5.mistake(
    "a thinner image",
    "You left out rows and columns of the image first. The filter starts at every pixel where it fits.",
    lambda image, weights, gap: filtered(image[::gap, ::gap], weights),
)
Q5.mistake(
    "flipped",
    "You flipped the filter. Here it is laid on as it is.",
    lambda image, weights, gap: gap_filter(image, weights[::-1, ::-1], gap),
)
Q5.mistake(
    "gaps too wide",
    "Your gaps are one pixel too wide: with gap 1, the numbers lie side by side.",
    lambda image, weights, gap: gap_filter(image, weights, gap + 1),
)
Q5.mistake(
    "last place forgotten",
    "The last row and column of the result are missing.",
    lambda image, weights, gap: gap_filter(image, weights, gap)[:-1, :-1],
)


# ---- q6: the slope of the second state to the first word


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


Q6 = Exercise(
    "q6",
    "How much the first word still matters",
    answer="q6",
    reference=two_states,
    cases=(Property("the values", 4, lambda rng: [mine.q6(rng)]),),
    tolerance=2e-4,
    by_hand=True,
)


@Q6.mistake("no memory", "The second state starts from nothing. The first state enters its sum.")
def without_memory(W_x, W_h, x1, x2):
    h1, h2 = math.tanh(W_x * x1), math.tanh(W_x * x2)
    return np.array([h1, h2, (1 - h2**2) * W_h * (1 - h1**2) * W_x])


Q6.mistake(
    "last bend forgotten",
    "The states are right. On the way back you also pass the bend of the second step.",
    slope_variant(lambda W_x, W_h, h1, h2: W_h * (1 - h1**2) * W_x),
)
Q6.mistake(
    "first bend forgotten",
    "The states are right. On the way back you also pass the bend of the first step.",
    slope_variant(lambda W_x, W_h, h1, h2: (1 - h2**2) * W_h * W_x),
)
Q6.mistake(
    "1 − h for 1 − h²",
    "The states are right. The slope of tanh is 1 less the square of the state.",
    slope_variant(lambda W_x, W_h, h1, h2: (1 - h2) * W_h * (1 - h1) * W_x),
)
Q6.mistake(
    "the way in forgotten",
    "The states are right. The word itself came in through a weight.",
    slope_variant(lambda W_x, W_h, h1, h2: (1 - h2**2) * W_h * (1 - h1**2)),
)
Q6.mistake(
    "the first state's slope",
    "The states are right. This is how much the first state moves. Follow it on to the second.",
    slope_variant(lambda W_x, W_h, h1, h2: (1 - h1**2) * W_x),
)


# ---- q7: reading both ways


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


Q7 = Exercise(
    "q7",
    "Reading both ways",
    answer="both_ways",
    reference=both_ways,
    cases=(
        Property("a text of one word", 1, lambda rng: [text(rng, 1, 3, 2, 4)]),
        Property("longer texts", 3, lambda rng: [text(rng, 4, 3, 2, 5), text(rng, 6, 2, 4, 3)]),
    ),
    refuse=("torch.nn.RNN",),
)


@Q7.mistake(
    "in the order of reading",
    "Your second half begins with the state of the last word. Put each state into the row of its own word.",
)
def in_reading_order(x, forward, backward):
    return side_by_side(read(x, forward), read(x[::-1], backward))


@Q7.mistake(
    "forward twice",
    "The second network reads in the same direction as the first. It begins at the last word.",
)
def forward_twice(x, forward, backward):
    return side_by_side(read(x, forward), read(x, backward))


@Q7.mistake("halves exchanged", "The two halves have changed places: the forward states come first.")
def exchanged(x, forward, backward):
    return side_by_side(read(x[::-1], backward)[::-1], read(x, forward))


@Q7.mistake("the same tables", "You used the tables of forward for both. The second network has its own.")
def same_tables(x, forward, backward):
    return side_by_side(read(x, forward), read(x[::-1], forward)[::-1])


# ---- q8: what three forms cost


def costs(T, E, k):
    return np.array([(T * E) ** 2 + T * E, k * E * E + E, 2 * E * E + E, math.ceil((T - 1) / (k - 1))])


Q8 = Exercise(
    "q8",
    "What three forms cost",
    answer="q8",
    reference=costs,
    cases=(Property("the numbers", 2, lambda rng: [mine.q8(rng)]),),
    tolerance=1e-6,
    by_hand=True,
)

Q8.mistake(
    "no biases",
    "The tables are right. Each form also has one bias for each number that it puts out.",
    lambda T, E, k: costs(T, E, k) - [T * E, E, E, 0],
)
Q8.mistake(
    "a bias for every word",
    "The same bias serves all words in the CNN and in the RNN, as the same tables do.",
    lambda T, E, k: costs(T, E, k) + [0, T * E - E, T * E - E, 0],
)
Q8.mistake(
    "width forgotten",
    "In the DNN, each word is E numbers: all T · E numbers in meet all T · E numbers out.",
    lambda T, E, k: np.array([T * T + T, *costs(T, E, k)[1:]]),
)
Q8.mistake(
    "k rows a layer",
    "A layer sees the row itself and k − 1 rows before it, so it reaches k − 1 rows farther.",
    lambda T, E, k: np.array([*costs(T, E, k)[:3], math.ceil((T - 1) / k)]),
)
