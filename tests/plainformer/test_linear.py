import numpy as np
import torch
import torch.nn.functional as F
from against_torch import Case, against_pytorch

from plainformer.linear import Linear, linear


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


def test_a_record_unpacks_into_weight_and_bias():
    x, weight, bias = np.ones(2), np.ones((2, 3)), np.arange(3)
    np.testing.assert_array_equal(linear(x, *Linear(weight, bias)), [2, 3, 4])
    np.testing.assert_array_equal(linear(x, *Linear(weight)), [2, 2, 2])
