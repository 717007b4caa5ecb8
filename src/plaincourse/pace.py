"""How long a chapter takes: a minute for 100 words, half a minute for a cell that the page shows, and half of
that again for the exercises.
"""

import json
import re
from pathlib import Path

FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
BLOCK = re.compile(
    r"^(`{3,}|:{3,}).*?^\1\s*$", re.DOTALL | re.MULTILINE
)  # directives, exercises among them, and code


def minutes(notebook):
    """The minutes to read a chapter's notebook, and those of its exercises, in fives."""
    cells = json.loads(Path(notebook).read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    shown = sum(cell["cell_type"] == "code" and not is_machinery(cell) for cell in cells)
    reading = words("\n\n".join(texts)) / 100 + shown / 2
    return tuple(max(5, 5 * round(time / 5)) for time in (reading, reading / 2))


def words(text):
    """How many words of a chapter's Markdown everybody reads: what is folded, and exercises, do not count."""
    return len(BLOCK.sub("", FOLDED.sub("", text)).split())


def is_machinery(cell):
    """Whether a code cell draws, imports or checks, so that the page hides it."""
    return "machinery" in cell["metadata"].get("tags", [])
