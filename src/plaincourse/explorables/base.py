"""What all explorables share: their text on disk, their state, and the placeholder for a page without a
kernel.
"""

import json
import math
from pathlib import Path

import anywidget
import numpy as np
import traitlets

from plaincourse import palette
from plaincourse.numerals import real
from plainformer.settings import whole

FOLDER = Path(__file__).parent


def read(name):
    """Return the text of one of the files beside this one, for instance "kit.js"."""
    return (FOLDER / name).read_text(encoding="utf-8")


def to_json(state):
    """Return `state` as JSON that can stand between single quotes in HTML: no `<`, `>`, `&` or `'` is left in
    it.
    """
    text = json.dumps(state, ensure_ascii=False, sort_keys=True, allow_nan=False)
    for character in "<>&'":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


class Whole(traitlets.Int):
    """A trait for a whole number, kept as Python's int; True is none."""

    def validate(self, obj, value):
        """Return `value` as an int, or raise TraitError."""
        most = math.inf if self.max is None else self.max
        try:
            return whole(type(obj).__name__, self.name, value, self.min, most)
        except ValueError as error:
            raise traitlets.TraitError(str(error)) from None


class Choice(traitlets.Enum):
    """A trait for one of a few values, kept as it is listed: NumPy's 100 is equal to 100, and JSON cannot
    carry it.
    """

    def validate(self, obj, value):
        """Return the listed value, or raise TraitError."""
        for listed in self.values:
            if not isinstance(value, bool) and np.ndim(value) == 0 and value == listed:
                return listed
        self.error(obj, value)


class Numbers(traitlets.TraitType):
    """A trait for finite numbers of one shape within `low` and `high`; `()` is the shape of a single number.

    It takes any numbers that NumPy can read as an array and keeps them as plain (nested) lists, which is what
    JSON can carry.
    """

    def __init__(self, default, shape, low, high, **options):
        self.shape, self.low, self.high = shape, low, high
        super().__init__(default_value=default, **options)
        self.tag(sync=True)

    def validate(self, obj, value):
        """Return `value` as plain lists, or raise TraitError with the trait's name, what came and what was
        expected.
        """
        wanted = (
            f"{'a number' if self.shape == () else f'numbers of shape {self.shape}'} from {self.low} to"
            f" {self.high}"
        )
        array = real(value)
        if array is None:
            raise traitlets.TraitError(f"{type(obj).__name__}: {self.name} must be {wanted}, got {value!r}")
        if array.shape != self.shape:
            raise traitlets.TraitError(
                f"{type(obj).__name__}: {self.name} must be {wanted}, got shape {array.shape}"
            )
        if not (np.isfinite(array).all() and (array >= self.low).all() and (array <= self.high).all()):
            raise traitlets.TraitError(
                f"{type(obj).__name__}: {self.name} must be {wanted}, got {array.tolist()}"
            )
        return array.tolist()


class Explorable(anywidget.AnyWidget):
    """A widget with one plain ES module, that also lives on a page without a kernel.

    A subclass sets `module` (the name of its .js file), declares its state as synced traits, and defines
    `sentence()` (what the still picture shows, in words) and `still()` (that picture, as SVG). Where a kernel
    runs, it is an ordinary widget. In the built book, `plaincourse.book.explorables` mounts the same module
    on the stored placeholder.
    """

    module = ""

    def __init_subclass__(cls, **options):
        if (
            "module" in cls.__dict__
        ):  # anywidget makes a further subclass of each instance's class; it has its own text
            cls._esm = read("kit.js") + "\n" + read(f"{cls.module}.js")
            cls._css = f"{palette.css()}\n{read('explorable.css')}"
        super().__init_subclass__(**options)

    def __init__(self, **state):
        unknown = sorted(set(state) - set(self.state_names()) - {"model_id"})
        if unknown:
            known = ", ".join(self.state_names())
            raise TypeError(
                f"{type(self).__name__}: no setting is called {', '.join(unknown)}; there are {known}"
            )
        super().__init__(**state)

    @classmethod
    def state_names(cls):
        """Return the names of the traits that this class declares as its state, sorted."""
        shared = set(anywidget.AnyWidget.class_trait_names())
        return sorted(
            name
            for name in cls.class_trait_names(sync=True)
            if name not in shared and not name.startswith("_")
        )

    def state(self):
        """Return the state as a dict of plain values, ready for JSON."""
        return {name: getattr(self, name) for name in self.state_names()}

    def placeholder(self):
        """Return the HTML that a page without a kernel shows, and that the book's script brings to life."""
        return (
            f'<div class="plain-explorable" data-module="{self.module}"'
            f" data-state='{to_json(self.state())}'>{self.still()}</div>"
        )

    def __repr__(self):
        return f"<{type(self).__name__}: {self.sentence()}>"

    def _repr_mimebundle_(self, **options):
        data, metadata = super()._repr_mimebundle_(**options)
        return {**data, "text/plain": repr(self), "text/html": self.placeholder()}, metadata
