"""nbgrader's gradebook: what it knows of an assignment, and how a job's result gets into it."""

import glob
from contextlib import contextmanager
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.apps import NbGraderAPI
from nbgrader.preprocessors import SaveAutoGrades
from nbgrader.utils import parse_utc

from . import course
from .jobs import settings


@contextmanager
def opened():
    """The course's gradebook, closed at the end."""
    with Gradebook(url(), settings(course.folder()).CourseDirectory.course_id) as gradebook:
        yield gradebook


def url():
    return f"sqlite:///{course.folder() / 'gradebook.db'}"


def points(name):
    """The points that the gradebook gives to an assignment; None if it was never made."""
    if not (course.folder() / "gradebook.db").exists():
        return None
    with opened() as gradebook:
        try:
            assignment = gradebook.find_assignment(name)
            return assignment.max_score if assignment.notebooks else None
        except MissingEntry:
            return None


def has(task):
    """Whether there is a submission of this student."""
    with opened() as gradebook:
        try:
            return bool(gradebook.find_submission(task.assignment, task.student))
        except MissingEntry:
            return False


def record(task, notebook):
    """nbgrader's own SaveAutoGrades, on the course's gradebook."""
    enter(task)
    resources = {
        "nbgrader": {
            "student": task.student,
            "assignment": task.assignment,
            "notebook": task.assignment,
            "db_url": url(),
        }
    }
    saver = SaveAutoGrades(config=settings(course.folder()))
    saver.preprocess(nbformat.read(notebook, as_version=4), resources)


def record_nothing(task):
    """A submission without a notebook: no points, and nothing for a person to mark."""
    enter(task)
    with opened() as gradebook:
        for grade in gradebook.find_submission_notebook(
            task.assignment, task.assignment, task.student
        ).grades:
            grade.auto_score, grade.needs_manual_grade = 0, False
        gradebook.db.commit()


def enter(task):
    """The student and the submission, with its time if nbgrader's exchange noted it."""
    timestamp = handed_in_at(Path(task.folder) / "timestamp.txt")
    with opened() as gradebook:
        gradebook.update_or_create_student(task.student)
        gradebook.update_or_create_submission(
            task.assignment, task.student, **({"timestamp": timestamp} if timestamp else {})
        )


def handed_in_at(path):
    """The time in a file of nbgrader's exchange; None without one, or if it holds no time."""
    if not path.is_file() or path.is_symlink() or path.stat().st_size > 200:
        return None
    try:
        return parse_utc(path.read_text(encoding="utf-8").strip())
    except Exception:  # dateutil raises what it likes
        return None


def state(task):
    """Everything that a student's feedback shows of the gradebook."""
    with opened() as gradebook:
        notebook = gradebook.find_submission_notebook(task.assignment, task.assignment, task.student)
        grades = sorted(
            (grade.name, grade.auto_score, grade.manual_score, grade.extra_credit)
            for grade in notebook.grades
        )
        comments = sorted((comment.name, comment.comment) for comment in notebook.comments)
        penalty = notebook.late_submission_penalty
    fingerprint = (task.kept / "result.json").read_text(encoding="utf-8")
    return [fingerprint, penalty, [list(grade) for grade in grades], [list(comment) for comment in comments]]


def feedback(task):
    """nbgrader's generate_feedback for one student."""
    api = NbGraderAPI(config=settings(course.folder()))
    outcome = api.generate_feedback(task.assignment, glob.escape(task.student))
    if not outcome["success"]:
        raise RuntimeError(
            "nbgrader could not write feedback for"
            f" {task.student!r}:\n{outcome.get('error', '')}{outcome.get('log', '')}"
        )
