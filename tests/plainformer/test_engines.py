import array_api_compat
import numpy as np
import pytest
import torch

from plainformer.engines import array_namespace

ARRAYS = [np.ones(2), np.ones(2).view(np.memmap), np.float32(1), np.ones(2, dtype=int)]


@pytest.mark.parametrize("x", ARRAYS, ids=lambda x: type(x).__name__)
def test_all_of_numpy_is_one_engine(x):
    assert array_namespace(x) is np


@pytest.mark.parametrize(
    "x", [torch.ones(2), torch.nn.Parameter(torch.ones(2))], ids=lambda x: type(x).__name__
)
def test_pytorch_speaks_the_array_api(x):
    assert array_namespace(x) is array_api_compat.array_namespace(x)


def test_what_is_no_array_is_refused():
    with pytest.raises(TypeError):
        array_namespace([1, 2])
