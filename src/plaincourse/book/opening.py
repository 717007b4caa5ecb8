"""A Sphinx extension for the top of a chapter's page: its number, where on the way from text to word it
stands, how long it takes, and a switch for the code that the page hides.

The first fold of a chapter, *Before you start*, gets the minutes behind its title. Cells with
the tag `machinery` (imports, drawing, checking) are in the page, hidden until the switch is pressed.
"""

import re
from html import escape

from docutils import nodes
from sphinx.transforms import SphinxTransform

from plaincourse.pace import minutes

from .folds import fold, summary

CHAPTER = re.compile(r"chapters/(\d+)_(\w+)$")
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
                reading, exercises = minutes(self.env.doc2path(self.env.docname))
                line = f"{TITLE} · about {reading} minutes, the exercises {exercises} more"
                title.children = [nodes.raw("", line, format="html")]
                break


def strip(current, address):
    """The way from text to word as HTML, the part of the `current` chapter lit. `address` gives a
    chapter's address, or nothing where the book has no such chapter.
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
    chapters = {name[2]: page for page in app.env.found_docs if (name := CHAPTER.match(page))}

    def address(chapter):
        return chapter in chapters and app.builder.get_relative_uri(pagename, chapters[chapter])

    switch = '<button type="button" class="all-code" aria-pressed="false" hidden>Show all code</button>'
    opening = f"</h1>\n{strip(found[2], address)}\n{switch}\n"
    number = f'<h1><span class="number">{int(found[1])}</span>'
    context["body"] = context["body"].replace("</h1>", opening, 1).replace("<h1>", number, 1)


def setup(app):
    """Connect the above to the build."""
    app.add_transform(Minutes)
    app.connect("html-page-context", write_opening)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
