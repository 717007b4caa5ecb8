"""The style sheets hold what the pages use."""

import re

from plaincourse.book import styles

SHEET = """/*! Licence: MIT */ /* talk */
.used,.unused>a{color:red}
.used .unused{color:red}
.used:is(.unused,.other)[data-x="unused"]{color:red}
p,#gone{margin:0}
@media print{.unused{color:red}.used::before{content:"."}}
@media screen{.unused{color:red}}
@font-face{font-family:"Font Awesome 6 Free";src:url(x.woff2)}
@font-face{font-family:"Own";src:url(y.woff2)}
"""


def test_a_rule_stays_if_all_its_names_occur():
    kept = re.sub(r"\s*\n\s*", "", styles.reduced(styles.parsed(SHEET), {"used", "p"}))
    assert kept == (
        "/*! Licence: MIT */.used{color:red}"
        '.used:is(.unused,.other)[data-x="unused"]{color:red}p{margin:0}'
        '@media print{.used::before{content:"."}}@font-face{font-family:"Own";src:url(y.woff2)}'
    )


def test_the_names_in_a_script_count():
    script = r'x = "text\n.pst-js-only"; box.classList.add("is-open");'
    assert {"pst-js-only", "is-open"} <= styles.words(script)


def test_links_get_the_new_version(tmp_path):
    page, sheet = tmp_path / "chapters" / "a.html", tmp_path / "_static" / "b.css"
    text = '<link href="../_static/b.css?v=1" rel="stylesheet" /><link href="c.css" />'
    new = styles.renewed(text, page, {sheet.resolve(): "2"})
    assert new == text.replace("?v=1", "?v=2")


def test_the_theme_s_sheet_is_small_and_keeps_its_licence(html):
    sheet = (html / "_static/styles/pydata-sphinx-theme.css").read_text(encoding="utf-8")
    assert len(sheet) < 130_000 and "Licensed under MIT" in sheet
    assert ".bd-sidebar-primary" in sheet and "fa-bitcoin" not in sheet
