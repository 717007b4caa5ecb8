"""Three right answers to each question, written independently: loops, vectorised, PyTorch."""

import math
import runpy
from functools import cache, partial
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as functional

from plaincourse import language

HERE = Path(__file__).parent
part_1 = runpy.run_path(str(HERE / "project_1.py"))
normed_row, turned_row, rotated, torch_rotated = (
    part_1[name] for name in ("normed_row", "turned_row", "rotated", "torch_rotated")
)


def kept_loops(shares, p):
    most = max(shares)
    kept = [share if share > p * most else 0.0 for share in shares]
    return [share / sum(kept) for share in kept]


def kept_sorted(shares, p):
    order = np.argsort(shares)[::-1]
    count = np.searchsorted(-shares[order], -p * shares[order[0]], side="right")
    out = np.zeros(len(shares))
    out[order[:count]] = shares[order[:count]] / np.sum(shares[order[:count]])
    return out


def kept_torch(shares, p):
    logits = torch.tensor(shares).log()
    return functional.softmax(
        logits.masked_fill(logits < logits.max() + math.log(p), -torch.inf), dim=0
    ).numpy()


def portion_loops(powers, values):
    out = []
    for t, row in enumerate(powers):
        seen = len(values) - len(powers) + t + 1
        out.append(sum(row[s] * values[s] for s in range(seen)) / sum(row[:seen]))
    return out


def portion_vectorised(powers, values):
    return np.array([np.average(values[:4], weights=powers[0, :4]), np.average(values, weights=powers[1])])


def portion_torch(powers, values):
    mask = torch.ones(2, 5, dtype=torch.bool).triu(4)
    scores = torch.tensor(powers).log().masked_fill(mask, -torch.inf)
    return (scores.softmax(dim=-1) @ torch.tensor(values)).numpy()


def min_p_loops(logits, temperature, p):
    rows = []
    for row in logits.reshape(-1, logits.shape[-1]):
        top = max(row)
        powers = [math.exp((float(z) - top) / temperature) for z in row]
        powers = [power if power >= p else 0.0 for power in powers]  # the likeliest word's power is 1
        rows.append([power / sum(powers) for power in powers])
    return np.array(rows).reshape(logits.shape)


def min_p_by_logits(logits, temperature, p):
    with np.errstate(divide="ignore"):
        gap = temperature * np.log(p)  # a share is p times the largest where its logit is this far below
    below = logits - logits.max(axis=-1, keepdims=True)
    powers = np.exp(np.where(below >= gap, below, -np.inf) / temperature)
    return powers / powers.sum(axis=-1, keepdims=True)


def min_p_torch(logits, temperature, p):
    shares = torch.softmax(torch.tensor(logits) / temperature, dim=-1)
    shares[shares < p * shares.amax(dim=-1, keepdim=True)] = 0
    return functional.normalize(shares, p=1, dim=-1).numpy()


def draw_loops(shares, u):
    total, last = 0.0, 0.0
    for share in shares:
        last += share
    for token, share in enumerate(shares):
        total += share
        if total / last > u:
            return token
    raise AssertionError("the last sum is 1, and u is below")


def draw_counting(shares, u):
    sums = np.cumsum(shares)
    return np.sum(sums / sums[-1] <= u)


def draw_torch(shares, u):
    sums = torch.tensor(shares).cumsum(0)
    return torch.searchsorted(sums / sums[-1], u, right=True).numpy()


def penalize_loops(logits, seen, penalty):
    return np.array(
        [z if token not in seen else z / penalty if z > 0 else z * penalty for token, z in enumerate(logits)]
    )


def penalize_vectorised(logits, seen, penalty):
    factors = np.ones(len(logits))
    factors[seen] = np.where(logits[seen] > 0, 1 / penalty, penalty)
    return logits * factors


def penalize_torch(logits, seen, penalty):
    logits, seen = torch.tensor(logits), torch.tensor(seen)
    said = logits[seen]
    return logits.scatter(0, seen, torch.where(said < 0, said * penalty, said / penalty)).numpy()


def grow_loops(normed, attention, key_gain, cache, base, eps):
    width, (groups, old) = len(key_gain), cache.shape[1:3]
    out = np.zeros((2, groups, old + len(normed), width))
    for g in range(groups):
        columns = slice(g * width, (g + 1) * width)
        for s in range(old):
            out[0, g, s], out[1, g, s] = cache[0, g, s], cache[1, g, s]
        for t, row in enumerate(normed):
            out[0, g, old + t] = turned_row(
                normed_row(row @ attention.key.weight[:, columns], key_gain, eps), old + t, base
            )
            out[1, g, old + t] = row @ attention.value.weight[:, columns]
    return out


def grow_vectorised(normed, attention, key_gain, cache, base, eps):
    groups, old, width = cache.shape[1:]
    key, value = (
        np.einsum("te,egd->gtd", normed, table.weight.reshape(len(normed[0]), groups, width))
        for table in attention[1:3]
    )
    key = key * key_gain / np.sqrt(np.square(key).mean(-1, keepdims=True) + eps)
    return np.append(cache, [rotated(key, np.arange(len(normed)) + old, base), value], axis=2)


def grow_torch(normed, attention, key_gain, cache, base, eps):
    normed, key, value, key_gain, cache = map(
        torch.tensor, (normed, attention.key.weight, attention.value.weight, key_gain, cache)
    )
    old, width = cache.shape[2:]
    key, value = ((normed @ table).unflatten(-1, (-1, width)).transpose(0, 1) for table in (key, value))
    key = torch_rotated(
        functional.rms_norm(key, (width,), key_gain, eps), list(range(old, old + len(normed))), base
    )
    return torch.cat([cache, torch.stack([key, value])], dim=2).numpy()


def read_loops(x, block, gains, cache, heads, base, eps):
    first = cache.shape[2] - len(x)
    normed = np.array([normed_row(row, block.attention_norm, eps) for row in x])
    query = part_1["queries_loops"](
        normed, block.attention.query.weight, gains[0], heads, [first + t for t in range(len(x))], base, eps
    )
    out = x + part_1["grouped_loops"](query, cache[0], cache[1]) @ block.attention.output.weight
    gate_up = np.hstack([block.mlp.gate, block.mlp.up])
    return np.array(
        [
            row + part_1["gated_loops"](normed_row(row, block.mlp_norm, eps), gate_up, block.mlp.down)
            for row in out
        ]
    )


def read_vectorised(x, block, gains, cache, heads, base, eps):
    sizes = np.sqrt(np.square(x).mean(-1, keepdims=True) + eps)
    places = np.arange(cache.shape[2])[-len(x) :]
    query = part_1["queries_vectorised"](
        x / sizes * block.attention_norm, block.attention.query.weight, gains[0], heads, places, base, eps
    )
    x = x + part_1["grouped_vectorised"](query, *cache) @ block.attention.output.weight
    rows = x * block.mlp_norm / np.sqrt(np.square(x).mean(-1, keepdims=True) + eps)
    return x + part_1["gated_vectorised"](
        rows, np.concatenate([block.mlp.gate, block.mlp.up], axis=1), block.mlp.down
    )


def read_torch(x, block, gains, cache, heads, base, eps):
    x, cache, gains, first, second = map(
        torch.tensor, (x, cache, gains, block.attention_norm, block.mlp_norm)
    )
    (new, width), positions = x.shape, cache.shape[2]
    table, output, gate, up, down = map(
        torch.tensor, (block.attention.query.weight, block.attention.output.weight, *block.mlp)
    )
    q = (functional.rms_norm(x, (width,), first, eps) @ table).unflatten(-1, (heads, -1)).transpose(0, 1)
    q = torch_rotated(
        functional.rms_norm(q, q.shape[-1:], gains[0], eps), list(range(positions - new, positions)), base
    )
    k, v = cache.repeat_interleave(heads // cache.shape[1], 1)
    mask = torch.ones(new, positions, dtype=torch.bool).tril(positions - new)
    x = x + functional.scaled_dot_product_attention(q, k, v, mask).transpose(0, 1).flatten(1) @ output
    rows = functional.rms_norm(x, (width,), second, eps)
    return (x + (functional.silu(rows @ gate) * (rows @ up)) @ down).numpy()


@cache
def toy():
    """The stored weights by name, and in the order of each block."""
    with np.load(HERE.parents[2] / "assignments/source/project_2/toy.npz", allow_pickle=False) as stored:
        return {name: stored[name].astype(float) for name in stored.files}


def plain_step(block, x, gains, cache, grow, read):
    """One block and its cache, from two of the functions above."""
    data = toy()
    settings = float(data["base"]), float(data["eps"])
    normed = np.array([normed_row(row, block.attention_norm, settings[1]) for row in x])
    cache = grow(normed, block.attention, gains[1], cache, *settings)
    return read(x, block, gains, cache, int(data["heads"]), *settings), cache


def written(seed, grow, read, share, draw):
    """The four numbers of question 8, sentence by sentence with a cache, from the functions above."""
    from plainformer.attention import Attention
    from plainformer.linear import Linear
    from plainformer.llama import Block
    from plainformer.mlp import SwiGLU

    data, legal = toy(), {tuple(row) for row in language.table()[0].tolist()}
    blocks = []
    for i in range(int(data["layers"])):
        attention = Attention(*(Linear(data[f"{i}.{name}"]) for name in ("query", "key", "value", "output")))
        mlp = SwiGLU(*(data[f"{i}.{name}"] for name in ("gate", "up", "down")))
        blocks.append(
            (Block(data[f"{i}.attention_norm"], attention, data[f"{i}.mlp_norm"], mlp), data[f"{i}.gains"])
        )
    known = {}

    def step(ids):
        """The logits after these ids, and the caches, remembered."""
        if ids not in known:
            caches = (
                step(ids[:-1])[1]
                if len(ids) > 1
                else [np.zeros((2, 2, 0, gains.shape[1])) for _, gains in blocks]
            )
            x, grown = data["embedding"][[ids[-1]]], []
            for (block, gains), cache in zip(blocks, caches, strict=True):
                x, cache = plain_step(block, x, gains, cache, grow, read)
                grown.append(cache)
            known[ids] = normed_row(x[-1], data["norm"], float(data["eps"])) @ data["embedding"].T, grown
        return known[ids]

    counts, total = [], 0
    for rows, setting in zip(
        np.random.default_rng(seed).random((3, 40, 6)), [(1.5, 0.02), (2.0, 0.05), (5.0, 0.3)], strict=True
    ):
        counts.append(0)
        for row in rows:
            ids = (0,)
            for u in row:
                ids += (int(draw(share(step(ids)[0], *setting), u)),)
            counts[-1] += ids in legal
            total += sum(ids)
    return [*counts, total]


def named(name, *pieces):
    function = partial(written, grow=pieces[0], read=pieces[1], share=pieces[2], draw=pieces[3])
    function.__name__ = name
    return function


RIGHT = {
    "q1": (kept_loops, kept_sorted, kept_torch),
    "q2": (portion_loops, portion_vectorised, portion_torch),
    "q3": (min_p_loops, min_p_by_logits, min_p_torch),
    "q4": (draw_loops, draw_counting, draw_torch),
    "q5": (penalize_loops, penalize_vectorised, penalize_torch),
    "q6": (grow_loops, grow_vectorised, grow_torch),
    "q7": (read_loops, read_vectorised, read_torch),
    "q8": (
        named("written_in_loops", grow_loops, read_loops, min_p_loops, draw_loops),
        named("written_vectorised", grow_vectorised, read_vectorised, min_p_by_logits, draw_counting),
        named("written_in_torch", grow_torch, read_torch, min_p_torch, draw_torch),
    ),
}
