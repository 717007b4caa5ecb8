"""Three right answers to each question, written independently: loops, vectorised, PyTorch."""

import math

import numpy as np
import torch


def distribution_loops(x, columns, temperature):
    scores = [sum(a * b for a, b in zip(x, column, strict=True)) for column in columns.T]
    powers = [math.exp(score / temperature) for score in scores]
    return [power / sum(powers) for power in powers]


def distribution_vectorised(x, columns, temperature):
    gaps = (columns.T @ x)[:, None] - columns.T @ x  # how far each word is ahead of each other
    return 1 / np.exp(-gaps / temperature).sum(axis=1)


def distribution_torch(x, columns, temperature):
    return torch.softmax(torch.tensor(x) @ torch.tensor(columns) / temperature, dim=-1).numpy()


def temperature_loops(second, third, wanted):
    low, high = 0.01, 100.0  # halve the interval until the factor fits
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if math.exp(math.log(second) / middle) > wanted else (low, middle)
    return [low, math.exp(math.log(third) / low)]


def temperature_vectorised(second, third, wanted):
    gaps = np.log([second, third])
    temperature = gaps[0] / np.log(wanted)
    return np.array([temperature, np.exp(gaps[1] / temperature)])


def temperature_torch(second, third, wanted):
    second, third, wanted = (
        torch.tensor(float(number), dtype=torch.float64).log() for number in (second, third, wanted)
    )
    return torch.stack([second / wanted, torch.exp(third * wanted / second)]).numpy()


def orders_loops(shares, k, p):
    def first(shares, enough):
        """The likeliest words, until it is enough."""
        kept, total = {}, 0.0
        for i in sorted(shares, key=lambda i: -shares[i]):
            kept[i] = shares[i]
            total += shares[i]
            if enough(len(kept), total):
                break
        return {i: share / total for i, share in kept.items()}

    shares, rows = dict(enumerate(shares.tolist())), []
    for order in ("kp", "pk"):
        kept = shares
        for step in order:
            kept = (
                first(kept, lambda count, total: count == k)
                if step == "k"
                else first(kept, lambda count, total: total >= p)
            )
        rows.append([kept.get(i, 0.0) for i in range(5)])
    return rows


def orders_vectorised(shares, k, p):
    order = np.argsort(-shares)
    ranked, rows = shares[order], np.zeros((2, 5))
    for row, whole in zip(rows, (ranked[:k].sum(), 1.0), strict=True):
        count = min(k, 1 + int(np.sum(np.cumsum(ranked) / whole < p)))
        row[order[:count]] = ranked[:count] / ranked[:count].sum()
    return rows


def orders_torch(shares, k, p):
    shares = torch.tensor(shares)

    def nucleus(row):
        values, ids = row.sort(descending=True)
        values = torch.where(values.cumsum(0) - values < p, values, 0.0)
        return torch.zeros_like(row).scatter(0, ids, values / values.sum())

    def best(row):
        values, ids = row.topk(k)
        return torch.zeros_like(row).scatter(0, ids, values / values.sum())

    return torch.stack([nucleus(best(shares)), best(nucleus(shares))]).numpy()


def min_p_loops(logits, least):
    out = np.zeros(logits.shape)
    for place in np.ndindex(logits.shape[:-1]):
        ratios = [math.exp(score - max(logits[place])) for score in logits[place]]  # of each word to the best
        total = sum(ratio for ratio in ratios if ratio >= least)
        out[place] = [ratio / total if ratio >= least else 0.0 for ratio in ratios]
    return out


def min_p_vectorised(logits, least):
    ratios = np.exp(logits - np.max(logits, axis=-1, keepdims=True))
    ratios = ratios * (ratios >= least)
    return ratios / np.einsum("...v->...", ratios)[..., None]


def min_p_torch(logits, least):
    shares = torch.softmax(torch.tensor(logits), dim=-1)
    kept = shares.masked_fill(shares < least * shares.amax(-1, keepdim=True), 0.0)
    return torch.nn.functional.normalize(kept, p=1, dim=-1).numpy()


def gumbel_loops(logits, uniform, temperature):
    out = np.zeros(logits.shape[:-1], dtype=int)
    for place in np.ndindex(out.shape):
        best = None
        for word, (score, u) in enumerate(zip(logits[place].tolist(), uniform[place].tolist(), strict=True)):
            value = score if temperature == 0 else score / temperature - math.log(-math.log(u))
            if best is None or value > best:
                best, out[place] = value, word
    return out


def gumbel_vectorised(logits, uniform, temperature):
    return (logits + temperature * -np.log(-np.log(uniform))).argmax(
        axis=-1
    )  # the same order, without a division


def gumbel_torch(logits, uniform, temperature):
    logits, uniform = torch.tensor(logits), torch.tensor(uniform)
    if temperature == 0:
        return logits.argmax(dim=-1).numpy()
    return (
        torch.log_softmax(logits / temperature, dim=-1)
        .sub(torch.log(-torch.log(uniform)))
        .argmax(dim=-1)
        .numpy()
    )


def penalize_loops(logits, seen, penalty):
    result = []
    for word, score in enumerate(logits.tolist()):
        if word in seen.tolist():
            score = score / penalty if score > 0 else score * penalty
        result.append(score)
    return np.array(result)


def penalize_vectorised(logits, seen, penalty):
    penalized = np.minimum(logits / penalty, logits * penalty)
    return np.where(np.isin(np.arange(logits.size), seen), penalized, logits)


def penalize_torch(logits, seen, penalty):
    logits, seen = torch.tensor(logits), torch.tensor(seen)
    picked = logits.gather(0, seen)
    return logits.scatter(0, seen, torch.where(picked < 0, picked * penalty, picked / penalty)).numpy()


def effective_loops(logits, temperature):
    out = np.zeros(logits.shape[:-1])
    for place in np.ndindex(out.shape):
        scores = [score / temperature for score in logits[place].tolist() if score > -math.inf]
        powers = [math.exp(score - max(scores)) for score in scores]
        shares = [power / sum(powers) for power in powers]
        out[place] = math.prod(share**-share for share in shares)
    return out


def effective_vectorised(logits, temperature):
    scores = logits / temperature
    log_sum = np.log(np.exp(scores).sum(axis=-1))
    mean_score = np.nansum(np.exp(scores - log_sum[..., None]) * scores, axis=-1)
    return np.exp(log_sum - mean_score)


def effective_torch(logits, temperature):
    shares = torch.softmax(torch.tensor(logits) / temperature, dim=-1)
    return torch.special.entr(shares).sum(-1).exp().numpy()


RIGHT = {
    "q1": (distribution_loops, distribution_vectorised, distribution_torch),
    "q2": (temperature_loops, temperature_vectorised, temperature_torch),
    "q3": (orders_loops, orders_vectorised, orders_torch),
    "q4": (min_p_loops, min_p_vectorised, min_p_torch),
    "q5": (gumbel_loops, gumbel_vectorised, gumbel_torch),
    "q6": (penalize_loops, penalize_vectorised, penalize_torch),
    "q7": (effective_loops, effective_vectorised, effective_torch),
}
