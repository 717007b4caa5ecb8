"""What a reader's browser loads for each page. To see the table: pytest -s tests/book/test_weight.py"""

import gzip
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from test_pages import pages
from visits import visiting

OWN_LIMIT = 150_000  # bytes, compressed: a page's HTML, figures and explorables
ALL_LIMIT = 950_000  # bytes, compressed: with the theme and MathJax


def weigh(paths):
    """The bytes of some files, plain and compressed."""
    texts = [path.read_bytes() for path in paths]
    return sum(map(len, texts)), sum(len(gzip.compress(text)) for text in texts)


@pytest.mark.parametrize("name", pages())
def test_the_page_is_light(browser, html, name):
    with visiting(browser, html, name) as visit:
        for image in visit.page.locator("img[loading=lazy]").all():
            image.scroll_into_view_if_needed()
        visit.page.wait_for_load_state("networkidle")
        paths = {
            Path(unquote(urlsplit(address).path)) for address in visit.requests if address.startswith("file:")
        }
    theme = {path for path in paths if "_static" in path.parts}
    mathjax = {path for path in theme if path.name == "tex-svg.js"}
    cells = [
        f"{plain / 1000:.0f} ({packed / 1000:.0f})"
        for plain, packed in map(weigh, (paths, mathjax, theme - mathjax, paths - theme))
    ]
    print(
        f"\n{name}: {len(paths)} requests, kB (compressed): {cells[0]}, MathJax {cells[1]}, theme {cells[2]},"
        f" own {cells[3]}"
    )
    assert not [path.name for path in paths if "webfonts" in path.parts]
    assert weigh(paths - theme)[1] <= OWN_LIMIT
    assert weigh(paths)[1] <= ALL_LIMIT
