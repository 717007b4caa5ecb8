"""The API page: every public function and group of parameters of plainformer is on it, shapes first."""

import ast
import importlib
import re

import nbformat
import pytest
from bs4 import BeautifulSoup
from project import NOTEBOOKS, ROOT

from plaincourse.book import api

NAMES = sorted(
    path.stem
    for path in (ROOT / "src/plainformer").glob("*.py")
    if path.stem not in ("__init__", "__main__", "axes", "precision", "settings", "shapes")
)


@pytest.fixture(scope="module")
def page(html):
    return BeautifulSoup((html / "chapters/appendix/api.html").read_text(encoding="utf-8"), "html.parser")


def public(module):
    """The functions with a shape line and the groups of parameters that a module defines."""
    for name, thing in vars(module).items():
        if getattr(thing, "__module__", None) == module.__name__:
            shaped = callable(thing) and "->" in (thing.__doc__ or "").partition("\n")[0]
            if shaped or api.is_parameters(thing):
                yield name, thing


@pytest.mark.parametrize("name", NAMES)
def test_everything_public_is_described(page, name):
    module = importlib.import_module(f"plainformer.{name}")
    for member, thing in public(module):
        entry = page.find(id=f"{module.__name__}.{member}")
        assert entry, f"{member} is missing from chapters/appendix/api.md"
        text = " ".join(entry.find_next_sibling("dd").get_text(" ").split())
        if not api.is_parameters(thing):
            shapes = thing.__doc__.partition("\n")[0].strip("`")
            assert text.replace(" ", "").startswith(shapes.replace(" ", "")), "the shape line comes first"


def imported_by(path):
    """The (module, name) pairs that a notebook's cells take from plainformer."""
    for cell in nbformat.read(path, as_version=4).cells:
        for node in ast.walk(ast.parse(cell.source)) if cell.cell_type == "code" else []:
            if isinstance(node, ast.ImportFrom) and node.module.startswith("plainformer"):
                yield from ((node.module, alias.name) for alias in node.names)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_a_notebook_imports_is_described(page, path):
    missing = [
        f"{module}.{name}"
        for module, name in imported_by(path)
        if not page.find(id=re.compile(rf"^(module-)?{module}\.{name}$"))
    ]
    assert not missing


def test_the_fields_of_parameters_carry_shapes_or_types():
    from plainformer.cache import Kept
    from plainformer.gpt2 import GPT2, Block, Config
    from plainformer.mlp import MLP

    assert list(api.field_shapes(GPT2))[1:5:2] == [("embedding", "(V, E)"), ("blocks", "a tuple of Block")]
    assert dict(api.field_shapes(GPT2))["norm"] == "LayerNorm"
    assert list(api.field_shapes(Kept)) == [("keys", "(..., G, S, D)"), ("values", "(..., G, S, D)")]
    assert list(api.field_shapes(MLP)) == [("up", "Linear (E, F)"), ("down", "Linear (F, E)")]
    assert dict(api.field_shapes(Block))["attention"] == "Attention"
    assert dict(api.field_shapes(Config)) == {"context": "int", "heads": "int", "eps": "float"}
