"""The ledger is sound, parts and cells match, a wrong digit is seen, the appendix links to the cells."""

import ast
import json
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch
from project import NOTEBOOKS
from sphinx.testing.util import SphinxTestApp

from plaincourse.worked import Ledger, LedgerError, load, worked
from plaincourse.worked.card import anchor
from plaincourse.worked.compare import leaves, written
from plaincourse.worked.ledger import VERDICTS, number

LEDGER = load()
ENTRIES = list(LEDGER.entries.values())
NAMES = {path.stem.lstrip("0123456789_"): path for path in NOTEBOOKS}
# The rows that the five chapters of the first part must cover.
ROWS = [f"A{i}" for i in range(1, 16)]
ROWS += [f"B{i}" for i in (5, 6, 7, 8, 9, 12, 13, 15, 16, 17, 18, 20)]
ROWS += [f"C{i}" for i in (*range(1, 7), *range(9, 28), 30)]


def each_entry():
    return pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)


# ---- the file


def test_the_ledger_holds_every_row():
    assert set(ROWS) <= set(LEDGER.entries)


@each_entry()
def test_an_entry_is_well_formed(entry):
    assert re.fullmatch(rf"{entry.document.id}\d+", entry.id)
    assert entry.says.endswith(".") and entry.why.endswith(".")
    corrected = [part for part in entry.parts if part.printed and part.right and part.printed != part.right]
    if entry.verdict == "exact":  # a document's 0 may be checked as 0.000, but not as another number
        for part in corrected:
            assert [number(a) == number(b) for a, b in zip(part.printed, part.right, strict=True)] == [
                True
            ] * len(part.right)
    assert not re.search("[가-힣]{8}", entry.says + entry.why), "our own words, in English"


GOOD = """
[documents.A]
title = "T"
gloss = "G"
[A1]
document = "A"
section = "S"
says = "Says."
verdict = "exact"
why = "Why."
[[A1.parts]]
chapter = "matmul"
name = "one"
label = "L"
printed = ["1"]
[[A1.parts]]
chapter = "matmul"
label = "M"
right = [["1", "2"], ["3", "4"]]
"""


def test_the_small_ledger_of_the_next_test_is_good():
    assert Ledger(GOOD)["A1"].part("one").printed == ["1"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            '"exact"',
            '"right"',
            "A1: verdict must be one of exact, rounded, conditional, corrected, got 'right'",
        ),
        ('verdict = "exact"\n', "", "A1: verdict must be"),
        ('why = "Why."\n', "", "A1: why is missing or empty"),
        ('"Says."', '""', "A1: says is missing or empty"),
        ('section = "S"', 'sektion = "S"', "A1: unknown field sektion"),
        ('document = "A"', 'document = "D"', "A1: document must be one of A, got 'D'"),
        ('gloss = "G"', "", "A: gloss is missing"),
        ('chapter = "matmul"\nname', "name", "A1, part 1: chapter is missing or empty"),
        ('label = "L"\n', "", "A1, part 1: label is missing"),
        ('name = "one"', 'name = "one two"', "A1, part 1: name must be usable as a keyword"),
        ('name = "one"\n', "", "A1: each part needs a name of its own"),
        ('printed = ["1"]', "", "A1, part 1: needs printed, right or both"),
        ('printed = ["1"]', "printed = [1]", "A1, part 1: printed must hold strings .* got 1"),
        ('printed = ["1"]', 'printed = "1"', "A1, part 1: printed must be a list"),
        ('printed = ["1"]', "printed = []", "A1, part 1: printed must be a list"),
        ('["3", "4"]', '["3"]', "A1, part 2: right must be a flat list or a list of rows of equal length"),
        ("[A1]", "[A1", "not valid TOML"),
        (GOOD[GOOD.index("[[A1") :], "", "A1: has no parts"),
    ],
)
def test_a_broken_ledger_is_refused(old, new, message):
    assert old in GOOD
    with pytest.raises(LedgerError, match=message):
        Ledger(GOOD.replace(old, new, 1))


# ---- both ways: parts and cells


def calls(path):
    """All (entry id, part names) of the worked(…) calls in a notebook."""
    found = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        for node in ast.walk(ast.parse("".join(cell["source"]))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "worked":
                assert isinstance(node.args[0], ast.Constant), (
                    f"{path.name}: worked() needs its id spelled out"
                )
                names = [keyword.arg for keyword in node.keywords]
                assert None not in names, f"{path.name}: worked() needs its parts spelled out, not **"
                found.append((node.args[0].value, [""] * (len(node.args) - 1) + names))
    return found


def test_there_are_chapters():
    assert NOTEBOOKS
    assert any(calls(path) for path in NOTEBOOKS)


def test_every_part_belongs_to_a_chapter():
    missing = {
        f"{entry.id}: {part.chapter}"
        for entry in ENTRIES
        for part in entry.parts
        if part.chapter not in NAMES
    }
    assert not missing


@pytest.mark.parametrize("chapter", NAMES)
def test_every_part_has_one_cell_and_every_cell_its_part(chapter):
    wanted = sorted(
        (entry.id, part.name) for entry in ENTRIES for part in entry.parts if part.chapter == chapter
    )
    computed = sorted((key, name) for key, names in calls(NAMES[chapter]) for name in names)
    assert computed == wanted


@pytest.mark.parametrize("chapter", NAMES)
def test_the_stored_page_has_one_anchor_for_each_entry(chapter):
    shown = [
        output["data"]["text/html"]
        for cell in json.loads(NAMES[chapter].read_text(encoding="utf-8"))["cells"]
        for output in cell.get("outputs", [])
        if "text/html" in output.get("data", {})
    ]
    ids = re.findall(
        r'class="worked-(?:card|mark)[^>]* id="([^"]+)"', "".join("".join(html) for html in shown)
    )
    assert len(ids) == len(set(ids))
    assert {
        anchor(entry) for entry in ENTRIES if any(part.chapter == chapter for part in entry.parts)
    } <= set(ids)


# ---- a wrong digit is seen


def values(part):
    """What a cell would have to compute for this part: numbers for numbers."""
    flat, _ = leaves(part.expected)
    return [
        float(number(item)) if isinstance(item, str) and number(item) is not None else item for item in flat
    ]


def as_given(part, flat):
    """In the shape that the ledger wants."""
    _, shape = leaves(part.expected)
    return [flat[i : i + shape[1]] for i in range(0, len(flat), shape[1])] if len(shape) == 2 else flat


def call(entry, part, flat):
    given = as_given(part, flat)
    return worked(entry.id, **{part.name: given}) if part.name else worked(entry.id, given)


@each_entry()
def test_the_expected_values_pass(entry):
    for part in entry.parts:
        assert f"· {entry.verdict} ·" in repr(call(entry, part, values(part)))


@each_entry()
def test_any_wrong_digit_raises(entry):
    for part in entry.parts:
        expected, _ = leaves(part.expected)
        right = values(part)
        for i, item in enumerate(expected):
            if isinstance(item, bool):
                wrong = [not item, None, int(item)]
            elif number(item) is None:
                wrong = [item + " ", "", 0]
            else:
                unit = float(Decimal(1).scaleb(number(item).as_tuple().exponent))
                wrong = [right[i] + unit, right[i] - unit, np.nan, np.inf, None, str(item)]
            for value in wrong:
                with pytest.raises(AssertionError, match=entry.id):
                    call(entry, part, right[:i] + [value] + right[i + 1 :])


@each_entry()
def test_too_many_and_too_few_raise(entry):
    for part in entry.parts:
        right = values(part)
        for wrong in (right + right[-1:], right[:-1]):
            with pytest.raises(AssertionError, match=entry.id):
                worked(entry.id, **{part.name: wrong}) if part.name else worked(entry.id, wrong)


# ---- what may be given


@pytest.mark.parametrize(
    "products",
    [
        [2, -2, 0.5, 0],
        (2, -2, Fraction(1, 2), Decimal(0)),
        np.array([2, -2, 0.5, 0], dtype=np.float16),
        np.array([[2, -2, 0.5, 0]]),
        torch.tensor([2, -2, 0.5, 0], requires_grad=True),
        [np.float64(2), np.int8(-2), torch.tensor(0.5), 0],
    ],
    ids=["list", "tuple", "float16", "one row", "tensor", "scalars"],
)
def test_numbers_of_every_kind(products):
    assert "2, −2, 0.5, 0" in repr(worked("A3", products=products))


@pytest.mark.parametrize(
    "products",
    [
        [[2, -2], [0.5, 0]],
        [[2], [-2, 0.5, 0]],
        {2: -2},
        "2, -2, 0.5, 0",
        [2, -2, 0.5, 1j],
        [2, -2, 0.5, False],
        [2, -2, 0.5, 10**400],
        [2, -2, 0.5, -(10**9999)],
    ],
)
def test_numbers_of_the_wrong_kind(products):
    with pytest.raises(AssertionError, match="A3, part products"):
        worked("A3", products=products)


def test_an_exact_number_must_be_met_exactly():
    worked("A3", total=0.5 + 1e-8)
    with pytest.raises(AssertionError, match="expected 0.5, the cell computed 0.51"):
        worked("A3", total=0.51)
    with pytest.raises(
        AssertionError, match="expected 0.5, the cell computed a whole number of more than 308 digits"
    ):
        worked("A3", total=10**400)


def test_a_rounded_number_may_be_half_a_unit_off():
    assert "38.5" not in repr(worked("C20", [-169.8949, -170.85, -171.4, -172.06, -172.08]))
    with pytest.raises(
        AssertionError, match=r"C20 .*position 1: expected −169.89, the cell computed -169.8951"
    ):
        worked("C20", [-169.8951, -170.85, -171.4, -172.06, -172.08])


def test_shapes_are_compared_as_text():
    with pytest.raises(AssertionError, match=r"expected \(768, 768\), the cell computed '\(768, 3072\)'"):
        worked("C4", **{LEDGER["C4"].parts[0].name: np.empty((768, 3072)).shape})


@pytest.mark.parametrize("key", ["A33", "a3", "Z", "", 3, None, ["A3"], {"A3": 1}])
def test_an_unknown_id_lists_near_ones(key):
    with pytest.raises(KeyError, match=r"no worked number .* Near it: [AC]\d"):
        worked(key, 1)


def test_a_wrong_call_says_how():
    with pytest.raises(
        ValueError, match=r'A3 has no part without a name. Its parts: worked\("A3", products=…\) in matmul'
    ):
        worked("A3", 1)
    with pytest.raises(ValueError, match="A3 has no part 'sum'"):
        worked("A3", sum=1)
    with pytest.raises(ValueError, match="A3: no value given"):
        worked("A3")
    with pytest.raises(ValueError, match="A1: the parts of one call must belong to one chapter"):
        worked("A1", attention=[True] * 3, mlp=[False, False, True])


# ---- the card


@pytest.mark.parametrize(
    ("value", "like", "text"),
    [
        (-172.0831, "-172.08", "−172.08"),
        (2.0, "2", "2"),
        (2359296, "2,359,296", "2,359,296"),
        (54.67358, "54.67%", "54.67 %"),
        (-0.001, "0.00", "0.00"),
        (0.00047324, "4.7e-4", "4.7e−04"),
        (True, True, "yes"),
        (False, True, "no"),
        ("(6, 768)", "(6, 768)", "(6, 768)"),
    ],
)
def test_numbers_are_written_as_the_document_does(value, like, text):
    assert written(value, like) == text


def test_a_card_says_it_all_and_the_same_each_time():
    def make():
        return worked("C6", expansion=True, compression=False, lost=2304)._repr_mimebundle_()

    assert make() == make() and set(make()) == {"text/html", "text/plain"}
    for text in make().values():
        entry = LEDGER["C6"]
        told = (entry.claim, entry.says, entry.why, entry.document.title, entry.section)
        for piece in ("C6", "corrected", *told):
            assert piece in text
    assert 'id="worked-C6"' in make()["text/html"]


def test_cards_of_one_entry_on_one_page_have_different_anchors():
    assert worked("A3", products=[2, -2, 0.5, 0], total=0.5).anchor == "worked-A3"
    assert worked("A3", total=0.5).anchor == "worked-A3-total"


# ---- the appendix


def test_the_appendix_lists_and_links_every_entry(tmp_path):
    source = tmp_path / "source"
    (source / "chapters" / "appendix").mkdir(parents=True)
    (source / "conf.py").write_text(
        'extensions = ["plaincourse.book.worked"]\nexclude_patterns = ["_build"]\n', encoding="utf-8"
    )
    toctree = (
        "Book\n====\n\n.. toctree::\n\n   chapters/03_matmul\n   chapters/appendix/misconceptions\n  "
        " chapters/appendix/numbers\n"
    )
    (source / "index.rst").write_text(toctree, encoding="utf-8")
    (source / "chapters" / "03_matmul.rst").write_text("Matmul\n======\n", encoding="utf-8")
    (source / "chapters" / "appendix" / "misconceptions.rst").write_text(
        "Beliefs\n=======\n", encoding="utf-8"
    )
    numbers = source / "chapters" / "appendix" / "numbers.rst"
    numbers.write_text("Numbers\n=======\n\n.. worked-numbers::\n", encoding="utf-8")
    app = SphinxTestApp("html", srcdir=source, warningiserror=True)
    app.build()
    app.cleanup()
    page = (source / "_build/html/chapters/appendix/numbers.html").read_text(encoding="utf-8")
    for entry in ENTRIES:
        assert f'id="number-{entry.id}"' in page
        linked = f'href="../03_matmul.html#{anchor(entry)}"' in page
        assert linked == any(part.chapter == "matmul" for part in entry.parts)
        linked = f'href="misconceptions.html#{anchor(entry)}"' in page
        assert linked == any(part.chapter == "misconceptions" for part in entry.parts)
    for verdict in VERDICTS:
        assert f"· {verdict} ·" in page
    assert "worked.css" in page
    assert "worked.css" not in (source / "_build/html/index.html").read_text(encoding="utf-8")
    assert (source / "_build/html/_static/worked.css").exists()
