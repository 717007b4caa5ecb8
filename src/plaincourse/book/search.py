"""A Sphinx extension: the search finds numbers, and Korean words whatever particle they carry.

Sphinx's English index splits 124,439,808 into three, its search page skips what is only digits, and a word of
two letters is found only if nothing follows it. The rest of the search page is mended in search.js, beside
this file.
"""

import re
from pathlib import Path

from sphinx.search.en import SearchEnglish

SCRIPT = Path(__file__).with_name("search.js")
NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+"
HANGUL = re.compile(r"[가-힣]{2,}")


class SearchNumbers(SearchEnglish):
    """English, with numbers as they are written and the beginnings of Korean words."""

    js_splitter_code = (
        "function splitQuery(query) { return query.match(/" + NUMBER + r"|[\p{L}\p{N}_]+/gu) ?? []; }"
    )

    def split(self, text):
        """The words and numbers of a text. A number with commas stands without them, too, and a Korean word
        also cut short.
        """
        words = []
        for word in re.findall(rf"{NUMBER}|\w+", text):
            words.append(word)
            if "," in word:
                words.append(word.replace(",", ""))
            elif HANGUL.fullmatch(word):
                words += [word[:length] for length in range(1, len(word))]
        return words


def write_script(app):
    """Put the search page's script into the built book."""
    if app.builder.format == "html":
        folder = Path(app.outdir, "_static")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / SCRIPT.name).write_text(SCRIPT.read_text(encoding="utf-8"), encoding="utf-8", newline="\n")


def link_script(app, pagename, templatename, context, doctree):
    """Link the script from the search page, deferred: it runs after Sphinx's, before the search begins."""
    if pagename == "search":
        link = f'<script defer src="{context["pathto"]("_static/" + SCRIPT.name, 1)}"></script>\n'
        context["metatags"] = context.get("metatags", "") + link


def setup(app):
    """Register the language and the script."""
    app.add_search_language(SearchNumbers)
    app.connect("builder-inited", write_script)
    app.connect("html-page-context", link_script)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
