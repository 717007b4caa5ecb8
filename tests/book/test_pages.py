"""Every page of the built book, opened from its folder in a real browser."""

from pathlib import Path

import axe_playwright_python
import pytest
import yaml
from project import ROOT, is_sentence

AXE = Path(axe_playwright_python.__file__).parent / "axe.min.js"


def pages():
    """The names of all pages, from the table of contents, and of the two that Sphinx adds."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    parts = toc.get("parts", [toc])
    files = [chapter["file"] for part in parts for chapter in part.get("chapters", [])]
    return [f"{name}.html" for name in [toc["root"], *files, "genindex", "search"]]


PAGES = pages()


@pytest.mark.parametrize("name", PAGES)
def test_opens_from_its_folder_without_a_complaint(visit, name):
    visited = visit(name)
    assert visited.complaints == []
    assert visited.requests_elsewhere() == []


@pytest.mark.parametrize("name", PAGES)
def test_fits_a_phone(visit, name):
    visited = visit(name, width=390)
    visited.open_everything()
    assert visited.page.evaluate("document.documentElement.scrollWidth") <= 390
    outside = visited.page.evaluate(
        """() => [...document.querySelectorAll('.bd-article *')].filter(element => {
            const box = element.getBoundingClientRect();
            if (box.width <= 1 || box.right <= innerWidth + 1) return false;
            for (let outer = element; outer !== document.body; outer = outer.parentElement) {
                if (getComputedStyle(outer).overflowX !== 'visible') return false;
            }
            return true;
        }).map(element => element.outerHTML.slice(0, 120))"""
    )
    assert outside == [], "wider than the screen and not inside a box that scrolls"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(visit, name, theme):
    visited = visit(name, theme=theme)
    visited.open_everything()
    page = visited.page
    assert page.evaluate("document.documentElement.dataset.theme") == theme
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("() => axe.run({include: '.bd-article, .bd-search-container'})")
    assert found["passes"], "axe has looked at nothing"
    faults = [f"{rule['id']}: {node['html'][:200]} {node['failureSummary']}" for rule in found["violations"] for node in rule["nodes"]]
    assert faults == []


@pytest.mark.parametrize("name", PAGES)
def test_pictures_have_sentences(visit, name):
    texts = visit(name).page.evaluate(
        """() => [...document.querySelectorAll('.bd-article img, .bd-article svg[role=img]:not(mjx-container *)')]
            .map(image => image.alt ?? image.getAttribute('aria-label') ?? image.querySelector('title')?.textContent ?? '')"""
    )
    assert [text for text in texts if not is_sentence(text)] == []


@pytest.mark.parametrize("name", PAGES)
def test_formulas_are_set(visit, name):
    page = visit(name).page
    formulas, containers = page.evaluate("['.bd-article .math', '.bd-article mjx-container'].map(name => document.querySelectorAll(name).length)")
    assert (formulas == 0) == (containers == 0)
    assert page.locator("mjx-merror, [data-mjx-error]").count() == 0
    scripts = page.evaluate("[...document.scripts].filter(script => script.src.includes('tex-svg')).length")
    assert scripts == (formulas > 0), "MathJax is loaded where there is a formula, and only there"


def test_search_finds_a_page(visit):
    visited = visit("search.html?q=transformer")
    results = visited.page.locator("#search-results li a")
    results.first.wait_for()
    assert any("index.html" in link.get_attribute("href") for link in results.all())
    assert visited.complaints == [] and visited.requests_elsewhere() == []


def test_search_finds_no_page_for_a_made_up_word(visit):
    visited = visit("search.html?q=xyzzyplugh")
    visited.page.get_by_text("did not match any documents").wait_for()
    assert visited.page.locator("#search-results li").count() == 0


def test_wide_boxes_can_be_scrolled_from_the_keyboard(visit):
    for name in PAGES:
        visited = visit(name, width=390)
        visited.open_everything()
        stuck = visited.page.evaluate(
            """() => [...document.querySelectorAll('.bd-article *')].filter(box =>
                box.scrollWidth > box.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(box).overflowX)
                && box.tabIndex < 0 && !box.querySelector('a, button, input, [tabindex="0"]')).map(box => box.outerHTML.slice(0, 120))"""
        )
        assert stuck == [], name
