"""Slides from the chapters' own cells, for teaching: one Reveal.js page a chapter, with the stored outputs,
that works offline.

    python tools/slides.py                            every chapter, into _build/slides
    python tools/slides.py chapters/03_matmul.ipynb   the ones named

A heading opens a new slide, and what does not fit goes on to the next one: tools/slides.js measures it in the
browser. Left out are the box at the start, the exercises, hints and solutions, the cards of the worked
numbers, and the code that draws a figure. An explorable is shown as its still picture.
"""

import argparse
import ast
import base64
import re
import shutil
from functools import cache
from html import escape
from importlib.metadata import distribution
from pathlib import Path

import nbformat
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from pybtex.database import parse_file
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from plaincourse.book import formulas
from plaincourse.pace import is_machinery

ROOT = Path(__file__).resolve().parents[1]
HERE = Path(__file__).parent
OUT = ROOT / "_build" / "slides"
LEFT_OUT = ("Exercises",)  # sections
BOX = re.compile(
    r"^(?P<fence>`{3,}|:{3,})\{(?P<kind>[\w:-]+)\}[ ]*(?P<title>[^\n]*)\n(?P<body>.*?)^(?P=fence)[ ]*$",
    re.MULTILINE | re.DOTALL,
)
ROLE = re.compile(r"\{(?P<role>[\w:]+)\}`(?P<text>[^`]*)`")
FOLD = re.compile(
    r"^<details>\n<summary>(?P<title>.*?)</summary>$.*?^</details>[ ]*$", re.MULTILINE | re.DOTALL
)
CHOICE = re.compile(r"[A-Z]\. ")  # the title of a fold that is a choice of a question, not a hint


def assets():
    """The files that the pages need, by the name that they get: Reveal.js comes from an installed
    package, the formulas' font and style from the book.
    """
    reveal = distribution("sphinx-revealjs").locate_file("sphinx_revealjs/_static/revealjs")
    files = {
        "reveal.js": reveal / "dist/reveal.js",
        "reveal.css": reveal / "dist/reveal.css",
        "reveal-LICENSE": reveal / "LICENSE",
    }
    own = [formulas.STYLE, formulas.FONT, HERE / "slides.js", HERE / "slides.css"]
    return files | {path.name: path for path in own}


# ---- text


@cache
def bibliography():
    """The works that the chapters cite."""
    return parse_file(str(ROOT / "references.bib"), bib_format="bibtex").entries


def cited(keys, textual):
    """Authors and year, as the book gives them: (Vaswani et al., 2017)."""
    labels = []
    for key in map(str.strip, keys.split(",")):
        entry = bibliography()[key]
        names = [
            re.sub(r"[{}]", "", " ".join(person.rich_last_names[0].render_as("text").split()))
            for person in entry.persons["author"]
        ]
        who = (
            names[0]
            if len(names) == 1
            else f"{names[0]} and {names[1]}"
            if len(names) == 2
            else f"{names[0]} et al."
        )
        labels.append(f"{who} ({entry.fields['year']})" if textual else f"{who}, {entry.fields['year']}")
    return ", ".join(labels) if textual else f"({'; '.join(labels)})"


def plain(source):
    """MyST as the Markdown that is shown: roles as text, choices as a list, other boxes left out."""

    def fold(match):
        return f"- {match['title']}\n" if CHOICE.match(match["title"]) else ""

    def role(match):
        if match["role"].startswith("cite"):
            return cited(match["text"], textual=match["role"] == "cite:t")
        return re.sub(r"\s*<[^<>]*>$", "", match["text"])

    source = BOX.sub("", FOLD.sub(fold, source))
    source = re.sub(r"(^- [^\n]*\n)\n+(?=- )", r"\1", source, flags=re.MULTILINE)
    source = ROLE.sub(role, source)
    return re.sub(r"^\([\w-]+\)=\s*$", "", source, flags=re.MULTILINE)  # labels


def formula(display):
    """The rule that writes a formula as MathML."""
    return lambda self, tokens, i, *_: formulas.set_formula(tokens[i].content, display)


def markdown():
    """The parser. A link leads to the other chapter's slides, or is plain text."""
    parser = (
        MarkdownIt("commonmark", {"html": True}).enable("table").use(dollarmath_plugin, double_inline=True)
    )
    parser.add_render_rule("math_inline", formula(False))
    parser.add_render_rule("math_inline_double", formula(True))
    parser.add_render_rule(
        "math_block",
        lambda self, tokens, i, *_: (
            f'<div class="block formula">'
            f"{formulas.set_formula(formulas.one_block(tokens[i].content), True)}</div>"
        ),
    )
    return parser


PARSER = markdown()


def link(href):
    """The address of a link as seen from the slides: another chapter's slides, a page elsewhere, or none."""
    chapter = re.fullmatch(r"(?:\.\./|chapters/)?(\d\d_\w+)\.ipynb(?:#.*)?", href)
    return f"{chapter[1]}.html" if chapter else href if href.startswith(("https://", "http://")) else None


def linked(tokens):
    """The tokens with every link's address put right, or the link taken away."""
    for token in tokens:
        if token.children:
            kept, gone = [], 0
            for child in token.children:
                if child.type == "link_open":
                    address = link(child.attrs["href"])
                    if address is None:
                        gone += 1
                        continue
                    child.attrs["href"] = address
                elif child.type == "link_close" and gone:
                    gone -= 1
                    continue
                kept.append(child)
            token.children = kept
    return tokens


def blocks(source):
    """The top-level pieces of a Markdown text: (heading level or 0, HTML)."""
    tokens, piece = linked(PARSER.parse(plain(source))), []
    for token in tokens:
        piece.append(token)
        if token.level == 0 and token.nesting <= 0:
            html = PARSER.renderer.render(piece, PARSER.options, {})
            level = int(piece[0].tag[1]) if piece[0].type == "heading_open" else 0
            if level:
                yield level, PARSER.renderer.render([piece[1]], PARSER.options, {})
            elif html.strip():
                html = re.sub(r"<ul>(?=\s*<li>A\. )", '<ul class="choices">', html)
                yield 0, html if html.startswith('<div class="block') else f'<div class="block">{html}</div>'
            piece = []


# ---- code


HELPERS = re.compile(
    r"^from plaincourse(\.\w+)? import (check|worked|figures|explorables)(, (figures|explorables))*\n",
    re.MULTILINE,
)
PICTURES = ("figures", "explorables")


def listing(source):
    """The code to be shown: none for a figure's, which is long and only draws; without the call of worked(),
    whose card is not shown.
    """
    tree = ast.parse(source)
    last = tree.body[-1] if tree.body else None
    called = last.value.func if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) else None
    if isinstance(called, ast.Attribute) and getattr(called.value, "id", None) in PICTURES:
        return ""
    if getattr(called, "id", None) == "worked":
        source = "\n".join(source.split("\n")[: last.lineno - 1])
    return re.sub(r"\n{3,}", "\n\n", HELPERS.sub("", source)).strip()


def picture(cell, svg):
    """A stored figure, apart from the page: the ids inside it are its own."""
    alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
    return (
        f'<img alt="{escape(alt)}" src="data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}">'
    )


def shown(cell, output):
    """An output as HTML; nothing for a card or a verdict."""
    if output.output_type == "stream":
        return f"<pre>{escape(output.text.rstrip())}</pre>"
    data = output.get("data", {})
    if "image/svg+xml" in data:
        return picture(cell, data["image/svg+xml"])
    html = data.get("text/html", "")
    if 'class="worked-card' in html or 'class="verdict' in html:
        return ""
    if still := re.search(r'<div class="plain-explorable".*?(<svg.*</svg>)', html, re.DOTALL):
        return still[1]
    return html or (f"<pre>{escape(data['text/plain'])}</pre>" if "text/plain" in data else "")


def code(cell):
    """A code cell and what it shows; of one that draws or checks, what it shows alone."""
    outputs = "".join(shown(cell, output) for output in cell.get("outputs", []))
    source = "" if is_machinery(cell) else listing(cell.source)
    parts = [highlight(source, PythonLexer(), HtmlFormatter(cssclass="code"))] if source else []
    parts += [f'<div class="output">{outputs}</div>'] if outputs else []
    kind = "cell" if source else "cell figure"
    return f'<div class="block {kind}">{"".join(parts)}</div>' if parts else ""


# ---- pages


def slides(notebook):
    """The topics of a chapter: (level, heading, HTML of its blocks); the first is the title."""
    topics = []
    for cell in notebook.cells:
        pieces = blocks(cell.source) if cell.cell_type == "markdown" else [(0, code(cell))]
        for level, html in pieces:
            if level:
                topics.append((level, html, []))
            elif html:
                topics[-1][2].append(html)
    kept, left_out = [], False
    for level, heading, parts in topics:
        left_out = heading in LEFT_OUT if level <= 2 else left_out
        if not left_out:
            kept.append((level, heading, parts))
    return kept


def page(notebook):
    """The whole HTML page: a title slide, then a stack of slides for each section."""
    (_, title, opening), *topics = slides(notebook)
    sentence, *pictures = opening
    shown = "".join(
        f'<section class="topic"><h2 class="again">{title}</h2>{picture}</section>' for picture in pictures
    )
    parts = [f'<section><section class="title"><h1>{title}</h1>{sentence}</section>{shown}</section>']
    for level, heading, blocks in topics:
        if level == 2:
            parts.append(f'</section><section data-section="{escape(re.sub("<[^>]*>", "", heading))}">')
        kind = "topic" if blocks else "title"
        parts.append(f'<section class="{kind}"><h{level}>{heading}</h{level}>{"".join(blocks)}</section>')
    body = parts[0] + "".join(parts[1:]).removeprefix("</section>") + ("</section>" if topics else "")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{re.sub("<[^>]*>", "", title)}: slides</title>
<link rel="stylesheet" href="assets/reveal.css">
<link rel="stylesheet" href="assets/formulas.css">
<link rel="stylesheet" href="assets/slides.css">
</head>
<body>
<div class="reveal"><div class="slides">{body}</div></div>
<script src="assets/reveal.js"></script>
<script src="assets/slides.js"></script>
</body>
</html>
"""


def main():
    parser = argparse.ArgumentParser(description="Write the chapters' slides.")
    parser.add_argument("notebooks", nargs="*", type=Path, help="notebooks; by default every chapter")
    parser.add_argument("--out", type=Path, default=OUT, help="the folder to write to")
    arguments = parser.parse_args()
    (arguments.out / "assets").mkdir(parents=True, exist_ok=True)
    for name, path in assets().items():
        shutil.copyfile(path, arguments.out / "assets" / name)
    for path in arguments.notebooks or sorted((ROOT / "chapters").glob("[0-9]*.ipynb")):
        written = arguments.out / f"{path.stem}.html"
        written.write_text(page(nbformat.read(path, as_version=4)), encoding="utf-8", newline="\n")
        print(written)


if __name__ == "__main__":
    main()
