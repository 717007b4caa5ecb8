"""Three right answers to each question, written independently: loops, vectorised, PyTorch."""

import math

import numpy as np
import torch


def step_loops(x, target, w, b, rate):
    miss = w * x + b - target
    return [w - rate * (miss * x + miss * x), b - rate * (miss + miss)]


def step_vectorised(x, target, w, b, rate):
    row, theta = np.array([x, 1.0]), np.array([w, b])
    return theta - 2 * rate * (row @ theta - target) * row


def step_torch(x, target, w, b, rate):
    theta = torch.tensor([w, b], dtype=torch.float64, requires_grad=True)
    ((theta[0] * x + theta[1] - target) ** 2).backward()
    return (theta - rate * theta.grad).detach().numpy()


def fit_loops(x, y, rate, steps):
    w = b = 0.0
    for _ in range(steps):
        dw = db = 0.0
        for number, wanted in zip(x.tolist(), y.tolist(), strict=True):
            dw += 2 * (w * number + b - wanted) * number
            db += 2 * (w * number + b - wanted)
        w -= rate * dw
        b -= rate * db
    return np.array([w, b])


def fit_vectorised(x, y, rate, steps):
    rows, theta = np.stack([x, np.ones_like(x)], axis=1), np.zeros(2)
    for _ in range(steps):
        theta = theta - 2 * rate * rows.T @ (rows @ theta - y)
    return theta


def fit_torch(x, y, rate, steps):
    x, y, theta = torch.tensor(x), torch.tensor(y), torch.zeros(2, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.SGD([theta], lr=rate)
    for _ in range(steps):
        optimizer.zero_grad()
        (theta[0] * x + theta[1] - y).square().sum().backward()
        optimizer.step()
    return theta.detach().numpy()


def slopes_loops(x, first, second, target):
    sums = [x[0] * first[0][j] + x[1] * first[1][j] for j in range(3)]
    guess = sum(max(total, 0) * weight for total, weight in zip(sums, second, strict=True))
    return [
        [2 * (guess - target) * second[j] * x[i] if sums[j] > 0 else 0.0 for j in range(3)] for i in range(2)
    ]


def slopes_vectorised(x, first, second, target):
    alive = np.where(np.einsum("e,ef->f", x, first) > 0, second, 0)
    miss = x @ first @ alive - target
    return np.outer(x, 2 * miss * alive)


def slopes_torch(x, first, second, target):
    x, first, second = torch.tensor(x), torch.tensor(first, requires_grad=True), torch.tensor(second)
    ((torch.relu(x @ first) @ second - target) ** 2).backward()
    return first.grad.numpy()


def layer_loops(image, weights, bias):
    out = []
    for i in range(2):
        out.append(
            [
                max(bias + sum(weights[u][v] * image[i + u][j + v] for u in range(2) for v in range(2)), 0.0)
                for j in range(3)
            ]
        )
    return out


def layer_vectorised(image, weights, bias):
    sums = (
        np.einsum("ijuv,uv->ij", np.lib.stride_tricks.sliding_window_view(image, weights.shape), weights)
        + bias
    )
    return sums * (sums > 0)


def layer_torch(image, weights, bias):
    sums = torch.nn.functional.conv2d(
        torch.tensor(image)[None],
        torch.tensor(weights)[None, None],
        torch.tensor([bias], dtype=torch.float64),
    )
    return torch.relu(sums)[0].numpy()


def gap_loops(image, weights, gap):
    (height, width), (U, V) = image.shape, weights.shape
    out = np.zeros((height - gap * (U - 1), width - gap * (V - 1)))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            for u in range(U):
                for v in range(V):
                    out[i, j] += weights[u, v] * image[i + gap * u, j + gap * v]
    return out


def gap_vectorised(image, weights, gap):
    rows, columns = (gap * (size - 1) + 1 for size in weights.shape)
    windows = np.lib.stride_tricks.sliding_window_view(image, (rows, columns))
    return np.tensordot(windows[:, :, ::gap, ::gap], weights, 2)


def gap_torch(image, weights, gap):
    return torch.nn.functional.conv2d(
        torch.tensor(image)[None], torch.tensor(weights)[None, None], dilation=gap
    )[0].numpy()


def states_loops(W_x, W_h, x1, x2):
    h1 = math.tanh(W_x * x1)
    h2 = math.tanh(W_x * x2 + W_h * h1)
    return [
        round(number, 6)
        for number in (h1, h2, W_x / math.cosh(W_x * x1) ** 2 * W_h / math.cosh(W_x * x2 + W_h * h1) ** 2)
    ]


def states_vectorised(W_x, W_h, x1, x2):
    words, nudge = np.array([x1, x1 + 1e-5, x1 - 1e-5]), 1e-5
    h1 = np.tanh(W_x * words)
    h2 = np.tanh(W_x * x2 + W_h * h1)
    return np.array([h1[0], h2[0], (h2[1] - h2[2]) / (2 * nudge)])


def states_torch(W_x, W_h, x1, x2):
    word = torch.tensor(x1, dtype=torch.float64, requires_grad=True)
    h1 = torch.tanh(W_x * word)
    h2 = torch.tanh(W_x * x2 + W_h * h1)
    h2.backward()
    return torch.stack([h1, h2, word.grad]).detach().numpy()


def ways_loops(x, forward, backward):
    def read(order, tables):
        state, found = [0.0] * len(tables.bias), {}
        for t in order:
            sums = list(tables.bias)
            for f in range(len(sums)):
                sums[f] += sum(x[t][e] * tables.input[e][f] for e in range(x.shape[1]))
                sums[f] += sum(state[g] * tables.recurrent[g][f] for g in range(len(state)))
            state = found[t] = [math.tanh(total) for total in sums]
        return found

    there, back = read(range(len(x)), forward), read(range(len(x) - 1, -1, -1), backward)
    return np.array([there[t] + back[t] for t in range(len(x))])


def ways_vectorised(x, forward, backward):
    F, G = len(forward.bias), len(backward.bias)
    out = np.zeros((len(x) + 2, F + G))  # a row of zeros above and below
    for t in range(len(x)):
        out[t + 1, :F] = np.tanh(x[t] @ forward.input + out[t, :F] @ forward.recurrent + forward.bias)
    for t in reversed(range(len(x))):
        out[t + 1, F:] = np.tanh(x[t] @ backward.input + out[t + 2, F:] @ backward.recurrent + backward.bias)
    return out[1:-1]


def ways_torch(x, forward, backward):
    def read(rows, tables):
        layer = torch.nn.RNN(*tables.input.shape, dtype=torch.float64)
        layer.weight_ih_l0.data, layer.weight_hh_l0.data = (
            torch.tensor(tables.input.T),
            torch.tensor(tables.recurrent.T),
        )
        layer.bias_ih_l0.data, layer.bias_hh_l0.data = (
            torch.tensor(tables.bias),
            torch.zeros(len(tables.bias), dtype=torch.float64),
        )
        return layer(rows)[0].detach()

    rows = torch.tensor(x)
    return torch.cat([read(rows, forward), read(rows.flip(0), backward).flip(0)], dim=1).numpy()


def costs_loops(T, E, k):
    layers, seen = 0, 1
    while seen < T:
        layers, seen = layers + 1, seen + k - 1
    return [
        sum(T * E + 1 for _ in range(T * E)),
        sum(k * E + 1 for _ in range(E)),
        sum(E + E + 1 for _ in range(E)),
        layers,
    ]


def costs_vectorised(T, E, k):
    inputs, outputs = np.array([T * E, k * E, 2 * E]), np.array([T * E, E, E])
    return np.append((inputs + 1) * outputs, -((1 - T) // (k - 1)))


def costs_torch(T, E, k):
    layers = torch.nn.Linear(T * E, T * E), torch.nn.Conv1d(E, E, k), torch.nn.RNN(E, E)
    numbers = [sum(part.numel() for part in layer.parameters()) for layer in layers]
    numbers[2] -= E  # PyTorch keeps a second bias
    return [*numbers, math.ceil((T - 1) / (k - 1))]


RIGHT = {
    "q1": (step_loops, step_vectorised, step_torch),
    "q2": (fit_loops, fit_vectorised, fit_torch),
    "q3": (slopes_loops, slopes_vectorised, slopes_torch),
    "q4": (layer_loops, layer_vectorised, layer_torch),
    "q5": (gap_loops, gap_vectorised, gap_torch),
    "q6": (states_loops, states_vectorised, states_torch),
    "q7": (ways_loops, ways_vectorised, ways_torch),
    "q8": (costs_loops, costs_vectorised, costs_torch),
}
