"""Every test here runs with floating-point faults and warnings as errors."""

import warnings

import hypothesis
import numpy as np
import pytest
import torch
from project import THOROUGH

hypothesis.settings.register_profile(
    "course",
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
    derandomize=True,
    database=None,
    max_examples=50 if THOROUGH else 10,
)
hypothesis.settings.load_profile("course")
torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def strict():
    # Underflow is no fault: the weight of a far lower score rounds to 0.
    with np.errstate(over="raise", divide="raise", invalid="warn"), warnings.catch_warnings():
        warnings.simplefilter("error")
        # OpenBLAS raises this flag now and then on finite input with a finite result (numpy/numpy#24067). A
        # real NaN in a product shows in the comparisons with PyTorch.
        warnings.filterwarnings("ignore", "invalid value encountered in matmul", RuntimeWarning)
        yield
