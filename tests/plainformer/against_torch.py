"""One comparison for all functions: ours on both engines against PyTorch's own, on calls drawn from the shape
line.
"""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given
from shape_calls import ENGINES, calls, results, to_numpy

RELATIVE = {"float64": 1e-12, "float32": 1e-5}


@dataclass(frozen=True)
class Case:
    """``reference`` takes what ``function`` takes, as tensors.

    ``scale`` takes the arguments too and says how large the terms are that the result was added up from.
    Rounding errors are of that size times the machine's epsilon, also where the terms cancel and the result
    is small. A function that cancels nothing has scale 0: its error is relative.
    """

    function: object
    reference: object
    scale: object = lambda *arguments: torch.tensor(0.0)
    bound: float = 10.0

    def __str__(self):
        return self.function.__name__


def close(result, reference, relative, absolute):
    error = np.abs(to_numpy(result) - to_numpy(reference))
    limit = relative * np.abs(to_numpy(reference)) + absolute
    np.testing.assert_array_less(error, np.broadcast_to(limit, error.shape))


def absolute_error(call, case, dtype):
    """What rounding may cost in a dtype: some dozen epsilons of the terms, or a number too small for the
    dtype.
    """
    info = torch.finfo(getattr(torch, dtype))
    tiny = max(info.smallest_normal, 1e-300)
    return tiny + 32 * info.eps * to_numpy(case.scale(*call.arguments("torch", "float64")))


def in_full_precision(case):
    """float64 within 1e-12, float32 within 1e-5, relative."""

    @given(calls(case.function, case.bound))
    def check(call):
        for dtype, relative in RELATIVE.items():
            references = results(case.reference(*call.arguments("torch", dtype)))
            for engine in ENGINES:
                for result, reference in zip(results(call.run(engine, dtype)), references, strict=True):
                    assert reference.dtype == getattr(torch, dtype)
                    assert tuple(result.shape) == tuple(reference.shape)
                    close(result, reference, relative, absolute_error(call, case, dtype))

    check()


def in_half_precision(case):
    """float16 and bfloat16 are computed in float32 and rounded once: within half a unit of the float64
    result.
    """

    @given(calls(case.function, bound=1.0))
    def check(call):
        for engine, dtype in (("numpy", "float16"), ("torch", "float16"), ("torch", "bfloat16")):
            info = torch.finfo(getattr(torch, dtype))
            arguments = call.function.shapes.unfold(call.arguments("torch", dtype))
            exact = [
                v.double() if isinstance(v, torch.Tensor) and v.is_floating_point() else v for v in arguments
            ]
            references = results(case.reference(*call.function.shapes.fold(exact)))
            rounding = info.smallest_normal * info.eps + absolute_error(call, case, "float32")
            for result, reference in zip(results(call.run(engine, dtype)), references, strict=True):
                close(result, reference, 0.501 * info.eps, rounding)

    check()


def against_pytorch(*cases):
    """Parametrize a test ``(case, check)`` with every comparison of every case."""

    def decorate(test):
        test = pytest.mark.parametrize("case", cases, ids=str)(test)
        return pytest.mark.parametrize(
            "check", [in_full_precision, in_half_precision], ids=lambda f: f.__name__
        )(test)

    return decorate
