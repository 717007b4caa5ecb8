"""Three right answers to each question, written independently: loops, vectorised, PyTorch."""

import math

import numpy as np
import torch


def four_loops(x, gain, bias):
    x = x.tolist()
    mean = sum(x) / len(x)
    root = math.sqrt(sum((v - mean) ** 2 for v in x) / len(x))
    return [(v - mean) / root * g + b for v, g, b in zip(x, gain, bias, strict=True)]


def four_vectorised(x, gain, bias):
    return gain * (x - np.mean(x)) / np.std(x) + bias


def four_torch(x, gain, bias):
    return torch.nn.functional.layer_norm(
        torch.tensor(x), (5,), torch.tensor(gain), torch.tensor(bias), eps=0.0
    ).numpy()


def orders_loops(x):
    def norm(row):
        root = math.sqrt(sum(v * v for v in row) / 4)
        return [v / root for v in row]

    def layer(row):
        return [0.75 * row[1], -0.75 * row[0], 0.75 * row[3], -0.75 * row[2]]

    x = x.tolist()
    return [
        [a + b for a, b in zip(x, layer(norm(x)), strict=True)],
        norm([a + b for a, b in zip(x, layer(x), strict=True)]),
    ]


TURN = np.array([[0, -0.75, 0, 0], [0.75, 0, 0, 0], [0, 0, 0, -0.75], [0, 0, 0.75, 0]])


def orders_vectorised(x):
    half_length = np.linalg.norm(x) / 2
    after = x + x @ TURN
    return np.stack([x + x @ TURN / half_length, after / np.sqrt(after @ after / 4)])


def orders_torch(x):
    x, turn = torch.tensor(x), torch.tensor(TURN)
    norm = torch.nn.RMSNorm(4, eps=0.0, elementwise_affine=False, dtype=torch.float64)
    return torch.stack([x + norm(x) @ turn, norm(x + x @ turn)]).numpy()


def forgot_loops(normed, known):
    (y0, y1), (x0, x1) = normed[:2].tolist(), known.tolist()
    deviation = (x1 - x0) / (y1 - y0)
    mean = x1 - deviation * y1
    return [mean + deviation * y for y in normed[2:].tolist()]


def forgot_vectorised(normed, known):
    return np.polyval(np.polyfit(normed[:2], known, 1), normed[2:])


def forgot_torch(normed, known):
    normed, known = torch.tensor(normed), torch.tensor(known)
    design = torch.stack([normed, torch.ones_like(normed)], dim=1)
    return (design[2:] @ torch.linalg.solve(design[:2], known)).numpy()


def heads_loops(x, gain, heads, eps):
    width, out = x.shape[-1] // heads, []
    for row in x.reshape(-1, x.shape[-1]).tolist():
        for h in range(heads):
            piece = row[h * width : (h + 1) * width]
            root = math.sqrt(sum(v * v for v in piece) / width + eps)
            out += [v / root * g for v, g in zip(piece, gain, strict=True)]
    return np.array(out).reshape(x.shape)


def heads_vectorised(x, gain, heads, eps):
    pieces = np.split(x, heads, axis=-1)
    return np.concatenate(
        [
            gain * p * (np.einsum("...d,...d->...", p, p)[..., None] / p.shape[-1] + eps) ** -0.5
            for p in pieces
        ],
        axis=-1,
    )


def heads_torch(x, gain, heads, eps):
    pieces = torch.tensor(x).unflatten(-1, (heads, x.shape[-1] // heads))
    return (
        (pieces * torch.rsqrt(pieces.square().mean(-1, keepdim=True) + eps) * torch.tensor(gain))
        .flatten(-2)
        .numpy()
    )


def half_loops(x, gain, eps):
    out = []
    for row in x.reshape(-1, x.shape[-1]).tolist():  # Python's numbers are in double precision
        root = math.sqrt(sum(v * v for v in row) / len(row) + eps)
        out += [v / root * g for v, g in zip(row, gain.tolist(), strict=True)]
    return np.array(out).reshape(x.shape)


def half_vectorised(x, gain, eps):
    wide = x.astype(np.float32)
    return (
        wide / np.sqrt(np.mean(wide**2, axis=-1, keepdims=True) + np.float32(eps)) * gain.astype(np.float32)
    )


def half_torch(x, gain, eps):
    x, gain = torch.tensor(x).double(), torch.tensor(gain).double()
    return (x / (x.pow(2).mean(-1, keepdim=True) + eps).sqrt() * gain).float().numpy()


def parts_loops(start, answers, gain, eps):
    out = np.empty((len(answers) + 1, *start.shape))
    for t in range(len(start)):
        parts = [start[t], *(answer[t] for answer in answers)]
        total = [sum(float(part[e]) for part in parts) for e in range(len(gain))]
        root = math.sqrt(sum(v * v for v in total) / len(total) + eps)
        for n, part in enumerate(parts):
            out[n, t] = [part[e] / root * gain[e] for e in range(len(gain))]
    return out


def parts_vectorised(start, answers, gain, eps):
    end = start + np.einsum("lte->te", answers)
    factor = gain / np.sqrt(np.mean(end * end, axis=1) + eps)[:, None]
    return np.vstack([(start * factor)[np.newaxis], answers * factor])


def parts_torch(start, answers, gain, eps):
    parts = torch.cat([torch.tensor(start).unsqueeze(0), torch.tensor(answers)])
    scale = torch.rsqrt(parts.sum(0).square().mean(-1, keepdim=True) + eps)
    return (parts * scale * torch.tensor(gain)).numpy()


def drop_loops(x, answer, rate, uniform):
    out = x.copy()
    for b in range(len(x)):
        if uniform[b] >= rate:
            out[b] += answer[b] / (1 - rate)
    return out


def drop_vectorised(x, answer, rate, uniform):
    return x + np.einsum("b,bte->bte", (uniform >= rate) / (1 - rate), answer)


def drop_torch(x, answer, rate, uniform):
    keep = (torch.tensor(uniform) >= rate).double().div(1 - rate).view(-1, 1, 1)
    return torch.addcmul(torch.tensor(x), keep, torch.tensor(answer)).numpy()


RIGHT = {
    "q1": (four_loops, four_vectorised, four_torch),
    "q2": (orders_loops, orders_vectorised, orders_torch),
    "q3": (forgot_loops, forgot_vectorised, forgot_torch),
    "q4": (heads_loops, heads_vectorised, heads_torch),
    "q5": (half_loops, half_vectorised, half_torch),
    "q6": (parts_loops, parts_vectorised, parts_torch),
    "q7": (drop_loops, drop_vectorised, drop_torch),
}
