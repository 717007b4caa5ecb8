"""A notebook on another machine: alone, without the course's packages, or without PyTorch."""

import json
import subprocess
import sys

from project import CHAPTERS, NOTEBOOKS

WITHOUT = """
import json, sys
sys.modules[sys.argv[1]] = None     # importing it raises ModuleNotFoundError
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors="NoColor")
failed = []
for number, source in enumerate(json.load(sys.stdin)):
    if not shell.run_cell(source, store_history=True).success:
        failed.append(number)
print("failed:", failed)
"""


def cells(path):
    """The sources of a notebook's code cells."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run_without(module, sources):
    """What IPython prints when it runs these cells where a module is missing; last the cells that failed."""
    program = [sys.executable, "-c", WITHOUT, module]
    done = subprocess.run(
        program, input=json.dumps(sources), capture_output=True, text=True, encoding="utf-8", check=True
    )
    return done.stdout


def test_each_notebook_says_how_to_get_what_it_imports(notebook):
    assert "To run it" in notebook.cells[0].source
    first = next(cell.source for cell in notebook.cells if cell.cell_type == "code")
    before = first[: first.index("from plaincourse")].splitlines()
    assert before[-1] == '# What follows comes with the course: see "To run it" above.'


def test_the_first_error_says_it_too():
    printed = run_without("plaincourse", cells(CHAPTERS[0])[:1])
    assert "plaincourse" in printed and "comes with the course" in printed
    assert printed.splitlines()[-1] == "failed: [0]"


def test_chapter_1_needs_pytorch_only_to_compare_with_it():
    """The cells that ask PyTorch fail, and the cards that say that it agrees, and no more."""
    sources = cells(CHAPTERS[0])
    failed = json.loads(run_without("torch", sources).splitlines()[-1].removeprefix("failed: "))
    follow = ("worked(", "costs(", "counts")  # what is made of the others' results
    wrong = [sources[n] for n in failed if not any(word in sources[n] for word in ("torch", *follow))]
    assert wrong == [] and 0 < len(failed) <= 10


def test_a_chapter_that_begins_with_pytorch_says_so():
    for path in NOTEBOOKS:
        box = json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"]
        assert "import torch" not in cells(path)[0] or "PyTorch" in "".join(box)
