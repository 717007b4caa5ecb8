"""Every page of the built book, opened from its folder in a real browser."""

import gzip
import json
from pathlib import Path
from urllib.parse import unquote, urlsplit

import axe_playwright_python
import pytest
from project import THOROUGH, contents, is_sentence
from visits import window

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
# Axe would spend most of its time inside highlighted code: one word of each colour is enough.
ONE_OF_EACH_COLOUR = """() => {
    const seen = new Set();
    for (const span of document.querySelectorAll('.highlight span')) {
        if (seen.has(span.className)) span.replaceWith(...span.childNodes);
        seen.add(span.className);
    }
}"""
# Of what is in order the number is enough: to list it takes half of the time.
RUN_AXE = """async (only) => {
    const where = {include: '.bd-article, .bd-search-container'};
    const found = await axe.run(where, {resultTypes: ['violations'], ...(only && {runOnly: only})});
    return {violations: found.violations, passes: found.passes.length};
}"""
COLOURS = ["color-contrast"]  # all that another theme changes
IN_THE_DARK = {
    "index.html",
    "chapters/06_attention.html",
    "chapters/appendix/worked-numbers.html",
    "search.html",
}


def pages():
    """The names of all pages: those of the table of contents, and the search."""
    root, entries = contents()
    return [f"{name}.html" for name in [root, *(entry["file"] for entry in entries), "search"]]


@pytest.fixture(scope="module")
def desk_window(browser, html):
    with window(browser, html) as visit:
        yield visit


@pytest.fixture(scope="module")
def phone_window(browser, html):
    with window(browser, html, width=320) as visit:
        yield visit


@pytest.fixture(scope="module", params=pages())
def desk(desk_window, request):
    """Each page on a desk, in the light."""
    return desk_window.open(request.param)


@pytest.fixture(scope="module", params=pages())
def phone(phone_window, request):
    """Each page on the narrowest phone, or at 400 % zoom on a desk, with everything unfolded."""
    phone_window.open(request.param).open_everything()
    return phone_window


def test_opens_from_its_folder_without_a_complaint(desk):
    assert desk.complaints == []
    assert desk.requests_elsewhere() == []


# Bytes, compressed, at most: what a first visit loads, what the next page loads before one scrolls, and with
# all its pictures.
FIRST_VISIT, NEXT_PAGE, ALL_OF_IT = 250_000, 70_000, 100_000
PACKED = {".woff2", ".png", ".jpg", ".webp"}  # a server does not compress these again


def weight(paths):
    """The bytes that a server sends for some files."""
    texts = {path: path.read_bytes() for path in paths}
    return sum(len(text if path.suffix in PACKED else gzip.compress(text)) for path, text in texts.items())


def is_shared(path):
    """Whether a file is one that a reader of another page has already."""
    return "_static" in path.parts or path.name in ("explorable.css", "loader.js")


def loaded(desk):
    """The files that the page has asked for."""
    desk.page.wait_for_load_state("networkidle")
    return {Path(unquote(urlsplit(address).path)) for address in desk.requests if address.startswith("file:")}


def test_is_light(desk):
    """What a browser loads for it. To see the table: pytest -s tests/book/test_pages.py -k light"""
    first, own = loaded(desk), {path for path in loaded(desk) if not is_shared(path)}
    for image in desk.page.locator("img[loading=lazy]").all():
        image.scroll_into_view_if_needed()
    whole = {path for path in loaded(desk) if not is_shared(path)}
    weights = {"first visit": weight(first), "next page": weight(own), "all of it": weight(whole)}
    print(
        f"\n{desk.page.title()[:40]:40}", *(f"{name} {size / 1000:4.0f} kB" for name, size in weights.items())
    )
    assert len(first - own) > 5, "what was loaded is not known"
    assert not [path.name for path in first if "webfonts" in path.parts]
    assert weight(first) <= FIRST_VISIT and weight(own) <= NEXT_PAGE and weight(whole) <= ALL_OF_IT


SCRIPTS = {"EvaluateScript", "FunctionCall", "v8.evaluateModule", "v8.run"}


LOOP = """() => {
    const times = [];
    for (let turn = 0; turn < 5; turn++) {
        const start = performance.now();
        let sum = 0;
        for (let i = 0; i < 3e7; i++) sum += i % 7;
        times.push(performance.now() - start + 0 * sum);
    }
    return Math.min(...times);
}"""


def longest(browser, address):
    """The time of the processor that the longest script takes while a page opens, as a share of the time that
    a plain loop of 30 million turns takes in the same browser.
    """
    page = browser.new_page()
    browser.start_tracing(page=page, categories=["devtools.timeline"])
    page.goto(address)
    page.wait_for_load_state("networkidle")
    events = json.loads(browser.stop_tracing())["traceEvents"]
    loop = page.evaluate(LOOP)
    page.close()
    times = [event.get("tdur", 0) / 1000 for event in events if event["name"] in SCRIPTS]
    assert times, "nothing was measured"
    return max(times) / loop


def test_no_script_blocks_a_page(browser, html):
    heaviest = max(html.glob("chapters/[0-9]*.html"), key=lambda page: page.stat().st_size)
    # A machine with other work to do may be slow once.
    assert min(longest(browser, heaviest.as_uri()) for _ in range(3)) < 1


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_first_page_takes_the_system_s_colours(visit, theme):
    visited = visit("index.html", theme=theme)
    assert visited.page.evaluate(
        "[document.documentElement.dataset.mode, document.documentElement.dataset.theme]"
    ) == ["auto", theme]


def test_pictures_have_sentences(desk):
    texts = desk.page.evaluate(
        """() => {
            const drawn = '.bd-article img, .bd-article svg[role=img]';
            const titled = image => image.querySelector('title')?.textContent;
            return [...document.querySelectorAll(drawn)].map(
                image => image.alt ?? image.getAttribute('aria-label') ?? titled(image) ?? '');
        }"""
    )
    assert [text for text in texts if not is_sentence(text)] == []


def test_formulas_are_set(desk):
    drawn = desk.page.evaluate(
        "() => [...document.querySelectorAll('.math')].map(box => box.querySelectorAll('math').length)"
    )
    assert set(drawn) <= {1}
    assert desk.page.locator("link[href*='formulas.css']").count() == bool(drawn)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(desk, theme):
    """In the dark, where the same rules draw every page, one of each kind of page; THOROUGH, all of them."""
    page = desk.page
    if theme == "dark" and not THOROUGH and not page.url.endswith(tuple(IN_THE_DARK)):
        return
    desk.open_everything()
    page.evaluate("theme => (document.documentElement.dataset.theme = theme)", theme)
    page.evaluate(ONE_OF_EACH_COLOUR)
    page.evaluate(AXE)
    found = page.evaluate(RUN_AXE, None if theme == "light" or THOROUGH else COLOURS)
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
            && box.tabIndex < 0 && !box.querySelector('a, button, input, [tabindex="0"]'))
            .map(box => box.outerHTML.slice(0, 120))"""
    )
    assert stuck == []


CUT_OFF = """() => [...document.querySelectorAll('.bd-article *')].filter((box) =>
    box.scrollWidth > box.clientWidth + 1 && /auto|scroll|hidden/.test(getComputedStyle(box).overflowX)
    && box.clientWidth > 1 && !box.closest('.pe, .cut-off') && !box.querySelector('.cut-off')
    && getComputedStyle(box).maskImage === 'none'
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
