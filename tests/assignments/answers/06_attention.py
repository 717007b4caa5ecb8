"""Three right answers to each question, written independently: loops, vectorised, PyTorch."""

import math

import numpy as np
import torch


def row_loops(query, keys, values):
    powers = [math.exp(sum(int(a) * int(b) for a, b in zip(query, key, strict=True)) / 2) for key in keys]
    return [
        sum(p * int(value[j]) for p, value in zip(powers, values, strict=True)) / sum(powers)
        for j in range(2)
    ]


def row_vectorised(query, keys, values):
    powers = np.exp((query * keys).sum(axis=1) / np.sqrt(query.size))
    return (powers[:, None] * values).sum(axis=0) / powers.sum()


def row_torch(query, keys, values):
    query, keys, values = (torch.tensor(part, dtype=torch.float64) for part in (query[None], keys, values))
    return torch.nn.functional.scaled_dot_product_attention(query, keys, values)[0].numpy()


def longer_loops(weights, factor):
    raised = [math.prod([float(w)] * factor) for w in weights]
    return [one / math.fsum(raised) for one in raised]


def longer_vectorised(weights, factor):
    return weights**factor / np.sum(weights**factor)


def longer_torch(weights, factor):
    return torch.softmax(torch.tensor(weights).log() * factor, dim=0).numpy()


def counted_loops(T, heads, groups, width, head):
    owner = [g for g in range(groups) for _ in range(heads // groups)]
    keys = tables = parameters = 0
    for _ in range(groups):
        keys += T * width
        parameters += 2 * heads * width * width
    for _ in range(heads):
        tables += T * T
        parameters += 2 * heads * width * width
    return [keys, tables, parameters, width**0.5, owner[head]]


def counted_vectorised(T, heads, groups, width, head):
    E, C = heads * width, groups * width
    shapes = np.array([(E, E), (E, C), (E, C), (E, E)])
    return np.array([T * C, heads * T**2, shapes.prod(axis=1).sum(), np.sqrt(width), head * groups // heads])


def counted_torch(T, heads, groups, width, head):
    x = torch.zeros(T, heads * width)
    queries, keys = x.reshape(T, heads, width), x[:, : groups * width].reshape(T, groups, width)
    repeated = keys.repeat_interleave(heads // groups, dim=1)
    tables = torch.einsum("thd,shd->hts", queries, repeated)
    wide = (heads * width, groups * width, groups * width, heads * width)
    layers = [torch.nn.Linear(heads * width, out, bias=False, device="meta") for out in wide]
    owner = torch.arange(groups).repeat_interleave(heads // groups)[head]
    return np.array(
        [
            keys.numel(),
            tables.numel(),
            sum(layer.weight.numel() for layer in layers),
            math.sqrt(width),
            owner.item(),
        ]
    )


def capped_loops(q, k, v, cap, mask):
    if q.ndim > 2:
        return np.stack([capped_loops(*one, cap, mask) for one in zip(q, k, v, strict=True)])
    out = np.zeros((len(q), v.shape[1]))
    for t, query in enumerate(q):
        seen = [s for s in range(len(k)) if mask[t, s]]
        powers = [math.exp(cap * math.tanh(float(query @ k[s]) / math.sqrt(len(query)) / cap)) for s in seen]
        for s, power in zip(seen, powers, strict=True):
            out[t] += power / sum(powers) * v[s]
    return out


def capped_vectorised(q, k, v, cap, mask):
    bent = cap * np.tanh(np.einsum("...td,...sd->...ts", q, k) / (cap * np.sqrt(q.shape[-1])))
    powers = np.exp(bent) * mask
    return powers / powers.sum(axis=-1, keepdims=True) @ v


def capped_torch(q, k, v, cap, mask):
    q, k, v, mask = map(torch.tensor, (q, k, v, mask))
    scores = cap * torch.tanh(q @ k.mT / q.shape[-1] ** 0.5 / cap)
    return (scores.masked_fill(~mask, -torch.inf).softmax(-1) @ v).numpy()


def join_loops(z1, log1, z2, log2):
    out = np.zeros(z1.shape)
    for place in np.ndindex(log1.shape):
        share = 1 / (1 + math.exp(log2[place] - log1[place]))
        out[place] = share * z1[place] + (1 - share) * z2[place]
    return out


def join_vectorised(z1, log1, z2, log2):
    whole = np.logaddexp(log1, log2)
    return z1 * np.exp(log1 - whole)[..., None] + z2 * np.exp(log2 - whole)[..., None]


def join_torch(z1, log1, z2, log2):
    z1, log1, z2, log2 = map(torch.tensor, (z1, log1, z2, log2))
    return torch.lerp(z2, z1, torch.sigmoid(log1 - log2).unsqueeze(-1)).numpy()


def grouped_loops(q, k, v):
    heads, T, D = q.shape
    out = np.zeros((T, heads * D))
    for h in range(heads):
        g = h // (heads // len(k))
        for t in range(T):
            powers = [math.exp(float(q[h, t] @ key) / math.sqrt(D)) for key in k[g]]
            out[t, h * D : (h + 1) * D] = sum(
                power * row for power, row in zip(powers, v[g], strict=True)
            ) / sum(powers)
    return out


def grouped_vectorised(q, k, v):
    owner = np.arange(len(q)) * len(k) // len(q)
    powers = np.exp(np.einsum("htd,hsd->hts", q, k[owner]) / np.sqrt(q.shape[-1]))
    return np.hstack(list(powers / powers.sum(axis=2, keepdims=True) @ v[owner]))


def grouped_torch(q, k, v):
    q, k, v = map(torch.tensor, (q, k, v))
    read = torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], enable_gqa=True)[0]
    return read.permute(1, 0, 2).flatten(1).numpy()


RIGHT = {
    "q1": (row_loops, row_vectorised, row_torch),
    "q2": (longer_loops, longer_vectorised, longer_torch),
    "q3": (counted_loops, counted_vectorised, counted_torch),
    "q4": (capped_loops, capped_vectorised, capped_torch),
    "q5": (join_loops, join_vectorised, join_torch),
    "q6": (grouped_loops, grouped_vectorised, grouped_torch),
}
