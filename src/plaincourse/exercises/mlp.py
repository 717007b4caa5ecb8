"""Exercises of the MLP chapter."""

import math

import numpy as np

from plainformer import mlp
from plainformer.activations import gelu, gelu_tanh, relu, sigmoid, silu

from . import Exercise

# ---- ReLU, then the table down, with a pencil


def relu_then_down(hidden, down):
    return relu(hidden) @ down


def one_row(rng):
    return [(np.array([3.0, -1.0, 0.5, -2.0]), np.array([[1.0, -1.0], [2.0, 0.5], [-2.0, 4.0], [0.5, 1.0]]))]


RELU_DOWN = Exercise("mlp-relu-down", "ReLU, then down", relu_then_down, one_row, by_hand=True)

RELU_DOWN.mistake(
    "no ReLU",
    "You multiplied the hidden numbers as they are. Set the two negative ones to 0 first.",
    lambda hidden, down: hidden @ down,
)
RELU_DOWN.mistake(
    "sign dropped",
    "You took −1 and −2 as 1 and 2. ReLU does not turn a negative number round: it makes it 0.",
    lambda hidden, down: abs(hidden) @ down,
)
RELU_DOWN.mistake(
    "down forgotten",
    "ReLU is right. The table is still to come: it has two columns, so two numbers come out.",
    lambda hidden, down: relu(hidden),
)
RELU_DOWN.mistake(
    "ReLU at the end",
    "You multiplied first and applied ReLU to the result. It belongs in the middle, before the table.",
    lambda hidden, down: relu(hidden @ down),
)
RELU_DOWN.mistake(
    "ReLU twice",
    "The middle is right. You applied ReLU again at the end, though: the result may be negative.",
    lambda hidden, down: relu(relu(hidden) @ down),
)


# ---- SwiGLU


def swiglu(x, gate, up, down):
    return mlp.swiglu(x, mlp.SwiGLU(gate, up, down))


def rows_and_tables(rng):
    sizes = [(3, 4, 6), (2, 5, 3), (1, 3, 7)]  # T, E, F: all different, so that a turned table cannot pass
    return [tuple(rng.normal(size=shape) for shape in ((t, e), (e, f), (e, f), (f, e))) for t, e, f in sizes]


SWIGLU = Exercise("mlp-swiglu", "The gated MLP", swiglu, rows_and_tables)

SWIGLU.mistake(
    "SiLU on the values",
    "SiLU is on the wrong branch: it belongs to x @ gate, and x @ up stays as it is.",
    lambda x, gate, up, down: ((x @ gate) * silu(x @ up)) @ down,
)
SWIGLU.mistake(
    "sigmoid instead of SiLU",
    "Your gate is the sigmoid alone. SiLU is the number itself times its sigmoid.",
    lambda x, gate, up, down: (sigmoid(x @ gate) * (x @ up)) @ down,
)
SWIGLU.mistake(
    "sign of the exponent",
    "Inside the sigmoid the exponent has the wrong sign: it is 1 / (1 + np.exp(−a)), with a minus.",
    lambda x, gate, up, down: ((x @ gate) * sigmoid(-(x @ gate)) * (x @ up)) @ down,
)
SWIGLU.mistake(
    "ReLU instead of SiLU",
    "Your gate is ReLU: negative numbers become 0. SiLU is the number itself times its sigmoid.",
    lambda x, gate, up, down: (relu(x @ gate) * (x @ up)) @ down,
)
SWIGLU.mistake(
    "SiLU of the product",
    "You multiplied x @ gate and x @ up first and took SiLU of the product. SiLU belongs to x @ gate alone,"
    " before you multiply.",
    lambda x, gate, up, down: silu((x @ gate) * (x @ up)) @ down,
)
SWIGLU.mistake(
    "sum instead of product",
    "You added the gates to the values. A gate is a factor: multiply with *.",
    lambda x, gate, up, down: (silu(x @ gate) + x @ up) @ down,
)
SWIGLU.mistake(
    "no SiLU",
    "You multiplied the two rows without SiLU. The gate passes SiLU first.",
    lambda x, gate, up, down: ((x @ gate) * (x @ up)) @ down,
)
SWIGLU.mistake(
    "down forgotten",
    "The hidden rows are right. They still have F numbers: multiply by down to come back to E.",
    lambda x, gate, up, down: silu(x @ gate) * (x @ up),
)


# ---- the tanh form of GELU


def gelu_of(z):
    """What is asked for, its argument named as in the chapter."""
    return gelu_tanh(z)


SCALE = math.sqrt(2 / math.pi)


def tanh_form(half=0.5, cubic=0.044715, scale=SCALE):
    """The formula with one constant changed."""
    return lambda z: half * z * (1 + np.tanh(scale * (z + cubic * z**3)))


def lines(rng):
    return [(np.array([-3.0, -1.0, 0.0, 1.0, 3.0]),), (rng.normal(size=8) * 2,), (rng.normal(size=(2, 3)),)]


GELU_TANH = Exercise("mlp-gelu-tanh", "The GELU of GPT-2", gelu_of, lines)

GELU_TANH.mistake(
    "exact form",
    "That is the exact GELU, z · Φ(z). It is correct mathematics, but GPT-2 uses the form with tanh.",
    gelu,
)
GELU_TANH.mistake(
    "0.5 forgotten",
    "Everything is twice as large as it should be: the factor 0.5 in front is missing.",
    tanh_form(half=1),
)


@GELU_TANH.mistake("z in front forgotten", "Before the brackets stand 0.5 and z. The factor z is missing.")
def without_z(z):
    return 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))


GELU_TANH.mistake("no cubic term", "Inside the tanh, the term 0.044715 · z³ is missing.", tanh_form(cubic=0))
GELU_TANH.mistake("no √(2/π)", "Inside the tanh, the factor √(2/π) is missing.", tanh_form(scale=1))
GELU_TANH.mistake(
    "root forgotten",
    "Inside the tanh, the factor is the root of 2/π: np.sqrt(2 / np.pi).",
    tanh_form(scale=2 / math.pi),
)
GELU_TANH.mistake(
    "√2/π for √(2/π)",
    "The factor is the root of the whole fraction 2/π: np.sqrt(2 / np.pi), not np.sqrt(2) / np.pi.",
    tanh_form(scale=math.sqrt(2) / math.pi),
)


@GELU_TANH.mistake(
    "brackets round 1 + tanh",
    "You multiplied by 1 and then added the tanh. Put brackets round 1 + tanh(…): 0.5 · z multiplies both.",
)
def without_brackets(z):
    return 0.5 * z * 1 + np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3))


@GELU_TANH.mistake("square for cube", "The second term inside the tanh has z², and it should have z³: z**3.")
def square_for_cube(z):
    return 0.5 * z * (1 + np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**2)))


GELU_TANH.mistake(
    "factor on one term",
    "The factor √(2/π) multiplies z only. Put brackets round z + 0.044715 · z³: it multiplies both.",
    tanh_form(cubic=0.044715 / math.sqrt(2 / math.pi)),
)


# ---- a gated MLP with as many weights


def matched_width(width):
    return 8 * width // 3


MATCHED_WIDTH = Exercise(
    "mlp-matched-width", "A fair width", matched_width, lambda rng: [(12,)], by_hand=True
)

MATCHED_WIDTH.mistake(
    "same width",
    "With the same width, three tables hold half as many weights again as two.",
    lambda width: 4 * width,
)
MATCHED_WIDTH.mistake(
    "half the width",
    "With half the width, three tables hold fewer weights than the two before. Two tables of the old width"
    " make three of the new one.",
    lambda width: 2 * width,
)
MATCHED_WIDTH.mistake(
    "factor turned over",
    "You multiplied by 3/2. More tables must be narrower, not wider.",
    lambda width: 6 * width,
)
MATCHED_WIDTH.mistake(
    "number of weights",
    "That is how many weights there are. The question asks for the width F.",
    lambda width: 8 * width * width,
)
