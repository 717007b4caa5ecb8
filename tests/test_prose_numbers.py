"""A number in a chapter's prose is one that a cell of that chapter computes, prints or is given.

Only numbers of three or more significant digits are asked for: they are the ones that nobody can check by
looking.
"""

import re
from decimal import Decimal

import nbformat
import pytest
from bs4 import BeautifulSoup
from project import NOTEBOOKS

NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w])")
# Not claims of the chapter: years, arXiv identifiers, addresses.
NOT_CLAIMS = re.compile(r"\b(?:19|20)\d\d\b(?!\s*(?:×|\*|\\times|[.,]\d))|\b\d{4}\.\d{4,5}\b|https?://\S+")
# Numbers that stand in a text without a cell, by chapter, each with the reason.
EXCEPTIONS = {}


def significant_digits(text):
    """How many digits of a written number carry information: 0.012 has 2, 3.00 has 3, 50,000 has 1."""
    digits = text.replace(",", "").replace(".", "").lstrip("0")
    return len(digits if "." in text else digits.rstrip("0"))


def numbers(text):
    """The set of all numbers written in a text, with the texts that they were written as."""
    text = re.sub(r"(?<=\d)(?:\{,\}|\\,|_|[\u202f\u2009])(?=\d{3})", "", text)  # 3{,}072  3\,072  3_072
    return {Decimal(found.replace(",", "")): found for found in NUMBER.findall(text.replace(", ", " , "))}


def claims(notebook):
    """The numbers of three or more significant digits in a notebook's Markdown."""
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    found = numbers(NOT_CLAIMS.sub(" ", prose))
    return {value: written for value, written in found.items() if significant_digits(written) >= 3}


def evidence(notebook):
    """The numbers in a notebook's code and in what its cells show. Coordinates inside a drawing do not
    count.
    """
    texts = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            texts.append(cell.source)
            for output in cell.outputs:
                data = output.get("data", {})
                html = BeautifulSoup(data.get("text/html", ""), "html.parser").get_text(" ")
                texts += [output.get("text", ""), output.get("evalue", ""), data.get("text/plain", ""), html]
    return set(numbers("\n".join(texts)))


def test_every_number_in_the_prose_has_a_cell(chapter, notebook):
    allowed = {Decimal(number) for number in EXCEPTIONS.get(chapter.stem, {})}
    loose = [
        written for value, written in claims(notebook).items() if value not in evidence(notebook) | allowed
    ]
    assert not loose, (
        f"{chapter.stem}: no cell shows {sorted(loose)}; compute them, print them, or say them in words"
    )


def test_every_exception_is_needed():
    for path in NOTEBOOKS:
        notebook = nbformat.read(path, as_version=4)
        needed = set(claims(notebook)) - evidence(notebook)
        unused = [number for number in EXCEPTIONS.get(path.stem, {}) if Decimal(number) not in needed]
        assert not unused, f"{path.stem}: remove the exceptions {unused}"
    assert set(EXCEPTIONS) <= {path.stem for path in NOTEBOOKS}


@pytest.mark.parametrize(
    "prose, loose",
    [
        ("There are 3,072 hidden values.", {"3072"}),
        ("There are $3{,}072$ hidden values.", {"3072"}),
        ("It is 1.21, not 2.5.", {"1.21"}),
        ("The weight is 0.0123 of 100.", {"0.0123"}),
        ("Shazeer 2020 (arXiv 2002.05202), in C20 and GPT-2.", set()),
        ("Between 768 and 768.", set()),
    ],
)
def test_a_loose_number_is_found(prose, loose):
    cells = [nbformat.v4.new_markdown_cell(prose), nbformat.v4.new_code_cell("width = 768")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    assert set(claims(notebook)) - evidence(notebook) == {Decimal(number) for number in loose}
