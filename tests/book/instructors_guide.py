"""What the tests of the teaching guide read in it: its commands, and the files and cells of its worked
example.
"""

import re

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from project import ROOT

GUIDE = (ROOT / "chapters/appendix/for-instructors.md").read_text(encoding="utf-8")
SHELL = re.findall(r"^```sh\n(.*?)^```", GUIDE, re.M | re.S)
COMMANDS = [line.strip() for block in SHELL for line in block.replace("\\\n", " ").splitlines()]
LABELLED = re.findall(r"^`([^`\n]+)`([^\n]*)\n\n```(\w+)\n(.*?)\n```$", GUIDE, re.M | re.S)
KINDS = {  # of Create Assignment: grade, solution, locked
    "Read-only": (False, False, True),
    "Autograded answer": (False, True, False),
    "Autograded tests": (True, False, True),
    "Manually graded answer": (True, True, False),
}


def files():
    """Pairs of a path in the repository and the text that goes there, or to the end of what is there."""
    return [
        (path, f"{text}\n") for path, _, _, text in LABELLED if path.startswith(("assignments/", "tests/"))
    ]


def notebook():
    """The notebook of the worked example, as JupyterLab and Create Assignment would save it."""
    cells = [
        cell(name, about.removeprefix(" · ").split(" · "), language, text)
        for name, about, language, text in LABELLED
        if "/" not in name
    ]
    return new_notebook(
        cells=cells,
        metadata={"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
    )


def cell(name, about, language, text):
    """One cell: about is its kind and perhaps its points."""
    made = (new_code_cell if language == "python" else new_markdown_cell)(text)
    if about[0] != "no kind":
        grade, solution, locked = KINDS[about[0]]
        data = {
            "grade": grade,
            "grade_id": name,
            "locked": locked,
            "schema_version": 3,
            "solution": solution,
            "task": False,
        }
        made.metadata["nbgrader"] = data | ({"points": int(about[1].split()[0])} if len(about) > 1 else {})
    return made
