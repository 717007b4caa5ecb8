"""Three right answers to each question, written independently: loops, vectorised, PyTorch."""

import math
from fractions import Fraction

import numpy as np
import torch
import torch.nn.functional as functional


def scores_loops(query, keys, query_gain, key_gain):
    def normed(row, gain):
        size = math.sqrt(sum(number * number for number in row) / len(row))
        return [number / size * g for number, g in zip(row, gain, strict=True)]

    asked = normed(query, query_gain)
    return [
        sum(a * b for a, b in zip(asked, normed(key, key_gain), strict=True)) / math.sqrt(len(asked))
        for key in keys
    ]


def scores_vectorised(query, keys, query_gain, key_gain):
    sizes = np.linalg.norm(query) * np.linalg.norm(keys, axis=1) / 4
    return keys @ (query * query_gain * key_gain) / sizes / 2


def scores_torch(query, keys, query_gain, key_gain):
    query, keys, query_gain, key_gain = map(torch.tensor, (query, keys, query_gain, key_gain))
    asked, known = (
        functional.rms_norm(query, (4,), query_gain, eps=0.0),
        functional.rms_norm(keys, (4,), key_gain, eps=0.0),
    )
    return (known @ asked / 2).numpy()


def count_loops(vocabulary, layers, width, hidden, heads, groups, head_width):
    tables = [
        (width, heads * head_width),
        (width, groups * head_width),
        (width, groups * head_width),
        (heads * head_width, width),
    ]
    tables += [
        (width, hidden),
        (width, hidden),
        (hidden, width),
        (width,),
        (width,),
        (head_width,),
        (head_width,),
    ]
    block = sum(math.prod(table) for table in tables)
    return [block, sum(block for _ in range(layers)) + vocabulary * width + width]


def count_vectorised(vocabulary, layers, width, hidden, heads, groups, head_width):
    block = 2 * (width * head_width * (heads + groups) + width + head_width) + 3 * width * hidden
    return np.array([block, layers * block + (vocabulary + 1) * width])


def count_exactly(vocabulary, layers, width, hidden, heads, groups, head_width):
    a_row = Fraction(2 * head_width * (heads + groups)) + 3 * hidden + 2
    block = a_row * width + 2 * head_width
    return [float(block), float(block * layers + Fraction(vocabulary + 1) * width)]


def turned_row(row, position, base):
    half = len(row) // 2
    out = np.empty(len(row))
    for i in range(half):
        angle = position / base ** (2 * i / len(row))
        out[i] = row[i] * math.cos(angle) - row[i + half] * math.sin(angle)
        out[i + half] = row[i] * math.sin(angle) + row[i + half] * math.cos(angle)
    return out


def normed_row(row, gain, eps):
    return row / math.sqrt(sum(float(number) ** 2 for number in row) / len(row) + eps) * gain


def queries_loops(x, weight, gain, heads, positions, base, eps):
    width = len(gain)
    out = np.empty((heads, len(x), width))
    for t, row in enumerate(x):
        for h in range(heads):
            piece = np.array([row @ weight[:, h * width + i] for i in range(width)])
            out[h, t] = turned_row(normed_row(piece, gain, eps), positions[t], base)
    return out


def rotated(rows, positions, base):
    """Pairs of halves as complex numbers."""
    half = rows.shape[-1] // 2
    pairs = rows[..., :half] + 1j * rows[..., half:]
    turned = pairs * np.exp(1j * np.outer(positions, float(base) ** (-np.arange(half) / half)))
    return np.concatenate([turned.real, turned.imag], axis=-1)


def queries_vectorised(x, weight, gain, heads, positions, base, eps):
    rows = np.einsum("te,ehd->htd", x, weight.reshape(len(weight), heads, -1))
    rows = rows * gain / np.sqrt(np.mean(np.square(rows), axis=-1, keepdims=True) + eps)
    return rotated(rows, positions, base)


def torch_rotated(rows, positions, base):
    width = rows.shape[-1]
    angles = torch.tensor(positions, dtype=torch.float64)[:, None] * base ** (
        -torch.arange(0, width, 2, dtype=torch.float64) / width
    )
    cos, sin = (torch.cat([part, part], dim=-1) for part in (angles.cos(), angles.sin()))
    a, b = rows.chunk(2, dim=-1)
    return rows * cos + torch.cat([-b, a], dim=-1) * sin


def queries_torch(x, weight, gain, heads, positions, base, eps):
    x, weight, gain = map(torch.tensor, (x, weight, gain))
    rows = (x @ weight).unflatten(-1, (heads, -1)).transpose(0, 1)
    return torch_rotated(functional.rms_norm(rows, (len(gain),), gain, eps), positions, base).numpy()


def grouped_loops(query, key, value):
    heads, tokens, width = query.shape
    out = np.zeros((tokens, heads * width))
    for h in range(heads):
        g = h * len(key) // heads
        for t in range(tokens):
            seen = key.shape[1] - tokens + t + 1
            powers = [math.exp(float(query[h, t] @ key[g, s]) / math.sqrt(width)) for s in range(seen)]
            out[t, h * width : (h + 1) * width] = sum(p * value[g, s] for s, p in enumerate(powers)) / sum(
                powers
            )
    return out


def grouped_vectorised(query, key, value):
    (heads, tokens, width), (groups, positions, _) = query.shape, key.shape
    asked = query.reshape(groups, heads // groups, tokens, width)
    scores = np.einsum("gntd,gsd->gnts", asked, key) / width**0.5
    late = np.arange(positions) > np.arange(positions - tokens, positions)[:, None]
    powers = np.exp(np.where(late, -np.inf, scores))
    return np.einsum("gnts,gsd->tgnd", powers / powers.sum(-1, keepdims=True), value).reshape(tokens, -1)


def grouped_torch(query, key, value):
    query, key, value = map(torch.tensor, (query, key, value))
    times, new = len(query) // len(key), query.shape[1]
    key, value = key.repeat_interleave(times, 0), value.repeat_interleave(times, 0)
    mask = torch.ones(new, key.shape[1], dtype=torch.bool).tril(key.shape[1] - new)
    return functional.scaled_dot_product_attention(query, key, value, mask).transpose(0, 1).flatten(1).numpy()


def gated_loops(x, gate_up, down):
    hidden = len(down)
    rows = x.reshape(-1, x.shape[-1])
    out = np.zeros_like(rows)
    for t, row in enumerate(rows):
        for f in range(hidden):
            gate, up = float(row @ gate_up[:, f]), float(row @ gate_up[:, hidden + f])
            out[t] += gate / (1 + math.exp(-gate)) * up * down[f]
    return out.reshape(x.shape)


def gated_vectorised(x, gate_up, down):
    half = gate_up.shape[1] // 2
    gate, up = x @ gate_up[:, :half], x @ gate_up[:, half:]
    return (0.5 * gate * (1 + np.tanh(gate / 2)) * up) @ down


def gated_torch(x, gate_up, down):
    x, gate_up, down = map(torch.tensor, (x, gate_up, down))
    gate, up = (x @ gate_up).chunk(2, dim=-1)
    return ((functional.silu(gate) * up) @ down).numpy()


def block_loops(x, block, gains, heads, base, eps):
    a, width = block.attention, gains.shape[1]
    normed = np.array([normed_row(row, block.attention_norm, eps) for row in x])
    places = list(range(len(x)))
    query = queries_loops(normed, a.query.weight, gains[0], heads, places, base, eps)
    groups = a.key.weight.shape[1] // width
    key = queries_loops(normed, a.key.weight, gains[1], groups, places, base, eps)
    value = np.array(
        [[normed[t] @ a.value.weight[:, g * width : (g + 1) * width] for t in places] for g in range(groups)]
    )
    out = x + grouped_loops(query, key, value) @ a.output.weight
    for row in out:
        row += gated_loops(
            normed_row(row, block.mlp_norm, eps), np.hstack([block.mlp.gate, block.mlp.up]), block.mlp.down
        )
    return out


def block_vectorised(x, block, gains, heads, base, eps):
    def normed(rows, gain):
        return rows / np.sqrt(np.square(rows).mean(-1)[..., None] + eps) * gain

    a, width, places = block.attention, gains.shape[1], np.arange(len(x))
    query, key, value = (
        (normed(x, block.attention_norm) @ table.weight).reshape(len(x), -1, width).transpose(1, 0, 2)
        for table in a[:3]
    )
    query, key = (
        rotated(normed(rows, gain), places, base) for rows, gain in zip((query, key), gains, strict=True)
    )
    x = x + grouped_vectorised(query, key, value) @ a.output.weight
    rows = normed(x, block.mlp_norm)
    return x + gated_vectorised(rows, np.concatenate([block.mlp.gate, block.mlp.up], axis=1), block.mlp.down)


def block_torch(x, block, gains, heads, base, eps):
    x = torch.tensor(x)
    query, key, value, output = map(torch.tensor, (table.weight for table in block.attention))
    gate, up, down = map(torch.tensor, block.mlp)
    first, second, gains = map(torch.tensor, (block.attention_norm, block.mlp_norm, gains))
    width, places = gains.shape[1], list(range(len(x)))
    normed = functional.rms_norm(x, x.shape[-1:], first, eps)
    q, k, v = ((normed @ table).unflatten(-1, (-1, width)).transpose(0, 1) for table in (query, key, value))
    q, k = (
        torch_rotated(functional.rms_norm(rows, (width,), gain, eps), places, base)
        for rows, gain in ((q, gains[0]), (k, gains[1]))
    )
    k, v = (rows.repeat_interleave(heads // len(rows), 0) for rows in (k, v))
    x = (
        x
        + functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(0, 1).flatten(1) @ output
    )
    normed = functional.rms_norm(x, x.shape[-1:], second, eps)
    return (x + (functional.silu(normed @ gate) * (normed @ up)) @ down).numpy()


def last_loops(stream, norm, embedding, eps):
    texts = stream.reshape(-1, *stream.shape[-2:])
    out = [[float(normed_row(text[-1], norm, eps) @ word) for word in embedding] for text in texts]
    return np.array(out).reshape(*stream.shape[:-2], len(embedding))


def last_vectorised(stream, norm, embedding, eps):
    sizes = np.sqrt(np.einsum("...te,...te->...t", stream, stream) / stream.shape[-1] + eps)
    return np.einsum("...te,e,ve->...tv", stream / sizes[..., None], norm, embedding)[..., -1, :]


def last_torch(stream, norm, embedding, eps):
    stream, norm, embedding = map(torch.tensor, (stream, norm, embedding))
    return functional.linear(
        functional.rms_norm(stream[..., -1, :], (len(norm),), norm, eps), embedding
    ).numpy()


RIGHT = {
    "q1": (scores_loops, scores_vectorised, scores_torch),
    "q2": (count_loops, count_vectorised, count_exactly),
    "q3": (queries_loops, queries_vectorised, queries_torch),
    "q4": (grouped_loops, grouped_vectorised, grouped_torch),
    "q5": (gated_loops, gated_vectorised, gated_torch),
    "q6": (block_loops, block_vectorised, block_torch),
    "q7": (last_loops, last_vectorised, last_torch),
}
