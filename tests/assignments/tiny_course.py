"""A course of one small assignment, for the tests of grading, and the submissions that students and cheats
hand in.
"""

import copy
import shutil

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from project import ROOT

NAME = "tiny"
CANARY = "canary-in-the-solution"

MAP = """
[[assignment]]
name = "tiny"
title = "A tiny assignment"
chapter = "06_attention"
""" + "".join(
    f"""
[[assignment.question]]
name = "{name}"
title = "{title}"
kind = "{kind}"
objective = "o"
section = "s"
minutes = 1
points = {points}
"""
    for name, title, kind, points in (
        ("q1", "A dot product", "by hand", 2),
        ("q2", "Softmax", "function", 3),
        ("q3", "Sigmoid", "mend", 2),
        ("q4", "Why", "written", 1),
    )
)

VARIANTS = '''
def q1(rng):
    """Two rows of small numbers."""
    return rng.integers(1, 9, size=3), rng.integers(10, 19, size=3)
'''

REFERENCE = f'''
"""{CANARY}"""
import numpy as np

from plaincourse.exercises import Exercise, Property, the_value
from plainformer.activations import sigmoid, softmax
from plaingrader.questions import variants

Q1 = Exercise(
    "q1", "A dot product", answer="dot", reference=lambda x, y: x @ y,
    cases=the_value(2, variants("tiny").q1), by_hand=True,
)
Q1.mistake("sums first", "Multiply pair by pair before you add.", lambda x, y: x.sum() * y.sum())
Q1.mistake("only the first", "That is the first product alone.", lambda x, y: x[0] * y[0])

Q2 = Exercise(
    "q2", "Softmax", answer="my_softmax", reference=lambda scores: softmax(scores),
    cases=(
        Property("ordinary scores", 2, lambda rng: [(rng.normal(size=4),), (rng.normal(size=(2, 5)),)]),
        Property("large scores", 1, lambda rng: [(rng.normal(size=3) + 1000,)]),
    ),
    refuse=("plainformer.activations.softmax", "torch.softmax"),
)


Q2.mistake("overflow", "Subtract the maximum first.", lambda scores: divided(np.exp(scores)))


@Q2.mistake("not normalised", "Divide by the sum.")
def powers(scores):
    return np.exp(scores - scores.max(-1, keepdims=True))


def divided(powers):
    return powers / powers.sum(-1, keepdims=True)


Q2.mistake("wrong axis", "Each row sums to 1.", lambda scores: softmax(scores, axis=0))

Q3 = Exercise(
    "q3", "Sigmoid", answer="my_sigmoid", reference=lambda z: sigmoid(z),
    cases=(Property("any number", 2, lambda rng: [(rng.normal(size=6),)]),),
    handed_out=lambda z: 1 / (1 + np.exp(z)),
)
Q3.mistake("no exponential", "The e is missing.", lambda z: 1 / (1 - z))
'''

RIGHT = {
    "dot": "dot = int(x @ y)",
    "my_softmax": (
        "    e = np.exp(scores - scores.max(-1, keepdims=True))\n    return e / e.sum(-1, keepdims=True)"
    ),
    "my_sigmoid": "def my_sigmoid(z):\n    return 1 / (1 + np.exp(-z))",
}


def meta(grade_id, points=None, solution=False):
    """nbgrader's metadata of one cell."""
    grade = points is not None
    data = {
        "grade": grade,
        "grade_id": grade_id,
        "locked": not solution,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    return {"nbgrader": data | ({"points": points} if grade else {})}


def code(grade_id, source, **kind):
    return new_code_cell(source, id=grade_id, metadata=meta(grade_id, **kind))


def region(text):
    return f"### BEGIN SOLUTION\n{text}\n### END SOLUTION"


def source_notebook():
    """The instructor's notebook."""
    own = {"solution": True}
    cells = [
        new_markdown_cell("# Tiny", id="title", metadata=meta("title")),
        new_code_cell('STUDENT = ""', id="student"),
        code(
            "sheet",
            f'import numpy as np\nfrom plaincourse.assigned import Sheet\nsheet = Sheet("{NAME}", STUDENT)',
        ),
        code("q1-numbers", 'x, y = sheet.numbers("q1")'),
        code("q1", "dot = ...\n" + region(f"# {CANARY}\n{RIGHT['dot']}"), **own),
        code("q1-test", 'sheet.check("q1", dot)', points=2),
        code(
            "q2",
            'def my_softmax(scores):\n    """Rows that sum to 1."""\n    ### BEGIN SOLUTION\n    #'
            f" {CANARY}\n{RIGHT['my_softmax']}\n    ### END SOLUTION",
            **own,
        ),
        code("q2-test", 'sheet.check("q2", my_softmax)', points=3),
        code(
            "q3",
            "def my_sigmoid(z):\n    return 1 / (1 + np.exp(z))\n"
            + region(f"# {CANARY}\n{RIGHT['my_sigmoid']}"),
            **own,
        ),
        code("q3-test", 'sheet.check("q3", my_sigmoid)', points=2),
        new_markdown_cell("Why?", id="q4-text", metadata=meta("q4-text")),
        new_markdown_cell(
            region(f"Because. {CANARY}"), id="q4", metadata=meta("q4", points=1, solution=True)
        ),
    ]
    return new_notebook(
        cells=cells,
        metadata={"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
    )


def lay_out(folder):
    """Write the course into this folder."""
    for name, text in {
        "course.toml": MAP,
        f"source/{NAME}/variants.py": VARIANTS,
        f"reference/{NAME}.py": REFERENCE,
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    shutil.copy(ROOT / "assignments/nbgrader_config.py", folder)
    nbformat.write(source_notebook(), folder / f"source/{NAME}/{NAME}.ipynb")


class Submission:
    """A student's notebook: the released one, edited."""

    def __init__(self, released, student):
        self.nb, self.student = copy.deepcopy(released), student
        self["student"].source = f"STUDENT = {student!r}"

    def __getitem__(self, grade_id):
        return next(cell for cell in self.nb.cells if cell.id == grade_id)

    def answer(self, **answers):
        """Put an answer into its cell: dot, my_softmax (the body), my_sigmoid (the function)."""
        for name, text in answers.items():
            grade_id = {"dot": "q1", "my_softmax": "q2", "my_sigmoid": "q3"}[name]
            head = 'def my_softmax(scores):\n    """Rows that sum to 1."""\n' if name == "my_softmax" else ""
            self[grade_id].source = head + text
        return self

    def perfect(self):
        self["q4"].source = "Because the rows are to sum to 1."
        return self.answer(**RIGHT)

    def add(self, source, after="sheet"):
        """A cell of the student's own."""
        place = next(index for index, cell in enumerate(self.nb.cells) if cell.id == after)
        self.nb.cells.insert(place + 1, new_code_cell(source))
        return self

    def hand_in(self, course, name=f"{NAME}.ipynb", text=None):
        """Write it to the submitted folder."""
        folder = course / "submitted" / self.student / NAME
        folder.mkdir(parents=True, exist_ok=True)
        if name:
            (folder / name).write_bytes((text or nbformat.writes(self.nb)).encode())
        return folder
