"""The files and the sources that a student handed in."""

import ast
import dataclasses
import os
import shutil
import stat
from pathlib import Path

from nbgrader.utils import is_locked

from plaincourse.assigned import seed

from .refused import parsed

DEEPEST, MOST_FILES, MOST_BYTES = 10, 1000, 100_000_000


def own_sources(nb):
    """The sources of the student's own code cells by grade id (of cells without one, by position)."""
    cells = [
        (index, cell)
        for index, cell in enumerate(nb.cells)
        if cell.cell_type == "code" and not is_locked(cell)
    ]
    return {
        cell.metadata.get("nbgrader", {}).get("grade_id") or f"cell {index}": cell.source
        for index, cell in cells
    }


def declared_student(sources):
    """The id after ``STUDENT =``: an empty text if there is none, None if it is not written out."""
    found = ""
    for source in sources:
        for node in ast.walk(parsed(source)):
            targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
            if isinstance(node, ast.Assign | ast.AnnAssign) and any(
                getattr(target, "id", "") == "STUDENT" for target in targets
            ):
                value = node.value
                found = (
                    value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None
                )
    return found


def is_other_student(declared, student):
    """Whether the notebook says another student's id than the folder it came in."""
    return bool(declared and declared.strip()) and seed(declared, "", "") != seed(student, "", "")


def other_students(mark, sources, student):
    """The Mark, with a word on why if the notebook has another student's numbers."""
    declared = declared_student(sources.values())
    if declared == "":
        text = f"{mark.message}\nSTUDENT is not filled in, so the notebook shows no numbers of your own."
        return dataclasses.replace(mark, message=text.strip())
    if not is_other_student(declared, student):
        return mark
    text = (
        f"{mark.message}\nThe notebook says STUDENT = {declared!r}, but this is the work of {student!r},"
        " whose numbers are others."
    )
    return dataclasses.replace(mark, message=text.strip())


def files(folder):
    """All plain files under a folder, in order: no links, which could lead anywhere, no pipes, nothing buried
    deep, and nothing that programs leave behind.
    """
    found = []
    for place, folders, names in os.walk(folder):
        depth = len(Path(place).relative_to(folder).parts)
        folders[:] = sorted(name for name in folders if depth < DEEPEST and not left_behind(name))
        found += [
            path
            for path in (Path(place, name) for name in sorted(names))
            if not left_behind(path.name) and stat.S_ISREG(path.lstat().st_mode) and os.access(path, os.R_OK)
        ]
    return found


def left_behind(name):
    """Whether a program made a file or folder of this name without being asked: copies, caches."""
    return (name.startswith(".") and name.strip(".") != "") or name in (
        "__pycache__",
        "__MACOSX",
        "Thumbs.db",
        "desktop.ini",
    )


def too_much(folder):
    """A note if the files of a submission are too many or too large, else None."""
    sizes = [path.stat().st_size for path in files(folder)]
    if len(sizes) > MOST_FILES or sum(sizes) > MOST_BYTES:
        return (
            f"{len(sizes)} files of {sum(sizes) / 1e6:.0f} MB in all are too much; at most {MOST_FILES} of"
            f" {MOST_BYTES / 1e6:.0f} MB"
        )
    return None


def copy(folder, target, leave_out=()):
    """Copy the plain files of a submission, notebooks left out, into a folder, which may exist."""
    for path in files(folder):
        relative = path.relative_to(folder)
        if path.suffix.lower() not in (".ipynb", ".zip") and relative.parts[0] not in leave_out:
            (target / relative).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / relative)
