"""The shape lines, every one of them: found by looking, so that a new function is tested as soon as it has a
line.
"""

import ast
import inspect
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from shape_calls import (
    ENGINES,
    NUMPY_ONLY,
    Call,
    calls,
    convert,
    engines,
    letters,
    modules,
    results,
    shaped_functions,
    to_numpy,
)

import plainformer
from plainformer.attention import causal_mask, split_heads
from plainformer.shapes import Array, Record, leaves, shaped

FUNCTIONS = shaped_functions()
ON_TENSORS = [f for f in FUNCTIONS if f.__module__ not in NUMPY_ONLY]
every_function = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
on_tensors = pytest.mark.parametrize("function", ON_TENSORS, ids=lambda f: f.__name__)
few = settings(max_examples=5)  # where one call is spoilt in every way
SOURCES = sorted(Path(plainformer.__file__).parent.rglob("*.py"))
PUBLIC = """
    linear relu sigmoid silu gelu gelu_tanh softmax mlp swiglu attention_weights attention
    split_heads merge_heads repeat_heads causal_mask multi_head_attention project attend_heads
    causal_attention block layer_norm rms_norm dropout apply_temperature top_k top_p probabilities
    sample embed sinusoidal relative_bias rope conv2d rnn_step rnn lstm_step gru_step padding_mask
    cross_entropy
""".split()


def follows_its_line(function):
    """The property: whatever legal call Hypothesis builds from the line, the result has the shape of the
    line.
    """

    @settings(phases=[Phase.generate])
    @given(calls(function))
    def check(call):
        for engine in engines(function):
            assert [np.shape(result) for result in results(call.run(engine))] == call.expected_shapes()

    check()


@every_function
def test_result_has_the_shape_of_the_line(function):
    follows_its_line(function)


def test_every_public_function_has_a_line():
    assert set(PUBLIC) <= {function.__name__ for function in FUNCTIONS}


# A line that is wrong must not pass.


class Pair(NamedTuple):
    left: Annotated[Array, "(E, F)"]
    right: Annotated[Array, "(F, E)"]


def product(a, b):
    return a @ b


def transposed(a):
    return a.swapaxes(-1, -2)


def through(x, params):
    return x @ params.left @ params.right


def flattened(x):
    return x.reshape((*x.shape[:-2], -1))


@pytest.mark.parametrize(
    "line, body",
    [
        ("(..., T, D), (D, E) -> (..., T, E)", product),
        ("(..., T, D) -> (..., D, T)", transposed),
        ("(..., T, E), Pair -> (..., T, E)", through),
        ("(..., H, D) -> (..., H*D)", flattened),
    ],
)
def test_a_right_line_passes(line, body):
    follows_its_line(shaped(line)(body))


@pytest.mark.parametrize(
    "line, body",
    [
        ("(..., T, D), (D, E) -> (..., E, T)", product),  # axes swapped in the result
        ("(..., T, D), (D, E) -> (..., T, D)", product),  # the wrong letter
        ("(..., T, D), (D, E) -> (T, E)", product),  # leading axes forgotten in the result
        ("(..., T, D), (E, D) -> (..., T, E)", product),  # axes swapped in an argument
        ("(..., T, D), (..., E) -> (..., T, E)", product),  # an axis missing
        ("(..., T, D) -> (..., T, D)", transposed),
        ("(..., T, F), Pair -> (..., T, F)", through),
        ("(..., H, D) -> (..., H)", flattened),
        (
            "(..., H, D), T? -> (..., T)",
            lambda x, times=None: flattened(x),
        ),  # an optional argument that is not used
    ],
)
def test_a_wrong_line_is_caught(line, body):
    with pytest.raises((AssertionError, ValueError, RuntimeError)):
        follows_its_line(shaped(line)(body))


def test_a_new_function_in_a_new_module_is_found(tmp_path, monkeypatch):
    text = (
        'from plainformer.shapes import shaped\n\n\n@shaped("(..., T, D) -> (..., D, T)")\ndef wrong(x):\n   '
        " return x\n"
    )
    (tmp_path / "later_chapter.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(plainformer, "__path__", [*plainformer.__path__, str(tmp_path)])
    new = {function.__name__: function for function in shaped_functions()}["wrong"]
    with pytest.raises(AssertionError):
        follows_its_line(new)


@pytest.mark.parametrize(
    "line", ["(T, D -> (T)", "t -> (T)", "(T), (D) -> (T)", "(T) (D) -> (T)", "Nothing -> (T)"]
)
def test_a_line_that_cannot_be_read_is_an_error(line):
    with pytest.raises(ValueError):
        shaped(line)(lambda x: x)


# What goes in wrong is named.


def refused(call, argument, error, engine="numpy"):
    """The call raises an error that names the function and the argument."""
    with pytest.raises(error, match=rf"^{call.function.__name__}: .*\b{argument}\b"):
        call.run(engine)


@every_function
@few
@given(data=st.data())
def test_a_wrong_size_is_named(function, data):
    call = data.draw(calls(function, least=2))
    for position, argument, value in call.given():
        others = set().union(*(set(a.axes) for i, a, _ in call.given() if i != position))
        for i, axis in enumerate(() if argument.integer else argument.axes):
            if axis in others or ("*" in axis and letters(argument) & others):
                longer = np.concatenate(
                    [value, value.take([0], axis=i - len(argument.axes))], axis=i - len(argument.axes)
                )
                for engine in engines(function):
                    refused(call.replace(position, longer), argument.name, ValueError, engine)


@every_function
@few
@given(data=st.data())
def test_a_wrong_number_of_axes_is_named(function, data):
    call = data.draw(calls(function))
    for position, argument, value in call.given():
        if argument.axes and not argument.integer:
            few = value.reshape(-1)[0].reshape((1,) * (len(argument.axes) - 1))
            refused(call.replace(position, few), argument.name, ValueError)
        if not argument.leading and not argument.integer:
            refused(call.replace(position, value[None]), argument.name, ValueError)


@every_function
@few
@given(data=st.data())
def test_leading_axes_that_do_not_broadcast_are_named(function, data):
    call = data.draw(calls(function))
    for position, argument, value in call.given():
        if argument.leading:
            call = call.replace(
                position, value.reshape(-1, *value.shape[value.ndim - len(argument.axes) :])[0]
            )
    first, *rest = [(i, argument, value) for i, argument, value in call.given() if argument.leading] or [None]
    for position, argument, value in rest:
        pair = call.replace(first[0], np.stack([first[2]] * 2)).replace(position, np.stack([value] * 3))
        refused(pair, argument.name, ValueError)


WRONG = [[1.0, 2.0], "text", 1.5, object(), np.array(["a"]), np.array([None])]


@every_function
@few
@given(data=st.data())
def test_a_wrong_kind_is_named(function, data):
    call = data.draw(calls(function))
    for position, argument, value in call.given():
        if argument.integer:
            for wrong in (0, -1, 1.5, True, "2", np.float64(2), np.int64(0), [2]):
                refused(call.replace(position, wrong), argument.name, ValueError)
            continue
        wrong = [
            np.full_like(value, 1, dtype=dtype)
            for dtype in (complex, float if argument.name == "mask" else bool)
        ]
        for other in [*WRONG, *wrong, *([] if argument.optional else [None])]:
            refused(call.replace(position, other), argument.name, (TypeError, ValueError))


@every_function
@few
@given(data=st.data())
def test_an_array_that_is_not_plain_is_named(function, data):
    call = data.draw(calls(function))
    for position, argument, value in call.given():
        for wrong in () if argument.integer else (np.ma.masked_array(value), np.ones((2, 2)).view(np.matrix)):
            message = f"{argument.name} must be a NumPy array or a PyTorch tensor, got {type(wrong).__name__}"
            with pytest.raises(TypeError, match=f"^{function.__name__}: {message}$"):
                call.apply(*function.shapes.fold(call.replace(position, wrong).flat))


@pytest.mark.parametrize("kind", [np.uint8, np.int64, np.array, torch.tensor])
@pytest.mark.parametrize(
    "function", [f for f in FUNCTIONS if any(a.integer for a in f.shapes.inputs)], ids=lambda f: f.__name__
)
@few
@given(data=st.data())
def test_every_kind_of_whole_number_counts(function, kind, data):
    call = other = data.draw(calls(function))
    for position, argument, value in call.given():
        other = other.replace(position, kind(value)) if argument.integer else other
    for engine in ENGINES:
        for result, expected in zip(results(other.run(engine)), results(call.run(engine)), strict=True):
            np.testing.assert_array_equal(to_numpy(result), to_numpy(expected))


def test_a_narrow_whole_number_does_not_overflow():
    assert split_heads(np.ones((2, 300)), np.uint8(150)).shape == (150, 2, 2)
    np.testing.assert_array_equal(causal_mask(np.uint8(2), np.uint8(5)), causal_mask(2, 5))


@on_tensors
@few
@given(data=st.data())
def test_two_engines_in_one_call_are_named(function, data):
    call = data.draw(calls(function))
    for position, argument, value in call.numbers() if len(call.numbers()) > 1 else ():
        refused(call.replace(position, torch.tensor(value)), argument.name, TypeError)


@pytest.mark.parametrize(
    "function",
    [f for f in FUNCTIONS if any(isinstance(part, Record) for part in f.shapes.parts)],
    ids=lambda f: f.__name__,
)
@few
@given(data=st.data())
def test_wrong_parameters_are_named(function, data):
    arguments = data.draw(calls(function)).arguments()
    for i, part in enumerate(function.shapes.parts):
        for wrong in (
            ((1, 2), arguments[0], *(() if part.optional else (None,))) if isinstance(part, Record) else ()
        ):
            message = rf"^{function.__name__}: {part.name} must be {part.cls.__name__}\(\.\.\.\), got"
            with pytest.raises(TypeError, match=message):
                function(*arguments[:i], wrong, *arguments[i + 1 :])


@every_function
def test_a_missing_argument_is_named(function):
    with pytest.raises(
        (TypeError, ValueError), match=rf"^{function.__name__}: ({'|'.join(function.shapes.names)}) "
    ):
        function()


# What holds for all functions, on both engines.


@every_function
@given(data=st.data())
def test_the_arguments_are_left_alone(function, data):
    call = data.draw(calls(function, bound=1.0))  # so that half precision holds the results
    for engine in engines(function):
        for dtype in ("float64", "float16"):
            arguments = call.arguments(engine, dtype)
            before = function.shapes.unfold(call.arguments(engine, dtype))
            call.apply(*arguments)
            for old, new in zip(before, function.shapes.unfold(arguments), strict=True):
                assert (old is None and new is None) or np.array_equal(old, new)


@on_tensors
@given(data=st.data())
def test_the_engines_agree(function, data):
    call = data.draw(calls(function))
    for ours, theirs in zip(results(call.run("torch")), results(call.run("numpy")), strict=True):
        np.testing.assert_allclose(to_numpy(ours), to_numpy(theirs), rtol=1e-10, atol=1e-10)


@on_tensors
@given(data=st.data())
def test_each_precision_comes_back_as_it_went_in(function, data):
    call = data.draw(calls(function, bound=1.0))
    if not call.numbers():
        return
    for engine in ENGINES:
        names = ["float16", "float32", "float64"] + ["bfloat16"] * (engine == "torch")
        for dtype in names:
            for result in results(call.run(engine, dtype)):
                assert str(result.dtype).removeprefix("torch.") == dtype


@on_tensors
@given(data=st.data())
def test_whole_numbers_become_floats(function, data):
    call = data.draw(calls(function, bound=3.0))
    if not call.numbers():
        return
    for engine, default in (("numpy", "float64"), ("torch", "float32")):
        for dtype in ("int64", "int32", "int8"):
            rounded = Call(
                function, function.shapes.unfold(call.arguments("numpy", dtype)), call.sizes, call.settings
            )
            both = zip(results(call.run(engine, dtype)), results(rounded.run(engine, default)), strict=True)
            for whole, plain in both:
                assert str(whole.dtype).removeprefix("torch.") == default
                np.testing.assert_array_equal(to_numpy(whole), to_numpy(plain))


@on_tensors
@given(data=st.data())
def test_gradients_flow(function, data):
    call = data.draw(calls(function, bound=2.0))
    flat = [convert(value, "torch") for value in call.flat]
    here = [i for i, v in enumerate(flat) if isinstance(v, torch.Tensor) and v.dtype == torch.float64]
    if not here:
        return  # nothing to derive by
    if function.__name__ == "relu":
        flat[0] = torch.where(flat[0].abs() < 0.01, 0.5, flat[0])  # no derivative at the corner

    def of_the_numbers(*tensors):
        arguments = list(flat)
        for i, tensor in zip(here, tensors):
            arguments[i] = tensor
        return tuple(results(call.apply(*function.shapes.fold(arguments))))

    torch.manual_seed(0)
    assert torch.autograd.gradcheck(of_the_numbers, [flat[i].requires_grad_() for i in here], fast_mode=True)


# How the functions present themselves, and how small they are.


@every_function
def test_docstring_opens_with_the_line(function):
    line, empty, rest = function.__doc__.split("\n", 2)
    assert line == f"``{function.shapes.line}``" and empty == "" and len(rest) > 20
    assert rest.startswith(inspect.cleandoc(function.__wrapped__.__doc__)[:20])


def test_every_module_and_class_has_a_docstring():
    for module in modules():
        assert module.__doc__, module
        for value in vars(module).values():
            if inspect.isclass(value) and value.__module__ == module.__name__:
                assert value.__doc__, value


def test_every_field_of_parameters_has_a_shape():
    records = [part for function in FUNCTIONS for part in function.shapes.parts if isinstance(part, Record)]
    assert {record.cls.__name__ for record in records} >= {"MLP", "SwiGLU", "Attention", "Block", "Kept"}
    for record in records:
        assert all(leaf.axes or leaf.check for leaf in leaves(record))


def test_no_function_is_longer_than_25_lines():
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                assert node.end_lineno - node.lineno + 1 <= 25, f"{path.name}: {node.name}"


def test_the_library_can_be_read_in_one_sitting():
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert max(lengths.values()) <= 265
    assert sum(lengths[path] for path in SOURCES if path.parent.name == "plainformer") <= 2000
