"""The teaching guide: every command in it exists, its numbers are those of the map, and it gives no solution
away.
"""

import ast
import importlib.util
import re
import shlex
import shutil
import tomllib

import nbformat
import pytest
from bs4 import BeautifulSoup
from instructors_guide import COMMANDS, GUIDE
from project import CHAPTERS, ROOT

from plaingrader import course, guide
from plaingrader.__main__ import main

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
MAP = tomllib.loads((ROOT / "assignments/course.toml").read_text(encoding="utf-8"))["assignment"]
QUESTIONS = [question for assignment in MAP for question in assignment["question"]]
ELSEWHERE = ("git", "cd", "sudo", "for", "cp", "done", "unzip", "chmod")


@pytest.fixture(scope="module")
def page(html):
    """The built page."""
    return BeautifulSoup(
        (html / "chapters/appendix/for-instructors.html").read_text(encoding="utf-8"), "html.parser"
    ).article


def words(command):
    return shlex.split(command.replace("<", "").replace(">", ""))


def of(program):
    """The commands of one program, as lists of words."""
    return [words(command) for command in COMMANDS if words(command)[0].rsplit("/", 1)[-1] == program]


def named_assignments():
    return {entry["name"] for entry in MAP} | {"extra_rms"}


def test_every_program_is_known():
    programs = {words(command)[0].rsplit("/", 1)[-1] for command in COMMANDS}
    assert programs <= {"make", "nbgrader", "jupyter", "python", *ELSEWHERE}


def test_every_target_is_in_the_makefile():
    assert len(of("make")) > 5
    for _, target, *settings in of("make"):
        assert re.search(rf"^{target}:.*## ", MAKEFILE, re.M), target
        for setting in settings:
            name, _, value = setting.partition("=")
            assert re.search(rf"^{name} \?=", MAKEFILE, re.M), setting
            assert name != "A" or value in named_assignments(), value


def test_the_grader_takes_every_option():
    pytest.importorskip("nbgrader")
    from plaingrader.__main__ import arguments

    for _, _, *settings in of("make"):
        for setting in settings:
            if setting.startswith("GRADE="):
                arguments(["grade", "04_mlp", *shlex.split(setting.removeprefix("GRADE="))])
    for command in of("python"):
        if command[1:3] == ["-m", "plaingrader"]:
            arguments(command[3:])
        elif command[1] == "-m":
            assert importlib.util.find_spec(command[2]), command
    for name in re.findall(r"`(--[a-z]+)` \|", GUIDE):
        arguments(["grade", "04_mlp", name, "1"])


def test_nbgrader_has_every_subcommand():
    pytest.importorskip("nbgrader")
    from nbgrader.apps import DbApp, NbGraderApp
    from nbgrader.apps.dbapp import DbAssignmentApp, DbStudentApp

    assert len(of("nbgrader")) >= 3
    for _, name, *rest in of("nbgrader"):
        assert name in NbGraderApp.subcommands
        if name == "db":
            assert rest[0] in DbApp.subcommands
            assert rest[1] in {"student": DbStudentApp, "assignment": DbAssignmentApp}[rest[0]].subcommands
        else:
            assert rest[0] in named_assignments()


def test_what_the_grader_says_is_in_the_guide(monkeypatch, capsys):
    """It sends a teacher without bubblewrap to this heading."""
    pytest.importorskip("nbgrader")
    monkeypatch.setattr("plaingrader.sandbox.isolation", lambda: "none")
    monkeypatch.setattr("plaingrader.grade.grade", lambda *options: [])
    assert main(["grade", "04_mlp"]) == 0
    assert "see For instructors, Safety." in capsys.readouterr().err
    assert GUIDE.startswith("# For instructors\n") and "\n## Safety\n" in GUIDE


def test_the_course_id_is_that_of_the_settings():
    settings = (ROOT / "assignments/nbgrader_config.py").read_text(encoding="utf-8")
    (line,) = [line for line in GUIDE.splitlines() if "course_id" in line]
    assert line in settings.splitlines()


def test_the_numbers_are_those_of_the_grader():
    pytest.importorskip("nbgrader")
    from plaingrader.__main__ import arguments

    facts, known = guide.facts(), course.assignments().values()
    assert facts["questions"] == sum(len(one.items) for one in known) and facts["points"] == sum(
        one.points for one in known
    )
    assert facts["chapters"] == len(CHAPTERS)
    defaults = arguments(["grade", "04_mlp"])
    assert all(facts[name] == getattr(defaults, name) for name in ("timeout", "budget", "memory"))


def test_of_the_assignments_it_reads_the_map_alone(tmp_path, monkeypatch):
    entries = course.assignments()
    shutil.copy(ROOT / "assignments/course.toml", tmp_path)
    monkeypatch.setenv("PLAINGRADER_COURSE", str(tmp_path))
    course.assignments.cache_clear()
    try:
        assert course.assignments() == entries and guide.facts()["questions"] == len(QUESTIONS)
    finally:
        monkeypatch.undo()
        course.assignments.cache_clear()
    tree = ast.parse((ROOT / "src/plaingrader/guide.py").read_text(encoding="utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {
        f"{node.module or ''}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level
        for alias in node.names
    }
    assert {name for name in names if name.startswith(("plain", ".", "__main__"))} == {
        ".course",
        "__main__.arguments",
    }


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_is_one_sitting(path):
    """An hour, its exercises included."""
    found = guide.chapter(ROOT, path.stem)
    assert 15 <= found["reading"] <= 40 and found["reading"] + found["exercises"] <= 60
    assert f"# {found['title']}" == nbformat.read(path, as_version=4).cells[0].source.splitlines()[0]


def straight(text):
    """Text without the quotation marks that the book curls."""
    return text.translate(str.maketrans("’‘“”", "''\"\""))


def test_every_question_is_in_the_page(page):
    rows = [
        [straight(cell.get_text(" ", strip=True)) for cell in row.find_all("td")]
        for row in page.find_all("tr")
    ]
    assert len(QUESTIONS) > 80
    for question in QUESTIONS:
        wanted = [
            straight(text)
            for text in (
                f"{question['name']}: {question['title']}",
                question["objective"],
                question["section"],
                question["kind"],
            )
        ]
        assert [*wanted, str(question["minutes"]), str(question["points"])] in rows, wanted


def test_every_number_has_come(page):
    text = page.get_text()
    assert "{{" not in text
    facts = guide.facts()
    assert f"{facts['questions']} questions, {facts['points']} points" in " ".join(text.split())


def test_the_plans_add_up(page):
    plans = [table for table in page.find_all("table") if table.th.get_text(strip=True) == "Week"]
    assert [len(plan.tbody.find_all("tr")) - 1 for plan in plans] == [6, 13]
    reading = sum(guide.chapter(ROOT, path.stem)["reading"] for path in CHAPTERS)
    for plan in plans:
        *weeks, last = [
            [cell.get_text(" ", strip=True) for cell in row.find_all("td")]
            for row in plan.tbody.find_all("tr")
        ]
        assert last[2] == str(reading)
        assert all(int(last[column]) == sum(int(week[column]) for week in weeks) for column in (2, 3, 4))
        hours, minutes = map(int, last[5].split(":"))
        assert 60 * hours + minutes == sum(int(last[column]) for column in (2, 3, 4))
        assert "project_1" in plan.get_text() and "project_2" in plan.get_text()


def solution_lines():
    """Every longer line of a solution, a model answer or a rubric."""
    for path in sorted((ROOT / "assignments/source").glob("*/*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            for region in re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", cell.source, re.S):
                yield from (line.strip() for line in region.splitlines() if len(line.strip()) >= 25)


def test_no_solution_is_given_away(page):
    lines, text = set(solution_lines()), page.get_text()
    assert len(lines) > 100
    assert [line for line in lines if line in text] == []
