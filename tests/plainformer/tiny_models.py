"""Small random models of both families, for every test that runs one."""

from typing import Any, NamedTuple

import numpy as np
import torch

from plainformer import gpt2, llama
from plainformer.training import mapped


class Family(NamedTuple):
    forward: Any
    make: Any  # a function of (rng, context)


FAMILIES = {
    "gpt2": Family(
        gpt2.forward, lambda rng, context: gpt2.initialize(gpt2.Config(context, 4, 1e-5), 11, 12, 3, rng, 0.3)
    ),
    "llama": Family(
        llama.forward,
        lambda rng, context: llama.initialize(
            llama.Config(context, 4, 1e-5, 1e4, "neighbours"), 11, 24, 3, 20, 2, rng, 0.3
        ),
    ),
    "llama-halves": Family(
        llama.forward,
        lambda rng, context: llama.initialize(
            llama.Config(context, 4, 1e-6, 1e5, "halves"), 11, 24, 2, 20, 1, rng, 0.3
        ),
    ),
}
VOCABULARY = 11


def tiny(family, engine="numpy", dtype="float64", context=16):
    """A model with no two numbers alike: gains and biases are random too."""
    rng = np.random.default_rng(0)

    def draw(array):
        array = (array + rng.normal(scale=0.1, size=array.shape)).astype(dtype)
        return torch.tensor(array) if engine == "torch" else array

    return mapped(draw, FAMILIES[family].make(rng, context))
