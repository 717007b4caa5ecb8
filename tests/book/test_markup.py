"""What is put right in the HTML of other extensions. (Ids and summaries: test_publishing, test_folds.)"""

import re
from io import StringIO

from small_builds import build

SOURCE = """# Title

The number $a$, and ($b$) the number $c$ itself; see $d$. $e$
"""


def test_a_formula_stays_with_the_signs_around_it(tmp_path):
    (tmp_path / "index.md").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "conf.py").write_text(
        "extensions = ['myst_nb', 'plaincourse.book.markup']\nmyst_enable_extensions = ['dollarmath']\n",
        encoding="utf-8",
    )
    build(tmp_path, tmp_path, warning=StringIO())
    page = (tmp_path / "out/index.html").read_text(encoding="utf-8")
    sentence = re.sub(r"\s+", " ", re.search(r"<p>The number.*?</p>", page, re.DOTALL)[0])
    together = re.findall(r'<span class="together">(.*?)</span>(?= |</p>)', sentence)
    assert [re.sub(r"<[^>]*>|\\[()]", "", part) for part in together] == ["a,", "(b)", "d."]


def test_nobody_is_told_that_an_exercise_was_not_tried(visit):
    verdicts = visit("chapters/04_mlp.html").page.locator(".verdict-not-attempted")
    assert verdicts.count() >= 3 and not any(verdict.is_visible() for verdict in verdicts.all())
