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


def roll_loops(x, y, rate, keep, steps):
    w = b = move_w = move_b = 0.0
    for _ in range(steps):
        dw = db = 0.0
        for number, wanted in zip(x.tolist(), y.tolist(), strict=True):
            dw += 2 * (w * number + b - wanted) * number
            db += 2 * (w * number + b - wanted)
        move_w, move_b = keep * move_w - rate * dw, keep * move_b - rate * db
        w += move_w
        b += move_b
    return np.array([w, b])


def roll_vectorised(x, y, rate, keep, steps):
    """From the last two places: the next one is this, plus what is kept of the way here, minus the slope."""
    rows, before, now = np.stack([x, np.ones_like(x)], axis=1), np.zeros(2), np.zeros(2)
    for _ in range(steps):
        before, now = now, now + keep * (now - before) - 2 * rate * rows.T @ (rows @ now - y)
    return now


def roll_torch(x, y, rate, keep, steps):
    x, y, theta = torch.tensor(x), torch.tensor(y), torch.zeros(2, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.SGD([theta], lr=rate, momentum=keep)
    for _ in range(steps):
        optimizer.zero_grad()
        (theta[0] * x + theta[1] - y).square().sum().backward()
        optimizer.step()
    return theta.detach().numpy()


def misses_loops(x, target, w, rate):
    first = miss = w * x - target
    for _ in range(3):
        w -= rate * 2 * (w * x - target) * x
        miss = w * x - target
    return [1 - 2 * rate * x**2, miss, 1 / (2 * x**2) if first else None]


def misses_vectorised(x, target, w, rate):
    factors = np.full(3, 1 - rate * 2 * x * x)
    return np.array([factors[0], (w * x - target) * factors.prod(), 0.5 / x**2])


def misses_torch(x, target, w, rate):
    weight = torch.tensor(w, dtype=torch.float64, requires_grad=True)
    found = [weight.item() * x - target]
    for _ in range(3):
        (slope,) = torch.autograd.grad((weight * x - target) ** 2, weight)
        weight = (weight - rate * slope).detach().requires_grad_()
        found.append(weight.item() * x - target)
    curvature = torch.autograd.functional.hessian(lambda u: (u * x - target) ** 2, weight).item()
    return [found[1] / found[0], found[3], 1 / curvature]


RIGHT = {
    "q1": (step_loops, step_vectorised, step_torch),
    "q2": (fit_loops, fit_vectorised, fit_torch),
    "q3": (slopes_loops, slopes_vectorised, slopes_torch),
    "q4": (roll_loops, roll_vectorised, roll_torch),
    "q5": (misses_loops, misses_vectorised, misses_torch),
}
