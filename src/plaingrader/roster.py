"""The students of the course, if assignments/students.csv lists them: ids, names, and what learning
platforms call them.

Columns: id, and, where you have them, first_name, last_name, email, canvas (the number in Canvas), moodle
(the participant's number in Moodle). Without the file, whoever hands something in is a student.
"""

import csv
import unicodedata

from . import course, gradebook

COLUMNS = ("id", "first_name", "last_name", "email", "canvas", "moodle")
NOT_HANDED_IN = "not handed in"


def students():
    """The rows by id, in the file's order; none without a file. ValueError for another table."""
    path = course.folder() / "students.csv"
    if not path.exists():
        return {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        table = csv.DictReader(file)
        if "id" not in (table.fieldnames or ()):
            raise ValueError(
                f"students.csv: the first line must name the columns, id among them, got {table.fieldnames}"
            )
        rows = [{name: (row.get(name) or "").strip() for name in COLUMNS} for row in table]
    found = {row["id"]: row for row in rows if row["id"]}
    forms = {}
    for name in found:
        if forms.setdefault(form(name), name) != name:
            raise ValueError(
                f"students.csv: {forms[form(name)]!r} and {name!r} differ in nothing but their form"
            )
    return found


def form(name):
    """What is the same for ids that a person would take for one: kim, KIM, and kim with a space behind."""
    return unicodedata.normalize("NFKC", name).strip().casefold()


def remarks(names):
    """A remark for each name of a folder that is not quite an id: what it should be, or who has the same."""
    known = {form(name): name for name in students()}
    found = {}
    for name in names:
        others = sorted(other for other in names if other != name and form(other) == form(name))
        if others:
            found[name] = f"{', '.join(map(repr, others))} too: is it one student?"
        elif known and name not in known.values():
            meant = known.get(form(name))
            found[name] = f"students.csv has no {name!r}" + (f"; is it {meant!r}?" if meant else "")
    return found


def missing(names):
    """The ids of which nothing was handed in."""
    handed_in = {form(name) for name in names}
    return [name for name in students() if form(name) not in handed_in]


def tell_gradebook():
    """Give nbgrader's gradebook the names, for its formgrader and for the exports."""
    with gradebook.opened() as book:
        for name, row in students().items():
            book.update_or_create_student(
                name, **{key: row[key] for key in ("first_name", "last_name", "email") if row[key]}
            )
