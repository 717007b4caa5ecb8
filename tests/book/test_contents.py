"""The table of contents and the front page name every chapter, by its number and title."""

import nbformat
from project import CHAPTERS, ROOT, contents


def test_every_page_is_in_the_contents():
    listed = {entry["file"] for entry in contents()[1]}
    there = {
        path.relative_to(ROOT).with_suffix("").as_posix()
        for pattern in ("*.ipynb", "*/*.ipynb", "*/*.md")
        for path in (ROOT / "chapters").glob(pattern)
    }
    assert listed == there


def test_the_contents_have_the_chapters_numbers_and_titles():
    titles = {entry["file"]: entry.get("title") for entry in contents()[1]}
    for path in CHAPTERS:
        heading = nbformat.read(path, as_version=4).cells[0].source.splitlines()[0].removeprefix("# ")
        assert titles[f"chapters/{path.stem}"] == f"{int(path.stem[:2])}. {heading}"


def test_the_front_page_links_every_chapter():
    text = (ROOT / "index.md").read_text(encoding="utf-8")
    assert [path.name for path in CHAPTERS if f"](chapters/{path.name}) |" not in text] == []
