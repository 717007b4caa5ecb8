"""Marks as tables: one for the instructor, one in nbgrader's form, and those that Canvas and Moodle read."""

import csv
import re
from dataclasses import dataclass, field

from . import course, gradebook, roster

NBGRADER = (
    "assignment",
    "duedate",
    "timestamp",
    "student_id",
    "last_name",
    "first_name",
    "email",
    "raw_score",
    "late_submission_penalty",
    "score",
    "max_score",
)


@dataclass(frozen=True)
class Row:
    """One student's marks. scores: by question, None where a person has not marked yet."""

    assignment: str
    student: str
    scores: dict
    most: dict
    penalty: float = 0.0
    waiting: tuple = ()  # written answers that wait for a person
    messages: dict = field(default_factory=dict)
    notes: tuple = ()
    error: str = ""
    person: dict = field(
        default_factory=dict
    )  # what the gradebook knows of the student: names, e-mail, times

    @property
    def raw(self):
        """Without the penalty for being late."""
        return sum(score for score in self.scores.values() if score is not None)

    @property
    def total(self):
        return max(0.0, self.raw - self.penalty)


def rows(name, results):
    """A Row for each result, with the scores that stand in the gradebook, so that marks given by a person
    count.
    """
    items = course.find(name).items
    most = {item.name: item.points for item in items}
    with gradebook.opened() as book:
        return [row(book, name, most, result) for result in results]


def row(book, name, most, result):
    """The Row of one result."""
    student = result["student"]
    messages = {
        mark["question"]: f"{mark['status']}. {mark['message']}".strip()
        for mark in result["marks"]
        if mark["status"] != "right"
    }
    if "error" in result:
        return Row(
            name, student, dict.fromkeys(most), most, notes=tuple(result["notes"]), error=result["error"]
        )
    submission = book.find_submission(name, student)
    grades = {
        grade.name.removesuffix("-test"): grade
        for notebook in submission.notebooks
        for grade in notebook.grades
    }
    scores = {question: score(grades[question]) for question in most}
    waiting = tuple(question for question, grade in grades.items() if grade.needs_manual_grade)
    return Row(
        name,
        student,
        scores,
        most,
        submission.late_submission_penalty or 0.0,
        waiting,
        messages,
        notes(result, submission),
        person=person(submission),
    )


def notes(result, submission):
    """What was odd, and whether it came late."""
    late = submission.total_seconds_late
    return tuple(result["notes"]) + ((f"{late / 3600:.1f} hours late",) if late > 0 else ())


def score(grade):
    """A grade's points: a person's if there are any, else the machine's, else None."""
    value = grade.manual_score if grade.manual_score is not None else grade.auto_score
    return None if value is None else float(value + (grade.extra_credit or 0))


def person(submission):
    """What the gradebook knows of the student and of the time."""
    student = submission.student
    return {
        "first_name": student.first_name or "",
        "last_name": student.last_name or "",
        "email": student.email or "",
        "timestamp": submission.timestamp or "",
        "duedate": submission.assignment.duedate or "",
    }


def marks(path, rows):
    """The instructor's table: points by question, total, what waits for a person, what to look at."""
    questions = list(rows[0].most)
    header = [
        "student",
        *questions,
        "late",
        "total",
        "of",
        "status",
        "notes",
        *(f"{question} message" for question in questions),
    ]
    write(path, header, [mark(row, questions) for row in rows])


def mark(row, questions):
    """One line of the instructor's table."""
    points = ["" if row.scores[question] is None else f"{row.scores[question]:g}" for question in questions]
    total = "" if row.error else f"{row.total:g}"
    messages = [row.messages.get(question, "") for question in questions]
    return [
        row.student,
        *points,
        f"{-row.penalty:g}" if row.penalty else "0",
        total,
        f"{sum(row.most.values()):g}",
        status(row),
        "; ".join(row.notes),
        *messages,
    ]


def status(row):
    """Whether the marks are final, and if not, why."""
    if row.error:
        return row.error if row.error == roster.NOT_HANDED_IN else f"not graded: {row.error}"
    return f"to be marked: {' '.join(row.waiting)}" if row.waiting else "graded"


def nbgrader(path, rows):
    """The columns of ``nbgrader export``, with every field quoted as CSV asks for (nbgrader's own writer does
    not quote).
    """
    lines = [
        {
            "assignment": row.assignment,
            "student_id": row.student,
            "raw_score": row.raw,
            "late_submission_penalty": row.penalty,
            "score": row.total,
            "max_score": sum(row.most.values()),
            **row.person,
        }
        for row in graded(rows)
    ]
    write(path, NBGRADER, [[line.get(name, "") for name in NBGRADER] for line in lines])


def canvas(path, rows):
    """Canvas's gradebook import: students by their login, the points possible in the second line."""
    header = [
        "Student",
        "ID",
        "SIS User ID",
        "SIS Login ID",
        "Section",
        course.find(rows[0].assignment).title,
    ]
    possible = ["    Points Possible", "", "", "", "", f"{sum(rows[0].most.values()):g}"]
    write(
        path,
        header,
        [
            possible,
            *[[full_name(row), "", "", Login(row.student), "", f"{row.total:g}"] for row in graded(rows)],
        ],
    )


def moodle(path, rows):
    """Moodle's grade import: map username to username."""
    title = course.find(rows[0].assignment).title
    write(
        path,
        ["username", "email", title],
        [[Login(row.student), row.person["email"], f"{row.total:g}"] for row in graded(rows)],
    )


def graded(rows):
    """Those with a total: a submission that could not be graded must not be imported as zero."""
    return [row for row in rows if not row.error]


def full_name(row):
    """Last name, first name; the id where the gradebook knows neither."""
    return (
        ", ".join(part for part in (row.person["last_name"], row.person["first_name"]) if part) or row.student
    )


def write(path, header, lines):
    """A CSV file for spreadsheets: UTF-8 with a mark, and no field that a spreadsheet would take for a
    formula.
    """
    fresh = path.with_suffix(".part")
    with fresh.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows([[safe(value) for value in line] for line in lines])
    fresh.replace(path)


class Login(str):
    """An id that another program looks up, so that it must be as it is: +82-10-1234 runs nothing in a
    spreadsheet.
    """

    plain = re.compile(r"[+-]?[\w.@-]+")


def safe(value):
    """Text that begins like a formula gets an apostrophe before it; numbers stay, and ids of plain signs."""
    text = str(value)
    if isinstance(value, Login) and Login.plain.fullmatch(value) and not value.startswith("@"):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
    return text
