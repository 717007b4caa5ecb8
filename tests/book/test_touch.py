"""A finger on an explorable: a swipe up scrolls the page, one sideways moves what it began on."""

import pytest

GATE = "() => document.querySelector('.pe-gate').textContent"
PLACES = {"a slider": ".pe-slider input", "the curve": "svg.pe-plot"}


@pytest.fixture
def finger(browser, html):
    """A phone with the page of the gate, and a swipe (across, down) that begins within an element."""
    context = browser.new_context(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(f"{html.as_uri()}/chapters/04_mlp.html")
    page.locator(".plain-explorable[data-live] .pe-gate").first.wait_for()
    devtools = context.new_cdp_session(page)

    def touch(kind, *points):
        devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": list(points)})

    def swipe(place, across, down):
        page.locator(place).first.evaluate("element => element.scrollIntoView({block: 'center'})")
        box = page.locator(place).first.bounding_box()
        x, y = box["x"] + box["width"] * 0.3, box["y"] + box["height"] / 2
        touch("touchStart", {"x": x, "y": y})
        for step in range(1, 11):
            touch("touchMove", {"x": x + across * step / 10, "y": y + down * step / 10})
        touch("touchEnd")
        page.wait_for_timeout(200)

    yield page, swipe
    context.close()


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_only_a_swipe_sideways_moves_it(finger, place):
    page, swipe = finger
    before = page.evaluate(GATE)
    swipe(place, 4, -150)
    assert page.evaluate(GATE) == before
    swipe(place, 90, 3)
    assert page.evaluate(GATE) != before
