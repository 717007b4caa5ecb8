"""Assignment 12: a real model. None of its questions needs the model itself."""

import numpy as np

from plaincourse.exercises import Exercise, Property
from plainformer.attention import Attention
from plainformer.linear import Linear
from plainformer.llama import Config
from plainformer.mlp import SwiGLU
from plaingrader.questions import variants

mine = variants("14_real_model")


# ---- q1: the parameters


def parameters(heads, groups, width, hidden, blocks, words):
    return counted()(heads, groups, width, hidden, blocks, words)


def counted(times=1, keys=lambda heads, groups: groups, tables=3, last=1):
    """Embedding, attention, MLP, norms and total; the arguments are places where people go wrong."""

    def answer(heads, groups, width, hidden, blocks, words):
        rows = heads * width
        attention = blocks * (2 * rows * rows + 2 * rows * keys(heads, groups) * width)
        parts = [times * words * rows, attention, blocks * tables * rows * hidden, (2 * blocks + last) * rows]
        return np.array([*parts, sum(parts)])

    return answer


Q1 = Exercise(
    "q1",
    "The parameters of a small Llama",
    answer="q1",
    reference=parameters,
    cases=(Property("the five numbers", 3, lambda rng: [mine.q1(rng)]),),
    tolerance=1e-7,
    by_hand=True,
)

Q1.mistake(
    "output projection counted",
    "You counted the output projection as well. It is the embedding table, used a second time.",
    counted(times=2),
)
Q1.mistake(
    "key maps too wide",
    "Your key and value maps are as wide as the query map. There are fewer key/value heads.",
    counted(keys=lambda heads, groups: heads),
)
Q1.mistake("two tables", "Your MLP has two tables. A SwiGLU has three: gate, up and down.", counted(tables=2))
Q1.mistake(
    "last norm forgotten",
    "Each block has two norms, and one more stands before the output projection.",
    counted(last=0),
)


# ---- q2: a small group of Q4_1


def unpacked(scale, minimum, packed):
    return scale * low_then_high(packed) + minimum


def low_then_high(packed):
    return np.concatenate([packed % 16, packed // 16])


Q2 = Exercise(
    "q2",
    "Out of four bits",
    answer="q2",
    reference=unpacked,
    cases=(Property("the eight numbers", 3, lambda rng: [mine.q2(rng)]),),
    tolerance=1e-6,
    by_hand=True,
)

Q2.mistake(
    "byte by byte",
    "You took the two halves of a byte for neighbours. All low halves come first, then all high ones.",
    lambda scale, minimum, packed: scale * np.stack([packed % 16, packed // 16], axis=1).ravel() + minimum,
)
Q2.mistake(
    "high halves first",
    "You began with the high halves. The low half of a byte, its second digit, belongs to the earlier"
    " number.",
    lambda scale, minimum, packed: scale * np.concatenate([packed // 16, packed % 16]) + minimum,
)
Q2.mistake(
    "minimum scaled",
    "You added the minimum before you multiplied. It is a number like those that come out: multiply first,"
    " then add it.",
    lambda scale, minimum, packed: scale * (low_then_high(packed) + minimum),
)
Q2.mistake(
    "eight taken off",
    "You took 8 off each whole number, as another format does. This one has a minimum of its own to add.",
    lambda scale, minimum, packed: scale * (low_then_high(packed) - 8),
)


# ---- q3: the lens with a tied head


def lens(row, gain, embedding):
    return row / np.sqrt((row * row).mean()) * gain @ embedding.T


Q3 = Exercise(
    "q3",
    "The lens, with a pencil",
    answer="q3",
    reference=lens,
    cases=(Property("the four logits", 3, lambda rng: [mine.q3(rng)]),),
    tolerance=2e-4,
    by_hand=True,
)

Q3.mistake(
    "no norm",
    "The last norm is missing: divide the row by the root of its mean square.",
    lambda row, gain, embedding: row * gain @ embedding.T,
)
Q3.mistake(
    "sum of squares",
    "You divided by the length of the row. RMSNorm takes the mean of the squares, not their sum.",
    lambda row, gain, embedding: lens(row, gain, embedding) / 2,
)
Q3.mistake(
    "gains forgotten",
    "The gains are missing: multiply each number of the row by its own.",
    lambda row, gain, embedding: lens(row, 1.0, embedding),
)
Q3.mistake(
    "head not turned",
    "You multiplied by the columns of the embedding. A word's logit is the dot product with its row.",
    lambda row, gain, embedding: lens(row, gain, embedding.T),
)


# ---- q4: stored roughly


def coarse(x, size):
    return rounded()(x, size)


def rounded(steps=15, nearest=np.round, flat=True):
    """Every group of neighbours on its own few values, with another number of steps or another rounding."""

    def answer(x, size):
        groups = x.reshape(*x.shape[:-1], -1, size)
        low, high = groups.min(axis=-1, keepdims=True), groups.max(axis=-1, keepdims=True)
        scale = (high - low) / steps
        scale = np.where(scale == 0, 1.0, scale) if flat else scale
        return (nearest((groups - low) / scale) * scale + low).reshape(x.shape)

    return answer


def flat_case(rng):
    """Groups that are flat, beside others that are not."""
    x = rng.normal(size=(2, 3, 4))
    x[0, 1], x[1, 2] = 0.0, rng.normal()
    return x.reshape(2, 12), 4


Q4 = Exercise(
    "q4",
    "Stored roughly",
    answer="coarse",
    reference=coarse,
    cases=(
        Property("one group", 1, lambda rng: [(rng.normal(size=8), 8), (1 + rng.normal(size=32), 32)]),
        Property(
            "many groups", 2, lambda rng: [(rng.normal(size=24), 8), (rng.normal(size=(2, 3, 12)) - 2, 6)]
        ),
        Property("flat groups", 1, lambda rng: [flat_case(rng)]),
    ),
    refuse=("gguf.quantize", "gguf.quants.quantize", "gguf.dequantize", "gguf.quants.dequantize"),
)

Q4.mistake(
    "sixteen steps",
    "You divided the range by 16. Sixteen values have fifteen steps between them.",
    rounded(steps=16),
)
Q4.mistake(
    "cut off",
    "You cut off what stands behind the point. Round to the nearest whole number.",
    rounded(nearest=np.floor),
)


@Q4.mistake(
    "one range for all",
    "You took the smallest and the largest number of the whole array. Each group has its own.",
)
def whole_table(x, size):
    return coarse(x.reshape(-1), x.size).reshape(x.shape)


@Q4.mistake("dealt like cards", "Your groups take every so-many-th number. A group is made of neighbours.")
def dealt(x, size):
    """Groups of numbers that do not stand side by side."""
    groups = x.reshape(*x.shape[:-1], size, -1).swapaxes(-1, -2)
    return coarse(groups, size).swapaxes(-1, -2).reshape(x.shape)


@Q4.mistake(
    "around zero",
    "Your values are spaced around zero. They begin at the smallest number of the group.",
)
def around_zero(x, size):
    groups = x.reshape(*x.shape[:-1], -1, size)
    scale = np.abs(groups).max(axis=-1, keepdims=True) / 7
    return (np.round(groups / np.where(scale == 0, 1.0, scale)) * scale).reshape(x.shape)


Q4.mistake(
    "flat group divided by zero",
    "A group of equal numbers has a range of 0, and you divide by it. Such a group stays as it is.",
    rounded(flat=False),
)


# ---- q5: who wrote the word


def contributions(parts, gain, head, eps, word):
    return written()(parts, gain, head, eps, word)


def root(row, eps):
    return np.sqrt((row * row).mean(axis=-1, keepdims=True) + eps)


def written(divisor=lambda parts, eps: root(parts.sum(axis=0), eps), gains=True, before=lambda parts: parts):
    """What each part adds to the logit, with another divisor, without the gains, or of other rows."""

    def answer(parts, gain, head, eps, word):
        rows = before(parts)
        return rows / divisor(rows, eps) * (gain if gains else 1.0) @ head[:, word]

    return answer


def parts_case(rng, count, width, words, size=1.0, eps=0.01):
    """Rows that a stream was made of; an eps that counts for the small ones."""
    return (
        size * rng.normal(size=(count, width)),
        rng.uniform(0.5, 3, size=width),
        rng.normal(size=(width, words)),
        eps,
        int(rng.integers(words)),
    )


Q5 = Exercise(
    "q5",
    "Who wrote the word",
    answer="contributions",
    reference=contributions,
    cases=(
        Property(
            "a few parts",
            2,
            lambda rng: [parts_case(rng, 2, 5, 4), parts_case(rng, 3, 4, 6, 5.0, eps=0.1)],
        ),
        Property("many parts, small numbers", 2, lambda rng: [parts_case(rng, 7, 6, 3, 0.03)]),
    ),
)

Q5.mistake(
    "each part normed alone",
    "You divided each part by its own root mean square. The norm sees their sum, so all are divided by the"
    " same number.",
    written(divisor=root),
)
Q5.mistake("gains forgotten", "The norm's gains are missing.", written(gains=False))
Q5.mistake(
    "no norm",
    "The norm is missing: all parts are divided by the root mean square of their sum.",
    written(divisor=lambda parts, eps: 1.0),
)
Q5.mistake(
    "eps forgotten",
    "The eps is missing under the root. It counts where the numbers are small.",
    written(lambda parts, eps: root(parts.sum(axis=0), 0.0)),
)
Q5.mistake(
    "running totals",
    "You read the stream after each part, as the lens does. The question is what each part adds to the logit"
    " at the end.",
    written(divisor=root, before=lambda parts: np.cumsum(parts, axis=0)),
)


# ---- q6: both halves at once


def parallel_block(x, gain, attention, mlp, config):
    return block()(x, gain, attention, mlp, config)


def block(serial=False, turn=True, causal=True, swapped=False, share=np.repeat):
    """The block in NumPy alone; the arguments are places where people go wrong."""

    def answer(x, gain, attention, mlp, config):
        normed = x / root(x, config.eps) * gain
        query, key, value = (
            heads_of(normed @ table.weight, attention.query.weight.shape[1] // config.heads)
            for table in attention[:3]
        )
        if turn:
            query, key = turned(query, config.base), turned(key, config.base)
        times = len(query) // len(key)
        key, value = (
            np.repeat(part, times, axis=0) if share is np.repeat else np.tile(part, (times, 1, 1))
            for part in (key, value)
        )
        powers = np.exp(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[2]))
        powers = np.tril(powers) if causal else powers
        mixed = powers / powers.sum(axis=-1, keepdims=True) @ value
        found = mixed.swapaxes(0, 1).reshape(len(x), -1) @ attention.output.weight
        if serial:
            normed = (x + found) / root(x + found, config.eps) * gain
        gate, up = (normed @ table for table in (mlp[1::-1] if swapped else mlp[:2]))
        return x + found + gate / (1 + np.exp(-gate)) * up @ mlp.down

    return answer


def heads_of(rows, width):
    return rows.reshape(len(rows), -1, width).swapaxes(0, 1)


def turned(rows, base):
    """Neighbours in a row, as pairs, turned by their position."""
    length, width = rows.shape[1:]
    angle = np.arange(length)[:, None] * base ** (-np.arange(0, width, 2) / width)
    a, b = rows[..., 0::2], rows[..., 1::2]
    return np.stack(
        [a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)], axis=-1
    ).reshape(rows.shape)


def block_case(rng, tokens, rows, heads, groups, width, hidden, base):
    def table(*shape):
        return rng.normal(size=shape) / np.sqrt(shape[0])

    attention = Attention(
        Linear(table(rows, heads * width)),
        Linear(table(rows, groups * width)),
        Linear(table(rows, groups * width)),
        Linear(table(heads * width, rows)),
    )
    mlp = SwiGLU(table(rows, hidden), table(rows, hidden), table(hidden, rows))
    return (
        rng.normal(size=(tokens, rows)),
        rng.uniform(0.5, 2, size=rows),
        attention,
        mlp,
        Config(64, heads, 0.01, base, "neighbours"),
    )


Q6 = Exercise(
    "q6",
    "Both halves at once",
    answer="parallel_block",
    reference=parallel_block,
    cases=(
        Property("one token", 1, lambda rng: [block_case(rng, 1, 6, 4, 2, 2, 5, 100.0)]),
        Property("several tokens", 4, lambda rng: [block_case(rng, 5, 7, 6, 2, 4, 9, 100.0)]),
    ),
)

Q6.mistake(
    "one after the other",
    "Your MLP reads the stream after attention, as in a Llama. Here it reads the same normed rows as"
    " attention does.",
    block(serial=True),
)
Q6.mistake(
    "rotary positions forgotten",
    "Queries and keys are not turned. Without that, the order of the tokens is hardly known.",
    block(turn=False),
)
Q6.mistake("no mask", "Your tokens look ahead. The causal mask is missing.", block(causal=False))
Q6.mistake(
    "heads in turn",
    "Your query heads take the key/value heads in turn. Neighbours share one: heads 0, 1, 2 of six use head"
    " 0 of two.",
    block(share=np.tile),
)
Q6.mistake(
    "gate and up exchanged",
    "SiLU belongs on the gate, and yours is on the up branch.",
    block(swapped=True),
)


# ---- q7: mend the pairs


def for_halves(table, heads):
    return reordered((0, 1))(table, heads)


def reordered(firsts, back=False):
    """Within each head, the columns of one parity and then the others; or the way back."""

    def answer(table, heads):
        width = table.shape[1] // heads
        order = np.concatenate([np.arange(first, width, 2) for first in firsts])
        order = np.argsort(order) if back else order
        return table.reshape(len(table), heads, width)[:, :, order].reshape(table.shape)

    return answer


def broken_for_halves(table, heads):
    width = table.shape[1]
    order = np.concatenate([np.arange(0, width, 2), np.arange(1, width, 2)])
    return table[:, order]


Q7 = Exercise(
    "q7",
    "The pairs, mended",
    answer="for_halves",
    reference=for_halves,
    cases=(
        Property(
            "a query map", 2, lambda rng: [(rng.normal(size=(5, 18)), 3), (rng.normal(size=(3, 32)), 4)]
        ),
        Property(
            "a narrower key map",
            2,
            lambda rng: [(rng.normal(size=(4, 12)), 2), (rng.normal(size=(7, 16)), 2)],
        ),
    ),
    handed_out=broken_for_halves,
)


@Q7.mistake(
    "columns far apart",
    "You took every so-many-th column for one head. The columns of a head stand side by side.",
)
def far_apart(table, heads):
    """As if the columns of all heads were dealt out in turn."""
    dealt_out = table.reshape(len(table), -1, heads).swapaxes(1, 2).reshape(table.shape)
    return for_halves(dealt_out, heads).reshape(len(table), heads, -1).swapaxes(1, 2).reshape(table.shape)


Q7.mistake(
    "the way back",
    "You go from halves to neighbours. The first half of a head is to hold what stood at its even places.",
    reordered((0, 1), back=True),
)
Q7.mistake(
    "odd ones first",
    "Your pairs are right, and the two numbers of each pair have changed places. They then turn the wrong"
    " way round.",
    reordered((1, 0)),
)
