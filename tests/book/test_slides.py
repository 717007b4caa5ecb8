"""make slides: every chapter's slides open offline, show no source of the page, and are not cut off."""

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from filelock import FileLock
from project import CHAPTERS, ROOT

if not os.environ.get("CI"):
    pytest.importorskip("sphinx_revealjs", reason="pip install -r requirements-instructor.txt")

# A slide is 1280 × 720. The number and the progress bar stand in its last 40 pixels, the padding is 56 at
# each side.
BOTTOM, RIGHT = 680, 1280 - 56 + 0.5
SMALLEST = 0.8  # of the type's size: 26 pixels for text and 19 for code become 21 and 15
MARKUP = re.compile(r":::|```|\{[\w:-]+\}|\$\$|\\[(\[]|\]\([\w/.-]+\.ipynb")

LOOK = """() => Reveal.getSlides().map((slide) => {
  const {h, v} = Reveal.getIndices(slide);
  Reveal.slide(h, v);
  const scale = Reveal.getScale(), frame = document.querySelector('.slides').getBoundingClientRect();
  const boxes = [...slide.querySelectorAll('*')].map((part) => part.getBoundingClientRect());
  const seen = boxes.filter((box) => box.width && box.height);
  const bare = slide.cloneNode(true);
  bare.querySelectorAll('pre, code, math').forEach((part) => part.remove());
  return {
    heading: slide.firstElementChild.textContent,
    again: slide.firstElementChild.matches('.again'),
    blocks: slide.children.length - 1,
    bottom: Math.max(...seen.map((box) => (box.bottom - frame.top) / scale)),
    right: Math.max(...seen.map((box) => (box.right - frame.left) / scale)),
    smaller: Number(slide.dataset.scale || 1),
    text: bare.textContent,
    code: [...slide.querySelectorAll('.code')].map((part) => part.textContent),
    unnamed: slide.querySelectorAll('img:not([alt]), img[alt=""]').length,
    pictures: slide.querySelectorAll('.output img, .output > svg').length,
  };
})"""


@pytest.fixture(scope="module")
def folder(shared):
    """The slides of all chapters, written once by the program."""
    out = shared / "slides"
    with FileLock(shared / "slides.lock"):
        if not out.exists():
            done = subprocess.run(
                [sys.executable, ROOT / "tools/slides.py", "--out", out],
                capture_output=True,
                text=True,
                encoding="utf-8",
            )
            assert done.returncode == 0, done.stderr
    return out


@pytest.fixture
def opened(browser, folder):
    """Open a chapter's slides: what each slide shows, what the page asked for, and what it complained
    about.
    """
    window = browser.new_page(viewport={"width": 1280, "height": 720})
    requests, complaints = [], []
    window.on("request", lambda request: requests.append(request.url))
    window.on(
        "console",
        lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None,
    )
    window.on("pageerror", lambda error: complaints.append(str(error)))

    def open_slides(name):
        window.goto((folder / f"{name}.html").as_uri())
        window.wait_for_selector("html[data-ready]", state="attached", timeout=60_000)
        return window.evaluate(LOOK), requests, complaints

    yield open_slides
    window.close()


def headings(notebook):
    """The headings that are to have a slide, without marks and formulas."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            found += re.findall(
                r"^#{1,3} (.+)$",
                re.sub(r"^`{3,}.*?^`{3,}$", "", cell.source, flags=re.MULTILINE | re.DOTALL),
                re.MULTILINE,
            )
    return [heading for heading in found if heading != "Exercises"]


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_gives_slides_that_can_be_shown(chapter, opened, folder):
    slides, requests, complaints = opened(Path(chapter).stem)
    notebook = nbformat.read(chapter, as_version=4)
    assert not complaints
    assert [url for url in requests if not url.startswith((folder.as_uri() + "/", "data:"))] == []
    assert [slide["heading"] for slide in slides if not slide["again"]] == headings(notebook)
    for number, slide in enumerate(slides, start=1):
        where = f"slide {number}, {slide['heading']}"
        assert slide["bottom"] <= BOTTOM and slide["right"] <= RIGHT and slide["smaller"] >= SMALLEST, (
            where,
            slide,
        )
        assert not MARKUP.search(slide["text"]), (where, slide["text"])
        assert not slide["unnamed"], where
        assert not any(re.search(r"\b(check|worked)\(", code) for code in slide["code"]), where
        assert slide["blocks"] or not slide["again"], where
    stored = [output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", [])]
    pictures = sum(
        "image/svg+xml" in data or "plain-explorable" in data.get("text/html", "") for data in stored
    )
    assert sum(slide["pictures"] for slide in slides) == pictures


def test_no_hint_and_no_solution_is_on_a_slide(folder):
    for chapter in CHAPTERS:
        text = (folder / f"{Path(chapter).stem}.html").read_text(encoding="utf-8")
        assert not re.search(r"Hint \d|Difficulty \d|>Solution<|def my_", text), chapter
