"""Written answers that are more alike than chance: for a person to read side by side, never a mark."""

from html import escape
from itertools import combinations

import nbformat
from rapidfuzz import fuzz, process

from . import course
from .report import POLICY, STYLE

TEXT = (
    "Pairs of written answers that are alike. Read them before you think anything of it: a quotation, a"
    " shared note or the question itself can be why."
)
ALIKE = 80  # of 100
SHORTEST = 80  # characters that are enough to compare
MOST = 100  # pairs that are shown


def write(path, name, tasks):
    """A page with the pairs, the most alike first, for each written question."""
    written = [item.name for item in course.find(name).items if item.kind == "written"]
    found = {}
    for task in tasks:
        for cell in nbformat.read(task.kept / f"{name}.ipynb", as_version=4).cells:
            question = cell.metadata.get("nbgrader", {}).get("grade_id")
            if question in written and len(cell.source) >= SHORTEST:
                found.setdefault(question, {})[task.student] = cell.source[:10_000]
    parts = [part for question in written for part in shown(question, found.get(question, {}))]
    head = f"<!doctype html><html lang=en><meta charset=utf-8>{POLICY}<title>{name}</title>"
    body = "".join(parts) or "<p>No two written answers are alike.</p>"
    path.write_text(
        f"{head}<style>{STYLE}</style><h1>{name}</h1><p>{TEXT}</p>{body}\n",
        encoding="utf-8",
    )


def shown(question, texts):
    """The pairs of one question as HTML."""
    names = list(texts)
    table = process.cdist(
        list(texts.values()), list(texts.values()), scorer=fuzz.token_sort_ratio, score_cutoff=ALIKE
    )
    pairs = [
        (table[i, j], names[i], names[j])
        for i, j in combinations(range(len(names)), 2)
        if table[i, j] >= ALIKE
    ]
    for score, one, other in sorted(pairs, reverse=True)[:MOST]:
        cells = "".join(f"<td><b>{escape(name)}</b><br>{escape(texts[name])}</td>" for name in (one, other))
        yield f"<h2>{question}: {score:.0f} of 100</h2><table><tr>{cells}</tr></table>"
