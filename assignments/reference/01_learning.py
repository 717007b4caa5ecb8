"""Assignment 1: learning."""

import numpy as np

from plaincourse.exercises import Exercise, Property
from plainformer.activations import relu
from plainformer.linear import linear
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


# ---- q4: gradient descent with momentum


def roll(x, y, rate, keep, steps):
    w = b = pace_w = pace_b = 0.0
    for _ in range(steps):
        miss = w * x + b - y
        pace_w = keep * pace_w - rate * np.sum(2 * miss * x)
        pace_b = keep * pace_b - rate * np.sum(2 * miss)
        w, b = w + pace_w, b + pace_b
    return np.array([w, b])


def rolls(rng, count, steps):
    x, y, rate, steps = points(rng, count, steps)
    return x, y, rate, float(rng.uniform(0.5, 0.9)), steps


Q4 = Exercise(
    "q4",
    "Steps with a swing",
    answer="roll",
    reference=roll,
    cases=(
        Property("one step", 1, lambda rng: [rolls(rng, 4, 1)]),
        Property("several steps", 3, lambda rng: [rolls(rng, 5, 3), rolls(rng, 4, 6)]),
    ),
)

Q4.mistake(
    "no swing",
    "These are the steps of plain gradient descent: nothing of the last move is kept.",
    lambda x, y, rate, keep, steps: fit_line(x, y, rate, steps),
)
Q4.mistake(
    "uphill",
    "You go with the slopes. A step goes against them.",
    lambda x, y, rate, keep, steps: roll(x, y, -rate, keep, steps),
)
Q4.mistake(
    "factor 2 missing",
    "The slope of a square u² is 2u.",
    lambda x, y, rate, keep, steps: roll(x, y, rate / 2, keep, steps),
)
Q4.mistake(
    "rate in the swing",
    "keep is for the last move, and the learning rate for the slope alone. You multiply the move by both.",
    lambda x, y, rate, keep, steps: roll(x, y, rate, keep * rate, steps),
)
Q4.mistake(
    "averaged",
    "You multiply the slope by 1 - keep as well. Here the whole step against the slope is added.",
    lambda x, y, rate, keep, steps: roll(x, y, rate * (1 - keep), keep, steps),
)


# ---- q5: what the miss becomes


def misses(x, target, w, rate):
    factor = 1 - 2 * rate * x * x
    return np.array([factor, (w * x - target) * factor**3, 1 / (2 * x * x)])


def misses_with(slope, start=1, steps=3):
    """The three numbers with another slope of the loss, start or number of steps."""

    def answer(x, target, w, rate):
        factor = 1 - rate * slope(x)
        return np.array([factor, start * (w * x - target) * factor**steps, 1 / slope(x)])

    return answer


Q5 = Exercise(
    "q5",
    "What the miss becomes",
    answer="q5",
    reference=misses,
    cases=(Property("the values", 3, lambda rng: [mine.q5(rng)]),),
    tolerance=1e-3,
    by_hand=True,
)

Q5.mistake(
    "x once",
    "x enters twice: the slope of w has one x in it, and the guess multiplies w by x again.",
    misses_with(lambda x: 2 * x),
)
Q5.mistake("factor 2 missing", "The slope of a square u² is 2u.", misses_with(lambda x: x * x))
Q5.mistake(
    "sign of the miss",
    "The miss is guess minus target. Your miss after three steps has the other sign.",
    misses_with(lambda x: 2 * x * x, start=-1),
)
Q5.mistake(
    "one step",
    "Your miss is that after one step. Each step multiplies it by the factor once more.",
    misses_with(lambda x: 2 * x * x, steps=1),
)
Q5.mistake(
    "the bound",
    "With your last rate the miss comes back as large, with the other sign. Asked is where it becomes 0.",
    lambda x, target, w, rate: misses(x, target, w, rate) * [1, 1, 2],
)
