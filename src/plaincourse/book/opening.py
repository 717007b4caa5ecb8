"""A Sphinx extension for the top of a chapter's page: where on the way from text to word the chapter stands, how
long it takes, and a switch for the code that the page hides.

The first fold of a chapter, *Before you start*, gets the minutes behind its title: so many words and so many
cells that the reader sees. Cells with the tag `machinery` (imports, drawing, checking) are in the page, hidden
until the switch is pressed.
"""

import re
from html import escape

from docutils import nodes
from sphinx.util.docutils import SphinxTransform

from .folds import fold, summary

CHAPTER = re.compile(r"chapters/\d+_(\w+)$")
TITLE = "Before you start"
# The way from text to word: what stands on the strip, and the chapter that builds it.
BEFORE = [("text", ""), ("tokens", "tokens"), ("rows", "matmul"), ("order", "positions")]
BLOCK = [("norm", "normalization"), ("attention", "attention"), ("mask", "masks"), ("MLP", "mlp")]
AFTER = [("× 12", "block"), ("next word", "sampling"), ("and again", "generation")]
LEARNT = [("learnt from text", "training")]
# Chapters that have no part of their own: where they stand.
PLACES = {
    "learning": ("learnt from text",),
    "before_attention": ("attention",),
    "real_model": tuple(name for name, chapter in [*BEFORE, *BLOCK, *AFTER] if chapter),
}


class Minutes(SphinxTransform):
    """Write the minutes behind *Before you start*."""

    default_priority = 900

    def apply(self):
        if not CHAPTER.match(self.env.docname):
            return
        for box in self.document.findall(fold):
            title = next(box.findall(summary))
            if title.astext() == TITLE:
                reading, all_of_it = minutes(self.document)
                line = f"{TITLE} · about {reading} minutes, {all_of_it} with the exercises"
                title.children = [nodes.raw("", line, format="html")]
                break


def minutes(document):
    """The minutes to read a chapter, and with its exercises, in fives: a minute for 100 words, half a minute for a
    cell that is shown, and half of that again for the exercises.
    """
    words = sum(len(text.astext().split()) for text in document.findall(nodes.paragraph) if is_read(text))
    cells = sum(is_shown(cell) for cell in document.findall(nodes.container))
    reading = words / 100 + cells / 2
    return [max(5, 5 * round(time / 5)) for time in (reading, 1.5 * reading)]


def is_read(text):
    """Whether a paragraph is seen by all who read the page: it is in no fold, no exercise and no output."""
    unread = {"cell", "exercise"}
    return not any(isinstance(node, fold) or unread.intersection(node.get("classes", ())) for node in ancestors(text))


def ancestors(node):
    """The elements around a node, from the inside out."""
    while (node := node.parent) is not None:
        yield node


def is_shown(cell):
    """Whether a container is a code cell that the page shows."""
    classes = cell.get("classes", ())
    return "cell" in classes and "tag_machinery" not in classes


def strip(current, address):
    """The way from text to word as HTML, the part of the `current` chapter lit. `address` gives a chapter's, or
    None where the book has no such chapter.
    """
    lit = PLACES.get(current, ())

    def listed(parts):
        return "".join(item(name, chapter) for name, chapter in parts)

    def item(name, chapter):
        here = ' class="lit"' if name in lit or chapter == current else ""
        url = chapter and address(chapter)
        text = f'<a href="{url}">{escape(name)}</a>' if url else f"<span>{escape(name)}</span>"
        return f"<li{here}>{text}</li>"

    return (
        '<nav class="strip" aria-label="From text to word"><ol>'
        f'{listed(BEFORE)}<li class="of-block"><ol>{listed(BLOCK)}</ol></li>{listed(AFTER)}</ol>'
        f'<ol class="below">{listed(LEARNT)}</ol></nav>'
    )


def write_opening(app, pagename, templatename, context, doctree):
    """Put the strip and the switch below the title of a chapter."""
    if not (found := CHAPTER.match(pagename)):
        return
    chapters = {name[1]: page for page in app.env.found_docs if (name := CHAPTER.match(page))}

    def address(chapter):
        return chapter in chapters and app.builder.get_relative_uri(pagename, chapters[chapter])

    switch = '<button type="button" class="all-code" aria-pressed="false" hidden>Show all code</button>'
    opening = f"</h1>\n{strip(found[1], address)}\n{switch}\n"
    context["body"] = context["body"].replace("</h1>", opening, 1)


def setup(app):
    """Connect the above to the build."""
    app.add_transform(Minutes)
    app.connect("html-page-context", write_opening)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
