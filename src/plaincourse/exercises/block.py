"""Exercises of the block chapter."""

import numpy as np

from . import Exercise

# ---- counting parameters


def count_gpt2(vocabulary, context, width, layers):
    """The parameters of a GPT-2 with F = 4E and a tied head."""
    attention = 4 * width**2 + 4 * width
    mlp = 8 * width**2 + 5 * width
    norm = 2 * width
    return (vocabulary + context) * width + layers * (attention + mlp + 2 * norm) + norm


def off_by(extra):
    """A count that is wrong by `extra(vocabulary, context, width, layers)`."""

    def answer(vocabulary, context, width, layers):
        return count_gpt2(vocabulary, context, width, layers) + extra(vocabulary, context, width, layers)

    return answer


def count_cases(rng):
    """GPT-2 small, and settings that divide nothing evenly."""
    return [
        (50_257, 1_024, 768, 12),
        (11, 16, 8, 3),
        (7, 5, 6, 1),
        *(tuple(map(int, rng.integers(2, 30, 4))) for _ in range(3)),
    ]


COUNT = Exercise("block-count", "Any GPT-2", count_gpt2, count_cases)

COUNT.mistake(
    "head counted again",
    "You count the output projection as a table of its own. It is the embedding, turned: the same numbers.",
    off_by(lambda vocabulary, context, width, layers: vocabulary * width),
)
COUNT.mistake(
    "positions forgotten",
    "The position table is missing: a row of the model's width for each place in the longest text.",
    off_by(lambda vocabulary, context, width, layers: -context * width),
)
COUNT.mistake(
    "last norm forgotten",
    "The blocks and tables are right. One more LayerNorm, with a gain and a bias, stands after the last"
    " block.",
    off_by(lambda vocabulary, context, width, layers: -2 * width),
)
COUNT.mistake(
    "no biases in the maps",
    "The tables are right, but every map of a block has a bias too: three of width E for query, key and"
    " value, one for the output, and two in the MLP.",
    off_by(lambda vocabulary, context, width, layers: -9 * width * layers),
)
COUNT.mistake(
    "gains only",
    "Your norms have a gain and no bias. That is RMSNorm; a LayerNorm has both.",
    off_by(lambda vocabulary, context, width, layers: -width * (2 * layers + 1)),
)
COUNT.mistake(
    "one norm in a block",
    "A block has two norms: one before attention and one before the MLP.",
    off_by(lambda vocabulary, context, width, layers: -2 * width * layers),
)
COUNT.mistake(
    "output table forgotten",
    "Attention has four tables: query, key, value, and the output map that mixes the heads.",
    off_by(lambda vocabulary, context, width, layers: -(width**2 + width) * layers),
)
COUNT.mistake(
    "one table in the MLP",
    "The MLP has two tables, one up to 4E and one back down to E.",
    off_by(lambda vocabulary, context, width, layers: -(4 * width**2 + width) * layers),
)


def napkin_case(rng):
    """A model small enough for a pencil."""
    return [(11, 8, 3, 1)]


# With one block, the two mistakes about norms give one number.
SAME = [
    mistake
    for mistake in COUNT.mistakes
    if mistake.name not in ("last norm forgotten", "one norm in a block")
]
NAPKIN = Exercise(
    "block-by-hand", "A model on a napkin", count_gpt2, napkin_case, mistakes=SAME, by_hand=True
)

NAPKIN.mistake(
    "a norm forgotten",
    "There are three norms: two in the block, and one after it. Each has a gain and a bias.",
    off_by(lambda vocabulary, context, width, layers: -2 * width),
)
NAPKIN.mistake(
    "the block alone",
    "The block is right. The model has more: the tables of words and of positions, and a last norm after the"
    " block.",
    off_by(lambda vocabulary, context, width, layers: -(vocabulary + context) * width - 2 * width),
)


def count_llama(vocabulary, width, hidden, heads, groups, layers):
    """The parameters of a Llama with a tied head."""
    keys = width // heads * groups
    block = 2 * width * width + 2 * width * keys + 3 * width * hidden + 2 * width
    return vocabulary * width + layers * block + width


def llama_off_by(extra):
    """A count that is wrong by `extra(settings of count_llama)`."""

    def answer(vocabulary, width, hidden, heads, groups, layers):
        settings = (vocabulary, width, hidden, heads, groups, layers)
        return count_llama(*settings) + extra(*settings)

    return answer


def llama_cases(rng):
    """SmolLM2, and smaller ones."""
    return [(49_152, 576, 1_536, 9, 3, 30), (11, 8, 20, 4, 2, 3), (13, 12, 30, 6, 2, 1), (5, 24, 50, 4, 1, 2)]


def full_keys(vocabulary, width, hidden, heads, groups, layers):
    return 2 * width * (width - width // heads * groups) * layers


def narrow_queries(vocabulary, width, hidden, heads, groups, layers):
    return -full_keys(vocabulary, width, hidden, heads, groups, layers)


COUNT_LLAMA = Exercise("block-count-llama", "Any Llama", count_llama, llama_cases)

COUNT_LLAMA.mistake(
    "key and value tables too wide",
    "Your key and value tables are as wide as the query table. There are only `groups` key and value heads,"
    " each width // heads wide.",
    llama_off_by(full_keys),
)
COUNT_LLAMA.mistake(
    "query and output tables too narrow",
    "The groups make the key and value tables narrower. Query and output are still (E, E).",
    llama_off_by(narrow_queries),
)
COUNT_LLAMA.mistake(
    "two tables in the MLP",
    "A SwiGLU has three tables: gate, up and down.",
    llama_off_by(lambda vocabulary, width, hidden, heads, groups, layers: -width * hidden * layers),
)
COUNT_LLAMA.mistake(
    "LayerNorm",
    "Your norms have a bias. An RMSNorm has a gain only.",
    llama_off_by(lambda vocabulary, width, hidden, heads, groups, layers: width * (2 * layers + 1)),
)
COUNT_LLAMA.mistake(
    "last norm forgotten",
    "The blocks are right. One more norm stands after the last one.",
    llama_off_by(lambda vocabulary, width, hidden, heads, groups, layers: -width),
)
COUNT_LLAMA.mistake(
    "head counted again",
    "You count the output projection as a table of its own. Here it is the embedding, turned.",
    llama_off_by(lambda vocabulary, width, hidden, heads, groups, layers: vocabulary * width),
)


# ---- the order of a block


def pre_norm_block(x, norm_1, read, norm_2, think):
    """Norm, read, add; norm, think, add."""
    x = x + read(norm_1(x))
    return x + think(norm_2(x))


MIX = np.array([[2.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [0.5, -1.5, 3.0]])


TABLE = np.array([[1.0, -1.0, 0.5, 2.0], [0.5, 1.0, -2.0, 0.0], [-1.0, 0.5, 1.0, 1.0], [2.0, 0.0, -0.5, 1.0]])


GAIN = np.array([1.0, 2.0, 0.5, 1.5])


def norm_1(x):
    return x / np.sqrt((x * x).mean(-1, keepdims=True))


def norm_2(x):
    return GAIN * norm_1(x)


def read(x):
    """Each of three tokens takes from those before it."""
    return MIX @ x


def think(x):
    """Each token alone, and not linear."""
    return np.maximum(x @ TABLE, 0.0) - 0.5


def block_cases(rng):
    """Two streams of three tokens, far from the size that a norm gives."""
    return [(3 * rng.normal(size=(3, 4)), norm_1, read, norm_2, think) for _ in range(2)]


PRE_NORM = Exercise("block-pre-norm", "The order of a block", pre_norm_block, block_cases)


@PRE_NORM.mistake(
    "post-norm",
    "This is the block of 2017: it norms each sum. In a pre-norm block the norm stands before read and"
    " think, and the sums stay as they are.",
)
def post_norm_block(x, norm_1, read, norm_2, think):
    x = norm_1(x + read(x))
    return norm_2(x + think(x))


@PRE_NORM.mistake(
    "stream overwritten",
    "The stream itself is normed, because x = norm(x) replaces it. Norm a copy for read and think, and add"
    " to the x that was not normed.",
)
def overwritten_block(x, norm_1, read, norm_2, think):
    x = norm_1(x)
    x = x + read(x)
    x = norm_2(x)
    return x + think(x)


@PRE_NORM.mistake(
    "both at once",
    "think gets the x that came in. It must get the stream after the first sum, with what has been read in"
    " it.",
)
def parallel_block(x, norm_1, read, norm_2, think):
    return x + read(norm_1(x)) + think(norm_2(x))


@PRE_NORM.mistake(
    "first answer lost",
    "The last sum starts from the x that came in, so what was read is no longer in the stream. Start it from"
    " the first sum.",
)
def read_lost_block(x, norm_1, read, norm_2, think):
    return x + think(norm_2(x + read(norm_1(x))))


@PRE_NORM.mistake("no sums", "The answers replace the stream. Each of the two is added to it.")
def without_sums_block(x, norm_1, read, norm_2, think):
    return think(norm_2(read(norm_1(x))))


@PRE_NORM.mistake(
    "second sum forgotten",
    "The first half is right. The answer of think must be added to the stream, too.",
)
def second_sum_block(x, norm_1, read, norm_2, think):
    return think(norm_2(x + read(norm_1(x))))


@PRE_NORM.mistake(
    "sum around attention forgotten",
    "think gets what was read alone. Add it to the stream first, and go on from that sum.",
)
def first_sum_block(x, norm_1, read, norm_2, think):
    return x + think(norm_2(read(norm_1(x))))


@PRE_NORM.mistake("no norms", "read and think get the stream as it is. A norm stands before each of them.")
def without_norms_block(x, norm_1, read, norm_2, think):
    x = x + read(x)
    return x + think(x)


@PRE_NORM.mistake("one norm", "The first half is right. A norm stands before think, too.")
def one_norm_block(x, norm_1, read, norm_2, think):
    x = x + read(norm_1(x))
    return x + think(x)


@PRE_NORM.mistake("thinks first", "A block reads first and thinks about what it has read.")
def swapped_block(x, norm_1, read, norm_2, think):
    x = x + think(norm_2(x))
    return x + read(norm_1(x))
