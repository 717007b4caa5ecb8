"""nbgrader's gradebook: what it knows of an assignment, and how a job's result gets into it."""

from contextlib import contextmanager
from pathlib import Path

import nbformat
from nbconvert.exporters import HTMLExporter
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.preprocessors import SaveAutoGrades
from nbgrader.server_extensions.formgrader.handlers import template_path as NBGRADERS
from nbgrader.utils import parse_utc

from . import course
from .jobs import settings

BOOTSTRAP = Path(NBGRADERS).parent / "static/node_modules/bootstrap/dist/css"


@contextmanager
def opened():
    """The course's gradebook, closed at the end."""
    with Gradebook(url(), settings(course.folder()).CourseDirectory.course_id) as gradebook:
        yield gradebook


def url():
    return f"sqlite:///{course.folder() / 'gradebook.db'}"


def points(name):
    """The points that the gradebook gives to each question of an assignment; none if it was never made."""
    if not (course.folder() / "gradebook.db").exists():
        return {}
    with opened() as gradebook:
        try:
            notebooks = gradebook.find_assignment(name).notebooks
        except MissingEntry:
            return {}
        cells = [cell for notebook in notebooks for cell in notebook.grade_cells]
        return {cell.name.removesuffix("-test"): cell.max_score for cell in cells}


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
    saver = SaveAutoGrades(config=settings(course.folder()))
    saver.preprocess(nbformat.read(notebook, as_version=4), about(task))


def to_be_marked(task):
    """The answers that wait for a person."""
    with opened() as gradebook:
        notebook = gradebook.find_submission_notebook(task.assignment, task.assignment, task.student)
        return {grade.name for grade in notebook.grades if grade.needs_manual_grade}


def about(task):
    """What nbgrader's preprocessors want to know."""
    ids = {"student": task.student, "assignment": task.assignment, "notebook": task.assignment}
    return {"nbgrader": ids | {"db_url": url()}}


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
    """Write nbgrader's feedback page of one student, whatever the student's id: nbgrader's own command
    takes ids for patterns of file names.
    """
    config = settings(course.folder())
    config.Exporter.default_preprocessors = []
    config.HTMLExporter.update(template_name="feedback", extra_template_paths=[str(BOOTSTRAP)])
    exporter = HTMLExporter(config=config)
    for preprocessor in config.GenerateFeedback.preprocessors:
        exporter.register_preprocessor(preprocessor, enabled=True)
    place = Path(task.student) / task.assignment / task.assignment
    nb = nbformat.read(course.folder() / "autograded" / f"{place}.ipynb", as_version=4)
    waiting = to_be_marked(task)  # whose rubrics would tell the answer before it is marked
    nb.cells = [cell for cell in nb.cells if cell.metadata.get("rubric") not in waiting]
    page, _ = exporter.from_notebook_node(nb, about(task))
    path = course.folder() / "feedback" / f"{place}.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
