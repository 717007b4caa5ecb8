import numpy as np
import pytest
import torch
import torch.nn.functional as F
from against_torch import Case, against_pytorch
from shape_calls import ENGINES, convert

from plainformer.activations import gelu, gelu_tanh, relu
from plainformer.linear import Linear
from plainformer.mlp import MLP, SwiGLU, mlp, swiglu
from plainformer.training import mapped


def torch_linear(rows, weight, bias=None):
    return F.linear(rows, weight.mT, bias)


def plain_reference(x, p):
    hidden = F.gelu(torch_linear(x, *p.up), approximate="tanh")
    return torch_linear(hidden, *p.down)


def plain_scale(x, p):
    p = mapped(torch.abs, p)
    return torch_linear(torch_linear(x.abs(), *p.up), *p.down)


def gated_reference(x, p):
    return F.linear(F.silu(F.linear(x, p.gate.mT)) * F.linear(x, p.up.mT), p.down.mT)


def gated_scale(x, p):
    return ((x.abs() @ p.gate.abs()) * (x.abs() @ p.up.abs())) @ p.down.abs()


@against_pytorch(Case(mlp, plain_reference, plain_scale), Case(swiglu, gated_reference, gated_scale))
def test_against_pytorch(case, check):
    check(case)


@pytest.fixture
def numbers():
    """A function that draws an array of a shape."""
    rng = np.random.default_rng(0)
    return lambda *shape: rng.normal(size=shape)


def random_mlp(numbers):
    return MLP(Linear(numbers(3, 7), numbers(7)), Linear(numbers(7, 3), numbers(3)))


@pytest.mark.parametrize("ours, theirs", [(relu, F.relu), (gelu, F.gelu), (torch.tanh, torch.tanh)])
def test_any_activation(ours, theirs, numbers):
    params = mapped(torch.tensor, random_mlp(numbers))
    x = torch.tensor(numbers(2, 5, 3))
    expected = torch_linear(theirs(torch_linear(x, *params.up)), *params.down)
    torch.testing.assert_close(mlp(x, params, activation=ours), expected, rtol=1e-12, atol=1e-13)


def test_the_default_is_the_tanh_form(numbers):
    params, x = random_mlp(numbers), numbers(4, 3)
    np.testing.assert_array_equal(mlp(x, params), mlp(x, params, gelu_tanh))
    assert np.abs(mlp(x, params) - mlp(x, params, gelu)).max() > 1e-6


@pytest.mark.parametrize("engine", ENGINES)
def test_silu_sits_on_the_gate(engine):
    # x = [1] reads the two rows off: gate [1, -2], up [3, 0.5].
    arrays = [np.array([[1.0, -2.0]]), np.array([[3.0, 0.5]]), np.eye(2)]
    gate, up, down = (convert(array, engine) for array in arrays)
    hidden = [
        float(swiglu(convert(np.ones(1), engine), SwiGLU(gate, up, down[:, i : i + 1]))[0]) for i in range(2)
    ]
    np.testing.assert_allclose(hidden, [2.19317574, -0.11920292], rtol=0, atol=6e-9)


@pytest.mark.parametrize(
    "make",
    [
        lambda n: (mlp, random_mlp(n)),
        lambda n: (swiglu, SwiGLU(n(3, 7), n(3, 7), n(7, 3))),
    ],
    ids=["mlp", "swiglu"],
)
def test_tokens_do_not_mix(make, numbers):
    function, params = make(numbers)
    x = numbers(4, 3)
    before = function(x, params)
    for t in range(4):
        moved = function(x + np.eye(4)[:, [t]], params) != before
        np.testing.assert_array_equal(moved.any(axis=1), np.arange(4) == t)


def test_an_activation_that_is_no_function_is_named(numbers):
    params = random_mlp(numbers)
    for wrong in ("relu", None, 1):
        with pytest.raises(TypeError, match="mlp: activation must be a function"):
            mlp(numbers(3), params, activation=wrong)


def test_the_result_keeps_the_precision_of_the_widest(numbers):
    params = mapped(np.float32, random_mlp(numbers))
    assert mlp(numbers(3).astype(np.float16), params).dtype == np.float32
    assert mlp(numbers(3), params).dtype == np.float64
