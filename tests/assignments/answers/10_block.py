"""Three right answers to each question, written independently: loops, vectorised, PyTorch."""

import math

import numpy as np
import torch


def sizes_loops(tokens, heads, width, vocabulary):
    queries = scores = 0
    for _ in range(heads):
        for _ in range(tokens):
            queries += width // heads
            scores += tokens
    return [
        queries,
        queries // heads,
        scores,
        sum(4 * width for _ in range(tokens)),
        sum(vocabulary for _ in range(tokens)),
    ]


def sizes_vectorised(tokens, heads, width, vocabulary):
    shapes = [
        (heads, tokens, width // heads),
        (tokens, width // heads),
        (heads, tokens, tokens),
        (tokens, 4 * width),
        (tokens, vocabulary),
    ]
    return np.array([np.prod(shape) for shape in shapes])


def sizes_torch(tokens, heads, width, vocabulary):
    x = torch.zeros(tokens, width)
    q = x.view(tokens, heads, -1).transpose(0, 1)
    arrays = [q, q[0], q @ q.mT, x @ torch.zeros(width, 4 * width), x @ torch.zeros(width, vocabulary)]
    return torch.tensor([array.numel() for array in arrays]).numpy()


def counts_loops(vocabulary, context, width, hidden, layers):
    block = sum(
        rows * columns
        for rows, columns in [*4 * [(width, width)], (width, hidden), (hidden, width), (1, width), (1, width)]
    )
    outside = vocabulary * width + context * width + width + width * vocabulary
    total = outside
    for _ in range(layers):
        total += block
    return [block, outside, total]


def counts_vectorised(vocabulary, context, width, hidden, layers):
    block = width * (4 * width + 2 * hidden + 2)
    outside = width * (2 * vocabulary + context + 1)
    return np.array([[1, 0], [0, 1], [layers, 1]]) @ [block, outside]


def counts_torch(vocabulary, context, width, hidden, layers):
    def plain(rows, columns):
        return torch.nn.Linear(rows, columns, bias=False)

    def norm():
        return torch.nn.RMSNorm(width)

    block = torch.nn.ModuleList(
        [*(plain(width, width) for _ in range(4)), plain(width, hidden), plain(hidden, width), norm(), norm()]
    )
    tables = torch.nn.Embedding(vocabulary, width), torch.nn.Embedding(context, width)
    outside = torch.nn.ModuleList([*tables, norm(), plain(width, vocabulary)])
    one, rest = (sum(p.numel() for p in part.parameters()) for part in (block, outside))
    return torch.tensor([one, rest, layers * one + rest]).numpy()


def parallel_loops(x, up, down):
    normed = []
    for row in x.tolist():
        root = math.sqrt(sum(v * v for v in row) / 2)
        normed.append([v / root for v in row])
    out = []
    for t in range(2):
        seen = normed[: t + 1]
        read = [sum(row[e] for row in seen) / len(seen) for e in range(2)]
        hidden = [max(sum(normed[t][e] * up[e][f] for e in range(2)), 0.0) for f in range(3)]
        out.append([x[t][e] + read[e] + sum(hidden[f] * down[f][e] for f in range(3)) for e in range(2)])
    return out


def parallel_vectorised(x, up, down):
    normed = x / np.linalg.norm(x, axis=1)[:, None] * np.sqrt(2)
    read = np.cumsum(normed, axis=0) / np.arange(1, 3)[:, None]
    return (
        x
        + read
        + np.einsum("te,ef,fd->td", normed, up, down)
        + np.einsum("tf,fd->td", np.maximum(-normed @ up, 0), down)
    )


def parallel_torch(x, up, down):
    x, up, down = map(torch.tensor, (x, up, down))
    normed = x * torch.rsqrt(x.square().mean(-1, keepdim=True))
    weights = torch.softmax(
        torch.zeros(2, 2, dtype=torch.float64).masked_fill(torch.ones(2, 2).triu(1).bool(), -math.inf), dim=-1
    )
    return (x + weights @ normed + torch.relu(normed @ up) @ down).numpy()


def root_normed(rows, gain, eps):
    return rows * gain / np.sqrt((rows * rows).mean(-1, keepdims=True) + eps)


def sandwich_loops(x, gains, attention, tables, heads, eps):
    if x.ndim > 2:
        return np.array([sandwich_loops(text, gains, attention, tables, heads, eps) for text in x])
    tokens, width = x.shape
    size, normed = width // heads, root_normed(x, gains[0], eps)
    queries, keys, values = (
        normed @ attention.query.weight,
        normed @ attention.key.weight,
        normed @ attention.value.weight,
    )
    mixed = np.zeros((tokens, width))
    for h in range(heads):
        part = slice(h * size, (h + 1) * size)
        for t in range(tokens):
            powers = [
                math.exp(float(queries[t, part] @ keys[s, part]) / math.sqrt(size)) for s in range(t + 1)
            ]
            for s, power in enumerate(powers):
                mixed[t, part] += power / sum(powers) * values[s, part]
    x = x + root_normed(mixed @ attention.output.weight, gains[1], eps)
    out = []
    for row in x:
        row_normed = root_normed(row, gains[2], eps)
        gate = [v / (1 + math.exp(-v)) for v in (row_normed @ tables.gate).tolist()]
        out.append(row + root_normed(np.array(gate) * (row_normed @ tables.up) @ tables.down, gains[3], eps))
    return np.array(out)


def sandwich_vectorised(x, gains, attention, tables, heads, eps):
    tokens, width = x.shape[-2:]
    normed = root_normed(x, gains[0], eps)
    query, key, value = (
        np.stack(np.split(normed @ table.weight, heads, axis=-1)) for table in attention[:3]
    )  # (H, ..., T, D)
    scores = np.einsum("h...td,h...sd->h...ts", query, key) / np.sqrt(width / heads)
    powers = np.exp(scores) * (np.arange(tokens)[:, None] >= np.arange(tokens))
    mixed = np.einsum("h...ts,h...sd->h...td", powers / powers.sum(-1, keepdims=True), value)
    x = x + root_normed(np.concatenate(list(mixed), axis=-1) @ attention.output.weight, gains[1], eps)
    normed = root_normed(x, gains[2], eps)
    gate = normed @ tables.gate
    return x + root_normed((gate / (1 + np.exp(-gate)) * (normed @ tables.up)) @ tables.down, gains[3], eps)


def sandwich_torch(x, gains, attention, tables, heads, eps):
    x, gains = torch.tensor(x), torch.tensor(gains)
    query, key, value, output = (torch.tensor(table.weight) for table in attention)
    gate, up, down = (torch.tensor(table) for table in tables)

    def norm(rows, gain):
        return torch.nn.functional.rms_norm(rows, rows.shape[-1:], gain, eps)

    def cut(rows):
        return rows.unflatten(-1, (heads, -1)).transpose(-2, -3)

    normed = norm(x, gains[0])
    mixed = torch.nn.functional.scaled_dot_product_attention(
        cut(normed @ query), cut(normed @ key), cut(normed @ value), is_causal=True
    )
    x = x + norm(mixed.transpose(-2, -3).flatten(-2) @ output, gains[1])
    normed = norm(x, gains[2])
    return (x + norm((torch.nn.functional.silu(normed @ gate) * (normed @ up)) @ down, gains[3])).numpy()


def work_loops(tokens, width, hidden, vocabulary, layers):
    total = 0
    for _ in range(layers):
        for _ in range(tokens):
            for rows, columns in [*4 * [(width, width)], (width, hidden), (hidden, width)]:
                total += rows * columns
            total += tokens * width  # this query with every key
            total += tokens * width  # this row of weights with every value
    return total + vocabulary * width


def work_vectorised(tokens, width, hidden, vocabulary, layers):
    return int(np.dot([layers * tokens * width, width], [4 * width + 2 * tokens + 2 * hidden, vocabulary]))


def work_torch(tokens, width, hidden, vocabulary, layers):
    shapes = [
        *4 * [(tokens, width, width)],
        (tokens, width, tokens),
        (tokens, tokens, width),
        (tokens, width, hidden),
        (tokens, hidden, width),
    ]
    return int(layers * torch.tensor(shapes).prod(dim=1).sum() + width * vocabulary)


def layer_normed(x, norm, eps):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * norm.gain + norm.bias


def bent(z):
    return 0.5 * z * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3)))


def lens_loops(ids, model):
    heads, eps = model.config.heads, model.config.eps
    x = np.array([model.embedding[i] + model.positions[t] for t, i in enumerate(ids)])
    lens = [[layer_normed(row, model.norm, eps) @ model.embedding.T for row in x]]
    for block in model.blocks:
        a, size = block.attention, x.shape[1] // heads
        normed = layer_normed(x, block.attention_norm, eps)
        q, k, v = (
            normed @ a.query.weight + a.query.bias,
            normed @ a.key.weight + a.key.bias,
            normed @ a.value.weight + a.value.bias,
        )
        mixed = np.zeros_like(x)
        for t in range(len(x)):
            for h in range(heads):
                part = slice(h * size, (h + 1) * size)
                powers = np.exp(k[: t + 1, part] @ q[t, part] / math.sqrt(size))
                mixed[t, part] = powers / powers.sum() @ v[: t + 1, part]
        x = x + mixed @ a.output.weight + a.output.bias
        for t in range(len(x)):
            hidden = bent(layer_normed(x[t], block.mlp_norm, eps) @ block.mlp.up.weight + block.mlp.up.bias)
            x[t] = x[t] + hidden @ block.mlp.down.weight + block.mlp.down.bias
        lens.append([layer_normed(row, model.norm, eps) @ model.embedding.T for row in x])
    return np.array(lens)


def lens_vectorised(ids, model):
    eps, heads, tokens = model.config.eps, model.config.heads, len(ids)
    streams = [model.embedding[ids] + model.positions[:tokens]]
    hidden_from = np.where(np.tri(tokens) > 0, 0.0, -np.inf)
    for block in model.blocks:
        a, x = block.attention, streams[-1]
        normed = layer_normed(x, block.attention_norm, eps)
        q, k, v = ((normed @ table + bias).reshape(tokens, heads, -1) for table, bias in a[:3])
        powers = np.exp(np.einsum("thd,shd->hts", q, k) / np.sqrt(q.shape[-1]) + hidden_from)
        weights = powers / powers.sum(axis=-1, keepdims=True)
        x = x + np.einsum("hts,shd->thd", weights, v).reshape(tokens, -1) @ a.output.weight + a.output.bias
        hidden = bent(layer_normed(x, block.mlp_norm, eps) @ block.mlp.up.weight + block.mlp.up.bias)
        streams.append(x + hidden @ block.mlp.down.weight + block.mlp.down.bias)
    return np.einsum("lte,ve->ltv", layer_normed(np.stack(streams), model.norm, eps), model.embedding)


def lens_torch(ids, model):
    functional, eps = torch.nn.functional, model.config.eps

    def norm(x, params):
        return functional.layer_norm(
            x, x.shape[-1:], torch.tensor(params.gain), torch.tensor(params.bias), eps
        )

    def cut(rows):
        return rows.unflatten(-1, (model.config.heads, -1)).transpose(0, 1)

    x = torch.tensor(model.embedding)[torch.tensor(ids)] + torch.tensor(model.positions)[: len(ids)]
    lens = [norm(x, model.norm)]
    for block in model.blocks:
        a, m = ([tuple(map(torch.tensor, part)) for part in parts] for parts in (block.attention, block.mlp))
        normed = norm(x, block.attention_norm)
        mixed = functional.scaled_dot_product_attention(
            *(cut(normed @ table + bias) for table, bias in a[:3]), is_causal=True
        )
        x = x + mixed.transpose(0, 1).flatten(1) @ a[3][0] + a[3][1]
        x = (
            x
            + functional.gelu(norm(x, block.mlp_norm) @ m[0][0] + m[0][1], approximate="tanh") @ m[1][0]
            + m[1][1]
        )
        lens.append(norm(x, model.norm))
    return (torch.stack(lens) @ torch.tensor(model.embedding).T).numpy()


def split_loops(fused, heads):
    size, out = fused.shape[-1] // heads // 3, [[], [], []]
    for h in range(heads):
        for kind in range(3):
            for d in range(size):
                out[kind].append(fused[..., (h * 3 + kind) * size + d])
    return np.array([np.stack(columns, axis=-1) for columns in out])


def split_vectorised(fused, heads):
    pieces = np.split(fused, 3 * heads, axis=-1)
    return np.stack([np.concatenate(pieces[kind::3], axis=-1) for kind in range(3)])


def split_torch(fused, heads):
    pieces = torch.tensor(fused).unflatten(-1, (heads, 3, -1))
    return torch.stack([piece.flatten(-2) for piece in pieces.unbind(-2)]).numpy()


RIGHT = {
    "q1": (sizes_loops, sizes_vectorised, sizes_torch),
    "q2": (counts_loops, counts_vectorised, counts_torch),
    "q3": (parallel_loops, parallel_vectorised, parallel_torch),
    "q4": (sandwich_loops, sandwich_vectorised, sandwich_torch),
    "q5": (work_loops, work_vectorised, work_torch),
    "q6": (lens_loops, lens_vectorised, lens_torch),
    "q7": (split_loops, split_vectorised, split_torch),
}
