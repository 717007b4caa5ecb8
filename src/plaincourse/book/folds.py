"""A Sphinx extension: what a page folds is written as `<details>`, which every Markdown viewer folds, too.

    <details>
    <summary>Hint 1</summary>

    Any *MyST*, with formulas, code and links.

    </details>

MyST hands these lines of HTML on as they stand. Here a beginning, its end and all between become one node, so
that one without the other is an error of the build, and a page can style it.
"""

import re

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

OPENING = re.compile(r"<details>\s*<summary>(.*?)</summary>\s*", re.DOTALL)
CLOSING = re.compile(r"</details>\s*")
LOGGER = logging.getLogger(__name__)


class fold(nodes.General, nodes.Element):
    """A summary and what is folded."""


class summary(nodes.General, nodes.Element):
    """The line of a fold that stays, as HTML."""


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
                    "a fold is <details> and <summary>...</summary>, an empty line, its text, an empty line"
                    " and </details>, all in one section",
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
                title = summary("", nodes.raw("", opening[1], format="html"))
                folded = fold("", title, *siblings[start + 1 : end])
                folded.source, folded.line = siblings[start].source, siblings[start].line
                closing.parent[start : end + 1] = [folded]
                return True
        return False


def writer(html):
    """A visitor that writes this HTML into the page."""
    return lambda translator, node: translator.body.append(html)


def setup(app):
    """Register the nodes and the transform."""
    app.add_node(fold, html=(writer('<details class="fold">'), writer("</div></details>\n")))
    app.add_node(
        summary, html=(writer("<summary><span>"), writer('</span></summary>\n<div class="fold-text">\n'))
    )
    app.add_transform(Folds)
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}
