"""From what a learning platform gives to assignments/submitted: Canvas, Moodle, or a folder of students'
files.

Every file is accounted for: it is a student's, or it is said why not. A second run changes nothing that is
there.
"""

import re
import unicodedata
import zipfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.utils import parse_utc

from . import course, jobs, late, roster, submission

MOST = 100_000_000  # bytes of one file
CANVAS = re.compile(r"(?P<who>[^_/]+)(?:_LATE)?_(?P<canvas>\d+)_(?P<order>\d+)_(?P<file>[^/]+)")
MOODLE = re.compile(r"(?P<who>[^_/]+)_(?P<moodle>\d+)_assignsubmission_file_?/?(?P<file>[^/]+)")
FOLDER = re.compile(r"(?P<who>[^/]+)/(?:.*/)?(?P<file>[^/]+)")
AGAIN = re.compile(r"(?:[ _]?\((\d+)\)|-(\d+))$")  # what browsers and Canvas put behind a second file's name


@dataclass(frozen=True)
class Found:
    """A file: whose it is ("" if that is not known), under which name, and which of several versions."""

    path: str
    student: str
    name: str
    version: tuple
    when: datetime
    content: bytes


def collect(name, source):
    """Sort the files of a folder or a zip into submitted/<id>/NAME. Lines that say what became of each
    file, and how many need a person.
    """
    course.find(name)
    files = list(read(Path(source)))
    if not files:
        raise FileNotFoundError(f"collect: no file in {source}")
    found = [sorted_out(*one, name) for one in files]
    known = [one for one in found if one.student]
    lines = [f"{one.path}: whose is it? Give its student in students.csv" for one in found if not one.student]
    for key in sorted({(one.student, one.name) for one in known}):
        versions = sorted(
            (one for one in known if (one.student, one.name) == key), key=lambda one: (one.version, one.when)
        )
        lines += place(name, versions)
    return lines, len(found) - len(known)


def read(source):
    """Path, time and content of every file in a folder or in a platform's zip. A student's own zips stay
    closed.
    """
    if source.is_dir():
        for path in submission.files(source):
            when = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            yield path.relative_to(source).as_posix(), when, path.read_bytes()
        return
    with zipfile.ZipFile(source) as archive:
        for entry in archive.infolist():
            if not entry.is_dir() and not any(map(submission.left_behind, entry.filename.split("/"))):
                if entry.file_size > MOST:
                    raise ValueError(
                        f"collect: {entry.filename} has {entry.file_size / 1e6:.0f} MB; take it out"
                    )
                yield entry.filename, datetime(*entry.date_time, tzinfo=UTC), archive.read(entry)


def sorted_out(path, when, content, name):
    """The Found for one file."""
    for pattern in (CANVAS, MOODLE):
        match = pattern.search(path)
        if match:
            student, file = listed(match.groupdict()), match["file"]
            break
    else:
        student, file = by_name(path, name)
    stem, dot, ending = file.rpartition(".")
    again = AGAIN.search(stem)
    number = int(again[1] or again[2]) if again else 0
    order = int(match["order"]) if match and "order" in match.re.groupindex else 0
    clean = f"{AGAIN.sub('', stem)}{dot}{ending}"
    if name.lower() in clean.lower() and ending.lower() == "ipynb":
        clean = f"{name}.ipynb"
    return Found(path, student, clean, (order, number), when, content)


def listed(found):
    """The id of the student with this number or this name in students.csv, or an empty text."""
    for column in ("canvas", "moodle"):
        rows = [
            row for row in roster.students().values() if found.get(column) and row[column] == found[column]
        ]
        if rows:
            return rows[0]["id"]
    rows = [row for row in roster.students().values() if letters(found["who"]) in spellings(row)]
    return rows[0]["id"] if len(rows) == 1 else ""


def spellings(row):
    """How a platform may write a student: last name first, first name first, or the id."""
    first, last = row["first_name"], row["last_name"]
    return {letters(last + first), letters(first + last), letters(row["id"])}


def letters(text):
    """A name as platforms write it into file names: its letters and digits alone."""
    return "".join(sign for sign in unicodedata.normalize("NFKC", text).casefold() if sign.isalnum())


def by_name(path, name):
    """Student and file for id/file, and for id_NAME.ipynb. With a roster, the id must stand in it."""
    folder = FOLDER.fullmatch(path)
    named = re.fullmatch(rf"(.+?)[_ -]+({re.escape(name)}.*)", path.rsplit("/", 1)[-1], re.I)
    who, file = (named[1], named[2]) if named else (folder["who"], folder["file"]) if folder else ("", path)
    known = {roster.form(one): one for one in roster.students()}
    return (known.get(roster.form(who), "") if known else who.strip()), file


def place(name, versions):
    """Write the version that counts, the last one in time, and say so."""
    due = (late.rule() or late.Rule()).due.get(name)
    in_time = [one for one in versions if due is None or one.when <= parse_utc(due).replace(tzinfo=UTC)]
    last = (in_time or versions)[-1]
    if last.name in jobs.NOTES:
        return [f"{last.path}: left out, since only nbgrader's exchange writes {last.name}"]
    target = course.folder() / "submitted" / last.student / name / last.name
    lines = [f"{one.path}: {last.path} counts" for one in versions if one is not last]
    if target.exists() and target.read_bytes() == last.content:
        return [*lines, f"{last.path}: {last.student} has it already"]
    what = "replaces what was there" if target.exists() else "new"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(last.content)
    return [*lines, f"{last.path}: {last.student}, {what}"]
