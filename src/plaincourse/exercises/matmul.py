"""Exercises of the chapter *One matrix multiply*."""

import numpy as np

from plainformer.linear import linear

from . import Exercise


def one_output(x, column):
    """The dot product of a row and one column."""
    return linear(x, column[:, None])[0]


ONE_OUTPUT = Exercise(
    "matmul-one-output",
    "One more column",
    one_output,
    lambda rng: [(np.array([1.0, 2.0, -1.0, 0.0]), np.array([1.5, 0.5, -0.5, -1.0]))],
    by_hand=True,
)

ONE_OUTPUT.mistake(
    "one product is off",
    "Two places to look: −1 times −0.5 is +0.5, and the last number of x is 0, so its weight has no say.",
    lambda x, column: np.sum(x * column) + column[3],
)
ONE_OUTPUT.mistake(
    "a sum of the column",
    "You added up the weights. Multiply each weight with its number of x first.",
    lambda x, column: np.sum(column),
)
ONE_OUTPUT.mistake(
    "the products, not their sum",
    "These are the four products. Add them up: one column gives one number.",
    lambda x, column: x * column,
)


def matmul(X, W):
    """Every row of X times W."""
    return linear(X, W)


def matmul_cases(rng):
    """Tables of every shape: wider, narrower, a single row, and square."""
    shapes = [((2, 3), (3, 4)), ((4, 5), (5, 2)), ((1, 3), (3, 2)), ((3, 3), (3, 3))]
    return [(rng.integers(-4, 5, first) / 2, rng.integers(-4, 5, second) / 2) for first, second in shapes]


LOOPS = Exercise("matmul-loops", "Three loops", matmul, matmul_cases)


@LOOPS.mistake(
    "only the last product is kept",
    "Each output is a sum. In the innermost loop write Z[t, j] += …, not Z[t, j] = ….",
)
def last_product_only(X, W):
    """What ``Z[t, j] = …`` in the innermost loop gives."""
    return X[:, -1:] * W[-1:]


LOOPS.mistake(
    "the last product is left out",
    "The innermost loop stops one too early: range(E) already ends at E − 1.",
    lambda X, W: X[:, :-1] @ W[:-1],
)
LOOPS.mistake(
    "nothing is added up",
    "All outputs are still 0. Is the sum stored in Z?",
    lambda X, W: np.zeros((X.shape[0], W.shape[1])),
)


@LOOPS.mistake(
    "only the first row is filled",
    "All rows but the first are still 0. Is the return one indent too deep? It belongs after all loops, in"
    " line with the outermost for.",
)
def first_row_only(X, W):
    """What a ``return`` inside the outermost loop gives."""
    Z = np.zeros((X.shape[0], W.shape[1]))
    Z[0] = X[0] @ W
    return Z


LOOPS.mistake(
    "rounded to whole numbers",
    "The digits after the point are lost. Make Z with np.zeros((T, F)), not with dtype=int.",
    lambda X, W: np.trunc(X @ W),
)


def unseen(table):
    """The row that the table maps to zero, scaled to begin with 1."""
    direction = np.linalg.svd(table.T)[2][-1]
    return direction / direction[0]


NARROW = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


UNSEEN = Exercise(
    "matmul-unseen",
    "A row that the table cannot tell from zero",
    unseen,
    lambda rng: [(NARROW,)],
    by_hand=True,
)

UNSEEN.mistake(
    "the same sign throughout",
    "With [1, 1, 1] both outputs are 2. The third number has to cancel the other two.",
    lambda table: np.ones(3),
)
UNSEEN.mistake(
    "all zeros",
    "A row of zeros is always mapped to zeros, by any table. The row asked for begins with 1.",
    lambda table: np.zeros(3),
)
UNSEEN.mistake(
    "one output only",
    "This makes the first output 0, but the second is not: it is the second number plus the third.",
    lambda table: np.array([1.0, 0.0, -1.0]),
)
UNSEEN.mistake(
    "the third number is 0",
    "The first two numbers are not cancelled by anything: the outputs are 1 and −1. The third number has to"
    " cancel each of them.",
    lambda table: np.array([1.0, -1.0, 0.0]),
)
UNSEEN.mistake(
    "the second output only",
    "This makes the second output 0, but the first is not: it is the first number plus the third.",
    lambda table: np.array([1.0, -1.0, 1.0]),
)
UNSEEN.mistake(
    "begins with −1",
    "The table does map this row to [0, 0]. The row asked for begins with 1: turn every sign.",
    lambda table: -unseen(table),
)
UNSEEN.mistake(
    "begins with 2",
    "The table does map this row to [0, 0]. The row asked for begins with 1: halve every number.",
    lambda table: 2 * unseen(table),
)
