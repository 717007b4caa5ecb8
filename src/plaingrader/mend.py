"""Gives a submitted notebook its shape back before nbgrader reads it: locked cells, ids, and cells that are
gone.

A student's own code is left as it is. nbgrader's OverwriteCells restores cells that still have their ids;
students also delete cells, send notebooks through programs that strip the metadata, and save with the line
ends of Windows.
"""

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor

from .refused import parsed, top_level


class Mend(NbGraderPreprocessor):
    """Compare the notebook with what was handed out, as the gradebook knows it."""

    def preprocess(self, nb, resources):
        course = resources["nbgrader"]
        with Gradebook(course["db_url"]) as gradebook:
            handed_out = originals(gradebook.find_notebook(course["notebook"], course["assignment"]))
        nb.cells = mended(nb.cells, handed_out)
        return nb, resources


def originals(notebook):
    """The cells as they were handed out, by grade id and in order."""
    points = {cell.name: cell.max_score for cell in notebook.grade_cells}
    solutions = {cell.name for cell in notebook.solution_cells}
    return {
        cell.name: original(cell, points.get(cell.name), cell.name in solutions)
        for cell in notebook.source_cells
    }


def original(row, points, solution):
    """A cell from its row in the gradebook."""
    data = {
        "grade": points is not None,
        "grade_id": row.name,
        "locked": row.locked,
        "schema_version": 3,
        "solution": solution,
        "task": False,
        "cell_type": row.cell_type,
        "checksum": row.checksum,
    }
    if points is not None:
        data["points"] = points
    make = new_code_cell if row.cell_type == "code" else new_markdown_cell
    return make(row.source, metadata={"nbgrader": data}, id=row.name)


def mended(cells, handed_out):
    """The student's cells, each with its id again, locked ones as they were, and what is missing in its
    place.
    """
    cells = [cell for cell in cells if cell.cell_type in ("code", "markdown", "raw")]
    for cell in cells:
        cell.source = cell.source.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    names = recognized(cells, handed_out)
    take_from_beside(cells, names, handed_out)
    for cell, name in zip(cells, names, strict=True):
        cell.metadata = NotebookNode(
            {key: cell.metadata[key] for key in cell.metadata if key == "plaincourse"}
        )
        if name:
            restore(cell, handed_out[name])
    for name in handed_out:
        if name not in names:
            place = after(names, list(handed_out), name)
            cells.insert(place, handed_out[name])
            names.insert(place, name)
    return cells


def take_from_beside(cells, names, handed_out):
    """Where the cell for an answer is as it was handed out, take the answer from the student's own cells: a
    text from those next to it, code from the one that defines the same name.
    """
    for index, name in enumerate(names):
        original = handed_out.get(name)
        if original is None or original.metadata.nbgrader.locked or not untouched(cells[index], original):
            continue
        if original.cell_type == "markdown":
            texts = [cells[place].source.strip() for place in near(names, index)]
        else:
            wanted = top_level(parsed(original.source))
            own = [
                cell
                for cell, other in zip(cells, names, strict=True)
                if other is None and cell.cell_type == "code"
            ]
            texts = [cell.source for cell in own if wanted & top_level(parsed(cell.source))][-1:]
        if any(texts):
            cells[index].source = "\n\n".join(filter(None, texts))
            cells[index].metadata["plaincourse"] = {"beside": True}


def untouched(cell, original):
    """Whether the cell holds nothing but what was handed out."""
    return cell.source.strip() in ("", original.source.strip())


def near(names, index):
    """The places of the student's own cells that stand next to a cell."""
    first = last = index
    while first > 0 and names[first - 1] is None:
        first -= 1
    while last + 1 < len(names) and names[last + 1] is None:
        last += 1
    return [place for place in range(first, last + 1) if place != index]


class Original:
    """A cell as it was handed out, with what it defines worked out once."""

    def __init__(self, cell):
        self.source, self.cell_type, self.kind = cell.source, cell.cell_type, cell.metadata.nbgrader
        self.answers = (
            top_level(parsed(cell.source)) if cell.cell_type == "code" and not self.kind.locked else set()
        )


def restore(cell, original):
    """The cell's kind and metadata, and its text too if it was locked."""
    cell.metadata["nbgrader"] = original.metadata.nbgrader
    if original.metadata.nbgrader.locked:
        cell.source = original.source
    if cell.cell_type != original.cell_type:
        cell.cell_type = original.cell_type
        for key in ("outputs", "execution_count"):
            cell.pop(key, None)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None


def after(names, order, name):
    """Where a missing cell belongs: behind the nearest of its predecessors that is there."""
    for before in reversed(order[: order.index(name)]):
        if before in names:
            return names.index(before) + 1
    return 0


def recognized(cells, handed_out):
    """The grade id of each cell, or None for a cell of the student's own. Each id once, the last cell
    wins.
    """
    handed_out = {name: Original(cell) for name, cell in handed_out.items()}
    names = [told(cell, handed_out) for cell in cells]
    for find in (same_text, same_name, follows):
        for index, cell in enumerate(cells):
            if names[index] is None:
                name = find(cell, handed_out, names[:index])
                names[index] = None if name in names else name
    return [name if name and name not in names[index + 1 :] else None for index, name in enumerate(names)]


def told(cell, handed_out):
    """By the id that the cell still carries: nbgrader's, or the notebook format's."""
    for name in (cell.metadata.get("nbgrader", {}).get("grade_id"), cell.get("id")):
        if isinstance(name, str) and name in handed_out:
            return name
    return None


def same_text(cell, handed_out, before):
    """By its text, for a cell that nobody changed."""
    return next((name for name, original in handed_out.items() if original.source == cell.source), None)


def same_name(cell, handed_out, before):
    """By the function or the variable that it defines, for an answer."""
    if cell.cell_type != "code":
        return None
    own = top_level(parsed(cell.source))
    return next((name for name, original in handed_out.items() if own & original.answers), None)


def follows(cell, handed_out, before):
    """By its place, for a written answer: the first text behind its question."""
    order = list(handed_out)
    if cell.cell_type != "markdown" or not before or before[-1] is None:
        return None
    place = order.index(before[-1]) + 1
    answer = order[place] if place < len(order) else None
    return (
        answer
        if answer and handed_out[answer].cell_type == "markdown" and handed_out[answer].kind.solution
        else None
    )
