"""A grading without a kernel, for tests of what happens around the marks: a test says what they are."""

import nbformat
from nbformat.v4 import new_output
from nbgrader.api import Gradebook
from nbgrader.utils import is_grade, is_solution

from plaingrader import course, mend
from plaingrader.questions import questions


def autograde_as(share):
    """In place of `plaingrader.jobs.autograde`: every question that a machine marks gets this share."""

    def autograde(task, nb, place):
        with Gradebook(f"sqlite:///{course.folder() / 'gradebook.db'}") as book:
            handed_out = mend.originals(book.find_notebook(task.assignment, task.assignment))
        nb = nbformat.from_dict(nb)
        nb.cells = mend.mended(nb.cells, handed_out)
        for cell in nb.cells:
            if is_grade(cell) and not is_solution(cell):
                question = questions(task.assignment)[cell.metadata.nbgrader.grade_id.removesuffix("-test")]
                mark = {
                    "question": question.name,
                    "title": question.title,
                    "points": share * question.points,
                    "most": question.points,
                    "status": "right" if share == 1 else "wrong",
                    "mistake": "",
                    "message": "",
                }
                points = {"text/plain": repr(float(mark["points"]))}
                shown = {"text/plain": "verdict", "text/html": "<div>verdict</div>"}
                cell.outputs = [
                    new_output("display_data", shown, metadata={"plaincourse": mark}),
                    new_output("execute_result", points, execution_count=1),
                ]
        return nb

    return autograde
