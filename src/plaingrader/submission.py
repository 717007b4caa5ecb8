"""Reading what a student handed in, whatever happened to it on the way."""

import ast
import dataclasses

import nbformat

from nbgrader.utils import is_locked

from plaincourse.assigned import seed


def own_sources(nb):
    """The sources of the student's own code cells by grade id (of cells without one, by position)."""
    cells = [(index, cell) for index, cell in enumerate(nb.cells) if cell.cell_type == "code" and not is_locked(cell)]
    return {cell.metadata.get("nbgrader", {}).get("grade_id") or f"cell {index}": cell.source for index, cell in cells}


def declared_student(sources):
    """The id after ``STUDENT =``, or an empty text."""
    found = ""
    for source in sources:
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in ast.walk(tree):
            names = [target.id for target in getattr(node, "targets", []) if isinstance(target, ast.Name)]
            if "STUDENT" in names and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
                found = node.value.value
    return found


def is_other_student(declared, student):
    """Whether the notebook says another student's id than the folder it came in."""
    return bool(declared.strip()) and seed(declared, "", "") != seed(student, "", "")


def other_students(mark, sources, student):
    """The Mark, with a word on why if the notebook has another student's numbers."""
    declared = declared_student(sources.values())
    if not is_other_student(declared, student):
        return mark
    text = f"{mark.message}\nThe notebook says STUDENT = {declared!r}, but this is the work of {student!r}, whose numbers are others."
    return dataclasses.replace(mark, message=text.strip())


def read(folder, assignment):
    """The notebook in a submitted folder, and notes on what was odd about it. The notebook is None if there is none to read."""
    path, notes = notebook_in(folder, assignment)
    if path is None:
        return None, notes
    try:
        nb = nbformat.reads(text_of(path), as_version=4)
        _, nb = nbformat.validator.normalize(nb, strip_invalid_metadata=True)
    except Exception as error:  # whatever nbformat meets in a broken file
        return None, [*notes, f"{path.name} is not a notebook that can be read: {type(error).__name__}: {str(error)[:200]}"]
    return nb, notes


def notebook_in(folder, assignment):
    """The path of the notebook, under its own name or another, and notes."""
    wanted = folder / f"{assignment}.ipynb"
    if wanted.is_file():
        return wanted, []
    others = sorted(path for path in folder.rglob("*.ipynb") if path.is_file() and ".ipynb_checkpoints" not in path.parts)
    if len(others) == 1:
        return others[0], [f"{wanted.name} is missing; {others[0].relative_to(folder)} was taken for it"]
    found = ", ".join(str(path.relative_to(folder)) for path in others)
    return None, [f"{wanted.name} is missing" + (f", and there is more than one other: {found}" if others else "; there is no notebook")]


def text_of(path):
    """The text of a file, with or without a byte order mark."""
    data = path.read_bytes()
    return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
