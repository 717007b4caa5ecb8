"""Three right answers to each question, written independently: loops, vectorised, PyTorch."""

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


RIGHT = {
    "q1": (step_loops, step_vectorised, step_torch),
    "q2": (fit_loops, fit_vectorised, fit_torch),
    "q3": (slopes_loops, slopes_vectorised, slopes_torch),
}
