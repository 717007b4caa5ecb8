"""Formulas: set when the book is built, drawn in the book's own font, copied as TeX."""

import io
import re
import unicodedata
from html import unescape

import pytest
from fontTools.ttLib import TTFont
from math_core import LatexError
from project import contents
from small_builds import build
from visits import window

from plaincourse.book import formulas

FORMULA = re.compile(r"<math.*?</math>", re.DOTALL)
ANNOTATION = re.compile(r"<annotation.*?</annotation>", re.DOTALL)
TOKEN = re.compile(r"<(mi|mo|mn|mtext)([^>]*)>(.*?)</\1>", re.DOTALL)


def built(folder, source):
    """A page made of reStructuredText by Sphinx with the extension: its HTML, and the warnings."""
    folder.joinpath("index.rst").write_text(source, encoding="utf-8")
    warnings = io.StringIO()
    settings = {"extensions": ["plaincourse.book.formulas"], "html_theme": "basic"}
    build(folder, None, settings, warning=warnings)
    return folder.joinpath("out/index.html").read_text(encoding="utf-8"), warnings.getvalue()


def lines(tex):
    return formulas.set_formula(formulas.one_block(tex), True).count("<mtr>")


def test_a_page_has_its_formulas_set_and_numbered(tmp_path):
    source = "Page\n====\n\nSee :eq:`one`, :math:`x_1`.\n\n.. math:: y = x\n   :label: one\n"
    html, warnings = built(tmp_path, source)
    assert warnings == "" and "mathjax" not in html.lower()
    assert "<msub>" in html and '<span class="eqno">(1)' in html
    assert html.count("formulas.css") == html.count("formulas.js") == 1
    assert "stix-two-math.woff2" not in html  # asked for ahead, it is refused to a page from a folder


def test_a_formula_that_cannot_be_set_is_named_with_its_page(tmp_path):
    _, warnings = built(tmp_path, "Page\n====\n\nText.\n\n:math:`\\nosuchthing x`\n")
    assert re.search(r"index\.rst:\d+: WARNING: .*nosuchthing x.*Unknown command", warnings)


def test_a_page_without_a_formula_gets_no_font(tmp_path):
    html, _ = built(tmp_path, "Page\n====\n\nText.\n")
    assert "formulas" not in html and "woff2" not in html


@pytest.mark.parametrize(
    "tex, number",
    [
        (r"a = b \\ c = d", 2),
        ("a &= b\n\nc &= d", 2),
        (r"\begin{aligned} a &= b \\[6pt] &= c \\* &= d \end{aligned}", 3),
        (r"\begin{align} a &= b \\ c &= d \end{align}", 2),
        (r"x = \begin{cases} 1 \\ 0 \end{cases}", 2),
        (r"A = \begin{pmatrix} 1 \\ 2 \end{pmatrix} \\ b", 2 + 2),
        ("x = 1", 0),
    ],
)
def test_each_line_is_a_line(tex, number):
    assert lines(tex) == number
    drawn = ANNOTATION.sub("", formulas.set_formula(formulas.one_block(tex), True))
    assert "[" not in drawn and "∗" not in drawn and "(1)" not in drawn


def test_text_in_a_formula_is_escaped():
    assert "<b>" not in formulas.set_formula(r"x < b \text{<b>}", False)


def test_what_is_no_formula_is_refused():
    with pytest.raises(LatexError):
        formulas.set_formula(r"\frac{1}", False)


# ---- the font


def shown(token):
    """The characters that a browser draws for a token: a letter alone is slanted."""
    kind, attributes, text = token
    text = unescape(re.sub("<[^>]*>", "", text))
    if kind != "mi" or len(text) != 1 or "normal" in attributes or not text.isalpha():
        return set(text)
    name = re.sub("LATIN|GREEK", "MATHEMATICAL ITALIC", unicodedata.name(text).replace("LETTER ", ""))
    return {"ℎ" if text == "h" else unicodedata.lookup(name) if "ITALIC" in name else text}


def is_text(character):
    """Whether a character is a word's, which the page's own font draws: Korean."""
    return unicodedata.name(character, "").startswith("HANGUL")


def test_letters_alone_are_slanted():
    assert shown(("mi", "", "x")) == {"𝑥"} and shown(("mi", "", "h")) == {"ℎ"}
    assert shown(("mi", "", "θ")) == {"𝜃"} and shown(("mi", ' mathvariant="normal"', "x")) == {"x"}
    assert shown(("mi", "", "max")) == set("max") and shown(("mo", "", "&lt;")) == {"<"}


def test_the_font_has_every_character_and_the_sizes_of_roots_and_brackets(html):
    font = TTFont(formulas.FONT)
    drawn = {"√"}
    for page in html.rglob("*.html"):
        for formula in FORMULA.findall(page.read_text(encoding="utf-8")):
            for token in TOKEN.findall(ANNOTATION.sub("", formula)):
                drawn |= shown(token)
    missing = {sign for sign in drawn if ord(sign) not in font.getBestCmap() and not is_text(sign)}
    assert len(drawn) > 50 and missing == set(), "add them to tools/math_font.py"
    table = font["MATH"].table
    assert table.MathConstants.RadicalRuleThickness.Value > 0
    stretched = set(table.MathVariants.VertGlyphCoverage.glyphs)
    assert {font.getBestCmap()[ord(sign)] for sign in "√()[]{}"} <= stretched
    assert formulas.FONT.stat().st_size < 70_000


# ---- in a browser


@pytest.fixture
def chapter(browser, html):
    """The first chapter with a displayed formula, on a phone."""
    for entry in contents()[1]:
        name = f"{entry['file']}.html"
        if '<math display="block"' in (html / name).read_text(encoding="utf-8"):
            with window(browser, html, width=390) as visit:
                visit.open(name)
                visit.page.evaluate("document.fonts.ready.then(() => 0)")
                yield visit.page
            return


def test_formulas_are_drawn_in_the_font(chapter):
    status = "[...document.fonts].filter(font => /STIX/.test(font.family)).map(font => font.status)"
    assert chapter.evaluate(status) == ["loaded"]
    # A root is as tall as what it covers only if the font's table of sizes is read.
    height = """tex => {
        const box = document.querySelector('.bd-article div.math');
        box.innerHTML = `<math display="block"><msqrt><mspace height="${tex}"/></msqrt></math>`;
        return box.firstChild.firstChild.getBoundingClientRect().height;
    }"""
    assert chapter.evaluate(height, "60px") > chapter.evaluate(height, "20px") + 30


def test_a_formula_is_a_stop_for_the_keyboard_only_if_it_scrolls(chapter):
    assert chapter.locator(".math [tabindex], .math[tabindex]").count() == 0
    wide = formulas.set_formula("y = " + " + ".join(f"x_{{{i}}}" for i in range(30)), True)
    widen = """wide => {
        document.querySelector('.bd-article div.math').innerHTML = wide;
        dispatchEvent(new Event('resize'));
    }"""
    chapter.evaluate(widen, wide)
    box = chapter.locator(".bd-article div.math").first
    assert box.get_attribute("tabindex") == "0" and "more-right" in box.get_attribute("class")
    assert chapter.evaluate("document.documentElement.scrollWidth") <= 390
    box.evaluate("box => { box.scrollLeft = 1e6 }")
    chapter.wait_for_function(
        "document.querySelector('.bd-article div.math').matches('.more-left:not(.more-right)')"
    )


def test_a_copied_formula_is_tex(chapter):
    copied = chapter.evaluate("""() => {
        const paragraph = document.querySelector('.bd-article p:has(math)');
        getSelection().selectAllChildren(paragraph);
        const clipboard = {clipboardData: new DataTransfer(), cancelable: true, bubbles: true};
        const event = new ClipboardEvent('copy', clipboard);
        paragraph.dispatchEvent(event);
        return [event.clipboardData.getData('text/plain'), paragraph.querySelector('annotation').textContent];
    }""")
    assert f"${copied[1]}$" in copied[0] and "\n" not in copied[0]
    assert chapter.locator(".copied-formulas").count() == 0


def test_an_excerpt_of_the_search_shows_a_formula_once(visit):
    page = f"<div class='bd-article'>It is {formulas.set_formula('n^2 = 0.25', False)}.</div>"
    assert visit("search.html").page.evaluate("page => Search.htmlToText(page)", page) == "It is n2=0.25."


def test_the_search_knows_the_numbers_of_formulas(html):
    index = (html / "searchindex.js").read_text(encoding="utf-8")
    numbers = set()
    for page in html.glob("chapters/*.html"):
        for tex in re.findall(r"<annotation[^>]*>(.*?)</annotation>", page.read_text(encoding="utf-8")):
            numbers |= set(re.findall(r"(?<![\d,.])\d+\.\d+(?![\d,.])", tex))
    assert len(numbers) > 5 and {number for number in numbers if f'"{number}":' not in index} == set()
