"""Sphinx extension: brings the explorables of the built book to life, without a kernel or another host.

It writes the explorables' scripts into the output's `_explorables` folder and links them from the pages that
hold a placeholder. They cannot be ordinary static files: Jupyter Book puts every script under `_static` on
every page. The scripts are read as text, so that building the book needs neither anywidget nor ipywidgets.
"""

import hashlib
import json
import re
from pathlib import Path

from sphinx.util import logging

from plaincourse import palette

SOURCE = Path(__file__).parent.parent / "explorables"
FOLDER = "_explorables"
PLACEHOLDER = re.compile(r'<div class="plain-explorable" data-module="([a-z]+)"')


def output_files():
    """Return the files to write, name → text: the style sheet, the loader and one classic script per
    module.
    """
    texts = {
        path.name: path.read_text(encoding="utf-8")
        for path in sorted(SOURCE.iterdir())
        if path.suffix in (".js", ".css")
    }
    kit = texts.pop("kit.js")
    files = {name: texts.pop(name) for name in ("explorable.css", "loader.js")}
    files["explorable.css"] = f"{palette.css()}\n{files['explorable.css']}"
    for name, text in texts.items():
        module = json.dumps(f"{kit}\n{text}")
        files[name] = f"(window.plainExplorables ??= {{}}).{Path(name).stem} = {module};\n"
    return files


def version():
    """Return a short hash of all the files: it stands in their addresses, so that no browser keeps an old
    one.
    """
    return hashlib.sha256(json.dumps(output_files()).encode()).hexdigest()[:8]


def write_files(app):
    """Write the files into the output folder, for builders that make HTML."""
    if app.builder.format != "html":
        return
    folder = Path(app.outdir) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in output_files().items():
        (folder / name).write_text(text, encoding="utf-8")


def link_files(app, pagename, templatename, context, doctree):
    """Link the style sheet, the loader and the modules in use, once each, from a page that holds a
    placeholder.
    """
    modules = sorted(set(PLACEHOLDER.findall(context.get("body", ""))))
    if not modules:
        return
    for name in modules:
        if not (SOURCE / f"{name}.js").exists():
            logging.getLogger(__name__).warning("no explorable has the module %r", name, location=pagename)
    folder, query = context["pathto"](FOLDER, 1), f"?v={app.config.explorables_version}"
    links = [f'<link rel="stylesheet" href="{folder}/explorable.css{query}">']
    links += [f'<script defer src="{folder}/{name}.js{query}"></script>' for name in [*modules, "loader"]]
    context["metatags"] = "\n".join([context.get("metatags", ""), *links])


def setup(app):
    """Register the extension with Sphinx."""
    # A setting only so that Sphinx writes the pages again when a script has changed.
    app.add_config_value("explorables_version", version(), "html", str)
    app.connect("builder-inited", write_files)
    app.connect("html-page-context", link_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
