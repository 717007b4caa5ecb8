import numpy as np
import pytest
import torch
from shape_calls import to_numpy
from tiny_models import tiny

from plainformer import llama
from plainformer.attention import Attention
from plainformer.linear import Linear
from plainformer.mlp import SwiGLU
from plainformer.training import leaves, mapped

IDS = [3, 1, 4, 1, 5, 9, 2, 6]


def ours(theirs, engine):
    """The parameters of a model of transformers, whose maps are (out, in)."""
    w = {name.removeprefix("model."): value for name, value in theirs.state_dict().items()}
    c = theirs.config

    def block(i):
        attention = Attention(*(Linear(w[f"layers.{i}.self_attn.{name}_proj.weight"].T) for name in "qkvo"))
        mlp = SwiGLU(*(w[f"layers.{i}.mlp.{name}_proj.weight"].T for name in ("gate", "up", "down")))
        norms = w[f"layers.{i}.input_layernorm.weight"], w[f"layers.{i}.post_attention_layernorm.weight"]
        return llama.Block(norms[0], attention, norms[1], mlp)

    config = llama.Config(
        16, c.num_attention_heads, c.rms_norm_eps, c.rope_parameters["rope_theta"], "halves"
    )
    blocks = tuple(block(i) for i in range(c.num_hidden_layers))
    model = llama.Llama(config, w["embed_tokens.weight"], blocks, w["norm.weight"], w["lm_head.weight"].T)
    return model if engine == "torch" else mapped(lambda tensor: tensor.numpy(), model)


class ExactRotations(torch.nn.Module):
    """The rotary angles in double precision."""

    def __init__(self, width, base):
        super().__init__()
        self.speeds = base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)

    def forward(self, x, position_ids):
        angles = torch.cat([position_ids[..., None] * self.speeds] * 2, dim=-1)
        return angles.cos(), angles.sin()


def in_double(theirs):
    """Put doubles where transformers computes in single precision whatever the model's: in the angles and the
    norms.
    """
    theirs = theirs.double()
    theirs.model.rotary_emb = ExactRotations(24 // theirs.config.num_attention_heads, 500.0)
    for owner in [theirs.model, *theirs.model.layers]:
        for name in ("norm", "input_layernorm", "post_attention_layernorm"):
            if hasattr(owner, name):
                setattr(owner, name, torch.nn.RMSNorm(24, theirs.config.rms_norm_eps, dtype=torch.float64))
    return theirs


@pytest.mark.parametrize("dtype, atol", [("float64", 1e-9), ("float32", 1e-4)])
@pytest.mark.parametrize(
    "heads, groups, layers, tied", [(1, 1, 1, True), (4, 2, 2, False), (6, 2, 3, True), (4, 1, 2, True)]
)
def test_logits_against_transformers(heads, groups, layers, tied, dtype, atol):
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(heads)
    config = LlamaConfig(
        vocab_size=11,
        hidden_size=24,
        intermediate_size=20,
        num_hidden_layers=layers,
        rms_norm_eps=1e-3,
        num_attention_heads=heads,
        num_key_value_heads=groups,
        max_position_embeddings=16,
        tie_word_embeddings=tied,
        rope_parameters={"rope_type": "default", "rope_theta": 500.0},
        initializer_range=0.4,
    )
    theirs = LlamaForCausalLM(config).eval()
    theirs = in_double(theirs) if dtype == "float64" else theirs
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter += 0.1 * torch.randn(parameter.shape)
        expected = theirs(torch.tensor([IDS, IDS[::-1]])).logits
    assert expected.std() > 0.5
    for engine in ("numpy", "torch"):
        model = ours(theirs, engine)
        logits, cache = llama.forward([IDS, IDS[::-1]], model)
        np.testing.assert_allclose(to_numpy(logits), to_numpy(expected), rtol=0, atol=atol)
        assert len(cache) == len(model.blocks) and cache[-1].keys.shape[-2] == len(IDS)
        last, _ = llama.forward([IDS, IDS[::-1]], model, last=True)
        np.testing.assert_allclose(to_numpy(last), to_numpy(expected[:, -1:]), rtol=0, atol=atol)


def test_the_pairing_is_that_of_the_config():
    model = tiny("llama")
    halves = model._replace(config=model.config._replace(pairing="halves"))
    assert np.abs(llama.forward(IDS, model)[0] - llama.forward(IDS, halves)[0]).max() > 1e-3


@pytest.mark.parametrize("ids, got", [([-1], "-1 to -1"), ([3, 11], "3 to 11")])
def test_an_id_out_of_range_is_refused(ids, got):
    with pytest.raises(ValueError, match=f"ids must be from 0 to 10, got {got}"):
        llama.forward(ids, tiny("llama"))


def test_the_future_does_not_change_the_past():
    model = tiny("llama")
    before = llama.forward(IDS, model)[0]
    for t in range(len(IDS)):
        changed = [*IDS[:t], (IDS[t] + 1) % 11, *IDS[t + 1 :]]
        moved = np.abs(llama.forward(changed, model)[0] - before).max(axis=-1) > 1e-12
        np.testing.assert_array_equal(moved, np.arange(len(IDS)) >= t)


def test_initialize():
    config = llama.Config(50, 6, 1e-5, 1e4, "halves")
    model = llama.initialize(config, 400, 96, 8, 200, 2, np.random.default_rng(0))
    assert model.head is None
    block = model.blocks[3]
    shapes = [linear.weight.shape for linear in block.attention]
    assert shapes == [(96, 96), (96, 32), (96, 32), (96, 96)]
    for matrix, deviation in [
        (model.embedding, 0.02),
        (block.attention.key.weight, 0.02),
        (block.mlp.gate, 0.02),
        (block.attention.output.weight, 0.02 / 4),
        (block.mlp.down, 0.02 / 4),
    ]:
        assert matrix.std() == pytest.approx(deviation, rel=0.05) and abs(matrix.mean()) < deviation / 10
    assert all(set(leaf) == {1.0} for leaf in leaves(model) if leaf.ndim == 1)
    assert llama.forward(IDS, model)[0].shape == (8, 400)
    with pytest.raises(TypeError, match="llama.initialize: rng must be a numpy.random.Generator, got int"):
        llama.initialize(config, 400, 96, 8, 200, 2, 0)


@pytest.mark.parametrize(
    "change, message",
    [
        (dict(layers=0), "layers must be a whole number of at least 1, got 0"),
        (dict(width=8.0), "width must be a whole number of at least 1, got 8.0"),
        (dict(vocabulary=-1), "vocabulary must be a whole number of at least 1, got -1"),
        (dict(std=-1), "std must be a finite number, at least 0, got -1"),
        (dict(std=np.nan), "std must be a finite number, at least 0, got nan"),
        (dict(hidden=0), "hidden must be a whole number of at least 1, got 0"),
        (dict(groups=0), "groups must be a whole number of at least 1, got 0"),
    ],
)
def test_initialize_refuses_wrong_sizes(change, message):
    sizes = dict(vocabulary=9, width=8, layers=2, hidden=6, groups=2) | change
    with pytest.raises(ValueError, match=f"llama.initialize: {message}"):
        llama.initialize(llama.Config(8, 4, 1e-5, 1e4, "halves"), **sizes, rng=np.random.default_rng(0))
