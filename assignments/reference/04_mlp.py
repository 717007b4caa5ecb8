"""Assignment 3: the MLP."""

import math

import numpy as np

from plaincourse.exercises import Exercise, Property, the_value
from plainformer.activations import gelu_tanh, relu, sigmoid, silu
from plainformer.linear import linear
from plainformer.mlp import SwiGLU, swiglu
from plaingrader.questions import variants

mine = variants("04_mlp")


# ---- q1: one token through the MLP


def small_mlp(x, up, down):
    return relu(x @ up) @ down


Q1 = Exercise(
    "q1",
    "One token through the MLP",
    answer="q1",
    reference=small_mlp,
    cases=the_value(3, mine.q1),
    tolerance=1e-6,
    by_hand=True,
)

Q1.mistake(
    "no bend",
    "You multiplied the hidden numbers as they are. The negative ones become 0 first.",
    lambda x, up, down: x @ up @ down,
)
Q1.mistake(
    "bend at the end",
    "The bend belongs between the tables. At the end, a negative result is right.",
    lambda x, up, down: relu(x @ up @ down),
)
Q1.mistake(
    "sign dropped",
    "ReLU makes a negative number 0. You turned it round.",
    lambda x, up, down: abs(x @ up) @ down,
)


# ---- q2: a squared bend


def squared_relu_mlp(x, up, up_bias, down, down_bias):
    return relu(x @ up + up_bias) ** 2 @ down + down_bias


def squared_variant(bend=lambda z: np.maximum(z, 0) ** 2, up=1, down=1):
    """The function with another bend, or without a bias."""
    return lambda x, u, ub, d, db: bend(x @ u + up * ub) @ d + down * db


def tables(rng, leading):
    e, f = 4, 6
    return (
        rng.normal(size=(*leading, e)),
        rng.normal(size=(e, f)),
        rng.normal(size=f),
        rng.normal(size=(f, e)),
        rng.normal(size=e),
    )


Q2 = Exercise(
    "q2",
    "A squared bend",
    answer="squared_relu_mlp",
    reference=squared_relu_mlp,
    cases=(
        Property("one row", 2, lambda rng: [tables(rng, ())]),
        Property("many rows at once", 2, lambda rng: [tables(rng, (3,)), tables(rng, (2, 5))]),
    ),
)

Q2.mistake(
    "squared before ReLU",
    "Square after the negative numbers are gone: (−2)² is 4, and ReLU lets it through.",
    squared_variant(lambda z: relu(z**2)),
)
Q2.mistake("not squared", "The bend is ReLU alone: square what it lets through.", squared_variant(relu))
Q2.mistake("no bias on the way up", "up_bias is missing: it is added before the bend.", squared_variant(up=0))
Q2.mistake(
    "no bias on the way down",
    "down_bias is missing: it is added at the end.",
    squared_variant(down=0),
)


# ---- q3: mend GELU


def broken_gelu(z):
    return 0.5 * z * (1 + np.tanh(np.sqrt(2 * np.pi) * (z + 0.044715 * z**3)))


def tanh_form(half=0.5, cubic=0.044715, power=3):
    return lambda z: half * z * (1 + np.tanh(math.sqrt(2 / math.pi) * (z + cubic * z**power)))


Q3 = Exercise(
    "q3",
    "GELU, mended",
    answer="gelu_tanh",
    reference=lambda z: gelu_tanh(z),
    cases=(
        Property("numbers near zero", 2, lambda rng: [(rng.normal(size=8),), (rng.normal(size=(2, 3)),)]),
        Property(
            "numbers far from zero",
            1,
            lambda rng: [(rng.uniform(2, 4, size=5) * rng.choice([-1, 1], size=5),)],
        ),
    ),
    refuse=(
        "plainformer.activations.gelu_tanh",
        "plainformer.activations.gelu",
        "torch.nn.functional.gelu",
        "torch.nn.GELU",
    ),
    handed_out=broken_gelu,
)

Q3.mistake("square for cube", "The cubic term has z**3.", tanh_form(power=2))
Q3.mistake("no half", "The factor ½ at the front is missing.", tanh_form(half=1.0))
Q3.mistake("no cubic term", "The term 0.044715 z³ is missing.", tanh_form(cubic=0.0))


# ---- q4: two layers folded into one table


def folded(up, up_bias, down, down_bias):
    return np.concatenate([linear(up, down), linear(up_bias, down, down_bias)[None]])


def folded_variant(bias):
    """The folded table with another last row."""
    return lambda up, up_bias, down, down_bias: np.concatenate(
        [up @ down, bias(up_bias, down, down_bias)[None]]
    )


def two_layers(rng, e, f, g):
    return rng.normal(size=(e, f)), rng.normal(size=f), rng.normal(size=(f, g)), rng.normal(size=g)


Q4 = Exercise(
    "q4",
    "Two layers folded into one",
    answer="folded",
    reference=folded,
    cases=(
        Property(
            "biases that are zero",
            1,
            lambda rng: [(rng.normal(size=(3, 5)), np.zeros(5), rng.normal(size=(5, 2)), np.zeros(2))],
        ),
        Property(
            "biases of any kind",
            3,
            lambda rng: [two_layers(rng, 3, 4, 2), two_layers(rng, 2, 6, 5), two_layers(rng, 4, 3, 6)],
        ),
    ),
)

Q4.mistake(
    "the first bias forgotten",
    "up_bias has no part in it. It is added to the hidden numbers, and they pass the second table.",
    folded_variant(lambda up_bias, down, down_bias: down_bias),
)
Q4.mistake(
    "the second bias forgotten",
    "down_bias is missing: what is added last is added in the folded layer, too.",
    folded_variant(lambda up_bias, down, down_bias: up_bias @ down),
)
Q4.mistake(
    "bias in every row",
    "You sent rows through both layers to see what comes out. Take away what a row of zeros gives.",
    lambda up, up_bias, down, down_bias: (np.eye(len(up) + 1, len(up)) @ up + up_bias) @ down + down_bias,
)
Q4.mistake(
    "bias on top",
    "The bias is to be the last row of the table, and you made it the first.",
    lambda up, up_bias, down, down_bias: np.roll(folded(up, up_bias, down, down_bias), 1, axis=0),
)
Q4.mistake(
    "without the bias row",
    "The folded weights are right. The bias of the folded layer is to stand below them.",
    lambda up, up_bias, down, down_bias: up @ down,
)


# ---- q5: weights for a curve of straight pieces


def bends(places, heights):
    slopes = np.diff(heights, prepend=0) / np.diff(places, prepend=0)
    return np.diff(slopes, prepend=0)


Q5 = Exercise(
    "q5",
    "A curve of straight pieces",
    answer="q5",
    reference=bends,
    cases=(Property("the weights", 4, lambda rng: [mine.q5(rng)]),),
    tolerance=1e-6,
    by_hand=True,
)

Q5.mistake(
    "slopes",
    "These are the slopes of the three pieces. A hidden number that has begun goes on: each weight is the"
    " change of slope at its place.",
    lambda places, heights: np.diff(heights, prepend=0) / np.diff(places, prepend=0),
)
Q5.mistake(
    "rises for slopes",
    "You took how far the curve rises on each piece. Divide by how long the piece is.",
    lambda places, heights: np.diff(np.diff(heights, prepend=0), prepend=0),
)
Q5.mistake(
    "slopes from 0",
    "You drew each slope from the origin. A piece begins where the one before it ends.",
    lambda places, heights: np.diff(heights / places, prepend=0),
)
Q5.mistake(
    "turned round",
    "The changes of slope have the wrong sign: the new slope minus the old one.",
    lambda places, heights: bends(places, heights) * [1, -1, -1],
)


# ---- q6: a gated MLP with a calculator


def small_swiglu(x, gate, up, down):
    return swiglu(x, SwiGLU(gate, up, down))


def small_gated(bend):
    """The gated MLP with something else in the middle."""
    return lambda x, gate, up, down: bend(x @ gate, x @ up) @ down


Q6 = Exercise(
    "q6",
    "One token through a gate",
    answer="q6",
    reference=small_swiglu,
    cases=the_value(4, mine.q6),
    tolerance=1e-4,
    by_hand=True,
)

Q6.mistake(
    "SiLU on the values",
    "SiLU is on the wrong side: it bends what comes from gate.",
    small_gated(lambda a, u: a * silu(u)),
)
Q6.mistake(
    "sigmoid for SiLU",
    "You took the share alone. SiLU is the number itself times the share.",
    small_gated(lambda a, u: sigmoid(a) * u),
)
Q6.mistake(
    "no SiLU",
    "You multiplied the two rows as they are. The gate numbers pass SiLU first.",
    small_gated(lambda a, u: a * u),
)
Q6.mistake(
    "ReLU for SiLU",
    "You set the negative gate number to 0. SiLU lets a little of it through.",
    small_gated(lambda a, u: relu(a) * u),
)
Q6.mistake(
    "sign in the exponent",
    "The share of a large number is near 1: it has e to the power of minus the number.",
    small_gated(lambda a, u: a * sigmoid(-a) * u),
)
Q6.mistake(
    "sum for product",
    "You added gates and values. A gate is a factor.",
    small_gated(lambda a, u: silu(a) + u),
)


# ---- q7: gates and values in turn


def gated_in_turn(x, gate_up, down):
    a, u = (linear(x, gate_up[:, start::2]) for start in (0, 1))
    return linear(silu(a) * (u + 1), down)


def turn_variant(bend=lambda a, u: silu(a) * (u + 1), split=lambda z: (z[..., 0::2], z[..., 1::2])):
    """The function with another middle, or with the columns dealt out in another way."""
    return lambda x, gate_up, down: bend(*split(x @ gate_up)) @ down


def one_wide_table(rng, leading, e, f):
    return rng.normal(size=(*leading, e)), rng.normal(size=(e, 2 * f)), rng.normal(size=(f, e))


Q7 = Exercise(
    "q7",
    "Gates and values in turn",
    answer="gated_in_turn",
    reference=gated_in_turn,
    cases=(
        Property("one row", 2, lambda rng: [one_wide_table(rng, (), 3, 4)]),
        Property(
            "many rows at once",
            2,
            lambda rng: [one_wide_table(rng, (2,), 5, 3), one_wide_table(rng, (3, 2), 4, 6)],
        ),
    ),
)

Q7.mistake(
    "halves",
    "You cut the table into a left and a right half. Here the columns take turns.",
    turn_variant(split=lambda z: np.split(z, 2, axis=-1)),
)
Q7.mistake(
    "exchanged",
    "Gates and values have changed places: column 0 makes a gate.",
    turn_variant(split=lambda z: (z[..., 1::2], z[..., 0::2])),
)
Q7.mistake(
    "one not added",
    "1 is added to each value before it meets its gate.",
    turn_variant(lambda a, u: silu(a) * u),
)
Q7.mistake(
    "one added to the gate",
    "You added the 1 to the gate. It belongs to the value.",
    turn_variant(lambda a, u: (silu(a) + 1) * u),
)
Q7.mistake(
    "SiLU on the values",
    "SiLU bends the gates. The values stay as they are, plus 1.",
    turn_variant(lambda a, u: a * silu(u + 1)),
)
