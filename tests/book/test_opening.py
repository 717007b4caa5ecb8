"""A chapter's page is for reading: a picture at once, prose and pictures before machinery, the rest on
demand.
"""

import pytest
from project import CHAPTERS
from visits import window

# Heights in pixels. Pictures are figures and explorables; prose is text outside of cells, tables included.
MEASURES = """() => {
    const article = document.querySelector('.bd-article');
    const shown = (selector, without) => [...article.querySelectorAll(selector)]
        .filter((part) => !part.closest(without) && !part.parentElement.closest(selector))
        .map((part) => part.getBoundingClientRect()).filter((box) => box.height > 0);
    const sum = (boxes) => boxes.reduce((total, box) => total + box.height, 0);
    const pictures = shown('.plain-explorable, figure, .cell_output :is(img, svg)', 'nothing')
        .filter((box) => box.height > 60);
    const prose = shown('p, li, h1, h2, h3, div.math, dl, table', '.cell, .plain-explorable, figure');
    const {top, height} = article.getBoundingClientRect();
    const share = (sum(pictures) + sum(prose)) / height;
    return {share, pictures: pictures.length, first: pictures[0].top - top};
}"""


@pytest.fixture(scope="module")
def desk_window(browser, html):
    with window(browser, html) as visit:
        yield visit


@pytest.fixture(scope="module", params=CHAPTERS, ids=lambda path: path.stem)
def chapter(desk_window, request):
    """Each chapter, on a desk."""
    return desk_window.open(f"chapters/{request.param.stem}.html")


def test_a_chapter_is_for_reading_and_looking(chapter):
    chapter.page.wait_for_load_state("networkidle")
    found = chapter.page.evaluate(MEASURES)
    assert found["share"] >= 0.6, "prose and pictures are too little of the page's height: hide machinery"
    assert found["pictures"] >= 6, "a chapter has six pictures or more"
    assert found["first"] <= 900, "no picture in the first screen"


def test_the_way_from_text_to_word_is_lit_and_leads_on(chapter):
    assert chapter.page.locator(".strip li.lit").count() >= 1
    addresses = chapter.page.eval_on_selector_all(".strip a", "links => links.map((link) => link.href)")
    assert len(addresses) >= 9
    assert [name for name in addresses if not name.startswith(chapter.html.as_uri())] == []


def test_hidden_code_is_shown_when_asked_for_and_on_the_next_page_too(visit):
    visited = visit("chapters/06_attention.html")
    hidden = visited.page.locator(".tag_machinery > .cell_input").first
    switch = visited.page.get_by_role("button", name="Show all code")
    assert hidden.is_hidden() and switch.get_attribute("aria-pressed") == "false"
    switch.click()
    assert hidden.is_visible() and switch.get_attribute("aria-pressed") == "true"
    visited.open("chapters/03_matmul.html")
    assert visited.page.locator(".tag_machinery > .cell_input").first.is_visible()
    switch.click()
    assert visited.page.locator(".tag_machinery > .cell_input").first.is_hidden()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_mark_says_what_was_checked_and_leads_to_the_ledger(visit, width):
    page = visit("chapters/06_attention.html", width=width).page
    mark = page.locator(".worked-mark").first
    box = mark.locator(".worked-card")
    assert box.is_hidden()
    mark.locator("summary").click()
    assert box.is_visible()
    edges = box.bounding_box()
    middle = [edges["x"] + edges["width"] / 2, edges["y"] + edges["height"] / 2]
    seen = "([x, y]) => document.elementFromPoint(x, y)?.closest('.worked-card') !== null"
    assert page.evaluate(seen, middle), "it is covered or cut off"
    assert edges["x"] >= 0 and edges["x"] + edges["width"] <= width
    page.keyboard.press("Escape")
    assert box.is_hidden()
    mark.locator("summary").click()
    box.get_by_role("link").click()
    page.wait_for_url("**/worked-numbers.html#number-*")
