"""Exercises of the chapter *One matrix multiply*."""

import numpy as np

from plainformer.linear import linear

from . import Exercise, Mistake


def one_output(x, column):
    """The dot product of a row and one column."""
    return linear(x, column[:, None])[0]


def matmul(X, W):
    """Every row of X times W."""
    return linear(X, W)


def matmul_cases(rng):
    """Tables of every shape: wider, narrower, a single row, and square."""
    shapes = [((2, 3), (3, 4)), ((4, 5), (5, 2)), ((1, 3), (3, 2)), ((3, 3), (3, 3))]
    return [(rng.integers(-4, 5, first) / 2, rng.integers(-4, 5, second) / 2) for first, second in shapes]


def last_product_only(X, W):
    """What ``Z[t, j] = …`` in the innermost loop gives."""
    return X[:, -1:] * W[-1:]


def first_row_only(X, W):
    """What a ``return`` inside the outermost loop gives."""
    Z = np.zeros((X.shape[0], W.shape[1]))
    Z[0] = X[0] @ W
    return Z


def unseen(table):
    """The row that the table maps to zero, scaled to begin with 1."""
    direction = np.linalg.svd(table.T)[2][-1]
    return direction / direction[0]


NARROW = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])

EXERCISES = [
    Exercise(
        name="matmul-one-output",
        title="One more column",
        reference=one_output,
        cases=lambda rng: [(np.array([1.0, 2.0, -1.0, 0.0]), np.array([1.5, 0.5, -0.5, -1.0]))],
        by_hand=True,
        mistakes=(
            Mistake(
                "one product is off",
                "Two places to look: −1 times −0.5 is +0.5, and the last number of x is 0, so its weight has"
                " no say.",
                lambda x, column: np.sum(x * column) + column[3],
            ),
            Mistake(
                "a sum of the column",
                "You added up the weights. Multiply each weight with its number of x first.",
                lambda x, column: np.sum(column),
            ),
            Mistake(
                "the products, not their sum",
                "These are the four products. Add them up: one column gives one number.",
                lambda x, column: x * column,
            ),
        ),
    ),
    Exercise(
        name="matmul-loops",
        title="Three loops",
        reference=matmul,
        cases=matmul_cases,
        mistakes=(
            Mistake(
                "only the last product is kept",
                "Each output is a sum. In the innermost loop write Z[t, j] += …, not Z[t, j] = ….",
                last_product_only,
            ),
            Mistake(
                "the last product is left out",
                "The innermost loop stops one too early: range(E) already ends at E − 1.",
                lambda X, W: X[:, :-1] @ W[:-1],
            ),
            Mistake(
                "nothing is added up",
                "All outputs are still 0. Is the sum stored in Z?",
                lambda X, W: np.zeros((X.shape[0], W.shape[1])),
            ),
            Mistake(
                "only the first row is filled",
                "All rows but the first are still 0. Is the return one indent too deep? It belongs after all"
                " loops, in line with the outermost for.",
                first_row_only,
            ),
            Mistake(
                "rounded to whole numbers",
                "The digits after the point are lost. Make Z with np.zeros((T, F)), not with dtype=int.",
                lambda X, W: np.trunc(X @ W),
            ),
        ),
    ),
    Exercise(
        name="matmul-unseen",
        title="A row that the table cannot tell from zero",
        reference=unseen,
        cases=lambda rng: [(NARROW,)],
        by_hand=True,
        mistakes=(
            Mistake(
                "the same sign throughout",
                "With [1, 1, 1] both outputs are 2. The third number has to cancel the other two.",
                lambda table: np.ones(3),
            ),
            Mistake(
                "all zeros",
                "A row of zeros is always mapped to zeros, by any table. The row asked for begins with 1.",
                lambda table: np.zeros(3),
            ),
            Mistake(
                "one output only",
                "This makes the first output 0, but the second is not: it is the second number plus the"
                " third.",
                lambda table: np.array([1.0, 0.0, -1.0]),
            ),
            Mistake(
                "the third number is 0",
                "The first two numbers are not cancelled by anything: the outputs are 1 and −1. The third"
                " number has to cancel each of them.",
                lambda table: np.array([1.0, -1.0, 0.0]),
            ),
            Mistake(
                "the second output only",
                "This makes the second output 0, but the first is not: it is the first number plus the"
                " third.",
                lambda table: np.array([1.0, -1.0, 1.0]),
            ),
            Mistake(
                "begins with −1",
                "The table does map this row to [0, 0]. The row asked for begins with 1: turn every sign.",
                lambda table: -unseen(table),
            ),
            Mistake(
                "begins with 2",
                "The table does map this row to [0, 0]. The row asked for begins with 1: halve every number.",
                lambda table: 2 * unseen(table),
            ),
        ),
    ),
]
