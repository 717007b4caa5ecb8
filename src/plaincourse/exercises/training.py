"""Exercises of the training chapter."""

import math

import numpy as np

from plainformer.activations import softmax
from plainformer.training import Schedule, cross_entropy

from . import Exercise

# ---- the mean surprise, with a pencil


def mean_surprise(probabilities):
    return float(np.mean(-np.log(probabilities)))


SURPRISE = Exercise(
    "training-surprise",
    "The mean surprise",
    mean_surprise,
    lambda rng: [(np.array([0.5, 0.25, 1.0]),)],
    tolerance=0.008,
    by_hand=True,
)

SURPRISE.mistake(
    "sum",
    "You added the three surprises. The loss is their mean: divide by 3.",
    lambda probabilities: -np.log(probabilities).sum(),
)
SURPRISE.mistake(
    "minus sign missing",
    "The logarithm of a probability is negative or 0. The surprise is its opposite.",
    lambda probabilities: np.log(probabilities).mean(),
)
SURPRISE.mistake(
    "bits",
    "You took logarithms to base 2, so this is in bits. In nats, log 2 is 0.693.",
    lambda probabilities: -np.log2(probabilities).mean(),
)
SURPRISE.mistake(
    "four words",
    "You divided by 4. The row has four words, but the last one has no next word: there are three guesses.",
    lambda probabilities: -np.log(probabilities).sum() / 4,
)
SURPRISE.mistake(
    "log of the mean",
    "You took the mean of the probabilities and then its logarithm. First each surprise, then the mean.",
    lambda probabilities: -np.log(probabilities.mean()),
)
SURPRISE.mistake(
    "one surprise alone",
    "2 · log 2 is the surprise of the word with probability 0.25 alone. The loss is the mean of all three"
    " surprises.",
    lambda probabilities: -np.log(probabilities.min()),
)
SURPRISE.mistake(
    "mean probability",
    "This is the mean of the probabilities. Take the negative logarithm of each first.",
    lambda probabilities: probabilities.mean(),
)


# ---- cross-entropy


def text_cases(rng):
    """Texts of several lengths; in each the next word is not the word itself, nor the one before."""
    cases = []
    for length, vocabulary in [(4, 5), (2, 3), (7, 6), (5, 9)]:
        cases.append(
            (3 * rng.normal(size=(length, vocabulary)), rng.permutation(np.arange(length) % vocabulary))
        )
    return cases


def loss(guesses=slice(None, -1), answers=slice(1, None), reduce=np.mean, log=np.log):
    """The loss with something else in place of the right slices, mean or logarithm."""

    def answer(logits, ids):
        p = np.take_along_axis(softmax(logits)[guesses], ids[answers, None], axis=-1)
        return -reduce(log(p))

    return answer


CROSS_ENTROPY = Exercise("training-cross-entropy", "Cross-entropy with the shift", cross_entropy, text_cases)

CROSS_ENTROPY.mistake(
    "no shift",
    "You ask each position for its own word, which it has already seen. The answer is the next one:"
    " logits[:-1] with ids[1:].",
    loss(slice(None), slice(None)),
)
CROSS_ENTROPY.mistake(
    "shift the wrong way",
    "You ask each position for the word before it. Turn the slices over: logits[:-1] with ids[1:].",
    loss(slice(1, None), slice(None, -1)),
)
CROSS_ENTROPY.mistake(
    "sum",
    "You added the surprises up. Take their mean, so that a long text does not count as a bad one.",
    loss(reduce=np.sum),
)
CROSS_ENTROPY.mistake(
    "divided by T",
    "You divided by the number of words. There is one guess less: the last word has no next.",
    lambda logits, ids: cross_entropy(logits, ids) * (len(ids) - 1) / len(ids),
)
CROSS_ENTROPY.mistake(
    "bits",
    "You took logarithms to base 2, which gives bits. Nats need the natural logarithm, np.log.",
    loss(log=np.log2),
)
CROSS_ENTROPY.mistake(
    "minus sign missing",
    "Your loss is negative. The surprise is minus the logarithm.",
    loss(log=lambda p: -np.log(p)),
)


@CROSS_ENTROPY.mistake(
    "no softmax",
    "You used the logits themselves. Make probabilities of each row first, then take the logarithm.",
)
def logits_for_probabilities(logits, ids):
    return -np.mean(np.take_along_axis(logits[:-1], ids[1:, None], axis=-1))


@CROSS_ENTROPY.mistake(
    "log of the mean",
    "You took the mean of the probabilities and then its logarithm. First each surprise, then the mean.",
)
def log_of_the_mean(logits, ids):
    return -np.log(np.mean(np.take_along_axis(softmax(logits)[:-1], ids[1:, None], axis=-1)))


# ---- one step


def step(W, x, came, rate):
    """The table after one step: W − rate · outer(x, p − what came)."""
    return W - rate * np.outer(x, slopes(W, x, came))


def slopes(W, x, came):
    p = softmax(x @ W)
    p[came] -= 1
    return p


def step_cases(rng):
    """Tables that are not square, and rates that are not 1."""
    sizes, words, rates = [(2, 3), (4, 3), (3, 5)], [1, 0, 4], [0.1, 0.5, 0.3]
    return [
        (rng.normal(size=size), rng.normal(size=size[0]), *rest)
        for size, *rest in zip(sizes, words, rates, strict=True)
    ]


STEP = Exercise("training-step", "One step of learning", step, step_cases)

STEP.mistake(
    "uphill",
    "You added the slopes, so the loss rises. Go against them: W − rate · gradient.",
    lambda W, x, came, rate: step(W, x, came, -rate),
)
STEP.mistake(
    "no rate",
    "You took the whole gradient. Multiply it by the rate.",
    lambda W, x, came, rate: step(W, x, came, 1.0),
)


@STEP.mistake(
    "the word that came is missing",
    "You used the probabilities alone, which pushes all words down. Take 1 off at the word that came.",
)
def nothing_came(W, x, came, rate):
    return W - rate * np.outer(x, softmax(x @ W))


@STEP.mistake(
    "only the word that came",
    "You moved one column only. The other words were given probability too, and have to go down.",
)
def only_the_word(W, x, came, rate):
    new = W.copy()
    new[:, came] -= rate * x * slopes(W, x, came)[came]
    return new


@STEP.mistake(
    "no softmax",
    "You took 1 off the logits. It is to be taken off the probabilities: softmax first.",
)
def without_softmax(W, x, came, rate):
    z = x @ W
    z[came] -= 1
    return W - rate * np.outer(x, z)


@STEP.mistake(
    "x is missing",
    "All rows of your table move alike. Row i reaches the logits multiplied by x[i], so its slopes are x[i]"
    " times theirs.",
)
def without_input(W, x, came, rate):
    return W - rate * slopes(W, x, came)


STEP.mistake(
    "the gradient alone",
    "This is the gradient. What is asked for is the table after the step: W − rate · gradient.",
    lambda W, x, came, rate: np.outer(x, slopes(W, x, came)),
)


# ---- the schedule


def rate_at(step, peak, steps, warmup, floor):
    return Schedule(peak, steps, warmup, floor).rate(step)


def schedule_cases(rng):
    """The warm-up's first and last step, the step after it, the middle, one late, and one without a
    warm-up.
    """
    settings = [(0.01, 100, 10, 0.001), (0.5, 40, 8, 0.1)]
    cases = [
        (step, *setting)
        for setting in settings
        for step in (0, setting[2] - 1, setting[2], 30, setting[1] - 1)
    ]
    return [*cases, (30, 0.01, 100, 0, 0.0)]


def scheduled(
    up=lambda step, warmup: (step + 1) / warmup, down=lambda a: (1 + math.cos(math.pi * a)) / 2, start=None
):
    """The schedule with another rise, another fall, or a fall that counts from another step."""

    def answer(step, peak, steps, warmup, floor):
        if step < warmup:
            return peak * up(step, warmup)
        first = warmup if start is None else start
        return floor + (peak - floor) * down((step - first) / (steps - first))

    return answer


SCHEDULE = Exercise("training-schedule", "A schedule", rate_at, schedule_cases)

SCHEDULE.mistake(
    "starts at 0",
    "Your first step has the rate 0 and is lost. Step 0 is the first of the warm-up's steps: (step + 1) /"
    " warmup.",
    scheduled(up=lambda step, warmup: step / warmup),
)


@SCHEDULE.mistake(
    "warm-up one step too long",
    "At step `warmup` your rate rises above the peak. The warm-up's last step is warmup − 1: step < warmup,"
    " not <=.",
)
def warmed_once_more(step, peak, steps, warmup, floor):
    return peak * (step + 1) / warmup if 0 < step == warmup else rate_at(step, peak, steps, warmup, floor)


SCHEDULE.mistake(
    "falls from step 0",
    "Your cosine counts from step 0. It begins where the warm-up ends, at `warmup`.",
    scheduled(start=0),
)
SCHEDULE.mistake(
    "a whole cosine",
    "Your rate comes up again at the end. Half a cosine goes from 0 to π, not to 2π.",
    scheduled(down=lambda a: (1 + math.cos(2 * math.pi * a)) / 2),
)
SCHEDULE.mistake(
    "a quarter of a cosine",
    "Your rate falls slowly at first and fast at the end. Use (1 + cos(π a)) / 2, which ends as gently as it"
    " begins.",
    scheduled(down=lambda a: math.cos(math.pi * a / 2)),
)
SCHEDULE.mistake(
    "a straight line down",
    "Your rate falls in a straight line. Half a cosine is (1 + cos(π a)) / 2.",
    scheduled(down=lambda a: 1 - a),
)
SCHEDULE.mistake(
    "not halved",
    "1 + cos goes from 2 to 0. Halve it, so that it goes from 1 to 0.",
    scheduled(down=lambda a: 1 + math.cos(math.pi * a)),
)


@SCHEDULE.mistake(
    "floor added on top",
    "You added the floor to a fall from the peak to 0, so that it starts above the peak. It falls by peak −"
    " floor.",
)
def floor_added(step, peak, steps, warmup, floor):
    return rate_at(step, peak, steps, warmup, 0.0) + (floor if step >= warmup else 0)


@SCHEDULE.mistake(
    "cut off at the floor",
    "Your rate falls towards 0 and is cut off at the floor. It should fall by peak − floor only, so that it"
    " comes down to the floor at the very end.",
)
def cut_off(step, peak, steps, warmup, floor):
    rate = rate_at(step, peak, steps, warmup, 0.0)
    return rate if step < warmup else max(floor, rate)


SCHEDULE.mistake(
    "floor forgotten",
    "Your rate falls to 0. It should fall to the floor.",
    lambda step, peak, steps, warmup, floor: rate_at(step, peak, steps, warmup, 0.0),
)
