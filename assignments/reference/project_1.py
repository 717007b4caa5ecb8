"""The project, part 1: a decoder block from the pieces. It is the block of Qwen3: Llama's, with normed
queries and keys.
"""

import numpy as np

from plaincourse.exercises import Exercise, Property
from plainformer.activations import gelu_tanh, sigmoid, silu
from plainformer.attention import (
    Attention,
    attend_heads,
    attention,
    causal_mask,
    merge_heads,
    project,
    repeat_heads,
    split_heads,
)
from plainformer.linear import Linear, linear
from plainformer.llama import Block
from plainformer.mlp import SwiGLU, swiglu
from plainformer.normalization import rms_norm
from plainformer.positions import rope
from plaingrader.questions import variants

mine = variants("project_1")


FINISHED = (
    "plainformer.llama.forward",
    "plainformer.llama.block",
    "plainformer.gpt2.block",
    "plainformer.gpt2.forward",
    "plainformer.cache.causal_attention",
    "plainformer.attention.multi_head_attention",
)


# ---- q1: two scores between normed rows


def normed_scores(query, keys, query_gain, key_gain):
    return np.array(
        [(rms_norm(query, query_gain, 0.0) * rms_norm(key, key_gain, 0.0)).sum() / 2 for key in keys]
    )


def scores_with(norm, scale=2.0, gains=True):
    """The scores with another size to divide by, or another scale."""

    def answer(query, keys, query_gain, key_gain):
        g, h = (query_gain, key_gain) if gains else (1.0, 1.0)
        return np.array([(query / norm(query) * g) @ (key / norm(key) * h) / scale for key in keys])

    return answer


def root_mean_square(row):
    return np.sqrt((row * row).mean())


Q1 = Exercise(
    "q1",
    "Two normed scores",
    answer="q1",
    reference=normed_scores,
    cases=(Property("the scores", 4, lambda rng: [mine.q1(rng)]),),
    tolerance=1e-4,
    by_hand=True,
)

Q1.mistake(
    "no norm",
    "You multiplied the rows as they are. Divide each by its own root mean square first.",
    scores_with(lambda row: 1.0),
)
Q1.mistake(
    "divided by the length",
    "You divided by the root of the sum of squares. The root mean square has the mean in it: divide the sum"
    " by 4 first.",
    scores_with(np.linalg.norm),
)
Q1.mistake(
    "no root",
    "You divided by the mean of the squares. Take its root.",
    scores_with(lambda row: (row * row).mean()),
)
Q1.mistake(
    "no scale",
    "The last step is missing: scores are divided by the root of the head's width, here 2.",
    scores_with(root_mean_square, scale=1.0),
)
Q1.mistake(
    "no gains",
    "After each norm the row is multiplied by its gain, number by number.",
    scores_with(root_mean_square, gains=False),
)


# ---- q2: parameters


def count(vocabulary, layers, width, hidden, heads, groups, head_width):
    """The parameters of one block and of the whole model."""
    queries, keys = heads * head_width, groups * head_width
    block = 2 * width * queries + 2 * width * keys + 3 * width * hidden + 2 * width + 2 * head_width
    return np.array([block, vocabulary * width + layers * block + width])


def count_off_by(in_a_block=lambda E, F, H, G, D: 0, outside=lambda V, E: 0):
    def answer(vocabulary, layers, width, hidden, heads, groups, head_width):
        extra = in_a_block(width, hidden, heads, groups, head_width)
        block, model = count(vocabulary, layers, width, hidden, heads, groups, head_width)
        return np.array([block + extra, model + layers * extra + outside(vocabulary, width)])

    return answer


Q2 = Exercise(
    "q2",
    "The parameters of a block, and of the model",
    answer="q2",
    reference=count,
    cases=(Property("the counts", 4, lambda rng: [mine.q2(rng)]),),
    by_hand=True,
)

Q2.mistake(
    "gains for every head",
    "All query heads share one gain of width D, and so do all key heads.",
    count_off_by(lambda E, F, H, G, D: (H + G - 2) * D),
)
Q2.mistake(
    "no gains for queries and keys",
    "Queries and keys have norms of their own here: two gains of width D.",
    count_off_by(lambda E, F, H, G, D: -2 * D),
)
Q2.mistake(
    "heads as wide as E / H",
    "Here H·D is not E. The query table is (E, H·D), the output table (H·D, E).",
    count_off_by(lambda E, F, H, G, D: 2 * E * E - 2 * E * H * D),
)
Q2.mistake(
    "keys and values for every head",
    "There are only G key/value heads: their tables are (E, G·D).",
    count_off_by(lambda E, F, H, G, D: 2 * E * (H - G) * D),
)
Q2.mistake(
    "two tables in the MLP",
    "A gated MLP has three tables: gate, up and down.",
    count_off_by(lambda E, F, H, G, D: -E * F),
)
Q2.mistake(
    "head counted again",
    "Your block is right. The output projection is the embedding, turned: the same numbers.",
    count_off_by(outside=lambda V, E: V * E),
)
Q2.mistake(
    "last norm forgotten",
    "Your block is right. One more norm, with a gain, stands after the last block.",
    count_off_by(outside=lambda V, E: -E),
)


# ---- q3: queries


def queries(x, weight, gain, heads, positions, base, eps):
    return rope(rms_norm(split_heads(x @ weight, heads), gain, eps), positions, base, "halves")


def queries_with(norm=rms_norm, turn=rope, pairing="halves", cut=split_heads):
    """The queries with another norm, another turn or another cut."""

    def answer(x, weight, gain, heads, positions, base, eps):
        return turn(norm(cut(x @ weight, heads), gain, eps), positions, base, pairing)

    return answer


def cut_in_order(rows, heads):
    """Wrong heads: the numbers of the rows one after the other, in equal parts."""
    return rows.reshape(heads, len(rows), -1)


def query_case(rng, tokens, heads, head_width, first, base=10_000.0, eps=1e-5):
    width, places = 5, [first + 2 * i for i in range(tokens)]
    weight = rng.normal(size=(width, heads * head_width))
    return rng.normal(size=(tokens, width)), weight, gain(rng, head_width), heads, places, base, eps


def gain(rng, *shape):
    """Gains that differ from 1 and from each other."""
    return rng.uniform(0.5, 2, size=shape)


Q3 = Exercise(
    "q3",
    "Queries, normed and turned",
    answer="queries",
    reference=queries,
    cases=(
        Property("one token at position 0", 2, lambda rng: [query_case(rng, 1, 3, 4, 0)]),
        Property(
            "several tokens, other positions",
            3,
            lambda rng: [query_case(rng, 4, 2, 6, 0), query_case(rng, 3, 3, 4, 7, 500.0, 0.1)],
        ),
    ),
    refuse=FINISHED,
)


@Q3.mistake(
    "normed before the cut",
    "You normed the whole row. Cut it into heads first: each head's piece has a root mean square of its own.",
)
def normed_whole(x, weight, gain, heads, positions, base, eps):
    rows = rms_norm(x @ weight, np.tile(gain, heads), eps)
    return rope(split_heads(rows, heads), positions, base, "halves")


@Q3.mistake("turned before the norm", "The gain belongs to the norm, and the turn comes after it. Turn last.")
def turned_first(x, weight, gain, heads, positions, base, eps):
    return rms_norm(rope(split_heads(x @ weight, heads), positions, base, "halves"), gain, eps)


Q3.mistake(
    "pairs of neighbours",
    "This model pairs number i with number i + D/2: the pairing is called halves.",
    queries_with(pairing="neighbours"),
)
Q3.mistake(
    "not normed",
    "The cut and the turn are right, the norm of each head's piece is missing.",
    queries_with(norm=lambda rows, gain, eps: rows),
)
Q3.mistake(
    "no gain",
    "After the norm each number is multiplied by its gain.",
    queries_with(norm=lambda rows, gain, eps: rms_norm(rows, np.ones_like(gain), eps)),
)


@Q3.mistake("positions counted anew", "Take the positions that you are given: they need not be 0, 1, 2.")
def counted_anew(x, weight, gain, heads, positions, base, eps):
    return queries(x, weight, gain, heads, list(range(len(x))), base, eps)


Q3.mistake(
    "cut in the wrong order",
    "Your heads hold numbers of different tokens. Cut each row, then put the heads' axis first.",
    queries_with(cut=cut_in_order),
)


# ---- q4: grouped attention


def grouped_attention(query, key, value):
    return attend_heads(query, key, value, causal_mask(query.shape[1], key.shape[1]))


def grouped_with(repeat=repeat_heads, mask=causal_mask, merge=merge_heads, scale=lambda query: 1.0):
    """The heads repeated, masked, merged or scaled in another way."""

    def answer(query, key, value):
        times = len(query) // len(key)
        shown = mask(query.shape[1], key.shape[1])
        return merge(attention(query * scale(query), repeat(key, times), repeat(value, times), shown))

    return answer


def tiled(x, times):
    return np.concatenate([x] * times)


def from_the_left(queries, keys):
    return np.tril(np.ones((queries, keys), dtype=bool))


def glued(mixed):
    return mixed.reshape(mixed.shape[1], -1)


def heads_case(rng, heads, groups, tokens, positions, width=3):
    return rng.normal(size=(heads, tokens, width)), *rng.normal(size=(2, groups, positions, width))


Q4 = Exercise(
    "q4",
    "Heads that share",
    answer="grouped_attention",
    reference=grouped_attention,
    cases=(
        Property("a key/value head for each query head", 2, lambda rng: [heads_case(rng, 2, 2, 4, 4)]),
        Property("shared heads", 2, lambda rng: [heads_case(rng, 4, 2, 5, 5), heads_case(rng, 6, 2, 3, 3)]),
        Property(
            "more keys than queries",
            1,
            lambda rng: [heads_case(rng, 4, 2, 2, 6), heads_case(rng, 4, 2, 1, 5)],
        ),
    ),
    refuse=(
        "plainformer.attention.attend_heads",
        "torch.nn.functional.scaled_dot_product_attention",
        *FINISHED,
    ),
)

Q4.mistake(
    "heads shared in turn",
    "Neighbouring query heads share: with two key heads, query heads 0 and 1 take the first of them, 2 and 3"
    " the second.",
    grouped_with(repeat=tiled),
)
Q4.mistake(
    "mask from the left",
    "With more keys than queries, the queries are the last positions. The last query may look at every key.",
    grouped_with(mask=from_the_left),
)
Q4.mistake(
    "no mask",
    "A query may look at its own position and at those before, not at those after.",
    grouped_with(mask=lambda queries, keys: None),
)
Q4.mistake(
    "heads glued in the wrong order",
    "Put the heads of one token side by side: the positions' axis first, then a row of all heads.",
    grouped_with(merge=glued),
)
Q4.mistake(
    "no scale",
    "Divide the scores by the root of the head's width D.",
    grouped_with(scale=lambda query: np.sqrt(query.shape[-1])),
)


# ---- q5: mend the gated MLP


def gated_mlp(x, gate_up, down):
    return gated_with()(x, gate_up, down)


def gated_with(bend=silu, halves=lambda rows: np.split(rows, 2, axis=-1)):
    def answer(x, gate_up, down):
        gate, up = halves(x @ gate_up)
        return (bend(gate) * up) @ down

    return answer


def other_way_round(rows):
    return np.split(rows, 2, axis=-1)[::-1]


def gated_case(rng, leading):
    width, hidden = 3, 4
    return (
        rng.normal(size=(*leading, width)),
        rng.normal(size=(width, 2 * hidden)),
        rng.normal(size=(hidden, width)),
    )


Q5 = Exercise(
    "q5",
    "Mend the gated MLP",
    answer="gated_mlp",
    reference=gated_mlp,
    cases=(
        Property("one row", 2, lambda rng: [gated_case(rng, ())]),
        Property("many rows at once", 1, lambda rng: [gated_case(rng, (5,)), gated_case(rng, (2, 4))]),
    ),
    refuse=("plainformer.mlp.swiglu",),
    handed_out=gated_with(halves=other_way_round),
)

Q5.mistake(
    "every other column",
    "The first F columns are the gate's, the last F are up's: two blocks, not alternating.",
    gated_with(halves=lambda rows: (rows[..., ::2], rows[..., 1::2])),
)
Q5.mistake(
    "sigmoid alone",
    "SiLU is x times sigmoid(x); you took the sigmoid alone.",
    gated_with(bend=sigmoid),
)
Q5.mistake("GELU", "This block bends with SiLU.", gated_with(bend=gelu_tanh))


@Q5.mistake("bent after the product", "Bend the gate first, then multiply by up.")
def bent_after(x, gate_up, down):
    gate, up = np.split(x @ gate_up, 2, axis=-1)
    return silu(gate * up) @ down


# ---- q6: the block


def decoder_block(x, block, gains, heads, base, eps):
    return block_with()(x, block, gains, heads, base, eps)


def block_with(
    add=lambda x, normed, read: x + read,
    second=lambda start, x, block: (x, block.mlp_norm),
    pick=lambda gains: gains,
    norm=rms_norm,
    settings=lambda base, eps: (base, eps),
    mask=causal_mask,
):
    """The block, or one with another sum, another input of the second half, other gains, settings or mask."""

    def answer(x, block, gains, heads, base, eps):
        base, eps = settings(base, eps)
        places, (query_gain, key_gain), start = np.arange(x.shape[-2]), pick(gains), x
        normed = rms_norm(x, block.attention_norm, eps)
        query, key, value = project(normed, normed, block.attention, heads)
        query = rope(norm(query, query_gain, eps), places, base, "halves")
        key = rope(norm(key, key_gain, eps), places, base, "halves")
        read = linear(attend_heads(query, key, value, mask(len(places))), *block.attention.output)
        x = add(x, normed, read)
        rows, second_gain = second(start, x, block)
        return x + swiglu(rms_norm(rows, second_gain, eps), block.mlp)

    return answer


def block_case(rng, tokens, heads, groups, base=10_000.0, eps=1e-5, size=1.0):
    """A block whose heads together are wider than its stream, so that no width is taken for another."""
    width, head_width, hidden = 5, 4, 7
    attention = Attention(
        Linear(rng.normal(size=(width, heads * head_width))),
        Linear(rng.normal(size=(width, groups * head_width))),
        Linear(rng.normal(size=(width, groups * head_width))),
        Linear(rng.normal(size=(heads * head_width, width))),
    )
    mlp = SwiGLU(
        rng.normal(size=(width, hidden)), rng.normal(size=(width, hidden)), rng.normal(size=(hidden, width))
    )
    block = Block(gain(rng, width), attention, gain(rng, width), mlp)
    return size * rng.normal(size=(tokens, width)), block, gain(rng, 2, head_width), heads, base, eps


Q6 = Exercise(
    "q6",
    "The block",
    answer="decoder_block",
    reference=decoder_block,
    cases=(
        Property("one token", 2, lambda rng: [block_case(rng, 1, 2, 2)]),
        Property("a text, with as many key heads as query heads", 3, lambda rng: [block_case(rng, 4, 2, 2)]),
        Property(
            "shared heads and other settings", 2, lambda rng: [block_case(rng, 5, 4, 2, 50.0, 0.05, 0.5)]
        ),
    ),
    tolerance=1e-7,
    refuse=FINISHED,
)


@Q6.mistake(
    "the normed rows are the stream",
    "You add what was read to the normed rows. Keep x as it was, and add to that.",
)
def normed_stream(x, block, gains, heads, base, eps):
    """Both sums add to the normed rows."""
    read = block_with(
        add=lambda x, normed, read: normed + read, second=lambda start, x, block: (x, block.mlp_norm)
    )
    middle = read(x, block._replace(mlp=block.mlp._replace(down=0 * block.mlp.down)), gains, heads, base, eps)
    normed = rms_norm(middle, block.mlp_norm, eps)
    return normed + swiglu(normed, block.mlp)


Q6.mistake(
    "no sum after attention",
    "What was read is added to x. You went on with what was read alone.",
    block_with(add=lambda x, normed, read: read),
)
Q6.mistake(
    "the MLP does not see what was read",
    "The second half starts from x after the first sum, not from the block's input.",
    block_with(second=lambda start, x, block: (start, block.mlp_norm)),
)
Q6.mistake(
    "the first gain twice",
    "The second norm has a gain of its own, block.mlp_norm.",
    block_with(second=lambda start, x, block: (x, block.attention_norm)),
)
Q6.mistake(
    "gains exchanged or one for both",
    "Row 0 of gains is for the queries, row 1 for the keys.",
    block_with(pick=lambda gains: (gains[0], gains[0])),
)
Q6.mistake(
    "queries and keys not normed",
    "Queries and keys are normed, head by head, before they are turned.",
    block_with(norm=lambda rows, gain, eps: rows),
)
Q6.mistake(
    "eps left at its default",
    "Hand eps over to every norm: the default is right for some models only.",
    block_with(settings=lambda base, eps: (base, 1e-5)),
)
Q6.mistake(
    "base left at its default",
    "Hand base over to the turn: the default is right for some models only.",
    block_with(settings=lambda base, eps: (10_000.0, eps)),
)
Q6.mistake(
    "no causal mask",
    "A token may read itself and what came before it. Yours reads ahead.",
    block_with(mask=lambda tokens: None),
)


# ---- q7: the last row


def last_logits(stream, norm, embedding, eps):
    return rms_norm(stream[..., -1, :], norm, eps) @ embedding.T


def stream_case(rng, leading, tokens, eps=1e-5):
    width, vocabulary = 4, 6
    return (
        rng.normal(size=(*leading, tokens, width)),
        gain(rng, width),
        rng.normal(size=(vocabulary, width)),
        eps,
    )


Q7 = Exercise(
    "q7",
    "The last row",
    answer="last_logits",
    reference=last_logits,
    cases=(
        Property(
            "one text",
            2,
            lambda rng: [stream_case(rng, (), 3), stream_case(rng, (), 1), stream_case(rng, (), 5, 0.3)],
        ),
        Property(
            "several texts at once",
            1,
            lambda rng: [stream_case(rng, (2,), 3), stream_case(rng, (3, 2), 5)],
        ),
    ),
    refuse=FINISHED,
)

Q7.mistake(
    "the first row",
    "The next word is the last position's to say. You took the first position.",
    lambda s, n, e, eps: last_logits(s[..., ::-1, :], n, e, eps),
)
Q7.mistake(
    "not normed",
    "The last norm stands between the blocks and the output projection.",
    lambda s, n, e, eps: s[..., -1, :] @ e.T,
)
Q7.mistake(
    "no gain",
    "After the norm the row is multiplied by its gain.",
    lambda s, n, e, eps: last_logits(s, np.ones_like(n), e, eps),
)
Q7.mistake(
    "eps left at its default",
    "Hand eps over to the norm.",
    lambda s, n, e, eps: last_logits(s, n, e, 1e-5),
)
