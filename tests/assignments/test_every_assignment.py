"""Each real assignment through the real nbgrader: the instructor's own answers get all points, the untouched
notebook none.
"""

import shutil

import nbformat
import pytest
from project import ROOT

from plaingrader import course, jobs
from plaingrader.release import assign

NAMES = list(course.assignments())
STUDENT = "이 지은"


@pytest.fixture(scope="module")
def copied_course(tmp_path_factory, course_at):
    """The real course in a throw-away folder."""
    root = tmp_path_factory.mktemp("real") / "assignments"
    shutil.copytree(
        ROOT / "assignments",
        root,
        ignore=shutil.ignore_patterns(
            "submitted", ".grading", "autograded", "feedback", "release", "gradebook.db*"
        ),
    )
    course_at(root)
    return root


def handed_in(root, kind, name, nb):
    """A task for this notebook, with the student's id in it."""
    for cell in nb.cells:
        cell.source = cell.source.replace('STUDENT = ""', f"STUDENT = {STUDENT!r}")
    folder = root / "submitted" / kind / STUDENT / name
    folder.mkdir(parents=True)
    nbformat.write(nb, folder / f"{name}.ipynb")
    return jobs.Task(name, STUDENT, str(folder))


@pytest.mark.parametrize("name", NAMES)
def test_right_answers_get_all_points_and_stubs_none(copied_course, name):
    handed_out = assign(name)
    machine = {item.name: item.points for item in course.find(name).items if item.kind != "written"}
    right = jobs.grade(
        handed_in(
            copied_course,
            "right",
            name,
            nbformat.read(copied_course / "source" / name / f"{name}.ipynb", as_version=4),
        )
    )
    assert {mark["question"]: mark["points"] for mark in right["marks"]} == machine, [
        mark for mark in right["marks"] if mark["status"] != "right"
    ]
    shutil.rmtree(jobs.Task(name, STUDENT, "").kept)
    stub = jobs.grade(
        handed_in(copied_course, "stub", name, nbformat.read(handed_out / f"{name}.ipynb", as_version=4))
    )
    assert {mark["question"]: (mark["points"], mark["status"]) for mark in stub["marks"]} == dict.fromkeys(
        machine, (0, "not attempted")
    )
