"""What a model does with a text, recorded: all attention weights, and what the stream would say after each
block.
"""

from itertools import groupby

import numpy as np

from plainformer import llama
from plainformer.attention import attention_weights, causal_mask, project, repeat_heads
from plainformer.embedding import embed
from plainformer.normalization import rms_norm
from plainformer.positions import rope
from plainformer.sampling import probabilities

LISTED = 6  # words of each reading, fewer if they have less than half a per cent
INVISIBLE = {" ": "space", "\n": "new line", "\t": "tab", "\xa0": "no-break space"}


def observe(ids, model):
    """Run a ``llama.Llama``: the stream before, between and after its blocks, (L + 1, T, E), and all weights,
    (L, H, T, T).
    """
    x = embed(ids, model.embedding)
    stream, weights = [x], []
    for params in model.blocks:
        weights.append(looks(x, params, model.config))
        x, _ = llama.block(x, params, model.config)
        stream.append(x)
    return np.array(stream), np.array(weights)


def looks(x, params, config):
    """The attention weights of one block of a ``llama.Llama`` whose input is x, (H, T, T)."""
    normed, positions = rms_norm(x, params.attention_norm, config.eps), np.arange(len(x))
    query, key, _ = project(normed, normed, params.attention, config.heads)
    query, key = (rope(rows, positions, config.base, config.pairing) for rows in (query, key))
    key = repeat_heads(key, len(query) // len(key))
    return attention_weights(query, key, causal_mask(len(x)))


def lens(stream, model):
    """What rows of the stream would say if no block followed, in probabilities, (..., V)."""
    return probabilities(llama.logits(stream, model))


def written(token):
    """A token for a reader: in quotation marks, so that a space shows, or in words if there is nothing to
    see.
    """
    if token.strip():
        return f"“{token}”"
    runs = [(INVISIBLE.get(character, "blank"), len(list(run))) for character, run in groupby(token)]
    return f"({' + '.join(name if count == 1 else f'{count} × {name}' for name, count in runs)})"


def reading(shares, tokenizer):
    """From all words' shares in per cent, (V): the likeliest words with theirs, the likeliest first, and what
    these leave.
    """
    order = np.argsort(-shares, kind="stable")[:LISTED]
    order = order[: max(1, int((shares[order] >= 0.5).sum()))]
    listed = [[written(tokenizer.decode([i])), round(float(shares[i]))] for i in order]
    return listed, round(float(100 - shares[order].sum()))


def record(text, model, tokenizer):
    """What ``explorables.Inside`` shows of a model and a text of 2 to 12 tokens: a dictionary of plain lists,
    rounded.

    prompt: the tokens. weights: in hundredths, by block, head and token, up to the token itself. says: the
    likeliest words with their shares in per cent, by blocks that have run and token. others: what these
    leave. place: where the word stands that is likeliest after the last block, 1 for the likeliest, to two
    digits, since far places depend on last digits.
    """
    ids = tokenizer.encode(text)
    if not 2 <= len(ids) <= 12:
        raise ValueError(f"record: text must have 2 to 12 tokens, got {len(ids)}")
    stream, weights = observe(ids, model)
    shares = 100 * lens(stream, model)
    final = np.take_along_axis(shares, shares[-1:].argmax(-1)[..., None], -1)
    ahead = (shares > final).sum(-1)
    readings = [[reading(row, tokenizer) for row in rows] for rows in shares]
    return {
        "prompt": [tokenizer.decode([i]).strip() or written(tokenizer.decode([i])) for i in ids],
        "weights": [
            [[[round(100 * float(w)) for w in row[: t + 1]] for t, row in enumerate(head)] for head in heads]
            for heads in weights
        ],
        "says": [[listed for listed, _ in row] for row in readings],
        "others": [[left for _, left in row] for row in readings],
        "place": [[int(float(f"{count + 1:.1e}")) for count in row] for row in ahead.tolist()],
    }


def sizes(recording):
    """How many tokens, blocks and heads a recording has. ValueError if it is not one that ``record`` could
    return.
    """
    try:
        tokens, blocks, heads = (
            len(recording["prompt"]),
            len(recording["weights"]),
            len(recording["weights"][0]),
        )
        rows = [[len(row) for row in head] for block in recording["weights"] for head in block]
        lists = [recording[name] for name in ("says", "others", "place")]
        fits = rows == [list(range(1, tokens + 1))] * (blocks * heads)
        fits &= all(
            len(values) == blocks + 1 and {len(row) for row in values} == {tokens} for values in lists
        )
        fits &= all(row and {len(pair) for pair in row} == {2} for rows in recording["says"] for row in rows)
    except (KeyError, IndexError, TypeError, AttributeError):
        fits = False
    if not fits:
        raise ValueError("recording must be what plaincourse.recording.record gives")
    return tokens, blocks, heads
