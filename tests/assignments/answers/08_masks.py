"""Three right answers to each question, written independently: loops, vectorised, PyTorch."""

import math

import numpy as np
import torch


def new_loops(values, real):
    out = []
    for place in (4, 5):
        seen = [values[s] for s in range(place + 1) if real[s]]
        out.append(sum(seen) / len(seen))
    return out


def new_vectorised(values, real):
    return (np.cumsum(values * real) / np.cumsum(real).clip(1))[-2:]


def new_torch(values, real):
    mask = torch.ones(6, 6, dtype=torch.bool).tril()[4:] & torch.tensor(real)
    zeros, v = torch.zeros(1, 6, 2, dtype=torch.float64), torch.tensor(values)[None, :, None]
    return torch.nn.functional.scaled_dot_product_attention(zeros[:, 4:], zeros, v, attn_mask=mask)[
        0, :, 0
    ].numpy()


def yes_loops(source, target):
    S, T, read, write, across = max(source), max(target), 0, 0, 0
    for n, m in zip(source, target, strict=True):
        for _ in range(S):
            read += sum(key < n for key in range(S))
        for query in range(T):
            write += sum(key <= query and key < m for key in range(T))
            across += sum(key < n for key in range(S))
    return [int(read), int(write), int(across)]


def yes_vectorised(source, target):
    S, T = source.max(), target.max()
    return np.array(
        [S * source.sum(), np.sum(target * (target + 1) // 2 + (T - target) * target), T * source.sum()]
    )


def yes_torch(source, target):
    source, target = torch.tensor(source)[:, None, None], torch.tensor(target)[:, None, None]
    S, T = int(source.max()), int(target.max())
    read = (torch.arange(S) < source).expand(3, S, S)
    write = torch.ones(3, T, T, dtype=torch.bool).tril() & (torch.arange(T) < target)
    across = (torch.arange(S) < source).expand(3, T, S)
    return torch.stack([mask.sum() for mask in (read, write, across)]).numpy()


def moved_loops(mask, token):
    changed, out = {token}, []
    for _ in range(2):
        changed = changed | {reader for reader in range(6) if any(mask[reader][one] for one in changed)}
        out.append([1 if one in changed else 0 for one in range(6)])
    return out


def moved_vectorised(mask, token):
    return np.stack([mask[:, token], (mask @ mask)[:, token] > 0]).astype(int)


def moved_torch(mask, token):
    mask = torch.tensor(mask).bool()
    x = torch.rand(6, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    changed = x.clone()
    changed[token] += 1
    read, out = torch.nn.functional.scaled_dot_product_attention, []
    for _ in range(2):
        x, changed = (
            rows + read(rows[None], rows[None], rows[None], attn_mask=mask)[0] for rows in (x, changed)
        )
        out.append(((x - changed).abs() > 1e-9).any(dim=1))
    return torch.stack(out).int().numpy()


def packed_loops(text):
    if text.ndim > 1:
        return np.stack([packed_loops(row) for row in text])
    mask = np.zeros((len(text), len(text)))
    for t in range(len(text)):
        for s in range(t + 1):
            mask[t, s] = 1 if text[t] == text[s] != -1 else 0
    return mask


def packed_vectorised(text):
    names = np.where(text < 0, np.nan, text)  # NaN is equal to nothing, not even to itself
    return np.tril(np.equal(names[..., None], names[..., None, :]).astype(int))


def packed_torch(text):
    text = torch.tensor(text)
    own = torch.nn.functional.one_hot(text + 1).double()[..., 1:]
    return (own @ own.mT).tril().numpy()


def depends_loops(masks):
    T = masks.shape[-1]
    out = np.zeros((T, T))
    for token in range(T):
        changed = {token}
        for mask in masks:
            changed |= {reader for reader in range(T) for one in changed if mask[reader, one]}
        for one in changed:
            out[one, token] = 1
    return out


def depends_vectorised(masks):
    steps = masks.astype(int) + np.eye(masks.shape[-1], dtype=int)
    return np.linalg.multi_dot([*steps[::-1], np.eye(masks.shape[-1], dtype=int)]).clip(max=1)


def depends_torch(masks):
    def model(x):
        for mask in torch.tensor(masks):
            x = x + mask.double() @ x
        return x

    T = masks.shape[-1]
    table = torch.autograd.functional.jacobian(model, torch.ones(T, 1, dtype=torch.float64))
    return (table[:, 0, :, 0] > 0).int().numpy()


def hidden_loops(scores, mask):
    out = np.zeros(scores.shape)
    for row in np.ndindex(scores.shape[:-1]):
        seen = np.flatnonzero(mask[row])
        if seen.size:
            top = max(scores[row][seen])
            powers = [math.exp(scores[row][s] - top) for s in seen]
            out[row][seen] = np.array(powers) / sum(powers)
    return out


def hidden_vectorised(scores, mask):
    top = scores.max(axis=-1, keepdims=True, where=mask, initial=-1e300)
    powers = np.exp(np.minimum(scores - top, 0)) * mask
    total = powers.sum(axis=-1, keepdims=True)
    return np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)


def hidden_torch(scores, mask):
    scores = torch.tensor(scores).masked_fill(~torch.tensor(mask), -torch.inf)
    return scores.softmax(dim=-1).nan_to_num(0.0).numpy()


RIGHT = {
    "q1": (new_loops, new_vectorised, new_torch),
    "q2": (yes_loops, yes_vectorised, yes_torch),
    "q3": (moved_loops, moved_vectorised, moved_torch),
    "q4": (packed_loops, packed_vectorised, packed_torch),
    "q5": (depends_loops, depends_vectorised, depends_torch),
    "q6": (hidden_loops, hidden_vectorised, hidden_torch),
}
