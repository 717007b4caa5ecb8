"""Three right answers to each question, written independently: loops, vectorised, PyTorch."""

import math

import numpy as np
import torch


def small_mlp_loops(x, up, down):
    hidden = [max(sum(x[i] * up[i][j] for i in range(3)), 0.0) for j in range(4)]
    return [sum(hidden[j] * down[j][k] for j in range(4)) for k in range(2)]


def small_mlp_vectorised(x, up, down):
    hidden = x @ up
    return np.where(hidden > 0, hidden, 0) @ down


def small_mlp_torch(x, up, down):
    x, up, down = map(torch.tensor, (x, up, down))
    return (torch.relu(x @ up) @ down).numpy()


def squared_loops(x, up, up_bias, down, down_bias):
    rows = x.reshape(-1, x.shape[-1])
    out = np.empty((len(rows), down.shape[1]))
    for t, row in enumerate(rows):
        hidden = [max(float(row @ up[:, f]) + up_bias[f], 0.0) ** 2 for f in range(up.shape[1])]
        for e in range(down.shape[1]):
            out[t, e] = sum(hidden[f] * down[f, e] for f in range(len(hidden))) + down_bias[e]
    return out.reshape(x.shape)


def squared_vectorised(x, up, up_bias, down, down_bias):
    z = np.einsum("...e,ef->...f", x, up) + up_bias
    return np.einsum("...f,fe->...e", z * z * (z > 0), down) + down_bias


def squared_torch(x, up, up_bias, down, down_bias):
    x, up, up_bias, down, down_bias = map(torch.tensor, (x, up, up_bias, down, down_bias))
    return (torch.relu(x @ up + up_bias).square() @ down + down_bias).numpy()


def gelu_loops(z):
    flat = [
        0.5 * v * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3))) for v in z.ravel().tolist()
    ]
    return np.array(flat).reshape(z.shape)


def gelu_vectorised(z):
    return z / (1 + np.exp(-2 * np.sqrt(2 / np.pi) * (z + 0.044715 * z * z * z)))


def gelu_torch(z):
    return torch.nn.functional.gelu(torch.tensor(z), approximate="tanh").numpy()


def folded_loops(up, up_bias, down, down_bias):
    (e, f), g = up.shape, down.shape[1]
    rows = [[sum(up[i][n] * down[n][j] for n in range(f)) for j in range(g)] for i in range(e)]
    rows.append([down_bias[j] + sum(up_bias[n] * down[n][j] for n in range(f)) for j in range(g)])
    return np.array(rows)


def folded_vectorised(up, up_bias, down, down_bias):
    table = np.vstack([up, up_bias]) @ down
    table[-1] += down_bias
    return table


def folded_torch(up, up_bias, down, down_bias):
    up, up_bias, down, down_bias = map(torch.tensor, (up, up_bias, down, down_bias))
    probes = torch.cat([torch.eye(len(up), dtype=up.dtype), torch.zeros(1, len(up), dtype=up.dtype)])
    seen = (probes @ up + up_bias) @ down + down_bias
    return torch.cat([seen[:-1] - seen[-1], seen[-1:]]).numpy()


def bends_loops(places, heights):
    weights, steep, before, below = [], 0.0, 0.0, 0.0
    for place, height in zip(places, heights, strict=True):
        slope = (height - below) / (place - before)
        weights.append(slope - steep)
        steep, before, below = slope, place, height
    return weights


def bends_vectorised(places, heights):
    starts = np.array([0, *places[:-1]])
    return np.linalg.solve(np.maximum(places[:, None] - starts, 0).astype(float), heights)


def bends_torch(places, heights):
    places, heights = torch.tensor(places, dtype=torch.float64), torch.tensor(heights, dtype=torch.float64)
    starts = torch.cat([torch.zeros(1, dtype=torch.float64), places[:-1]])
    return torch.linalg.lstsq(torch.relu(places[:, None] - starts), heights[:, None]).solution[:, 0].numpy()


def small_swiglu_loops(x, gate, up, down):
    hidden = []
    for j in range(2):
        a, u = (x[0] * table[0][j] + x[1] * table[1][j] for table in (gate, up))
        hidden.append(a / (1 + math.exp(-a)) * u)
    return [round(hidden[0] * down[0][k] + hidden[1] * down[1][k], 5) for k in range(2)]


def small_swiglu_vectorised(x, gate, up, down):
    a, u = x @ np.stack([gate, up])
    return np.einsum("f,fe->e", a * 0.5 * (1 + np.tanh(a / 2)) * u, down)


def small_swiglu_torch(x, gate, up, down):
    x, gate, up, down = map(torch.tensor, (x, gate, up, down))
    return ((torch.nn.functional.silu(x @ gate) * (x @ up)) @ down).numpy()


def turn_loops(x, gate_up, down):
    out = np.zeros(x.shape)
    for place in np.ndindex(*x.shape[:-1]):
        for f in range(len(down)):
            a, u = (
                sum(x[place][e] * gate_up[e][2 * f + part] for e in range(len(gate_up))) for part in (0, 1)
            )
            out[place] += a / (1 + math.exp(-a)) * (u + 1) * down[f]
    return out


def turn_vectorised(x, gate_up, down):
    pairs = (x @ gate_up).reshape(*x.shape[:-1], -1, 2)
    a, u = pairs[..., 0], pairs[..., 1]
    return (a / (1 + np.exp(-a)) * (1 + u)) @ down


def turn_torch(x, gate_up, down):
    x, gate_up, down = map(torch.tensor, (x, gate_up, down))
    a, u = (x @ gate_up).unflatten(-1, (-1, 2)).unbind(-1)
    return (torch.nn.functional.silu(a).addcmul(torch.nn.functional.silu(a), u) @ down).numpy()


RIGHT = {
    "q1": (small_mlp_loops, small_mlp_vectorised, small_mlp_torch),
    "q2": (squared_loops, squared_vectorised, squared_torch),
    "q3": (gelu_loops, gelu_vectorised, gelu_torch),
    "q4": (folded_loops, folded_vectorised, folded_torch),
    "q5": (bends_loops, bends_vectorised, bends_torch),
    "q6": (small_swiglu_loops, small_swiglu_vectorised, small_swiglu_torch),
    "q7": (turn_loops, turn_vectorised, turn_torch),
}
