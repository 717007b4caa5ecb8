"""Finding and reading the notebook in what was handed in, whatever happened to it on the way.

What is unambiguous is taken: another name, another ending, a zip. What is not is a question for a person, and
nobody gets a zero for it. The notebook is made anew of what grading needs, each part of a known kind.
"""

import json
import math
import re
import zipfile

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell

from . import submission

NOTEBOOK = re.compile(r"(.*?)\.ipynb(\.txt|\.json)?", re.I | re.S)
MOST_CELLS, MOST_BYTES, DEEPEST = 2000, 20_000_000, 30
MAKE = {"code": new_code_cell, "markdown": new_markdown_cell, "raw": new_raw_cell}


class Unclear(Exception):
    """Only a person can say what is to be graded; the message says why, and what to do."""


def read(folder, assignment):
    """The notebook in a submitted folder, and notes on what was odd. Unclear if there is none to read."""
    excess = submission.too_much(folder)
    if excess:
        raise Unclear(excess)
    name, content, notes = chosen(candidates(folder), assignment, folder)
    if len(content) > MOST_BYTES:
        raise Unclear(f"{name} has {len(content) / 1e6:.0f} MB: ask for it without its outputs")
    try:
        data = plain(json.loads(text_of(content)))
        cells = (
            data["cells"] if data["nbformat"] == 4 else nbformat.reads(json.dumps(data), as_version=4).cells
        )
        return rebuilt(cells), notes
    except Exception as error:  # whatever a broken file raises
        reason = f"{name} is not a notebook that can be read: ask for it again ({type(error).__name__})"
        raise Unclear(reason) from error


def candidates(folder):
    """The content of every notebook by its path, those inside of zips too."""
    found = {}
    for path in submission.files(folder):
        name = str(path.relative_to(folder))
        if NOTEBOOK.fullmatch(path.name):
            found[name] = path.read_bytes()
        elif path.suffix.lower() == ".zip":
            found |= {f"{name}: {inner}": content for inner, content in packed(path)}
    return found


def packed(path):
    """The notebooks in a zip. Nothing is written, and no more is unpacked than a notebook may have."""
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist()[:1000]:
                parts = entry.filename.split("/")
                if NOTEBOOK.fullmatch(parts[-1]) and not any(map(submission.left_behind, parts)):
                    with archive.open(entry) as file:
                        yield entry.filename, file.read(MOST_BYTES + 1)
    except Exception as error:  # a zip can be broken in many ways
        raise Unclear(f"{path.name} cannot be unpacked: ask for it again ({type(error).__name__})") from error


def chosen(found, assignment, folder):
    """The one notebook that can be meant: its name, its content, and a note if its name is another."""
    wanted = f"{assignment}.ipynb"
    if wanted in found:
        return wanted, found[wanted], []
    named = [
        name
        for name in found
        if NOTEBOOK.fullmatch(re.split(r"[/ ]", name)[-1])[1].lower() == assignment.lower()
    ]
    names = named or list(found)
    if not names:
        there = [path.name for path in submission.files(folder)][:5]
        raise Unclear(
            f"there is no notebook{', only ' + ', '.join(there) if there else ''}: ask for {wanted}"
        )
    if len({found[name] for name in names}) > 1:
        raise Unclear(f"there is more than one notebook: {', '.join(sorted(names))}; keep one as {wanted}")
    return names[0], found[names[0]], [f"{wanted} is missing; {names[0]} was taken for it"]


def text_of(data):
    """The text of a file, with or without a byte order mark."""
    return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")


def plain(value, depth=0):
    """Data as any program can hold it: no half characters, no endless numbers, nothing nested without end."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, bool | None):
        return value
    if isinstance(value, int | float):
        return value if math.isfinite(value) and abs(value) < 2**53 else 0
    if depth > DEEPEST:
        return None
    if isinstance(value, list):
        return [plain(item, depth + 1) for item in value]
    return {plain(key): plain(item, depth + 1) for key, item in value.items()}


def rebuilt(cells):
    """The notebook of the cells' sources, ids and pictures; too many cells are an error."""
    if len(cells) > MOST_CELLS:
        raise ValueError(f"{len(cells)} cells")
    return nbformat.validator.normalize(new_notebook(cells=[rebuilt_cell(cell) for cell in cells]))[1]


def rebuilt_cell(cell):
    """A cell of a known kind with nbgrader's metadata, if it is any, without outputs and the rest."""
    source = cell.get("source", "")
    source = "".join(map(str, source)) if isinstance(source, list) else source
    make = MAKE.get(cell.get("cell_type"), new_raw_cell)
    fresh = make(source if isinstance(source, str) else str(source))
    about = cell.get("metadata")
    if isinstance(about, dict) and isinstance(about.get("nbgrader"), dict):
        fresh.metadata["nbgrader"] = about["nbgrader"]
    if isinstance(cell.get("id"), str) and re.fullmatch(r"[A-Za-z0-9_-]{1,64}", cell["id"]):
        fresh["id"] = cell["id"]
    if fresh.cell_type == "markdown" and isinstance(cell.get("attachments"), dict):
        fresh["attachments"] = {
            name: files for name, files in cell["attachments"].items() if isinstance(files, dict)
        }
    return fresh
