"""Assignment 11: training."""

import math

import numpy as np

from plaincourse.exercises import Exercise, Property, the_value
from plaingrader.questions import variants

mine = variants("13_training")


CROSS_ENTROPIES = (
    "plainformer.training.cross_entropy",
    "torch.nn.functional.cross_entropy",
    "torch.nn.CrossEntropyLoss",
)


def softmax(logits):
    """As the library's, without its checks: a thousand students are many calls."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


# ---- q1: the loss of a text


def loss_of_text(ids, table):
    return surprises_and_loss()(ids, table)


def surprises_and_loss(rows=slice(None, -1), answers=slice(1, None), reduce=np.mean, log=np.log):
    """The three surprises and what is made of them; the arguments are places where people go wrong."""

    def answer(ids, table):
        surprises = -log(table[np.arange(4)[rows], ids[answers]])[:3]
        return np.append(surprises, reduce(surprises))

    return answer


Q1 = Exercise(
    "q1",
    "The loss of a text",
    answer="q1",
    reference=loss_of_text,
    cases=(Property("the four numbers", 3, lambda rng: [mine.q1(rng)]),),
    tolerance=2e-4,
    by_hand=True,
)

Q1.mistake(
    "no shift",
    "You asked each row for the word that it has just read. It is asked for the one after it.",
    surprises_and_loss(slice(None), slice(None)),
)
Q1.mistake(
    "shift the wrong way",
    "You asked each row for the word before it. It is asked for the one after it.",
    surprises_and_loss(slice(1, None), slice(None, -1)),
)
Q1.mistake(
    "sum",
    "Your surprises are right, and you added them up. The loss is their mean.",
    surprises_and_loss(reduce=np.sum),
)
Q1.mistake(
    "divided by four",
    "Your surprises are right, and you divided by the number of words. The last word has no next one, so"
    " there is one guess less.",
    surprises_and_loss(reduce=lambda surprises: surprises.sum() / 4),
)
Q1.mistake(
    "bits",
    "You took logarithms to base 2. Nats need the natural one.",
    surprises_and_loss(log=np.log2),
)


# ---- q2: one step, seen from the logits


def after_step(x, W, came, rate):
    return x @ (W - rate * np.outer(x, slopes(x, W, came)))


def slopes(x, W, came):
    p = softmax(x @ W)
    p[came] -= 1
    return p


Q2 = Exercise(
    "q2",
    "One step, seen from the logits",
    answer="q2",
    reference=after_step,
    cases=(Property("the three logits", 3, lambda rng: [mine.q2(rng)]),),
    tolerance=2e-4,
    by_hand=True,
)

Q2.mistake(
    "uphill",
    "You went along the slopes, so the word that came has become less likely. Go against them.",
    lambda x, W, came, rate: after_step(x, W, came, -rate),
)
Q2.mistake(
    "the table forgotten",
    "You moved the logits by their own slopes. It is the table that moves, and x meets it once more on the"
    " way to the logits.",
    lambda x, W, came, rate: x @ W - rate * slopes(x, W, came),
)
Q2.mistake(
    "nothing came",
    "You used the probabilities alone, so all logits fall. Take 1 off at the word that came.",
    lambda x, W, came, rate: x @ W - rate * (x @ x) * softmax(x @ W),
)


@Q2.mistake(
    "only the word that came",
    "You moved one column of the table only. The other words were given probability too, and have to go"
    " down.",
)
def only_the_word(x, W, came, rate):
    move = slopes(x, W, came) * (np.arange(W.shape[1]) == came)
    return x @ W - rate * (x @ x) * move


# ---- q3: how low the loss can go


def coin(chance):
    return -chance * math.log(chance) - (1 - chance) * math.log(1 - chance)


def floor(subjects, objects, adverbs, chance):
    return floor_with()(subjects, objects, adverbs, chance)


def floor_with(toss=coin, share=lambda chance: chance, questions=5, log=math.log):
    """The floor with another coin, another weight of the adverbs, another number of questions, or another
    logarithm.
    """

    def answer(subjects, objects, adverbs, chance):
        nats = log(subjects) + log(objects) + toss(chance) * log(math.e) + share(chance) * log(adverbs)
        return nats / questions

    return answer


Q3 = Exercise(
    "q3",
    "How low the loss can go",
    answer="q3",
    reference=floor,
    cases=the_value(3, mine.q3),
    tolerance=2e-4,
    by_hand=True,
)

Q3.mistake(
    "an adverb every time",
    "You counted the choice of the adverb in full. It is made only when there is one, so weigh it by its"
    " chance.",
    floor_with(share=lambda chance: 1.0),
)
Q3.mistake(
    "a fair coin",
    "You counted log 2 for the coin. A coin that mostly falls on one side surprises less.",
    floor_with(toss=lambda chance: math.log(2)),
)
Q3.mistake(
    "no coin",
    "Whether an adverb comes is a surprise as well, before the choice among the adverbs.",
    floor_with(toss=lambda chance: 0.0),
)
Q3.mistake(
    "divided by six",
    "You divided by the places. The first word is no answer, so there is one question less.",
    floor_with(questions=6),
)
Q3.mistake(
    "sum",
    "This is the surprise of a whole sentence. The loss is the mean over its questions.",
    floor_with(questions=1),
)
Q3.mistake("bits", "You took logarithms to base 2. Nats need the natural one.", floor_with(log=math.log2))


# ---- q4: two steps of AdamW


def two_steps(weight, first, second, rate, decay):
    return adamw()(weight, first, second, rate, decay)


def adamw(correct=lambda beta, t: 1 - beta**t, root=np.sqrt, shrink=True, into_slope=False, b1=0.5, b2=0.5):
    """Two steps; the arguments are places where people go wrong."""

    def answer(weight, first, second, rate, decay):
        w, m, v, path = weight, 0.0, 0.0, []
        for t, g in enumerate((first, second), start=1):
            g = g + decay * w if into_slope else g
            m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
            w = w - rate * decay * w if shrink else w
            w = w - rate * (m / correct(b1, t)) / root(v / correct(b2, t))
            path.append(w)
        return np.array(path)

    return answer


Q4 = Exercise(
    "q4",
    "Two steps of AdamW",
    answer="q4",
    reference=two_steps,
    cases=(Property("the two weights", 3, lambda rng: [mine.q4(rng)]),),
    tolerance=2e-4,
    by_hand=True,
)

Q4.mistake(
    "no correction",
    "You used the running means as they are. They start at 0 and are too small at first: divide by 1 − βᵗ.",
    adamw(correct=lambda beta, t: 1.0),
)
Q4.mistake(
    "the first correction twice",
    "In the second step you divided by 1 − β again. The power counts the steps: it is β squared there.",
    adamw(correct=lambda beta, t: 1 - beta),
)
Q4.mistake("no root", "You divided by v. Divide by its root.", adamw(root=lambda v: v))
Q4.mistake(
    "no decay",
    "The weight decay is missing: each step also takes off rate · decay · w.",
    adamw(shrink=False),
)
Q4.mistake(
    "decay in the slope",
    "You added the decay to the slope, as Adam without the W does. AdamW shrinks the weight itself.",
    adamw(shrink=False, into_slope=True),
)


# ---- q5: a batch with padding


def padded_loss(logits, ids, lengths):
    return np.concatenate(surprises(logits, ids, lengths)).mean()


def surprises(logits, ids, lengths, guesses=slice(None, -1), answers=slice(1, None), more=0):
    """For each text the surprises of its answers; with more = 1 the first filler counts as a word."""
    found = []
    for z, row, length in zip(logits, ids, lengths, strict=True):
        z, row = z[: length + more], row[: length + more]
        p = softmax(z)[guesses]
        found.append(-np.log(p[range(len(p)), row[answers]]))
    return found


def batch(rng, lengths, width, words):
    """Texts whose next word is never the word itself, filled up with the id 0; no text is as long as the
    batch is wide.
    """
    ids = (
        rng.integers(0, words, size=(len(lengths), 1))
        + np.cumsum(rng.integers(1, words, size=(len(lengths), width)), axis=1)
    ) % words
    ids[np.arange(width) >= np.array(lengths)[:, None]] = 0
    return 2 * rng.normal(size=(len(lengths), width, words)), ids, np.array(lengths)


Q5 = Exercise(
    "q5",
    "Texts of different lengths",
    answer="padded_loss",
    reference=padded_loss,
    cases=(
        Property("one text", 1, lambda rng: [batch(rng, (3,), 6, 4)]),
        Property("several texts", 3, lambda rng: [batch(rng, (2, 5), 7, 6), batch(rng, (6, 2, 3), 8, 5)]),
    ),
    refuse=CROSS_ENTROPIES,
)


@Q5.mistake(
    "padding counted",
    "You count the filled-up places as words. Only the first `length` ids of a text are its own.",
)
def padding_counted(logits, ids, lengths):
    return padded_loss(logits, ids, [ids.shape[1]] * len(ids))


Q5.mistake(
    "mean of means",
    "You took the mean of each text, and then the mean of those. So a word of a short text counts more. All"
    " words count alike.",
    lambda logits, ids, lengths: np.mean([s.mean() for s in surprises(logits, ids, lengths)]),
)
Q5.mistake(
    "first filler counted",
    "You ask the last word of each text for the one after it, which is a filler. It has no next word.",
    lambda logits, ids, lengths: np.concatenate(surprises(logits, ids, lengths, more=1)).mean(),
)
Q5.mistake(
    "no shift",
    "You ask each position for the word that it has just read. It is asked for the next one.",
    lambda logits, ids, lengths: np.concatenate(
        surprises(logits, ids, lengths, slice(None), slice(None))
    ).mean(),
)
Q5.mistake(
    "sum",
    "You added the surprises up. The loss is their mean.",
    lambda logits, ids, lengths: np.concatenate(surprises(logits, ids, lengths)).sum(),
)
Q5.mistake(
    "divided by the words",
    "You divided by the number of words. The first word of a text is no answer, so each text has one answer"
    " less than words.",
    lambda logits, ids, lengths: np.concatenate(surprises(logits, ids, lengths)).sum() / np.sum(lengths),
)


# ---- q6: all slopes clipped together


def clipped_together(gradients, limit):
    row = np.concatenate([table.ravel() for table in gradients])
    return row * min(1.0, limit / np.sqrt(row @ row))


def shortened(length, always=False):
    """The row, shortened by another notion of its length."""

    def answer(gradients, limit):
        row = np.concatenate([table.ravel() for table in gradients])
        share = limit / length(gradients, row)
        return row * (share if always else min(1.0, share))

    return answer


def euclidean(gradients, row):
    return np.linalg.norm(row)


def tables(rng, *shapes):
    return tuple(rng.normal(size=shape) for shape in shapes)


def long_cases(rng):
    """Slopes of several sizes; each table is too long by itself."""
    return [
        (tables(rng, (3, 4), (4,), (4, 2)), 0.3),
        (tuple(10 * table for table in tables(rng, (2, 5), (5, 3))), 1.0),
    ]


def short_cases(rng):
    """Slopes that are short enough, and slopes that are only so one table at a time."""
    small = tables(rng, (3, 2), (2,), (2, 4))
    even = [table / np.linalg.norm(table) for table in tables(rng, (2, 3), (4,), (3, 3))]
    return [(small, 50.0), (tuple(0.8 * table for table in even), 1.0)]


Q6 = Exercise(
    "q6",
    "All slopes clipped together",
    answer="clipped_together",
    reference=clipped_together,
    cases=(
        Property("too long a gradient", 2, long_cases),
        Property("short, and short one table at a time", 2, short_cases),
    ),
    tolerance=1e-5,  # PyTorch adds a millionth to the length
    refuse=(
        "torch.nn.utils.clip_grad_norm_",
        "torch.nn.utils.clip_grad.clip_grad_norm_",
        "torch.nn.utils.get_total_norm",
    ),
)


@Q6.mistake(
    "each table alone",
    "You shortened each table by itself. That changes the direction: take the length of all slopes together,"
    " and one factor for all.",
)
def each_alone(gradients, limit):
    return np.concatenate([clipped_together((table,), limit) for table in gradients])


Q6.mistake(
    "always to the limit",
    "You stretched a short gradient to the limit. A gradient that is short enough stays as it is.",
    shortened(euclidean, True),
)
Q6.mistake(
    "sum of the lengths",
    "You added the lengths of the tables. Put all slopes into one long row, and take its length.",
    shortened(lambda gradients, row: sum(np.linalg.norm(table) for table in gradients)),
)
Q6.mistake(
    "no root",
    "You divided by the sum of the squares. A length is its root.",
    shortened(lambda gradients, row: row @ row),
)
Q6.mistake(
    "absolute values",
    "You took the sum of the absolute values for the length. The length is the root of the sum of the"
    " squares.",
    shortened(lambda gradients, row: np.abs(row).sum()),
)
Q6.mistake(
    "slope by slope",
    "You cut off each slope at the limit. The whole row is to be shortened, by one factor.",
    lambda gradients, limit: np.clip(np.concatenate([table.ravel() for table in gradients]), -limit, limit),
)


# ---- q7: the slopes of a text


def text_slopes(logits, ids):
    return slopes_with()(logits, ids)


def slopes_with(
    rows=lambda length: length - 1, answers=lambda ids: ids[1:], last=False, guessed=True, sign=1
):
    """The slopes of the logits, with another divisor, other answers, or a part left out."""

    def answer(logits, ids):
        p = softmax(logits)
        wanted = answers(ids)
        came = np.zeros_like(p)
        came[range(len(wanted)), wanted] = 1
        out = sign * (guessed * p - came) / rows(len(ids))
        out[len(wanted) :] = p[len(wanted) :] / rows(len(ids)) if last else 0
        return out

    return answer


def text_case(rng, length, words):
    """A text in which no word follows itself."""
    ids = (rng.integers(0, words) + np.cumsum(rng.integers(1, words, size=length))) % words
    return rng.normal(size=(length, words)), ids


def large_case(rng, length, words):
    """Logits too large for exp, and sure of a word that does not come."""
    logits, ids = text_case(rng, length, words)
    logits[range(length - 1), ids[1:]] = -3
    return 300 * logits, ids


Q7 = Exercise(
    "q7",
    "The slopes of a text",
    answer="text_slopes",
    reference=text_slopes,
    cases=(
        Property("a text of two words", 1, lambda rng: [text_case(rng, 2, 5)]),
        Property("longer texts", 2, lambda rng: [text_case(rng, 4, 3), text_case(rng, 6, 8)]),
        Property("large logits", 1, lambda rng: [large_case(rng, 3, 4)]),
    ),
    refuse=CROSS_ENTROPIES,
)

Q7.mistake(
    "not divided",
    "These are the slopes of the sum of the surprises. The loss is their mean, so each slope is smaller.",
    slopes_with(rows=lambda length: 1),
)
Q7.mistake(
    "divided by T",
    "You divided by the number of words. The mean is over the guesses, of which there is one less.",
    slopes_with(rows=lambda length: length),
)
Q7.mistake(
    "last row not zero",
    "Your last row has slopes. Nobody asks it for a next word, so its logits do not change the loss.",
    slopes_with(last=True),
)
Q7.mistake(
    "no shift",
    "You take the 1 off at the word that was read. Take it off at the next one.",
    slopes_with(answers=lambda ids: ids[:-1]),
)
Q7.mistake(
    "no shift, all rows",
    "You take the 1 off at the word that was read, in all T rows. A row is asked for the next word, and the"
    " last one for none.",
    slopes_with(rows=lambda length: length, answers=lambda ids: ids),
)
Q7.mistake("uphill", "Your signs are turned round: what you gave, less what came.", slopes_with(sign=-1))
Q7.mistake(
    "only what came",
    "Your slopes are those of the words that came. All words were given probability, and have a slope.",
    slopes_with(guessed=False),
)


# ---- q8: mend the training loop


def losses(W, x, came, rate, steps):
    return training()(W, x, came, rate, steps)


def training(late=False, total=False, sign=1):
    """The loop; the arguments are places where people go wrong."""

    def answer(W, x, came, rate, steps):
        found = []
        for _ in range(steps + late):
            p = softmax(x @ W)
            found.append(-np.log(p[range(len(came)), came]).mean())
            p[range(len(came)), came] -= 1
            W = W - sign * rate * x.T @ p / (1 if total else len(came))
        return np.array(found[late:])

    return answer


def broken_losses(W, x, came, rate, steps):
    rows, losses, W = np.arange(len(came)), [], W.copy()
    gradient = np.zeros_like(W)
    for _ in range(steps):
        powers = np.exp(x @ W)
        p = powers / powers.sum(axis=1, keepdims=True)
        losses.append(-np.log(p[rows, came]).mean())
        p[rows, came] -= 1
        gradient += x.T @ p / len(came)
        W -= rate * gradient
    return np.array(losses)


def examples(rng, count, width, words, steps, rate=0.5):
    return (
        rng.normal(size=(width, words)),
        rng.normal(size=(count, width)),
        rng.integers(0, words, size=count),
        rate,
        steps,
    )


Q8 = Exercise(
    "q8",
    "The training loop, mended",
    answer="losses",
    reference=losses,
    cases=(
        Property("a few steps", 2, lambda rng: [examples(rng, 3, 2, 4, 3)]),
        Property("more steps", 1, lambda rng: [examples(rng, 4, 3, 2, 6, rate=0.3)]),
    ),
    handed_out=broken_losses,
)

Q8.mistake(
    "losses after the step",
    "Your losses are those after each step. Note the loss of the weights that the step starts from.",
    training(late=True),
)
Q8.mistake(
    "sum of slopes",
    "You added the slopes of the examples. The loss is a mean, and so are its slopes.",
    training(total=True),
)
Q8.mistake("uphill", "You went along the slopes, so the loss rises. Go against them.", training(sign=-1))
