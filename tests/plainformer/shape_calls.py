"""Legal calls of any function with a shape line, drawn by Hypothesis from nothing but that line.

Used by the test of the lines themselves and by the comparisons with PyTorch.
"""

import importlib
import inspect
import pkgutil
import re
from dataclasses import dataclass, field

import numpy as np
import torch
from hypothesis import assume
from hypothesis import strategies as st

import plainformer
from plainformer.precision import SELECTING
from plainformer.shapes import Argument, leaves

ENGINES = ("numpy", "torch")
NUMPY_ONLY = {"plainformer.sampling"}
# Without a context, the keys are the queries and a context is as wide as the model.
FALLBACK = {"S": "T", "C": "E"}
# A past of another batch is refused, not broadcast; queries and keys keep the leading axes of their own rows.
ONE_BATCH = {"causal_attention", "block", "project"}
# What a line cannot say.
LEGAL = {
    "causal_mask": lambda sizes: sizes["T"] <= sizes["S"],
    "relative_bias": lambda sizes: sizes["T"] <= sizes["S"],
    "sinusoidal": lambda sizes: sizes["E"] % 2 == 0,
    "rope": lambda sizes: sizes["D"] % 2 == 0,
    "block": lambda sizes: sizes["D"] % 2 == 0,
    "conv2d": lambda sizes: sizes["U"] <= sizes["I"] and sizes["V"] <= sizes["J"],
    "cross_entropy": lambda sizes: sizes["T"] > 1,
}
LEAST_RANK = {"softmax": 1}
# Legal values for the required settings that follow a line's arguments.
SETTINGS = {
    "rate": lambda: 0.25,
    "rng": lambda: np.random.default_rng(7),
    "temperature": lambda: 0.8,
    "k": lambda: 2,
    "p": lambda: 0.9,
    "ids": lambda: [0],
}
# Legal values for the settings that stand in parameters.
CONFIG = {"context": 64, "eps": 1e-5, "base": 1e4, "pairing": "halves"}


def modules():
    """Every module of the library that is there, also those written after this test."""
    found = pkgutil.walk_packages(plainformer.__path__, "plainformer.")
    return [importlib.import_module(module.name) for module in found]


def shaped_functions():
    """Every function with a shape line, from the module that defines it."""
    members = [(module, value) for module in modules() for value in vars(module).values()]
    return [
        value for module, value in members if hasattr(value, "shapes") and value.__module__ == module.__name__
    ]


def engines(function):
    return ("numpy",) if function.__module__ in NUMPY_ONLY else ENGINES


def convert(value, engine, dtype=None):
    """An array on an engine, numbers in a dtype given by name; anything else as it is."""
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.kind not in "biufc":
        return value
    tensor = torch.tensor(value)
    if dtype and value.dtype != bool:
        tensor = tensor.to(getattr(torch, dtype))
    return tensor if engine == "torch" else tensor.numpy()


def to_numpy(value):
    """Any result as float64, so that results can be compared."""
    if isinstance(value, torch.Tensor):
        value = value.detach().double().numpy()
    return np.asarray(value, dtype=np.float64)


@dataclass(frozen=True)
class Call:
    """A legal call: the arguments of the line in order, parameters unfolded, as NumPy arrays, ints or
    None.
    """

    function: object
    flat: list
    sizes: dict
    settings: dict = field(default_factory=dict)

    def arguments(self, engine="numpy", dtype=None):
        """The arguments as the function takes them, on an engine and in a dtype."""
        given = zip(self.function.shapes.inputs, self.flat)
        return self.function.shapes.fold(
            [convert(v, engine, None if a.name in SELECTING else dtype) for a, v in given]
        )

    def run(self, engine="numpy", dtype=None):
        return self.apply(*self.arguments(engine, dtype))

    def apply(self, *arguments):
        settings = {name: make() for name, make in self.settings.items()}
        return self.function(*arguments, **settings)

    def given(self):
        """(position, argument, value) of everything that was not left out, but for settings."""
        inputs = enumerate(zip(self.function.shapes.inputs, self.flat))
        return [(i, a, value) for i, (a, value) in inputs if value is not None and not a.check]

    def numbers(self):
        """(position, argument, value) of the arrays that are computed with: no masks, ids or positions."""
        return [(i, a, v) for i, a, v in self.given() if not a.integer and a.name not in SELECTING]

    def replace(self, position, value):
        return Call(
            self.function,
            [*self.flat[:position], value, *self.flat[position + 1 :]],
            self.sizes,
            self.settings,
        )

    def expected_shapes(self):
        """The shapes of the results as the line has them."""
        leading = np.broadcast_shapes(
            *(v.shape[: v.ndim - len(a.axes)] for _, a, v in self.given() if a.leading)
        )

        def shape(output):
            return (*(leading if output.leading else ()), *(length(axis, self.sizes) for axis in output.axes))

        return [shape(output) for output in self.function.shapes.outputs]


def results(value):
    """What a function gave, as a list: most give one array, some several, or records of arrays."""
    return [array for part in value for array in results(part)] if isinstance(value, tuple) else [value]


def length(axis, sizes):
    """The size of an axis such as ``T``, ``H*D`` or ``I-U+1``."""
    return eval(axis, {}, sizes)


def letters(argument):
    return set(re.findall("[A-Z]", " ".join(argument.axes)))


@st.composite
def numbers(draw, shape, bound):
    """Normally distributed numbers of some magnitude, with a few that Hypothesis chooses itself: 0, tiny, up
    to ±bound.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    array = np.asarray(rng.normal(size=shape) * draw(st.sampled_from([1.0, 1e-3, min(10.0, bound)])))
    chosen = draw(st.lists(st.floats(-bound, bound), max_size=3))
    if array.size:
        array.flat[rng.integers(array.size, size=len(chosen))] = chosen
    return array


@st.composite
def axis_sizes(draw, function, left_out, least):
    """A size for every letter and three leading axes, pairwise different but where the call demands
    otherwise.
    """
    shapes = function.shapes
    names = sorted(set().union(*map(letters, [*shapes.inputs, *shapes.outputs])))
    drawn = draw(st.permutations(range(least, least + len(names) + 3)))
    sizes = dict(zip(names, drawn))
    if {"H", "G"} <= set(names):
        sizes["H"] = sizes["G"] * draw(st.integers(1, 3))
    for argument in left_out:
        if argument.name != "mask" and not argument.name.startswith("past."):
            sizes |= {name: sizes[FALLBACK[name]] for name in letters(argument) & set(FALLBACK)}
        if argument.name.startswith("past."):
            sizes["S"] = 0
    assume(LEGAL.get(function.__name__, lambda sizes: True)(sizes))
    return sizes, tuple(drawn[len(names) :])


@st.composite
def leading_axes(draw, sizes, least, one_batch):
    """None, one or two leading axes, and for each array a way to broadcast to them."""
    full = sizes[: draw(st.integers(least, 2))]
    shorter = [full[i:] for i in range(1 if one_batch else len(full) + 1 - least)]
    return st.sampled_from(shorter if one_batch else [*shorter, tuple(1 for _ in full)])


@st.composite
def missing(draw, part):
    """The arguments of a part of a line that a call leaves out: a whole record, or optional fields of it."""
    if part.optional and draw(st.booleans()):
        return leaves(part)
    if isinstance(part, Argument):
        return []
    return [argument for inner in part.parts for argument in draw(missing(inner))]


@st.composite
def calls(draw, function, bound=10.0, least=1):
    """Any legal call of a function with a shape line."""
    shapes = function.shapes
    left_out = [argument for part in shapes.parts for argument in draw(missing(part))]
    sizes, spare = draw(axis_sizes(function, left_out, least))
    name = function.__name__
    leading = draw(leading_axes(spare, LEAST_RANK.get(name, 0), name in ONE_BATCH))
    flat = []
    for argument in shapes.inputs:
        if argument in left_out:
            flat.append(None)
        elif argument.check:
            flat.append(CONFIG[argument.name.split(".")[-1]])
        elif argument.integer:
            flat.append(sizes[argument.axes[0]])
        else:
            shape = (
                *(draw(leading) if argument.leading else ()),
                *(length(axis, sizes) for axis in argument.axes),
            )
            flat.append(selection(argument.name, draw(numbers(shape, bound)), sizes))
    return Call(function, flat, sizes, required_settings(function))


def selection(name, array, sizes):
    """The numbers as they are, or made into what a mask, ids or positions may hold."""
    if name == "mask":
        return array > -0.5
    return np.abs(array * 1000).astype(int) % sizes.get("V", 1000) if name in SELECTING else array


def required_settings(function):
    """What a function needs beyond its line; a KeyError here asks for a new entry in SETTINGS."""
    rest = list(inspect.signature(function).parameters.values())[len(function.shapes.names) :]
    return {
        parameter.name: SETTINGS[parameter.name] for parameter in rest if parameter.default is parameter.empty
    }
