"""Exercises that say more than "wrong": each knows the mistakes that people make in it.

>>> check("sampling-top-k", my_top_k)

says whether the answer is right, not attempted yet, which known mistake it looks like, or the first case
where it is wrong. A topic module of this package lists its exercises in ``EXERCISES``.
"""

import copy
import difflib
import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from html import escape

import numpy as np

from plainformer.settings import whole

from ._answers import Problem, array, by_hand, run, taken
from ._close import close, matches
from ._words import difference


@dataclass(frozen=True)
class Mistake:
    """A mistake that people make: `answer` has the wrong behaviour, `sentence` helps whoever made it."""

    name: str
    sentence: str
    answer: Callable


@dataclass(frozen=True)
class Exercise:
    """What is asked for, how to try an answer, and the known mistakes.

    reference: the right function; it takes the arguments that the answer is to take, and no more. cases: from
    a seeded Generator to a list of argument tuples. by_hand: the answer is the value of ``reference(*case)``
    for the only case, worked out with a pencil, instead of a function. tolerance: allowed difference,
    relative and absolute.
    """

    name: str
    title: str
    reference: Callable
    cases: Callable
    mistakes: tuple = ()
    tolerance: float = 1e-9
    by_hand: bool = False

    @cached_property
    def argument_names(self):
        """The names of the reference's arguments, which the messages use."""
        return list(inspect.signature(self.reference).parameters)

    def inputs(self, seed=0):
        """The argument tuples for this seed: always the same, never none."""
        cases = [tuple(case) for case in self.cases(np.random.default_rng(seed))]
        if not cases or (self.by_hand and len(cases) != 1):
            wanted = "one case" if self.by_hand else "at least one case"
            raise ValueError(f"exercise {self.name}: cases must give {wanted}, got {len(cases)}")
        names = self.argument_names
        for case in cases:
            if len(case) != len(names):
                raise ValueError(
                    f"exercise {self.name}: the reference takes {', '.join(names)}, so every case must give"
                    f" {len(names)}, got {len(case)}; if some are optional, hand over a function that takes"
                    " only what the answer is to take"
                )
        return cases

    def outputs(self, function, seed=0, cases=None):
        """What a trusted function (the reference, a mistake) gives for each case. cases: this seed's, if they
        are at hand.
        """
        return results(function, self.inputs(seed) if cases is None else cases)

    def known(self, seed=0, cases=None):
        """What "reference" and each mistake, by name, give for each case."""
        cases = self.inputs(seed) if cases is None else cases
        functions = {"reference": self.reference} | {
            mistake.name: mistake.answer for mistake in self.mistakes
        }
        return {name: results(function, cases) for name, function in functions.items()}

    def confusable(self, seed=0):
        """Pairs of names, of mistakes and "reference", that the cases cannot tell apart. There should be
        none.
        """
        known = self.known(seed)
        names = list(known)
        pairs = [(one, other) for i, one in enumerate(names) for other in names[:i]]
        return [(one, other) for one, other in pairs if matches(known[one], known[other], self.tolerance)]


@dataclass(frozen=True)
class Verdict:
    """What `check` found. True if the answer is right."""

    title: str
    status: str  # one of HEADINGS
    message: str

    @property
    def ok(self):
        return self.status in ("right", "recorded")

    def __bool__(self):
        return self.ok

    def __repr__(self):
        return f"{self.title}: {HEADINGS[self.status]} {self.message}".rstrip()

    def _repr_html_(self):
        kind = self.status.replace(" ", "-")
        message = escape(self.message).replace("\n", "<br>")
        heading = f"<strong>{escape(self.title)}: {HEADINGS[self.status]}</strong>"
        return f'<div class="verdict verdict-{kind}">{heading} {message}</div>'


HEADINGS = {
    "right": "Right.",
    "recorded": "Recorded.",
    "not attempted": "Not attempted yet.",
    "mistake": "Not quite, and it looks like a known mistake.",
    "wrong": "Not quite.",
    "error": "Your code stopped with an error.",
    "refused": "Not allowed here.",
    "stopped": "Stopped.",
}


def results(function, cases):
    """What a trusted function gives for copies of these cases."""
    with np.errstate(all="ignore"):
        return [array(function(*map(fresh, case))) for case in cases]


def fresh(argument):
    """A copy that a function may do with what it likes. (deepcopy takes its time, and the tests make
    millions.)
    """
    if type(argument) is np.ndarray:
        return argument.copy()
    if type(argument) in (bool, int, float, str):
        return argument
    if isinstance(argument, tuple):  # also the records of plainformer
        return (
            type(argument)._make(map(fresh, argument))
            if hasattr(argument, "_make")
            else tuple(map(fresh, argument))
        )
    return copy.deepcopy(argument)


def check(name, answer, seed=0):
    """Judge an answer, whatever it is, and return a Verdict. An unknown name is a KeyError that lists the
    known ones.

    answer: the function that an exercise asks for, or the value worked by hand. seed: a whole number that
    chooses the cases.
    """
    return judge(find(name), answer, whole("check", "seed", seed, 0))


def judge(exercise, answer, seed=0):
    """Judge an answer to this exercise, and return a Verdict."""
    try:
        got = (
            [by_hand(answer)]
            if exercise.by_hand
            else run(exercise.argument_names, answer, exercise.inputs(seed))
        )
    except Problem as problem:
        return Verdict(exercise.title, *problem.args)
    return compare(exercise, got, seed)


def compare(exercise, got, seed=0):
    """The Verdict on results that were obtained somewhere else: one for each case of this seed, in order."""
    cases = exercise.inputs(seed)
    expected = exercise.outputs(exercise.reference, seed, cases)
    try:
        got = [taken(value, want, exercise.by_hand) for value, want in zip(got, expected, strict=True)]
        right = [close(one, want, exercise.tolerance) for one, want in zip(got, expected, strict=True)]
        if not all(right):
            mistake = recognized(exercise, got, seed, cases)
            if mistake:
                raise Problem("mistake", f"{mistake.name}: {mistake.sentence}")
            first = right.index(False)
            raise Problem("wrong", difference(exercise, cases[first], got[first], expected[first]))
    except Problem as problem:
        return Verdict(exercise.title, *problem.args)
    return Verdict(
        exercise.title,
        "right",
        "" if exercise.by_hand else f"All {len(cases)} cases agree with the reference.",
    )


@cache
def registry():
    """All exercises by name, from every topic module."""
    topics = [module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")]
    exercises = [
        exercise for topic in topics for exercise in importlib.import_module(f"{__name__}.{topic}").EXERCISES
    ]
    names = [exercise.name for exercise in exercises]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"more than one exercise is named {', '.join(sorted(twice))}")
    return dict(zip(names, exercises, strict=True))


def find(name):
    """The exercise with this name."""
    known = registry()
    if not isinstance(name, str) or name not in known:
        near = difflib.get_close_matches(str(name), known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise KeyError(f"no exercise named {name!r}.{hint} Known: {', '.join(sorted(known))}")
    return known[name]


def recognized(exercise, got, seed, cases):
    """The known mistake that gives these very results in every case, where it shows and where it does not; or
    None.
    """
    for mistake in exercise.mistakes:
        if matches(got, exercise.outputs(mistake.answer, seed, cases), exercise.tolerance):
            return mistake
