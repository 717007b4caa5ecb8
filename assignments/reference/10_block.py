"""Assignment 8: the block."""

import numpy as np

from plaincourse.exercises import Exercise, Property, the_value
from plainformer import gpt2
from plainformer.activations import relu
from plainformer.attention import Attention, causal_mask, multi_head_attention
from plainformer.linear import Linear
from plainformer.mlp import MLP, SwiGLU, swiglu
from plainformer.normalization import LayerNorm, rms_norm
from plaingrader.questions import variants

mine = variants("10_block")


# ---- q1: how many numbers there are on the way


def sizes(tokens, heads, width, vocabulary):
    return np.array(
        [tokens * width, tokens * width // heads, heads * tokens**2, tokens * 4 * width, tokens * vocabulary]
    )


def sizes_with(**changes):
    """The sizes with some of them replaced, by place: a function (tokens, heads, width, vocabulary) each."""

    def answer(*settings):
        result = sizes(*settings)
        for place, change in changes.items():
            result[int(place[1:])] = change(*settings)
        return result

    return answer


Q1 = Exercise(
    "q1",
    "How many numbers on the way",
    answer="q1",
    reference=sizes,
    cases=the_value(3, mine.q1),
    by_hand=True,
)

Q1.mistake(
    "width for each head",
    "You give every head queries of the full width. The heads share it: together their queries have as many"
    " numbers as the stream.",
    sizes_with(_0=lambda t, h, e, v: h * t * e),
)
Q1.mistake(
    "keys as wide as the token",
    "One head's keys are not as wide as a token. A head has its share of the width.",
    sizes_with(_1=lambda t, h, e, v: t * e),
)
Q1.mistake(
    "scores of one head",
    "You counted one table of scores. Each head has a table of its own.",
    sizes_with(_2=lambda t, h, e, v: t * t),
)
Q1.mistake(
    "scores of a causal text",
    "You counted only what the mask lets through. The table has a place for every pair, also where −∞"
    " stands.",
    sizes_with(_2=lambda t, h, e, v: h * t * (t + 1) // 2),
)
Q1.mistake(
    "not widened",
    "Inside the MLP a token is wider than outside: GPT-2 takes four times the width.",
    sizes_with(_3=lambda t, h, e, v: t * e),
)
Q1.mistake(
    "logits of the last row",
    "You counted one row of logits. The question scores every position, as in training.",
    sizes_with(_4=lambda t, h, e, v: v),
)


# ---- q2: another model's parameters


def counts(
    vocabulary,
    context,
    width,
    hidden,
    layers,
    norm=1,
    bias=0,
    head=True,
    norms=2,
    last=1,
    positions=True,
    times=None,
):
    """One block, all outside the blocks, the whole. The settings after the fifth make the mistakes."""
    norm *= width
    block = 4 * width**2 + 2 * width * hidden + bias * (5 * width + hidden) + norms * norm
    outside = vocabulary * width * (1 + head) + context * width * positions + last * norm
    return np.array([block, outside, (times or layers) * block + outside])


def right_counts(vocabulary, context, width, hidden, layers):
    return counts(vocabulary, context, width, hidden, layers)


def counts_with(**settings):
    return lambda vocabulary, context, width, hidden, layers: counts(
        vocabulary, context, width, hidden, layers, **settings
    )


Q2 = Exercise(
    "q2",
    "Another model's parameters",
    answer="q2",
    reference=right_counts,
    cases=the_value(4, mine.q2),
    by_hand=True,
)

Q2.mistake(
    "head not counted",
    "You left the output projection out, as in GPT-2. This model's head is not tied: it is a table of its"
    " own.",
    counts_with(head=False),
)
Q2.mistake(
    "norms with a bias",
    "You gave each norm a gain and a bias. An RMSNorm has a gain only.",
    counts_with(norm=2),
)
Q2.mistake(
    "maps with biases",
    "You counted the biases of the maps. This model has none.",
    counts_with(bias=1),
)
Q2.mistake(
    "one norm in a block",
    "A block has two norms, one before attention and one before the MLP.",
    counts_with(norms=1),
)
Q2.mistake(
    "last norm forgotten",
    "The blocks are right. Outside of them one more norm stands after the last block.",
    counts_with(last=0),
)
Q2.mistake(
    "positions forgotten",
    "Outside the blocks the position table is missing: one row for each place.",
    counts_with(positions=False),
)
Q2.mistake(
    "one block in the whole",
    "Your first two numbers are right. The whole has all the blocks, not one.",
    counts_with(times=1),
)
Q2.mistake(
    "four times the width",
    "You made the MLP four times as wide as the token, as in GPT-2. This model has its own hidden width.",
    lambda vocabulary, context, width, hidden, layers: counts(vocabulary, context, width, 4 * width, layers),
)


# ---- q3: a parallel block with a pencil


def plain_norm(x):
    return rms_norm(x, np.ones(x.shape[-1]), 0.0)


def look_back(rows):
    return np.array([rows[0], rows.mean(axis=0)])


def parallel_block(x, up, down):
    normed = plain_norm(x)
    return x + look_back(normed) + relu(normed @ up) @ down


Q3 = Exercise(
    "q3",
    "A parallel block with a pencil",
    answer="q3",
    reference=parallel_block,
    cases=the_value(4, mine.q3),
    tolerance=1e-6,
    by_hand=True,
)


@Q3.mistake(
    "one after the other",
    "This is the block of the chapter: your MLP reads the stream with what was read in it. Here both halves"
    " read the same normed rows.",
)
def serial_block(x, up, down):
    x = x + look_back(plain_norm(x))
    return x + relu(plain_norm(x) @ up) @ down


@Q3.mistake("looking ahead", "Your first token reads the second one. It may look at itself only.")
def looking_ahead(x, up, down):
    normed = plain_norm(x)
    return x + normed.mean(axis=0) + relu(normed @ up) @ down


@Q3.mistake(
    "stream normed",
    "Both answers are right. You added them to the normed rows: add them to x, which was not normed.",
)
def overwritten(x, up, down):
    return parallel_block(x, up, down) - x + plain_norm(x)


@Q3.mistake("no norm", "Attention and MLP got x as it is. They read the normed rows.")
def answers_of(x, up, down):
    return x + look_back(x) + relu(x @ up) @ down


@Q3.mistake(
    "no bend",
    "You left the negative hidden numbers as they are. ReLU makes them 0 before the second table.",
)
def unbent(x, up, down):
    normed = plain_norm(x)
    return x + look_back(normed) + normed @ up @ down


# ---- q4: a block with four norms


def sandwich_block(x, gains, attention, swiglu_tables, heads, eps):
    mask = causal_mask(x.shape[-2])
    x = x + rms_norm(multi_head_attention(rms_norm(x, gains[0], eps), attention, heads, mask), gains[1], eps)
    return x + rms_norm(swiglu(rms_norm(x, gains[2], eps), swiglu_tables), gains[3], eps)


def sandwich_by(rule, causal=True, always=None):
    """The function with another rule (x, norms, read, think) -> stream; always: an eps that stands in for the
    argument.
    """

    def answer(x, gains, attention, tables, heads, eps):
        mask = causal_mask(x.shape[-2]) if causal else None
        small = eps if always is None else always
        norms = [lambda rows, gain=gain: rms_norm(rows, gain, small) for gain in gains]
        return rule(
            x,
            norms,
            lambda rows: multi_head_attention(rows, attention, heads, mask),
            lambda rows: swiglu(rows, tables),
        )

    return answer


def as_asked(x, norms, read, think):
    x = x + norms[1](read(norms[0](x)))
    return x + norms[3](think(norms[2](x)))


def sum_normed(x, norms, read, think):
    x = norms[1](x + read(norms[0](x)))
    return norms[3](x + think(norms[2](x)))


def two_norms(x, norms, read, think):
    x = x + read(norms[0](x))
    return x + think(norms[2](x))


def stream_normed(x, norms, read, think):
    x = norms[0](x)
    x = norms[2](x + norms[1](read(x)))
    return x + norms[3](think(x))


def side_by_side(x, norms, read, think):
    return x + norms[1](read(norms[0](x))) + norms[3](think(norms[2](x)))


def sandwich_case(rng, leading, tokens, heads, width, hidden, eps=1e-5):
    e, tables = heads * width, rng.normal(size=(4, heads * width, heads * width)) / 2
    gated = SwiGLU(*rng.normal(size=(2, e, hidden)), rng.normal(size=(hidden, e)))
    return (
        rng.normal(size=(*leading, tokens, e)),
        rng.uniform(0.5, 2.0, size=(4, e)),
        Attention(*map(Linear, tables)),
        gated,
        heads,
        eps,
    )


Q4 = Exercise(
    "q4",
    "A block with four norms",
    answer="sandwich_block",
    reference=sandwich_block,
    cases=(
        Property("one text", 3, lambda rng: [sandwich_case(rng, (), 3, 2, 2, 5)]),
        Property("several texts at once", 1, lambda rng: [sandwich_case(rng, (2,), 4, 3, 2, 5, eps=0.05)]),
    ),
)

Q4.mistake(
    "sums normed",
    "You norm the sums. The second norm of each half belongs to the answer alone, before it is added.",
    sandwich_by(sum_normed),
)
Q4.mistake(
    "two norms",
    "This is the usual pre-norm block. Here each answer is normed, too, before it is added.",
    sandwich_by(two_norms),
)
Q4.mistake(
    "gains in another order",
    "Your second and third gains are exchanged. They come in the order in which a token meets them.",
    sandwich_by(lambda x, norms, read, think: as_asked(x, [norms[i] for i in (0, 2, 1, 3)], read, think)),
)
Q4.mistake(
    "looking ahead",
    "Your tokens read what comes after them. The block is causal: give attention its mask.",
    sandwich_by(as_asked, causal=False),
)
Q4.mistake(
    "stream overwritten",
    "The stream itself is normed in your block. Norm a copy for attention and MLP to read, and add to the"
    " stream as it was.",
    sandwich_by(stream_normed),
)
Q4.mistake(
    "MLP reads the old stream",
    "Your MLP reads the x that came in. It reads the stream after the first sum.",
    sandwich_by(side_by_side),
)
Q4.mistake(
    "eps left at its default",
    "Your norms take the eps that the library takes by default. Hand the one that your function gets to each"
    " of the four.",
    sandwich_by(as_asked, always=1e-5),
)


# ---- q5: the work of one word


def multiplications(tokens, width, hidden, vocabulary, layers):
    block = 4 * tokens * width**2 + 2 * tokens**2 * width + 2 * tokens * width * hidden
    return layers * block + width * vocabulary


def work_off_by(extra):
    """The count, wrong by `extra(tokens, width, hidden, vocabulary, layers)`."""

    def answer(tokens, width, hidden, vocabulary, layers):
        settings = (tokens, width, hidden, vocabulary, layers)
        return multiplications(*settings) + extra(*settings)

    return answer


def work_cases(rng, layers):
    tokens, width, hidden, vocabulary = (int(rng.integers(low, 2 * low)) for low in (3, 8, 20, 50))
    return tokens, width, hidden + (hidden == 4 * width), vocabulary, layers


Q5 = Exercise(
    "q5",
    "The work of one word",
    answer="multiplications",
    reference=multiplications,
    cases=(
        Property("no blocks at all", 1, lambda rng: [work_cases(rng, 0)]),
        Property(
            "whole models",
            2,
            lambda rng: [
                (6, 768, 3072, 50_257, 12),
                work_cases(rng, 1),
                work_cases(rng, int(rng.integers(2, 6))),
            ],
        ),
    ),
)

Q5.mistake(
    "all positions scored",
    "You score every position. For one new word only the last row meets the output projection.",
    work_off_by(lambda t, e, f, v, n: (t - 1) * e * v),
)
Q5.mistake(
    "scores forgotten",
    "You count the tables that were learnt. Attention also multiplies queries with keys, and weights with"
    " values.",
    work_off_by(lambda t, e, f, v, n: -2 * t * t * e * n),
)
Q5.mistake(
    "scores or mixing",
    "Two things grow with the square of the text: the scores, and the mixing of the values. One of them is"
    " missing.",
    work_off_by(lambda t, e, f, v, n: -t * t * e * n),
)
Q5.mistake(
    "half the scores",
    "You left out what the mask hides. The question counts the whole table.",
    work_off_by(lambda t, e, f, v, n: (t * (t + 1) - 2 * t * t) * e * n),
)
Q5.mistake(
    "output map forgotten",
    "Attention has a fourth table: the output map that mixes the heads.",
    work_off_by(lambda t, e, f, v, n: -t * e * e * n),
)
Q5.mistake(
    "one table in the MLP",
    "The MLP multiplies twice: on the way up and on the way down.",
    work_off_by(lambda t, e, f, v, n: -t * e * f * n),
)
Q5.mistake(
    "four times the width",
    "You made the MLP four times as wide as the token, as in GPT-2. How wide it is, `hidden` says.",
    lambda tokens, width, hidden, vocabulary, layers: multiplications(
        tokens, width, 4 * width, vocabulary, layers
    ),
)
Q5.mistake(
    "parameters",
    "You counted the numbers in the tables. Every token of the text meets each of them.",
    lambda tokens, width, hidden, vocabulary, layers: (
        layers * (4 * width**2 + 2 * width * hidden) + width * vocabulary
    ),
)


# ---- q6: the logits on the way


def plain_layer_norm(x, norm, eps, centre=1):
    x = x - centre * x.mean(-1, keepdims=True)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * norm.gain + norm.bias


def read_back(x, a, heads, may_look):
    """Attention in plain NumPy: the library's checks of shapes would take most of the time of a thousand
    trials.
    """
    q, k, v = ((x @ table + bias).reshape(len(x), heads, -1).swapaxes(0, 1) for table, bias in a[:3])
    powers = np.exp(q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1])) * may_look
    mixed = powers / powers.sum(-1, keepdims=True) @ v
    return mixed.swapaxes(0, 1).reshape(x.shape) @ a.output.weight + a.output.bias


def lens_by(last=True, causal=True, places=True, start=True, eps=None, centre=1):
    """The logits after each block; the settings make the mistakes."""

    def answer(ids, model):
        small = model.config.eps if eps is None else eps
        may_look = np.tri(len(ids)) if causal else 1
        x = model.embedding[ids] + places * model.positions[: len(ids)]
        streams = [x]
        for block in model.blocks:
            x = x + read_back(
                plain_layer_norm(x, block.attention_norm, small, centre),
                block.attention,
                model.config.heads,
                may_look,
            )
            (up, up_bias), (down, down_bias) = block.mlp
            x = x + bent(plain_layer_norm(x, block.mlp_norm, small, centre) @ up + up_bias) @ down + down_bias
            streams.append(x)
        streams = np.array(streams if start else streams[1:])
        normed = plain_layer_norm(streams, model.norm, small, centre)
        if last == "end":
            normed[:-1] = streams[:-1]
        return (normed if last else streams) @ model.embedding.T

    return answer


def bent(z):
    return 0.5 * z * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z * z * z)))


def logit_lens(ids, model):
    return lens_by()(ids, model)


def small_model(rng, layers, heads, width, vocabulary):
    """A model none of whose parameters is 0 or 1."""
    e = heads * width

    def table(*shape):
        return rng.normal(size=shape) / 2

    def norm():
        return LayerNorm(1 + table(e), table(e))

    def block():
        attention = Attention(*map(Linear, table(4, e, e), table(4, e)))
        maps = (Linear(table(*sizes), table(sizes[1])) for sizes in ((e, 2 * e), (2 * e, e)))
        return gpt2.Block(norm(), attention, norm(), MLP(*maps))

    embedding = table(vocabulary, e)
    return gpt2.GPT2(
        gpt2.Config(8, heads, 1e-2),
        embedding,
        table(8, e),
        tuple(block() for _ in range(layers)),
        norm(),
        embedding.T,
    )


def text_and_model(rng, tokens, *sizes):
    model = small_model(rng, *sizes)
    return rng.integers(len(model.embedding), size=tokens), model


Q6 = Exercise(
    "q6",
    "The logits on the way",
    answer="logit_lens",
    reference=logit_lens,
    cases=(
        Property("a text of one token", 2, lambda rng: [text_and_model(rng, 1, 1, 2, 2, 5)]),
        Property("a longer text", 2, lambda rng: [text_and_model(rng, 3, 2, 2, 3, 7)]),
    ),
    refuse=("plainformer.gpt2.forward",),
)

Q6.mistake(
    "last norm forgotten",
    "You multiply the stream by the head as it is. The last norm stands before the head, at every depth.",
    lens_by(last=False),
)
Q6.mistake(
    "norm at the end only",
    "Your last row of logits is right. The earlier ones need the last norm, too: the head was trained to"
    " read normed rows.",
    lens_by(last="end"),
)
Q6.mistake(
    "positions forgotten",
    "Your tokens do not know where they stand: add the rows of the position table.",
    lens_by(places=False),
)
Q6.mistake(
    "looking ahead",
    "Your tokens read what comes after them. Give attention the causal mask.",
    lens_by(causal=False),
)
Q6.mistake(
    "start left out",
    "You begin after the first block. The logits of the stream before any block come first.",
    lens_by(start=False),
)
Q6.mistake(
    "another eps",
    "Everything is in place but eps: this model was made with one of its own, in its settings. Hand it to"
    " each norm.",
    lens_by(eps=1e-5),
)
Q6.mistake("mean left in", "Your norms leave the mean in. GPT-2 has LayerNorm.", lens_by(centre=0))


# ---- q7: mend the loading of a table


def split_fused(fused, heads):
    pieces = fused.reshape((*fused.shape[:-1], heads, 3, -1))
    return np.array([pieces[..., kind, :].reshape((*fused.shape[:-1], -1)) for kind in range(3)])


def broken_split(fused, heads):
    return np.stack(np.split(fused, 3, axis=-1))


Q7 = Exercise(
    "q7",
    "Whose columns are these, mended",
    answer="split_fused",
    reference=split_fused,
    cases=(
        Property(
            "a table",
            2,
            lambda rng: [
                (rng.normal(size=(8, 24)), 2),
                (rng.normal(size=(6, 18)), 3),
                (rng.normal(size=(12, 36)), 3),
            ],
        ),
        Property("a bias", 1, lambda rng: [(rng.normal(size=36), 3), (rng.normal(size=30), 2)]),
    ),
    handed_out=broken_split,
)


@Q7.mistake(
    "every third column",
    "You take every third column. The columns of one head's query stand side by side.",
)
def every_third(fused, heads):
    return np.stack([fused[..., kind::3] for kind in range(3)])


@Q7.mistake(
    "heads inside out",
    "The right columns, in another order. Head 0 comes first with all its columns, then head 1.",
)
def heads_inside_out(fused, heads):
    pieces = fused.reshape((*fused.shape[:-1], heads, 3, -1))
    return np.stack(
        [pieces[..., kind, :].swapaxes(-1, -2).reshape((*fused.shape[:-1], -1)) for kind in range(3)]
    )


@Q7.mistake("key before query", "Query and key are exchanged.")
def key_first(fused, heads):
    return split_fused(fused, heads)[[1, 0, 2]]


@Q7.mistake("value before key", "Key and value are exchanged. The order is query, key, value.")
def value_before_key(fused, heads):
    return split_fused(fused, heads)[[0, 2, 1]]
