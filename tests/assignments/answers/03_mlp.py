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
    flat = [0.5 * v * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3))) for v in z.ravel().tolist()]
    return np.array(flat).reshape(z.shape)


def gelu_vectorised(z):
    return z / (1 + np.exp(-2 * np.sqrt(2 / np.pi) * (z + 0.044715 * z * z * z)))


def gelu_torch(z):
    return torch.nn.functional.gelu(torch.tensor(z), approximate="tanh").numpy()


RIGHT = {
    "q1": (small_mlp_loops, small_mlp_vectorised, small_mlp_torch),
    "q2": (squared_loops, squared_vectorised, squared_torch),
    "q3": (gelu_loops, gelu_vectorised, gelu_torch),
}
