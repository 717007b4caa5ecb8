"""What the grader knows of a question and a student must not: the reference, the hidden cases, the known
mistakes.

A module of assignments/reference/ lists its questions in ``QUESTIONS``. A written question is not among them:
a person marks it.
"""

import runpy
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from types import SimpleNamespace

from plaincourse.exercises import Exercise

from . import course


@dataclass(frozen=True)
class Property:
    """Part of a question with points of its own: the answer must be right on all of these cases."""

    name: str
    points: float
    cases: Callable  # from a Generator to a list of argument tuples


@dataclass(frozen=True)
class Question:
    """A question that is graded by machine.

    answer: the name that the notebook gives to the function or the value. properties: what earns points, in
    order. refuse: dotted names that the answer may not use, each the very thing asked for. handed_out: for a
    function to be mended, its broken form. posed: whether numbers are fit to be asked for (no tie, no
    accidental zero).
    """

    name: str
    title: str
    answer: str
    reference: Callable
    properties: tuple[Property, ...]
    mistakes: tuple
    tolerance: float = 1e-9
    by_hand: bool = False
    refuse: tuple[str, ...] = ()
    handed_out: Callable | None = None
    posed: Callable | None = None

    @property
    def points(self):
        return sum(part.points for part in self.properties)

    def exercise(self, *parts):
        """The Exercise of these properties, by default of all: their cases one after the other."""

        def cases(rng):
            return [case for part in parts or self.properties for case in part.cases(rng)]

        return Exercise(
            self.name, self.title, self.reference, cases, self.mistakes, self.tolerance, self.by_hand
        )


@cache
def questions(assignment):
    """The machine-graded questions of an assignment, by name."""
    path = course.folder() / "reference" / f"{course.find(assignment).name}.py"
    points = {item.name: item.points for item in course.find(assignment).items}
    found = runpy.run_path(str(path))["QUESTIONS"]
    return {question.name: worth(question, points.get(question.name, question.points)) for question in found}


def worth(question, points):
    """The question at the points that the map gives it, its properties in the proportion that they had."""
    if points == question.points:
        return question
    shares = [round(part.points * points / question.points, 2) for part in question.properties]
    shares[-1] = round(points - sum(shares[:-1]), 2)
    parts = zip(question.properties, shares, strict=True)
    return replace(question, properties=tuple(replace(part, points=share) for part, share in parts))


@cache
def variants(assignment):
    """The functions of an assignment's variants.py, which make each student's numbers."""
    return SimpleNamespace(**runpy.run_path(str(course.folder() / "source" / assignment / "variants.py")))
