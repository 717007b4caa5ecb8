"""Every page of the built book, opened from its folder in a real browser."""

from pathlib import Path

import axe_playwright_python
import pytest
from project import contents, is_sentence
from visits import visiting

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
# Axe would spend most of its time inside the drawn formulas.
# So it would in highlighted code: one word of each colour is enough.
ONE_OF_EACH_COLOUR = """() => {
    const seen = new Set();
    for (const span of document.querySelectorAll('.highlight span')) {
        if (seen.has(span.className)) span.replaceWith(...span.childNodes);
        seen.add(span.className);
    }
}"""
RUN_AXE = "() => axe.run({include: '.bd-article, .bd-search-container', exclude: 'mjx-container'})"


def pages():
    """The names of all pages: those of the table of contents, and the search."""
    root, entries = contents()
    return [f"{name}.html" for name in [root, *(entry["file"] for entry in entries), "search"]]


@pytest.fixture(scope="module", params=pages())
def desk(browser, html, request):
    """Each page on a desk, in the light."""
    with visiting(browser, html, request.param) as visit:
        yield visit


@pytest.fixture(scope="module", params=pages())
def phone(browser, html, request):
    """Each page on the narrowest phone, or at 400 % zoom on a desk, with everything unfolded."""
    with visiting(browser, html, request.param, width=320) as visit:
        visit.open_everything()
        yield visit


def test_opens_from_its_folder_without_a_complaint(desk):
    assert desk.complaints == []
    assert desk.requests_elsewhere() == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_first_page_takes_the_system_s_colours(visit, theme):
    visited = visit("index.html", theme=theme)
    assert visited.page.evaluate(
        "[document.documentElement.dataset.mode, document.documentElement.dataset.theme]"
    ) == ["auto", theme]


def test_pictures_have_sentences(desk):
    texts = desk.page.evaluate(
        """() => [...document.querySelectorAll('.bd-article img, .bd-article svg[role=img]:not(mjx-container *)')]
            .map(image => image.alt ?? image.getAttribute('aria-label') ?? image.querySelector('title')?.textContent ?? '')"""
    )
    assert [text for text in texts if not is_sentence(text)] == []


def test_formulas_are_set(desk):
    count = lambda selector: desk.page.locator(selector).count()
    assert (count(".bd-article .math") == 0) == (count(".bd-article mjx-container") == 0)
    assert count("mjx-merror, [data-mjx-error]") == 0
    assert count("script[src*='tex-svg']") == (count(".bd-article .math") > 0), (
        "MathJax is loaded where there is a formula, and only there"
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(desk, theme):
    page = desk.page
    desk.open_everything()
    page.evaluate("theme => (document.documentElement.dataset.theme = theme)", theme)
    page.evaluate(ONE_OF_EACH_COLOUR)
    page.evaluate(AXE)
    found = page.evaluate(RUN_AXE)
    assert found["passes"], "axe has looked at nothing"
    faults = [
        f"{rule['id']}: {node['html'][:200]} {node['failureSummary']}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
    assert faults == []


def test_fits_a_phone(phone):
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 320
    outside = phone.page.evaluate("""() => [...document.querySelectorAll('.bd-article *')].filter(element => {
            const box = element.getBoundingClientRect();
            if (box.width <= 1 || box.right <= innerWidth + 1) return false;
            for (let outer = element; outer !== document.body; outer = outer.parentElement) {
                if (getComputedStyle(outer).overflowX !== 'visible') return false;
            }
            return true;
        }).map(element => element.outerHTML.slice(0, 120))""")
    assert outside == [], "wider than the screen and not inside a box that scrolls"


def test_wide_boxes_can_be_scrolled_from_the_keyboard(phone):
    stuck = phone.page.evaluate(
        """() => [...document.querySelectorAll('.bd-article *')].filter(box =>
            box.scrollWidth > box.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(box).overflowX)
            && box.tabIndex < 0 && !box.querySelector('a, button, input, [tabindex="0"]')).map(box => box.outerHTML.slice(0, 120))"""
    )
    assert stuck == []


CUT_OFF = """() => [...document.querySelectorAll('.bd-article *')].filter((box) =>
    box.scrollWidth > box.clientWidth + 1 && /auto|scroll|hidden/.test(getComputedStyle(box).overflowX)
    && box.clientWidth > 1 && !box.closest('.pe, mjx-assistive-mml, .cut-off') && !box.querySelector('.cut-off')
).map((box) => box.outerHTML.slice(0, 120))"""


def test_what_is_cut_off_on_a_phone_fades(phone):
    assert phone.page.evaluate(CUT_OFF) == []


def test_no_line_of_code_is_cut_off_on_a_desk(desk):
    desk.open_everything()
    cut = desk.page.evaluate(
        """() => [...document.querySelectorAll('.bd-article .cell :is(.cell_input, .output) pre')]
            .filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.innerText.slice(0, 80))"""
    )
    assert cut == []


def test_search_finds_a_word_of_the_text(visit):
    visited = visit("search.html?q=pencil")
    # Results come in one by one: wait for the one that must come, not for the first.
    visited.page.locator('#search-results li a[href*="index.html"]').first.wait_for()
    assert visited.complaints == [] and visited.requests_elsewhere() == []


def test_search_finds_no_page_for_a_made_up_word(visit):
    visited = visit("search.html?q=xyzzyplugh")
    visited.page.get_by_text("did not match any documents").wait_for()
    assert visited.page.locator("#search-results li").count() == 0
