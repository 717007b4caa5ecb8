"""What was graded before: whether the gradebook has a result already, and to which text a person gave a mark.

A mark belongs to the text that the person read. Where another text stands now, the mark is taken back, the
answer waits for a person again, and its page shows what had the mark before.
"""

import json

import nbformat

from . import gradebook

STAMP = ".recorded"


def holds(task, result):
    """Whether the gradebook has this very result."""
    return stamped(task).get("fingerprint") == result["fingerprint"] and gradebook.has(task)


def stamped(task):
    """What `stamp` remembered of a submission; nothing before the first time."""
    path = task.kept.with_suffix(STAMP)
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def stamp(task, result, texts=None, earlier=None):
    """Remember that the gradebook has this result of this work, its answers, and what had a mark before."""
    data = {
        "fingerprint": result["fingerprint"],
        "work": result["work"],
        "texts": texts or {},
        "earlier": earlier or {},
    }
    task.kept.with_suffix(STAMP).write_text(json.dumps(data), encoding="utf-8")


def settle(task, notebook, result):
    """Let a person's marks stand where the answer is the one that was marked, and take them back elsewhere.

    Returns what had a mark before, by the answer's id: its text and its mark.
    """
    before, texts = stamped(task), answers(nbformat.read(notebook, as_version=4))
    known = before.get("texts") or (texts if before.get("work") == result["work"] else {})
    earlier = dict(before.get("earlier", {}))
    with gradebook.opened() as book:
        for grade in book.find_submission_notebook(task.assignment, task.assignment, task.student).grades:
            answer = grade.name.removesuffix("-test")
            if grade.manual_score is None:
                continue
            if not before:  # nothing tells which text was marked: a person looks again
                grade.needs_manual_grade = True
                continue
            if known.get(answer) == texts.get(answer):
                grade.needs_manual_grade = False
                earlier.pop(answer, None)
            else:
                earlier[answer] = {
                    "text": known.get(answer, ""),
                    "mark": f"{grade.manual_score:g} of {grade.max_score:g}",
                }
                grade.manual_score, grade.needs_manual_grade = None, True
        book.db.commit()
    stamp(task, result, texts, earlier)
    return {answer: one for answer, one in earlier.items() if one["text"] != texts.get(answer)}


def answers(nb):
    """The text of each answer by its id."""
    cells = [cell for cell in nb.cells if cell.metadata.get("nbgrader", {}).get("solution")]
    return {cell.metadata.nbgrader["grade_id"]: cell.source for cell in cells}
