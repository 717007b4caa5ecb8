"""Exercises of the generation chapter."""

import numpy as np

from plainformer.attention import attention

from . import Exercise

# ---- the size of a cache


def cache_bytes(layers, heads, groups, width, tokens, bytes_each):
    """Keys and values of all layers; the query heads take no room."""
    return 2 * layers * groups * width * tokens * bytes_each


def bytes_case(rng):
    """A model small enough for a pencil."""
    return [(3, 6, 2, 8, 25, 4)]


CACHE_BYTES = Exercise("generation-cache-bytes", "A cache on a napkin", cache_bytes, bytes_case, by_hand=True)

CACHE_BYTES.mistake(
    "query heads",
    "You counted the 6 query heads. Only the 2 key/value heads are kept; the query heads share them.",
    lambda layers, heads, groups, width, tokens, bytes_each: cache_bytes(
        layers, heads, heads, width, tokens, bytes_each
    ),
)
CACHE_BYTES.mistake(
    "keys only",
    "That is the room for the keys. The values need as much again.",
    lambda layers, heads, groups, width, tokens, bytes_each: layers * groups * width * tokens * bytes_each,
)
CACHE_BYTES.mistake(
    "one layer",
    "That is one layer. Each of the 3 layers has keys and values of its own.",
    lambda layers, heads, groups, width, tokens, bytes_each: cache_bytes(
        1, heads, groups, width, tokens, bytes_each
    ),
)
CACHE_BYTES.mistake(
    "numbers, not bytes",
    "You counted the numbers. Each takes 4 bytes.",
    lambda layers, heads, groups, width, tokens, bytes_each: cache_bytes(
        layers, heads, groups, width, tokens, 1
    ),
)
CACHE_BYTES.mistake(
    "queries too",
    "You kept the queries as well. No later token reads them.",
    lambda layers, heads, groups, width, tokens, bytes_each: (
        (2 * groups + heads) * layers * width * tokens * bytes_each
    ),
)


# ---- rows through the model


def rows_to_run(prompt, new):
    """With the cache each row runs once, without it the whole text at each step; the last new token never
    goes in.
    """
    return np.array([prompt + new - 1, sum(prompt + i for i in range(new))])


def rows_cases(rng):
    """Prompts of one token and more, one new token and more."""
    return [(6, 1), (1, 4), (5, 3), *(tuple(map(int, rng.integers(2, 40, 2))) for _ in range(3))]


def rows_off_by(cached, uncached):
    def answer(prompt, new):
        return rows_to_run(prompt, new) + np.array([cached(prompt, new), uncached(prompt, new)])

    return answer


ROWS = Exercise("generation-rows", "Rows to run", rows_to_run, rows_cases)

ROWS.mistake(
    "last token run too",
    "You run the last new token as well. Nobody asks what comes after it, so it never goes in.",
    rows_off_by(lambda prompt, new: 1, lambda prompt, new: prompt + new),
)
ROWS.mistake(
    "one too many with the cache",
    "Without the cache it is right. With it, the last new token does not go in: the prompt and new − 1 rows.",
    rows_off_by(lambda prompt, new: 1, lambda prompt, new: 0),
)
ROWS.mistake(
    "new token counted without the cache",
    "With the cache it is right. Without it, each step has one row too many: the token that it writes has"
    " not gone in yet, so the first step runs the prompt alone.",
    rows_off_by(lambda prompt, new: 0, lambda prompt, new: new),
)
ROWS.mistake(
    "prompt forgotten",
    "The prompt goes through the model as well, in the first step.",
    rows_off_by(lambda prompt, new: -prompt, lambda prompt, new: 0),
)
ROWS.mistake(
    "the same text each time",
    "Without the cache the text grows: one row more at each step.",
    rows_off_by(lambda prompt, new: 0, lambda prompt, new: -new * (new - 1) // 2),
)
ROWS.mistake(
    "other way round",
    "The two numbers are right and in the other order: first with the cache, then without.",
    lambda prompt, new: rows_to_run(prompt, new)[::-1].copy(),
)


# ---- one step


def read_with_cache(query, key, value, keys, values):
    """What the newest token reads: attention to the cache and to itself."""
    return attention(query[None], np.vstack([keys, key]), np.vstack([values, value]))[0]


def step_cases(rng):
    """Widths that differ, a cache of one position, and scores too large for exp."""
    cases = []
    for length, width, out, scale in [(3, 5, 2, 1.0), (1, 4, 3, 1.0), (5, 3, 3, 100.0)]:
        query, key = scale * rng.normal(size=width), rng.normal(size=width)
        cases.append(
            (
                query,
                key,
                rng.normal(size=out),
                rng.normal(size=(length, width)),
                rng.normal(size=(length, out)),
            )
        )
    return cases


STEP = Exercise("generation-step", "One step", read_with_cache, step_cases)


@STEP.mistake(
    "blind to itself",
    "The newest token reads only the cache. It may read itself as well: add its key and its value first.",
)
def blind_to_itself(query, key, value, keys, values):
    return attention(query[None], keys, values)[0]


@STEP.mistake(
    "itself alone",
    "You return the newest token's value. It should read all tokens in the cache, too.",
)
def itself_alone(query, key, value, keys, values):
    return value


@STEP.mistake("not scaled", "The scores are not divided by √D, the root of the width of a query.")
def unscaled_step(query, key, value, keys, values):
    return read_with_cache(query * np.sqrt(len(query)), key, value, keys, values)


@STEP.mistake(
    "scaled by the positions",
    "You divide by the root of the number of positions. Divide by the root of the width D of a query.",
)
def scaled_by_positions(query, key, value, keys, values):
    return read_with_cache(query * np.sqrt(len(query) / (len(keys) + 1)), key, value, keys, values)


@STEP.mistake(
    "keys and values out of step",
    "The new key stands at one end and the new value at the other, so each key is paired with another"
    " token's value.",
)
def out_of_step(query, key, value, keys, values):
    return attention(query[None], np.vstack([keys, key]), np.vstack([value, values]))[0]


@STEP.mistake("asks with the key", "You compare the new key with the keys. It is the query that asks.")
def asks_with_the_key(query, key, value, keys, values):
    return read_with_cache(key, key, value, keys, values)


# ---- the loop


def greedy(forward, prompt, count):
    """The prompt first, then one id a step; the cache remembers the rest."""
    ids, cache, written = prompt, None, []
    for _ in range(count):
        logits, cache = forward(ids, cache)
        ids = [int(logits.argmax())]
        written += ids
    return np.array(written, dtype=int)


TABLE = np.random.default_rng(2).normal(size=(16, 12))


def toy_forward(ids, cache):
    """A model that remembers each id that it has read, in order; its cache is a tuple of them."""
    read = (*(cache or ()), *map(int, ids))
    state = 0
    for place, token in enumerate(read):
        state = (3 * state + 5 * token + place + 1) % 16
    return TABLE[state], read


def loop_cases(rng):
    """Prompts of one id and more, over 12 words, and more than one count."""
    return [
        (toy_forward, rng.integers(0, 12, length).tolist(), count)
        for length, count in [(4, 16), (1, 11), (6, 16)]
    ]


LOOP = Exercise("generation-loop", "The loop", greedy, loop_cases)


@LOOP.mistake(
    "cache not carried along",
    "Each step gets one id and no cache, so it knows nothing of the text. Hand the new cache to the next"
    " step.",
)
def forgetful(forward, prompt, count):
    ids, written = prompt, []
    for _ in range(count):
        logits, _ = forward(ids, None)
        ids = [int(logits.argmax())]
        written += ids
    return np.array(written)


@LOOP.mistake(
    "whole text and cache",
    "You hand over the whole text and the cache, so every token is read twice. After the first step, only"
    " the new id goes in.",
)
def whole_text_again(forward, prompt, count):
    text, cache = list(prompt), None
    for _ in range(count):
        logits, cache = forward(text, cache)
        text.append(int(logits.argmax()))
    return np.array(text[len(prompt) :])


@LOOP.mistake(
    "prompt at every step",
    "You hand over the prompt at every step. After the first one, the new id goes in.",
)
def prompt_again(forward, prompt, count):
    cache, written = None, []
    for _ in range(count):
        logits, cache = forward(prompt, cache)
        written.append(int(logits.argmax()))
    return np.array(written)


@LOOP.mistake(
    "last id of the prompt",
    "Only the last id of the prompt goes in. The cache is empty at first, so the first step must read the"
    " whole prompt.",
)
def last_of_prompt(forward, prompt, count):
    return greedy(forward, prompt[-1:], count) if len(prompt) > 1 else greedy(forward, prompt, count)


@LOOP.mistake("prompt returned", "The new ids are right. Return them without the prompt.")
def with_prompt(forward, prompt, count):
    return np.concatenate([prompt, greedy(forward, prompt, count)])


@LOOP.mistake(
    "count is the whole length",
    "You stop when prompt and new ids together are `count`. It is the number of new ids.",
)
def total_length(forward, prompt, count):
    return greedy(forward, prompt, count - len(prompt))


@LOOP.mistake("smallest logit", "You take the smallest logit. The likeliest word has the largest.")
def smallest(forward, prompt, count):
    ids, cache, written = prompt, None, []
    for _ in range(count):
        logits, cache = forward(ids, cache)
        ids = [int(logits.argmin())]
        written += ids
    return np.array(written)
