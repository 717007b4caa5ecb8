"""What the grader knows of a question and a student must not: the reference, the hidden cases, the known
mistakes.

Every Exercise of a module of assignments/reference/ is a question. A written question is not among them: a
person marks it.
"""

import runpy
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import nbformat
from nbgrader.utils import is_solution

from plaincourse.exercises import defined

from . import course


@cache
def questions(assignment):
    """The machine-graded questions of an assignment, by name."""
    path = course.folder() / "reference" / f"{course.find(assignment).name}.py"
    points = {item.name: item.points for item in course.find(assignment).items}
    found = defined(runpy.run_path(str(path)))
    return {question.name: worth(question, points.get(question.name, question.points)) for question in found}


def worth(question, points):
    """The question at the points that the map gives it, its properties in the proportion that they had."""
    if points == question.points:
        return question
    shares = [round(part.points * points / question.points, 2) for part in question.properties]
    shares[-1] = round(points - sum(shares[:-1]), 2)
    parts = zip(question.properties, shares, strict=True)
    return replace(question, cases=tuple(replace(part, points=share) for part, share in parts))


@cache
def variants(assignment):
    """The functions of an assignment's variants.py, which make each student's numbers."""
    return SimpleNamespace(**runpy.run_path(str(course.folder() / "source" / assignment / "variants.py")))


@cache
def rubrics(assignment):
    """The rubric of each written question by name: what stands behind "Rubric:" in the cell of its model
    answer.
    """
    nb = nbformat.read(course.folder() / "source" / assignment / f"{assignment}.ipynb", as_version=4)
    cells = [cell for cell in nb.cells if cell.cell_type == "markdown" and is_solution(cell)]
    texts = {cell.metadata.nbgrader.grade_id: cell.source.partition("Rubric:")[2] for cell in cells}
    return {
        name: text.partition("### END SOLUTION")[0].strip() for name, text in texts.items() if text.strip()
    }
