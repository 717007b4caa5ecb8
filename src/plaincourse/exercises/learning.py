"""Exercises of the chapter on learning."""

import numpy as np

from . import Exercise

# ---- one step, with a pencil


def new_weight(x, target, w, rate):
    return w - rate * 2 * (w * x - target) * x


ONE_STEP = Exercise(
    "learning-one-step", "One step by hand", new_weight, lambda rng: [(3.0, 6.0, 1.0, 0.1)], by_hand=True
)

ONE_STEP.mistake(
    "uphill",
    "You went with the slope, so the loss grew. The slope is negative, and going against it makes w larger.",
    lambda x, target, w, rate: new_weight(x, target, w, -rate),
)
ONE_STEP.mistake(
    "factor 2 missing",
    "The slope of a square u² is 2u. Your slope is half of that.",
    lambda x, target, w, rate: new_weight(x, target, w, rate / 2),
)
ONE_STEP.mistake(
    "x is missing",
    "Your slope is that of the guess. The guess changes x times as fast as w does, so multiply by x.",
    lambda x, target, w, rate: w - rate * 2 * (w * x - target),
)
ONE_STEP.mistake(
    "no learning rate",
    "You took the whole slope as the step. Multiply it by the learning rate, 0.1.",
    lambda x, target, w, rate: new_weight(x, target, w, 1.0),
)
ONE_STEP.mistake(
    "the loss for the slope",
    "You subtracted 0.1 times the loss. The step is 0.1 times the slope.",
    lambda x, target, w, rate: w - rate * (w * x - target) ** 2,
)
ONE_STEP.mistake(
    "the slope itself",
    "This is the slope. What is asked for is the weight after the step.",
    lambda x, target, w, rate: 2 * (w * x - target) * x,
)
ONE_STEP.mistake(
    "the step itself",
    "This is the step. What is asked for is the weight after it: add the step to the old w.",
    lambda x, target, w, rate: new_weight(x, target, w, rate) - w,
)


# ---- three parameters


def after_a_step(row, target, w, b, rate):
    miss = row[0] * w[0] + row[1] * w[1] + b - target
    slopes = 2 * miss * np.array([row[0], row[1], 1.0])
    return np.array([*w, b]) - rate * slopes


def example(rng):
    row, w = ([float(number) for number in rng.uniform(0.3, 2, size=2)] for _ in range(2))
    return (
        row,
        float(rng.uniform(3, 6)) * float(rng.choice([-1, 1])),
        w,
        float(rng.uniform(-1, 1)),
        float(rng.uniform(0.05, 0.3)),
    )


THREE = Exercise(
    "learning-three",
    "A step for three parameters",
    after_a_step,
    lambda rng: [example(rng) for _ in range(3)],
)

THREE.mistake(
    "uphill",
    "You went with the slopes, so the loss grew. Subtract the learning rate times the slope.",
    lambda row, target, w, b, rate: after_a_step(row, target, w, b, -rate),
)
THREE.mistake(
    "factor 2 missing",
    "The slope of a square u² is 2u. Your slopes are half of that.",
    lambda row, target, w, b, rate: after_a_step(row, target, w, b, rate / 2),
)
THREE.mistake(
    "inputs missing",
    "You gave the weights the slope of the bias. A weight's slope is that times the number it was multiplied"
    " with.",
    lambda row, target, w, b, rate: np.array([*w, b]) + (after_a_step(row, target, w, b, rate)[2] - b),
)
THREE.mistake(
    "bias forgotten",
    "The weights are right, but the bias did not move. Its slope is twice the miss.",
    lambda row, target, w, b, rate: np.array([*after_a_step(row, target, w, b, rate)[:2], b]),
)
THREE.mistake(
    "the bias is not in the score",
    "Your miss leaves out the bias: the score is the weighted sum plus b.",
    lambda row, target, w, b, rate: after_a_step(row, target + b, w, b, rate),
)
