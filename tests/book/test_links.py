"""Every link of the built book that stays inside it leads somewhere, and nothing is fetched from outside."""

from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup


@pytest.fixture(scope="module")
def documents(html):
    """Every built page, parsed, by its path."""
    paths = sorted(path for path in html.rglob("*.html") if "_static" not in path.parts)
    return {path: BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser") for path in paths}


def is_inside(address):
    parts = urlsplit(address)
    return not parts.scheme and not parts.netloc


def test_links_inside_the_book_resolve(documents):
    anchors = {path: {tag["id"] for tag in page.find_all(id=True)} for path, page in documents.items()}
    broken = []
    for path, page in documents.items():
        for link in page.find_all("a", href=True):
            parts = urlsplit(link["href"])
            if not is_inside(link["href"]) or link["href"] in ("", "#"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            found = target.exists() and (
                not parts.fragment or target not in anchors or unquote(parts.fragment) in anchors[target]
            )
            if not found:
                broken.append(f"{path.name}: {link['href']}")
    assert len(documents) > 3 and broken == []


def test_nothing_is_fetched_from_elsewhere(documents):
    wanted = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
    elsewhere = [
        f"{path.name}: {tag[attribute]}"
        for path, page in documents.items()
        for name, attribute in wanted.items()
        for tag in page.find_all(name, attrs={attribute: True})
        if not is_inside(tag[attribute]) and not tag[attribute].startswith("data:")
    ]
    assert elsewhere == []


def test_each_chapter_can_be_downloaded(documents, html):
    notebooks = sorted((html / "_sources").rglob("*.ipynb"))
    for notebook in notebooks:
        page = html / notebook.relative_to(html / "_sources").with_suffix(".html")
        links = {
            (page.parent / link["href"]).resolve()
            for link in documents[page].find_all("a", href=True)
            if is_inside(link["href"])
        }
        assert notebook in links


def test_each_page_says_what_it_is_about(documents, html):
    for path, page in documents.items():
        if path.stem not in ("search", "genindex", "py-modindex"):
            assert page.find("meta", attrs={"name": "description"})["content"], path
