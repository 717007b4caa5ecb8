"""Assignment 10: generation."""

import numpy as np

from plaincourse.exercises import Exercise, Property
from plainformer.attention import causal_mask
from plaingrader.questions import variants

mine = variants("12_generation")


def attention(query, keys, values, mask=None):
    """As the library's, without its checks: a thousand students are many calls."""
    scores = query @ keys.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    powers = np.exp(scores) if mask is None else np.exp(scores) * mask
    return powers / powers.sum(axis=-1, keepdims=True) @ values


def normal(rng, *leading):
    """Draws an array of a given shape, behind these leading axes."""
    return lambda *shape: rng.normal(size=(*leading, *shape))


# ---- q1: how long a text fits


def room(layers, heads, groups, width, each, texts, memory):
    token = 2 * layers * groups * width * each
    return np.array([token, memory // (token * texts)])


def room_with(
    token=lambda layers, heads, groups, width, each: 2 * layers * groups * width * each,
    texts_share=True,
    up=0,
):
    """The room with other bytes a token, without sharing it out, or rounded up."""

    def answer(layers, heads, groups, width, each, texts, memory):
        one = token(layers, heads, groups, width, each)
        return np.array([one, memory // (one * (texts if texts_share else 1)) + up])

    return answer


Q1 = Exercise(
    "q1",
    "How long a text fits",
    answer="q1",
    reference=room,
    cases=(Property("the two numbers", 3, lambda rng: [mine.q1(rng)]),),
    tolerance=1e-6,
    by_hand=True,
)

Q1.mistake(
    "query heads",
    "You counted the query heads. Only keys and values are kept, and the query heads share them.",
    room_with(lambda layers, heads, groups, width, each: 2 * layers * heads * width * each),
)
Q1.mistake(
    "keys only",
    "Your bytes hold the keys. The values need as much again.",
    room_with(lambda layers, heads, groups, width, each: layers * groups * width * each),
)
Q1.mistake(
    "one layer",
    "Your bytes are those of one layer. Every layer keeps keys and values of its own.",
    room_with(lambda layers, heads, groups, width, each: 2 * groups * width * each),
)
Q1.mistake(
    "one text",
    "Your second number is for one text. The texts share the memory.",
    room_with(texts_share=False),
)
Q1.mistake("rounded up", "Your last token does not fit any more. Round down.", room_with(up=1))


# ---- q2: two new tokens at once


def second_portion(powers, values):
    """The first new token stands at the third place, the second at the fourth."""
    return masked(powers, values, causal_mask(2, 4))


def masked(powers, values, mask):
    allowed = powers * mask
    return allowed @ values / allowed.sum(axis=-1)


Q2 = Exercise(
    "q2",
    "Two new tokens at once",
    answer="q2",
    reference=second_portion,
    cases=(Property("the two numbers", 3, lambda rng: [mine.q2(rng)]),),
    tolerance=1e-3,
    by_hand=True,
)

Q2.mistake(
    "mask from the left",
    "You counted as if the two were the first of the text. They stand at the third and the fourth place.",
    lambda powers, values: masked(powers, values, np.tril(np.ones((2, 4)))),
)
Q2.mistake(
    "no mask",
    "Your first new token reads the second one. That one comes after it.",
    lambda powers, values: masked(powers, values, np.ones((2, 4))),
)
Q2.mistake(
    "blind to itself",
    "Your new tokens do not read themselves. A token may look at its own place.",
    lambda powers, values: masked(powers, values, np.tril(np.ones((2, 4)), 1)),
)
Q2.mistake(
    "not divided",
    "Your weights do not sum to 1. Divide the powers of a row by the sum of those that are allowed.",
    lambda powers, values: powers * causal_mask(2, 4) @ values,
)


# ---- q3: the work of one more token


def work(heads, groups, width, hidden, layers, words, position):
    return work_with()(heads, groups, width, hidden, layers, words, position)


def work_with(
    tables=3,
    keys=lambda heads, groups: groups,
    per_pair=2,
    read=lambda rows, position: rows * position,
    out=lambda rows: 1,
):
    """The multiply-adds with the cache and without; each argument is one place where people go wrong."""

    def answer(heads, groups, width, hidden, layers, words, position):
        model = heads * width
        row = 2 * model * model + 2 * model * keys(heads, groups) * width + tables * model * hidden
        counts = [
            layers * (rows * row + per_pair * read(rows, position) * model) + out(rows) * model * words
            for rows in (1, position)
        ]
        return np.array(counts)

    return answer


Q3 = Exercise(
    "q3",
    "The work of one more token",
    answer="q3",
    reference=work,
    cases=(Property("the two numbers", 3, lambda rng: [mine.q3(rng)]),),
    tolerance=1e-6,
    by_hand=True,
)

Q3.mistake(
    "two MLP tables",
    "You counted two tables in the MLP. This model has three: gate, up and down.",
    work_with(tables=2),
)
Q3.mistake(
    "key maps too wide",
    "Your key and value maps are as wide as the query map. There are fewer key/value heads.",
    work_with(keys=lambda heads, groups: heads),
)
Q3.mistake(
    "scores alone",
    "You counted the scores. Mixing the values takes as much again.",
    work_with(per_pair=1),
)
Q3.mistake(
    "one query without the cache",
    "Without the cache, every row of the text asks again, and each is compared with all keys.",
    work_with(read=lambda rows, position: position),
)
Q3.mistake(
    "all rows to the words",
    "You sent every row through the output projection. Only the last one is asked for the next word.",
    work_with(out=lambda rows: rows),
)
Q3.mistake(
    "no output projection",
    "The output projection is missing: one row, E times V.",
    work_with(out=lambda rows: 0),
)


# ---- q4: a cache for another text


def reusable(kept, text):
    """The length of the common beginning; the last token of the text is always to be run, for its logits."""
    return min(common(kept, text), len(text) - 1)


def edited(rng, length, place):
    """A text of this length, and the same with another id at one place."""
    text = rng.integers(0, 50, size=length)
    other = text.copy()
    other[place] += 1
    return text, other


def changed_cases(rng):
    text, other = edited(rng, 9, int(rng.integers(2, 6)))
    one, two = edited(rng, 8, 3)
    return [
        (text, other),
        (one, np.concatenate([two, rng.integers(0, 50, size=4)])),
        (np.append(one, one), two),
    ]


def same_cases(rng):
    text = rng.integers(0, 50, size=int(rng.integers(6, 10)))
    return [
        (text, text.copy()),
        (text, text[:4].copy()),
        (text[:5].copy(), text),
        (text[:1].copy(), text[:1].copy()),
    ]


def nothing_cases(rng):
    text, other = edited(rng, 6, 0)
    return [(text, other), (text[:0].copy(), text)]


Q4 = Exercise(
    "q4",
    "A cache for another text",
    answer="reusable",
    reference=reusable,
    cases=(
        Property("a text that was changed", 3, lambda rng: changed_cases(rng) + nothing_cases(rng)),
        Property("the same text, and its beginning", 1, same_cases),
    ),
)


@Q4.mistake(
    "equal places anywhere",
    "You count equal ids after the first difference as well. Those tokens have read the changed one, so"
    " their keys and values are stale.",
)
def equal_places(kept, text):
    length = min(len(kept), len(text))
    return min(int((kept[:length] == text[:length]).sum()), len(text) - 1)


@Q4.mistake(
    "nothing left to run",
    "If the whole text is in the cache, you run no row, and get no logits for the next word. Leave its last"
    " token to run.",
)
def common(kept, text):
    length = min(len(kept), len(text))
    same = kept[:length] == text[:length]
    return length if same.all() else int(same.argmin())


Q4.mistake(
    "one too few",
    "You drop the last position before the first difference. It cannot see what comes after it, so it is"
    " still right.",
    lambda kept, text: max(0, reusable(kept, text) - 1),
)
Q4.mistake(
    "all or nothing",
    "You give up the whole cache at any difference. What stands before the difference is still right.",
    lambda kept, text: reusable(kept, text) if common(kept, text) == min(len(kept), len(text)) else 0,
)


# ---- q5: room for more


def read_room(query, keys, values, filled):
    return attention(
        query, keys[..., :filled, :], values[..., :filled, :], causal_mask(query.shape[-2], filled)
    )


def room_case(rng, leading, new, filled, capacity, width, out):
    """Rooms whose empty places hold numbers that nobody may read."""
    draw = normal(rng, *leading)
    return draw(new, width), draw(capacity, width), draw(capacity, out), filled


def read_with(mask, filled_only=True, scale=1.0):
    """The reading with another mask, (T, filled), with the empty places, or with other scores."""

    def answer(query, keys, values, filled):
        end = filled if filled_only else keys.shape[-2]
        return attention(scale * query, keys[..., :end, :], values[..., :end, :], mask(query.shape[-2], end))

    return answer


Q5 = Exercise(
    "q5",
    "Room for more",
    answer="read_room",
    reference=read_room,
    cases=(
        Property(
            "one new token",
            2,
            lambda rng: [room_case(rng, (), 1, 4, 7, 3, 5), room_case(rng, (), 1, 6, 6, 4, 2)],
        ),
        Property(
            "several new tokens",
            1,
            lambda rng: [room_case(rng, (), 3, 5, 8, 4, 2), room_case(rng, (), 4, 4, 6, 3, 5)],
        ),
        Property("several heads", 1, lambda rng: [room_case(rng, (2,), 3, 4, 6, 5, 3)]),
    ),
    refuse=(
        "plainformer.attention.causal_mask",
        "plainformer.cache.causal_attention",
        "torch.nn.functional.scaled_dot_product_attention",
    ),
)

Q5.mistake(
    "the empty places are read",
    "Your weights reach into the room that nobody has filled. Only the first `filled` places hold keys.",
    read_with(lambda new, end: np.ones((new, end), dtype=bool), filled_only=False),
)
Q5.mistake(
    "the mask counts from the end of the room",
    "Your new tokens stand at the end of the room. They stand at the end of what is filled.",
    read_with(causal_mask, filled_only=False),
)
Q5.mistake(
    "mask from the left",
    "Your mask treats the new tokens as the first of the text. They are the last of the filled places.",
    read_with(lambda new, end: np.tril(np.ones((new, end), dtype=bool))),
)
Q5.mistake(
    "no mask",
    "Among several new tokens, yours read those that come after them. One new token needs no mask, several"
    " do.",
    read_with(lambda new, end: None),
)


@Q5.mistake("not scaled", "The scores are not divided by √D, the root of the width of a query.")
def unscaled_room(query, keys, values, filled):
    return read_room(query * np.sqrt(query.shape[-1]), keys, values, filled)


# ---- q6: mend the branches


def branches(keys, values, rows, W_q, W_k, W_v):
    read = []
    for row in rows:
        own_keys, own_values = np.vstack([keys, row @ W_k]), np.vstack([values, row @ W_v])
        read.append(attention((row @ W_q)[None], own_keys, own_values)[0])
    return np.array(read)


def broken_branches(keys, values, rows, W_q, W_k, W_v):
    read = []
    for row in rows:
        keys = np.vstack([keys, row @ W_k])
        values = np.vstack([values, row @ W_v])
        scores = keys @ (row @ W_q) / np.sqrt(keys.shape[1])
        powers = np.exp(scores - scores.max())
        read.append(powers / powers.sum() @ values)
    return np.array(read)


def branch_cases(rng, *sizes):
    cases = []
    for prompt, new, width, key, value in sizes:
        draw = normal(rng)
        cases.append(
            (
                draw(prompt, key),
                draw(prompt, value),
                draw(new, width),
                draw(width, key),
                draw(width, key),
                draw(width, value),
            )
        )
    return cases


Q6 = Exercise(
    "q6",
    "Branches, mended",
    answer="branches",
    reference=branches,
    cases=(
        Property("two branches", 2, lambda rng: branch_cases(rng, (3, 2, 4, 5, 2), (2, 2, 3, 2, 4))),
        Property("many branches", 2, lambda rng: branch_cases(rng, (4, 5, 3, 2, 6))),
    ),
    refuse=("plainformer.cache.causal_attention",),
    handed_out=broken_branches,
)


@Q6.mistake(
    "all together",
    "You put all the new tokens into one cache, so each reads all of them. Each reads the prompt and itself.",
)
def all_together(keys, values, rows, W_q, W_k, W_v):
    return attention(rows @ W_q, np.vstack([keys, rows @ W_k]), np.vstack([values, rows @ W_v]))


@Q6.mistake("blind to itself", "Your new tokens read the prompt alone. Each reads itself as well.")
def blind_branches(keys, values, rows, W_q, W_k, W_v):
    return attention(rows @ W_q, keys, values)


@Q6.mistake(
    "the prompt's last token lost",
    "You put each new token in the place of the prompt's last one. It comes behind it.",
)
def last_one_lost(keys, values, rows, W_q, W_k, W_v):
    """Each new token takes the place of the prompt's last one."""
    return branches(keys[:-1], values[:-1], rows, W_q, W_k, W_v)


# ---- q7: the loop


def write(prompt, count, embedding, W_q, W_k, W_v, head):
    return loop(prompt, count, embedding, W_q, W_k, W_v, head)


def loop(
    prompt,
    count,
    embedding,
    W_q,
    W_k,
    W_v,
    head,
    choose=np.argmax,
    itself=True,
    forgets=False,
    rereads=False,
    start=0,
):
    """The logits of every step. With the cache: keys and values of what was read before."""
    x = embedding[prompt[start:]]
    keys, values = x[:-1] @ W_k, x[:-1] @ W_v
    row, logits = x[-1], []
    for _ in range(count):
        if rereads and logits:
            keys, values = (
                np.vstack([keys, embedding[prompt] @ W_k]),
                np.vstack([values, embedding[prompt] @ W_v]),
            )
        later = np.vstack([keys, row @ W_k]), np.vstack([values, row @ W_v])
        seen = later if itself else (keys, values)
        logits.append((row + attention((row @ W_q)[None], *seen)[0]) @ head)
        keys, values = (keys[:0], values[:0]) if forgets else later
        row = embedding[choose(logits[-1])]
    return np.array(logits)


def loop_with(**change):
    return lambda *case: loop(*case, **change)


def loop_case(rng, length, count, words=9, width=4, key=3):
    draw = normal(rng)
    prompt = rng.integers(0, words, size=length)
    return (
        prompt,
        count,
        draw(words, width),
        draw(width, key),
        draw(width, key),
        draw(width, width),
        draw(width, words),
    )


Q7 = Exercise(
    "q7",
    "The loop",
    answer="write",
    reference=write,
    cases=(
        Property("the first step", 2, lambda rng: [loop_case(rng, 5, 1, 6, 3, 4)]),
        Property("all steps", 3, lambda rng: [loop_case(rng, 4, 3), loop_case(rng, 2, 2, 7, 5, 2)]),
    ),
    refuse=("plainformer.generation.generate",),
)

Q7.mistake(
    "blind to itself",
    "Your newest token reads only what came before. It reads itself, too: its key and value go in first.",
    loop_with(itself=False),
)
Q7.mistake(
    "forgetful",
    "After the first step, your tokens read themselves alone. Keep the keys and values of all that was read.",
    loop_with(forgets=True),
)
Q7.mistake(
    "the prompt twice",
    "The prompt's keys and values are added again at every step. They are in the cache already.",
    loop_with(rereads=True),
)
Q7.mistake(
    "last token of the prompt",
    "Only the last token of the prompt has been read. The first step reads the whole prompt.",
    loop_with(start=-1),
)
Q7.mistake(
    "the smallest logit",
    "You go on with the word of the smallest logit. Take the largest.",
    loop_with(choose=np.argmin),
)
