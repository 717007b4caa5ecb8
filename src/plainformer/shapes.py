"""The live shape line: one declaration that documents, checks and tests the shapes of a function.

::

    @shaped("(..., T, D), (..., S, D), (..., S, E), (..., T, S)? -> (..., T, E)")
    def attention(query, key, value, mask=None): ...

The line describes the function's first arguments in order, in NumPy's gufunc notation: ``(..., T, D)`` is an
array, ``...`` any number of leading axes (they broadcast), ``H*D`` one axis that holds H pieces of width D
(``4*F`` holds four), ``?`` an argument that may be None, a bare letter an integer argument, and a class name
a NamedTuple of parameters whose fields carry their own shapes. A result's axis may be a sum, ``I-U+1``;
several results stand side by side. An argument called ``mask`` is boolean, ``ids`` and ``positions`` are
whole numbers (or a list of them); every other array holds real numbers.
"""

import contextlib
import functools
import inspect
import math
import re
import threading
from typing import Any, NamedTuple, get_type_hints

import numpy as np
from array_api_compat import is_numpy_array, is_torch_array

from plainformer.engines import array_namespace
from plainformer.settings import listed, whole

UNLIKE_ARRAYS = (
    np.matrix,
    np.ma.MaskedArray,
)  # * of a matrix is no product of elements; masks are lost on the way
Array = Any  # a NumPy array or a PyTorch tensor: both speak the Python array API
INDICES = ("ids", "positions")
state = threading.local()


class Argument(NamedTuple):
    """One argument of a shape line, or one field of its parameters."""

    name: str
    text: str  # as written: "(..., T, D)"
    axes: tuple[str, ...]  # the named axes, without the leading "..."
    leading: bool  # may have leading axes
    optional: bool
    integer: bool = False


def parse(name, text):
    """Read one part of a shape line, for instance ``(..., T, H*D)?`` or ``H``."""
    match = re.fullmatch(r"\(([^()]*)\)(\??)|([A-Z])(\??)", text)
    if match is None:
        raise ValueError(
            f"{name}: {text!r} is neither a shape such as (..., T, D) nor a letter nor a class of parameters"
        )
    if match[3]:
        return Argument(name, text, (match[3],), False, bool(match[4]), integer=True)
    axes = tuple(axis.strip() for axis in match[1].split(",") if axis.strip())
    leading = axes[:1] == ("...",)
    return Argument(name, text.rstrip("?"), axes[leading:], leading, bool(match[2]))


def split(side):
    """The parts of one side of a shape line, at the commas that stand outside parentheses."""
    return [part.strip() for part in re.split(r",(?![^(]*\))", side)]


def fields(name, cls):
    """The arguments that a NamedTuple of parameters stands for, from its ``Annotated[Array, "(E, F)"]``
    fields.
    """
    hints = get_type_hints(cls, include_extras=True)
    return [parse(f"{name}.{field}", hint.__metadata__[0]) for field, hint in hints.items()]


class Shapes:
    """A parsed shape line of one function. ``inputs`` has an entry for each array or integer, parameters
    unfolded.
    """

    def __init__(self, line, function):
        self.line = line
        left, right = line.split("->")
        parts = split(left)
        self.function = function.__name__
        self.count = len(parts)
        self.names = list(inspect.signature(function).parameters)[: self.count]
        self.classes = [function.__globals__.get(part) for part in parts]
        self.inputs = []
        for name, part, cls in zip(self.names, parts, self.classes, strict=True):
            self.inputs += fields(name, cls) if cls else [parse(name, part)]
        self.integers = {argument.name for argument in self.inputs if argument.integer}
        self.outputs = [parse("result", part) for part in split(right)]
        self.plans = {}

    def unfold(self, values):
        """Lay the fields of parameters side by side with the other arguments; make every integer a Python
        int.
        """
        flat = []
        for name, cls, value in zip(self.names, self.classes, values):
            if name in self.integers and value is not None:
                flat.append(whole(self.function, name, value))
            elif cls is None:
                flat.append(listed(self.function, name, value) if name in INDICES else value)
            elif isinstance(value, cls):
                flat.extend(value)
            else:
                raise TypeError(
                    f"{self.function}: {name} must be {cls.__name__}(...), got {type(value).__name__}"
                )
        return flat

    def plan(self, flat):
        """What ``check`` returns. It depends on the kinds, shapes and dtypes of arrays: those seen before
        cost one look-up.
        """
        arrays = [
            hasattr(value, "dtype") and not argument.integer for argument, value in zip(self.inputs, flat)
        ]
        key = tuple(
            (type(v), v.shape, v.dtype) if array else (type(v), repr(v)) for array, v in zip(arrays, flat)
        )
        if key in (plans := self.plans):
            return plans[key]
        if len(plans) >= 1024:
            self.plans = {}  # a new one: another thread may be reading the old
        plan = self.plans[key] = self.check(flat)
        return plan

    def cast(self, flat, xp, dtype):
        """The arguments with the arrays of numbers in another precision."""
        fixed = [argument.integer or argument.name in ("mask", *INDICES) for argument in self.inputs]
        return self.fold([value if keep else convert(xp, value, dtype) for keep, value in zip(fixed, flat)])

    def fold(self, flat):
        """Undo ``unfold``."""
        flat = iter(flat)
        return [
            next(flat) if cls is None else cls(*(next(flat) for _ in cls._fields)) for cls in self.classes
        ]

    def check(self, flat):
        """Raise on a wrong argument; return what ``conversion`` says of the precision."""
        given = [
            (argument, value)
            for argument, value in zip(self.inputs, flat)
            if not self.absent(argument, value)
        ]
        arrays = [(argument.name, value) for argument, value in given if not argument.integer]
        for name, value in arrays:
            if not (is_numpy_array(value) or is_torch_array(value)) or isinstance(value, UNLIKE_ARRAYS):
                kind = type(value).__name__
                raise TypeError(
                    f"{self.function}: {name} must be a NumPy array or a PyTorch tensor, got {kind}"
                )
        bind_axes(self.function, given)
        return conversion(self.function, arrays)

    def absent(self, argument, value):
        """Whether an optional argument was left out; an error if a required one was."""
        if value is None and not argument.optional:
            raise TypeError(f"{self.function}: {argument.name} is missing, expected {argument.text}")
        return value is None


def bind_axes(function, given):
    """Give every axis letter its size, or say which two arguments disagree."""
    sizes, leading, products = {}, (), []
    for argument, value in given:
        shape = (value,) if argument.integer else tuple(value.shape)
        extra = len(shape) - len(argument.axes)
        if extra < 0 or (extra and not argument.leading):
            raise ValueError(f"{function}: {argument.name} must have shape {argument.text}, got {shape}")
        leading = broadcast(function, argument.name, leading, shape[:extra])
        for axis, size in zip(argument.axes, shape[extra:]):
            if "*" in axis:
                products.append((argument.name, axis, size))
                continue
            first, known = sizes.setdefault(axis, (argument.name, size))
            if size != known:
                facts = f"{argument.name} has {axis} = {size}, {first} has {axis} = {known}"
                raise ValueError(f"{function}: {facts}: they must be equal")
    for name, axis, size in products:
        divide(function, name, axis, size, sizes)


def divide(function, name, axis, size, sizes):
    """Check an axis such as ``H*D``, and find the one factor that is not known yet."""
    count, letters = axis.split("*", 1) if axis[0].isdigit() else ("1", axis)
    known = {letter: sizes[letter][1] for letter in letters.split("*") if letter in sizes}
    unknown = [letter for letter in letters.split("*") if letter not in sizes]
    product = int(count) * math.prod(known.values())
    facts = " and ".join(f"{letter} = {number}" for letter, number in known.items()) or count
    if not unknown and size != product:
        raise ValueError(f"{function}: {name} has {axis} = {size}, but {facts}: it must be {product}")
    if len(unknown) == 1:
        if product == 0 or size % product:
            raise ValueError(f"{function}: {name} has {axis} = {size}, which {facts} does not divide")
        sizes[unknown[0]] = (name, size // product)


def broadcast(function, name, seen, shape):
    """Broadcast leading axes, NumPy's rule: equal, or one of them 1, counted from the right."""
    wide = max(len(seen), len(shape))
    pairs = list(zip((1,) * (wide - len(seen)) + seen, (1,) * (wide - len(shape)) + tuple(shape)))
    if any(a != b and 1 not in (a, b) for a, b in pairs):
        facts = f"{name} has leading axes {tuple(shape)}, the arguments before it {seen}"
        raise ValueError(f"{function}: {facts}: they do not broadcast")
    return tuple(b if a == 1 else a for a, b in pairs)


def conversion(function, arrays):
    """Choose the precision: the widest float that came in, float32 for half precision, the default float for
    integers.

    Returns (namespace, dtype to compute in, dtype to return), or None where nothing is to convert.
    """
    numbers = [(name, value) for name, value in arrays if not selects(function, name, value)]
    if not numbers:
        return None
    first, value = numbers[0]
    xp = array_namespace(value)
    for name, other in numbers:
        if array_namespace(other) is not xp:
            facts = f"{name} is {type(other).__name__}, {first} is {type(value).__name__}"
            raise TypeError(f"{function}: {facts}: use one engine for both")
        if not xp.isdtype(other.dtype, ("real floating", "integral")):
            raise TypeError(f"{function}: {name} must hold real numbers, got {other.dtype}")
    dtypes = {value.dtype for _, value in numbers}
    floats = [dtype for dtype in dtypes if xp.isdtype(dtype, "real floating")]
    result = xp.result_type(*floats) if floats else xp.asarray(0.0).dtype
    compute = xp.float32 if xp.finfo(result).bits == 16 else result
    return (xp, compute, result) if dtypes != {compute} else None


def selects(function, name, value):
    """Whether an array selects instead of being computed with; its kind is checked. From NumPy it serves
    tensors too.
    """
    xp = array_namespace(value)
    if name == "mask" and not xp.isdtype(value.dtype, "bool"):
        raise TypeError(f"{function}: mask must be boolean (True = may look), got {value.dtype}")
    if name in INDICES and not xp.isdtype(value.dtype, "integral"):
        raise TypeError(f"{function}: {name} must be whole numbers, got {value.dtype}")
    return name == "mask" or name in INDICES


@contextlib.contextmanager
def trusted(when=True):
    """Inside, shapes are not checked and precision is not converted: for loops over what has been checked
    before.
    """
    before, state.trusted = getattr(state, "trusted", False), when
    try:
        yield
    finally:
        state.trusted = before


def shaped(line, half=True):
    """Declare a function's shapes; see the module's docstring.

    ``half``: whether half precision, which is computed in float32, comes back as half precision.
    """

    def decorate(function):
        shapes = Shapes(line, function)

        @functools.wraps(function)
        def call(*args, **kwargs):
            if getattr(state, "trusted", False):
                return function(*args, **kwargs)
            values = args[: shapes.count] + tuple(
                kwargs.pop(name, None) for name in shapes.names[len(args) :]
            )
            flat = shapes.unfold(values)
            plan = shapes.plan(flat)
            if plan is None:
                return function(*shapes.fold(flat), *args[shapes.count :], **kwargs)
            xp, compute, result = plan
            value = function(*shapes.cast(flat, xp, compute), *args[shapes.count :], **kwargs)
            return convert(xp, value, result) if half and result != compute else value

        call.shapes = shapes
        call.__doc__ = f"``{line}``\n\n{inspect.cleandoc(function.__doc__ or '')}"
        return call

    return decorate


def convert(xp, value, dtype):
    """Change the precision of an array of numbers, or of several; leave None alone."""
    if isinstance(value, tuple):
        return tuple(convert(xp, part, dtype) for part in value)
    return None if value is None else xp.astype(value, dtype, copy=False)
