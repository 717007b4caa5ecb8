import math

import numpy as np
import pytest
import torch
from shape_calls import ENGINES, to_numpy

from plainformer.attention import Attention
from plainformer.linear import Linear
from plainformer.mlp import MLP
from plainformer.normalization import LayerNorm
from plainformer.positions import sinusoidal
from plainformer.seq2seq import (
    Config,
    DecoderBlock,
    EncoderBlock,
    Seq2Seq,
    decode,
    encode,
    forward,
    padding_mask,
)
from plainformer.training import mapped

on_both_engines = pytest.mark.parametrize("engine", ENGINES)
E, F, HEADS, EPS = 12, 20, 3, 1e-4
SOURCE, TARGET = [[3, 1, 4, 1, 5, 8], [2, 7, 1, 0, 0, 0]], [[5, 2, 6, 0], [1, 6, 3, 3]]
REAL = np.array([[True] * 6, [True] * 3 + [False] * 3])


def attention(module):
    weights, biases = module.in_proj_weight.chunk(3), module.in_proj_bias.chunk(3)
    inputs = (Linear(weight.mT, bias) for weight, bias in zip(weights, biases))
    return Attention(*inputs, Linear(module.out_proj.weight.mT, module.out_proj.bias))


def mlp(layer):
    return MLP(*(Linear(linear.weight.mT, linear.bias) for linear in (layer.linear1, layer.linear2)))


def norm(module):
    return LayerNorm(module.weight, module.bias)


def encoder_block(layer):
    return EncoderBlock(attention(layer.self_attn), norm(layer.norm1), mlp(layer), norm(layer.norm2))


def decoder_block(layer):
    return DecoderBlock(
        attention(layer.self_attn),
        norm(layer.norm1),
        attention(layer.multihead_attn),
        norm(layer.norm2),
        mlp(layer),
        norm(layer.norm3),
    )


@pytest.fixture(scope="module")
def theirs():
    """PyTorch's model without its extra norms at the end, which the paper does not have."""
    torch.manual_seed(0)
    settings = dict(
        dim_feedforward=F,
        dropout=0.0,
        layer_norm_eps=EPS,
        batch_first=True,
        norm_first=False,
        dtype=torch.float64,
    )
    encoder = torch.nn.TransformerEncoder(
        torch.nn.TransformerEncoderLayer(E, HEADS, **settings), 2, enable_nested_tensor=False
    )
    decoder = torch.nn.TransformerDecoder(torch.nn.TransformerDecoderLayer(E, HEADS, **settings), 3)
    module = torch.nn.Transformer(E, HEADS, custom_encoder=encoder, custom_decoder=decoder, batch_first=True)
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return module.requires_grad_(False)


@pytest.fixture(scope="module")
def tensors(theirs):
    """Our model with their weights."""
    source, target, head = (torch.randn(*shape, dtype=torch.float64) for shape in ((9, E), (8, E), (E, 8)))
    encoder, decoder = map(encoder_block, theirs.encoder.layers), map(decoder_block, theirs.decoder.layers)
    return Seq2Seq(Config(HEADS, EPS), source, target, tuple(encoder), tuple(decoder), head)


def on(engine, tensors, dtype="float64"):
    model = mapped(lambda tensor: tensor.to(getattr(torch, dtype)), tensors)
    return model if engine == "torch" else mapped(lambda tensor: tensor.numpy(), model)


def rows(ids, table):
    return table[torch.tensor(ids)] * math.sqrt(E) + torch.tensor(sinusoidal(len(ids[0]), E))


@on_both_engines
@pytest.mark.parametrize("padded", [False, True])
def test_against_the_module_with_copied_weights(theirs, tensors, engine, padded):
    hidden = ~torch.tensor(REAL) if padded else None
    future = ~torch.tensor(np.tri(4, dtype=bool))
    x, y = rows(SOURCE, tensors.source), rows(TARGET, tensors.target)
    memory = theirs.encoder(x, src_key_padding_mask=hidden)
    whole = (
        theirs(x, y, tgt_mask=future, src_key_padding_mask=hidden, memory_key_padding_mask=hidden)
        @ tensors.head
    )
    model, mask = on(engine, tensors), REAL if padded else None
    np.testing.assert_allclose(to_numpy(encode(SOURCE, model, mask)), memory, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(to_numpy(forward(SOURCE, TARGET, model, mask)), whole, rtol=1e-10, atol=1e-10)
    single = forward(SOURCE, TARGET, on(engine, tensors, "float32"), mask)
    assert str(single.dtype).removeprefix("torch.") == "float32"
    np.testing.assert_allclose(to_numpy(single), whole, rtol=0, atol=1e-3)


@on_both_engines
def test_padding_changes_nothing(tensors, engine):
    model = on(engine, tensors)
    alone = to_numpy(forward(SOURCE[1][:3], TARGET[1], model))
    together = to_numpy(forward(SOURCE, TARGET, model, REAL))
    np.testing.assert_allclose(together[1], alone, rtol=1e-11, atol=1e-11)
    assert np.abs(to_numpy(forward(SOURCE, TARGET, model))[1] - alone).max() > 1e-3


def test_the_target_sees_its_past_and_the_whole_source(tensors):
    model, source, target = on("numpy", tensors), SOURCE[0], TARGET[0]
    before = forward(source, target, model)
    for t in range(4):
        changed = [*target[:t], (target[t] + 1) % 8, *target[t + 1 :]]
        moved = np.abs(forward(source, changed, model) - before).max(axis=-1) > 1e-12
        np.testing.assert_array_equal(moved, np.arange(4) >= t)
    for s in range(6):
        changed = [*source[:s], (source[s] + 1) % 9, *source[s + 1 :]]
        assert (np.abs(forward(changed, target, model) - before).max(axis=-1) > 1e-12).all()
        assert (np.abs(encode(changed, model) - encode(source, model)).max(axis=-1) > 1e-12).all()


def test_one_memory_serves_many_targets(tensors):
    model = on("numpy", tensors)
    memory = encode(SOURCE[0], model)
    many = decode(TARGET, memory, model)
    for target, logits in zip(TARGET, many):
        np.testing.assert_allclose(logits, forward(SOURCE[0], target, model), rtol=1e-11, atol=1e-12)


def test_gradients_reach_every_parameter(tensors):
    model = mapped(lambda tensor: tensor.clone().requires_grad_(), tensors)
    forward(SOURCE, TARGET, model, torch.tensor(REAL)).square().sum().backward()
    seen = []
    mapped(lambda tensor: seen.append(bool(tensor.grad.isfinite().all() and tensor.grad.any())), model)
    assert all(seen) and len(seen) == 3 + 2 * 16 + 3 * 26


def test_padding_mask_values():
    np.testing.assert_array_equal(padding_mask(np.array([True, True, False]), 2), [[1, 1, 0], [1, 1, 0]])


@pytest.mark.parametrize(
    "source, target, mask, error, message",
    [
        ([9], [0], None, ValueError, "embed: ids must be from 0 to 8, got 9 to 9"),
        ([0], [8], None, ValueError, "embed: ids must be from 0 to 7, got 8 to 8"),
        ([0, 1], [0], np.ones(3, bool), ValueError, "mask has S = 3"),
        (
            [0, 1],
            [0],
            np.ones(2),
            TypeError,
            r"padding_mask: mask must be boolean \(True = may look\), got float64",
        ),
    ],
)
def test_what_does_not_fit_is_named(tensors, source, target, mask, error, message):
    with pytest.raises(error, match=message):
        forward(source, target, on("numpy", tensors), mask)
