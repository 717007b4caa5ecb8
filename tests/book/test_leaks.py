"""No page of the book, no file behind it, holds a solution to an assigned question."""

import os

import pytest
from planting import CANARY, holders
from project import ROOT


def test_the_book_holds_no_solution(html):
    if "BOOK" in os.environ:
        pytest.skip("BOOK names a book that was built without canaries")
    assert (
        len(list(html.rglob("*.html"))) > 15
        and (html / "searchindex.js").exists()
        and list((html / "_sources").rglob("*.ipynb"))
    )
    assert holders(html.parent) == []


def test_canaries_were_planted_and_would_be_found(shared, html):
    if "BOOK" in os.environ:
        pytest.skip("BOOK names a book that was built without canaries")
    planted = {path.relative_to(shared / "source") for path in holders(shared / "source/assignments")}
    assert planted == {
        path.relative_to(ROOT)
        for pattern in ("source/*/*.ipynb", "reference/*.py")
        for path in (ROOT / "assignments").glob(pattern)
    }
    assert CANARY in (shared / "source/assignments/reference/04_mlp.py").read_text(encoding="utf-8")
