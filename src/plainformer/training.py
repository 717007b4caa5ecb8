"""How the numbers get there: a loss, its gradient by PyTorch, and AdamW. The model's functions are the same ones."""
import math
from typing import NamedTuple

import torch

from plainformer.settings import number, whole
from plainformer.shapes import shaped


@shaped("(..., T, V), (..., T) -> ()")
def cross_entropy(logits, ids):
    """The mean surprise, -log p(next token), over all positions that have a next token: logits of position t against id t + 1.

    ``ids`` are the whole numbers that the logits were computed from. In nats. Raises ValueError for a single token.
    """
    if ids.shape[-1] < 2:
        raise ValueError("cross_entropy: ids must hold at least two tokens: the last one has no next")
    predictions = torch.log_softmax(logits[..., :-1, :], dim=-1)
    return -torch.gather(predictions, -1, ids[..., 1:, None]).mean()


def leaves(tree):
    """The tensors of nested parameter tuples, in order; settings and missing biases are left out."""
    if isinstance(tree, tuple):
        return [leaf for branch in tree for leaf in leaves(branch)]
    return [tree] if hasattr(tree, "shape") else []


class Schedule(NamedTuple):
    """The learning rate over ``steps``: a straight rise during ``warmup``, then half a cosine down to ``floor``."""
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
