"""What several test modules share: where the project is, its chapters, and what counts as a sentence."""

import os
import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
CHAPTERS = sorted((ROOT / "chapters").glob("[0-9]*.ipynb"))
NOTEBOOKS = CHAPTERS + sorted((ROOT / "chapters/appendix").glob("*.ipynb"))
THOROUGH = os.environ.get("THOROUGH", "") not in ("", "0")  # all seeds and variants instead of a few of each


def is_sentence(text):
    """Whether a text is a sentence of four words or more: a capital or a digit first, a full stop last."""
    return (
        bool(re.match(r"[A-Z0-9]", text))
        and text.rstrip().endswith((".", "?", "!"))
        and len(text.split()) >= 4
    )


def contents():
    """The root of the table of contents and its entries, in order."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    return toc["root"], [entry for part in toc["parts"] for entry in part["chapters"]]
