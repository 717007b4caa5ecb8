"""A course in a throw-away folder, and what a grading of it needs."""

import importlib.util
import os
import shutil
import warnings

import nbformat
import pytest
import tiny_course as tiny
from filelock import FileLock
from throwaway import forget

from plaingrader import sandbox

if importlib.util.find_spec("nbgrader") is None and not os.environ.get("CI"):
    collect_ignore_glob = ["test_*.py"]
    warnings.warn(
        "the tests of grading are left out: pip install -r requirements-instructor.txt", stacklevel=1
    )


@pytest.fixture(scope="module")
def course_at():
    """Make the course in this folder the one that plaingrader works on, until the module ends."""
    with pytest.MonkeyPatch.context() as patch:

        def course_at(root):
            patch.setenv("PLAINGRADER_COURSE", str(root))  # a grading's workers are processes of their own
            forget()

        yield course_at
    forget()


@pytest.fixture(scope="module")
def tiny_released(shared, tmp_path_factory, course_at):
    """The tiny course, released by the first test of a run that asks; to be copied, as it takes long."""
    with FileLock(shared / "tiny.lock"):
        if not (shared / "tiny").exists():
            made = tmp_path_factory.mktemp("made") / "assignments"
            tiny.lay_out(made)
            course_at(made)
            from plaingrader.release import assign

            assign(tiny.NAME)
            shutil.copytree(made, shared / "tiny")
    return shared / "tiny"


@pytest.fixture(scope="module")
def tiny_course(tiny_released, tmp_path_factory, course_at):
    """A tiny course for all tests of a module, released."""
    root = tmp_path_factory.mktemp("place") / "assignments"
    shutil.copytree(tiny_released, root)
    course_at(root)
    return root


@pytest.fixture(scope="module")
def released(tiny_course):
    """The notebook that students get."""
    return nbformat.read(tiny_course / "release" / tiny.NAME / f"{tiny.NAME}.ipynb", as_version=4)


@pytest.fixture(scope="module")
def boxed():
    """Only where the full box is there. In continuous integration it must be."""
    if sandbox.isolation() != "full" and not os.environ.get("CI"):
        pytest.skip(
            "without bubblewrap the students' code is not walled in; on Debian or Ubuntu: apt-get install"
            " bubblewrap"
        )
    assert sandbox.isolation() == "full"
