"""Sphinx extension: the appendix of worked numbers, made from the ledger, and the style of its cards.

The directive ``{worked-numbers}`` lists every entry: what the document gives, what is true of it, the
verdict, and links to the cells that compute it. The style sheet, which holds that of the exercises' verdicts
too, goes only to pages that need it.
"""

import re

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from plaincourse.worked import card, ledger

STYLE = ledger.FILE.with_name("worked.css")
USES_STYLE = re.compile(r'class="(worked-card|verdict|[^"]*\bworked-list\b)')
SOURCE = re.compile(r'<span data-worked="(\w+)">\w+</span>')
APPENDIX = "chapters/appendix/worked-numbers"
CHAPTER = re.compile(r"chapters/(?:\d+_|appendix/)(\w+)$")


class WorkedNumbers(SphinxDirective):
    """One section for each document, one definition for each entry."""

    has_content = False

    def run(self):
        # The links depend on which chapters there are, so the page is read again in every build.
        self.env.note_dependency(str(ledger.FILE))
        self.env.note_reread()
        numbers = ledger.load()
        chapters = {found[1]: name for name in self.env.found_docs if (found := CHAPTER.match(name))}
        return [
            self.verdicts(),
            *(self.document(numbers, document, chapters) for document in numbers.documents.values()),
        ]

    def verdicts(self):
        """What the four words mean."""
        items = [
            nodes.list_item(
                "", nodes.paragraph("", "", nodes.strong("", verdict), nodes.Text(f": {meaning}"))
            )
            for verdict, meaning in ledger.VERDICTS.items()
        ]
        return nodes.bullet_list("", *items)

    def document(self, numbers, document, chapters):
        """The section of one document."""
        heading = f"Document {document.id}"
        title = nodes.inline("", document.title, classes=["language-ko"])
        about = nodes.paragraph("", "", nodes.emphasis("", "", title), nodes.Text(f". {document.gloss}."))
        entries = [self.entry(entry, chapters) for entry in numbers.of_document(document)]
        listed = nodes.definition_list("", *entries, classes=["worked-list"])
        section = nodes.section("", nodes.title("", heading), about, listed)
        section["names"].append(nodes.fully_normalize_name(heading))
        self.state.document.note_implicit_target(section, section)
        return section

    def entry(self, entry, chapters):
        """One entry: id, verdict and links, then what is given and what is true."""
        term = nodes.term("", "", nodes.strong("", entry.id), ids=[f"number-{entry.id}"])
        term += nodes.Text(f" · {entry.verdict} · ")
        for i, chapter in enumerate(dict.fromkeys(part.chapter for part in entry.parts)):
            term += [nodes.Text(", " if i else "in "), self.link(entry, chapter, chapters)]
        parts = [nodes.list_item("", nodes.paragraph("", described(part))) for part in entry.parts]
        place = nodes.inline("", entry.section, classes=["language-ko"])
        body = [
            nodes.paragraph("", "", nodes.Text(f"{entry.says} ("), place, nodes.Text(")")),
            nodes.bullet_list("", *parts),
            nodes.paragraph("", entry.why),
        ]
        return nodes.definition_list_item("", term, nodes.definition("", *body))

    def link(self, entry, chapter, chapters):
        """A link to the entry's cell in a chapter; plain text if the book has no such chapter."""
        if chapter not in chapters:
            return nodes.Text(chapter)
        page = self.env.app.builder.get_relative_uri(self.env.docname, chapters[chapter])
        return nodes.reference("", chapter, refuri=f"{page}#{card.anchor(entry)}", internal=True)


def described(part):
    """One part in a line: its label, what is printed, what is true."""
    expected, printed = ("; ".join(card.laid_out(values, values)) for values in (part.expected, part.printed))
    return f"{part.label}: {expected}" + (f" (document: {printed})" if part.right else "")


def add_style(app, pagename, templatename, context, doctree):
    """Link the style sheet from pages that use it, and each mark and card with its entry of the appendix."""
    if not USES_STYLE.search(context.get("body", "")):
        return
    app.add_css_file(STYLE.name)
    if APPENDIX in app.env.found_docs:
        page = app.builder.get_relative_uri(pagename, APPENDIX)
        context["body"] = SOURCE.sub(rf'<a href="{page}#number-\1">\1</a>', context["body"])


def ship_style(app, config):
    """Copy the style sheet to the book's _static folder."""
    config.html_static_path.append(str(STYLE))


def setup(app):
    """Register the directive and the style sheet."""
    app.add_directive("worked-numbers", WorkedNumbers)
    app.connect("config-inited", ship_style)
    app.connect("html-page-context", add_style)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
