"""Running an answer that may do anything, and making its results comparable."""

import contextlib
import copy
import inspect
import io
import linecache
import re
import traceback
import warnings

import numpy as np

from ._words import described, kind


class Problem(Exception):
    """Ends a check with a verdict: status, message."""


def by_hand(answer):
    """The value itself, or a problem if there is none yet."""
    if is_stub(answer) or (isinstance(answer, list | tuple) and any(map(is_stub, answer))):
        raise Problem("not attempted", "Put your value in place of the dots.")
    if callable(answer):
        raise Problem("wrong", "This exercise asks for the value itself, not for a function.")
    return answer


def run(names, answer, cases):
    """Call the answer, which is to take arguments of these names, on copies of every case; what it prints and
    warns is dropped.
    """
    if is_stub(answer):
        raise Problem("not attempted", "Write the function, then run the check again.")
    if inspect.isclass(answer) or not callable(answer):
        raise Problem(
            "wrong", f"Hand over the function itself, without brackets or arguments; this is {kind(answer)}."
        )
    if inspect.iscoroutinefunction(answer):
        raise Problem("wrong", "Write an ordinary function: def, without async.")
    try:
        inspect.signature(answer).bind(*cases[0])
    except TypeError:
        text = f"Your function must take {len(names)} argument{'s' * (len(names) != 1)}: {', '.join(names)}."
        raise Problem("wrong", text) from None
    except Exception:
        pass  # built-in functions have no signature to look at
    results = []
    for case in cases:
        given = copy.deepcopy(case)
        result = called(answer, given)
        if isinstance(result, np.ndarray):
            result = np.asarray(result)  # of a subclass, the plain array
            result = result.copy() if result.size < 1_000_000 else result
        results.append(result)
        for name, before, after in zip(names, case, given, strict=True):
            if not unchanged(before, after):
                text = (
                    f"Your function changes its argument {name}. Leave the caller's arrays as they are: work"
                    " on a copy."
                )
                raise Problem("wrong", f"{text}\nInput: {described(names, case)}")
    if all(map(is_stub, results)):
        raise Problem("not attempted", f"Your function returned {results[0]}. Is its return still missing?")
    return results


def called(answer, arguments):
    """The result of the answer, or a problem that tells how it stopped."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                return answer(*arguments)
    except KeyboardInterrupt:
        raise
    except NotImplementedError:
        raise Problem("not attempted", "Your function still raises NotImplementedError.") from None
    except BaseException as error:  # also SystemExit: whatever an answer does, the notebook goes on
        raise Problem("error", told(error, answer)) from None


# What NumPy's messages mean, for who meets them for the first time.
HINTS = [
    (
        "^matmul: .*mismatch",
        "Look at the shapes: an @ needs as many columns on its left as there are rows on its right.",
    ),
    (
        "could not be broadcast together",
        (
            "These two shapes do not fit. If one comes from a mean, max or sum over rows, keepdims=True keeps"
            " its axis."
        ),
    ),
    (
        "can be converted to Python scalars",
        "math works on one number. For arrays use NumPy: np.exp, not math.exp.",
    ),
]


def told(error, answer):
    """The error and the last line of the answer's own file that led to it, without addresses or file
    names.
    """
    name, text = type(error).__name__, text_of(error)
    text += "".join(f"\n{hint}" for part, hint in HINTS if re.search(part, text))
    file = getattr(getattr(answer, "__code__", None), "co_filename", None)
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__, limit=50) if frame.filename == file
    ]
    if not frames:
        return f"{name}: {text}"
    line = linecache.getline(file, frames[-1].lineno).strip()
    return f"{name}: {text}\nLine {frames[-1].lineno} of your cell" + (f": {line}" if line else ".")


def text_of(error):
    """The message of an exception, without addresses."""
    try:
        return re.sub(r"\b0x[0-9a-fA-F]+", "0x…", str(error))[:300] or "(no message)"
    except Exception:  # an exception class of the answer's own
        return "(no message)"


def unchanged(before, after):
    """Whether an argument still holds the numbers that it held before the call."""
    if isinstance(before, np.ndarray):
        return isinstance(after, np.ndarray) and np.array_equal(
            before, after, equal_nan=before.dtype.kind == "f"
        )
    if isinstance(before, list | tuple):
        return len(before) == len(after) and all(map(unchanged, before, after))
    return True


def taken(value, want, by_hand):
    """The value as an array that can be compared with the wanted one, or a problem that names its type."""
    expected = "True or False" if want.dtype == bool else "numbers" if want.ndim else "a number"
    if want.ndim and not by_hand:
        expected = (
            f"a NumPy array of {'booleans' if want.dtype == bool else 'numbers'}, of shape {want.shape}"
        )
    if hasattr(type(value), "__next__"):
        raise Problem("wrong", f"Expected {expected}, got {kind(value)}: use return, not yield.")
    if str(type(value).__module__).partition(".")[0] == "torch":
        raise Problem(
            "wrong", f"Expected {expected}, got a PyTorch tensor: stay with NumPy, or end with .numpy()."
        )
    listed = isinstance(value, list | tuple)
    if not (
        isinstance(value, np.ndarray | np.number | np.bool_ | bool | int | float) or (by_hand and listed)
    ):
        hint = " Wrap it in np.array(…)." if listed and want.ndim else ""
        raise Problem("wrong", f"Expected {expected}, got {kind(value)}.{hint}")
    result = array(value)
    if result.dtype.kind not in "biuf":
        found = "text" if result.dtype.kind in "US" else f"values of type {result.dtype}"
        raise Problem("wrong", f"Expected {expected}, got {found}.")
    if (result.dtype == bool) != (want.dtype == bool):
        raise Problem(
            "wrong", f"Expected {expected}, got {'True and False' if result.dtype == bool else 'numbers'}."
        )
    if by_hand and result.dtype.kind == "f" and result.itemsize < 8:
        return result.astype(str).astype(float)  # what the pencil wrote: np.float32(2.8) stands for 2.8
    return result


def array(value):
    """As an array; what NumPy cannot turn into one becomes an array of objects."""
    try:
        return np.asarray(value)
    except Exception:  # rows of different lengths, objects that refuse
        return np.array(None, dtype=object)


def is_stub(value):
    """Whether a value only holds a place."""
    return value is None or value is ...
