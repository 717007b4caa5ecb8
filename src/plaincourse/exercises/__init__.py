"""Exercises that say more than "wrong": each knows the mistakes that people make in it.

>>> check("sampling-top-k", my_top_k)

says whether the answer is right, not attempted yet, which known mistake it looks like, or the first case
where it is wrong. Every Exercise of a topic module of this package is one.
"""

import difflib
import importlib
import pkgutil
from dataclasses import dataclass
from functools import cache
from html import escape

from plainformer.settings import whole

from ._answers import Problem, by_hand, run, taken
from ._close import close
from ._exercise import Exercise, Mistake, Property, defined, the_value
from ._words import difference

__all__ = ["Exercise", "Mistake", "Property", "Verdict", "check", "defined", "judge", "registry", "the_value"]


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


def check(name, answer, seed=0):
    """Judge an answer, whatever it is, and return a Verdict. An unknown name is a KeyError that lists the
    known ones.

    answer: the function that an exercise asks for, or the value worked by hand. seed: a whole number that
    chooses the cases.
    """
    return judge(find(name), answer, whole("check", "seed", seed, least=0))


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
    expected = exercise.outputs(exercise.reference, cases=cases)
    try:
        got = [taken(value, want, exercise.by_hand) for value, want in zip(got, expected, strict=True)]
        right = [close(one, want, exercise.tolerance) for one, want in zip(got, expected, strict=True)]
        if not all(right):
            mistake = exercise.recognized(got, cases)
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
        exercise
        for topic in topics
        for exercise in defined(vars(importlib.import_module(f"{__name__}.{topic}")))
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
