"""With a contrast theme of the system (forced-colors) nothing is lost that a page says by a background."""

import io

import pytest
from PIL import Image
from project import CHAPTERS

HEADER = ".bd-header-article button:visible"
# What an explorable says by a background alone: a bar, a step, the picked one of several choices.
MARK_PAINTED = """() => {
    const seen = (element) => element.offsetWidth > 1 && element.offsetHeight > 1;
    const clear = (colour) => /, 0\\)$|transparent/.test(colour);
    for (const element of document.querySelectorAll('.pe *')) {
        if (element.closest('svg, input, button')) continue;
        if (element.textContent.trim() || !seen(element)) continue;
        const colour = getComputedStyle(element).backgroundColor;
        const ground = getComputedStyle(element.parentElement).backgroundColor;
        const painted = !clear(colour) && colour !== ground && !element.firstElementChild;
        if (painted) element.dataset.painted = colour;
    }
}"""
LOST = """() => {
    const style = (element) => getComputedStyle(element);
    const clear = 'rgba(0, 0, 0, 0)';
    const ground = (element) => {
        const colour = style(element.parentElement).backgroundColor;
        return colour === clear ? ground(element.parentElement) : colour;
    };
    const lost = [...document.querySelectorAll('[data-painted]')].filter((element) =>
        [ground(element), clear].includes(style(element).backgroundColor)
        && !parseFloat(style(element).borderTopWidth));
    const like = [...document.querySelectorAll('.pe-choice input:checked + span')].filter((span) =>
        [...span.closest('.pe-choices').querySelectorAll('input:not(:checked) + span')].some(
            (other) => style(other).backgroundColor === style(span).backgroundColor));
    return [...lost, ...like].map((element) => element.outerHTML.slice(0, 120));
}"""


def colours(page, element):
    """How many colours a picture of the element has."""
    return len(Image.open(io.BytesIO(element.screenshot())).convert("RGB").getcolors(1 << 20))


@pytest.mark.parametrize("width", [390, 1280])
def test_every_button_of_the_header_is_seen(visit, width):
    page = visit("index.html", width=width).page
    page.emulate_media(forced_colors="active")
    buttons = page.locator(HEADER).all()
    blank = [button.get_attribute("class") for button in buttons if colours(page, button) < 2]
    assert len(buttons) >= 4 and blank == []


def test_bars_and_picked_choices_are_seen(visit, html):
    faults, count = [], 0
    page = visit("index.html", width=390).page
    for name in [f"chapters/{path.stem}.html" for path in CHAPTERS]:
        page.emulate_media(forced_colors="none")
        page.goto(f"{html.as_uri()}/{name}")
        page.wait_for_function("() => !document.querySelector('.plain-explorable:not([data-live])')")
        page.evaluate(MARK_PAINTED)
        count += page.locator("[data-painted]").count()
        page.emulate_media(forced_colors="active")
        faults += [f"{name}: {fault}" for fault in page.evaluate(LOST)]
    assert count > 40 and faults == []


def test_a_figure_keeps_its_paper(visit):
    page = visit("chapters/04_mlp.html", theme="dark").page
    page.emulate_media(forced_colors="active")
    paper = page.evaluate(
        """() => [...document.querySelectorAll('.bd-article .cell_output img')].map(image =>
            [getComputedStyle(image).backgroundColor, getComputedStyle(image).filter].join(' '))"""
    )
    assert paper and set(paper) == {"rgb(255, 255, 255) none"}
