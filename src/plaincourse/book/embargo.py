"""Sphinx extension: with SOLUTIONS=no in the environment, a book without the solutions of its exercises.

Their folds say that they follow, and no page offers its notebook, which has them.
"""

import json
import os
import re

SOLUTION = re.compile(r"(<details>\s*<summary>Solution</summary>\n\n).*?(\n\n</details>)", re.DOTALL)
LATER = r"\1It follows later.\2"


def held_back(notebook):
    """The text of a notebook's file without the solutions."""
    data = json.loads(notebook)
    for cell in data["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = SOLUTION.sub(LATER, "".join(cell["source"]))
    return json.dumps(data)


def hold_back(app, name, source):
    """Take them out of a chapter as it is read."""
    if source[0].startswith("{"):
        source[0] = held_back(source[0])


def without_notebooks(app, config):
    config.html_copy_source = False
    config.html_theme_options["use_download_button"] = False


def setup(app):
    """Connect it, if asked to."""
    if os.environ.get("SOLUTIONS") == "no":
        app.connect("config-inited", without_notebooks)
        app.connect("source-read", hold_back)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
