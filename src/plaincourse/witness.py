"""A real model as a witness: what SmolLM2 (135 million parameters) said when it was recorded, for chapters
that come before the one that runs it. ``tools/witness.py`` makes the recordings, and a test compares them
with the live model.

>>> says("The capital of France is")[0]
(' Paris', 0.77)
"""

import json
from functools import cache
from pathlib import Path

import numpy as np

from plainformer import llama
from plainformer.generation import generate
from plainformer.sampling import probabilities

from .recording import observe

FILE = Path(__file__).with_name("witness.json")

TAKEN = [1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 5000, 20000]


@cache
def recorded():
    """All recordings."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def says(text):
    """The likeliest next tokens after a recorded text with their probabilities, the likeliest first."""
    return [tuple(pair) for pair in of("says", text)]


def looks(name):
    """A recorded head: its tokens, a list of T, and its attention weights, (T, T)."""
    look = of("looks", name)
    return look["tokens"], np.array(look["weights"])


def writes(name):
    """A recorded continuation: the text that was given and what the model added."""
    return tuple(of("writes", name))


def collects(text):
    """After a recorded text: how many of the likeliest tokens are taken, and their shares' sum. Two (n,)."""
    return np.array(of("collects", text)).T


def expects(text):
    """The tokens of a recorded text after its first, each with the probability that it had, from one run."""
    return [tuple(pair) for pair in of("expects", text)]


def neighbours(token):
    """The tokens whose rows of the embedding lie nearest to a recorded token's, with the cosines, the nearest
    first.
    """
    return [tuple(pair) for pair in of("neighbours", token)]


def parameters():
    """How many parameters the recorded model has."""
    return of("model", "parameters")


def of(kind, name):
    """One recording. KeyError with the names of all if there is none."""
    if name not in recorded()[kind]:
        raise KeyError(
            f"nothing is recorded for {name!r}; recorded are {', '.join(map(repr, recorded()[kind]))}"
        )
    return recorded()[kind][name]


def size(model):
    """What ``parameters`` gives, from the live model; a tied head is the embedding and counts once."""
    return int(sum(np.size(leaf) for leaf in leaves(model)))


def leaves(record):
    """The arrays of a model's records."""
    if isinstance(record, tuple) and not isinstance(record, llama.Config):
        return [leaf for part in record for leaf in leaves(part)]
    return [record] if isinstance(record, np.ndarray) else []


def said(text, model, tokenizer, count):
    """What ``says`` gives, from the live model, to two decimals."""
    logits, _ = llama.forward(tokenizer.encode(text), model)
    return listed(probabilities(logits[-1]), tokenizer, count)


def looked(text, block, head, model, tokenizer):
    """What ``looks`` gives, from the live model, to two decimals."""
    ids = tokenizer.encode(text)
    _, weights = observe(ids, model)
    tokens = [tokenizer.decode([i]) for i in ids]
    return {"tokens": tokens, "weights": rounded(weights[block, head])}


def written(text, count, model, tokenizer, seed=0, **settings):
    """What ``writes`` gives, from the live model."""
    ids = generate(
        llama.forward, model, tokenizer.encode(text), count, np.random.default_rng(seed), **settings
    )
    return [text, tokenizer.decode(list(ids))]


def collected(text, model, tokenizer):
    """What ``collects`` gives, from the live model: sums of shares to three decimals."""
    logits, _ = llama.forward(tokenizer.encode(text), model)
    sums = np.cumsum(np.sort(probabilities(logits[-1]))[::-1])
    return [[taken, round(float(sums[taken - 1]), 3)] for taken in TAKEN]


def expected(text, model, tokenizer):
    """What ``expects`` gives, from the live model, to two decimals."""
    ids = tokenizer.encode(text)
    logits, _ = llama.forward(ids, model)
    came = [probabilities(row)[after] for row, after in zip(logits, ids[1:], strict=False)]
    return [[tokenizer.decode([i]), number] for i, number in zip(ids[1:], rounded(came), strict=True)]


def nearest(token, model, tokenizer, count):
    """What ``neighbours`` gives, from the live model, to two decimals. ValueError if it is not one token."""
    ids = tokenizer.encode(token)
    if len(ids) != 1:
        raise ValueError(f"nearest: token must be one token, got {len(ids)} in {token!r}")
    rows = model.embedding / np.linalg.norm(model.embedding, axis=1, keepdims=True)
    return listed(rows @ rows[ids[0]], tokenizer, count + 1)[1:]


def listed(numbers, tokenizer, count):
    """The tokens with the largest numbers, and these, to two decimals."""
    order = np.argsort(-numbers, kind="stable")[:count]
    return [[tokenizer.decode([i]), number] for i, number in zip(order, rounded(numbers[order]), strict=True)]


def rounded(numbers):
    """Plain lists, to two decimals."""
    return np.round(np.asarray(numbers, dtype=float), 2).tolist()


def lines(recordings):
    """The recordings as JSON, a line for each."""
    kinds = []
    for kind, entries in recordings.items():
        rows = [
            f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in entries.items()
        ]
        kinds.append(f'"{kind}": {{\n' + ",\n".join(rows) + "\n}")
    return "{\n" + ",\n".join(kinds) + "\n}\n"
