"""A copy of the project with a canary in every solution and reference of an assignment: where it turns up, a
solution would.
"""

import re
import shutil

import nbformat
from project import ROOT

CANARY = "canary-7d1f-in-a-solution"
LEFT_OUT = shutil.ignore_patterns(
    *(".git", ".venv", "_build", "dist", ".*_cache", "__pycache__", ".hypothesis", "*.egg-info"),
    *("submitted", "autograded", "feedback", "release", ".grading", "gradebook.db*"),
)


def planted_copy(folder):
    """Copy the project into this folder, which must not exist, and plant the canaries. The folder."""
    shutil.copytree(ROOT, folder, ignore=LEFT_OUT)
    plant(folder / "assignments")
    return folder


def plant(assignments):
    """Put the canary into every solution of the notebooks and into every reference. How many there are."""
    count = 0
    for path in sorted(assignments.glob("source/*/*.ipynb")):
        nb = nbformat.read(path, as_version=4)
        for cell in nb.cells:
            cell.source, added = re.subn(
                r"^( *)(### BEGIN SOLUTION.*)$", rf"\1\2\n\1# {CANARY}", cell.source, flags=re.MULTILINE
            )
            count += added
        nbformat.write(nb, path)
    for path in sorted(assignments.glob("reference/*.py")):
        text = path.read_text(encoding="utf-8")
        path.write_text(f'{text}\n\nPLANTED = "{CANARY}"\n', encoding="utf-8")
        count += 1
    return count


def holders(folder):
    """The files under a folder that hold the canary, archives looked into."""
    found = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if path.suffix in (".zip", ".whl"):
            shutil.unpack_archive(path, folder / f"{path.name} unpacked", "zip")
            found += holders(folder / f"{path.name} unpacked")
        elif CANARY.encode() in path.read_bytes():
            found.append(path)
    return found
