"""A Sphinx extension that puts right what other extensions write into a page.

- MyST-NB puts paragraphs into the `<summary>` of a hidden cell, where only words may stand, and a label over
  it that hides them from a screen reader.
- sphinx-exercise gives the text of every exercise the same id.
- A browser may break a line between a formula and the comma after it.
"""

import re
from html import escape

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode, depart_HideCellInput
from sphinx.transforms.post_transforms import SphinxPostTransform

OPENS, ENDS = re.compile(r"[(\[“‘]+$"), re.compile(r"^[.,;:!?)\]”’…]+")


def open_hidden_cell(translator, node):
    """The beginning of a hidden cell: what to press while it is shut, and while it is open."""
    classes = " ".join(node["classes"])
    shut, opened = escape(node["prompt_show"]), escape(node["prompt_hide"])
    translator.body.append(
        f'<details class="admonition hide {classes}">\n<summary>'
        f'<span class="collapsed admonition-title">{shut}</span>'
        f'<span class="expanded admonition-title">{opened}</span></summary>\n'
    )


class ExerciseIds(SphinxPostTransform):
    """Take the id away that all exercises share."""

    default_priority = 900

    def run(self, **kwargs):
        for section in self.document.findall(nodes.section):
            section["ids"] = [name for name in section["ids"] if name != "exercise-content"]


class Punctuation(SphinxPostTransform):
    """Keep a formula in the sentence on one line with the sign before and after it."""

    default_priority = 900

    def run(self, **kwargs):
        for formula in list(self.document.findall(nodes.math)):
            parent, place = formula.parent, formula.parent.index(formula)
            before = cut(parent, place - 1, OPENS) if place else ""
            after = cut(parent, place + 1, ENDS) if place + 1 < len(parent) else ""
            if before or after:
                kept = nodes.inline("", "", classes=["together"])
                parent.replace(formula, kept)
                kept += [nodes.Text(before), formula, nodes.Text(after)]


def cut(parent, place, pattern):
    """Take what the pattern finds out of the text that is this child of the parent; "" if there is none."""
    text = parent[place]
    found = isinstance(text, nodes.Text) and pattern.search(text)
    if not found:
        return ""
    parent[place] = nodes.Text(pattern.sub("", text))
    return found[0]


def setup(app):
    """Register what replaces the others' work."""
    app.setup_extension("myst_nb")
    app.add_node(HideCodeCellNode, override=True, html=(open_hidden_cell, depart_HideCellInput))
    app.add_post_transform(ExerciseIds)
    app.add_post_transform(Punctuation)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
