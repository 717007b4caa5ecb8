"""One independent job for each submission: graded in a throw-away course, its result kept, so that nothing is
graded twice.

A job needs only the course's folder, so it can run in any process on any machine that sees it.
"""

import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import nbformat
from nbgrader.apps import NbGraderAPI
from nbgrader.utils import is_grade
from sqlalchemy.exc import SAWarning
from traitlets.config import Config, PyFileConfigLoader

from . import course, reading, submission

RESULT = "result.json"
NOTES = ("timestamp.txt", "submission_secret.txt")  # of nbgrader's exchange
warnings.filterwarnings(
    "ignore", category=SAWarning
)  # SQLAlchemy 2.1 on what nbgrader does with its sessions


@dataclass(frozen=True)
class Task:
    """What a job needs to know. limits: traits of `execute.Judge`: timeout, budget, memory."""

    assignment: str
    student: str
    folder: str
    limits: tuple = ()

    @property
    def kept(self):
        """Where the result goes."""
        return course.folder() / ".grading" / self.assignment / slug(self.student)


def slug(student):
    """A folder's name for any student id: what is plain in it, and a hash that tells apart what is not."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", student)[:40]
    return f"{plain}-{hashlib.sha256(student.encode()).hexdigest()[:8]}"


def fingerprint(task):
    """A hash of everything that the marks depend on: the submission, the questions, the limits, the
    grader.
    """
    own = course.folder() / "source" / task.assignment
    reference = course.folder() / "reference" / f"{task.assignment}.py"
    paths = [path for path in submission.files(own) if path.suffix != ".ipynb"]
    paths += [reference, *sorted(Path(__file__).parent.glob("*.py"))]
    return hashed(repr((task.student, task.limits, work(task), asked(task.assignment))), paths)


def asked(name):
    """What the assignment's notebook asks: its cells, whatever saving it in a program does to the file."""
    path = course.folder() / "source" / name / f"{name}.ipynb"
    return asked_by(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=20)
def asked_by(path, changed):
    nb = nbformat.read(path, as_version=4)
    return [(cell.cell_type, cell.source, cell.metadata.get("nbgrader")) for cell in nb.cells]


def work(task):
    """A hash of what was handed in."""
    folder = Path(task.folder)
    return hashed("", [] if submission.too_much(folder) else submission.files(folder))


def hashed(text, paths):
    digest = hashlib.sha256(text.encode())
    for path in paths:
        digest.update(os.fsencode(path.name) + b"\0" + path.read_bytes())
    return digest.hexdigest()


def finished(task):
    """The result that is already there for this very submission, or None."""
    try:
        result = json.loads((task.kept / RESULT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return result if result.get("fingerprint") == fingerprint(task) else None


def grade(task):
    """Grade one submission and keep the result. `reading.Unclear` where a person must say what is meant."""
    done = finished(task)
    if done:
        return done
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="grade", ignore_cleanup_errors=True) as place:
        nb, notes = reading.read(Path(task.folder), task.assignment)
        notes = [*notes, *suspicions(nb, task.student)]
        autograded = autograde(task, nb, Path(place))
    tests = [cell for cell in autograded.cells if is_grade(cell) and cell.cell_type == "code"]
    shown = [
        output for cell in tests for output in cell.outputs if "plaincourse" in output.get("metadata", {})
    ]
    result = {
        "student": task.student,
        "assignment": task.assignment,
        "fingerprint": fingerprint(task),
        "work": work(task),
        "notes": [*notes, *beside(autograded)],
        "marks": [output.metadata.plaincourse for output in shown],
        "seconds": round(time.monotonic() - start, 1),
    }
    keep(task, result, autograded)
    return result


def beside(nb):
    """A note for each answer that stood in a new cell."""
    cells = [cell for cell in nb.cells if cell.metadata.get("plaincourse", {}).get("beside")]
    return [
        f"{cell.metadata.nbgrader.grade_id}: the answer stood in a new cell beside its own" for cell in cells
    ]


def suspicions(nb, student):
    """What a person should look at."""
    declared = submission.declared_student(submission.own_sources(nb).values())
    if declared is not None and not declared.strip():
        return ["STUDENT is not filled in"]
    return (
        [f"the notebook says STUDENT = {declared!r}"]
        if submission.is_other_student(declared, student)
        else []
    )


def autograde(task, nb, place):
    """The notebook as nbgrader's autograder leaves it, in a course of its own at ``place`` with a copy of the
    gradebook.
    """
    shutil.copy(course.folder() / "gradebook.db", place)
    own = course.folder() / "source" / task.assignment
    submission.copy(own, place / "source" / task.assignment)
    desk = place / "submitted" / "student" / task.assignment
    desk.mkdir(parents=True)
    submission.copy(Path(task.folder), desk, leave_out={*NOTES, *(path.name for path in own.iterdir())})
    nbformat.write(nb, desk / f"{task.assignment}.ipynb")
    api = NbGraderAPI(config=settings(place, task))
    outcome = api.autograde(task.assignment, "student")
    path = place / "autograded" / "student" / task.assignment / f"{task.assignment}.ipynb"
    if not outcome["success"] or not path.exists():
        raise RuntimeError(
            "nbgrader could not autograde"
            f" {task.student!r}:\n{outcome.get('error', '')}{outcome.get('log', '')}"
        )
    return nbformat.read(path, as_version=4)


def settings(root, task=None):
    """The course's own settings, with another root and this job's limits."""
    programs = str(
        Path(sys.executable).parent
    )  # nbgrader calls alembic by its name, also where no environment is activated
    if programs not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([programs, os.environ.get("PATH", "")])
    config = PyFileConfigLoader("nbgrader_config.py", str(course.folder())).load_config()
    config.CourseDirectory.root = str(root)
    if task:
        config.Judge = Config(dict(task.limits, student=task.student))
    config.NbGraderAPI.log_level = "WARN"
    return config


def keep(task, result, autograded):
    """Put the result in its place at once, so that a job that is killed leaves nothing half-written."""
    task.kept.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=".", dir=task.kept.parent))
    if autograded is not None:
        nbformat.write(autograded, fresh / f"{task.assignment}.ipynb")
    (fresh / RESULT).write_text(json.dumps(result, ensure_ascii=False, indent=1), encoding="utf-8")
    shutil.rmtree(task.kept, ignore_errors=True)
    os.replace(fresh, task.kept)
