"""The guide's worked example, done as it says: a new assignment from its files and cells to marks, with its
rule for late work.
"""

import csv
import os
import re
import shutil
import subprocess
import sys

import nbformat
import pytest
from instructors_guide import GUIDE, files, notebook
from project import ROOT

if not os.environ.get("CI"):
    pytest.importorskip("nbgrader", reason="pip install -r requirements-instructor.txt")

NAME = "extra_rms"
SLIPS = {"q1": "q1 = np.std(x)", "q2": "def root_mean_square(x):\n    return np.sqrt(np.mean(x**2))"}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A copy of the repository's frame with the example in it."""
    place = tmp_path_factory.mktemp("example")
    (place / "assignments").mkdir()
    shutil.copy(ROOT / "assignments/nbgrader_config.py", place / "assignments")
    (place / "tests/assignments").mkdir(parents=True)
    shutil.copy(ROOT / "tests/assignments/test_questions.py", place / "tests/assignments")
    for path, text in files():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        with (place / path).open("a", encoding="utf-8") as file:
            file.write(text.replace("04_mlp", NAME))  # the rule for late work is shown for that one
    nbformat.write(notebook(), place / "assignments/source" / NAME / f"{NAME}.ipynb")
    return place


def run(place, *command):
    """Run Python with this course in place of the repository's."""
    paths = os.pathsep.join(str(ROOT / folder) for folder in ("src", "tests"))
    settings = {"PLAINGRADER_COURSE": str(place / "assignments"), "PYTHONPATH": paths}
    done = subprocess.run(
        [sys.executable, *command],
        cwd=place / "assignments",
        env=os.environ | settings,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def hand_in(place, student, answers, when):
    """Hand in the released notebook with these answers, by grade id."""
    released = place / "assignments/release" / NAME
    folder = place / "assignments/submitted" / student / NAME
    shutil.copytree(released, folder)
    nb = nbformat.read(released / f"{NAME}.ipynb", as_version=4)
    for cell in nb.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell.source = answers.get(grade_id, cell.source.replace('STUDENT = ""', f'STUDENT = "{student}"'))
    nbformat.write(nb, folder / f"{NAME}.ipynb")
    (folder / "timestamp.txt").write_text(when, encoding="utf-8")


@pytest.fixture(scope="module")
def marks(place):
    """The marks of two students: lee, who makes two mistakes, and kim, who makes none and is two days
    late.
    """
    run(place, "-m", "plaingrader", "release", NAME)
    run(place, "-m", "nbgrader", "db", "assignment", "add", NAME, "--duedate=2027-03-20 23:59 UTC")
    solutions = {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in notebook().cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    }
    hand_in(place, "kim", solutions, "2027-03-22 10:00 UTC")
    hand_in(place, "lee", SLIPS, "2027-03-20 10:00 UTC")
    run(place, "-m", "plaingrader", "grade", NAME, "--workers", "2")
    with (place / f"dist/marks-{NAME}.csv").open(encoding="utf-8-sig", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def test_the_example_s_questions_are_fit(place):
    out = run(
        place,
        "-m",
        "pytest",
        "-q",
        "-c",
        os.devnull,
        "--rootdir",
        str(place),
        "-p",
        "no:cacheprovider",
        str(place / "tests/assignments"),
        "-k",
        NAME,
    )
    assert re.search(r"\b11 passed\b", out), out


def test_the_conditions_on_the_numbers_are_needed(place):
    """The guide says that without them the proof fails."""
    path = place / "assignments/source" / NAME / "variants.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"if np\.ptp.*:", "if True:", text), encoding="utf-8")
    try:
        with pytest.raises(AssertionError, match="test_every_variant_is_well_posed"):
            test_the_example_s_questions_are_fit(place)
    finally:
        path.write_text(text, encoding="utf-8")


def test_the_marks_are_those_that_the_guide_promises(marks):
    assert (marks["kim"]["q1"], marks["kim"]["q2"], marks["kim"]["q3"]) == ("2", "4", "")
    assert (marks["lee"]["q1"], marks["lee"]["q2"]) == ("0", "2")
    promised = re.search(r"The feedback says: \*(.*)\*", GUIDE)[1]
    assert marks["lee"]["q2 message"].endswith(promised)


def test_the_rule_for_late_work_holds(marks):
    assert float(marks["kim"]["late"]) == pytest.approx(-2 * 6 / 10) and float(marks["lee"]["late"]) == 0


def test_the_bundle_has_no_solution(place, marks):
    released = (place / "assignments/release" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8")
    assert "BEGIN SOLUTION" not in released and "Rubric" not in released
