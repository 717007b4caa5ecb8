"""Feedback to hand back in bulk: one folder for the class, one line for each student, to merge into mails."""

import shutil

from . import course, export


def write(name, rows):
    """dist/feedback-NAME/ with a page for each student, and dist/mail-NAME.csv, which says whose is which."""
    folder = course.dist() / f"feedback-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    lines = []
    for row in rows:
        page = course.folder() / "feedback" / row.student / name / f"{name}.html"
        if page.exists():
            file = f"{row.student}.html"
            shutil.copyfile(page, folder / file)
            person = [row.person.get(key, "") for key in ("first_name", "last_name", "email")]
            total = "" if row.error else f"{row.total:g}"
            lines.append(
                [
                    export.Login(row.student),
                    *person,
                    file,
                    total,
                    f"{sum(row.most.values()):g}",
                    export.status(row),
                ]
            )
    header = ["student", "first_name", "last_name", "email", "file", "total", "of", "status"]
    export.write(course.dist() / f"mail-{name}.csv", header, lines)
