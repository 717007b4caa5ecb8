"""Assignment 6: masks."""

import numpy as np

from plaincourse.exercises import Exercise, Property, the_value
from plainformer.activations import softmax
from plainformer.attention import attention, causal_mask
from plainformer.seq2seq import padding_mask
from plaingrader.questions import variants

mine = variants("08_masks")


# ---- q1: two new tokens


def two_new(values, real):
    return averages(values, causal_mask(2, 6) & real)


def averages(values, mask):
    """What queries read whose scores are all 0."""
    return attention(np.zeros((len(mask), 4)), np.zeros((len(values), 4)), values[:, None], mask)[:, 0]


def averaged_under(mask_of):
    return lambda values, real: averages(values, mask_of(real))


def divided_by(count):
    """The sum of the right values, divided by another number."""
    return lambda values, real: (causal_mask(2, 6) & real) @ values / count


Q1 = Exercise(
    "q1",
    "Two new tokens",
    answer="q1",
    reference=two_new,
    cases=the_value(3, mine.q1),
    tolerance=3e-4,
    by_hand=True,
)

Q1.mistake(
    "triangle in the wrong corner",
    "You let the two new tokens stand at the beginning of the text. They are its last two.",
    averaged_under(lambda real: np.tril(np.ones((2, 6), dtype=bool)) & real),
)
Q1.mistake(
    "padding read",
    "You mixed in the values of the padding. Nobody looks at it.",
    averaged_under(lambda real: causal_mask(2, 6)),
)
Q1.mistake(
    "both see all",
    "The first of the two has read the second, which comes after it.",
    averaged_under(lambda real: np.stack([real, real])),
)
Q1.mistake(
    "not themselves",
    "You left out the token's own value. A token may look at itself.",
    averaged_under(lambda real: np.tril(np.ones((2, 6), dtype=bool), k=3) & real),
)
Q1.mistake(
    "divided by all keys",
    "You divided by the number of all keys. The weights of a row are shared by those that may be looked at.",
    divided_by(6),
)
Q1.mistake(
    "hidden after softmax",
    "You gave the padding a share of the weights and dropped it then. What is hidden gets no share.",
    divided_by(np.array([5, 6])),
)


# ---- q2: counting the yes


def masks_of(source, target):
    """The masks of all pairs: of the encoder, of the decoder, and across."""
    S, T = max(source), max(target)
    from_source, from_target = np.arange(S) < source[:, None], np.arange(T) < target[:, None]
    return (
        padding_mask(from_source, S),
        causal_mask(T) & padding_mask(from_target, T),
        padding_mask(from_source, T),
    )


def counted(source, target):
    return np.array([mask.sum() for mask in masks_of(source, target)])


def counted_under(change):
    """The number of yes after a change of the three masks, which gets the real queries of source and target
    as well.
    """

    def answer(source, target):
        from_source, from_target = (
            np.arange(max(lengths)) < lengths[:, None] for lengths in (source, target)
        )
        return np.array(
            [
                mask.sum()
                for mask in change(*masks_of(source, target), from_source[..., None], from_target[..., None])
            ]
        )

    return answer


def everything(mask):
    return np.ones_like(mask)


Q2 = Exercise(
    "q2", "Counting the yes", answer="q2", reference=counted, cases=the_value(3, mine.q2), by_hand=True
)

Q2.mistake(
    "padding does not ask",
    "You counted the rows of real tokens alone. The padding's own rows stand in the masks as well, and look"
    " at real tokens.",
    counted_under(lambda read, write, across, s, t: (read & s, write & t, across & t)),
)
Q2.mistake(
    "padding not hidden",
    "You counted looks at the padding. Its columns hold no yes.",
    counted_under(
        lambda read, write, across, s, t: (
            everything(read),
            everything(write) & causal_mask(t.shape[1]),
            everything(across),
        )
    ),
)
Q2.mistake(
    "no diagonal",
    "Your decoder's tokens do not look at themselves. They may.",
    counted_under(lambda read, write, across, s, t: (read, write & ~np.eye(t.shape[1], dtype=bool), across)),
)
Q2.mistake(
    "decoder sees ahead",
    "Your decoder's tokens look at later ones. Its mask is causal.",
    counted_under(lambda read, write, across, s, t: (read, padding_mask(t[..., 0], t.shape[1]), across)),
)
Q2.mistake(
    "triangle across",
    "You put a triangle into the look across. The source is there from the start: all of it may be read.",
    counted_under(lambda read, write, across, s, t: (read, write, np.tril(across))),
)


# ---- q3, q5: who depends on whom


def reached(masks):
    depends = np.eye(masks.shape[-1], dtype=bool)
    for mask in masks:
        depends = depends | mask @ depends
    return depends


def who_depends(masks):
    return reached(masks).astype(int)


def moved(mask, token):
    return np.array([who_depends(np.array([mask > 0] * layers))[:, token] for layers in (1, 2)])


Q3 = Exercise("q3", "Two layers", answer="q3", reference=moved, cases=the_value(3, mine.q3), by_hand=True)

Q3.mistake(
    "row for column",
    "You went along the row of the changed token: what it looks at. Its column says who looks at it.",
    lambda mask, token: moved(mask.T, token),
)
Q3.mistake(
    "one layer twice",
    "Your second row is the first again. In the second layer others read those that have moved already.",
    lambda mask, token: moved(mask, token)[[0, 0]],
)
Q3.mistake(
    "new ones only",
    "In your second row those are missing that moved after the first layer. They still do.",
    lambda mask, token: moved(mask, token) * [[1] * 6, 1 - moved(mask, token)[0]],
)
Q3.mistake(
    "not itself",
    "The changed token itself moves too: it may look at itself, and is added to what it reads.",
    lambda mask, token: moved(mask, token) * (np.arange(6) != token),
)
Q3.mistake(
    "three layers",
    "Your second row goes one layer too far.",
    lambda mask, token: np.stack([moved(mask, token)[0], who_depends(np.array([mask > 0] * 3))[:, token]]),
)


def depends_by(one_layer):
    """The table of who depends on whom, where each layer adds to it in another way."""

    def answer(masks):
        depends = np.eye(masks.shape[-1], dtype=bool)
        for mask in masks:
            depends = one_layer(depends, mask)
        return depends.astype(int)

    return answer


def or_itself(mask):
    return (mask | np.eye(mask.shape[-1], dtype=bool)).astype(int)


def random_masks(rng, layers, T):
    return (rng.random((layers, T, T)) < 0.25,)


def several_layers(rng):
    """Two layers in which the order counts, then more, at random."""
    a, b, c = rng.permutation(4)[:3]
    chain = np.zeros((2, 4, 4), dtype=bool)
    chain[0, b, a] = chain[1, c, b] = True
    return [(chain,), random_masks(rng, 2, 5), random_masks(rng, 3, 6), random_masks(rng, 4, 7)]


Q5 = Exercise(
    "q5",
    "Who depends on whom",
    answer="who_depends",
    reference=who_depends,
    cases=(
        Property("one layer", 1, lambda rng: [random_masks(rng, 1, 4), random_masks(rng, 1, 6)]),
        Property("several layers", 3, several_layers),
    ),
)

Q5.mistake(
    "layers in the wrong order",
    "You went through the layers from the last to the first. What moved in an earlier layer is read in a"
    " later one.",
    lambda masks: who_depends(masks[::-1]),
)
Q5.mistake(
    "token itself forgotten",
    "Each layer adds to the token, so an output always depends on its own input, also where the mask says"
    " no.",
    depends_by(lambda depends, mask: mask @ depends),
)
Q5.mistake(
    "any of the masks",
    "You ask whether the one looks at the other in some layer. A third may stand between: it reads in one"
    " layer and is read in the next.",
    lambda masks: or_itself(masks.any(axis=0)),
)
Q5.mistake(
    "all of the masks",
    "You ask whether every layer lets the one look at the other. One look is enough.",
    lambda masks: or_itself(masks.all(axis=0)),
)
Q5.mistake(
    "last layer alone",
    "You look at the last mask alone. What its tokens read has been mixed by the layers before.",
    lambda masks: or_itself(masks[-1]),
)
Q5.mistake(
    "turned",
    "Your table is turned over: rows are outputs, columns are inputs.",
    lambda masks: who_depends(masks).T,
)


# ---- q4: several texts in one row


def packed_mask(text):
    same = text[..., :, None] == text[..., None, :]
    return (same & (text >= 0)[..., None, :] & causal_mask(text.shape[-1])).astype(int)


def packed(allowed=lambda asks, read: asks == read, padding=True, order=causal_mask):
    """The mask with something else in place of one of its three conditions."""

    def answer(text):
        mask = allowed(text[..., :, None], text[..., None, :]) & order(text.shape[-1])
        return (mask & (text >= 0)[..., None, :] if padding else mask).astype(int)

    return answer


def row_of_texts(rng, lengths, filled=0):
    """The number of the text for each place; the texts are numbered in any order."""
    numbers = rng.permutation(len(lengths))
    return np.concatenate([np.repeat(numbers, lengths), np.full(filled, -1)])


def end_to_end(rng):
    lengths = rng.permutation([1, 2, 3])
    return [
        (row_of_texts(rng, lengths),),
        (np.repeat([1, 0], [2, 3]),),
        (np.repeat(np.arange(3), rng.permutation([1, 2, 4])),),
    ]


def with_padding(rng):
    return [
        (row_of_texts(rng, rng.permutation([2, 3]), 2),),
        (np.concatenate([[-1], row_of_texts(rng, [3, 1, 2], 3)]),),
    ]


def several_rows(rng):
    rows = [row_of_texts(rng, lengths, 7 - sum(lengths)) for lengths in ([3, 2], [1, 4, 2], [5])]
    return [(np.stack(rows),), (np.stack([rows, rows[::-1]]),)]


Q4 = Exercise(
    "q4",
    "Several texts in one row",
    answer="packed_mask",
    reference=packed_mask,
    cases=(
        Property("texts end to end", 2, end_to_end),
        Property("padding", 1, with_padding),
        Property("leading axes", 1, several_rows),
    ),
)

Q4.mistake(
    "texts not kept apart",
    "Your tokens look back into the texts before their own.",
    packed(lambda asks, read: (asks >= -1) & (read >= -1)),
)
Q4.mistake(
    "smaller numbers allowed",
    "Your tokens look at texts with smaller numbers. A number is a name here: it has to be the same.",
    packed(lambda asks, read: read <= asks),
)
Q4.mistake(
    "not causal",
    "Your tokens look ahead in their own text.",
    packed(order=lambda T: np.ones((T, T), dtype=bool)),
)
Q4.mistake(
    "not itself",
    "Your tokens do not look at themselves. They may.",
    packed(order=lambda T: np.tril(np.ones((T, T), dtype=bool), k=-1)),
)
Q4.mistake("padding is a text", "Your padding looks at padding. Nobody may.", packed(padding=False))
Q4.mistake(
    "turned over",
    "Your tokens look at themselves and at later ones. Rows are queries, columns are keys.",
    packed(order=lambda T: causal_mask(T).T),
)
Q4.mistake("yes for no", "Your 1 and 0 are exchanged. 1 means: may look.", lambda text: 1 - packed_mask(text))


# ---- q6: mend the hiding


def broken_masked_softmax(scores, mask):
    scores = scores + np.where(mask, 0.0, -10_000.0)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def masked_softmax(scores, mask):
    return softmax(np.where(mask, scores, -np.inf))


def plain_softmax(scores):
    """As it is written without thinking of a row of −∞."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def scored_rows(rng, leading, S, low):
    """Rows in which some scores are very low. In each of them a low one may be looked at, and the others may
    not; then a plain row.
    """
    scores = rng.integers(-4, 5, size=(*leading, 3, S)) / 2
    mask = rng.random(scores.shape) < 0.5
    mask[..., :2] = True  # a row needs two to divide
    mask[..., 2] = False
    scores[..., 2] += 1
    scores[..., 1] = scores[..., 0] + 1
    scores[..., :2, :] += np.where(mask[..., :2, :], low, 0.0)
    return scores, mask


def very_low(rng):
    return [
        scored_rows(rng, (), 4, -20_000.0),
        scored_rows(rng, (2,), 5, -3e9),
        scored_rows(rng, (), 6, -800.0),
    ]


def nothing_to_see(rng):
    cases = []
    for leading, S in (((), 4), ((2,), 5)):
        scores, mask = scored_rows(rng, leading, S, 0.0)
        mask[..., rng.integers(3), :] = False
        cases.append((scores, mask))
    return cases


Q6 = Exercise(
    "q6",
    "Hiding, mended",
    answer="masked_softmax",
    reference=masked_softmax,
    cases=(
        Property("very low scores", 2, very_low),
        Property("nothing to look at", 2, nothing_to_see),
    ),
    refuse=(
        "plainformer.activations.softmax",
        "plainformer.attention.attention_weights",
        "torch.softmax",
        "torch.nn.functional.softmax",
    ),
    handed_out=broken_masked_softmax,
)

Q6.mistake(
    "0 divided by 0",
    "Right, but for a query that may look at nothing: its row is NaN. It is to be zeros.",
    lambda scores, mask: plain_softmax(np.where(mask, scores, -np.inf)),
)
Q6.mistake(
    "another large number added",
    "A larger number only moves the fault: a score may be lower still. And a row without a yes still gets"
    " weights.",
    lambda scores, mask: plain_softmax(scores + np.where(mask, 0.0, -1e9)),
)
Q6.mistake(
    "another large number put in",
    "A number put in place of the score is not safe either: a score may be lower still. And a row without a"
    " yes still gets weights.",
    lambda scores, mask: plain_softmax(np.where(mask, scores, -1e9)),
)
Q6.mistake(
    "the lowest number there is",
    "Hidden scores are low enough now. A row without a yes still gets equal weights: it is to be zeros.",
    lambda scores, mask: plain_softmax(np.where(mask, scores, np.finfo(float).min)),
)


@Q6.mistake(
    "hidden after softmax",
    "You set weights to 0 after softmax, so that the rest of a row no longer adds up to 1.",
)
def hidden_after(scores, mask):
    return plain_softmax(scores) * mask


@Q6.mistake(
    "hidden after softmax and divided again",
    "With hidden scores far above the others, nothing is left after softmax, and you divide 0 by 0. Hide"
    " first.",
)
def hidden_after_and_divided(scores, mask):
    weights = hidden_after(scores, mask)
    return weights / weights.sum(axis=-1, keepdims=True)
