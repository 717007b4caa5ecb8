"""What a published book needs besides its text, and what a page must not have twice."""

import re
import tomllib
from collections import Counter
from io import StringIO

import pytest
from project import ROOT
from small_builds import build


@pytest.fixture(scope="module")
def pages(html):
    """Every page of the book, as text, by its name."""
    paths = [path for path in html.rglob("*.html") if "_static" not in path.parts]
    return {path.relative_to(html).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def test_a_host_serves_the_folders_with_an_underscore(html):
    assert (html / ".nojekyll").exists()


def test_every_page_has_an_icon_and_one_viewport(pages, html):
    assert (html / "_static/favicon.svg").exists()
    for name, page in pages.items():
        assert "favicon.svg" in page, name
        assert page.count('name="viewport"') == 1, name


def test_the_book_s_name_stands_once_in_a_title(pages):
    titles = {name: re.search("<title>(.*?)</title>", page)[1] for name, page in pages.items()}
    assert titles["index.html"] == "The Plain Transformer"
    assert [title for title in titles.values() if title.count("The Plain Transformer") != 1] == []


def test_no_id_stands_twice_in_a_page(pages):
    twice = {
        name: [word for word, count in Counter(re.findall(r'<[^>]* id="([^"]+)"', page)).items() if count > 1]
        for name, page in pages.items()
    }
    assert {name: words for name, words in twice.items() if words} == {}


def test_binder_takes_a_python_that_the_course_runs_on():
    given = tuple(
        map(int, (ROOT / "runtime.txt").read_text(encoding="utf-8").removeprefix("python-").split("."))
    )
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert given >= tuple(map(int, project["requires-python"].removeprefix(">=").split(".")))


@pytest.mark.parametrize("address", ["", "https://owner.github.io/name/"])
def test_an_address_brings_what_links_and_search_engines_need(address, tmp_path):
    (tmp_path / "index.md").write_text("# Title\n\nOne\nsentence.\n\nAnother.\n", encoding="utf-8")
    extensions = ["myst_parser", "plaincourse.book.publishing"]
    settings = f"project = 'Book'\nextensions = {extensions}\nhtml_baseurl = '{address}'\n"
    (tmp_path / "conf.py").write_text(settings, encoding="utf-8")
    out = tmp_path / "out"
    build(tmp_path, tmp_path, warning=StringIO())
    page = (out / "index.html").read_text(encoding="utf-8")
    assert '<meta name="description" content="One sentence."/>' in page
    assert ('<meta property="og:url" content="https://owner.github.io/name/index.html"/>' in page) == bool(
        address
    )
    assert (out / "404.html").exists() == (out / "sitemap.txt").exists() == bool(address)
    if address:
        assert f'href="{address}index.html"' in (out / "404.html").read_text(encoding="utf-8")
        assert (out / "sitemap.txt").read_text(encoding="utf-8").splitlines()[0] == f"{address}index.html"
