"""Beside the student's code, when it is graded: call the answer and hand its results over as data.

Nothing here says right or wrong, and nothing that it says is believed: the grader, in a process of its own,
compares the data with a reference that this process cannot read.
"""

import functools
import importlib
import sys

from plaincourse.exercises._answers import Problem, by_hand, run

from .codec import decode, encode

refusing, refused = (
    set(),
    set(),
)  # dotted names: what the present question does not allow, and what its answer called all the same


class Refused(Exception):
    """The answer called the very function that it was to write."""


def guard(names):
    """From now on these functions of plainformer refuse to be called by an answer that is to be one of
    them.
    """
    for name in names:
        module, _, attribute = name.rpartition(".")
        if module.split(".")[0] != "plainformer":
            continue
        original = getattr(importlib.import_module(module), attribute)
        for holder in [module for key, module in sys.modules.items() if key.split(".")[0] == "plainformer"]:
            for key, value in list(vars(holder).items()):
                if value is original:
                    setattr(holder, key, guarded(name, original))


def guarded(name, function):
    """The function, closed to whoever is not plainformer itself while its question is graded."""

    @functools.wraps(function)
    def wrapper(*arguments, **named):
        caller = sys._getframe(1).f_globals.get("__name__", "")
        if name in refusing and caller.split(".")[0] != "plainformer":
            refused.add(name)
            raise Refused(f"{name} is refused by this question")
        return function(*arguments, **named)

    return wrapper


def results(namespace, name, wants_value, argument_names, groups, refuse=()):
    """What the answer of this name gives: for each group of cases its status, with a message or with encoded
    values.

    namespace: the notebook's. wants_value: the answer is a value, not a function. groups: lists of encoded
    cases.
    """
    refusing.update(refuse)
    try:
        return [obtained(namespace, name, wants_value, argument_names, group) for group in groups]
    finally:
        refusing.clear()


def obtained(namespace, name, wants_value, argument_names, group):
    """The result for one group of cases."""
    refused.clear()
    try:
        if name not in namespace:
            raise Problem(
                "not attempted", f"The notebook defines no {name}. Did its cell stop with an error?"
            )
        answer = namespace[name]
        values = (
            [by_hand(answer)]
            if wants_value
            else run(argument_names, answer, [decode(case) for case in group])
        )
        return {"status": "ran", "values": [encode(taken(value)) for value in values]}
    except Problem as problem:
        status, message = problem.args
        if refused:
            status, message = (
                "refused",
                (
                    f"Your answer calls {sorted(refused)[0]}, which this question refuses: use your own lines"
                    " instead."
                ),
            )
        return {"status": status, "message": message}
    except Exception as error:
        return {"status": "wrong", "message": f"Your result cannot be read: {str(error)[:300]}."}


def taken(value):
    """The value, if it can be compared."""
    if type(value).__module__.partition(".")[0] == "torch":
        raise TypeError("expected a NumPy array or a number, got a PyTorch tensor; end with .numpy()")
    return value
