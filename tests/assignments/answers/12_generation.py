"""Three right answers to each question, written independently: loops, vectorised, PyTorch."""

import math

import numpy as np
import torch
from torch.nn import functional


def room_loops(layers, heads, groups, width, each, texts, memory):
    token = sum(each * width for _ in range(layers) for _ in range(groups) for _ in ("key", "value"))
    tokens = 0
    while (tokens + 1) * token * texts <= memory:
        tokens += 1
    return [token, tokens]


def room_vectorised(layers, heads, groups, width, each, texts, memory):
    token = np.zeros((layers, 2, groups, width), dtype=np.dtype(f"f{each}")).nbytes
    return np.array([token, np.floor(memory / texts / token)])


def room_torch(layers, heads, groups, width, each, texts, memory):
    kind = {2: torch.float16, 4: torch.float32}[each]
    store = torch.zeros(2, layers, groups, width, dtype=kind)
    token = store.numel() * store.element_size()
    return torch.tensor([token, memory // texts // token]).numpy()


def portion_loops(powers, values):
    out = []
    for row, places in enumerate((3, 4)):
        share = [powers[row][j] for j in range(places)]
        out.append(sum(p * values[j] for j, p in enumerate(share)) / sum(share))
    return out


def portion_vectorised(powers, values):
    return np.array([np.average(values[:3], weights=powers[0, :3]), np.average(values, weights=powers[1])])


def portion_torch(powers, values):
    scores = torch.log(torch.tensor(powers, dtype=torch.float64))
    scores[0, 3] = -math.inf
    return (torch.softmax(scores, dim=-1) @ torch.tensor(values, dtype=torch.float64)).numpy()


def work_loops(heads, groups, width, hidden, layers, words, position):
    model, counts = heads * width, []
    tables = [
        (model, heads * width),
        (model, groups * width),
        (model, groups * width),
        (heads * width, model),
    ]
    tables += [(model, hidden), (model, hidden), (hidden, model)]
    for rows in (1, position):
        count = model * words
        for _ in range(layers):
            for a, b in tables:
                count += rows * a * b
            for _ in range(heads):
                count += rows * position * width + rows * position * width
        counts.append(count)
    return counts


def work_vectorised(heads, groups, width, hidden, layers, words, position):
    model, rows = heads * width, np.array([1, position])
    maps = 2 * model * (model + groups * width) + 3 * model * hidden
    return layers * rows * (maps + 2 * position * model) + model * words


def work_torch(heads, groups, width, hidden, layers, words, position):
    model = heads * width
    shapes = torch.tensor(
        [
            [model, model],
            [model, groups * width],
            [model, groups * width],
            [model, model],
            *3 * [[model, hidden]],
        ]
    )
    maps = shapes.prod(dim=1).sum()
    rows = torch.tensor([1, position])
    return (layers * (rows * maps + 2 * rows * position * model) + model * words).numpy()


def reusable_loops(kept, text):
    count = 0
    while count < len(kept) and count < len(text) - 1 and kept[count] == text[count]:
        count += 1
    return count


def reusable_vectorised(kept, text):
    length = min(len(kept), len(text) - 1)
    return np.cumprod(kept[:length] == text[:length]).sum()


def reusable_torch(kept, text):
    length = min(len(kept), len(text) - 1)
    same = torch.tensor(kept[:length]) == torch.tensor(text[:length])
    return int(torch.cumprod(same.long(), dim=0).sum())


def room_read_loops(query, keys, values, filled):
    if query.ndim > 2:
        return np.array([room_read_loops(*heads, filled) for heads in zip(query, keys, values)])
    out = np.zeros((len(query), values.shape[1]))
    for t, row in enumerate(query):
        end = filled - len(query) + t + 1
        scores = [float(row @ keys[j]) / math.sqrt(len(row)) for j in range(end)]
        powers = [math.exp(score) for score in scores]
        for j in range(end):
            out[t] += powers[j] / sum(powers) * values[j]
    return out


def room_read_vectorised(query, keys, values, filled):
    new, capacity = query.shape[-2], keys.shape[-2]
    seen = np.arange(capacity) <= np.arange(filled - new, filled)[:, None]
    powers = np.exp(np.einsum("...td,...sd->...ts", query, keys) / query.shape[-1] ** 0.5) * seen
    return np.einsum("...ts,...se->...te", powers / powers.sum(axis=-1, keepdims=True), values)


def room_read_torch(query, keys, values, filled):
    query, keys, values = (
        torch.tensor(part) for part in (query, keys[..., :filled, :], values[..., :filled, :])
    )
    new = query.shape[-2]
    mask = torch.ones(new, filled, dtype=torch.bool).tril(filled - new)
    return functional.scaled_dot_product_attention(query, keys, values, attn_mask=mask).numpy()


def branches_loops(keys, values, rows, W_q, W_k, W_v):
    out = []
    for row in rows:
        all_keys, all_values = [*keys, row @ W_k], [*values, row @ W_v]
        powers = [math.exp(float(key @ (row @ W_q)) / math.sqrt(W_q.shape[1])) for key in all_keys]
        out.append(sum(power * value for power, value in zip(powers, all_values)) / sum(powers))
    return np.array(out)


def branches_vectorised(keys, values, rows, W_q, W_k, W_v):
    query = rows @ W_q / np.sqrt(W_q.shape[1])
    powers = np.exp(query @ keys.T)
    own = np.exp((query * (rows @ W_k)).sum(axis=1, keepdims=True))
    return (powers @ values + own * (rows @ W_v)) / (powers.sum(axis=1, keepdims=True) + own)


def branches_torch(keys, values, rows, W_q, W_k, W_v):
    keys, values, rows, W_q, W_k, W_v = map(torch.tensor, (keys, values, rows, W_q, W_k, W_v))
    keys = torch.cat([keys.expand(len(rows), -1, -1), (rows @ W_k)[:, None]], dim=1)
    values = torch.cat([values.expand(len(rows), -1, -1), (rows @ W_v)[:, None]], dim=1)
    return functional.scaled_dot_product_attention((rows @ W_q)[:, None], keys, values)[:, 0].numpy()


def write_loops(prompt, count, embedding, W_q, W_k, W_v, head):
    """The slow way: the whole text at each step."""
    text, out = list(prompt), []
    for _ in range(count):
        last = embedding[text[-1]]
        powers = [
            math.exp(float((last @ W_q) @ (embedding[i] @ W_k)) / math.sqrt(W_q.shape[1])) for i in text
        ]
        mixed = sum(p * (embedding[i] @ W_v) for p, i in zip(powers, text)) / sum(powers)
        out.append((last + mixed) @ head)
        text.append(int(out[-1].argmax()))
    return np.array(out)


def write_vectorised(prompt, count, embedding, W_q, W_k, W_v, head):
    all_keys, all_values = embedding @ W_k, embedding @ W_v
    text, out = np.array(prompt), np.empty((count, head.shape[1]))
    for step in range(count):
        powers = np.exp(all_keys[text] @ (embedding[text[-1]] @ W_q) / W_q.shape[1] ** 0.5)
        out[step] = (embedding[text[-1]] + powers @ all_values[text] / powers.sum()) @ head
        text = np.append(text, out[step].argmax())
    return out


def write_torch(prompt, count, embedding, W_q, W_k, W_v, head):
    embedding, W_q, W_k, W_v, head = map(torch.tensor, (embedding, W_q, W_k, W_v, head))
    ids, keys, values, out = (
        torch.tensor(prompt),
        W_k.new_zeros(0, W_k.shape[1]),
        W_v.new_zeros(0, W_v.shape[1]),
        [],
    )
    for _ in range(count):
        x = embedding[ids]
        keys, values = torch.cat([keys, x @ W_k]), torch.cat([values, x @ W_v])
        mixed = functional.scaled_dot_product_attention(x[-1:] @ W_q, keys, values)
        out.append((x[-1:] + mixed)[0] @ head)
        ids = out[-1].argmax()[None]
    return torch.stack(out).numpy()


RIGHT = {
    "q1": (room_loops, room_vectorised, room_torch),
    "q2": (portion_loops, portion_vectorised, portion_torch),
    "q3": (work_loops, work_vectorised, work_torch),
    "q4": (reusable_loops, reusable_vectorised, reusable_torch),
    "q5": (room_read_loops, room_read_vectorised, room_read_torch),
    "q6": (branches_loops, branches_vectorised, branches_torch),
    "q7": (write_loops, write_vectorised, write_torch),
}
