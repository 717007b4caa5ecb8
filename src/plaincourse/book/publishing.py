"""A Sphinx extension: what a published book needs besides its pages.

Always a file .nojekyll, without which GitHub leaves out every folder whose name begins with an underscore.
Where the address is set (`html: baseurl` in _config.yml): the lines that describe a page where its link is
shared, a list of all addresses for search engines, and a page for an address that does not exist.
"""

from html import escape
from pathlib import Path

from docutils import nodes

MISSING = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Not found: {project}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 1.125rem/1.6 system-ui, sans-serif; max-width: 34rem; margin: 20vh auto; padding: 0 1rem; }}
</style>
</head>
<body>
<h1>There is no such page</h1>
<p>It may have moved. The <a href="{address}index.html">first page of {project}</a> leads to all others,
and the <a href="{address}search.html">search</a> finds every word of them.</p>
</body>
</html>
"""


def first_paragraph(doctree):
    """The text of a page's first paragraph, or None."""
    for paragraph in doctree.findall(nodes.paragraph):
        return " ".join(paragraph.astext().split())
    return None


def address(app):
    """The book's address with a slash at its end; empty if none is set."""
    return app.config.html_baseurl.rstrip("/") + "/" if app.config.html_baseurl else ""


def describe(app, pagename, templatename, context, doctree):
    """Describe a page to search engines, and to those with whom its link is shared."""
    description = doctree and first_paragraph(doctree)
    lines = [f'<meta name="description" content="{escape(description)}"/>'] if description else []
    if description and address(app):
        shared = {
            "og:type": "article",
            "og:site_name": app.config.project,
            "og:title": context["title"],
            "og:description": description,
            "og:url": f"{address(app)}{pagename}.html",
        }
        lines += [f'<meta property="{name}" content="{escape(text)}"/>' for name, text in shared.items()]
    context["metatags"] = "\n".join([context.get("metatags", ""), *lines, ""])


def write_files(app, exception):
    """Write the files that no page links to."""
    if exception or app.builder.format != "html":
        return
    folder, root = Path(app.outdir), address(app)
    write(folder / ".nojekyll", "")
    if root:
        pages = sorted(f"{root}{name}.html" for name in app.env.found_docs)
        write(folder / "sitemap.txt", "\n".join(pages) + "\n")
        write(folder / "404.html", MISSING.format(project=escape(app.config.project), address=escape(root)))


def write(path, text):
    """Write a text file, the same on every system."""
    path.write_text(text, encoding="utf-8", newline="\n")


def setup(app):
    """Connect the above to the build."""
    app.connect("html-page-context", describe, priority=910)
    app.connect("build-finished", write_files)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
