"""What the grader knows of a question and a student must not: the reference, the hidden cases, the known
mistakes.

Every Exercise of a module of assignments/reference/ is a question. A written question is not among them: a
person marks it.
"""

import runpy
from functools import cache
from types import SimpleNamespace

from plaincourse.exercises import defined

from . import course


@cache
def questions(assignment):
    """The machine-graded questions of an assignment, by name."""
    path = course.folder() / "reference" / f"{course.find(assignment).name}.py"
    return {question.name: question for question in defined(runpy.run_path(str(path)))}


@cache
def variants(assignment):
    """The functions of an assignment's variants.py, which make each student's numbers."""
    return SimpleNamespace(**runpy.run_path(str(course.folder() / "source" / assignment / "variants.py")))
