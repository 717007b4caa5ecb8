import itertools
import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from shape_calls import ENGINES, convert, to_numpy
from tiny_models import FAMILIES, tiny

from plainformer import gpt2
from plainformer.attention import Attention
from plainformer.linear import Linear
from plainformer.mlp import MLP, mlp
from plainformer.normalization import LayerNorm
from plainformer.training import Schedule, cross_entropy, leaves, mapped, train, trainable, trained

every_family = pytest.mark.parametrize("family", FAMILIES)
on_both_engines = pytest.mark.parametrize("engine", ENGINES)
IDS = np.array([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])


def start(family, seed=0, context=8):
    return FAMILIES[family].make(np.random.default_rng(seed), context)


# Cross-entropy


@on_both_engines
@pytest.mark.parametrize("leading", [(), (3,), (2, 3)])
def test_cross_entropy_against_pytorch(engine, leading):
    rng = np.random.default_rng(0)
    logits, ids = rng.normal(size=(*leading, 6, 11)) * 30, rng.integers(11, size=(*leading, 6))
    flat = torch.tensor(logits[..., :-1, :].reshape(-1, 11)), torch.tensor(ids[..., 1:].reshape(-1))
    ours = cross_entropy(convert(logits, engine), ids)
    assert float(ours) == pytest.approx(float(F.cross_entropy(*flat)), rel=1e-13)
    assert float(cross_entropy(convert(logits, engine), ids.tolist())) == float(ours)


def test_the_gradient_of_cross_entropy_against_pytorch():
    logits = torch.randn(
        2, 5, 11, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
    ).requires_grad_()
    theirs = F.cross_entropy(logits[:, :-1].reshape(-1, 11), torch.tensor(IDS[:, 1:]).reshape(-1))
    (expected,) = torch.autograd.grad(theirs, logits)
    (ours,) = torch.autograd.grad(cross_entropy(logits, IDS), logits)
    torch.testing.assert_close(ours, expected, rtol=1e-12, atol=1e-15)
    assert not ours[:, -1].any()  # the last position has no next token


@on_both_engines
def test_each_position_is_asked_for_the_next_id(engine):
    logits = np.full((4, 5), -1000.0)
    logits[[0, 1, 2], [3, 0, 2]] = 0
    assert float(cross_entropy(convert(logits, engine), [1, 3, 0, 2])) == 0
    assert float(cross_entropy(convert(logits, engine), [3, 0, 2, 1])) == 1000
    assert float(cross_entropy(convert(np.zeros((4, 5)), engine), [1, 3, 0, 2])) == pytest.approx(math.log(5))


@pytest.mark.parametrize(
    "ids, message",
    [
        ([[1, 2, -1]], "cross_entropy: ids must be from 0 to 4, got -1 to 2"),
        ([[1, 2, 5]], "cross_entropy: ids must be from 0 to 4, got 1 to 5"),
        ([[1, 2]], "cross_entropy: ids has T = 2, logits has T = 3: they must be equal"),
    ],
)
def test_wrong_ids_are_named(ids, message):
    with pytest.raises(ValueError, match=message):
        cross_entropy(np.zeros((1, 3, 5)), ids)


@on_both_engines
@pytest.mark.parametrize("shape", [(1, 5), (0, 5), (0, 3, 5), (2, 0, 3, 5), (3, 1, 5)])
def test_without_a_next_token_there_is_no_loss(engine, shape):
    with pytest.raises(
        ValueError,
        match="cross_entropy: ids must hold at least one row of two tokens: the last one has no next",
    ):
        cross_entropy(convert(np.zeros(shape), engine), np.zeros(shape[:-1], int))


@on_both_engines
def test_a_row_without_a_word_is_refused(engine):
    logits = np.zeros((2, 4, 5))
    logits[1, 3] = -np.inf  # the last row is asked for nothing
    assert float(cross_entropy(convert(logits, engine), np.ones((2, 4), int))) == pytest.approx(math.log(5))
    logits[0, 1] = -np.inf
    with pytest.raises(
        ValueError, match="cross_entropy: every logit of a row is -inf: there is no word left to expect"
    ):
        cross_entropy(convert(logits, engine), np.ones((2, 4), int))


@on_both_engines
def test_a_word_that_is_ruled_out_surprises_without_end(engine):
    assert float(cross_entropy(convert(np.array([[0, -np.inf], [0, 0]]), engine), [0, 1])) == math.inf


# The schedule


def test_the_rate_rises_and_falls():
    schedule = Schedule(peak=0.4, steps=110, warmup=10, floor=0.1)
    rates = [schedule.rate(step) for step in range(112)]
    np.testing.assert_allclose(rates[:11], [0.04 * k for k in range(1, 11)] + [0.4])
    assert rates[60] == pytest.approx(0.25) and rates[110] == rates[111] == pytest.approx(0.1)
    assert all(a > b for a, b in itertools.pairwise(rates[10:111]))


@pytest.mark.parametrize("warmup", [0, 3])
def test_the_cosine_against_pytorch(warmup):
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([weight], lr=0.4)
    theirs = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=17, eta_min=0.1)
    schedule = Schedule(0.4, 17 + warmup, warmup, 0.1)
    for step in range(17):
        assert schedule.rate(warmup + step) == pytest.approx(theirs.get_last_lr()[0], rel=1e-12)
        optimizer.step()
        theirs.step()


# Models that can be trained


@every_family
def test_trainable_copies_and_keeps_the_tie(family):
    model = start(family)
    tensors = trainable(model)
    assert type(tensors) is type(model) and tensors.config == model.config
    for array, tensor in zip(leaves(model), leaves(tensors), strict=True):
        np.testing.assert_array_equal(array, tensor.detach().numpy())
        assert tensor.dtype == torch.float64 and tensor.requires_grad
        assert not np.shares_memory(array, tensor.detach().numpy())
    assert all(leaf.is_leaf for leaf in leaves(tensors)) and tensors.head is None
    assert trainable(model._replace(head=model.embedding.T)).head is None  # a view ties them too
    assert trainable(model._replace(head=model.embedding.T.copy())).head.is_leaf


def test_arrays_that_serve_more_than_once_stay_one():
    rng = np.random.default_rng(0)
    square, table, bias = rng.normal(size=(3, 3)), rng.normal(size=(5, 3)), np.zeros(4)
    attention = trainable(Attention(*map(Linear, (square, square, square.T, square))))
    assert attention.query.weight is attention.key.weight is attention.output.weight
    np.testing.assert_array_equal(attention.key.weight.detach(), square)
    np.testing.assert_array_equal(attention.value.weight.detach(), square.T)
    first, second = trainable((LayerNorm(bias + 1, bias), LayerNorm(bias + 1, bias)))
    assert first.bias is second.bias and first.gain is not second.gain
    source, target = trainable((table, table))
    assert source is target


def test_views_that_share_only_a_part_are_copied_apart():
    matrix = np.arange(18.0).reshape(3, 6)
    whole, left, right = trainable((matrix, matrix[:, :3], matrix[:, 3:]))
    np.testing.assert_array_equal(whole.detach(), matrix)
    np.testing.assert_array_equal(left.detach(), matrix[:, :3])
    assert all(tensor.is_leaf for tensor in (whole, left, right))


def test_a_shared_tensor_takes_one_step(recwarn):
    weight = np.array([[2.0]])
    first, second = trainable((weight, weight))

    def forward(ids, params):
        return params[0] * params[1] * torch.tensor([[[0.0, 1.0], [0.0, 1.0]]]), None

    list(train(forward, (first, second), [np.array([[0, 1]])], Schedule(0.1, 1), weight_decay=0))
    assert first is second and first.item() == pytest.approx(2.1, abs=1e-5) and not recwarn


def test_blocks_in_a_list_are_trained_too():
    model = start("gpt2")
    tensors = trainable(model._replace(blocks=list(model.blocks)))
    assert type(tensors.blocks) is list and type(tensors.blocks[0]) is gpt2.Block
    assert len(leaves(tensors)) == len(leaves(model)) and isinstance(
        tensors.blocks[0].mlp.up.weight, torch.Tensor
    )


@pytest.mark.parametrize("function", [leaves, trainable])
@pytest.mark.parametrize("blocks", [{}, (part for part in ()), np.tanh])
def test_what_is_no_nest_of_parameters_is_refused(function, blocks):
    with pytest.raises(
        TypeError, match="model must hold arrays, settings, None, and tuples or lists of them, got "
    ):
        function(start("gpt2")._replace(blocks=blocks))


def test_settings_may_be_numpy_scalars():
    model = start("gpt2")
    model = model._replace(config=model.config._replace(eps=np.float64(1e-5), heads=np.int64(4)))
    assert trainable(model).config == model.config and len(leaves(model)) == len(leaves(start("gpt2")))


@pytest.mark.parametrize(
    "dtype", ["int64", "bool", "complex128", "longdouble", ">f8" if np.little_endian else "<f8"]
)
def test_trainable_takes_floats_alone(dtype):
    with pytest.raises(
        TypeError, match=f"model must hold NumPy arrays of float16, float32 or float64, got {np.dtype(dtype)}"
    ):
        trainable((np.ones(3), np.ones((2, 2)).astype(dtype)))


def test_trainable_takes_arrays_that_run_backwards():
    backwards = np.arange(6.0).reshape(2, 3)[::-1, ::-1]
    backwards.flags.writeable = False
    same, turned = trainable((backwards, backwards.T))
    np.testing.assert_array_equal(same.detach(), backwards)
    np.testing.assert_array_equal(turned.detach(), backwards.T)


def test_trainable_takes_numpy_models_alone():
    with pytest.raises(TypeError, match="trainable: model must hold NumPy arrays of .*, got Tensor"):
        trainable(tiny("gpt2", "torch"))


@every_family
def test_trained_gives_the_same_logits_in_numpy(family):
    tensors = trainable(start(family))
    arrays = trained(tensors)
    assert all(type(leaf) is np.ndarray for leaf in leaves(arrays))
    expected = to_numpy(FAMILIES[family].forward(IDS, tensors)[0])
    np.testing.assert_allclose(FAMILIES[family].forward(IDS, arrays)[0], expected, rtol=1e-10, atol=1e-12)


def test_mapped_keeps_the_nest():
    params = MLP(Linear(np.ones(2)), Linear(np.ones(3), 5))
    doubled = mapped(lambda array: 2 * array, (params, (1.5, "x")))
    assert (
        doubled[1] == (1.5, "x")
        and type(doubled[0]) is MLP
        and doubled[0].up.bias is None
        and doubled[0].down.bias == 5
    )
    np.testing.assert_array_equal(doubled[0].down.weight, [2, 2, 2])


# Gradients and steps, against PyTorch's own modules


class Decoder(torch.nn.Module):
    """A GPT-2 of PyTorch's modules with our weights."""

    def __init__(self, model):
        super().__init__()
        vocabulary, width = model.embedding.shape
        self.embedding = torch.nn.Embedding(vocabulary, width, dtype=torch.float64)
        self.positions = torch.nn.Embedding(model.config.context, width, dtype=torch.float64)
        self.blocks = torch.nn.ModuleList(
            torch.nn.TransformerEncoderLayer(
                width,
                model.config.heads,
                4 * width,
                dropout=0,
                batch_first=True,
                norm_first=True,
                activation=torch.nn.GELU("tanh"),
                dtype=torch.float64,
            )
            for _ in model.blocks
        )
        self.norm = torch.nn.LayerNorm(width, dtype=torch.float64)
        with torch.no_grad():
            for parameter, value in zip(self.ordered(), arranged(model), strict=True):
                parameter.copy_(torch.tensor(value))

    def ordered(self):
        """The parameters in the order of ``arranged``."""
        yield from (self.embedding.weight, self.positions.weight)
        for block in self.blocks:
            yield from block.norm1.parameters()
            yield from block.self_attn.parameters()
            yield from block.norm2.parameters()
            yield from (*block.linear1.parameters(), *block.linear2.parameters())
        yield from self.norm.parameters()

    def forward(self, ids):
        length = ids.shape[-1]
        x = self.embedding(ids) + self.positions(torch.arange(length))
        future = torch.triu(torch.ones(length, length, dtype=torch.bool), 1)
        for block in self.blocks:
            x = block(x, src_mask=future)
        return self.norm(x) @ self.embedding.weight.T


def arranged(model):
    """Our arrays as PyTorch's modules lay them out: (out, in), queries, keys and values stacked."""
    arrays = [model.embedding, model.positions]
    for block in model.blocks:
        a = block.attention
        weights = np.concatenate([linear.weight.T for linear in a[:3]])
        biases = np.concatenate([linear.bias for linear in a[:3]])
        arrays += [*block.attention_norm, weights, biases]
        arrays += [a.output.weight.T, a.output.bias, *block.mlp_norm]
        arrays += [block.mlp.up.weight.T, block.mlp.up.bias, block.mlp.down.weight.T, block.mlp.down.bias]
    return [*arrays, *model.norm]


def their_loss(module, ids):
    return F.cross_entropy(
        module(torch.tensor(ids))[:, :-1].flatten(0, 1), torch.tensor(ids[:, 1:]).flatten()
    )


def test_gradients_against_modules():
    model = start("gpt2")
    tensors, module = trainable(model), Decoder(model)
    loss = cross_entropy(gpt2.forward(IDS, tensors)[0], IDS)
    theirs = their_loss(module, IDS)
    assert loss.item() == pytest.approx(theirs.item(), rel=1e-12)
    loss.backward()
    theirs.backward()
    ours = arranged(mapped(lambda tensor: tensor.grad.numpy() if tensor.is_leaf else np.zeros(1), tensors))
    for gradient, parameter in zip(ours, module.ordered(), strict=True):
        np.testing.assert_allclose(gradient, parameter.grad, rtol=1e-9, atol=1e-12)
        assert np.abs(gradient).max() > 0 or gradient.ndim == 1


@pytest.mark.parametrize("clip", [0.01, 1e9])
def test_steps_against_pytorchs_adamw_on_modules(clip):
    model, schedule = start("gpt2"), Schedule(0.05, 4, 2, 0.01)
    tensors, module = trainable(model), Decoder(model)
    matrices = [p for p in module.parameters() if p.ndim > 1]
    vectors = [p for p in module.parameters() if p.ndim == 1]
    groups = [{"params": matrices, "weight_decay": 0.3}, {"params": vectors, "weight_decay": 0}]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.95))
    batches = [IDS, IDS[::-1].copy(), (IDS + 1) % 11]
    losses = train(gpt2.forward, tensors, batches, schedule, weight_decay=0.3, clip=clip)
    for step, (ids, loss) in enumerate(zip(batches, losses, strict=True)):
        theirs = their_loss(module, ids)
        assert loss == pytest.approx(theirs.item(), rel=1e-9)
        optimizer.zero_grad()
        theirs.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), clip)
        for group in optimizer.param_groups:
            group["lr"] = schedule.rate(step)
        optimizer.step()
        for array, parameter in zip(arranged(trained(tensors)), module.ordered(), strict=True):
            # The key biases' gradient is 0 but for rounding: AdamW blows it up to steps of any sign.
            if array.shape != (36,):
                np.testing.assert_allclose(array, parameter.detach(), rtol=1e-6, atol=1e-7)


def test_one_adamw_step_by_hand():
    up, down = ((np.array(weight), np.array(bias)) for weight, bias in (([[2.0]], [0.5]), ([[-1.0]], [0.25])))
    model = MLP(Linear(*up), Linear(*down))
    tensors = trainable(model)
    target = np.array([[0.0, 1.0]])

    def forward(ids, params):
        return mlp(torch.ones(1, 2, 1, dtype=torch.float64), params) * torch.tensor([0.0, 1.0]), None

    list(train(forward, tensors, [target.astype(int)], Schedule(0.1, 1), weight_decay=0.2))
    for before, after, tensor in zip(leaves(model), leaves(trained(tensors)), leaves(tensors)):
        # The first step of Adam has length 1, whatever the gradient; the decay acts on matrices.
        decay = 1 - 0.1 * 0.2 if before.ndim > 1 else 1
        np.testing.assert_allclose(after, before * decay - 0.1 * np.sign(tensor.grad.numpy()), atol=1e-5)


# The loop


@every_family
def test_training_lowers_the_loss_and_leaves_the_arrays_alone(family):
    model = start(family)
    before = [leaf.copy() for leaf in leaves(model)]
    tensors = trainable(model)
    losses = list(train(FAMILIES[family].forward, tensors, itertools.repeat(IDS), Schedule(0.02, 40, 4)))
    assert len(losses) == 40 and losses[-1] < losses[0] / 4
    assert all(np.array_equal(a, b) for a, b in zip(before, leaves(model), strict=True))
    assert tensors.head is None  # tied: there is one table to train


@every_family
def test_the_same_seed_gives_the_same_losses(family):
    def run(seed):
        rng = np.random.default_rng(seed)
        model = trainable(FAMILIES[family].make(rng, 8))
        return list(
            train(
                FAMILIES[family].forward,
                model,
                (rng.integers(11, size=(2, 6)) for _ in range(5)),
                Schedule(0.01, 9),
            )
        )

    assert run(1) == run(1) and len(run(1)) == 5 and run(1) != run(2)


def test_no_batch_is_drawn_beyond_the_last_step():
    drawn = []

    def batches():
        while True:
            drawn.append(1)
            yield IDS

    model = trainable(start("gpt2"))
    losses = train(gpt2.forward, model, batches(), Schedule(0.01, 3))
    assert not drawn  # nothing runs before the first loss is asked for
    assert len(list(losses)) == len(drawn) == 3


def test_the_first_loss_is_from_before_the_first_step():
    model = start("gpt2")
    loss = next(train(gpt2.forward, trainable(model), [IDS], Schedule(0.5, 1)))
    assert loss == pytest.approx(float(cross_entropy(gpt2.forward(IDS, model)[0], IDS)), rel=1e-12)


@pytest.mark.parametrize(
    "change, settings, message",
    [
        (dict(steps=0), {}, "schedule.steps must be a whole number of at least 1, got 0"),
        (dict(peak=0), {}, "schedule.peak must be a finite number, greater than 0, got 0"),
        (dict(peak=math.nan), {}, "schedule.peak must be"),
        (dict(warmup=11), {}, "schedule.warmup must be a finite number, at least 0 and at most 10, got 11"),
        (dict(floor=2), {}, "schedule.floor must be a finite number, at least 0 and at most 1, got 2"),
        ({}, dict(clip=0), "clip must be a finite number, greater than 0, got 0"),
        ({}, dict(weight_decay=-1), "weight_decay must be a finite number, at least 0, got -1"),
    ],
)
def test_a_wrong_setting_is_refused_at_once(change, settings, message):
    with pytest.raises(ValueError, match=f"train: {message}"):
        train(gpt2.forward, trainable(start("gpt2")), [IDS], Schedule(1, 10)._replace(**change), **settings)


@pytest.mark.parametrize("model", [start("gpt2"), tiny("gpt2", "torch")], ids=["numpy", "torch"])
def test_a_model_without_gradients_is_refused_at_once(model):
    with pytest.raises(
        ValueError, match=r"train: model has no tensor that gathers gradients: make one by trainable\(model\)"
    ):
        train(gpt2.forward, model, [IDS], Schedule(1, 10))


def spoilt(factor, at):
    """A forward pass whose logits are multiplied by ``factor`` at one step."""
    steps = itertools.count()
    return lambda ids, model: (gpt2.forward(ids, model)[0] * (factor if next(steps) == at else 1), None)


@pytest.mark.parametrize(
    "at, reason", [(0, "no step was taken yet: look at the model and "), (2, "lower schedule")]
)
def test_a_loss_that_is_not_finite_stops_the_training(at, reason):
    model = trainable(start("gpt2"))
    losses = train(spoilt(math.nan, at), model, itertools.repeat(IDS), Schedule(0.01, at + 1))
    assert len(list(itertools.islice(losses, at))) == at
    before = [leaf.clone() for leaf in leaves(model)]
    with pytest.raises(RuntimeError, match=f"train: step {at} has a loss that is not finite: {reason}"):
        next(losses)
    assert all(map(torch.equal, before, leaves(model)))


def test_a_gradient_that_is_not_finite_stops_the_training():
    weight = torch.zeros(1, 1, dtype=torch.float64, requires_grad=True)

    def forward(ids, model):
        return weight.sqrt() * torch.tensor(
            [[[0.0, 1.0]] * 2], dtype=torch.float64
        ), None  # its slope at 0 is endless

    with pytest.raises(
        RuntimeError, match="train: step 0 has a gradient that is not finite: no step was taken"
    ):
        list(train(forward, (weight,), [np.array([[0, 1]])], Schedule(0.01, 1)))
    assert weight.item() == 0


def test_a_weight_that_is_not_finite_stops_the_training_even_at_the_last_step():
    model = trainable(start("gpt2"))
    losses = train(gpt2.forward, model, [IDS], Schedule(1e308, 1), weight_decay=100)
    with pytest.raises(
        RuntimeError, match="train: step 0 has a weight that is not finite: lower schedule.peak"
    ):
        next(losses)


@pytest.mark.parametrize("half", [torch.float16, torch.bfloat16])
def test_half_precision_is_refused_at_once(half):
    model = mapped(lambda tensor: tensor.to(half).requires_grad_(), tiny("gpt2", "torch"))
    with pytest.raises(
        TypeError, match=f"train: model must hold float32 or float64, got {half}: half precision"
    ):
        train(gpt2.forward, model, [IDS], Schedule(0.01, 1))
    model = trainable(mapped(lambda array: array.astype(np.float16), start("gpt2")))
    with pytest.raises(TypeError, match="train: model must hold float32 or float64, got torch.float16"):
        train(gpt2.forward, model, [IDS], Schedule(0.01, 1))


@pytest.mark.parametrize(
    "schedule, batches, got",
    [
        (None, [3], r"None and \[3\]"),
        (0.1, [3], r"0.1 and \[3\]"),
        (Schedule(1, 10), None, r"Schedule\(.*\) and None"),
        (Schedule(1, 10), 3, ".* and 3"),
    ],
)
def test_what_is_no_schedule_or_no_batches_is_refused_at_once(schedule, batches, got):
    with pytest.raises(
        TypeError, match=f"train: schedule must be a Schedule and batches iterable, got {got}"
    ):
        train(gpt2.forward, trainable(start("gpt2")), batches, schedule)
