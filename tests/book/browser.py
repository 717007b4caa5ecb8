"""Build a small book and open its pages in a real browser."""

import contextlib
import shutil
import subprocess
import sys

import nbformat
from playwright.sync_api import sync_playwright

CONFIG = """\
title: Test
only_build_toc_files: true
execute:
  execute_notebooks: "off"
sphinx:
  extra_extensions: [plaincourse.book.explorables]
  config:
    nb_mime_priority_overrides: [["html", "text/html", 0]]
    nb_ipywidgets_js: {}
"""
ARGUMENTS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--no-first-run"]


def notebook(*displayed):
    """Return a notebook with one executed cell per object, as the stored chapters have them: without the widget view."""
    cells = [nbformat.v4.new_markdown_cell("# Explorables")]
    for count, shown in enumerate(displayed, start=1):
        data, _ = shown._repr_mimebundle_()
        del data["application/vnd.jupyter.widget-view+json"]
        output = nbformat.v4.new_output("execute_result", data, execution_count=count)
        cells.append(nbformat.v4.new_code_cell("explorable", execution_count=count, outputs=[output]))
    python = {"language_info": {"name": "python", "pygments_lexer": "ipython3"}}
    return nbformat.v4.new_notebook(cells=cells, metadata=python)


def build(folder, pages):
    """Build a book of notebooks (name → notebook; the first is the front page) in `folder`; return where its HTML is."""
    names = list(pages)
    for name, page in pages.items():
        nbformat.write(page, folder / f"{name}.ipynb")
    toc = "".join(f"- file: {name}\n" for name in names[1:])
    (folder / "_toc.yml").write_text(f"format: jb-book\nroot: {names[0]}\nchapters:\n{toc}", encoding="utf-8")
    (folder / "_config.yml").write_text(CONFIG, encoding="utf-8")
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build", "-W", "-n", "--keep-going", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "_build" / "html"


@contextlib.contextmanager
def chromium():
    """Yield a Chromium: the system's, else Playwright's own."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield browser
        browser.close()
