"""Three right answers to each question, written independently: loops, vectorised, PyTorch."""

import math
from itertools import pairwise

import numpy as np
import torch
from torch.nn import functional

from plainformer import llama
from plainformer.ledger import parameter_ledger


def parameters_loops(heads, groups, width, hidden, blocks, words):
    rows, attention, mlp, norms = heads * width, 0, 0, 0
    for _ in range(blocks):
        attention += rows * rows + rows * groups * width + rows * groups * width + rows * rows
        mlp += rows * hidden + rows * hidden + hidden * rows
        norms += rows + rows
    norms += rows
    return [words * rows, attention, mlp, norms, words * rows + attention + mlp + norms]


def parameters_vectorised(heads, groups, width, hidden, blocks, words):
    """The ledger of a model of these sizes."""
    config = llama.Config(8, heads, 1e-5, 100.0, "neighbours")
    model = llama.initialize(config, words, heads * width, blocks, hidden, groups, np.random.default_rng(0))
    counts = np.zeros(5)
    for entry in parameter_ledger(model):
        kind = (
            3
            if "norm" in entry.name
            else 2
            if ".mlp." in entry.name
            else 1
            if ".attention." in entry.name
            else 0
        )
        counts[[kind, 4]] += entry.count
    return counts


def parameters_torch(heads, groups, width, hidden, blocks, words):
    rows = heads * width
    maps = [torch.nn.Linear(rows, out, bias=False) for out in (rows, groups * width, groups * width, rows)]
    mlp = [torch.nn.Linear(rows, hidden, bias=False) for _ in range(2)] + [
        torch.nn.Linear(hidden, rows, bias=False)
    ]
    norms = [torch.ones(rows)] * (2 * blocks + 1)
    sizes = [
        words * rows,
        *(blocks * sum(m.weight.numel() for m in part) for part in (maps, mlp)),
        sum(map(torch.numel, norms)),
    ]
    return torch.tensor([*sizes, sum(sizes)]).numpy()


def unpacked_loops(scale, minimum, packed):
    digits = [f"{byte:02x}" for byte in packed]
    return [scale * int(pair[1], 16) + minimum for pair in digits] + [
        scale * int(pair[0], 16) + minimum for pair in digits
    ]


def unpacked_vectorised(scale, minimum, packed):
    return ((packed[None] >> np.array([[0], [4]])) & 15).ravel() * scale + minimum


def unpacked_torch(scale, minimum, packed):
    packed = torch.tensor(packed)
    return (
        torch.cat([packed.bitwise_and(15), packed.div(16, rounding_mode="floor")]) * scale + minimum
    ).numpy()


def lens_loops(row, gain, embedding):
    root = math.sqrt(sum(int(number) ** 2 for number in row) / 4)
    return [sum(row[i] / root * gain[i] * embedding[word][i] for i in range(4)) for word in range(4)]


def lens_vectorised(row, gain, embedding):
    return np.einsum("e,e,ve->v", row, gain, embedding) * 2 / np.linalg.norm(row)


def lens_torch(row, gain, embedding):
    row, gain, embedding = (torch.tensor(part, dtype=torch.float64) for part in (row, gain, embedding))
    return functional.linear(functional.rms_norm(row, (4,), gain, eps=0.0), embedding).numpy()


def coarse_loops(x, size):
    out = []
    for row in x.reshape(-1, x.shape[-1]):
        for start in range(0, len(row), size):
            group = row[start : start + size].tolist()
            low, step = min(group), (max(group) - min(group)) / 15
            out += [low + step * round((number - low) / step) if step else number for number in group]
    return np.array(out).reshape(x.shape)


def coarse_vectorised(x, size):
    """The nearest of sixteen values."""
    groups = x.reshape(-1, size)
    values = np.linspace(groups.min(axis=1), groups.max(axis=1), 16, axis=1)
    nearest = np.abs(groups[:, :, None] - values[:, None]).argmin(axis=2)
    return np.take_along_axis(values, nearest, axis=1).reshape(x.shape)


def coarse_torch(x, size):
    groups = torch.tensor(x).unflatten(-1, (-1, size))
    low, high = groups.aminmax(dim=-1, keepdim=True)
    scale = ((high - low) / 15).masked_fill(high == low, 1.0)
    return torch.floor((groups - low) / scale + 0.5).mul(scale).add(low).flatten(-2).numpy()


def contributions_loops(parts, gain, head, eps, word):
    total = [sum(part[i] for part in parts) for i in range(len(gain))]
    root = math.sqrt(sum(number * number for number in total) / len(total) + eps)
    return np.array(
        [sum(part[i] * gain[i] * head[i][word] for i in range(len(gain))) / root for part in parts]
    )


def contributions_vectorised(parts, gain, head, eps, word):
    """The differences of the running totals, all with the last divisor."""
    running = np.vstack([np.zeros_like(gain), np.cumsum(parts, axis=0)])
    logits = running @ (gain * head[:, word]) / np.sqrt(np.mean(running[-1] ** 2) + eps)
    return np.array([after - before for before, after in pairwise(logits)])


def contributions_torch(parts, gain, head, eps, word):
    parts, gain, head = map(torch.tensor, (parts, gain, head))
    weight = gain * head[:, word] * torch.rsqrt(parts.sum(dim=0).square().mean() + eps)
    return (parts @ weight).numpy()


def block_loops(x, gain, attention, mlp, config):
    normed = [row / math.sqrt(float(row @ row) / len(row) + config.eps) * gain for row in x]
    width = attention.query.weight.shape[1] // config.heads
    times = config.heads // (attention.key.weight.shape[1] // width)
    out = x.copy()
    for t in range(len(x)):
        mixed = []
        for head in range(config.heads):
            own = slice(head * width, head * width + width)
            shared = slice(head // times * width, head // times * width + width)
            query = turned_row(normed[t] @ attention.query.weight[:, own], t, config.base)
            keys = [
                turned_row(normed[s] @ attention.key.weight[:, shared], s, config.base) for s in range(t + 1)
            ]
            powers = [math.exp(sum(a * b for a, b in zip(query, key)) / math.sqrt(width)) for key in keys]
            mixed.append(
                sum(p * (normed[s] @ attention.value.weight[:, shared]) for s, p in enumerate(powers))
                / sum(powers)
            )
        gate = normed[t] @ mlp.gate
        hidden = [g / (1 + math.exp(-g)) * u for g, u in zip(gate, normed[t] @ mlp.up)]
        out[t] += np.concatenate(mixed) @ attention.output.weight + np.array(hidden) @ mlp.down
    return out


def turned_row(row, place, base):
    out = []
    for i in range(0, len(row), 2):
        angle = place * base ** (-i / len(row))
        out += [
            row[i] * math.cos(angle) - row[i + 1] * math.sin(angle),
            row[i] * math.sin(angle) + row[i + 1] * math.cos(angle),
        ]
    return out


def block_vectorised(x, gain, attention, mlp, config):
    """From the library's pieces."""
    from plainformer.attention import attend_heads, causal_mask, split_heads
    from plainformer.mlp import swiglu
    from plainformer.normalization import rms_norm
    from plainformer.positions import rope

    normed, places = rms_norm(x, gain, config.eps), np.arange(len(x))
    groups = attention.key.weight.shape[1] * config.heads // attention.query.weight.shape[1]
    query = rope(split_heads(normed @ attention.query.weight, config.heads), places, config.base)
    key = rope(split_heads(normed @ attention.key.weight, groups), places, config.base)
    found = attend_heads(
        query, key, split_heads(normed @ attention.value.weight, groups), causal_mask(len(x))
    )
    return x + found @ attention.output.weight + swiglu(normed, mlp)


def block_torch(x, gain, attention, mlp, config):
    x, gain, *tables = map(torch.tensor, (x, gain, *(table.weight for table in attention), *mlp))
    query, key, value, output, gate, up, down = tables
    normed = functional.rms_norm(x, x.shape[-1:], gain, eps=config.eps)
    width = query.shape[1] // config.heads
    query, key, value = (
        (normed @ table).unflatten(-1, (-1, width)).transpose(0, 1) for table in (query, key, value)
    )
    angle = torch.arange(len(x))[:, None] * config.base ** (
        -torch.arange(0, width, 2, dtype=torch.float64) / width
    )
    turn = torch.polar(torch.ones_like(angle), angle)
    query, key = (
        torch.view_as_real(torch.view_as_complex(part.unflatten(-1, (-1, 2)).contiguous()) * turn).flatten(-2)
        for part in (query, key)
    )
    key, value = (part.repeat_interleave(len(query) // len(part), dim=0) for part in (key, value))
    mixed = (
        functional.scaled_dot_product_attention(query, key, value, is_causal=True).transpose(0, 1).flatten(1)
    )
    return (x + mixed @ output + (functional.silu(normed @ gate) * (normed @ up)) @ down).numpy()


def halves_loops(table, heads):
    width, columns = table.shape[1] // heads, []
    for head in range(heads):
        columns += [table[:, head * width + i] for i in range(0, width, 2)]
        columns += [table[:, head * width + i] for i in range(1, width, 2)]
    return np.stack(columns, axis=1)


def halves_vectorised(table, heads):
    return table.reshape(len(table), heads, -1, 2).swapaxes(2, 3).reshape(table.shape)


def halves_torch(table, heads):
    parts = [
        torch.cat([head[:, ::2], head[:, 1::2]], dim=1) for head in torch.tensor(table).chunk(heads, dim=1)
    ]
    return torch.cat(parts, dim=1).numpy()


RIGHT = {
    "q1": (parameters_loops, parameters_vectorised, parameters_torch),
    "q2": (unpacked_loops, unpacked_vectorised, unpacked_torch),
    "q3": (lens_loops, lens_vectorised, lens_torch),
    "q4": (coarse_loops, coarse_vectorised, coarse_torch),
    "q5": (contributions_loops, contributions_vectorised, contributions_torch),
    "q6": (block_loops, block_vectorised, block_torch),
    "q7": (halves_loops, halves_vectorised, halves_torch),
}
