"""Hints, solutions and answers are folded: in the book, and in any viewer that knows only Markdown."""

import re
from io import StringIO

import nbformat
import pytest
from bs4 import BeautifulSoup
from markdown_it import MarkdownIt
from project import CHAPTERS
from small_builds import build

REPLIES = ("Right.", "Not quite.")  # how the reply to a choice begins
EXERCISE = "```{exercise}"


def texts(path):
    """The Markdown cells of a notebook."""
    notebook = nbformat.read(path, as_version=4)
    return [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]


@pytest.fixture(params=CHAPTERS, ids=lambda path: path.stem)
def chapter(request):
    return request.param


def test_a_plain_viewer_folds_them(chapter):
    sources = texts(chapter)
    page = BeautifulSoup("\n".join(map(MarkdownIt("commonmark").render, sources)), "html.parser")
    replies = [tag for tag in page.find_all("p") if tag.get_text().startswith(REPLIES)]
    assert len(replies) >= 9
    assert [tag.get_text()[:60] for tag in replies if not tag.find_parent("details")] == []
    titles = [tag.get_text() for tag in page.select("details > summary")]
    assert sum(title.startswith("Solution") for title in titles) == "".join(sources).count(EXERCISE)


def test_jupyterlab_can_show_what_is_folded(chapter):
    """Its MyST shows a formula inside of HTML as it stands: letters and signs may, TeX's commands may not."""
    folds = re.findall(r"<details>.*?</details>", "\n".join(texts(chapter)), re.DOTALL)
    formulas = [
        found for fold in folds for found in re.findall(r"\$[^$\n]+\$", re.sub("(?s)```.*?```", "", fold))
    ]
    assert [formula for formula in formulas if re.search(r"[\\^_]", formula)] == []


def test_the_book_folds_the_same(chapter, html):
    page = (html / "chapters" / f"{chapter.stem}.html").read_text(encoding="utf-8")
    folds = re.findall(r'<details class="fold">.*?</details>', page, re.DOTALL)
    assert len(folds) == sum(text.count("<details>") for text in texts(chapter)) > 15
    assert [fold for fold in folds if "```" in fold or re.search(r"\$|\{\w+\}`", fold)] == [], (
        "what is folded is MyST, not plain text"
    )


def test_a_summary_holds_words_only(html):
    pages = [path.read_text(encoding="utf-8") for path in html.rglob("*.html")]
    summaries = [found for page in pages for found in re.findall(r"<summary.*?</summary>", page, re.DOTALL)]
    assert len(summaries) > 300
    assert [summary for summary in summaries if re.search("<(p|div)|aria-label", summary)] == []


CASES = {
    "an end alone": "Text.\n\n</details>\n",
    "a beginning alone": "<details>\n<summary>Hint</summary>\n\nText.\n",
    "no empty line": "<details>\n<summary>Hint</summary>\nText.\n\n</details>\n",
    "across sections": "# A\n\n## B\n\n<details>\n<summary>Hint</summary>\n\n## C\n\nText.\n\n</details>\n",
}


@pytest.mark.parametrize("source", CASES.values(), ids=CASES)
def test_a_broken_fold_stops_the_build(source, tmp_path):
    (tmp_path / "index.md").write_text(source, encoding="utf-8")
    (tmp_path / "conf.py").write_text(
        "extensions = ['myst_parser', 'plaincourse.book.folds']\n", encoding="utf-8"
    )
    warnings = StringIO()
    build(tmp_path, tmp_path, warning=warnings)
    assert "details>" in warnings.getvalue()
