"""The project, part 2: a sampler and a cache for the block of part 1, running the trained toy model."""

import runpy
from bisect import bisect_right
from functools import cache as once

import numpy as np

from plaincourse import language
from plaincourse.exercises import Exercise, Property
from plainformer.activations import softmax
from plainformer.attention import Attention, attend_heads, causal_mask, repeat_heads, split_heads
from plainformer.linear import Linear, linear
from plainformer.llama import Block
from plainformer.mlp import SwiGLU, swiglu
from plainformer.normalization import rms_norm
from plainformer.positions import rope
from plaingrader import course
from plaingrader.questions import variants

mine = variants("project_2")


part_1 = runpy.run_path(str(course.folder() / "reference" / "project_1.py"))


gain, block_case = part_1["gain"], part_1["block_case"]


FINISHED = (*part_1["FINISHED"], "plainformer.generation.generate", "plainformer.sampling.sample")


# ---- q1: min-p with a pencil


def kept_shares(shares, p):
    return shared_out(shares, shares >= p * shares.max())


def shared_out(shares, keep):
    return np.where(keep, shares, 0) / shares[keep].sum()


Q1 = Exercise(
    "q1",
    "Min-p with a pencil",
    answer="q1",
    reference=kept_shares,
    cases=(Property("the shares", 3, lambda rng: [mine.q1(rng)]),),
    tolerance=1e-4,
    by_hand=True,
)

Q1.mistake(
    "compared with p alone",
    "The line is not p itself: it is p times the share of the likeliest word.",
    lambda shares, p: shared_out(shares, shares >= p),
)
Q1.mistake(
    "not shared out again",
    "The kept words are right. Their shares must sum to 1 again: divide them by their sum.",
    lambda shares, p: np.where(shares >= p * shares.max(), shares, 0),
)


@Q1.mistake(
    "top-p",
    "You added shares up until they reached p. That is top-p; min-p compares each share with the largest"
    " one.",
)
def nucleus(shares, p):
    """Top-p with the same number."""
    order = np.argsort(-shares)
    count = 1 + np.sum(np.cumsum(shares[order]) < p - 1e-12)
    return shared_out(shares, np.isin(np.arange(len(shares)), order[:count]))


@Q1.mistake(
    "softmax of shares",
    "The numbers are shares already. Divide the kept ones by their sum, without exp.",
)
def bent_again(shares, p):
    keep = shares >= p * shares.max()
    return shared_out(np.exp(shares), keep)


# ---- q2: a second portion


def second_portion(powers, values):
    return mixed(np.tril(np.ones(powers.shape), k=powers.shape[1] - powers.shape[0]))(powers, values)


def mixed(mask):
    def answer(powers, values):
        weights = powers * mask
        return weights @ values / weights.sum(axis=1)

    return answer


def mixed_from(powers, values, first):
    """Only the positions from `first` on, as if those before had never been."""
    return mixed(
        np.tril(np.ones(powers.shape), k=powers.shape[1] - powers.shape[0])
        * (np.arange(len(values)) >= first)
    )(powers, values)


Q2 = Exercise(
    "q2",
    "The second portion",
    answer="q2",
    reference=second_portion,
    cases=(Property("what the two new tokens read", 3, lambda rng: [mine.q2(rng)]),),
    tolerance=1e-4,
    by_hand=True,
)

Q2.mistake(
    "mask from the left",
    "You counted from the left, as if the new tokens were the first of the text. They are the fourth and the"
    " fifth.",
    mixed(np.tril(np.ones((2, 5)))),
)
Q2.mistake("no mask", "The fourth token cannot read the fifth: it comes later.", mixed(np.ones((2, 5))))
Q2.mistake(
    "without the cache",
    "The new tokens read the three positions in the cache, too.",
    lambda powers, values: mixed_from(powers, values, 3),
)
Q2.mistake(
    "blind to itself",
    "A token reads itself, too: the fourth reads four positions, the fifth all five.",
    mixed(np.tril(np.ones((2, 5)), k=2)),
)


@Q2.mistake(
    "plain averages",
    "The scores are not all the same. Weigh each value by its power, and divide by the sum of the powers.",
)
def evenly(powers, values):
    return second_portion(np.ones_like(powers), values)


# ---- q3: min-p


def min_p(logits, temperature, p):
    return min_p_with()(logits, temperature, p)


def min_p_with(
    threshold=lambda shares, p: p * shares.max(axis=-1, keepdims=True),
    share=softmax,
    again=True,
    reached=np.greater_equal,
):
    def answer(logits, temperature, p):
        shares = share(logits / temperature)
        kept = np.where(reached(shares, threshold(shares, p)), shares, 0.0)
        return kept / kept.sum(axis=-1, keepdims=True) if again else kept

    return answer


def overflowing(logits):
    powers = np.exp(logits)
    return powers / powers.sum(axis=-1, keepdims=True)


def logits_cases(rng, *shapes, size=2.0):
    settings = [(1.0, 0.2), (0.5, 0.05), (2.0, 0.4), (1.5, 0.1)]
    return [(size * rng.normal(size=shape), *settings[i % 4]) for i, shape in enumerate(shapes)]


def spread(temperature, p):
    """Six logits, of which each way of filtering keeps others."""
    return np.log(np.array([0.03, 0.4, 0.12, 0.25, 0.15, 0.05])), temperature, p


def extreme_cases(rng):
    """Logits of which exp overflows, or is 0, and the two ends of p."""
    rows = [rng.normal(size=size) for size in (6, 5, 6, 6)]
    return [(rows[0] + 1500, 1.0, 0.2), (rows[1] - 1500, 0.5, 0.1), (rows[2], 1.5, 1.0), (rows[3], 1.5, 0.0)]


def unequal_rows(rng):
    """A row with one word far above the others, and a row of equals: no line serves both."""
    return (
        np.stack([6.0 * np.eye(6)[rng.integers(6)], rng.uniform(0, 0.1, size=6)]) + rng.normal(size=(2, 1)),
        1.0,
        0.4,
    )


Q3 = Exercise(
    "q3",
    "Min-p",
    answer="min_p",
    reference=min_p,
    cases=(
        Property(
            "one row",
            2,
            lambda rng: [*logits_cases(rng, (8,), (7,)), spread(2.0, 0.35), spread(1.0, 0.3)],
        ),
        Property(
            "many rows at once", 1, lambda rng: [*logits_cases(rng, (3, 7), (2, 3, 5)), unequal_rows(rng)]
        ),
        Property(
            "large numbers, and p at its ends",
            1,
            extreme_cases,
        ),
    ),
    refuse=("transformers.MinPLogitsWarper", *FINISHED),
)

Q3.mistake(
    "compared with p alone",
    "The line is p times the largest share of the row.",
    min_p_with(lambda shares, p: p),
)


@Q3.mistake(
    "filtered before the temperature",
    "Divide by the temperature first: the filter looks at the shares that it gives.",
)
def filtered_first(logits, temperature, p):
    keep = min_p(logits, 1.0, p) > 0
    return softmax(np.where(keep, logits / temperature, -np.inf))


Q3.mistake(
    "not shared out again",
    "Divide the kept shares by their sum, row by row.",
    min_p_with(again=False),
)
Q3.mistake(
    "one line for all rows",
    "Each row has a largest share of its own: take the maximum along the last axis.",
    min_p_with(lambda shares, p: p * shares.max()),
)
Q3.mistake(
    "overflow",
    "The exponential of a large logit is infinite. Subtract the row's largest logit first.",
    min_p_with(share=overflowing),
)
Q3.mistake(
    "the likeliest word lost",
    "A share that is just p times the largest is kept. With p = 1 the likeliest word stays.",
    min_p_with(reached=np.greater),
)


# ---- q4: the draw


def draw(shares, u):
    sums = np.cumsum(shares)
    return int(np.argmax(sums / sums[-1] > u))


def draw_cases(rng):
    """Shares in which every way of going through the words ends elsewhere for some of these numbers."""
    shares = rng.permutation(np.array([0.05, 0.1, 0.15, 0.3, 0.4]))
    spaced = (np.arange(10) + rng.uniform(0.2, 0.8, size=10)) / 10
    other = rng.dirichlet(np.ones(7))
    return [*((shares, float(u)) for u in spaced), *((other, float(u)) for u in rng.random(6))]


def edge_cases(rng):
    """The number 0, a number that is a sum, and the largest number below 1, with words that must never
    come.
    """
    halves, tenths = np.array([0.0, 0.25, 0.25, 0.0, 0.5]), np.array([*[0.1] * 10, 0.0])
    largest = float(np.nextafter(1.0, 0.0))
    return [
        (halves, 0.0),
        (halves, 0.25),
        (halves, 0.5),
        (halves, largest),
        (tenths, largest),
        (np.array([0.0, 0.0, 1.0]), 0.0),
    ]


Q4 = Exercise(
    "q4",
    "One draw",
    answer="draw",
    reference=draw,
    cases=(Property("draws", 2, draw_cases), Property("at the edges", 2, edge_cases)),
    refuse=FINISHED,
)


@Q4.mistake("likeliest first", "Go through the words in the order of their ids, not of their shares.")
def likeliest_first(shares, u):
    order = np.argsort(-shares, kind="stable")
    return int(order[draw(shares[order], u)])


@Q4.mistake("from the end", "Begin to add at id 0, not at the last id.")
def from_the_end(shares, u):
    return len(shares) - 1 - draw(shares[::-1], u)


@Q4.mistake(
    "the sum may equal u",
    "The sum must be greater than u. With u = 0 and ≥, a first word of share 0 is drawn.",
)
def reached(shares, u):
    sums = np.cumsum(shares)
    return int(np.argmax(sums / sums[-1] >= u))


@Q4.mistake(
    "fell off the end",
    "Rounded shares may sum to less than 1, and then no sum is greater than u. Divide the sums by the last"
    " one.",
)
def fell_off(shares, u):
    return int(np.searchsorted(np.cumsum(shares), u, side="right"))


@Q4.mistake("one too early", "You return the id before: the word that takes the sum over u is the one drawn.")
def before(shares, u):
    return max(draw(shares, u) - 1, 0)


Q4.mistake("no draw", "This is the likeliest word, whatever u is.", lambda shares, u: int(shares.argmax()))


# ---- q5: a penalty for what has been said


def penalize(logits, seen, penalty):
    return penalized()(logits, seen, penalty)


def penalized(
    up=lambda z, penalty: z / penalty, down=lambda z, penalty: z * penalty, which=lambda seen, size: seen
):
    """Positive logits go through `up`, negative ones through `down`."""

    def answer(logits, seen, penalty):
        result = np.array(logits)
        for token in set(which(seen, len(logits))):
            result[token] = (up if result[token] > 0 else down)(result[token], penalty)
        return result

    return answer


def divided(z, penalty):
    return z / penalty


def multiplied(z, penalty):
    return z * penalty


def handed_out_penalty(logits, seen, penalty):
    result = logits.copy()
    for token in seen:
        result[token] = result[token] / penalty
    return result


def seen_cases(rng, signs, repeated):
    """Logits of given signs at the ids that were seen."""
    cases = []
    for size in (6, 9):
        logits = rng.uniform(0.5, 3, size=size) * rng.choice([-1, 1], size=size)
        seen = rng.permutation(size)[:3]
        logits[seen] = np.abs(logits[seen]) * signs
        again = [seen[0], seen[1], seen[0]] if repeated else []
        cases.append((logits, [int(token) for token in [*seen, *again]], float(rng.choice([1.25, 1.5, 2.0]))))
    return cases


Q5 = Exercise(
    "q5",
    "Mend the penalty",
    answer="penalize",
    reference=penalize,
    cases=(
        Property("positive logits", 1, lambda rng: seen_cases(rng, 1, False)),
        Property("negative logits", 1, lambda rng: seen_cases(rng, -1, False)),
        Property("words seen more than once", 1, lambda rng: seen_cases(rng, np.array([1, -1, 1]), True)),
    ),
    refuse=("transformers.RepetitionPenaltyLogitsProcessor",),
    handed_out=handed_out_penalty,
)

Q5.mistake(
    "divided, whatever the sign",
    "A negative logit divided by 2 is larger than before: the word becomes likelier.",
    penalized(down=divided),
)
Q5.mistake(
    "multiplied, whatever the sign",
    "A positive logit multiplied by 2 is larger than before: the word becomes likelier.",
    penalized(up=multiplied),
)
Q5.mistake(
    "the wrong way round",
    "You reward the words: positive logits are to shrink, negative ones to go down.",
    penalized(multiplied, divided),
)


@Q5.mistake("once for each time", "A word is penalized once, however often it was seen.")
def each_time(logits, seen, penalty):
    for token in seen:
        logits = penalize(logits, [token], penalty)
    return logits


Q5.mistake(
    "all words",
    "Only the words in seen are penalized.",
    penalized(which=lambda seen, size: range(size)),
)


# ---- q6: the cache grows


def grow(normed, attention, key_gain, cache, base, eps):
    return grown()(normed, attention, key_gain, cache, base, eps)


def grown(
    places=lambda old, new: np.arange(old, old + new), turn=rope, turn_values=False, norm=rms_norm, after=True
):
    """The cache with new keys and values; or with other positions, turns, norms, or in another order."""

    def answer(normed, attention, key_gain, cache, base, eps):
        groups = cache.shape[1]
        positions = places(cache.shape[2], len(normed))
        key, value = (split_heads(normed @ table.weight, groups) for table in attention[1:3])
        key = turn(norm(key, key_gain, eps), positions, base, "halves")
        value = turn(value, positions, base, "halves") if turn_values else value
        new = np.stack([key, value])
        return np.concatenate([cache, new] if after else [new, cache], axis=2)

    return answer


def grow_case(rng, groups, old, new, base=10_000.0, eps=1e-5):
    width, head_width, heads = 5, 4, 3 * groups
    tables = [
        rng.normal(size=size)
        for size in [
            (width, heads * head_width),
            *2 * [(width, groups * head_width)],
            (heads * head_width, width),
        ]
    ]
    cache = rng.normal(size=(2, groups, old, head_width))
    return (
        rng.normal(size=(new, width)),
        Attention(*map(Linear, tables)),
        gain(rng, head_width),
        cache,
        base,
        eps,
    )


Q6 = Exercise(
    "q6",
    "The cache grows",
    answer="grow",
    reference=grow,
    cases=(
        Property("an empty cache", 2, lambda rng: [grow_case(rng, 2, 0, 3)]),
        Property(
            "one more token",
            2,
            lambda rng: [grow_case(rng, 2, 5, 1), grow_case(rng, 1, 3, 1, 100.0, 0.2)],
        ),
        Property("a portion", 1, lambda rng: [grow_case(rng, 3, 4, 2, 500.0, 0.1)]),
    ),
    tolerance=1e-8,
    refuse=("plainformer.cache.keep", *FINISHED),
)

Q6.mistake(
    "positions start again",
    "The first new token has position S, the number of positions in the cache, not 0.",
    grown(lambda old, new: np.arange(new)),
)
Q6.mistake(
    "positions one too far",
    "The first new token has position S: positions count from 0.",
    grown(lambda old, new: np.arange(old + 1, old + new + 1)),
)
Q6.mistake(
    "keys not turned",
    "Keys go into the cache turned by their positions.",
    grown(turn=lambda rows, *_: rows),
)
Q6.mistake(
    "values turned too",
    "Only queries and keys are turned. Values are handed on as they are.",
    grown(turn_values=True),
)
Q6.mistake(
    "keys not normed",
    "Each head's key is normed, with key_gain, before it is turned.",
    grown(norm=lambda rows, gain, eps: rows),
)
Q6.mistake("new before old", "New positions come after the old ones.", grown(after=False))


# ---- q7: the block reads the cache


def cached_block(x, block, gains, cache, heads, base, eps):
    return cached_with()(x, block, gains, cache, heads, base, eps)


def cached_with(
    mask=causal_mask,
    places=lambda old, new: np.arange(old, old + new),
    first=lambda positions, new: 0,
    pick=lambda gains, cache: (gains[0], cache[0], cache[1]),
    add=lambda x, normed, read: x + read,
    repeat=repeat_heads,
):
    """The block with the cache; or with another mask, other positions, keys, sums or sharing of heads."""

    def answer(x, block, gains, cache, heads, base, eps):
        new, positions = len(x), cache.shape[2]
        query_gain, key, value = pick(gains, cache)
        start = first(positions, new)
        normed = rms_norm(x, block.attention_norm, eps)
        query = split_heads(normed @ block.attention.query.weight, heads)
        query = rope(rms_norm(query, query_gain, eps), places(positions - new, new), base, "halves")
        key, value = (repeat(part[:, start:], heads // len(part)) for part in (key, value))
        read = linear(attend_heads(query, key, value, mask(new, positions - start)), *block.attention.output)
        x = add(x, normed, read)
        return x + swiglu(rms_norm(x, block.mlp_norm, eps), block.mlp)

    return answer


def cached_case(rng, old, new, heads, groups, base=10_000.0, eps=1e-5, size=1.0):
    x, block, gains, *_ = block_case(rng, new, heads, groups, base, eps, size)
    return x, block, gains, rng.normal(size=(2, groups, old + new, gains.shape[1])), heads, base, eps


Q7 = Exercise(
    "q7",
    "The block reads the cache",
    answer="cached_block",
    reference=cached_block,
    cases=(
        Property("one new token", 3, lambda rng: [cached_case(rng, 6, 1, 4, 2, 50.0, 0.05, 0.5)]),
        Property("nothing read before", 1, lambda rng: [cached_case(rng, 0, 4, 2, 1)]),
        Property(
            "a portion after others",
            2,
            lambda rng: [cached_case(rng, 3, 2, 4, 2), cached_case(rng, 5, 3, 6, 2, 50.0, 0.05, 0.5)],
        ),
    ),
    tolerance=1e-7,
    refuse=FINISHED,
)

Q7.mistake(
    "mask from the left",
    "The new tokens are the last positions: the last of them reads the whole cache.",
    cached_with(mask=part_1["from_the_left"]),
)
Q7.mistake(
    "no mask",
    "In a portion of several tokens, none may read those that come after it.",
    cached_with(mask=lambda new, positions: None),
)
Q7.mistake(
    "positions start again",
    "The queries have the last positions in the cache, not 0, 1, 2.",
    cached_with(places=lambda old, new: np.arange(new)),
)
Q7.mistake(
    "only the new positions",
    "The new tokens read all positions in the cache, old and new.",
    cached_with(first=lambda positions, new: positions - new),
)
Q7.mistake(
    "keys and values exchanged",
    "cache[0] holds the keys, cache[1] the values.",
    cached_with(pick=lambda gains, cache: (gains[0], cache[1], cache[0])),
)
Q7.mistake(
    "the key's gain",
    "Queries are normed with gains[0].",
    cached_with(pick=lambda gains, cache: (gains[1], cache[0], cache[1])),
)
Q7.mistake(
    "no sum after attention",
    "What was read is added to x.",
    cached_with(add=lambda x, normed, read: read),
)
Q7.mistake(
    "heads shared in turn",
    "Neighbouring query heads share a key/value head: 0, 0, 1, 1.",
    cached_with(repeat=part_1["tiled"]),
)


# ---- q8: the toy model writes

SETTINGS = ((1.5, 0.02), (2.0, 0.05), (5.0, 0.3))  # temperature and p


SENTENCES = 40


@once
def toy():
    """The stored model, as embedding, blocks, gains, last gain and settings."""
    with np.load(course.folder() / "source/project_2/toy.npz", allow_pickle=False) as stored:
        data = {name: stored[name].astype(float) for name in stored.files}

    layers = range(int(data["layers"]))
    attention = [
        Attention(*(Linear(data[f"{i}.{name}"]) for name in ("query", "key", "value", "output")))
        for i in layers
    ]
    mlp = [SwiGLU(*(data[f"{i}.{name}"] for name in ("gate", "up", "down"))) for i in layers]
    blocks = tuple(
        Block(data[f"{i}.attention_norm"], attention[i], data[f"{i}.mlp_norm"], mlp[i]) for i in layers
    )
    gains = tuple(data[f"{i}.gains"] for i in layers)
    return (
        data["embedding"],
        blocks,
        gains,
        data["norm"],
        (int(data["heads"]), float(data["base"]), float(data["eps"])),
    )


def next_logits(texts):
    """The logits after each of these texts, (N, T) ids, from one pass without a cache."""
    embedding, blocks, gains, norm, settings = toy()
    x = embedding[texts]
    for block, gain in zip(blocks, gains, strict=True):
        x = part_1["decoder_block"](x, block, gain, *settings)
    return part_1["last_logits"](x, norm, embedding, settings[-1])


@once
def tree(setting, shares, memory):
    """For every text that can be written with this setting, the sums that a draw goes through.

    A text is known by its last ``memory`` ids. A thousand students' sentences pass through the same few
    thousand texts.
    """
    found, front = {}, [(0,)]
    for _ in range(language.LENGTH - 1):
        given = shares(next_logits(np.array(front)), *setting)
        totals = np.cumsum(given, axis=-1)
        found |= zip(front, (totals / totals[:, -1:]).tolist(), strict=True)
        front = [
            (*text, int(i))[-memory:]
            for text, row in zip(front, given, strict=True)
            for i in np.flatnonzero(row)
        ]
        front = [text for text in dict.fromkeys(front) if text not in found]
        if not front:
            break
    return found


@once
def legal():
    return frozenset(map(tuple, language.table()[0].tolist()))


def counts(seed, shares=min_p, memory=language.LENGTH):
    """How many sentences are in the language, for each setting, and the sum of all ids."""
    uniforms = np.random.default_rng(seed).random((len(SETTINGS), SENTENCES, language.LENGTH - 1)).tolist()
    right, total = [], 0
    for setting, rows in zip(SETTINGS, uniforms, strict=True):
        found = tree(setting, shares, memory)
        texts = [(0,)] * SENTENCES
        for t in range(language.LENGTH - 1):
            texts = [
                (*text, bisect_right(found[text[-memory:]], row[t]))
                for text, row in zip(texts, rows, strict=True)
            ]
        right.append(sum(text in legal() for text in texts))
        total += sum(map(sum, texts))
    return np.array([*right, total])


def unheated(logits, temperature, p):
    return min_p(logits, 1.0, p)


Q8 = Exercise(
    "q8",
    "How many are grammatical",
    answer="q8",
    reference=lambda seed: counts(seed),
    cases=(Property("the counts", 4, lambda rng: [mine.q8(rng)]),),
    tolerance=1e-6,
    by_hand=True,
)

Q8.mistake(
    "no temperature",
    "Hand the temperature over: these are the sentences at temperature 1.",
    lambda seed: counts(seed, unheated),
)
Q8.mistake(
    "filtered before the temperature",
    "The temperature acts first, then the filter.",
    lambda seed: counts(seed, filtered_first),
)
Q8.mistake(
    "the cache is not handed on",
    "The model saw the newest word alone. Go on with the caches that the last step gave.",
    lambda seed: counts(seed, memory=1),
)
