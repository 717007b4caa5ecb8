"""How the numbers get there: a loss, its gradient by PyTorch, and AdamW. The model's functions are the same
ones.

PyTorch is imported where it is used, so that the module can be read without it.
"""

import math
from typing import NamedTuple

import numpy as np

from plainformer.embedding import known_ids
from plainformer.engines import array_namespace
from plainformer.ledger import is_array, named_arrays, place
from plainformer.settings import number, whole
from plainformer.shapes import shaped


@shaped("(..., T, V), (..., T) -> ()")
def cross_entropy(logits, ids):
    """The mean surprise, -log p(next token): the logits of position t are asked for id t + 1, the last ones
    for none.

    ``ids`` are the whole numbers that the logits were computed from. In nats. Raises ValueError for a single
    token, for ids that are not from 0 to V - 1, and for a row in which every logit is -inf.
    """
    xp = array_namespace(logits)
    following = known_ids("cross_entropy", ids, logits.shape[-1], logits)[..., 1:, None]
    logits = logits[..., :-1, :]
    rows = np.broadcast_shapes(tuple(logits.shape[:-1]), tuple(following.shape[:-1]))
    if 0 in rows:
        raise ValueError(
            "cross_entropy: ids must hold at least one row of two tokens: the last one has no next"
        )
    top = xp.max(logits, axis=-1, keepdims=True)
    if bool(xp.any(top == -math.inf)):
        raise ValueError("cross_entropy: every logit of a row is -inf: there is no word left to expect")
    log_total = xp.log(xp.sum(xp.exp(logits - top), axis=-1, keepdims=True)) + top
    logits, following = (
        xp.broadcast_to(logits, (*rows, logits.shape[-1])),
        xp.broadcast_to(following, (*rows, 1)),
    )
    return xp.mean(log_total - xp.take_along_axis(logits, following, axis=-1))


class Schedule(NamedTuple):
    """The learning rate over ``steps``: a straight rise during ``warmup``, then half a cosine down to
    ``floor``.
    """

    peak: float
    steps: int
    warmup: int = 0
    floor: float = 0.0

    def rate(self, step):
        """The learning rate at a step, counted from 0 (Loshchilov and Hutter 2016; Radford et al. 2018)."""
        if step < self.warmup:
            return self.peak * (step + 1) / self.warmup
        progress = min(1.0, (step - self.warmup) / max(1, self.steps - self.warmup))
        return self.floor + (self.peak - self.floor) * (1 + math.cos(math.pi * progress)) / 2


def leaves(tree):
    """The arrays of nested parameter tuples, in order; settings and missing biases are left out."""
    return [array for _, array in named_arrays(tree)]


def mapped(function, tree, done=None):
    """The same nested tuples with ``function`` applied to every array; one that stands twice stays one."""
    done = {} if done is None else done
    if isinstance(tree, tuple | list):
        branches = [mapped(function, branch, done) for branch in tree]
        return type(tree)(*branches) if hasattr(tree, "_fields") else type(tree)(branches)
    if not is_array(tree):
        return tree
    if id(tree) not in done:
        done[id(tree)] = function(tree)
    return done[id(tree)]


def trainable(model):
    """A copy of a model of NumPy arrays, in PyTorch tensors that gather gradients.

    An array that stands twice becomes one tensor, and a head that is a view of the embedding is tied to it.
    TypeError for a model of anything else.
    """
    import torch

    if getattr(model, "head", None) is not None and place(model.head) == place(model.embedding):
        model = model._replace(head=None)

    def copy(array):
        if not isinstance(array, np.ndarray) or array.dtype not in (np.float16, np.float32, np.float64):
            got = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
            raise TypeError(
                f"trainable: model must hold NumPy arrays of float16, float32 or float64, got {got}"
            )
        return torch.from_numpy(array.copy()).requires_grad_()

    return mapped(copy, model)


def trained(model):
    """The way back: a model's tensors as NumPy arrays, to look at and to generate with. They share the
    tensors' memory.
    """
    return mapped(lambda tensor: tensor.detach().numpy(), model)


def train(forward, model, batches, schedule, weight_decay=0.1, clip=1.0):
    """Take a step a batch and yield its loss, as it was before the step. The tensors of ``model`` change in
    place.

    ``model`` is a ``trainable`` one, ``forward`` that of its module, ``batches`` an iterable of ids, (B, T)
    each: one step a batch, at most ``schedule.steps``. AdamW (Loshchilov and Hutter 2017) decays the matrices
    alone; gradients longer than ``clip`` together are shortened to it. An error at once for a wrong argument,
    and for weights in half precision, too coarse for AdamW; RuntimeError where a loss, a gradient or a weight
    is not finite.
    """
    import torch

    check(schedule, batches)
    number("train", "clip", clip, above=True)
    decay = number("train", "weight_decay", weight_decay)
    weights = weights_of(model)
    groups = [
        {"params": [w for w in weights if w.ndim > 1], "weight_decay": decay},
        {"params": [w for w in weights if w.ndim == 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.95))
    return steps(forward, model, batches, schedule, optimizer, weights, clip)


def check(schedule, batches):
    """An error for what is no schedule and for what are no batches."""
    if not isinstance(schedule, Schedule) or not hasattr(batches, "__iter__"):
        got = f"{schedule!r:.50} and {batches!r:.50}"
        raise TypeError(f"train: schedule must be a Schedule and batches iterable, got {got}")
    whole("train", "schedule.steps", schedule.steps)
    number("train", "schedule.peak", schedule.peak, above=True)
    number("train", "schedule.warmup", schedule.warmup, high=schedule.steps)
    number("train", "schedule.floor", schedule.floor, high=schedule.peak)


def weights_of(model):
    """The tensors of a model that are trained; an error if there are none, and for half precision."""
    import torch

    gathering = (w for w in leaves(model) if getattr(w, "requires_grad", False) and w.is_leaf)
    weights = list(dict.fromkeys(gathering))
    if not weights:
        raise ValueError("train: model has no tensor that gathers gradients: make one by trainable(model)")
    halves = {str(w.dtype) for w in weights} - {str(torch.float32), str(torch.float64)}
    if halves:
        facts = f"got {', '.join(sorted(halves))}: half precision has no room for AdamW's small numbers"
        raise TypeError(f"train: model must hold float32 or float64, {facts}")
    return weights


def steps(forward, model, batches, schedule, optimizer, weights, clip):
    """The loop of ``train``."""
    import torch

    for step, ids in zip(range(schedule.steps), batches):
        for group in optimizer.param_groups:
            group["lr"] = schedule.rate(step)
        loss = cross_entropy(forward(ids, model)[0], ids)
        optimizer.zero_grad()
        loss.backward()
        length = torch.nn.utils.clip_grad_norm_(weights, clip)
        finite(step, "loss", loss)
        finite(step, "gradient", length)
        optimizer.step()
        finite(step, "weight", *weights)
        yield loss.item()


def finite(step, name, *values):
    """RuntimeError, with the likely reason, for a number that is NaN or infinite."""
    if not all(value.isfinite().all() for value in values):
        begun = step > 0 or name == "weight"
        reason = "lower schedule.peak" if begun else "no step was taken yet: look at the model and the batch"
        raise RuntimeError(f"train: step {step} has a {name} that is not finite: {reason}")
