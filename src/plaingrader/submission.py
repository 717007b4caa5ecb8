"""Reading what a student handed in, whatever happened to it on the way."""

import ast
import dataclasses
import os
import shutil
import stat
from pathlib import Path

import nbformat
from nbgrader.utils import is_locked

from plaincourse.assigned import seed

from .refused import parsed

DEEPEST, MOST_FILES, MOST_BYTES, MOST_CELLS = 10, 1000, 100_000_000, 2000


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
        return dataclasses.replace(
            mark,
            message=(
                f"{mark.message}\nSTUDENT is not filled in, so the notebook shows no numbers of your own.".strip()
            ),
        )
    if not is_other_student(declared, student):
        return mark
    text = (
        f"{mark.message}\nThe notebook says STUDENT = {declared!r}, but this is the work of {student!r},"
        " whose numbers are others."
    )
    return dataclasses.replace(mark, message=text.strip())


def read(folder, assignment):
    """The notebook in a submitted folder, and notes on what was odd about it. The notebook is None if there
    is none to read.
    """
    path, notes = notebook_in(folder, assignment)
    if path is None:
        return None, notes
    try:
        nb = nbformat.from_dict(tidied(nbformat.reads(text_of(path), as_version=4)))
        _, nb = nbformat.validator.normalize(nb, strip_invalid_metadata=True)
    except Exception as error:  # whatever nbformat meets in a broken file
        return None, [
            *notes,
            (
                f"{path.name} is not a notebook that can be read, so it must be handed in again"
                f" ({type(error).__name__})"
            ),
        ]
    return nb, notes


def notebook_in(folder, assignment):
    """The path of the notebook, under its own name or another, and notes."""
    wanted = folder / f"{assignment}.ipynb"
    if wanted.is_file() and not wanted.is_symlink():
        return wanted, []
    others = [
        path for path in files(folder) if path.suffix == ".ipynb" and ".ipynb_checkpoints" not in path.parts
    ]
    if len(others) == 1:
        return others[0], [f"{wanted.name} is missing; {others[0].relative_to(folder)} was taken for it"]
    found = ", ".join(str(path.relative_to(folder)) for path in others)
    return None, [
        f"{wanted.name} is missing"
        + (f", and there is more than one other: {found}" if others else "; there is no notebook")
    ]


def text_of(path):
    """The text of a file, with or without a byte order mark."""
    data = path.read_bytes()
    return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")


def tidied(nb):
    """The notebook without ids and metadata of a kind that none has; too many cells are an error."""
    if len(nb.cells) > MOST_CELLS:
        raise ValueError(f"{len(nb.cells)} cells")
    for cell in nb.cells:
        if not isinstance(cell.get("id", ""), str):
            del cell["id"]
        if not isinstance(cell.get("metadata"), dict):
            cell["metadata"] = {}
        if not isinstance(cell["metadata"].get("nbgrader", {}), dict):
            del cell["metadata"]["nbgrader"]
    return nb


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
            if not left_behind(path.name) and stat.S_ISREG(path.lstat().st_mode)
        ]
    return found


def left_behind(name):
    """Whether a program made a file or folder of this name without being asked: copies, caches, thumbnails."""
    return name.startswith(".") or name in ("__pycache__", "__MACOSX", "Thumbs.db", "desktop.ini")


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
        if path.suffix != ".ipynb" and relative.parts[0] not in leave_out:
            (target / relative).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / relative)
