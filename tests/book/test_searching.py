"""What a reader types into the search is found, and the page that it leads to shows where it stands."""

import pytest
from serving import serving
from visits import window

from plaincourse.book.search import SearchNumbers

FOUND = {  # a query and a page that it must find
    "124,439,808": "chapters/10_block.html",
    "124439808": "chapters/10_block.html",
    "54.67": "chapters/11_sampling.html",
    "벡터": "chapters/11_sampling.html",
    "문맥": "index.html",
    "softmax 54.67": "chapters/11_sampling.html",
}


def results(visit, query):
    """The search page for a query, when it has found something."""
    visited = visit(f"search.html?q={query}")
    visited.page.locator("#search-results li a").first.wait_for()
    return visited


def test_words_are_split_as_the_search_page_splits_them():
    language = SearchNumbers({})
    assert language.split("124,439,808 weights, 54.67 % and 768.") == [
        "124,439,808", "124439808", "weights", "54.67", "and", "768"
    ]  # fmt: skip
    assert language.split("벡터를 W1") == ["벡터를", "벡", "벡터", "W1"]


@pytest.mark.parametrize("query, page", FOUND.items())
def test_numbers_and_korean_are_found(visit, query, page):
    visited = results(visit, query)
    visited.page.locator(f'#search-results li a[href*="{page}"]').first.wait_for()
    assert visited.complaints == []


def test_a_hit_inside_a_fold_is_unfolded_marked_and_in_sight(visit):
    page = results(visit, "overtake").page
    page.locator('#search-results li a[href*="11_sampling"]').first.click()
    hit = page.locator(".bd-article mark").first
    hit.wait_for()
    assert hit.inner_text() == "overtake"
    page.wait_for_function("""() => {
        const box = document.querySelector('.bd-article mark').getBoundingClientRect();
        return box.top > 0 && box.bottom < innerHeight;
    }""")
    assert "find=" not in page.url


def test_excerpts_are_text_of_the_chapters(browser, html):
    with window(browser, html) as visited, serving(html) as address:
        page = visited.page
        page.goto(f"{address}/search.html?q=attention scores")
        page.get_by_text("Search finished").wait_for()
        page.locator("#search-results li p.context").nth(8).wait_for()
        excerpts = page.locator("#search-results li p.context").all_inner_texts()
    assert [text for text in excerpts if ".ipynb" in text or "Download" in text or "Contents" in text] == []
    assert all("attention" in text.lower() or "score" in text.lower() for text in excerpts)
    assert visited.complaints == []


def test_the_magnifier_leaves_the_query_alone(visit):
    page = results(visit, "pencil").page
    icon, first = page.evaluate("""() => {
        const [icon, input] = document.querySelectorAll('.bd-search-container form :is(i, input)');
        const padding = parseFloat(getComputedStyle(input).paddingLeft);
        return [icon.getBoundingClientRect().right, input.getBoundingClientRect().left + padding];
    }""")
    assert icon <= first
