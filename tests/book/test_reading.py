"""Reading with the keyboard, on paper, and where the browser refuses to store anything."""

import re

import pytest
from serving import serving

FOCUS = "() => document.activeElement.className"
BUTTONS = [".primary-toggle", ".secondary-toggle", ".search-button"]


@pytest.mark.parametrize("button", BUTTONS)
def test_a_dialog_gives_the_focus_back(visit, button):
    page = visit("chapters/03_matmul.html", width=390).page
    page.locator(f"{button}:visible").first.focus()
    page.keyboard.press("Enter")
    page.locator("dialog[open]").wait_for()
    page.keyboard.press("Escape")
    page.locator("dialog[open]").wait_for(state="detached")
    page.wait_for_function("name => document.activeElement.matches(name)", arg=button, timeout=2000)


def test_copying_keeps_the_focus(visit):
    page = visit("chapters/03_matmul.html").page
    page.locator(".cell:not(.tag_machinery) .copybtn").first.focus()  # the others are hidden
    page.keyboard.press("Enter")
    page.locator(".copybtn.success").wait_for()
    assert "copybtn" in page.evaluate(FOCUS)


def luminance(colour):
    """How light a colour of CSS is, 0 to 1."""
    parts = [int(part) / 255 for part in colour[4:-1].split(",")]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_dark_page_is_printed_black_on_white_and_unfolded(visit):
    page = visit("chapters/14_real_model.html", theme="dark").page
    shut = page.locator(".bd-article details:not([open], .worked-mark)").count()  # marks stay shut
    page.emulate_media(media="print")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    seen = page.evaluate("""() => {
        const words = '.bd-article :is(p, li, pre, summary, td, a:not(.headerlink))';
        const text = [...document.querySelectorAll(words)];
        return {
            colours: [...new Set(text.map((element) => getComputedStyle(element).color))],
            filters: [...new Set([...document.images].map((image) => getComputedStyle(image).filter))],
            shut: document.querySelectorAll('.bd-article details:not([open], .worked-mark)').length,
        };
    }""")
    assert shut > 20 and seen["shut"] == 0 and seen["filters"] == ["none"]
    assert [colour for colour in seen["colours"] if 1.05 / (luminance(colour) + 0.05) < 4.5] == []
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert page.locator(".bd-article details:not([open], .worked-mark)").count() == shut
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


@pytest.fixture
def sandbox(visit, html):
    """Open a page of the book in a frame that may not store anything, as a course platform does it."""
    visited = visit("index.html", width=420)
    with serving(html) as address:

        def open_page(name, width):
            visited.complaints.clear()
            visited.page.set_content(
                f'<iframe sandbox="allow-scripts allow-forms" width="{width}" height="800"'
                f' src="{address}/{name}"></iframe>'
            )
            frame = visited.page.frames[1]
            frame.wait_for_load_state("load")
            assert frame.evaluate("() => self.origin") == "null"
            return visited, frame

        yield open_page


def test_a_page_works_where_nothing_can_be_stored(sandbox):
    visited, frame = sandbox("chapters/11_sampling.html", 390)
    before = frame.evaluate("document.documentElement.dataset.mode")
    frame.locator(".theme-switch-button:visible").click()
    assert frame.evaluate("document.documentElement.dataset.mode") != before
    frame.locator(".primary-toggle:visible").click()
    frame.locator("dialog[open] .bd-links").wait_for()
    frame.locator(".plain-explorable[data-live]").first.wait_for()
    # A sandbox takes no font from a server that does not allow it: formulas are then in the system's.
    font = re.compile(r"\.woff2|ERR_FAILED")
    assert [complaint for complaint in visited.complaints if not font.search(complaint)] == []


def test_search_works_where_nothing_can_be_stored(sandbox):
    visited, frame = sandbox("search.html?q=pencil", 1280)
    frame.locator('#search-results li a[href*="index.html"]').first.wait_for()
    assert visited.complaints == []


def test_a_page_has_one_viewport(visit):
    assert visit("index.html").page.locator("meta[name=viewport]").count() == 1
