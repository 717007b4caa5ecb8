import numpy as np
import pytest
import torch
from shape_calls import to_numpy
from tiny_models import tiny

from plainformer import gpt2
from plainformer.attention import Attention
from plainformer.linear import Linear
from plainformer.mlp import MLP
from plainformer.normalization import LayerNorm
from plainformer.training import leaves, mapped

IDS = [3, 1, 4, 1, 5, 9, 2, 6]


def ours(theirs, heads, engine):
    """The parameters of a model of transformers, whose maps of GPT-2 are (in, out) too."""
    w = {name.removeprefix("transformer."): value for name, value in theirs.state_dict().items()}

    def pair(name):
        return Linear(w[f"{name}.weight"], w[f"{name}.bias"])

    def block(i):
        weights, biases = pair(f"h.{i}.attn.c_attn")
        inputs = map(Linear, weights.chunk(3, dim=1), biases.chunk(3))
        attention = Attention(*inputs, pair(f"h.{i}.attn.c_proj"))
        norms = LayerNorm(*pair(f"h.{i}.ln_1")), LayerNorm(*pair(f"h.{i}.ln_2"))
        return gpt2.Block(
            norms[0], attention, norms[1], MLP(pair(f"h.{i}.mlp.c_fc"), pair(f"h.{i}.mlp.c_proj"))
        )

    config = gpt2.Config(16, heads, theirs.config.layer_norm_epsilon)
    blocks = tuple(block(i) for i in range(theirs.config.n_layer))
    model = gpt2.GPT2(
        config, w["wte.weight"], w["wpe.weight"], blocks, LayerNorm(*pair("ln_f")), w["lm_head.weight"].T
    )
    return model if engine == "torch" else mapped(lambda tensor: tensor.numpy(), model)


@pytest.mark.parametrize("dtype, atol", [("float64", 1e-9), ("float32", 1e-4)])
@pytest.mark.parametrize("heads, layers", [(1, 1), (2, 2), (4, 3)])
def test_logits_against_transformers(heads, layers, dtype, atol):
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(heads)
    config = GPT2Config(
        vocab_size=11,
        n_positions=16,
        n_embd=12,
        n_layer=layers,
        n_head=heads,
        layer_norm_epsilon=1e-3,
        initializer_range=0.4,
    )
    theirs = GPT2LMHeadModel(config).to(getattr(torch, dtype)).eval()
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter += 0.1 * torch.randn(parameter.shape)
        expected = theirs(torch.tensor([IDS, IDS[::-1]])).logits
    assert expected.std() > 0.5
    for engine in ("numpy", "torch"):
        model = ours(theirs, heads, engine)
        logits, cache = gpt2.forward([IDS, IDS[::-1]], model)
        np.testing.assert_allclose(to_numpy(logits), to_numpy(expected), rtol=0, atol=atol)
        assert len(cache) == len(model.blocks) and cache[-1].keys.shape[-2] == len(IDS)
        last, _ = gpt2.forward([IDS, IDS[::-1]], model, last=True)
        np.testing.assert_allclose(to_numpy(last), to_numpy(expected[:, -1:]), rtol=0, atol=atol)


@pytest.mark.parametrize("ids, got", [([-1], "-1 to -1"), ([3, 11], "3 to 11")])
def test_an_id_out_of_range_is_refused(ids, got):
    with pytest.raises(ValueError, match=f"ids must be from 0 to 10, got {got}"):
        gpt2.forward(ids, tiny("gpt2"))


def test_the_future_does_not_change_the_past():
    model = tiny("gpt2")
    before = gpt2.forward(IDS, model)[0]
    for t in range(len(IDS)):
        changed = [*IDS[:t], (IDS[t] + 1) % 11, *IDS[t + 1 :]]
        moved = np.abs(gpt2.forward(changed, model)[0] - before).max(axis=-1) > 1e-12
        np.testing.assert_array_equal(moved, np.arange(len(IDS)) >= t)


def test_initialize():
    model = gpt2.initialize(gpt2.Config(50, 4, 1e-5), 400, 64, 8, np.random.default_rng(0))
    assert model.head is None
    assert model.positions.shape == (50, 64) and len(model.blocks) == 8
    block = model.blocks[3]
    for matrix, deviation in [
        (model.embedding, 0.02),
        (block.attention.key.weight, 0.02),
        (block.mlp.up.weight, 0.02),
        (block.attention.output.weight, 0.02 / 4),
        (block.mlp.down.weight, 0.02 / 4),
    ]:
        assert matrix.std() == pytest.approx(deviation, rel=0.05) and abs(matrix.mean()) < deviation / 10
    for leaf in leaves(model):
        if leaf.ndim == 1:
            assert set(leaf) in ({0.0}, {1.0})
    assert set(block.mlp_norm.gain) == set(model.norm.gain) == {1.0}
    assert gpt2.forward(IDS, model)[0].shape == (8, 400)


def test_initialize_with_the_same_seed_twice():
    first, again, other = (
        gpt2.initialize(gpt2.Config(8, 2, 1e-5), 9, 6, 2, np.random.default_rng(s)) for s in (1, 1, 2)
    )
    assert all(np.array_equal(a, b) for a, b in zip(leaves(first), leaves(again), strict=True))
    assert not np.array_equal(first.embedding, other.embedding)
    with pytest.raises(TypeError, match="gpt2.initialize: rng must be a numpy.random.Generator, got int"):
        gpt2.initialize(gpt2.Config(8, 2, 1e-5), 9, 6, 2, 0)


@pytest.mark.parametrize(
    "change, message",
    [
        (dict(layers=0), "layers must be a whole number of at least 1, got 0"),
        (dict(width=8.0), "width must be a whole number of at least 1, got 8.0"),
        (dict(vocabulary=-1), "vocabulary must be a whole number of at least 1, got -1"),
        (dict(std=-1), "std must be a finite number, at least 0, got -1"),
        (dict(std=np.nan), "std must be a finite number, at least 0, got nan"),
    ],
)
def test_initialize_refuses_wrong_sizes(change, message):
    sizes = dict(vocabulary=9, width=8, layers=2) | change
    with pytest.raises(ValueError, match=f"gpt2.initialize: {message}"):
        gpt2.initialize(gpt2.Config(8, 2, 1e-5), **sizes, rng=np.random.default_rng(0))
