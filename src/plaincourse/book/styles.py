"""A Sphinx extension that takes out of the style sheets what no page uses.

The theme brings all of Bootstrap, thousands of icons and more, of which the book uses a fifth. When all pages
are written, a rule stays only if each class and each id that it asks for is a word of some page, or of some
script that a page loads. Rules that ask for elements and attributes stay, and so do the authors' notices.
"""

import hashlib
import re
from pathlib import Path

import tinycss2

SCRIPT = re.compile(r'<script[^>]* src="([^"?]+)')
SHEET = re.compile(r'(<link[^>]* href="([^"?]+\.css))[^"]*"')
GROUPS = {"media", "supports", "container", "layer"}  # at-rules that hold rules
NOTICE = re.compile("licen|copyright|CC BY", re.IGNORECASE)
UNUSED_FONTS = "Font Awesome"  # plaincourse.book.theme draws the icons


def words(text):
    """Everything in a page or a script that may be the name of a class or an id."""
    return set(re.findall(r"[\w-]+", text.replace("\\n", " ")))


def names(selector):
    """The classes and ids that a selector asks for, less those inside brackets: they may be alternatives."""
    before = None
    for token in selector:
        if token.type == "hash" or (token.type == "ident" and before == "."):
            yield token.value
        before = token.value if token.type == "literal" else None


def selectors(prelude):
    """The selectors of a rule, each a list of tokens."""
    parts = [[]]
    for token in prelude:
        if token.type == "literal" and token.value == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def reduced(rules, used):
    """The text of those rules that may apply where only the `used` words occur."""
    kept = []
    for rule in rules:
        if rule.type == "comment":
            kept.append(rule.serialize() + "\n" if NOTICE.search(rule.value) else "")
        elif rule.type == "qualified-rule":
            wanted = [part for part in selectors(rule.prelude) if used.issuperset(names(part))]
            if wanted:
                asked = ",".join(tinycss2.serialize(part).strip() for part in wanted)
                kept.append(f"{asked}{{{tinycss2.serialize(rule.content)}}}\n")
        elif rule.lower_at_keyword in GROUPS and rule.content is not None:
            inner = reduced(parsed(rule.content, tinycss2.parse_rule_list), used)
            if inner:
                kept.append(f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{\n{inner}}}\n")
        elif rule.lower_at_keyword != "font-face" or UNUSED_FONTS not in rule.serialize():
            kept.append(rule.serialize() + "\n")
    return "".join(kept)


def parsed(source, parse=tinycss2.parse_stylesheet):
    """The rules and the comments of a style sheet."""
    return parse(source, skip_whitespace=True)


def linked(pattern, page, text, group=1):
    """The files of the book that a page links by the pattern."""
    paths = ((page.parent / found[group]).resolve() for found in pattern.finditer(text))
    return {path for path in paths if path.is_file()}


def reduce_styles(app, error):
    """Reduce every style sheet of _static that a page of the written book links, and renew its version in the
    links. The explorables' own sheet is whole already: their scripts make names of classes as they go.
    """
    if error or app.builder.format != "html":
        return
    pages = {page: page.read_text(encoding="utf-8") for page in Path(app.outdir).rglob("*.html")}
    scripts = set().union(*(linked(SCRIPT, page, text) for page, text in pages.items()))
    sheets = set().union(*(linked(SHEET, page, text, 2) for page, text in pages.items()))
    sheets = {path for path in sheets if "_static" in path.parts}
    used = set().union(*map(words, pages.values()), *(words(path.read_text("utf-8")) for path in scripts))
    versions = {}
    for path in sheets:
        text = reduced(parsed(path.read_text(encoding="utf-8")), used)
        path.write_text(text, encoding="utf-8", newline="\n")
        versions[path] = hashlib.sha256(text.encode()).hexdigest()[:8]
    for page, text in pages.items():
        page.write_text(renewed(text, page, versions), encoding="utf-8", newline="\n")


def renewed(text, page, versions):
    """The text of a page with the versions of the style sheets in their links."""

    def link(found):
        version = versions.get((page.parent / found[2]).resolve())
        return f'{found[1]}?v={version}"' if version else found[0]

    return SHEET.sub(link, text)


def setup(app):
    """Reduce the styles when the book is written, after all others."""
    app.connect("build-finished", reduce_styles, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
