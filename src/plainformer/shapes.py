"""The live shape line: one declaration that documents, checks and tests the shapes of a function.

::

    @shaped("(..., T, D), (..., S, D), (..., S, E), (..., T, S)? -> (..., T, E)")
    def attention(query, key, value, mask=None): ...

The line describes the function's first arguments in order, in NumPy's gufunc notation. ``(..., T, D)`` is an
array and ``...`` any number of leading axes, which broadcast; ``H*D`` is one axis that holds H pieces of
width D (``4*F`` holds four); ``?`` marks an argument that may be None, and ``=x`` one that is x if it is
None; a bare letter is a whole number; a class name is a NamedTuple of parameters, whose fields carry shapes
of their own (``Attention(C=E)``: with E for C). A result's axis may be a sum, ``I-U+1``; several results
stand side by side.

An argument called ``mask`` is boolean, ``ids`` and ``positions`` are whole numbers (or a list of them); every
other array holds real numbers, in the precision that ``precision`` chooses. Settings, the plain numbers
behind the arrays, are checked by functions given by name: ``@shaped(line, eps=number)``.

A call is checked at the door: what a checked function calls in turn is not checked again, since its own line
has seen to it that the parts fit.
"""

import functools
import inspect
import re
import threading
from typing import Annotated, Any, NamedTuple, get_origin, get_type_hints

from plainformer.axes import bind_axes
from plainformer.precision import SELECTING, precision
from plainformer.settings import listed, whole

Array = Any  # a NumPy array or a PyTorch tensor: both speak the Python array API
door = threading.local()  # .open while a checked function runs in this thread


class Argument(NamedTuple):
    """One argument of a shape line, or one field of its parameters."""

    name: str
    text: str  # as written: "(..., T, D)"
    axes: tuple[str, ...] = ()  # the named axes, without the leading "..."
    leading: bool = False  # may have leading axes
    optional: bool = False
    integer: bool = False
    default: str = ""  # the argument that stands in for one that is None
    check: Any = None  # of a setting: the function that checks it


class Record(NamedTuple):
    """An argument that is a NamedTuple of parameters."""

    name: str
    cls: type
    parts: tuple  # of Argument and Record, one for each field
    optional: bool = False


def parse(name, text):
    """Read one part of a shape line, for instance ``(..., T, H*D)?`` or ``H``."""
    match = re.fullmatch(r"(?:\(([^()]*)\)|([A-Z]))(\??)(?:=(\w+))?", text)
    if match is None:
        message = "is neither a shape such as (..., T, D) nor a letter nor a class of parameters"
        raise ValueError(f"{name}: {text!r} {message}")
    inside, letter, optional, default = match.groups(default="")
    if letter:
        return Argument(name, text, (letter,), optional=bool(optional), integer=True)
    axes = tuple(axis.strip() for axis in inside.split(",") if axis.strip())
    leading = axes[:1] == ("...",)
    return Argument(name, f"({inside})", axes[leading:], leading, bool(optional or default), default=default)


def record(name, cls, text="", optional=False):
    """The Record of a class whose fields are arrays ``Annotated[Array, "(E, F)"]``, settings, and records.

    ``text`` is what stands beside a record: the shape of the weight of a linear map, or ``C=E``, which gives
    an axis another letter.
    """
    parts = []
    for field, hint in get_type_hints(cls, include_extras=True).items():
        kind, note = (hint.__origin__, hint.__metadata__[0]) if get_origin(hint) is Annotated else (hint, "")
        if text.startswith("("):  # the fields of Linear: its weight, and a bias as wide as what comes out
            note = text if field == "weight" else f"({text.strip('()').split(',')[-1].strip()})?"
        elif "=" in text and isinstance(note, str):
            note = note.replace(*text.split("="))
        if hasattr(kind, "_fields"):
            parts.append(record(f"{name}.{field}", kind, note))
        elif callable(note):
            parts.append(Argument(f"{name}.{field}", kind.__name__, check=note))
        else:
            parts.append(parse(f"{name}.{field}", note))
    return Record(name, cls, tuple(parts), optional)


def leaves(part):
    """The arguments that a part of a line stands for, side by side."""
    return [part] if isinstance(part, Argument) else [leaf for inner in part.parts for leaf in leaves(inner)]


def split(side):
    """The parts of one side of a shape line, at the commas that stand outside parentheses."""
    return [part.strip() for part in re.split(r",(?![^(]*\))", side)]


class Shapes:
    """A parsed shape line. ``inputs`` has an entry for each array and number, parameters unfolded."""

    def __init__(self, line, function, checks):
        self.line, self.function, self.checks = line, function.__name__, checks
        left, right = line.split("->")
        classes = {name: cls for name, cls in function.__globals__.items() if hasattr(cls, "_fields")}

        def read(name, text):
            match = re.fullmatch(r"([A-Z]\w+)(?:\((\w=\w)\))?(\??)", text)
            cls = classes.get(match[1]) if match else None
            return record(name, cls, match[2] or "", bool(match[3])) if cls else parse(name, text)

        names = list(inspect.signature(function).parameters)
        self.parts = [read(name, text) for name, text in zip(names, split(left))]
        self.names, self.settings = names[: len(self.parts)], names[len(self.parts) :]
        if len(self.parts) != len(split(left)):
            raise ValueError(f"{self.function}: the line has more parts than the function has arguments")
        self.inputs = [leaf for part in self.parts for leaf in leaves(part)]
        self.outputs = [leaf for text in split(right) for leaf in leaves(read("result", text))]
        self.plans = {}

    def checked(self, args, kwargs):
        """What to do with the precision, and the arguments as the function takes them; or an error."""
        count = len(self.names)
        values = args[:count] + tuple(kwargs.pop(name, None) for name in self.names[len(args) :])
        flat, settings = self.unfold(values), list(args[count:])
        for name, check in self.checks.items():
            place = self.settings.index(name)
            if place < len(settings):
                settings[place] = check(self.function, name, settings[place])
            elif name in kwargs:
                kwargs[name] = check(self.function, name, kwargs[name])
        plan = self.plan(flat)
        return plan, (*self.fold(plan.cast(self.inputs, flat)), *settings), kwargs

    def unfold(self, values):
        """Lay the fields of parameters side by side with the other arguments; check that all are there."""
        values = dict(zip(self.names, values))
        flat = []
        for part in self.parts:
            value = values[part.name]
            if value is None and isinstance(part, Argument) and part.default:
                value = values[part.default]
            flat += self.unfolded(part, value)
        return flat

    def unfolded(self, part, value):
        """The leaves of one part."""
        if isinstance(part, Argument):
            return [self.plain(part, value)]
        if value is None and part.optional:
            return [None] * len(leaves(part))
        if not isinstance(value, part.cls):
            wanted = f"{part.cls.__name__}(...)"
            raise TypeError(f"{self.function}: {part.name} must be {wanted}, got {type(value).__name__}")
        return [leaf for inner, field in zip(part.parts, value) for leaf in self.unfolded(inner, field)]

    def plain(self, argument, value):
        """One leaf: a whole number as a Python int, a list of ids as an array, anything else as it is."""
        if argument.check:
            return argument.check(self.function, argument.name, value)
        if value is None and argument.optional:
            return None
        if argument.integer:
            return whole(self.function, argument.name, value)
        if value is None:
            raise TypeError(f"{self.function}: {argument.name} is missing, expected {argument.text}")
        return listed(self.function, argument.name, value) if argument.name in SELECTING else value

    def fold(self, flat):
        """Undo ``unfold``."""
        flat = iter(flat)

        def folded(part):
            if isinstance(part, Argument):
                return next(flat)
            fields = [folded(inner) for inner in part.parts]
            return None if part.optional and all(field is None for field in fields) else part.cls(*fields)

        return [folded(part) for part in self.parts]

    def plan(self, flat):
        """Check the sizes and choose the precision. Kinds, shapes and dtypes seen before cost one look-up."""
        key = tuple(
            (type(value), value.shape, value.dtype) if hasattr(value, "dtype") else (type(value), repr(value))
            for value in flat
        )
        if key not in self.plans:
            if len(self.plans) >= 1024:
                self.plans = {}  # a new one: another thread may be reading the old
            self.plans[key] = self.check(flat)
        return self.plans[key]

    def check(self, flat):
        """Raise on a wrong argument; return what ``precision`` chooses for the arrays."""
        given = [(a, value) for a, value in zip(self.inputs, flat) if value is not None and not a.check]
        chosen = precision(self.function, [(a.name, value) for a, value in given if not a.integer])
        bind_axes(self.function, given)
        return chosen


def shaped(line, half=True, **checks):
    """Declare a function's shapes; see the module's docstring. ``half``: whether half precision comes back
    so.
    """

    def decorate(function):
        shapes = Shapes(line, function, checks)

        @functools.wraps(function)
        def call(*args, **kwargs):
            if getattr(door, "open", False):
                return function(*args, **kwargs)
            plan, args, kwargs = shapes.checked(args, kwargs)
            door.open = True
            try:
                value = function(*args, **kwargs)
            finally:
                door.open = False
            return plan.back(value) if half else value

        call.shapes = shapes
        call.__doc__ = f"``{line}``\n\n{inspect.cleandoc(function.__doc__ or '')}"
        return call

    return decorate
