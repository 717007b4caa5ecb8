"""Exercises of the normalization chapter."""

import numpy as np

from plainformer.normalization import layer_norm, rms_norm

from . import Exercise

# ---- LayerNorm with a pencil


def normalized(x):
    """Mean 0 and variance 1, without gain, bias and eps."""
    return (x - x.mean()) / x.std()


def pencil_case(rng):
    """A row whose variance is 4."""
    return [(np.array([1.0, 6.0, 6.0, 6.0, 6.0]),)]


PENCIL = Exercise(
    "normalization-by-hand", "LayerNorm with a pencil", normalized, pencil_case, tolerance=5e-3, by_hand=True
)

PENCIL.mistake(
    "divided by one less",
    "You divided the sum of the squares by 4, one less than the row has numbers. LayerNorm divides by 5: the"
    " variance is 4.",
    lambda x: (x - x.mean()) / x.std(ddof=1),
)
PENCIL.mistake(
    "no root",
    "You divided by the variance. Divide by its square root: the result should have variance 1.",
    lambda x: (x - x.mean()) / x.var(),
)
PENCIL.mistake(
    "not centred",
    "The division is right, but the mean is still in the numbers. Take 5 away from each first.",
    lambda x: x / x.std(),
)
PENCIL.mistake(
    "not scaled",
    "The mean is 0 now. The variance is still 4: divide each number by its root.",
    lambda x: x - x.mean(),
)
PENCIL.mistake(
    "root mean square",
    "This is RMSNorm: you divided by the root of the mean square and left the mean in. LayerNorm takes the"
    " mean away first.",
    lambda x: x / np.sqrt((x * x).mean()),
)
PENCIL.mistake(
    "divided by the length",
    "You divided by the root of the sum of the squares. Divide the sum by 5 before you take the root.",
    lambda x: (x - x.mean()) / np.linalg.norm(x - x.mean()),
)
PENCIL.mistake(
    "sign turned",
    "You took each number away from the mean. Take the mean away from each number.",
    lambda x: (x.mean() - x) / x.std(),
)


# ---- LayerNorm


def layer_norm_cases(rng):
    """One row, a batch that is not square, a row so small that eps shows, and a flat row. An eps of 1e-5
    alone could be a constant.
    """
    return [
        (rng.normal(size=4), rng.normal(size=4), rng.normal(size=4), 1e-5),
        (3 * rng.normal(size=(2, 5)) + 1, rng.normal(size=5), rng.normal(size=5), 1e-3),
        (1e-3 * rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=4), 1e-5),
        (np.full(4, 7.0), rng.normal(size=4), rng.normal(size=4), 1e-5),
    ]


def layer_norm_along(axis):
    def answer(x, gain, bias, eps):
        return (x - x.mean(axis=axis, keepdims=True)) / np.sqrt(
            x.var(axis=axis, keepdims=True) + eps
        ) * gain + bias

    return answer


LAYER_NORM = Exercise("normalization-layer-norm", "LayerNorm", layer_norm, layer_norm_cases)


@LAYER_NORM.mistake(
    "divided by one less",
    "Your variance divides by E − 1, as torch.var and np.var(…, ddof=1) do. LayerNorm divides by E.",
)
def sample_variance(x, gain, bias, eps):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, ddof=1, keepdims=True) + eps) * gain + bias


@LAYER_NORM.mistake(
    "eps outside the root",
    "You add eps to the root of the variance. Add it to the variance, inside the root: for small rows that"
    " makes a large difference.",
)
def layer_norm_eps_outside(x, gain, bias, eps):
    return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + eps) * gain + bias


@LAYER_NORM.mistake(
    "no eps",
    "A flat row has variance 0, and your function divides by it. Add eps to the variance, inside the root.",
)
def layer_norm_without_eps(x, gain, bias, eps):
    return layer_norm(x, gain, bias, 0.0)


@LAYER_NORM.mistake(
    "no root",
    "You divide by the variance. Divide by its square root, the standard deviation.",
)
def without_root(x, gain, bias, eps):
    return (x - x.mean(-1, keepdims=True)) / (x.var(-1, keepdims=True) + eps) * gain + bias


LAYER_NORM.mistake(
    "wrong axis",
    "You normalize over the tokens, down the columns. Each token is normalized by itself: use axis=-1 with"
    " keepdims=True.",
    layer_norm_along(0),
)
LAYER_NORM.mistake(
    "whole array",
    "You take one mean and one variance for all tokens together. Each row has its own: use axis=-1 with"
    " keepdims=True.",
    layer_norm_along(None),
)


@LAYER_NORM.mistake(
    "gain before normalizing",
    "You multiply by the gain and add the bias first, and normalizing then undoes much of it. They come"
    " last.",
)
def gain_first(x, gain, bias, eps):
    return layer_norm(x * gain + bias, np.ones_like(gain), np.zeros_like(bias), eps)


LAYER_NORM.mistake(
    "bias forgotten",
    "The normalized row times the gain is right. The bias is still to be added.",
    lambda x, gain, bias, eps: layer_norm(x, gain, np.zeros_like(bias), eps),
)
LAYER_NORM.mistake(
    "gain forgotten",
    "The normalized row and the bias are right. Multiply by the gain before you add the bias.",
    lambda x, gain, bias, eps: layer_norm(x, np.ones_like(gain), bias, eps),
)
LAYER_NORM.mistake(
    "step 4 forgotten",
    "Each row is normalized now. Step 4 is still missing: multiply by the gain, then add the bias.",
    lambda x, gain, bias, eps: layer_norm(x, np.ones_like(gain), np.zeros_like(bias), eps),
)
LAYER_NORM.mistake(
    "bias before gain",
    "You add the bias and then multiply by the gain, so the bias is multiplied too. Multiply first.",
    lambda x, gain, bias, eps: layer_norm(x, gain, gain * bias, eps),
)


@LAYER_NORM.mistake(
    "divided by the length",
    "You divide by the root of the sum of the squares. The variance is their mean.",
)
def by_the_length(x, gain, bias, eps):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x * x).sum(-1, keepdims=True) + eps) * gain + bias


# ---- RMSNorm


def rms_norm_cases(rng):
    """One row far from mean 0, a batch that is not square, and a row so small that eps shows. An eps of 1e-5
    alone could be a constant.
    """
    return [
        (rng.normal(size=4) + 2, rng.normal(size=4), 1e-5),
        (3 * rng.normal(size=(2, 5)), rng.normal(size=5), 1e-3),
        (np.array([1e-3, 2e-3, 2e-3, 4e-3]), rng.normal(size=4), 1e-5),
    ]


def rms_norm_along(axis):
    def answer(x, gain, eps):
        return x / np.sqrt((x * x).mean(axis=axis, keepdims=True) + eps) * gain

    return answer


RMS_NORM = Exercise("normalization-rms-norm", "RMSNorm", rms_norm, rms_norm_cases)


@RMS_NORM.mistake(
    "centred first",
    "You take the mean away first. That is LayerNorm: RMSNorm leaves the mean in.",
)
def centred_first(x, gain, eps):
    return layer_norm(x, gain, np.zeros_like(gain), eps)


@RMS_NORM.mistake(
    "sum instead of mean",
    "You divide by the root of the sum of the squares. Divide by the root of their mean, or wide rows come"
    " out small.",
)
def sum_of_squares(x, gain, eps):
    return x / np.sqrt((x * x).sum(-1, keepdims=True) + eps) * gain


@RMS_NORM.mistake(
    "eps outside the root",
    "You add eps to the root. Add it to the mean square, inside the root: for small rows that makes a large"
    " difference.",
)
def rms_norm_eps_outside(x, gain, eps):
    return x / (np.sqrt((x * x).mean(-1, keepdims=True)) + eps) * gain


RMS_NORM.mistake(
    "no eps",
    "The root mean square is right, but eps is not in it. Add eps to the mean square, inside the root.",
    lambda x, gain, eps: rms_norm(x, gain, 0.0),
)


@RMS_NORM.mistake("no root", "You divide by the mean square. Divide by its root.")
def rms_norm_without_root(x, gain, eps):
    return x / ((x * x).mean(-1, keepdims=True) + eps) * gain


RMS_NORM.mistake(
    "wrong axis",
    "You take the mean square over the tokens, down the columns. Each token has its own: use axis=-1 with"
    " keepdims=True.",
    rms_norm_along(0),
)
RMS_NORM.mistake(
    "gain added",
    "Each row has size 1 now, and you add the gain. It is a factor: multiply by it.",
    lambda x, gain, eps: rms_norm(x, np.ones_like(gain), eps) + gain,
)


@RMS_NORM.mistake(
    "mean of the sizes",
    "You divide by the mean of the absolute values. Square the numbers, take the mean, then the root.",
)
def mean_size(x, gain, eps):
    return x / (np.abs(x).mean(-1, keepdims=True) + eps) * gain


RMS_NORM.mistake(
    "whole array",
    "You take one mean square for all tokens together. Each row has its own: use axis=-1 with keepdims=True.",
    rms_norm_along(None),
)
RMS_NORM.mistake(
    "gain forgotten",
    "Each row has size 1 now. The learned gain is still to be multiplied.",
    lambda x, gain, eps: rms_norm(x, np.ones_like(gain), eps),
)


# ---- dropout with given random numbers


def dropout_from(x, rate, uniform):
    """Dropout whose random numbers are given: one for each number of x, from 0 to 1."""
    return np.where(uniform >= rate, x / (1 - rate), 0.0)


def dropout_cases(rng):
    """Rates other than a half, where wrong scales could hide, and rate 0, which changes nothing."""
    shapes_and_rates = [((6,), 0.25), ((3, 8), 0.1), ((2, 5), 0.4), ((4,), 0.0)]
    return [(rng.normal(size=shape), rate, rng.random(shape)) for shape, rate in shapes_and_rates]


def dropout_scaled_by(scale):
    def answer(x, rate, uniform):
        return np.where(uniform >= rate, x * scale(np.float64(rate)), 0.0)

    return answer


DROPOUT = Exercise("normalization-dropout", "Dropout", dropout_from, dropout_cases)

DROPOUT.mistake(
    "not rescaled",
    "The right numbers are dropped, but the rest is left as it was, so the mean shrinks. Divide what is kept"
    " by 1 − rate.",
    dropout_scaled_by(lambda rate: 1.0),
)
DROPOUT.mistake(
    "divided by the rate",
    "You divide what is kept by the rate, the share that is dropped. Divide by the share that is kept, 1 −"
    " rate.",
    dropout_scaled_by(lambda rate: 1 / rate),
)
DROPOUT.mistake(
    "multiplied instead of divided",
    "You multiply what is kept by 1 − rate, which makes the mean smaller still. Divide by it.",
    dropout_scaled_by(lambda rate: 1 - rate),
)
DROPOUT.mistake(
    "no brackets",
    "You divide by 1 and then take the rate away: x / 1 - rate. Put brackets round 1 - rate.",
    lambda x, rate, uniform: np.where(uniform >= rate, x / 1 - rate, 0.0),
)


@DROPOUT.mistake(
    "wrong side",
    "You keep a number where its random number is below the rate, so a rate of 0 drops everything. Keep it"
    " where it is at least the rate.",
)
def wrong_side(x, rate, uniform):
    return np.where(uniform < rate, x / (1 - rate), 0.0)
