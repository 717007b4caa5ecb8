"""Assignment 2: the matrix multiply."""

import numpy as np

from plaincourse.exercises import Exercise, Property
from plainformer.linear import linear
from plaingrader.questions import variants

mine = variants("03_matmul")


# ---- q1: two outputs of many


def two_outputs(X, weight, bias, t, j, k):
    return linear(X, weight, bias)[t, [j, k]]


Q1 = Exercise(
    "q1",
    "Two outputs of many",
    answer="q1",
    reference=two_outputs,
    cases=(Property("the values", 3, lambda rng: [mine.q1(rng)]),),
    tolerance=1e-6,
    by_hand=True,
)

Q1.mistake(
    "no bias",
    "The products are right. The bias of each column is still to be added.",
    lambda X, weight, bias, t, j, k: (X @ weight)[t, [j, k]],
)
Q1.mistake(
    "row counted from 1",
    "You took the row above. Python counts from 0: X[1] is the second row.",
    lambda X, weight, bias, t, j, k: two_outputs(X, weight, bias, t - 1, j, k),
)
Q1.mistake(
    "columns counted from 1",
    "You took the columns one place to the left. Python counts from 0.",
    lambda X, weight, bias, t, j, k: two_outputs(X, weight, bias, t, j - 1, k - 1),
)
Q1.mistake(
    "rows of the table",
    "You laid the token beside rows of the table. Each output belongs to a column.",
    lambda X, weight, bias, t, j, k: two_outputs(X, weight.T, bias, t, j, k),
)
Q1.mistake(
    "sum of the column",
    "You added up the weights of the column. Multiply each with its number of the token first.",
    lambda X, weight, bias, t, j, k: (weight.sum(axis=0) + bias)[[j, k]],
)


# ---- q2: shape and price of two products


def shape_and_products(T, E, F, G):
    return np.array([T, G, T * E * F + T * F * G, E * F * G + T * E * G])


Q2 = Exercise(
    "q2",
    "Shape and price",
    answer="q2",
    reference=shape_and_products,
    cases=(Property("the numbers", 3, lambda rng: [mine.q2(rng)]),),
    tolerance=1e-6,
    by_hand=True,
)

Q2.mistake(
    "outputs for products",
    "You counted the outputs. Each output is a sum of several products: count those.",
    lambda T, E, F, G: np.array([T, G, T * F + T * G, E * G + T * G]),
)
Q2.mistake(
    "first step only",
    "You counted the first of the two multiplies. The second has a price, too.",
    lambda T, E, F, G: np.array([T, G, T * E * F, E * F * G]),
)
Q2.mistake(
    "multiplied",
    "The two multiplies come one after the other, so their counts are added up.",
    lambda T, E, F, G: np.array([T, G, T * E * F * T * F * G, E * F * G * T * E * G]),
)
Q2.mistake(
    "orders exchanged",
    "The two counts have changed places.",
    lambda T, E, F, G: shape_and_products(T, E, F, G)[[0, 1, 3, 2]],
)
Q2.mistake(
    "shape turned",
    "The shape is turned: rows come from the left factor, columns from the right one.",
    lambda T, E, F, G: shape_and_products(T, E, F, G)[[1, 0, 2, 3]],
)


# ---- q3: who contributed what


def contributions(x, weight):
    return x[..., :, None] * weight


def row_and_table(rng, leading, e, f):
    return rng.normal(size=(*leading, e)), rng.normal(size=(e, f))


Q3 = Exercise(
    "q3",
    "Who contributed what",
    answer="contributions",
    reference=contributions,
    cases=(
        Property("one row", 2, lambda rng: [row_and_table(rng, (), 3, 5), row_and_table(rng, (), 4, 2)]),
        Property(
            "many rows at once",
            2,
            lambda rng: [row_and_table(rng, (2,), 4, 3), row_and_table(rng, (2, 3), 5, 4)],
        ),
    ),
)

Q3.mistake(
    "turned",
    "Your table is turned: its rows belong to the numbers of x, its columns to the outputs.",
    lambda x, weight: np.swapaxes(contributions(x, weight), -1, -2),
)
Q3.mistake("added up", "These are the outputs. Keep their products apart.", lambda x, weight: x @ weight)
Q3.mistake(
    "sums so far",
    "You added up on the way down. Each number is one product.",
    lambda x, weight: np.cumsum(contributions(x, weight), axis=-2),
)
Q3.mistake(
    "without sign",
    "You dropped the signs. A contribution may be negative.",
    lambda x, weight: np.abs(contributions(x, weight)),
)
Q3.mistake(
    "shares",
    "You divided by the output. Give the products themselves.",
    lambda x, weight: contributions(x, weight) / (x @ weight)[..., None, :],
)


# ---- q4: mend a layer that came from PyTorch


def from_pytorch(x, weight, bias):
    return linear(x, weight.T, bias)


def broken_from_pytorch(x, weight, bias):
    F, E = weight.shape
    return x @ weight.reshape(E, F) + bias


def layer(rng, leading, e, f):
    return rng.normal(size=(*leading, e)), rng.normal(size=(f, e)), rng.normal(size=f)


Q4 = Exercise(
    "q4",
    "From PyTorch, mended",
    answer="from_pytorch",
    reference=from_pytorch,
    cases=(
        Property("one row", 1, lambda rng: [layer(rng, (), 3, 5), layer(rng, (), 4, 4)]),
        Property("many rows at once", 2, lambda rng: [layer(rng, (2,), 5, 3), layer(rng, (2, 4), 3, 6)]),
    ),
    refuse=("torch.nn.functional.linear", "torch.nn.Linear"),
    handed_out=broken_from_pytorch,
)


@Q4.mistake(
    "reshaped in another order",
    "Read in another order, the numbers still land in wrong places. Rows are to become columns.",
)
def column_by_column(x, weight, bias):
    return x @ weight.reshape(weight.shape[::-1], order="F") + bias


Q4.mistake("no bias", "The bias got lost.", lambda x, weight, bias: x @ weight.T)
Q4.mistake("bias subtracted", "The bias has the wrong sign.", lambda x, weight, bias: x @ weight.T - bias)


# ---- q5: a small correction beside a large table


def adapted(x, weight, a, b, alpha):
    return linear(x, weight) + alpha / a.shape[-1] * linear(linear(x, a), b)


def adapted_variant(whole=1, scale=lambda alpha, a: alpha / a.shape[-1], outside=False):
    """The function with another scale, without the table, or with the scale on everything."""

    def answer(x, weight, a, b, alpha):
        factor = scale(alpha, a)
        return factor * (x @ weight + x @ a @ b) if outside else whole * (x @ weight) + factor * (x @ a @ b)

    return answer


def adapter(rng, leading, e, f, r):
    tables = (rng.normal(size=shape) for shape in ((*leading, e), (e, f), (e, r), (r, f)))
    return *tables, float(r * rng.uniform(1.5, 4))


Q5 = Exercise(
    "q5",
    "A small correction beside a large table",
    answer="adapted",
    reference=adapted,
    cases=(
        Property("one row", 2, lambda rng: [adapter(rng, (), 5, 4, 2)]),
        Property(
            "many rows at once",
            2,
            lambda rng: [adapter(rng, (2,), 4, 6, 3), adapter(rng, (2, 3), 6, 5, 1)],
        ),
    ),
)

Q5.mistake(
    "the table is missing",
    "This is the correction alone. The output of the large table belongs to it.",
    adapted_variant(whole=0),
)
Q5.mistake(
    "alpha alone",
    "You multiplied by alpha. It is to be divided by the rank.",
    adapted_variant(scale=lambda alpha, a: alpha),
)
Q5.mistake(
    "divided by the width",
    "You divided alpha by the width of x. The rank R is the other length of a.",
    adapted_variant(scale=lambda alpha, a: alpha / a.shape[0]),
)
Q5.mistake(
    "no scale",
    "The correction is right but for its factor.",
    adapted_variant(scale=lambda alpha, a: 1),
)
Q5.mistake(
    "scale on everything",
    "The factor is for the correction alone. You scaled the output of the large table, too.",
    adapted_variant(outside=True),
)


# ---- q6: another row with the same outputs


def same_outputs(x, weight, first):
    rest = np.linalg.solve(weight[1:].T, linear(x, weight) - first * weight[0])
    return np.array([first, *rest])


def one_output_only(output):
    """The row in which one number makes up for the change, so that one output stays."""

    def answer(x, weight, first):
        y = np.array([first, x[1], x[2]])
        y[output + 1] += (x[0] - first) * weight[0, output] / weight[output + 1, output]
        return y

    return answer


Q6 = Exercise(
    "q6",
    "Another row with the same outputs",
    answer="q6",
    reference=same_outputs,
    cases=(Property("the row", 4, lambda rng: [mine.q6(rng)]),),
    tolerance=1e-6,
    by_hand=True,
)

Q6.mistake(
    "only the first number changed",
    "With one number changed, the outputs move. The other two have to make up for it.",
    lambda x, weight, first: np.array([first, x[1], x[2]]),
)
Q6.mistake(
    "first output only",
    "The first output stays, but the second moves. Both numbers have to change.",
    one_output_only(0),
)
Q6.mistake(
    "second output only",
    "The second output stays, but the first moves. Both numbers have to change.",
    one_output_only(1),
)


@Q6.mistake("the other way", "You changed the last two numbers by the right amounts, in the wrong direction.")
def other_way(x, weight, first):
    y = same_outputs(x, weight, first)
    return np.array([first, *(2 * x[1:] - y[1:])])


Q6.mistake(
    "the difference",
    "This row, added to x, gives the row that is asked for. Add it.",
    lambda x, weight, first: same_outputs(x, weight, first) - x,
)


# ---- q7: the part that a table cannot see


def unseen_part(x, weight):
    return x - linear(linear(x, weight), np.linalg.pinv(weight, rcond=1e-9))


def dependent(rng, leading, e, f, rank):
    """A table whose last columns are mixes of the first."""
    first = rng.normal(size=(e, rank))
    mixed = first @ rng.choice([-2.0, -1.0, 1.0, 2.0], size=(rank, f - rank))
    return rng.normal(size=(*leading, e)), np.concatenate([first, mixed], axis=1)


Q7 = Exercise(
    "q7",
    "The part that a table cannot see",
    answer="unseen_part",
    reference=unseen_part,
    cases=(
        Property(
            "a narrower table",
            2,
            lambda rng: [row_and_table(rng, (), 4, 2), row_and_table(rng, (2,), 5, 3)],
        ),
        Property("a wider table", 1, lambda rng: [row_and_table(rng, (2,), 3, 5)]),
        Property("columns that depend on one another", 2, lambda rng: [dependent(rng, (2, 3), 5, 4, 2)]),
    ),
    tolerance=1e-6,
)


@Q7.mistake("the seen part", "This is the other part, the one that the table sees. Take it away from x.")
def seen_part(x, weight):
    return x - unseen_part(x, weight)


@Q7.mistake(
    "column after column",
    "You took away the share of each column by itself. Columns overlap unless they stand at right angles, so"
    " you took some of it twice.",
)
def column_after_column(x, weight):
    """Takes away the share of each column as if the columns stood at right angles."""
    return x - (x @ weight / np.sum(weight**2, axis=0)) @ weight.T


@Q7.mistake("first column only", "Your part is unseen by the first column alone.")
def first_column_only(x, weight):
    return column_after_column(x, weight[:, :1])


Q7.mistake(
    "wrong sign",
    "Every sign is turned: seen part plus unseen part is x.",
    lambda x, weight: -unseen_part(x, weight),
)
