"""Assignment 3: the MLP."""

import math

import numpy as np

from plaincourse.exercises import Mistake
from plainformer.activations import gelu_tanh, relu
from plaingrader.questions import Property, Question, variants

mine = variants("03_mlp")


# ---- q1: one token through the MLP


def small_mlp(x, up, down):
    return relu(x @ up) @ down


# ---- q2: a squared bend


def squared_relu_mlp(x, up, up_bias, down, down_bias):
    return relu(x @ up + up_bias) ** 2 @ down + down_bias


def squared_variant(bend=lambda z: np.maximum(z, 0) ** 2, up=1, down=1):
    """The function with another bend, or without a bias."""
    return lambda x, u, ub, d, db: bend(x @ u + up * ub) @ d + down * db


def tables(rng, leading):
    e, f = 4, 6
    return rng.normal(size=(*leading, e)), rng.normal(size=(e, f)), rng.normal(size=f), rng.normal(size=(f, e)), rng.normal(size=e)


# ---- q3: mend GELU


def broken_gelu(z):
    return 0.5 * z * (1 + np.tanh(np.sqrt(2 * np.pi) * (z + 0.044715 * z**3)))


def tanh_form(half=0.5, cubic=0.044715, power=3):
    return lambda z: half * z * (1 + np.tanh(math.sqrt(2 / math.pi) * (z + cubic * z**power)))


QUESTIONS = [
    Question(
        "q1",
        "One token through the MLP",
        answer="q1",
        reference=small_mlp,
        properties=(Property("the value", 3, lambda rng: [mine.q1(rng)]),),
        mistakes=(
            Mistake("no bend", "You multiplied the hidden numbers as they are. The negative ones become 0 first.", lambda x, up, down: x @ up @ down),
            Mistake("bend at the end", "The bend belongs between the tables. At the end, a negative result is right.", lambda x, up, down: relu(x @ up @ down)),
            Mistake("sign dropped", "ReLU makes a negative number 0. You turned it round.", lambda x, up, down: abs(x @ up) @ down),
        ),
        tolerance=1e-6,
        by_hand=True,
    ),
    Question(
        "q2",
        "A squared bend",
        answer="squared_relu_mlp",
        reference=squared_relu_mlp,
        properties=(
            Property("one row", 2, lambda rng: [tables(rng, ())]),
            Property("many rows at once", 2, lambda rng: [tables(rng, (3,)), tables(rng, (2, 5))]),
        ),
        mistakes=(
            Mistake("squared before ReLU", "Square after the negative numbers are gone: (−2)² is 4, and ReLU lets it through.", squared_variant(lambda z: relu(z**2))),
            Mistake("not squared", "The bend is ReLU alone: square what it lets through.", squared_variant(relu)),
            Mistake("no bias on the way up", "up_bias is missing: it is added before the bend.", squared_variant(up=0)),
            Mistake("no bias on the way down", "down_bias is missing: it is added at the end.", squared_variant(down=0)),
        ),
    ),
    Question(
        "q3",
        "GELU, mended",
        answer="gelu_tanh",
        reference=lambda z: gelu_tanh(z),
        properties=(
            Property("numbers near zero", 2, lambda rng: [(rng.normal(size=8),), (rng.normal(size=(2, 3)),)]),
            Property("numbers far from zero", 1, lambda rng: [(rng.uniform(2, 4, size=5) * rng.choice([-1, 1], size=5),)]),
        ),
        mistakes=(
            Mistake("square for cube", "The cubic term has z**3.", tanh_form(power=2)),
            Mistake("no half", "The factor ½ at the front is missing.", tanh_form(half=1.0)),
            Mistake("no cubic term", "The term 0.044715 z³ is missing.", tanh_form(cubic=0.0)),
        ),
        refuse=("plainformer.activations.gelu_tanh", "plainformer.activations.gelu"),
        handed_out=broken_gelu,
    ),
]
