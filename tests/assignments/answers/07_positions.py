"""Three right answers to each question, written independently: loops, vectorised, PyTorch."""

import cmath
import math

import numpy as np
import torch


def order_loops(rows, order):
    return [list(rows[old]) for old in order]


def order_vectorised(rows, order):
    return np.eye(len(order))[order] @ rows


def order_torch(rows, order):
    return torch.tensor(rows).index_select(0, torch.tensor(order)).numpy()


def waves_loops(token, position):
    row = []
    for pair in (0, 1):
        angle = position / 10000 ** (2 * pair / 4)
        row += [token[2 * pair] + math.sin(angle), token[2 * pair + 1] + math.cos(angle)]
    return row


def waves_vectorised(token, position):
    angles = position / np.array([1, 1, 100, 100])
    return token + np.sin(angles + np.array([0, np.pi / 2, 0, np.pi / 2]))


def waves_torch(token, position):
    angles = torch.tensor([position, position / 100], dtype=torch.float64)
    return (torch.tensor(token) + torch.stack([angles.sin(), angles.cos()], dim=1).flatten()).numpy()


def halves_loops(query, position):
    first = complex(query[0], query[2]) * cmath.exp(1j * position)
    second = complex(query[1], query[3]) * cmath.exp(1j * position / 10)
    return [first.real, second.real, first.imag, second.imag]


def halves_vectorised(query, position):
    angles = position * np.array([1, 0.1, 1, 0.1])
    return query * np.cos(angles) + query[[2, 3, 0, 1]] * [-1, -1, 1, 1] * np.sin(angles)


def halves_torch(query, position):
    a, b = torch.tensor(query, dtype=torch.float64).chunk(2)
    turned = torch.complex(a, b) * torch.polar(
        torch.ones(2, dtype=torch.float64), position * torch.tensor([1.0, 0.1], dtype=torch.float64)
    )
    return torch.cat([turned.real, turned.imag]).numpy()


def slip_loops(scores, length, start):
    by_distance = dict(zip(range(-5, 7), scores, strict=True))
    return [by_distance[start + 1 - s] for s in range(length)] + [by_distance[1], by_distance[0]]


def slip_vectorised(scores, length, start):
    return np.concatenate([scores[start + 7 - length : start + 7][::-1], scores[[6, 5]]])


def slip_torch(scores, length, start):
    keys = torch.cat([torch.arange(length), start + torch.arange(2)])
    return torch.tensor(scores)[start + 6 - keys].numpy()


def line_loops(heads, queries, keys):
    out = np.zeros((heads, queries, keys))
    for h in range(heads):
        for t in range(queries):
            for s in range(keys):
                back = t + keys - queries - s
                if back > 0:
                    out[h, t, s] = -back / 2 ** (8 * (h + 1) / heads)
    return out


def line_vectorised(heads, queries, keys):
    back = np.clip(np.subtract.outer(np.arange(keys), np.arange(keys))[keys - queries :], 0, None)
    return -np.multiply.outer(np.power(2.0 ** (-8 / heads), np.arange(1, heads + 1)), back)


def line_torch(heads, queries, keys):
    slopes = torch.exp2(-8 * torch.arange(1, heads + 1, dtype=torch.float64) / heads)
    places = torch.arange(keys - queries, keys)[:, None] - torch.arange(keys)
    return torch.einsum("h,ts->hts", -slopes, places.relu().double()).numpy()


def find_loops(x, turned, length):
    found = []
    for row, seen in zip(x, turned, strict=True):
        for position in range(length):
            miss = 0.0
            for i in range(0, len(row), 2):
                pair = complex(row[i], row[i + 1]) * cmath.exp(1j * position / 10000 ** (i / len(row)))
                miss += abs(pair - complex(seen[i], seen[i + 1]))
            if miss < 1e-6:
                found.append(position)
                break
    return np.array(found)


def find_vectorised(x, turned, length):
    pairs, seen = x[:, 0::2] + 1j * x[:, 1::2], turned[:, 0::2] + 1j * turned[:, 1::2]
    speeds = 10000.0 ** (-np.arange(0, x.shape[1], 2) / x.shape[1])
    turns = np.exp(1j * np.arange(length)[:, None] * speeds)
    return np.argmax((turns[None] * pairs[:, None] * seen.conj()[:, None]).real.sum(axis=-1), axis=1)


def find_torch(x, turned, length):
    T, D = x.shape
    x, turned = torch.tensor(x).reshape(T, 1, D // 2, 2), torch.tensor(turned).reshape(T, 1, D // 2, 2)
    angles = torch.outer(
        torch.arange(length, dtype=torch.float64),
        10000.0 ** (-torch.arange(0, D, 2, dtype=torch.float64) / D),
    )
    a, b = x.unbind(-1)
    candidates = torch.stack(
        [a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], dim=-1
    )
    return (candidates - turned).square().sum(dim=(2, 3)).argmin(dim=1).numpy()


def turned_loops(x, start):
    out = np.zeros(x.shape)
    for t, row in enumerate(x):
        for i in range(0, len(row), 2):
            pair = complex(row[i], row[i + 1]) * cmath.exp(1j * (start + t) / 10000 ** (i / len(row)))
            out[t, i], out[t, i + 1] = pair.real, pair.imag
    return out


def cache_loops(query, key, cached):
    queries, keys = turned_loops(query, len(cached)), [*cached, *turned_loops(key, len(cached))]
    return np.array([[float(a @ b) / math.sqrt(query.shape[1]) for b in keys] for a in queries])


def cache_vectorised(query, key, cached):
    """All turned back by the length of the cache: the scores know the distance alone."""
    before, D = len(cached), query.shape[1]
    speeds = 10000.0 ** (-np.arange(0, D, 2) / D)

    def pairs(rows, positions):
        return (rows[:, 0::2] + 1j * rows[:, 1::2]) * np.exp(1j * np.multiply.outer(positions, speeds))

    new = np.arange(len(query))
    keys = np.vstack([pairs(cached, np.full(before, -before)), pairs(key, new)])
    return (pairs(query, new) @ keys.conj().T).real / D**0.5


def cache_torch(query, key, cached):
    before, (T, D) = len(cached), query.shape
    angles = torch.outer(
        before + torch.arange(T, dtype=torch.float64),
        10000.0 ** (-torch.arange(0, D, 2, dtype=torch.float64) / D),
    )
    turns = torch.polar(torch.ones_like(angles), angles)

    def turned(rows):
        return torch.view_as_real(
            torch.view_as_complex(torch.tensor(rows).reshape(T, D // 2, 2)) * turns
        ).reshape(T, D)

    keys = torch.cat([torch.tensor(cached), turned(key)])
    return (turned(query) @ keys.T / math.sqrt(D)).numpy()


RIGHT = {
    "q1": (order_loops, order_vectorised, order_torch),
    "q2": (waves_loops, waves_vectorised, waves_torch),
    "q3": (halves_loops, halves_vectorised, halves_torch),
    "q4": (slip_loops, slip_vectorised, slip_torch),
    "q5": (line_loops, line_vectorised, line_torch),
    "q6": (find_loops, find_vectorised, find_torch),
    "q7": (cache_loops, cache_vectorised, cache_torch),
}
