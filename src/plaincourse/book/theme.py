"""A Sphinx extension that makes the book's pages light and self-contained.

Jupyter Book's default pages ask another host for Thebe, and carry 1.5 MB of icons. This extension

- takes Thebe out (its script also throws an error on every page),
- takes other extensions' scripts and styles from the pages where they do nothing,
- replaces the icon script by a style sheet with only the icons that the pages use,
- lets a browser load a page's drawings when they come into sight, in a place that is kept for them.
"""

import itertools
import re
from pathlib import Path

import pydata_sphinx_theme
from sphinx.errors import ExtensionError

TEMPLATES = Path(__file__).parent / "templates"
ICON_SCRIPT = (
    Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme/static/scripts/fontawesome.js"
)
ICONS = [
    "angle-left", "angle-right", "arrow-up", "bars", "chevron-down", "chevron-right", "circle-half-stroke",
    "download", "expand", "file", "file-pdf", "github", "lightbulb", "list", "magnifying-glass", "moon",
    "pencil", "rocket", "sun", "xmark",
]  # fmt: skip
DRAWING = re.compile(r'<img ([^>]*src="[^"]*_images/([^"]+\.svg)")')
SIZE = re.compile(r' (width|height)="([\d.]+)pt"')
# What extensions put on every page, and what must stand in a page's text for it to be of use there.
OF_USE = {
    "sphinx-thebe.css": "(?!)",
    "sphinx-design.min.css": r'class="[^"]*\bsd-',
    "design-tabs.js": r'class="[^"]*\bsd-tab-',
    "toggle": r'class="[^"]*\b(toggle|dropdown)\b',
    "copybutton": 'class="highlight',
    "clipboard.min.js": 'class="highlight',
}


def empty_header(app, config):
    """Leave the bar across the top of the page empty, and so hidden: the sidebar has the search already."""
    config.html_theme_options.setdefault("navbar_persistent", [])


def launch_when_addressed(app, config):
    """Leave the launch buttons out until the repository has an address to launch from."""
    if not config.html_theme_options.get("repository_url"):
        config.html_theme_options["launch_buttons"] = {}


def remove_thebe(app, config):
    """Disconnect every listener of sphinx_thebe, which Jupyter Book always loads."""
    for listeners in app.events.listeners.values():
        for listener in list(listeners):
            if listener.handler.__module__.startswith("sphinx_thebe"):
                app.disconnect(listener.id)


def icon_rules(script, names):
    """The CSS rules that draw the icons called `names`, from the text of Font Awesome's script."""
    rules = []
    for name in names:
        found = re.search(rf'[{{,]"?{name}"?:\[(\d+),(\d+),\[[^\]]*\],"[0-9a-f]+","([^"]+)"\]', script)
        if found is None:
            raise ExtensionError(f"plaincourse.book.theme: the theme has no icon called {name!r}")
        width, height, path = found.groups()
        svg = (
            f"%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}'%3E%3Cpath"
            f" d='{path}'/%3E%3C/svg%3E"
        )
        rules.append(f'.fa-{name}{{--icon:url("data:image/svg+xml,{svg}")}}\n')
    return "".join(rules)


def write_icons(app):
    """Write _static/icons.css into the built book."""
    if app.builder.format != "html":
        return
    folder = Path(app.outdir, "_static")
    folder.mkdir(parents=True, exist_ok=True)
    base = (
        ".fa-solid,.fas,.fa-brands,.fab{display:inline-block;width:1.25em;height:1em;vertical-align:-.125em;"
        "background:currentColor;-webkit-mask:var(--icon) center/contain no-repeat;mask:var(--icon)"
        " center/contain no-repeat}\n"
        ".fa-solid::before,.fas::before,.fa-brands::before,.fab::before{content:none!important}\n"
        # A contrast theme of the system leaves no background but one of its own colours.
        "@media (forced-colors:active){.fa-solid,.fas,.fa-brands,.fab{background-color:ButtonText}}\n"
    )
    credit = "/* Icons: Font Awesome Free 6, CC BY 4.0, fontawesome.com/license/free */\n"
    text = credit + base + icon_rules(ICON_SCRIPT.read_text(encoding="utf-8"), ICONS)
    (folder / "icons.css").write_text(text, encoding="utf-8", newline="\n")


def is_of_use(file, body):
    """Whether a style sheet or a script, which may have its text in the page, does anything for the page."""
    address = f"{file.filename} {getattr(file, 'attributes', {}).get('body', '')}"
    return all(re.search(mark, body) for name, mark in OF_USE.items() if name in address)


def tidy_page(app, pagename, templatename, context, doctree):
    """Drop what the page does not use, or has twice."""
    for kind in ("css_files", "script_files"):
        context[kind] = [file for file in context[kind] if is_of_use(file, context.get("body", ""))]
    # The roles that docutils gives a list of references are not allowed on these elements.
    context["body"] = re.sub(
        r'(<div [^>]*?)\s?role="(?:list|doc-biblioentry)"', r"\1", context.get("body", "")
    )
    # The theme's page has it already.
    context["metatags"] = re.sub(r'<meta name="viewport"[^>]*>\n?', "", context.get("metatags", ""))
    # The name of the book once: "The Plain Transformer", not "The Plain Transformer — The Plain Transformer".
    if context.get("title") == context.get("docstitle"):
        context["docstitle"] = ""


def load_late(app, pagename, templatename, context, doctree):
    """Give the drawings of a page, except the first, their sizes, and have them loaded when they are near."""
    files = {name: Path(app.srcdir, source) for source, name in app.builder.images.items()}
    count = itertools.count()

    def late(found):
        head = files[found[2]].read_text(encoding="utf-8").partition("<svg")[2].partition(">")[0]
        sizes = [f'{side}="{round(float(points) / 0.75)}"' for side, points in SIZE.findall(head)]
        return " ".join(["<img", *['loading="lazy"'][: next(count)], *sizes, found[1]])

    context["body"] = DRAWING.sub(late, context.get("body", ""))


def setup(app):
    """Connect the above to the build."""
    app.config.templates_path.append(str(TEMPLATES))
    app.connect("config-inited", empty_header)
    app.connect("config-inited", launch_when_addressed)
    app.connect("config-inited", remove_thebe)
    app.connect("builder-inited", write_icons)
    app.connect("html-page-context", tidy_page, priority=900)
    app.connect("html-page-context", load_late)
    app.add_css_file("icons.css", priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
