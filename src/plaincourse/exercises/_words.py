"""How the exercises show arguments and results: short, rounded, without addresses."""

import inspect
import re

import numpy as np

from plaincourse import numerals
from plaincourse.numerals import signed

from ._close import near


def described(names, case):
    """The arguments of a case by name."""
    return ", ".join(f"{name} = {short(value)}" for name, value in zip(names, case, strict=True))


def short(value):
    """Rounded to four decimals, and no longer than a line or two."""
    if isinstance(value, np.ndarray | np.number | float | int):
        value = np.asarray(value)
        if value.ndim == 0 and 0 < abs(value) < 1e-3:  # an eps, which four decimals would show as 0
            return signed(np.format_float_positional(value, precision=2, fractional=False, trim="-"))
        look = {"int_kind": numeral, "float_kind": numeral}
        text = np.array2string(value, formatter=look, separator=", ", threshold=24, edgeitems=2)
        return re.sub(r"\s+", " ", text).replace("[ ", "[") + (
            f" of shape {value.shape}" if value.ndim > 1 else ""
        )
    if hasattr(value, "_fields"):  # a model or a block: pages of numbers
        return f"{type(value).__name__}(…)"
    if isinstance(value, list | tuple):
        return "(" + ", ".join(map(short, value)) + ")"
    return type(value).__name__ if not isinstance(value, str | None) else repr(value)


def numeral(value):
    """One number of an array: four decimals, or a power of ten if it is no count and large."""
    large = np.isfinite(value) and abs(value) >= 1e8 and (value % 1 != 0 or abs(value) >= 1e15)
    return signed(f"{value:.4e}") if large else numerals.short(value, 4)


def kind(value):
    """The type of a value, in words."""
    if inspect.isclass(value) or isinstance(value, np.ndarray):
        return "a class" if inspect.isclass(value) else "a NumPy array"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def difference(exercise, case, got, want):
    """The first failing case, in a few lines."""
    lines = [] if exercise.by_hand else [f"Input: {described(exercise.argument_names, case)}"]
    if got.shape != want.shape and not want.ndim:
        return "\n".join([f"Expected a single number, got {short(got)}.", *lines])
    if got.shape != want.shape:
        form = f": a list of {want.size} numbers" if exercise.by_hand and want.ndim == 1 else ""
        return "\n".join([f"The shape is {got.shape}, expected {want.shape}{form}.", *lines])
    if exercise.by_hand:  # the value would give the exercise away
        wrong = np.flatnonzero(~near(got, want, exercise.tolerance))
        return (
            f"{len(wrong)} of {want.size} numbers {'are' if len(wrong) > 1 else 'is'} wrong; look again at"
            f" {spot(wrong[0], want.shape)}."
            if want.size > 1
            else f"{short(got)} is not it."
        )
    if got.dtype.kind == "f" and got.dtype.itemsize < 8 and near(got, want, 1e-5).all():
        return "\n".join(
            [f"The numbers are right, but only to {got.dtype}: keep the float64 of the input.", *lines]
        )
    lines += [f"Expected: {short(want)}", f"Got: {short(got)}"]
    if want.dtype == bool:  # no subtracting, and a long row of them is shortened where it differs
        lines += [places(got, want)] if want.ndim else []
    elif short(want) == short(got):
        lines.append(gap(got, want))
    return "\n".join(["First case that differs:", *lines])


def gap(got, want):
    """How far two arrays that look alike are apart. Infinity less infinity is no number, so it is left
    out.
    """
    finite = np.isfinite(got) & np.isfinite(want)
    largest = np.abs(got[finite] - want[finite]).max(initial=0.0)
    return f"They differ by up to {largest:.1e}." if largest else places(got, want)


def spot(index, shape):
    """Where a value stands, counted from 1 as people do."""
    if len(shape) == 1:
        return f"number {index + 1}"
    *rows, place = np.unravel_index(index, shape)
    return f"row {', '.join(str(row + 1) for row in rows)}, number {place + 1}"


def places(got, want):
    """How many booleans differ, and which is the first."""
    wrong = np.argwhere(got != want)
    first = tuple(wrong[0].tolist())
    count = f"{len(wrong)} of {want.size} places differ{'s' * (len(wrong) == 1)}"
    return f"{count}, the first at {list(first)}: expected {want[first]}, got {got[first]}."
