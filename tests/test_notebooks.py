"""How the chapters are stored. (That their outputs are right is nbval's part: it runs every notebook.)"""

import ast
import re

import nbformat
import pytest
from project import CHAPTERS, is_sentence

MAX_LINES = 15
FIGURES = {"image/svg+xml", "image/png", "image/jpeg"}


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def outputs(notebook):
    """Yield (cell, output, its MIME types) for every stored output."""
    for cell in code_cells(notebook):
        for output in cell.outputs:
            yield cell, output, set(output.get("data", {}))


def test_is_sentence():
    assert is_sentence("A row of four numbers becomes eight.")
    assert (
        not is_sentence("figure_3_1.svg")
        and not is_sentence("two bars and a line.")
        and not is_sentence("Two bars and a line")
    )


def test_executed_from_top_to_bottom(notebook):
    counts = [cell.execution_count for cell in code_cells(notebook)]
    assert counts == list(range(1, len(counts) + 1)), (
        "run `make execute`: nbval compares nothing in a cell that has not run"
    )
    assert counts, "a chapter has code"


def test_no_warning_and_no_error(notebook):
    for cell, output, _ in outputs(notebook):
        assert output.get("name") != "stderr", f"cell {cell.id} wrote to stderr: {output.text}"
        expected = "raises-exception" in cell.metadata.get("tags", [])
        assert output.output_type != "error" or expected, (
            f"cell {cell.id} raised {output.ename}: {output.evalue}"
        )


def test_no_cell_escapes_nbval(notebook):
    for cell in code_cells(notebook):
        tags = [tag for tag in cell.metadata.get("tags", []) if tag.startswith("nbval")]
        comments = re.findall(r"#\s*(?:NBVAL|PYTEST_VALIDATE)\w*", cell.source)
        assert not tags + comments, (
            f"cell {cell.id}: {tags + comments} would keep nbval from comparing what it shows"
        )


def broken_fences(text):
    """Lines that are meant to open a block, but do not: a fence of backticks allows none after it, so it
    shows as text.
    """
    return re.findall(r"^\s*`{3,}[^`\n]+`.*$", text, re.MULTILINE)


def test_broken_fences_are_found():
    assert broken_fences("A.\n```{note} The product `x @ W`\nRight.\n```") == [
        "```{note} The product `x @ W`"
    ]
    assert not broken_fences("````{exercise} One\n```python\nx = `1`\n```\n````\n:::{note} `x`\n:::")


def test_every_fence_opens_a_block(notebook):
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            found = broken_fences(cell.source)
            assert not found, (
                f"cell {cell.id}: a title after ``` may hold no backtick (use italics or $…$): {found}"
            )


def test_figures_are_vectors(notebook):
    for cell, _, types in outputs(notebook):
        assert not types & {
            "image/png",
            "image/jpeg",
        }, f"cell {cell.id}: nbval does not compare pixels; draw an SVG"


def test_every_figure_has_alt_text(notebook):
    for cell, _, types in outputs(notebook):
        if types & FIGURES:
            alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
            assert is_sentence(alt), (
                f"cell {cell.id}: the alt text must be a sentence that says what is shown, got {alt!r}"
            )


def test_no_kernel_is_needed_to_show_it(notebook):
    assert "widgets" not in notebook.metadata
    for cell, _, types in outputs(notebook):
        assert not any("widget" in name for name in types), (
            f"cell {cell.id} stores a view of a widget that is gone: run `make execute`"
        )


def test_no_address_and_no_bare_numpy_scalar(notebook):
    for cell, output, _ in outputs(notebook):
        text = output.get("text", "") + output.get("data", {}).get("text/plain", "")
        found = re.search(r"0x[0-9a-f]{6,}|np\.(float|int|bool)\w*\(", text)
        assert not found, f"cell {cell.id} prints {found[0]!r}: print a rounded value"


def test_cells_are_short(notebook):
    for cell in code_cells(notebook):
        if "machinery" in cell.metadata.get("tags", []):
            continue
        assert len(cell.source.splitlines()) <= MAX_LINES, f"cell {cell.id} has more than {MAX_LINES} lines"


DRAWS = {"figures", "explorables", "worked"}


def root(node):
    """The name that a call or an attribute begins with: figures of figures.matrices(...)."""
    while isinstance(node, ast.Attribute | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return getattr(node, "id", "")


def is_machinery(statement):
    """Whether a statement imports, draws, checks against the ledger or asserts."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return root(statement.value) in DRAWS or ast.unparse(statement.value.func).startswith("np.testing")
    return isinstance(statement, ast.Import | ast.ImportFrom | ast.Assert)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_what_draws_and_checks_is_hidden(path):
    """The page hides it behind its switch. A chapter shows the code from which one learns."""
    cells = code_cells(nbformat.read(path, as_version=4))
    shown = [cell for cell in cells if "machinery" not in cell.metadata.get("tags", [])]
    bodies = {cell.id: ast.parse(cell.source).body for cell in shown}
    untagged = [name for name, body in bodies.items() if body and all(map(is_machinery, body))]
    assert untagged == [], 'give these cells the tag "machinery"'
