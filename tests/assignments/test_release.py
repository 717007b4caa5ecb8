"""What students get of every real assignment: complete, and without a solution."""

import hashlib
import re
import shutil
import zipfile

import nbformat
import numpy as np
import pytest
from planting import CANARY, holders, plant
from project import ROOT

from plaincourse.assigned import Sheet
from plaingrader import course
from plaingrader.questions import questions

NAMES = list(course.assignments())


@pytest.fixture(scope="module")
def place(tmp_path_factory, course_at):
    """A folder with the real course in it, and a canary in every solution."""
    root = tmp_path_factory.mktemp("bundles") / "assignments"
    kept = ("source", "reference", "nbgrader_config.py", "course.toml")
    root.mkdir()
    for name in kept:
        path = ROOT / "assignments" / name
        shutil.copytree(path, root / name) if path.is_dir() else shutil.copy(path, root)
    assert plant(root) > 6 * len(NAMES)
    course_at(root)
    return root.parent


@pytest.fixture(scope="module")
def bundle(place):
    """The folder that students get of an assignment, unpacked."""
    from plaingrader.release import release

    def bundle(name):
        folder = place / "out" / name
        if not folder.exists():
            with zipfile.ZipFile(release(name)) as archive:
                archive.extractall(folder.parent)
        return folder

    return bundle


def released(folder):
    return nbformat.read(folder / f"{folder.name}.ipynb", as_version=4)


@pytest.mark.parametrize("name", NAMES)
def test_a_bundle_holds_no_solution_and_no_grader(bundle, name):
    folder = bundle(name)
    assert holders(folder) == []
    for path in folder.rglob("*"):
        assert "plaingrader" not in path.parts and path.name not in ("course.toml", "gradebook.db")


@pytest.mark.parametrize("name", NAMES)
def test_a_bundle_is_complete_and_its_checksum_right(place, bundle, name):
    folder, archive = bundle(name), place / "dist" / f"{name}-student.zip"
    assert {path.name for path in folder.iterdir()} >= {
        f"{name}.ipynb",
        "README.md",
        "variants.py",
        "visible.json",
    }
    assert len(list(folder.glob("plain_transformer-*.whl"))) == 1
    digest, file = archive.with_name(f"{archive.name}.sha256").read_text(encoding="utf-8").split()
    assert file == archive.name and digest == hashlib.sha256(archive.read_bytes()).hexdigest()


@pytest.mark.parametrize("name", NAMES)
def test_a_released_notebook_has_stubs_and_no_output(bundle, name):
    nb = released(bundle(name))
    text = nbformat.writes(nb)
    assert "BEGIN SOLUTION" not in text and CANARY not in text
    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in nb.cells)
    answers = [cell for cell in nb.cells if cell.metadata.get("nbgrader", {}).get("solution")]
    assert answers and all("your answer here" in cell.source.lower() for cell in answers)


@pytest.mark.parametrize("name", NAMES)
def test_the_map_the_notebook_and_the_grader_agree(name):
    nb = nbformat.read(ROOT / "assignments/source" / name / f"{name}.ipynb", as_version=4)
    graded = {}
    for cell in nb.cells:
        data = cell.metadata.get("nbgrader", {})
        if data.get("grade"):
            graded[data["grade_id"].removesuffix("-test")] = data["points"]
    items = {item.name: item for item in course.find(name).items}
    assert graded == {item.name: item.points for item in items.values()}
    assert questions(name).keys() == {item.name for item in items.values() if item.kind != "written"}
    for question in questions(name).values():
        assert question.points == items[question.name].points
        assert question.by_hand == (items[question.name].kind == "by hand")
        assert (question.handed_out is not None) == (items[question.name].kind == "mend")
        assert question.title == items[question.name].title
    assert sum(item.kind == "written" for item in items.values()) == 1
    assert 6 <= len(items) <= 10


@pytest.mark.parametrize("name", NAMES)
def test_the_title_tells_the_totals(name):
    nb = nbformat.read(ROOT / "assignments/source" / name / f"{name}.ipynb", as_version=4)
    items = course.find(name).items
    points, minutes = sum(item.points for item in items), sum(item.minutes for item in items)
    assert f"{len(items)} questions, {points:g} points, about {minutes:g} minutes." in nb.cells[0].source
    assert len(re.findall(r"\d points", nb.cells[0].source)) == 1


@pytest.mark.parametrize("name", NAMES)
def test_a_heading_tells_what_the_map_tells(name):
    """The title, points and minutes. Outside the projects, a heading may say what is to be done in place of
    the title.
    """
    nb = nbformat.read(ROOT / "assignments/source" / name / f"{name}.ipynb", as_version=4)
    pattern = r"## Question (\d+): (.*) \((\d+) points, (\d+) minutes\)$"
    found = [
        re.search(pattern, cell.source, re.MULTILINE) for cell in nb.cells if "## Question" in cell.source
    ]
    items = course.find(name).items
    assert [f"q{heading[1]}" for heading in found] == [item.name for item in items]
    for heading, item in zip(found, items, strict=True):
        assert (float(heading[3]), float(heading[4])) == (item.points, item.minutes), item.name
        instead = {"mend": "mend it", "written": "in your own words"}.get(item.kind)
        if name.startswith("project") or not (instead and heading[2].endswith(instead)):
            assert heading[2].lower() == item.title.lower()


@pytest.mark.parametrize("name", NAMES)
def test_the_map_points_into_the_chapter(name):
    assignment = course.find(name)
    nb = nbformat.read(ROOT / "chapters" / f"{assignment.chapter}.ipynb", as_version=4)
    text = " ".join(re.sub(r"[*`]", "", cell.source) for cell in nb.cells if cell.cell_type == "markdown")
    headings = set(
        re.findall(
            r"^#+ (.*)$",
            "\n".join(cell.source for cell in nb.cells if cell.cell_type == "markdown"),
            re.MULTILINE,
        )
    )
    for item in assignment.items:
        assert item.section in headings, (item.name, item.section)
        assert re.sub(r"[*`]", "", item.objective) in text, (item.name, item.objective)
        assert item.minutes > 0 and item.points > 0


@pytest.mark.parametrize("name", NAMES)
def test_visible_checks_know_right_from_wrong_without_a_solution(bundle, name):
    sheet = Sheet(name, "kim", bundle(name))
    for question in questions(name).values():
        if question.by_hand:
            numbers = sheet.numbers(question.name)
            case = numbers if isinstance(numbers, tuple) else (numbers,)
            assert sheet.check(question.name, question.reference(*case)).status == "recorded"
            continue
        assert sheet.check(question.name, question.reference).status == "right"
        assert sheet.check(question.name, lambda *arguments: None).status == "not attempted"
        named = [sheet.check(question.name, mistake.answer).status for mistake in question.mistakes]
        assert set(named) == {"mistake"}


def test_hidden_cases_are_not_the_visible_ones():
    from plaingrader import marks
    from plaingrader.release import VISIBLE_SEED

    for name in NAMES:
        for question in questions(name).values():
            if not question.by_hand:
                assert marks.hidden_seed(question, "kim", name) != VISIBLE_SEED
                assert marks.hidden_seed(question, "kim", name) != marks.hidden_seed(question, "lee", name)


def test_a_sheet_says_what_is_missing(tmp_path):
    with pytest.raises(ValueError, match="write your student id between the quotes"):
        Sheet("04_mlp", "  ")
    with pytest.raises(FileNotFoundError, match="no variants.py beside the notebook"):
        Sheet("04_mlp", "kim", tmp_path)


def test_numbers_depend_on_the_student_and_nothing_else(bundle):
    folder = bundle("04_mlp")
    one, same, other = (Sheet("04_mlp", student, folder).numbers("q1") for student in ("Kim ", "kim", "lee"))
    assert all(np.array_equal(a, b) for a, b in zip(one, same, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_a_check_marks_nothing_under_another_grader(bundle, monkeypatch):
    sheet = Sheet("04_mlp", "kim", bundle("04_mlp"))
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    with pytest.raises(RuntimeError, match="make grade"):
        sheet.check("q1", 1.0)
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    with pytest.raises(AssertionError, match="Not attempted"):
        sheet.check("q1", ...)
