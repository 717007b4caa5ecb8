import numpy as np
import pytest
import torch
import torch.nn.functional as F
from against_torch import Case, against_pytorch

from plainformer import linear as module
from plainformer.linear import linear, linears, side_by_side


def reference(x, weight, bias=None):
    return F.linear(x, weight.mT, bias)


def scale(x, weight, bias=None):
    return x.abs() @ weight.abs() + (0 if bias is None else bias.abs())


@against_pytorch(Case(linear, reference, scale))
def test_against_pytorch(case, check):
    check(case)


def test_weights_are_stored_in_by_out():
    np.testing.assert_array_equal(linear(np.array([1, 1]), np.array([[1, 2], [3, 4]])), [4, 6])


def test_module_with_copied_weights():
    torch.manual_seed(0)
    module, x = torch.nn.Linear(5, 3, dtype=torch.float64), torch.randn(2, 4, 5, dtype=torch.float64)
    torch.testing.assert_close(linear(x, module.weight.mT, module.bias), module(x), rtol=1e-12, atol=1e-14)


def test_rows_do_not_see_one_another():
    rng = np.random.default_rng(0)
    x, weight = rng.normal(size=(6, 5)), rng.normal(size=(5, 3))
    rows = np.stack([linear(row, weight) for row in x])
    np.testing.assert_allclose(linear(x, weight), rows, rtol=1e-12, atol=1e-14)


def test_arguments_by_name():
    x, weight, bias = np.ones(2), np.ones((2, 3)), np.arange(3)
    np.testing.assert_array_equal(linear(bias=bias, weight=weight, x=x), [2, 3, 4])


RNG = np.random.default_rng(3)
WIDE = RNG.normal(size=(5, 9))
LAYOUTS = {
    "in by out": WIDE,
    "out by in": np.ascontiguousarray(WIDE.T).T,
    "part of a larger one": RNG.normal(size=(7, 12))[:5, 2:11],
    "float32": WIDE.astype(np.float32),
}


@pytest.mark.parametrize("wide", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("shape", [(5,), (1, 5), (2, 4, 5), (0, 5)], ids=str)
@pytest.mark.parametrize("biased", ["none", "all", "one"])
def test_weights_side_by_side_take_one_product(wide, shape, biased, monkeypatch):
    x, weights = RNG.normal(size=shape), np.split(wide, [4, 6], axis=1)
    bias = {"none": (False,) * 3, "all": (True,) * 3, "one": (False, True, False)}[biased]
    biases = [
        RNG.normal(size=weight.shape[1]) if is_there else None for weight, is_there in zip(weights, bias)
    ]
    expected = [linear(x, weight.copy(), bias) for weight, bias in zip(weights, biases)]
    seen = []
    monkeypatch.setattr(module, "linear", lambda *args: seen.append(args) or linear(*args))
    for result, one in zip(linears(x, weights, biases), expected, strict=True):
        np.testing.assert_allclose(result, one, rtol=1e-12, atol=1e-14)
    assert len(seen) == 1 and np.shares_memory(seen[0][1], wide)
    np.testing.assert_array_equal(side_by_side(weights), wide)


A, B, C = np.split(WIDE, 3, axis=1)
APART = {
    "copies": (A.copy(), B.copy()),
    "another order": (B, A),
    "one between": (A, C),
    "overlapping": (WIDE[:, :4], B),
    "fewer rows": (A, B[:4]),
    "another precision": (A, B.view(np.int64)),
    "other steps": (A, WIDE[:, 3:9:2]),
    "above one another": (WIDE[:2], WIDE[2:4]),
    "tensors": torch.tensor(WIDE).split(3, dim=1),
    "a tensor beside": (A, torch.tensor(B)),
    "a matrix": (A.view(np.matrix), B),
    "two parts, and one apart": (A, B, C.copy()),
}


@pytest.mark.parametrize("weights", APART.values(), ids=APART)
def test_other_weights_are_not_taken_for_one(weights):
    assert side_by_side(weights) is None


@pytest.mark.parametrize(
    "weights", [APART["another order"], APART["copies"], APART["tensors"]], ids=["order", "copies", "tensors"]
)
def test_other_weights_take_a_product_each(weights):
    x = torch.ones(2, 5, dtype=torch.float64) if torch.is_tensor(weights[0]) else np.ones((2, 5))
    for result, weight in zip(linears(x, weights, [None] * len(weights)), weights, strict=True):
        np.testing.assert_allclose(result, x @ weight, rtol=1e-12)


NARROW = {
    "columns of width 1": [row.T for row in np.split(RNG.normal(size=(3, 4)), 3)],
    "one row": np.split(RNG.normal(size=(1, 7)), [1, 3], axis=1),
    "one row backwards": np.split(RNG.normal(size=(1, 7))[:, ::-1], [1, 3], axis=1),
    "backwards": np.split(WIDE[:, ::-1], [1, 2], axis=1),
    "rows overlap": [WIDE[:4], WIDE[1:]],
}


@pytest.mark.parametrize("weights", NARROW.values(), ids=NARROW)
def test_widths_of_one_and_unusual_steps(weights):
    x = RNG.normal(size=(2, len(weights[0])))
    for result, weight in zip(linears(x, weights, [None] * len(weights)), weights, strict=True):
        np.testing.assert_allclose(result, x @ weight.copy(), rtol=1e-12)


def test_the_wide_matrix_cannot_be_written_to():
    assert not side_by_side((A, B)).flags.writeable


def test_linears_checks_the_shapes():
    with pytest.raises(ValueError, match="linear: weight has E = 5, x has E = 4"):
        linears(np.ones((2, 4)), (A, B), (None, None))
