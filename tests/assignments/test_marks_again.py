"""Marks stay right when something changes: a question's points, a student's text, the rule for late work."""

import csv
import shutil

import nbformat
import pytest
import tiny_course as tiny
from alone import grade_alone
from quick import autograde_as
from throwaway import forget

from plaingrader import gradebook, jobs

NAME = tiny.NAME


@pytest.fixture
def place(tiny_released, tmp_path, monkeypatch):
    """A copy of the released course for each test, in which all answers that a machine marks are right."""
    root = tmp_path / "assignments"
    shutil.copytree(tiny_released, root)
    monkeypatch.setenv("PLAINGRADER_COURSE", str(root))
    monkeypatch.setattr(jobs, "autograde", autograde_as(1))
    forget()
    yield root
    forget()


@pytest.fixture
def student(place):
    """Make a student's submission: student("kim")."""
    released = nbformat.read(place / "release" / NAME / f"{NAME}.ipynb", as_version=4)
    return lambda name: tiny.Submission(released, name)


def change_map(place, old, new):
    path = place / "course.toml"
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    forget()


def test_raising_points_is_one_line_and_one_command(place, student):
    student("kim").perfect().hand_in(place)
    assert grade_alone()["kim"].total == 7
    change_map(place, "points = 3", "points = 6")
    row = grade_alone()["kim"]
    assert (row.error, row.total, sum(row.most.values())) == ("", 10, 11)
    feedback = (place / "feedback/kim" / NAME / f"{NAME}.html").read_text(encoding="utf-8")
    assert "10.0 / 11.0" in feedback and "6.0 / 6.0" in feedback


def test_points_moved_from_one_question_to_another_are_seen(place, student):
    student("kim").perfect().hand_in(place)
    grade_alone()
    text = (place / "course.toml").read_text(encoding="utf-8")
    head, *questions = text.split("points = ")
    (place / "course.toml").write_text(
        "points = ".join([head, "3" + questions[0][1:], "2" + questions[1][1:], *questions[2:]])
    )
    forget()
    assert grade_alone()["kim"].scores == {"q1": 3, "q2": 2, "q3": 2, "q4": None}


def test_what_programs_leave_behind_grades_nobody_again(place, student):
    student("kim").perfect().hand_in(place)
    grade_alone()
    kept = next((place / ".grading").rglob("result.json"))
    before = kept.stat().st_mtime_ns
    source = place / "source" / NAME
    for folder in (source, place / "submitted/kim" / NAME):
        (folder / ".ipynb_checkpoints").mkdir()
        (folder / ".ipynb_checkpoints" / f"{NAME}-checkpoint.ipynb").write_text("{}")
        (folder / ".DS_Store").write_text("x")
    nb = nbformat.read(source / f"{NAME}.ipynb", as_version=4)
    nb.metadata.language_info = {"name": "python", "version": "3.11.9"}
    nbformat.write(nb, source / f"{NAME}.ipynb")  # as JupyterLab saves what was only looked at
    grade_alone()
    assert kept.stat().st_mtime_ns == before


def marked(student, points):
    """A person marks the written answer."""
    with gradebook.opened() as book:
        grade = book.find_grade("q4", NAME, NAME, student)
        grade.manual_score, grade.needs_manual_grade = points, False
        book.db.commit()


def write(submission, place, text):
    submission["q4"].source = text
    submission.hand_in(place)


def test_a_new_text_does_not_keep_the_old_ones_mark(place, student):
    kim = student("kim").perfect()
    write(kim, place, "The first text.")
    grade_alone()
    marked("kim", 1)
    (place / "submitted/kim" / NAME / "more.txt").write_text("other work, the same text")
    row = grade_alone()["kim"]
    assert (row.total, row.waiting) == (8, ())
    write(kim, place, "Another text.")
    row = grade_alone()["kim"]
    assert (row.total, row.waiting, row.scores["q4"]) == (7, ("q4",), None)
    page = (place / "autograded/kim" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8")
    assert "The first text." in page and "marked 1 of 1" in page and "Another text." in page
    marked("kim", 0.5)
    assert (grade_alone()["kim"].total, grade_alone()["kim"].waiting) == (7.5, ())


LATE = """
[late]
share = 0.1
grace = 30
days = 3

[late.due]
tiny = "2027-03-20 12:00 UTC"

[late.extension]
lee = {tiny = 1}
"""


def test_the_late_rule_holds_for_marks_of_any_age(place, student):
    times = {
        "kim": "2027-03-21 13:00 UTC",
        "lee": "2027-03-21 13:00 UTC",
        "min": "2027-03-20 12:20 UTC",
        "old": "2027-03-25 12:00 UTC",
        "ann": "2027-03-20 11:00 UTC",
    }
    for name, time in times.items():
        (student(name).perfect().hand_in(place) / "timestamp.txt").write_text(time)
    assert {name: row.total for name, row in grade_alone().items()} == dict.fromkeys(times, 7)
    path = place / "course.toml"
    path.write_text(path.read_text(encoding="utf-8") + LATE, encoding="utf-8")
    rows = grade_alone()
    assert {name: row.penalty for name, row in rows.items()} == {
        "kim": 1.4,
        "lee": 0.7,
        "min": 0,
        "old": 7,
        "ann": 0,
    }
    marked("kim", 1)
    rows = grade_alone()
    assert rows["kim"].penalty == 1.6 and rows["kim"].total == 6.4
    assert "6.4 / 8.0" in (place / "feedback/kim" / NAME / f"{NAME}.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("share = 0.1", "shares = 0.1", "shares: must be one of"),
        ("share = 0.1", "share = 10", "must be a part"),
        ('"2027-03-20 12:00 UTC"', '"soon"', "must be a time such as"),
    ],
)
def test_a_rule_that_cannot_be_meant_is_named(place, old, new, words):
    from plaingrader import late

    path = place / "course.toml"
    path.write_text(path.read_text(encoding="utf-8") + LATE.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=words):
        late.rule()


def lines(place, kind):
    with (place.parent / f"dist/{kind}-{NAME}.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def test_every_student_of_the_roster_stands_in_the_tables(place, student):
    (place / "students.csv").write_text(
        "id,first_name,last_name\nkim,Kim,Ha\nlee,Min,Lee\n+82-10-1234,Jo,An\n"
    )
    for name in ("KIM", "guest", "+82-10-1234", "=cmd()"):
        student(name).perfect().hand_in(place)
    rows = grade_alone()
    assert (
        rows["lee"].error == "not handed in"
        and "students.csv has no 'KIM'; is it 'kim'?" in rows["KIM"].notes
    )
    assert "students.csv has no 'guest'" in rows["guest"].notes and rows["+82-10-1234"].notes == ()
    marks = {line[0]: line for line in lines(place, "marks")}
    assert "not handed in" in marks["lee"] and "kim" not in marks
    logins = {line[3] for line in lines(place, "canvas")}
    assert {"+82-10-1234", "'=cmd()", "KIM"} < logins and "lee" not in logins
    report = (place.parent / f"dist/report-{NAME}.html").read_text(encoding="utf-8")
    assert "4 submissions" in report and "not handed in" in report


def test_ids_of_any_form_get_their_feedback(place, student):
    names = ["[a-z]", "a b ", "kim", "Kim", "*"]
    for name in names:
        student(name).perfect().hand_in(place)
    rows = grade_alone()
    for name in names:
        assert "7.0 / 8.0" in (place / "feedback" / name / NAME / f"{NAME}.html").read_text(encoding="utf-8")
        assert not any("no feedback" in note for note in rows[name].notes)
    assert rows["kim"].notes == ("'Kim' too: is it one student?",)


def test_what_is_unclear_is_no_zero_and_says_so_in_the_feedback(place, student):
    student("kim").hand_in(place, text='{"cells": [')
    student("lee").perfect().hand_in(place)
    rows = grade_alone()
    assert rows["kim"].error.startswith("tiny.ipynb is not a notebook that can be read: ask for it again")
    assert [line[0] for kind in ("canvas", "moodle") for line in lines(place, kind)].count("kim") == 0
    assert "ask for it again" in (place / "feedback/kim" / NAME / f"{NAME}.html").read_text(encoding="utf-8")


def test_the_rubric_stands_by_the_answer_and_in_the_feedback_once_it_is_marked(place, student):
    path = place / "source" / NAME / f"{NAME}.ipynb"
    path.write_text(
        path.read_text().replace(
            f"Because. {tiny.CANARY}", f"{tiny.CANARY}\\n\\nRubric: 1 point for $x < y$."
        )
    )
    forget()
    student("kim").perfect().hand_in(place)
    grade_alone()
    feedback = place / "feedback/kim" / NAME / f"{NAME}.html"
    assert "Rubric:" in (place / "autograded/kim" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8")
    assert "Rubric:" not in feedback.read_text(encoding="utf-8")
    marked("kim", 1)
    grade_alone()
    page = feedback.read_text(encoding="utf-8")
    assert "<strong>Rubric:</strong> 1 point for <math" in page and tiny.CANARY not in page


def test_written_answers_that_are_alike_stand_side_by_side_and_feedback_in_one_folder(place, student):
    text = "The rows of the weights are to sum to one, because each is a share of attention among the keys."
    for name, answer in (
        ("kim", text),
        ("lee", text.replace("The rows", "All rows") + " <b>So!</b>"),
        (
            "ann",
            "A softmax is taken over the scores of each query, and its denominator is the row's own sum.",
        ),
    ):
        write(student(name).perfect(), place, answer)
    grade_alone()
    page = (place.parent / f"dist/similar-{NAME}.html").read_text(encoding="utf-8")
    assert (
        page.count("<h2>") == 1 and "<b>kim</b>" in page and "<b>lee</b>" in page and "&lt;b&gt;So!" in page
    )
    assert {path.name for path in (place.parent / f"dist/feedback-{NAME}").iterdir()} == {
        "kim.html",
        "lee.html",
        "ann.html",
    }
    mails = lines(place, "mail")
    assert ["kim.html", "7", "8", "to be marked: q4"] == next(line for line in mails if line[0] == "kim")[4:]
