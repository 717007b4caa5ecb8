"""Assignment 7: residuals and norms."""

import numpy as np

from plaincourse.exercises import Exercise, Property, the_value
from plainformer.normalization import layer_norm, rms_norm
from plaingrader.questions import variants

mine = variants("09_normalization")


RMS_NORMS = ("plainformer.normalization.rms_norm", "torch.nn.functional.rms_norm", "torch.nn.RMSNorm")


# ---- q1: the four steps


def four_steps(x, gain, bias):
    return layer_norm(x, gain, bias, 0.0)


def normal(x, ddof=0):
    return (x - x.mean()) / x.std(ddof=ddof)


Q1 = Exercise(
    "q1",
    "The four steps",
    answer="q1",
    reference=four_steps,
    cases=the_value(3, mine.q1),
    tolerance=1e-6,
    by_hand=True,
)

Q1.mistake(
    "divided by one less",
    "You divided the sum of the squares by 4. The row has five numbers, and LayerNorm divides by all of"
    " them.",
    lambda x, gain, bias: normal(x, 1) * gain + bias,
)
Q1.mistake(
    "no root",
    "You divided by the variance. Divide by its root, so that the result has variance 1.",
    lambda x, gain, bias: (x - x.mean()) / x.var() * gain + bias,
)
Q1.mistake(
    "mean left in",
    "This is RMSNorm with a bias: the mean is still in the numbers. Step 1 takes it away.",
    lambda x, gain, bias: plain_norm(x) * gain + bias,
)
Q1.mistake(
    "bias before gain",
    "You added the bias first, so the gain multiplied it, too. The bias comes last.",
    lambda x, gain, bias: (normal(x) + bias) * gain,
)
Q1.mistake(
    "gain forgotten",
    "The row is normalized and the bias is in. Each place is multiplied by its gain before that.",
    lambda x, gain, bias: normal(x) + bias,
)
Q1.mistake(
    "bias forgotten",
    "The row is normalized and has its gain. The bias is still to be added.",
    lambda x, gain, bias: normal(x) * gain,
)
Q1.mistake(
    "step 4 forgotten",
    "The row is normalized. What was learned, the gain and the bias, comes after that.",
    lambda x, gain, bias: normal(x),
)


# ---- q2: before or after


def plain_norm(x):
    return rms_norm(x, np.ones(x.shape[-1]), 0.0)


def centred_norm(x):
    return layer_norm(x, np.ones(x.shape[-1]), np.zeros(x.shape[-1]), 0.0)


def turned(x):
    """The layer: each pair (a, b) becomes (0.75 b, -0.75 a)."""
    return 0.75 * np.array([x[1], -x[0], x[3], -x[2]])


def both_orders_with(norm):
    return lambda x: np.array([x + turned(norm(x)), norm(x + turned(x))])


def both_orders(x):
    return both_orders_with(plain_norm)(x)


Q2 = Exercise(
    "q2",
    "Before or after",
    answer="q2",
    reference=both_orders,
    cases=the_value(4, mine.q2),
    tolerance=1e-6,
    by_hand=True,
)

Q2.mistake(
    "the two exchanged",
    "Both rows occur, in the other order. Pre-norm comes first: the norm stands before the layer.",
    lambda x: both_orders(x)[::-1],
)
Q2.mistake(
    "stream overwritten",
    "Your pre-norm adds the layer's answer to the normed row. The norm is a copy for the layer to read: add"
    " to x itself.",
    lambda x: np.array([plain_norm(x) + turned(plain_norm(x)), both_orders(x)[1]]),
)
Q2.mistake(
    "answer normed",
    "Your post-norm norms what the layer says and adds it to x. Add first, then norm the sum.",
    lambda x: np.array([both_orders(x)[0], x + plain_norm(turned(x))]),
)
Q2.mistake(
    "sums forgotten",
    "You have the layer's answers alone. In both orders the answer is added to the stream.",
    lambda x: np.array([turned(plain_norm(x)), plain_norm(turned(x))]),
)
Q2.mistake(
    "LayerNorm",
    "You took the mean away first. The norm of this question is RMSNorm: it leaves the mean in.",
    both_orders_with(centred_norm),
)


# ---- q3: what LayerNorm forgot


def remembered(normed, known):
    scale = (known[0] - known[1]) / (normed[0] - normed[1])
    return known[0] + scale * (normed[2:] - normed[0])


Q3 = Exercise(
    "q3",
    "What LayerNorm forgot",
    answer="q3",
    reference=remembered,
    cases=the_value(3, mine.q3),
    tolerance=1e-6,
    by_hand=True,
)

Q3.mistake(
    "shift alone",
    "You moved the normed row until its first number fitted. The second does not fit yet: the row was"
    " stretched as well.",
    lambda normed, known: normed[2:] + known[0] - normed[0],
)
Q3.mistake(
    "scale alone",
    "You multiplied the normed row until its first number fitted. The second does not fit yet: the row was"
    " moved as well.",
    lambda normed, known: normed[2:] * known[0] / normed[0],
)


@Q3.mistake(
    "scale turned over",
    "The gap between the two known numbers is larger than the gap between the normed ones. So the other gaps"
    " grow by that factor, too.",
)
def scale_turned_over(normed, known):
    scale = (normed[0] - normed[1]) / (known[0] - known[1])
    return known[0] + scale * (normed[2:] - normed[0])


Q3.mistake(
    "mean not put back",
    "The gaps between your numbers are right. The row still has mean 0: move it until the first number fits.",
    lambda normed, known: normed[2:] * (known[0] - known[1]) / (normed[0] - normed[1]),
)


# ---- q4: a norm for each head


def head_norm(x, gain, heads, eps):
    pieces = x.reshape((*x.shape[:-1], heads, -1))
    return rms_norm(pieces, gain, eps).reshape(x.shape)


def head_norm_by(norm):
    """The function with another norm of the pieces (..., H, D)."""
    return lambda x, gain, heads, eps: norm(x.reshape((*x.shape[:-1], heads, -1)), gain, eps).reshape(x.shape)


def head_cases(rng, shape, heads, scale=1.0, eps=1e-5):
    return (
        scale * rng.normal(size=shape) + scale / 2,
        rng.uniform(0.5, 2.0, size=shape[-1] // heads),
        heads,
        eps,
    )


Q4 = Exercise(
    "q4",
    "A norm for each head",
    answer="head_norm",
    reference=head_norm,
    cases=(
        Property("one row", 2, lambda rng: [head_cases(rng, (12,), 3), head_cases(rng, (10,), 2)]),
        Property(
            "many rows at once",
            1,
            lambda rng: [head_cases(rng, (5, 6), 3), head_cases(rng, (3, 2, 8), 2, eps=0.05)],
        ),
        Property("small numbers", 1, lambda rng: [head_cases(rng, (4, 6), 2, scale=1e-3)]),
    ),
    refuse=RMS_NORMS,
)


@Q4.mistake(
    "one norm for the row",
    "You divide the whole row by one number. Each head's piece has a root mean square of its own.",
)
def whole_row(x, gain, heads, eps):
    return rms_norm(x, np.tile(gain, heads), eps)


@Q4.mistake(
    "every other number",
    "Your pieces take every H-th number of the row. A head's D numbers stand side by side.",
)
def every_other(x, gain, heads, eps):
    pieces = x.reshape((*x.shape[:-1], -1, heads)).swapaxes(-1, -2)
    return rms_norm(pieces, gain, eps).swapaxes(-1, -2).reshape(x.shape)


Q4.mistake(
    "centred first",
    "You take each piece's mean away. RMSNorm leaves it in.",
    head_norm_by(lambda x, gain, eps: layer_norm(x, gain, np.zeros_like(gain), eps)),
)
Q4.mistake(
    "sum instead of mean",
    "You divide by the root of the sum of the squares. It is their mean that goes under the root.",
    head_norm_by(lambda x, gain, eps: rms_norm(x, gain, eps / x.shape[-1]) / np.sqrt(x.shape[-1])),
)
Q4.mistake(
    "eps outside the root",
    "You add eps after the root. It belongs to the mean square, under the root: small numbers show the"
    " difference.",
    head_norm_by(lambda x, gain, eps: x / (np.sqrt(mean_square(x)) + eps) * gain),
)
Q4.mistake(
    "no eps",
    "The root mean square is right for large numbers. For small ones eps counts: add it under the root.",
    head_norm_by(lambda x, gain, eps: rms_norm(x, gain, 0.0)),
)
Q4.mistake(
    "gain forgotten",
    "Each piece has size 1. The gain, the same for all heads, is still to be multiplied.",
    head_norm_by(lambda x, gain, eps: rms_norm(x, np.ones_like(gain), eps)),
)


# ---- q5: mend the norm in half precision


def half_rms_norm(x, gain, eps):
    return rms_norm(x.astype(np.float64), gain.astype(np.float64), eps)


def broken_half(x, gain, eps):
    mean_square = (x * x).mean(axis=-1, keepdims=True)
    return (x / np.sqrt(mean_square + eps) * gain).astype(np.float32)


def half_rows(rng, low, high, shape, eps=1e-5):
    """Rows in half precision whose numbers have sizes from low to high."""
    x = rng.uniform(low, high, size=shape) * rng.choice([-1, 1], size=shape)
    return x.astype(np.float16), rng.uniform(1, 3, size=shape[-1]).astype(np.float16), eps


Q5 = Exercise(
    "q5",
    "Too large for half precision, mended",
    answer="half_rms_norm",
    reference=half_rms_norm,
    cases=(
        Property("ordinary numbers", 1, lambda rng: [half_rows(rng, 0.5, 2, (4, 6))]),
        Property(
            "large numbers",
            1,
            lambda rng: [half_rows(rng, 300, 2000, (5,)), half_rows(rng, 300, 2000, (2, 3, 4))],
        ),
        Property(
            "small numbers",
            1,
            lambda rng: [half_rows(rng, 1e-3, 5e-3, (3, 5)), half_rows(rng, 1e-3, 5e-3, (4,), eps=1e-6)],
        ),
    ),
    tolerance=1e-5,
    refuse=RMS_NORMS,
    handed_out=broken_half,
)


@Q5.mistake(
    "widened too late",
    "You widen the squares. By then they have overflowed: widen x itself, first of all.",
)
def widened_late(x, gain, eps):
    mean_square = (x * x).astype(np.float32).mean(axis=-1, keepdims=True)
    return x.astype(np.float32) / np.sqrt(mean_square + eps) * gain


Q5.mistake(
    "narrowed again",
    "The arithmetic is right, and the result is rounded to half precision at the end. Give it back in single"
    " precision or better.",
    lambda x, gain, eps: half_rms_norm(x, gain, eps).astype(np.float16),
)
Q5.mistake(
    "large numbers cut off",
    "You cut large numbers off so that their squares fit. That changes the row: widen it, and leave its"
    " numbers as they are.",
    lambda x, gain, eps: half_rms_norm(np.clip(x, -255, 255), gain, eps),
)


@Q5.mistake(
    "eps out of proportion",
    "You divide the row by its largest number first. Then eps is no longer in proportion, which small rows"
    " show. Widen instead.",
)
def scaled_without_eps(x, gain, eps):
    x = x.astype(np.float64)
    return half_rms_norm(x / np.abs(x).max(axis=-1, keepdims=True), gain, eps)


# ---- q6: the parts of a normed row


def normed_parts(start, answers, gain, eps):
    parts = np.concatenate([start[None], answers])
    return parts / np.sqrt((parts.sum(axis=0) ** 2).mean(axis=-1, keepdims=True) + eps) * gain


def parts_by(size):
    """The parts, divided by the root of another mean square (start, parts) -> ..."""

    def answer(start, answers, gain, eps):
        parts = np.concatenate([start[None], answers])
        return parts / np.sqrt(size(start, parts) + eps) * gain

    return answer


def mean_square(x):
    return (x**2).mean(axis=-1, keepdims=True)


def stream(rng, layers, tokens, width, eps=1e-5):
    return (
        rng.normal(size=(tokens, width)),
        rng.normal(size=(layers, tokens, width)),
        rng.uniform(0.5, 2.0, size=width),
        eps,
    )


Q6 = Exercise(
    "q6",
    "Who wrote what",
    answer="normed_parts",
    reference=normed_parts,
    cases=(
        Property("one token", 2, lambda rng: [stream(rng, 2, 1, 5), stream(rng, 4, 1, 3)]),
        Property("several tokens", 2, lambda rng: [stream(rng, 3, 4, 6), stream(rng, 2, 5, 3, eps=0.05)]),
    ),
)

Q6.mistake(
    "each part by itself",
    "You norm every part by its own size, and then they do not add up to the normed row. Divide all parts by"
    " the size of their sum.",
    parts_by(lambda start, parts: mean_square(parts)),
)
Q6.mistake(
    "size of the start",
    "You divide by the size of the start. What is normed at the end is the start plus all answers.",
    parts_by(lambda start, parts: mean_square(start)),
)
Q6.mistake(
    "start left out of the sum",
    "Your size is that of the answers alone. The start is in the stream, too, when it is normed.",
    parts_by(lambda start, parts: mean_square(parts[1:].sum(axis=0))),
)
Q6.mistake(
    "squares added up",
    "You add up the parts' squares. The stream is the sum of the parts: add first, then square.",
    parts_by(lambda start, parts: mean_square(parts).sum(axis=0)),
)
Q6.mistake(
    "one size for all tokens",
    "You divide all tokens by one number. Each token has a size of its own.",
    parts_by(lambda start, parts: (parts.sum(axis=0) ** 2).mean()),
)
Q6.mistake(
    "gain forgotten",
    "The sizes are right. The gain multiplies every part.",
    lambda start, answers, gain, eps: normed_parts(start, answers, np.ones_like(gain), eps),
)


# ---- q7: drop a whole layer


def drop_layer(x, answer, rate, uniform):
    kept = (uniform >= rate)[:, None, None]
    return x + np.where(kept, answer / (1 - rate), 0.0)


def dropped_by(rule):
    """The function with another rule (x, answer, rate, kept) -> stream."""

    def answer_of(x, answer, rate, uniform):
        return rule(x, answer, np.float64(rate), (uniform >= rate)[:, None, None])

    return answer_of


def texts(rng, shape, rate):
    """At least one text that is kept and, with a rate above 0, one that is not; none near the edge."""
    dropped = np.arange(shape[0]) % 2 == rng.integers(2)
    low, high = rng.uniform(0, 0.9 * rate, size=shape[0]), rng.uniform(rate + 0.02, 1, size=shape[0])
    return rng.normal(size=shape), rng.normal(size=shape), rate, np.where(dropped & (rate > 0), low, high)


Q7 = Exercise(
    "q7",
    "Drop a whole layer",
    answer="drop_layer",
    reference=drop_layer,
    cases=(
        Property(
            "some texts dropped",
            2,
            lambda rng: [
                texts(rng, (2, 3, 4), 0.5),
                texts(rng, (5, 2, 3), 0.2),
                texts(rng, (4, 5, 2), 0.3),
            ],
        ),
        Property("rate 0", 1, lambda rng: [texts(rng, (3, 2, 4), 0.0)]),
    ),
)

Q7.mistake(
    "not rescaled",
    "The right texts lose the layer's answer. In the others the answer must grow, so that its mean over many"
    " draws stays.",
    dropped_by(lambda x, answer, rate, kept: x + np.where(kept, answer, 0.0)),
)
Q7.mistake(
    "stream rescaled",
    "You divide the whole sum by 1 − rate. The stream itself is never dropped, so it is not rescaled either.",
    dropped_by(lambda x, answer, rate, kept: np.where(kept, (x + answer) / (1 - rate), x)),
)
Q7.mistake(
    "stream dropped",
    "A dropped text becomes 0 in your result. It loses the layer's answer only: the stream goes on as it"
    " was.",
    dropped_by(lambda x, answer, rate, kept: np.where(kept, x + answer / (1 - rate), 0.0)),
)
Q7.mistake(
    "wrong side",
    "You keep the answer where the random number is below the rate. There it is dropped.",
    dropped_by(lambda x, answer, rate, kept: x + np.where(kept, 0.0, answer / (1 - rate))),
)
Q7.mistake(
    "divided by the rate",
    "You divide by the share that is dropped. Divide by the share that is kept.",
    dropped_by(lambda x, answer, rate, kept: x + np.where(kept, answer / rate, 0.0)),
)
