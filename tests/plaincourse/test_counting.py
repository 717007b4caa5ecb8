"""The counts of a step are PyTorch's, and the bytes of a cache are those of its arrays."""

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from plaincourse.counting import cache_bytes, work
from plainformer import gpt2, llama
from plainformer.training import mapped

SIZES = dict(E=8, F=32, L=3, V=11)
IDS = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3]


def small_gpt2():
    config = gpt2.Config(context=64, heads=2, eps=1e-5)
    return gpt2.initialize(config, vocabulary=11, width=8, layers=3, rng=np.random.default_rng(0))


def counted(ids, model, cache):
    """The multiply–adds of one step that PyTorch counts, without the squares in the norms, and the cache
    after it.
    """
    with FlopCounterMode(display=False) as counter:
        _, cache = gpt2.forward(ids, model, cache, last=True)
    return counter.get_total_flops() // 2 - 8 * (2 * 3 * len(ids) + 1), cache


@pytest.mark.parametrize("kept", [True, False])
def test_every_step_of_the_loop_costs_what_pytorch_counts(kept):
    model, cache = mapped(torch.tensor, small_gpt2()), None
    for end in range(6, len(IDS)):
        ids = IDS[end - 1 : end] if cache else IDS[:end]
        number, after = counted(ids, model, cache)
        assert number == work(len(ids), end, **SIZES)
        cache = after if kept else None


def test_the_settings_are_gpt2_small_s():
    assert work(1, 1) == work(1, 1, E=768, F=3072, L=12, V=50257) == 123_550_464


def test_work_takes_arrays():
    assert work(np.array([1, 2]), np.array([1, 2])).tolist() == [work(1, 1), work(2, 2)]


def test_a_cache_takes_the_bytes_of_its_arrays():
    settings = llama.Config(64, 4, 1e-5, 10_000.0, "neighbours")
    grouped = llama.initialize(
        settings, vocabulary=11, width=8, layers=3, hidden=20, groups=2, rng=np.random.default_rng(0)
    )
    for forward, model, G, D in [(gpt2.forward, small_gpt2(), 2, 4), (llama.forward, grouped, 2, 2)]:
        _, cache = forward(IDS, mapped(lambda table: table.astype(np.float32), model))
        arrays = [array for kept in cache for array in kept]
        assert sum(array.nbytes for array in arrays) == cache_bytes(L=3, G=G, S=len(IDS), D=D)
