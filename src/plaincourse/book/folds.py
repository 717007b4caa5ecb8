"""A Sphinx extension: what a page folds is written as `<details>`, which every Markdown viewer folds, too.

    <details>
    <summary>Hint 1</summary>

    Any *MyST*, with formulas, code and links.

    </details>

MyST hands the three lines of HTML on as they stand. Here a pair of them and all between become one node, so that
an end without a beginning is an error of the build, and a page can style it.
"""

import re

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

OPENING = re.compile(r"<details>\s*<summary>(.*?)</summary>\s*", re.DOTALL)
CLOSING = re.compile(r"</details>\s*")
LOGGER = logging.getLogger(__name__)


class fold(nodes.General, nodes.Element):
    """What is folded; its attribute `summary` is the line that stays, as HTML."""


class Folds(SphinxTransform):
    """Put everything between `<details>` and `</details>` into a `fold`."""

    default_priority = 210

    def apply(self):
        for closing in [
            node for node in self.document.findall(nodes.raw) if CLOSING.fullmatch(node.astext())
        ]:
            if not self.close(closing):
                LOGGER.warning("</details> ends no fold of its section", location=closing)
        for node in self.document.findall(nodes.raw):
            if "<details>" in node.astext():
                LOGGER.warning(
                    "a fold is <details> and <summary>...</summary>, an empty line, its text, an empty line and"
                    " </details>, all in one section",
                    location=node,
                )

    def close(self, closing):
        """Fold what stands between this end and its beginning; return whether there is one."""
        siblings = closing.parent.children
        end = siblings.index(closing)
        for start in range(end - 1, -1, -1):
            if isinstance(siblings[start], nodes.raw) and (
                opening := OPENING.fullmatch(siblings[start].astext())
            ):
                folded = fold("", *siblings[start + 1 : end], summary=opening[1])
                folded.source, folded.line = siblings[start].source, siblings[start].line
                closing.parent[start : end + 1] = [folded]
                return True
        return False


def open_fold(translator, node):
    """The beginning of a fold in a page."""
    translator.body.append(
        f'<details class="fold"><summary><span>{node["summary"]}</span></summary>\n<div class="fold-text">\n'
    )


def close_fold(translator, node):
    """The end of a fold in a page."""
    translator.body.append("</div></details>\n")


def setup(app):
    """Register the node and the transform."""
    app.add_node(fold, html=(open_fold, close_fold))
    app.add_transform(Folds)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
