"""A course in a throw-away folder, and what a grading of it needs."""

import hashlib
import os

import pytest

pytest.importorskip("nbgrader", reason="pip install -r requirements-instructor.txt", exc_type=ImportError) if not os.environ.get("CI") else None

import nbformat  # noqa: E402
import tiny  # noqa: E402
from plaingrader import course, questions, sandbox  # noqa: E402


@pytest.fixture(scope="module")
def tiny_course(tmp_path_factory):
    """The tiny course, released."""
    root = tmp_path_factory.mktemp("place") / "assignments"
    tiny.lay_out(root)
    before = os.environ.get("PLAINGRADER_COURSE")
    os.environ["PLAINGRADER_COURSE"] = str(root)  # the workers of a grading are processes of their own
    forget()
    from plaingrader.release import assign

    assign(tiny.NAME)
    yield root
    os.environ.pop("PLAINGRADER_COURSE") if before is None else os.environ.update(PLAINGRADER_COURSE=before)
    forget()


def forget():
    """What was read of another course."""
    course.assignments.cache_clear()
    questions.questions.cache_clear()
    questions.variants.cache_clear()


@pytest.fixture(scope="module")
def released(tiny_course):
    """The notebook that students get."""
    return nbformat.read(tiny_course / "release" / tiny.NAME / f"{tiny.NAME}.ipynb", as_version=4)


@pytest.fixture(scope="module")
def boxed():
    """Only where the full box is there. In continuous integration it must be."""
    if sandbox.isolation() != "full" and not os.environ.get("CI"):
        pytest.skip("without bubblewrap the students' code is not walled in; on Debian or Ubuntu: apt-get install bubblewrap")
    assert sandbox.isolation() == "full"


def snapshot(folder):
    """A hash of every file under a folder."""
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.rglob("*")) if path.is_file()}
