"""Three right answers to each question, written independently: loops, vectorised, PyTorch."""

import math

import numpy as np
import torch
from torch.nn import functional


def text_loss_loops(ids, table):
    out = [-math.log(table[t][ids[t + 1]]) for t in range(len(ids) - 1)]
    return [*out, sum(out) / 3]


def text_loss_vectorised(ids, table):
    picked = np.take_along_axis(table[:-1], ids[1:, None], axis=1)[:, 0]
    return np.array([*np.log(1 / picked), -np.log(np.prod(picked)) / 3])


def text_loss_torch(ids, table):
    surprises = functional.nll_loss(torch.tensor(table[:-1]).log(), torch.tensor(ids[1:]), reduction="none")
    return torch.cat([surprises, surprises.mean()[None]]).numpy()


def step_loops(x, W, came, rate):
    logits = [sum(x[i] * W[i][j] for i in range(2)) for j in range(3)]
    powers = [math.exp(z) for z in logits]
    out = []
    for j in range(3):
        slope = powers[j] / sum(powers) - (j == came)
        out.append(sum(x[i] * (W[i][j] - rate * x[i] * slope) for i in range(2)))
    return out


def step_vectorised(x, W, came, rate):
    logits = x @ W
    return logits - rate * (x @ x) * (np.exp(logits) / np.exp(logits).sum() - np.eye(3)[came])


def step_torch(x, W, came, rate):
    x, W = torch.tensor(x), torch.tensor(W, requires_grad=True)
    functional.cross_entropy(x @ W, torch.tensor(came)).backward()
    return (x @ (W - rate * W.grad)).detach().numpy()


def floor_loops(subjects, objects, adverbs, chance):
    """The entropy of all sentences, one by one."""
    total = 0.0
    for _ in range(subjects):
        for _ in range(objects):
            without = (1 - chance) / (subjects * objects)
            total -= without * math.log(without)
            for _ in range(adverbs):
                with_one = chance / (subjects * objects * adverbs)
                total -= with_one * math.log(with_one)
    return total / 5


def floor_vectorised(subjects, objects, adverbs, chance):
    third = np.array([1 - chance, *[chance / adverbs] * adverbs])
    return (np.log(subjects * objects) - third @ np.log(third)) / 5


def floor_torch(subjects, objects, adverbs, chance):
    third = torch.tensor([1 - chance, *[chance / adverbs] * adverbs], dtype=torch.float64)
    parts = [torch.full((n,), 1 / n, dtype=torch.float64) for n in (subjects, objects)] + [third]
    return sum(torch.distributions.Categorical(p).entropy() for p in parts).item() / 5


def adamw_loops(weight, first, second, rate, decay):
    one = weight - rate * decay * weight - rate * first / abs(first)
    mean = (first + 2 * second) / 3
    square = (first**2 + 2 * second**2) / 3
    return [one, one - rate * decay * one - rate * mean / math.sqrt(square)]


def adamw_vectorised(weight, first, second, rate, decay):
    slopes = np.array([first, second], dtype=float)
    means = [np.average(slopes[:t], weights=0.5 ** np.arange(t)[::-1]) for t in (1, 2)]
    squares = [np.average(slopes[:t] ** 2, weights=0.5 ** np.arange(t)[::-1]) for t in (1, 2)]
    moves = rate * np.array(means) / np.sqrt(squares)
    one = (1 - rate * decay) * weight - moves[0]
    return np.array([one, (1 - rate * decay) * one - moves[1]])


def adamw_torch(weight, first, second, rate, decay):
    w = torch.tensor(float(weight), dtype=torch.float64, requires_grad=True)
    optimizer, path = torch.optim.AdamW([w], lr=rate, betas=(0.5, 0.5), eps=0.0, weight_decay=decay), []
    for slope in (first, second):
        w.grad = torch.tensor(float(slope), dtype=torch.float64)
        optimizer.step()
        path.append(w.item())
    return np.array(path)


def padded_loops(logits, ids, lengths):
    total, count = 0.0, 0
    for b in range(len(ids)):
        for t in range(lengths[b] - 1):
            powers = [math.exp(z) for z in logits[b, t]]
            total -= math.log(powers[ids[b, t + 1]] / sum(powers))
            count += 1
    return total / count


def padded_vectorised(logits, ids, lengths):
    surprise = (
        np.log(np.exp(logits[:, :-1]).sum(axis=-1))
        - np.take_along_axis(logits[:, :-1], ids[:, 1:, None], axis=-1)[..., 0]
    )
    return np.average(surprise, weights=np.arange(1, ids.shape[1]) < lengths[:, None])


def padded_torch(logits, ids, lengths):
    answers = torch.tensor(ids[:, 1:])
    answers = torch.where(torch.arange(1, ids.shape[1]) < torch.tensor(lengths)[:, None], answers, -100)
    return functional.cross_entropy(torch.tensor(logits[:, :-1]).flatten(0, 1), answers.flatten()).item()


def clipped_loops(gradients, limit):
    slopes = [float(slope) for table in gradients for slope in table.reshape(-1)]
    length = math.sqrt(sum(slope * slope for slope in slopes))
    return np.array([slope * limit / length if length > limit else slope for slope in slopes])


def clipped_vectorised(gradients, limit):
    length = np.linalg.norm([np.linalg.norm(table) for table in gradients])
    return np.hstack([table.flatten() for table in gradients]) / np.maximum(1.0, length / limit)


def clipped_torch(gradients, limit):
    row = torch.cat([torch.tensor(table).flatten() for table in gradients])
    return torch.renorm(row[None], p=2, dim=0, maxnorm=limit)[0].numpy()


def slopes_loops(logits, ids):
    out = np.zeros_like(logits)
    for t in range(len(ids) - 1):
        top = max(logits[t])
        powers = [math.exp(z - top) for z in logits[t]]
        for v in range(len(powers)):
            out[t, v] = (powers[v] / sum(powers) - (v == ids[t + 1])) / (len(ids) - 1)
    return out


def slopes_vectorised(logits, ids):
    z = logits[:-1] - logits[:-1].max(axis=1, keepdims=True)
    p = np.exp(z - np.log(np.exp(z).sum(axis=1, keepdims=True)))
    return np.vstack([(p - np.eye(logits.shape[1])[ids[1:]]) / len(p), np.zeros(logits.shape[1])])


def slopes_torch(logits, ids):
    z = torch.tensor(logits, requires_grad=True)
    functional.cross_entropy(z[:-1], torch.tensor(ids[1:])).backward()
    return z.grad.numpy()


def losses_loops(W, x, came, rate, steps):
    W, found = W.tolist(), []
    for _ in range(steps):
        slopes, total = [[0.0] * len(W[0]) for _ in W], 0.0
        for row, word in zip(x, came):
            powers = [math.exp(sum(row[i] * W[i][j] for i in range(len(W)))) for j in range(len(W[0]))]
            total -= math.log(powers[word] / sum(powers)) / len(came)
            for i in range(len(W)):
                for j in range(len(W[0])):
                    slopes[i][j] += row[i] * (powers[j] / sum(powers) - (j == word)) / len(came)
        found.append(total)
        W = [[w - rate * slope for w, slope in zip(*rows)] for rows in zip(W, slopes)]
    return np.array(found)


def losses_vectorised(W, x, came, rate, steps):
    found, wanted = np.empty(steps), np.eye(W.shape[1])[came]
    for step in range(steps):
        logits = x @ W
        total = np.log(np.exp(logits).sum(axis=1))
        found[step] = (total - (logits * wanted).sum(axis=1)).mean()
        W = W - rate * np.einsum("ne,nv->ev", x, np.exp(logits - total[:, None]) - wanted) / len(x)
    return found


def losses_torch(W, x, came, rate, steps):
    W, x, came, found = torch.tensor(W, requires_grad=True), torch.tensor(x), torch.tensor(came), []
    optimizer = torch.optim.SGD([W], lr=rate)
    for _ in range(steps):
        loss = functional.cross_entropy(x @ W, came)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return np.array(found)


RIGHT = {
    "q1": (text_loss_loops, text_loss_vectorised, text_loss_torch),
    "q2": (step_loops, step_vectorised, step_torch),
    "q3": (floor_loops, floor_vectorised, floor_torch),
    "q4": (adamw_loops, adamw_vectorised, adamw_torch),
    "q5": (padded_loops, padded_vectorised, padded_torch),
    "q6": (clipped_loops, clipped_vectorised, clipped_torch),
    "q7": (slopes_loops, slopes_vectorised, slopes_torch),
    "q8": (losses_loops, losses_vectorised, losses_torch),
}
